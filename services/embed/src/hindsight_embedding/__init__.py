"""Turns text into embeddings."""
