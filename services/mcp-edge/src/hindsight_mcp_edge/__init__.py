"""Turns agents' tool calls into gRPC calls."""
