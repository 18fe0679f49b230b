"""The page of a review: one self-contained HTML file to step through the games and to print."""
