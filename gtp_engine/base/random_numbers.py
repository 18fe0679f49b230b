"""Random numbers for compiled code, from a state that belongs to the caller."""

import numpy as np

from .jit import inline


@inline
def next_random(state: np.ndarray) -> np.uint64:
    """Returns the next 64 random bits of `state` (uint64 [1]; any value is a good start).

    splitmix64: Guy Steele, Doug Lea, Christine Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inline
def random_below(state: np.ndarray, limit: int) -> int:
    """Returns a random integer from 0 to `limit` - 1 (Daniel Lemire's multiplication instead of a division, 2019)."""
    return int(((next_random(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
