"""Rapid action value estimation: a move is also judged by the playouts in which its player made it later on.

Sylvain Gelly, David Silver, "Combining online and offline knowledge in UCT", ICML 2007, section 5.
"""

import math

import numpy as np

from ..compiled import inline, njit

# As many playouts that agree with the first-play value are added, so that one lucky playout decides nothing: 10 on 9x9
# (measured best), 200 on 19x19. One move's share in the result falls with the board's area, so the playouts that
# it takes to see it grow with the square.
_AREA_SQUARES_A_PLAYOUT = 650.0


@inline
def estimate(first_plays: np.ndarray, move: int, first_play: float) -> float:
    """A move's value by a node's row of `tree.Tree.first_plays`; the first-play value for a pass."""
    if move >= len(first_plays):
        return first_play
    doubt = len(first_plays) * len(first_plays) / _AREA_SQUARES_A_PLAYOUT
    return (first_plays[move, 1] + doubt * first_play) / (first_plays[move, 0] + doubt)


@inline
def blended(value: float, visits: float, estimated: float, equivalence: float) -> float:
    """A move's value after so many visits, beta = sqrt(k / (3 n + k)) of it the estimate (equation 14)."""
    beta = math.sqrt(equivalence / (3.0 * visits + equivalence))
    return (1.0 - beta) * value + beta * estimated


@njit
def back_up(nodes: np.ndarray, first_plays: np.ndarray, leaf: int, played: np.ndarray, value: float) -> None:
    """Adds a leaf's playouts to the leaf and all above it.

    played: float32 [2, 2, area] (`evaluate.interface.Outputs`), overwritten; value: win minus loss at the leaf. On the
    way up the path's own moves become first plays of every playout.
    """
    area = played.shape[2]
    side = 0  # of `played`: the player to move at the node
    node = leaf
    while node >= 0:
        for move in range(area):
            first_plays[node, move, 0] += played[side, 0, move]
            first_plays[node, move, 1] += played[side, 1, move]
        move = nodes[node]["move"]
        side = 1 - side
        value = -value
        if 0 <= move < area:
            played[side, 0, move] = 1.0
            played[side, 1, move] = value
            played[1 - side, 0, move] = 0.0
            played[1 - side, 1, move] = 0.0
        node = nodes[node]["parent"]
