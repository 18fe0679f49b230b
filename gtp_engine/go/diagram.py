"""Boards as plain text: in the output of `showboard`, and in the terminal if it has no colours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .coords import BLACK, COLUMNS, EMPTY, WHITE, point_at, xy
from .handicap import star_points

_STONES = {BLACK: "X", WHITE: "O"}
DEAD_STONES = {BLACK: "x", WHITE: "o"}
TERRITORY = {BLACK: "b", WHITE: "w"}


@dataclass(frozen=True, eq=False)
class Marks:
    """What is drawn on a board in addition to its stones and its last move.

    Attributes:
        labels: A character for each labelled point, drawn if the point is empty.
        dead: The points of dead stones.
        territory: int8 [height, width], the colour that owns each point, or EMPTY.
    """

    labels: Mapping[int, str] = field(default_factory=dict)
    dead: frozenset[int] = frozenset()
    territory: NDArray[np.int8] | None = None

    def owner(self, point: int, width: int) -> int:
        """Returns the colour that owns a point, or EMPTY."""
        if self.territory is None:
            return EMPTY
        x, y = xy(point, width)
        return int(self.territory[y, x])


def board_text(stones: NDArray[np.int8], last: int, marks: Marks | None = None, *, compact: bool = False) -> str:
    """Draws a position in ASCII, X black and O white.

    Args:
        stones: int8 [height, width] of EMPTY, BLACK and WHITE.
        last: The point of the last move, or PASS.
        marks: What else to draw.
        compact: Leave out the spaces between columns, and with them the parentheses around the last move.
    """
    letters = "   " + ("" if compact else " ").join(COLUMNS[: stones.shape[1]])
    rows = [_row(stones, y, last, marks or Marks(), compact) for y in range(stones.shape[0])]
    return "\n".join([letters, *rows, letters])


def _row(stones: NDArray[np.int8], y: int, last: int, marks: Marks, compact: bool) -> str:
    height, width = stones.shape
    stars = star_points(width, height)
    points = [point_at(x, y, width) for x in range(width)]
    characters = [
        _character(int(stone), point, marks, width, "+" if point in stars else ".")
        for stone, point in zip(stones[y], points, strict=True)
    ]
    number = height - y
    if compact:
        return f"{number:2} {''.join(characters)} {number}"
    gaps = gaps_in_row(points, last, " ")
    cells = [gap + character for gap, character in zip(gaps, characters, strict=False)]
    return f"{number:2}{''.join(cells)}{gaps[-1]}{number}"


def gaps_in_row(points: list[int], last: int, gap: str) -> list[str]:
    """Returns what to print before, between and after the points of a row: `gap`, or parentheses at the last move."""
    gaps = [gap] * (len(points) + 1)
    if last in points:
        column = points.index(last)
        gaps[column], gaps[column + 1] = "(", ")"
    return gaps


def _character(stone: int, point: int, marks: Marks, width: int, empty: str) -> str:
    """Returns the character of a point: its stone, label or owner, or else `empty`."""
    if stone != EMPTY:
        return (DEAD_STONES if point in marks.dead else _STONES)[stone]
    return marks.labels.get(point) or TERRITORY.get(marks.owner(point, width), empty)
