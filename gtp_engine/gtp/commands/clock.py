"""Time settings and the time that is left."""

from ...search.clock import SYSTEMS, gtp_settings, named_settings
from ..arguments import SYNTAX_ERROR, colour, expect, integer, number
from ..protocol import GtpError
from ..registry import command
from ..session import Session

_KGS_SYSTEMS = ("none", "absolute", "byoyomi", "canadian")


@command("time_settings")
def time_settings(session: Session, arguments: list[str]) -> None:
    """Main time, overtime period, stones a period."""
    expect(arguments, 3)
    main, period = (_seconds(word) for word in arguments[:2])
    session.engine.clock.settings = gtp_settings(main, period, integer(arguments[2], 0))


@command("kgs-time_settings")
def kgs_time_settings(session: Session, arguments: list[str]) -> None:
    expect(arguments, 1, 4)
    if arguments[0].lower() not in _KGS_SYSTEMS:
        raise GtpError(SYNTAX_ERROR, f"unknown time system {arguments[0]!r}: expected {', '.join(_KGS_SYSTEMS)}")
    _set(session, arguments)


@command("kata-time_settings")
def kata_time_settings(session: Session, arguments: list[str]) -> None:
    expect(arguments, 1, 5)
    _set(session, arguments)


def _set(session: Session, arguments: list[str]) -> None:
    try:
        settings = named_settings(arguments)
    except ValueError as error:
        raise GtpError(SYNTAX_ERROR, str(error)) from error
    session.engine.clock.settings = settings


@command("kata-list_time_settings")
def kata_list_time_settings(session: Session, arguments: list[str]) -> str:
    return " ".join(SYSTEMS)


@command("time_left")
def time_left(session: Session, arguments: list[str]) -> None:
    """Colour, seconds, stones (0: main time; with byo-yomi the periods left)."""
    expect(arguments, 3)
    # An overrun clock may be reported below 0.
    session.engine.clock.time_left(colour(arguments[0]), number(arguments[1]), integer(arguments[2], 0))


def _seconds(word: str) -> float:
    seconds = number(word)
    if seconds < 0:
        raise GtpError(SYNTAX_ERROR, f"expected seconds, 0 or more, got {word!r}")
    return seconds
