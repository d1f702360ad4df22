"""Changes what agents remember."""
