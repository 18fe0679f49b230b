"""Options that several subcommands share, and the engine settings made from them.

A command decorated with `game_options` gets one argument `game: GameOptions`, with `search_options` one argument
`search: SearchOptions`:

    @click.command()
    @game_options
    @search_options
    def play(game: GameOptions, search: SearchOptions) -> None: ...
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ..evaluate import choices
from .option_types import BoardSize, Komi, Level, Profile, RulesName, Seconds
from .settings_file import read_settings

if TYPE_CHECKING:
    from ..game.rules import Rules
    from ..play.engine import EngineSettings
    from ..search.parameters import SearchParameters

DEVICES = (choices.AUTO, *choices.DEVICES)
PRECISIONS = (choices.AUTO, *choices.PRECISIONS)


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
    level: "int | Literal['max']"
    threads: int | None
    device: str
    precision: str
    strict: bool
    seed: int | None
    settings: tuple[str, ...]


PROFILE_HELP = "Human style to imitate, for human-trained networks: rank_5k, rank_1d_3k, preaz_9d, proyear_1990, ..."


def game_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --board-size, --komi and --rules."""

    @click.option("--board-size", type=BoardSize(), default="19", show_default=True, help="N or WIDTHxHEIGHT, 2 to 25.")
    @click.option("--komi", type=Komi(), help="Points for White.  [default: 7.5; 7 on 9x9 and smaller]")
    @click.option(
        "--rules", type=RulesName(), default="chinese", show_default=True, help="Ruleset: chinese, japanese, aga, ..."
    )
    @functools.wraps(function)
    def wrapper(*args: Any, board_size: tuple[int, int], komi: float | None, rules: "Rules", **rest: Any) -> Any:
        return function(*args, game=GameOptions(*board_size, komi, rules), **rest)

    return wrapper


def search_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --level to `analysis_options`, for commands that play."""
    option = click.option("--level", type=Level(), default="max", show_default=True, help="Strength: 1 to 10, or max.")
    return option(analysis_options(default_limit="5")(function))


_VISITS = click.option("--visits", type=click.IntRange(1), metavar="N", help="Stop each search after N visits.")
_SEARCH_OPTIONS = (
    click.option("--threads", type=click.IntRange(1, 256), metavar="N", help="CPU threads.  [default: all]"),
    click.option(
        "--seed",
        type=click.IntRange(0),
        metavar="N",
        help="Random seed; results are reproducible with --visits and --threads 1.",
    ),
    click.option(
        "--network",
        default=choices.AUTO,
        show_default=True,
        metavar="NAME",
        help="A file or a name; auto: the bundled network for the board size; none: random rollouts.",
    ),
    click.option(
        "--device", type=click.Choice(DEVICES), default="auto", show_default=True, help="Device for the network."
    ),
    click.option(
        "--precision",
        type=click.Choice(PRECISIONS),
        default="auto",
        show_default=True,
        help="Numeric precision of the network.",
    ),
    click.option("--profile", type=Profile(), metavar="NAME", help=PROFILE_HELP),
    click.option(
        "--strict", is_flag=True, help="Fail if the board is too large for the network, instead of using rollouts."
    ),
    click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a search parameter (repeatable)."),
    click.option(
        "--settings",
        "settings_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        is_eager=True,
        callback=read_settings,
        help="A TOML file with options by name, and search parameters in [search].",
    ),
)


def analysis_options(default_limit: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the limits, --threads, --seed, --network with its options, --set and --settings.

    Args:
        default_limit: The command's limit without --visits and --seconds, for the help of --seconds.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(
            *args: Any, settings_file: tuple[str, ...], profile: str | None, settings: tuple[str, ...], **values: Any
        ) -> Any:
            named = () if profile is None else (f"profile={profile}",)
            values = {"level": "max", **values, "settings": settings_file + named + settings}
            search = SearchOptions(**{field.name: values.pop(field.name) for field in fields(SearchOptions)})
            return function(*args, search=search, **values)

        return add_options(wrapper, (_VISITS, seconds, *_SEARCH_OPTIONS))

    text = f"Stop each search after this time.  [default: {default_limit}]"
    seconds = click.option("--seconds", type=Seconds(), help=text)
    return decorate


def add_options(function: Callable[..., Any], options: Iterable[Callable[..., Any]]) -> Callable[..., Any]:
    """Decorates a function with options; the help lists them in this order."""
    for option in reversed(tuple(options)):
        function = option(function)
    return function


def engine_settings(options: SearchOptions, **others: Any) -> "EngineSettings":
    """Returns the engine's settings.

    Args:
        options: The options as typed.
        **others: Further fields of EngineSettings.

    Raises:
        UserError: A search parameter is unknown, or the network is not found; the engine's start would report that
            too, but only after a while.
    """
    from ..play.engine import EngineSettings
    from ..search.parameters import split_setting

    given = {name: value for name, value in vars(options).items() if value is not None and name != "settings"}
    given["network"] = network_file(options.network)
    return EngineSettings(**given, parameters=dict(map(split_setting, options.settings)), **others)


def search_parameters(network: str, settings: tuple[str, ...]) -> "SearchParameters | None":
    """Returns the network's default parameters with the settings applied; None without settings.

    Raises:
        UserError: A setting is unknown or has an invalid value.
    """
    from ..search.parameters import default_parameters, parse_setting

    return functools.reduce(parse_setting, settings, default_parameters(network)) if settings else None


def network_file(network: str) -> str:
    """Returns the path of a network, given by its path or its name; AUTO and evaluators without a file are unchanged.

    Raises:
        UserError: There is no such network; the message lists the folders searched.
    """
    from ..network.library import find_network
    from ..search.parameters import WITHOUT_NETWORK

    return network if network in (choices.AUTO, *WITHOUT_NETWORK) else str(find_network(network))
