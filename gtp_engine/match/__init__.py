"""Games between engines or networks: a GTP client, a referee, openings, the matches, Elo and its sequential test."""
