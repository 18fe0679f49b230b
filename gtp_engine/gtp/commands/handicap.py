"""Handicap stones (GTP version 2, section 6.3.3). All three commands need an empty board; white moves next."""

from collections.abc import Callable

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
    return place_count(session, arguments, fixed_handicap_points)


@command("place_free_handicap")
def place_free_handicap(session: Session, arguments: list[str]) -> str:
    """Exactly as many stones as asked for: gtp2ogs resigns where there are fewer."""
    return place_count(session, arguments, free_handicap_points)


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


def place_count(session: Session, arguments: list[str], choose: Callable[[int, int, int], list[int]]) -> str:
    """Places as many stones as the argument says, where `choose(count, width, height)` puts them; their vertices."""
    expect(arguments, 1)
    count = integer(arguments[0])
    _expect_empty(session)
    try:
        points = choose(count, session.engine.width, session.engine.height)
    except ValueError as error:
        raise GtpError(INVALID_NUMBER, str(error)) from error
    return place(session, points)


def _expect_empty(session: Session) -> None:
    if session.game.moves or session.game.setup_stones:
        raise GtpError(BOARD_NOT_EMPTY)


def place(session: Session, points: list[int]) -> str:
    """Places the stones; their vertices."""
    session.engine.place_handicap(points)
    session.last_report = None
    return " ".join(session.vertex(point) for point in points)
