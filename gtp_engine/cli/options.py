"""The options of game and search, which commands get as one value each.

A command decorated with `game_options` gets one argument `game: GameOptions`, with `search_options` one argument
`search: SearchOptions`:

    @command()
    @game_options
    @search_options(seconds="5")
    def gtp(game: GameOptions, search: SearchOptions) -> None: ...
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from . import shared_options as shared
from .command import options
from .settings_file import LIMITS
from .shared_options import Decorator

if TYPE_CHECKING:
    from ..game.rules import Rules
    from ..play.ranks import Rank


@dataclass(frozen=True)
class GameOptions:
    """The game to play.

    Attributes:
        komi: Points for White; None for the default of the board size.
    """

    width: int
    height: int
    komi: float | None
    rules: "Rules"


@dataclass(frozen=True)
class SearchOptions:
    """How to search; None if an option without a default is not given.

    Attributes:
        visits: Visits per search.
        seconds: Seconds per search.
        settings: The search's parameters as NAME=VALUE, including the profile of --profile.
    """

    network: str
    visits: int | None
    seconds: float | None
    rank: "Rank | None"
    threads: int | None
    device: str
    precision: str
    strict: bool
    seed: int | None
    settings: tuple[str, ...]


def game_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --board-size, --komi and --rules."""

    @functools.wraps(function)
    def wrapper(*args: Any, board_size: tuple[int, int], komi: float | None, rules: "Rules", **rest: Any) -> Any:
        return function(*args, game=GameOptions(*board_size, komi, rules), **rest)

    return options("Game", shared.BOARD_SIZE, shared.KOMI, shared.RULES)(wrapper)


def search_options(*, visits: str | None = None, seconds: str | None = None, rank: bool = False) -> Decorator:
    """Adds the limits, --network, the machine, --set and --settings, and --rank for commands that play.

    Args:
        visits: The command's limit without --visits and --seconds, for the help.
        seconds: The same.
        rank: Whether to add --rank.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(
            *args: Any, settings_file: tuple[str, ...], profile: str | None, settings: tuple[str, ...], **values: Any
        ) -> Any:
            named = () if profile is None else (f"profile={profile}",)
            values = {"rank": None, **values, **_limits(values), "settings": settings_file + named + settings}
            search = SearchOptions(**{field.name: values.pop(field.name) for field in fields(SearchOptions)})
            return function(*args, search=search, **values)

        return options(
            "Search",
            shared.NETWORK,
            *([shared.RANK, shared.LEVEL] if rank else []),
            *shared.limit_options(visits, seconds),
            shared.PROFILE,
            shared.STRICT,
            shared.seed_option("Random seed; results are reproducible with --visits and --threads 1."),
            shared.parameter_option("--set", "settings", text="Set a search parameter"),
            shared.SETTINGS,
            "Machine",
            shared.THREADS,
            shared.device_option(),
            shared.precision_option(),
        )(wrapper)

    return decorate


def _limits(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the limits of the search: those of the command line, or else of the environment, or else of files."""
    context = click.get_current_context()
    places = {name: context.get_parameter_source(name) for name in LIMITS}
    for place in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        if place in places.values():
            return {name: value if places[name] is place else None for name, value in values.items() if name in LIMITS}
    return {name: values[name] for name in LIMITS}
