"""What the client can ask, by concern."""
