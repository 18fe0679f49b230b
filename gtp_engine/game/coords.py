"""Every coordinate system of the project, and the only converters between them.

Where the corners of a board of W columns and H rows lie:

===============  ==========  ==============  =================  =====================
system           top left    top right       bottom left        bottom right
===============  ==========  ==============  =================  =====================
(x, y)           (0, 0)      (W-1, 0)        (0, H-1)           (W-1, H-1)
vertex, 9x9      A9          J9              A1                 J1
SGF, 9x9         aa          ia              ai                 ii
move index       0           W-1             (H-1)*W            H*W-1
point            W+2         2*W+1           H*(W+1)+1          H*(W+1)+W
===============  ==========  ==============  =================  =====================

A *point* indexes the padded arrays of `game.board`: one wall column stands between the rows, a wall row above and
below. Point 0 is wall, so it is free to mean a pass (`PASS`). A *move index* is dense; the pass follows the last point
(W*H). Evaluators, priors and ownership are in move-index order.
"""

EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
PASS = 0
MIN_SIZE, MAX_SIZE = 2, 25

# GTP version 2, section 2.11: the letter I is left out.
COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
# FF[4], "Go: Points": capitals beyond the 26th line.
_SGF_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


def point_at(x: int, y: int, width: int) -> int:
    """The point of column `x` (0 is A) and row `y` (0 is the top row)."""
    return (y + 1) * (width + 1) + x + 1


def xy(point: int, width: int) -> tuple[int, int]:
    """Column and row of a point that is not a pass."""
    return point % (width + 1) - 1, point // (width + 1) - 1


def point_of_index(index: int, width: int, height: int) -> int:
    """The point of a move index; width*height is the pass."""
    return PASS if index == width * height else point_at(index % width, index // width, width)


def index_of_point(point: int, width: int, height: int) -> int:
    """The move index of a point or of `PASS`."""
    if point == PASS:
        return width * height
    x, y = xy(point, width)
    return y * width + x


def all_points(width: int, height: int) -> list[int]:
    """The points of a board in move-index order, without the pass."""
    return [point_at(x, y, width) for y in range(height) for x in range(width)]


def vertex(point: int, width: int, height: int) -> str:
    """GTP's name of a point, in upper case ("D4"), or "pass"."""
    if point == PASS:
        return "pass"
    x, y = xy(point, width)
    return f"{COLUMNS[x]}{height - y}"


def parse_vertex(text: str, width: int, height: int) -> int:
    """The point that GTP's `text` names, in any case; ValueError where it names none on this board."""
    # GTP is ASCII: a no-break space is no blank, a long s no S, and there are no digits of other scripts.
    name = text.strip(" \t").upper() if text.isascii() else ""
    if name == "PASS":
        return PASS
    x = COLUMNS.find(name[:1]) if name else -1
    number = name[1:]
    row = int(number) if number.isdecimal() and len(number) <= 2 else 0  # int() admits underscores and signs
    if not 0 <= x < width or not 1 <= row <= height:
        raise ValueError(f"invalid vertex {text!r}: expected A1 to {COLUMNS[width - 1]}{height} (no I) or pass")
    return point_at(x, height - row, width)


def sgf_point(point: int, width: int, height: int) -> str:
    """SGF's two letters of a point; a pass is the empty text (FF[4])."""
    if point == PASS:
        return ""
    x, y = xy(point, width)
    return _SGF_LETTERS[x] + _SGF_LETTERS[y]


def parse_sgf_point(text: str, width: int, height: int) -> int:
    """The point of SGF's two letters; "" is a pass, and "tt" too up to 19x19 (FF[3]); ValueError for others."""
    if text == "" or (text == "tt" and width <= 19 and height <= 19):
        return PASS
    x, y = (_SGF_LETTERS.find(letter) for letter in text) if len(text) == 2 else (-1, -1)
    if not 0 <= x < width or not 0 <= y < height:
        raise ValueError(f"invalid SGF point {text!r} on a {width}x{height} board")
    return point_at(x, y, width)


def opponent(colour: int) -> int:
    """The other player's colour."""
    return 3 - colour


def parse_colour(text: str) -> int:
    """BLACK or WHITE from b, w, black or white in any case; ValueError for others."""
    try:
        return _COLOURS[text.strip().lower()]
    except KeyError:
        raise ValueError(f"invalid colour {text!r}: expected b, w, black or white") from None


def colour_name(colour: int) -> str:
    """"black" or "white"."""
    return "black" if colour == BLACK else "white"


def colour_letter(colour: int) -> str:
    """"B" or "W"."""
    return "B" if colour == BLACK else "W"
