"""The 3x3 patterns of MoGo's rollouts, as a table over all neighbourhoods of a point.

Sylvain Gelly, Yizao Wang, Remi Munos, Olivier Teytaud, "Modification of UCT with Patterns in Monte-Carlo Go" (INRIA
report 6062, 2006), section 3.2: hane, cut and moves at the edge.
"""

from itertools import product

import numpy as np

from ....base.jit import inline
from ....go.coords import BLACK, EMPTY, WALL, WHITE
from ....go.symmetry import COUNT, apply

# Three rows around the move "*". X and O: the two colours, either way; "." empty; "#" beyond the edge; "?" any of these
# but "#"; "x", "o": anything but X, anything but O.
_PATTERNS = (
    "XOX .*. ???",  # hane
    "XO. .*. ?.?",
    "XO? X*. ?.?",
    "XOO .*. ?.?",
    "?X? O*O xxx",  # cut
    "X.? O*? ###",  # at the edge
    "?X? o*O ###",
    "?XO ?*? ###",
    "?OX X*O ###",
)
_CUT = "XO? O*? ???"
_USELESS_CUTS = ("XO? O*O ?.?", "XO? O*. ?O?")  # the cutting stone would be captured at once

_MEANINGS = {
    "X": (BLACK,),
    "O": (WHITE,),
    ".": (EMPTY,),
    "#": (WALL,),
    "x": (EMPTY, WHITE, WALL),
    "o": (EMPTY, BLACK, WALL),
    "?": (EMPTY, BLACK, WHITE),
}
_SWAPPED = str.maketrans("XOxo", "OXox")


def _surroundings(pattern: str) -> set[int]:
    """Returns the codes (see `surroundings`) that a pattern covers, by all symmetries and with the colours swapped."""
    square = np.array([list(row) for row in pattern.split()])
    codes = set()
    for symmetry in range(COUNT):
        letters = "".join(apply(square, symmetry).ravel()).replace("*", "")
        for names in (letters, letters.translate(_SWAPPED)):
            for stones in product(*(_MEANINGS[name] for name in names)):
                codes.add(sum(int(stone) << (2 * index) for index, stone in enumerate(stones)))
    return codes


def _urgent_table() -> np.ndarray:
    codes = _surroundings(_CUT).difference(*(_surroundings(pattern) for pattern in _USELESS_CUTS))
    codes = codes.union(*(_surroundings(pattern) for pattern in _PATTERNS))
    table = np.zeros(1 << 16, np.bool_)
    table[list(codes)] = True
    return table


_URGENT = _urgent_table()


@inline
def surroundings(board: np.ndarray, point: int) -> int:
    """Returns the eight neighbours of a point in one number: two bits each, row by row from the top left."""
    stones = board["stones"]
    above = point - board["width"] - 1
    below = point + board["width"] + 1
    return (
        int(stones[above - 1])
        | int(stones[above]) << 2
        | int(stones[above + 1]) << 4
        | int(stones[point - 1]) << 6
        | int(stones[point + 1]) << 8
        | int(stones[below - 1]) << 10
        | int(stones[below]) << 12
        | int(stones[below + 1]) << 14
    )


@inline
def is_urgent_shape(board: np.ndarray, point: int) -> bool:
    """Whether one of MoGo's patterns lies around this empty point."""
    return _URGENT[surroundings(board, point)]
