"""Reads what agents remember."""
