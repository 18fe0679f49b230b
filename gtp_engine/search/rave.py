"""Rapid action value estimation: a move is also valued by the rollouts in which its player made it later on.

Sylvain Gelly, David Silver, "Combining online and offline knowledge in UCT", ICML 2007, section 5.
"""

import math

import numpy as np

from ..base.jit import inline, njit
from .tree import NO_NODE

# To a move's statistics area^2 / 650 rollouts are added that agree with the first-play value, so that one lucky rollout
# decides nothing: 10 on 9x9 (measured best), 200 on 19x19. A move's share in the result falls with the board's area, so
# the number of rollouts needed to detect it grows with the square.
_AREA_SQUARES_A_ROLLOUT = 650.0


@inline
def estimate(amaf: np.ndarray, move: int, first_play: float) -> float:
    """Returns a move's value by a node's row of `tree.Tree.amaf`; the first-play value for a pass."""
    if move >= len(amaf):
        return first_play
    doubt = len(amaf) * len(amaf) / _AREA_SQUARES_A_ROLLOUT
    return (amaf[move, 1] + doubt * first_play) / (amaf[move, 0] + doubt)


@inline
def blended(value: float, visits: float, estimated: float, equivalence: float) -> float:
    """Returns (1 - beta) value + beta estimated, with beta = sqrt(k / (3 n + k)) after n visits (equation 14)."""
    beta = math.sqrt(equivalence / (3.0 * visits + equivalence))
    return (1.0 - beta) * value + beta * estimated


@njit
def back_up(nodes: np.ndarray, amaf: np.ndarray, leaf: int, leaf_amaf: np.ndarray, value: float) -> None:
    """Adds a leaf's AMAF statistics to the leaf and all nodes above it.

    Args:
        nodes: `Tree.nodes`.
        amaf: `Tree.amaf`.
        leaf: The node.
        leaf_amaf: float32 [2, 2, area] (`evaluate.row`), overwritten: on the way up the path's own moves become the
            first plays of every rollout, since they were made before it.
        value: Win minus loss at the leaf, for the side to move there.
    """
    area = leaf_amaf.shape[2]
    side = 0  # index into `leaf_amaf` of the player to move at the node
    node = leaf
    while node != NO_NODE:
        for move in range(area):
            amaf[node, move, 0] += leaf_amaf[side, 0, move]
            amaf[node, move, 1] += leaf_amaf[side, 1, move]
        move = nodes[node]["move"]
        side = 1 - side
        value = -value
        # The mover was the first to play there in all rollouts below, and its opponent in none. Not for a pass.
        if 0 <= move < area:
            leaf_amaf[side, 0, move] = 1.0
            leaf_amaf[side, 1, move] = value
            leaf_amaf[1 - side, 0, move] = 0.0
            leaf_amaf[1 - side, 1, move] = 0.0
        node = nodes[node]["parent"]
