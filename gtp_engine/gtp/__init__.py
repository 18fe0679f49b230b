"""The Go Text Protocol: lines in, answers out."""
