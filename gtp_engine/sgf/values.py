"""What the values of single SGF properties mean, more widely than FF[4] has them where files in use need it.

A node's properties come as sgfmill has them: raw values, in UTF-8, by name. Points are for a board of width x height.
"""

import math
import re

from sgfmill import sgf_grammar

from ..game.coords import BLACK, PASS, WHITE, parse_colour, parse_sgf_point, point_at, xy
from ..game.game import Move

# The largest board that SGF's letters can name.
LARGEST_SIZE = 52

Properties = dict[str, list[bytes]]


def read_move(name: str, values: list[bytes], width: int, height: int) -> Move:
    """The move in the values of B or W; ValueError where it is none on this board."""
    if len(values) > 1:
        raise ValueError(f"{name} has {len(values)} values, expected one move")
    return Move(BLACK if name == "B" else WHITE, parse_sgf_point(_plain(values[0]), width, height))


def read_stones(properties: Properties, name: str, width: int, height: int) -> tuple[int, ...]:
    """The points of AB, AW or AE, rectangles ("aa:cc") point by point, each once; ValueError where one is off board."""
    if name not in properties:
        return ()
    points: dict[int, None] = {}
    for value in map(_plain, properties[name]):
        first, _, last = value.partition(":")
        if value:
            points.update(dict.fromkeys(_rectangle(name, first, last or first, width, height)))
    return tuple(points)


def _rectangle(name: str, first: str, last: str, width: int, height: int) -> list[int]:
    corners = [parse_sgf_point(text, width, height) for text in (first, last)]
    if PASS in corners:
        raise ValueError(f"{name} names no point: {first!r}")
    (left, right), (top, bottom) = (
        sorted(ends) for ends in zip(*(xy(corner, width) for corner in corners), strict=True)
    )
    return [point_at(x, y, width) for y in range(top, bottom + 1) for x in range(left, right + 1)]


def _plain(value: bytes) -> str:
    """A value that is no text: without the blanks and line breaks that some programs write.

    Only as much as an error message should quote: no such value has more than five letters.
    """
    return value.decode("utf-8", "replace").strip()[:20]


def read_text(properties: Properties, name: str, *, lines: bool = False) -> str:
    """The first value of a property as SimpleText, or with its lines as Text; empty where there is none."""
    values = properties.get(name)
    if not values:
        return ""
    value: bytes = (sgf_grammar.text_value if lines else sgf_grammar.simpletext_value)(values[0])
    return value.decode("utf-8", "replace")


def read_board_size(text: str) -> tuple[int, int]:
    """SZ as width and height, "19" or "9:13", 19x19 where it is empty; ValueError for what is no size."""
    match = re.fullmatch(r"(\d{1,9})(?:\s*[:x]\s*(\d{1,9}))?", text.strip() or "19")
    if not match:
        raise ValueError(f"bad board size: SZ[{text[:40]}]")
    width, height = int(match[1]), int(match[2] or match[1])
    if not all(1 <= side <= LARGEST_SIZE for side in (width, height)):
        raise ValueError(f"board size out of range: SZ[{text.strip()}] (SGF has letters for 1 to {LARGEST_SIZE})")
    return width, height


def read_komi(text: str) -> float | None:
    """KM in points, None where it is missing or no number.

    Chinese servers write hundredths (650), and zi, which are two points each (3.75, or 375, for 7.5).
    """
    komi = read_number(text)
    if komi is None:
        return None
    if abs(komi) >= 200 and komi % 25 == 0:
        komi /= 100
    return 2 * komi if abs(komi) % 1 in (0.25, 0.75) else komi


def read_number(text: str) -> float | None:
    """A number, with a decimal comma too; None for anything else."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_handicap(text: str) -> int:
    """HA, 0 where it is empty or no number."""
    return int(text) if re.fullmatch(r"\s*\d{1,3}\s*", text, re.ASCII) else 0


def read_player(properties: Properties) -> int | None:
    """PL as a colour; None where it is missing or names none."""
    if "PL" not in properties:
        return None
    try:
        return parse_colour(read_text(properties, "PL"))
    except ValueError:
        return None
