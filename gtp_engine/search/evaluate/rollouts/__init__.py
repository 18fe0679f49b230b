"""Evaluation by rollouts: random games to the end, their patterns, and priors without a network."""
