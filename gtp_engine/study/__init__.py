"""The review of game records."""
