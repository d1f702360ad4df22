"""Protobuf from and to the client's types."""
