"""Moves that a player has made before in the same surroundings, so that it can play another joseki in the next corner.

As in KataGo's avoidRepeatedPatternUtility (its patternbonustable.cpp) a pattern is the place of a move and the stones
of the 9x9 points around it, the same under all symmetries of the board and for both colours. KataGo looks for them in
the whole tree; here they count at the root, where the move is chosen.
"""

import numpy as np
from numpy.typing import NDArray

from ..go import symmetry
from ..go.coords import BLACK, PASS, index_of_point
from ..go.game import Game

_REACH = 4  # rows and columns around a move that belong to its pattern
_OUTSIDE = 3


def repeated_moves(game: Game) -> NDArray[np.bool_]:
    """Returns which moves of the player to move would repeat a pattern that it has played in the game, [area + 1].

    A point that was played before does not count: a ko would repeat itself.
    """
    me, shape, known, played = game.to_move, (game.width, game.height), set(), set()
    permutations = [symmetry.permutation(number, *shape) for number in range(symmetry.COUNT)]
    for number, move in enumerate(game.moves):
        if move.colour == me and move.point not in played:
            stones = _seen_by(me, game.stones(len(game.moves) - number))
            index = index_of_point(move.point, *shape)
            for which, moved in enumerate(permutations):
                known.add(_pattern(symmetry.apply(stones, which), int(moved[index])))
        played.add(move.point)
    stones, repeats = _seen_by(me, game.stones()), game.legal_moves()
    for index in np.flatnonzero(repeats).tolist():
        repeats[index] = _pattern(stones, index) in known
    repeats[[index_of_point(point, *shape) for point in {PASS} | played]] = False
    return repeats


def _seen_by(colour: int, stones: NDArray[np.int8]) -> NDArray[np.int8]:
    """Returns a player's stones as those of Black, and the points outside as a margin around the board."""
    padded = np.pad(stones, _REACH, constant_values=_OUTSIDE)
    return padded if colour == BLACK else np.array([0, 2, 1, _OUTSIDE], np.int8)[padded]


def _pattern(stones: NDArray[np.int8], index: int) -> tuple[int, int, int, bytes]:
    """Returns what identifies the pattern of a move, by its index, on a board with a margin."""
    width = stones.shape[1] - 2 * _REACH
    row, column = divmod(index, width)
    return width, row, column, stones[row : row + 2 * _REACH + 1, column : column + 2 * _REACH + 1].tobytes()
