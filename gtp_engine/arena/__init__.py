"""Games between engines or networks: a GTP client, a referee, openings, matches, Elo and its sequential test."""
