"""Converts the arguments of commands to values. Whatever cannot be converted is a `syntax error`."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...base.errors import UserError, error_text
from ...base.fields import Range
from ...base.messages import plural
from ...go.coords import PASS, parse_colour, parse_vertex
from .protocol import GtpError
from .session import Session

SYNTAX_ERROR = "syntax error"

# GTP's integers go up to 2^31 - 1. Negative ones are accepted here: some commands have an error text of their own.
_LEAST, _MOST = -(2**31), 2**31 - 1

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
# GTP version 2, section 2.11: the form of a vertex, whatever the board size.
_VERTEX = re.compile(r"[A-HJ-Z](1?\d|2[0-5])", re.ASCII | re.IGNORECASE)


@contextmanager
def refusing_as(text: str) -> Iterator[None]:
    """Within a `with` block, whatever the user or a file did wrong is answered by this text; stderr has the reason."""
    try:
        yield
    except (UserError, OSError) as error:
        raise GtpError(text, error_text(error)) from error


def expect(arguments: Sequence[str], least: int, most: int | None = None) -> None:
    """Raises GtpError unless there are `least` arguments, or `least` to `most`."""
    if not least <= len(arguments) <= (least if most is None else most):
        count = str(least) if most is None else f"{least} to {most}"
        raise GtpError(SYNTAX_ERROR, f"expected arguments: {count}, got: {len(arguments)}")


def integer(text: str, least: int = _LEAST, most: int = _MOST) -> int:
    """Returns a whole number from `least` to `most`."""
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        limits = "" if least == _LEAST else f" from {least} to {most}"
        raise GtpError(SYNTAX_ERROR, f"expected a whole number{limits}, got {text!r}")
    return int(text)


def number(text: str, low: float | None = None, high: float | None = None) -> float:
    """Returns a finite number from `low` to `high`."""
    value, accepted = float(text) if _NUMBER.fullmatch(text) else math.nan, Range(low, high)
    if value not in accepted:
        raise GtpError(SYNTAX_ERROR, f"expected {accepted}, got {text!r}")
    return value


def is_colour(text: str) -> bool:
    """Returns whether `text` names a colour."""
    return text.lower() in ("b", "w", "black", "white")


def colour(text: str) -> int:
    """Returns BLACK or WHITE."""
    if not is_colour(text):
        raise GtpError(SYNTAX_ERROR, f"expected b, w, black or white, got {text!r}")
    return parse_colour(text)


def point(session: Session, text: str, off_board: str) -> int:
    """Returns the point of a vertex, or PASS; raises GtpError(`off_board`) for a vertex that is not on this board."""
    try:
        return parse_vertex(text, session.engine.width, session.engine.height)
    except UserError as error:
        raise GtpError(off_board if _VERTEX.fullmatch(text) else SYNTAX_ERROR, str(error)) from error


def board_point(session: Session, text: str, off_board: str) -> int:
    """Returns the point of a vertex; raises GtpError(`off_board`) for a pass, too."""
    value = point(session, text, off_board)
    if value == PASS:
        raise GtpError(off_board, "expected a point on the board, not a pass")
    return value


def coloured_points(session: Session, words: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the pairs of colour and vertex in `b D4 w E5 ...`; passes are allowed."""
    if len(words) % 2:
        raise GtpError(SYNTAX_ERROR, f"expected pairs of colour and vertex, got {plural(len(words), 'word')}")
    pairs = zip(words[::2], words[1::2], strict=True)
    return [(colour(first), point(session, second, "illegal move")) for first, second in pairs]
