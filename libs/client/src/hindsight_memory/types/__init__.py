"""What the client takes and returns."""
