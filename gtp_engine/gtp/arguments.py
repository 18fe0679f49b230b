"""Arguments of commands as values. Whatever cannot be read is a `syntax error`."""

import math
import re
from collections.abc import Sequence

from ..game.coords import PASS, parse_colour, parse_vertex
from ..wording import counted
from .protocol import GtpError
from .session import Session

SYNTAX_ERROR = "syntax error"

# GTP's whole numbers go up to 2^31 - 1; where negative ones have an error text of their own, the command finds them.
_LEAST, _MOST = -(2**31), 2**31 - 1

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
# GTP version 2, section 2.11: what a vertex looks like, on whatever board.
_VERTEX = re.compile(r"[A-HJ-Z](1?\d|2[0-5])", re.ASCII | re.IGNORECASE)


def expect(arguments: Sequence[str], least: int, most: int | None = None) -> None:
    """GtpError unless there are `least` arguments, or up to `most`."""
    if not least <= len(arguments) <= (least if most is None else most):
        count = str(least) if most is None else f"{least} to {most}"
        raise GtpError(SYNTAX_ERROR, f"expected arguments: {count}, got: {len(arguments)}")


def integer(text: str, least: int = _LEAST, most: int = _MOST) -> int:
    """A whole number from `least` to `most`."""
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        limits = "" if least == _LEAST else f" from {least} to {most}"
        raise GtpError(SYNTAX_ERROR, f"expected a whole number{limits}, got {text!r}")
    return int(text)


def number(text: str) -> float:
    """A finite number."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise GtpError(SYNTAX_ERROR, f"expected a number, got {text!r}")
    return value


def is_colour(text: str) -> bool:
    """Whether `text` names a colour."""
    return text.lower() in ("b", "w", "black", "white")


def colour(text: str) -> int:
    """BLACK or WHITE."""
    if not is_colour(text):
        raise GtpError(SYNTAX_ERROR, f"expected b, w, black or white, got {text!r}")
    return parse_colour(text)


def point(session: Session, text: str, off_board: str) -> int:
    """The point or pass that `text` names; GtpError(`off_board`) for a vertex that this board does not have."""
    try:
        return parse_vertex(text, session.engine.width, session.engine.height)
    except ValueError as error:
        raise GtpError(off_board if _VERTEX.fullmatch(text) else SYNTAX_ERROR, str(error)) from error


def board_point(session: Session, text: str, off_board: str) -> int:
    """As `point`, and a pass is refused with `off_board` too."""
    value = point(session, text, off_board)
    if value == PASS:
        raise GtpError(off_board, "expected a point of the board, not a pass")
    return value


def coloured_points(session: Session, words: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of colour and vertex, `b D4 w E5 ...`; passes are among them."""
    if len(words) % 2:
        raise GtpError(SYNTAX_ERROR, f"expected pairs of colour and vertex, got {counted(len(words), 'word')}")
    pairs = zip(words[::2], words[1::2], strict=True)
    return [(colour(first), point(session, second, "illegal move")) for first, second in pairs]
