"""Symmetric positions at the root: of moves that are mirror images of each other only one is searched.

This is KataGo's rootSymmetryPruning. On an empty 9x9 board 15 of the 81 points are left.
"""

from collections.abc import Collection

import numpy as np

from ..go.coords import BLACK, index_of_point
from ..go.game import Game
from ..go.symmetry import COUNT, TRANSPOSE, apply, permutation


def find_symmetries(game: Game, banned_until: np.ndarray, dead: Collection[int]) -> tuple[int, ...]:
    """Returns the symmetries, apart from the identity, under which the position and the request look the same.

    These are the stones, the legal moves (so that a ko or superko may decide), the restrictions and the dead stones.
    As in KataGo, the moves that have led to the position and positions that may be repeated later do not count.

    Args:
        game: The position.
        banned_until: `selection.Root.banned_until` for the moves that the request restricts.
        dead: The points of the stones that the request names as dead (`SearchRequest.dead`).
    """
    is_dead = np.zeros(game.area + 1, bool)
    is_dead[[index_of_point(point, game.width, game.height) for point in dead]] = True
    rows = np.vstack([game.stones().ravel(), np.stack([game.legal_moves(), is_dead, *banned_until])[:, :-1]])
    planes = rows.reshape(-1, game.height, game.width)
    count = COUNT if game.width == game.height else TRANSPOSE
    return tuple(number for number in range(1, count) if np.array_equal(apply(planes, number), planes))


def mirrored_moves(game: Game, symmetries: Collection[int]) -> np.ndarray:
    """Returns which moves are mirror images of one that is searched in their place, bool [area+1].

    Black's is the one farthest to the right and then to the top, as people open a game; White's farthest to the left
    and then to the bottom, as in KataGo.
    """
    mirrored = np.zeros(game.area + 1, bool)
    if not symmetries:
        return mirrored
    rows, columns = np.indices((game.height, game.width))
    order = rows - columns * game.height if game.to_move == BLACK else columns * game.height - rows
    for symmetry in symmetries:
        mirrored[:-1] |= (apply(order, symmetry) < order).ravel()
    return mirrored


def spread_policy(policy: np.ndarray, symmetries: Collection[int], height: int, width: int) -> np.ndarray:
    """Returns a policy, float32 [area+1], in which mirror images weigh as much as the move that was searched."""
    if not symmetries:
        return policy
    images = [policy[permutation(number, width, height)] for number in symmetries]
    spread: np.ndarray = np.max([policy, *images], axis=0)  # a move that was not searched has 0
    return spread / spread.sum()
