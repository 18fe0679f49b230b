"""Games between engines: a GTP client, a referee, openings, the match, Elo and its sequential test."""
