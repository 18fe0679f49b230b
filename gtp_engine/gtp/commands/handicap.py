"""Handicap stones (GTP version 2, section 6.3.3). All three commands need an empty board; white moves next."""

from ...game.handicap import fixed_handicap_points, free_handicap_points
from ..arguments import board_point, expect, integer
from ..protocol import GtpError
from ..registry import command
from ..session import Session

BOARD_NOT_EMPTY = "board not empty"
INVALID_NUMBER = "invalid number of stones"
BAD_VERTEX_LIST = "bad vertex list"


@command("fixed_handicap")
def fixed_handicap(session: Session, arguments: list[str]) -> str:
    count = _count(session, arguments)
    try:
        points = fixed_handicap_points(count, session.game.width, session.game.height)
    except ValueError as error:
        raise GtpError(INVALID_NUMBER, str(error)) from error
    return place(session, points)


@command("place_free_handicap")
def place_free_handicap(session: Session, arguments: list[str]) -> str:
    """Exactly as many stones as asked for: gtp2ogs resigns where there are fewer."""
    count = _count(session, arguments)
    try:
        points = free_handicap_points(count, session.game.width, session.game.height)
    except ValueError as error:
        raise GtpError(INVALID_NUMBER, str(error)) from error
    return place(session, points)


@command("set_free_handicap")
def set_free_handicap(session: Session, arguments: list[str]) -> None:
    _expect_empty(session)
    points = [board_point(session, word, BAD_VERTEX_LIST) for word in arguments]
    if len(points) < 2 or len(set(points)) < len(points) or len(points) >= session.game.area:
        raise GtpError(BAD_VERTEX_LIST, "expected two or more different points, one point left empty")
    try:
        place(session, points)
    except ValueError as error:
        raise GtpError(BAD_VERTEX_LIST, str(error)) from error


def _count(session: Session, arguments: list[str]) -> int:
    expect(arguments, 1)
    count = integer(arguments[0], -(2**31))
    _expect_empty(session)
    return count


def _expect_empty(session: Session) -> None:
    if session.game.moves or session.game.setup_stones:
        raise GtpError(BOARD_NOT_EMPTY)


def place(session: Session, points: list[int]) -> str:
    """Places the stones; their vertices."""
    session.engine.place_handicap(points)
    session.last_report = None
    return " ".join(session.vertex(point) for point in points)
