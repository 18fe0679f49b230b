"""The rules of Go: positions, rulesets, scoring, pass-alive chains, ladders, coordinates; compiled, without torch."""
