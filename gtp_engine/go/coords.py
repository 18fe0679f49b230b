"""Every coordinate system of the project, and the only converters between them.

The corners of a board of W columns and H rows in each system:

===============  ==========  ==============  =================  =====================
system           top left    top right       bottom left        bottom right
===============  ==========  ==============  =================  =====================
(x, y)           (0, 0)      (W-1, 0)        (0, H-1)           (W-1, H-1)
vertex, 9x9      A9          J9              A1                 J1
SGF, 9x9         aa          ia              ai                 ii
move index       0           W-1             (H-1)*W            H*W-1
point            W+2         2*W+1           H*(W+1)+1          H*(W+1)+W
===============  ==========  ==============  =================  =====================

A *point* indexes the padded arrays of `go.board`: there is one wall column between the rows, and a wall row above and
below. Point 0 is wall, so it is free to mean a pass (`PASS`). A *move index* is dense; the pass follows the last point
(W*H). Evaluators, priors and ownership are in move-index order. `go.points` has the converters for compiled code.
"""

from numbers import Integral
from typing import TypeGuard

from ..base.errors import UserError
from ..base.fields import invalid

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
PASS = 0
MIN_SIZE, MAX_SIZE = 2, 25

# GTP version 2, section 2.11: the letter I is left out.
COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
# FF[4], "Go: Points": capitals beyond the 26th line.
_SGF_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The types of whole numbers: Python's own, which is recognised faster, and others such as numpy's.
_WHOLE = (int, Integral)
_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def point_at(x: int, y: int, width: int) -> int:
    """Returns the point of column `x` (0 is A) and row `y` (0 is the top row)."""
    return (y + 1) * (width + 1) + x + 1


def xy(point: int, width: int) -> tuple[int, int]:
    """Returns column and row of a point that is not a pass."""
    return point % (width + 1) - 1, point // (width + 1) - 1


def distance(first: int, second: int, width: int) -> int:
    """Returns the steps along lines from one point to another; neither is a pass."""
    (x, y), (other_x, other_y) = xy(first, width), xy(second, width)
    return abs(x - other_x) + abs(y - other_y)


def point_of_index(index: int, width: int, height: int) -> int:
    """Returns the point of a move index; width*height is the pass.

    Raises:
        UserError: The index is not on this board.
    """
    if not 0 <= index <= width * height:
        raise invalid("move index", index, f"0 to {width * height} on a {width}x{height} board")
    return PASS if index == width * height else point_at(index % width, index // width, width)


def index_of_point(point: int | str, width: int, height: int) -> int:
    """Returns the move index of a point, a vertex or a pass.

    Raises:
        UserError: It is not on this board.
    """
    point = as_point(point, width, height)
    if point == PASS:
        return width * height
    x, y = xy(point, width)
    return y * width + x


def all_points(width: int, height: int) -> list[int]:
    """Returns the points of a board in move-index order, without the pass."""
    return [point_at(x, y, width) for y in range(height) for x in range(width)]


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number of any type; a bool is not."""
    return isinstance(value, _WHOLE) and not isinstance(value, bool)


def check_board_size(width: int, height: int) -> None:
    """Raises UserError unless both sides are whole numbers that the board supports."""
    if not all(is_whole(side) and MIN_SIZE <= side <= MAX_SIZE for side in (width, height)):
        raise UserError(f"unacceptable size {width!r}x{height!r}: expected {MIN_SIZE} to {MAX_SIZE} each way")


def as_point(value: int | str, width: int, height: int) -> int:
    """Returns the point that is given as a vertex ("D4", "pass") or a point; UserError if it is not on this board."""
    if isinstance(value, str):
        return parse_vertex(value, width, height)
    if is_whole(value):
        x, y = xy(int(value), width)
        if value == PASS or (0 <= x < width and 0 <= y < height):
            return int(value)
    raise invalid("point", value, f"a vertex such as D4 or a point of the {width}x{height} board")


def vertex(point: int | str, width: int, height: int) -> str:
    """Returns GTP's name of a point in upper case ("D4"), or "pass".

    Raises:
        UserError: The point is not on this board.
    """
    point = as_point(point, width, height)
    if point == PASS:
        return "pass"
    x, y = xy(point, width)
    return f"{COLUMNS[x]}{height - y}"


def parse_vertex(text: str, width: int, height: int) -> int:
    """Returns the point that a GTP vertex names, in upper or lower case.

    Raises:
        UserError: The text does not name a point of this board.
    """
    if not isinstance(text, str):
        raise invalid("vertex", text, "a text such as D4 or pass")
    # GTP is ASCII, and Python's methods are not: strip() removes no-break spaces, upper() makes S of a long s, and
    # isdecimal() accepts digits of other scripts.
    name = text.strip(" \t").upper() if text.isascii() else ""
    if name == "PASS":
        return PASS
    x = COLUMNS.find(name[:1]) if name else -1
    number = name[1:]
    row = int(number) if number.isdecimal() and len(number) <= 2 else 0  # int() admits underscores and signs
    if not 0 <= x < width or not 1 <= row <= height:
        raise UserError(f"invalid vertex {text!r}: expected A1 to {COLUMNS[width - 1]}{height} (no I) or pass")
    return point_at(x, height - row, width)


def sgf_point(point: int, width: int, height: int) -> str:
    """Returns SGF's two letters of a point; a pass is the empty text (FF[4])."""
    if point == PASS:
        return ""
    x, y = xy(point, width)
    return _SGF_LETTERS[x] + _SGF_LETTERS[y]


def parse_sgf_point(text: str, width: int, height: int) -> int:
    """Returns the point of SGF's two letters; UserError if they name none of this board.

    "" is a pass, and so are "tt" up to 19x19 (FF[3]) and "``" (Cyberoro: the letter before "a").
    """
    if text in ("", "``") or (text == "tt" and width <= 19 and height <= 19):
        return PASS
    x, y = _SGF_LETTERS.find(text[0]), _SGF_LETTERS.find(text[1:])
    if len(text) != 2 or not 0 <= x < width or not 0 <= y < height:
        raise UserError(f"invalid SGF point {text!r} on a {width}x{height} board")
    return point_at(x, y, width)


def opponent(colour: int) -> int:
    """Returns the other player's colour."""
    return 3 - colour


def parse_colour(text: str) -> int:
    """Returns BLACK or WHITE for b, w, black or white in upper or lower case; UserError for any other text."""
    try:
        return _COLOURS[text.strip().lower()]
    except KeyError:
        raise UserError(f"invalid colour {text!r}: expected b, w, black or white") from None


def as_colour(value: int | str) -> int:
    """Returns BLACK or WHITE for either of them, or for a word of `parse_colour`; UserError for anything else."""
    if isinstance(value, str):
        return parse_colour(value)
    if is_whole(value) and value in (BLACK, WHITE):
        return int(value)
    raise invalid("colour", value, f"{BLACK} (black) or {WHITE} (white)")


def colour_name(colour: int) -> str:
    """Returns "black" or "white"."""
    return "black" if colour == BLACK else "white"


def colour_letter(colour: int) -> str:
    """Returns "B" or "W"."""
    return "B" if colour == BLACK else "W"
