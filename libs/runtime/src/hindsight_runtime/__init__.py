"""How a hindsight process starts, serves, fails and stops."""
