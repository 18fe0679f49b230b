"""The report of runs: one self-contained HTML file with curves, tables, settings and a sample game."""
