"""The rules of Go: positions, rulesets, scoring, life, ladders, coordinates. Compiled, and free of torch."""
