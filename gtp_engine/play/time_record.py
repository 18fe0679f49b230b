"""The time of a game in its record: the system in the root (TM, OT), what was left after moves (BL, WL, OB, OW).

FF[4] leaves the text in OT free; here it has the form that Go servers write: "5x30 byo-yomi", "25/600 Canadian" and
"10 Fischer". As there, OB and OW are the stones still to play in a Canadian period, or the byo-yomi periods left.
"""

import re
from collections.abc import Iterable, Mapping

from ..base.errors import UserError
from ..game.coords import BLACK, WHITE
from ..sgf import Properties, read_number, read_text
from ..sgf.values import number_text
from .clock import NO_LIMIT, TimeSettings
from .game_clock import COUNT, MAIN_TIME, TimeLeft, check_limits

_LEFT = {BLACK: ("BL", "OB"), WHITE: ("WL", "OW")}
_NAMES = {name for names in _LEFT.values() for name in names}
_NUMBER = r"(\d{1,6}(?:\.\d+)?(?:e[-+]?\d+)?)"  # with an exponent too, as `number_text` writes it
_OVERTIME = {
    "byoyomi": re.compile(rf"(\d{{1,4}})x{_NUMBER} byo-yomi", re.IGNORECASE),
    "canadian": re.compile(rf"(\d{{1,4}})/{_NUMBER} canadian", re.IGNORECASE),
    "fischer": re.compile(rf"{_NUMBER} fischer", re.IGNORECASE),
}


def overtime_text(settings: TimeSettings) -> str:
    """Returns the text for OT; "" if there is no overtime."""
    match settings.system:
        case "byoyomi":
            return f"{settings.count}x{number_text(settings.period)} byo-yomi"
        case "canadian":
            return f"{settings.count}/{number_text(settings.period)} Canadian"
        case "fischer":
            return f"{number_text(settings.increment)} Fischer"
        case _:
            return ""


def read_time_settings(root: Properties) -> TimeSettings:
    """Returns the time system in the properties of a root; `NO_LIMIT` for none, and for what is not read here."""
    main, overtime = read_number(read_text(root, "TM")), read_text(root, "OT").strip()
    if main is None:
        return NO_LIMIT
    try:
        return check_limits(_with_overtime(main, overtime) if overtime else TimeSettings("absolute", main))
    except UserError:
        return NO_LIMIT


def _with_overtime(main: float, text: str) -> TimeSettings:
    for system, form in _OVERTIME.items():
        match = form.fullmatch(text)
        if match is None:
            continue
        if system == "fischer":
            return TimeSettings(system, main, increment=float(match[1]))
        settings = TimeSettings(system, main, float(match[2]), int(match[1]))
        return settings if settings.has_overtime else NO_LIMIT
    return NO_LIMIT


def with_time_left(properties: Properties, left: Mapping[int, TimeLeft]) -> Properties:
    """Returns the properties of a node with the times that these players, and no others, have left after it."""
    timed = {name: values for name, values in properties.items() if name not in _NAMES}
    for colour, (seconds, count) in left.items():
        seconds_name, count_name = _LEFT[colour]
        timed[seconds_name] = [f"{seconds:.2f}".encode()]
        if count:
            timed[count_name] = [str(count).encode()]
    return timed


def read_time_left(line: Iterable[Properties]) -> dict[int, TimeLeft]:
    """Returns what the players have left after a line, by the last node that says it; without those that none names.

    Seconds or counts beyond those of any game are not read.
    """
    left: dict[int, TimeLeft] = {}
    for properties in line:
        for colour, (seconds_name, count_name) in _LEFT.items():
            seconds = read_number(read_text(properties, seconds_name))
            count = read_number(read_text(properties, count_name))
            if seconds is not None and seconds in MAIN_TIME:
                left[colour] = seconds, int(count) if count is not None and count in COUNT else 0
    return left
