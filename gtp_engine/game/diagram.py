"""Boards as plain text: the output of `showboard`, and of the terminal if it has no colours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .coords import BLACK, COLUMNS, EMPTY, PASS, WHITE, colour_letter, point_at, xy
from .game import Game
from .handicap import FIXED_FROM, FOURTH_LINE_FROM
from .rules import rules_name

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


def star_points(width: int, height: int) -> frozenset[int]:
    """Returns the star points of a board: none on tiny boards, nine on 19x19."""
    points = {point_at(x, y, width) for x in _star_lines(width) for y in _star_lines(height)}
    if width % 2 and height % 2 and min(width, height) >= 5:
        points.add(point_at(width // 2, height // 2, width))
    return frozenset(points)


def _star_lines(length: int) -> tuple[int, ...]:
    if length < FIXED_FROM:
        return ()
    line = 3 if length >= FOURTH_LINE_FROM else 2
    middle = (length // 2,) if length % 2 and length >= 15 else ()
    return (line, length - 1 - line, *middle)


def last_point(game: Game) -> int:
    """Returns the point of the last move, or PASS if it was a pass or there is none."""
    return game.moves[-1].point if game.moves else PASS


def board_text(game: Game, marks: Marks | None = None, *, compact: bool = False) -> str:
    """Draws the position in ASCII, X black and O white, with a line about the game below and no empty line.

    Args:
        game: The game.
        marks: What else to draw.
        compact: Leave out the spaces between columns, and with them the parentheses around the last move.
    """
    letters = "   " + ("" if compact else " ").join(COLUMNS[: game.width])
    rows = [_row(game, y, marks or Marks(), compact) for y in range(game.height)]
    return "\n".join([letters, *rows, letters, _status(game)])


def _row(game: Game, y: int, marks: Marks, compact: bool) -> str:
    stars = star_points(game.width, game.height)
    points = [point_at(x, y, game.width) for x in range(game.width)]
    characters = [point_character(game, point, marks, "+" if point in stars else ".") for point in points]
    number = game.height - y
    if compact:
        return f"{number:2} {''.join(characters)} {number}"
    gaps = gaps_in_row(points, last_point(game), " ")
    cells = [gap + character for gap, character in zip(gaps, characters, strict=False)]
    return f"{number:2}{''.join(cells)}{gaps[-1]}{number}"


def gaps_in_row(points: list[int], last: int, gap: str) -> list[str]:
    """Returns what to print before, between and after the points of a row: `gap`, or parentheses at the last move."""
    gaps = [gap] * (len(points) + 1)
    if last in points:
        column = points.index(last)
        gaps[column], gaps[column + 1] = "(", ")"
    return gaps


def point_character(game: Game, point: int, marks: Marks, empty: str) -> str:
    """Returns the character of a point: its stone, label or owner, or else `empty`."""
    stone = game.stone_at(point)
    if stone != EMPTY:
        return (DEAD_STONES if point in marks.dead else _STONES)[stone]
    if point in marks.labels:
        return marks.labels[point]
    owner = territory_owner(game, point, marks)
    return TERRITORY.get(owner, empty)


def territory_owner(game: Game, point: int, marks: Marks) -> int:
    """Returns the colour that owns a point according to the marks, or EMPTY."""
    if marks.territory is None:
        return EMPTY
    x, y = xy(point, game.width)
    return int(marks.territory[y, x])


def _status(game: Game) -> str:
    parts = [f"{'Black (X)' if game.to_move == BLACK else 'White (O)'} to move"]
    if game.moves:
        colour, point = game.moves[-1]
        parts.append(f"move {len(game.moves)}: {colour_letter(colour)} {game.vertex(point)}")
    parts.append(f"captured by B {game.captures(BLACK)}, by W {game.captures(WHITE)}")
    parts.append(f"komi {game.komi:g}")
    parts.append(f"{rules_name(game.rules) or 'other'} rules")
    return "; ".join(parts)
