"""Runs hindsight on one machine with embedded PostgreSQL and Valkey."""
