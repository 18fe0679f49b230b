"""What a page may send: small JSON objects with a `type`, each checked before anything is done with it."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..base.errors import UserError
from ..base.fields import Range, invalid, parse_number, parse_word
from ..game.coords import MAX_SIZE, MIN_SIZE
from ..game.game import Game
from ..game.rules import RULESETS
from ..play.clock import NO_LIMIT, TimeSettings, named_settings
from ..play.game_clock import check_limits
from ..play.initial_game import initial_game
from ..play.players import COLOURS, parse_humans
from ..play.ranks import Rank, as_rank

# The page offers less; these bounds only keep a wrong message from starting a search of a week.
_SECONDS, _VISITS = Range(0, 3600, above=True, noun="number of seconds"), Range(1, 1_000_000, whole=True)
_SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer")


@dataclass(frozen=True)
class NewGame:
    """A game that a page wants to begin.

    Attributes:
        game: The position to begin from.
        humans: The colours that people play.
        rank: The engine's rank; None for full strength.
        seconds: The longest time for a move of the engine; None for no limit but that of the visits.
        visits: The largest number of visits for one; None for no limit.
        time: The time limits of both players.
    """

    game: Game
    humans: frozenset[int]
    rank: Rank | None
    seconds: float | None
    visits: int | None
    time: TimeSettings


def parse_message(text: str | bytes) -> dict[str, Any]:
    """Returns the object that a page has sent.

    Raises:
        UserError: It is not a JSON object with a text as its `type`.
    """
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError("invalid message: it is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise UserError("invalid message: expected an object with a type")
    return message


def text_of(message: Mapping[str, Any], name: str) -> str:
    """Returns a text of a message.

    Raises:
        UserError: It is missing, or something else.
    """
    value = message.get(name)
    if not isinstance(value, str):
        raise invalid(name, value, "text")
    return value


def bytes_of(message: Mapping[str, Any], name: str) -> bytes:
    """Returns the bytes that a message has as base64.

    Raises:
        UserError: They are missing, or something else.
    """
    value = text_of(message, name)
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise invalid(name, value, "base64") from None


def whole_number(message: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Returns a whole number of a message.

    Raises:
        UserError: It is missing, something else, or out of range.
    """
    return int(parse_number(name, message.get(name), Range(low, high, whole=True), from_text=False))


def visits_of(message: Mapping[str, Any]) -> int | None:
    """Returns the number of visits of a message; None if it has none.

    Raises:
        UserError: The number of visits is invalid.
    """
    value = message.get("visits")
    return None if value is None else int(parse_number("number of visits", value, _VISITS, from_text=False))


def time_of(message: Mapping[str, Any]) -> TimeSettings:
    """Returns the time limits of a message, which names them as `kata-time_settings` does; without any, no limit.

    Raises:
        UserError: They are invalid, or leave no time at all.
    """
    if message.get("time") is None:
        return NO_LIMIT
    return check_limits(named_settings(text_of(message, "time").split(), _SYSTEMS))


def new_game_of(message: Mapping[str, Any]) -> NewGame:
    """Returns the game that a page wants to begin.

    Raises:
        UserError: A value is missing or invalid, or the values do not fit together.
    """
    width, height = (whole_number(message, name, MIN_SIZE, MAX_SIZE) for name in ("width", "height"))
    handicap = whole_number(message, "handicap", 0, 9)
    komi = message.get("komi")
    if komi is not None:
        komi = float(parse_number("komi", komi, Range(), from_text=False))
    seconds = message.get("seconds")
    rules = parse_word("rules", message.get("rules"), RULESETS)
    return NewGame(
        initial_game(width, height, handicap=handicap, komi=komi, rules=rules),
        parse_humans(parse_word("colour", message.get("colour"), COLOURS)),
        as_rank(text_of(message, "rank")),
        None if seconds is None else float(parse_number("time", seconds, _SECONDS, from_text=False)),
        visits_of(message),
        time_of(message),
    )
