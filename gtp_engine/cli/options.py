"""Options that several subcommands share, and the engine's settings made of them.

A command decorated with `game_options` gets one argument `game: GameOptions`, with `search_options` one argument
`search: SearchOptions`:

    @click.command()
    @game_options
    @search_options
    def play(game: GameOptions, search: SearchOptions) -> None: ...
"""

import functools
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from gtp_engine.evaluate import choices

if TYPE_CHECKING:
    from gtp_engine.engine import EngineSettings
    from gtp_engine.game.rules import Rules
    from gtp_engine.search.parameters import SearchParameters

SMALLEST, LARGEST = 2, 25
MAX_LEVEL = 10
DEVICES = (choices.AUTO, *choices.DEVICES)
PRECISIONS = (choices.AUTO, *choices.PRECISIONS)


@dataclass(frozen=True)
class GameOptions:
    """The game to play: size, komi (None: the usual one of that size) and rules."""

    width: int
    height: int
    komi: float | None
    rules: "Rules"


@dataclass(frozen=True)
class SearchOptions:
    """How to think. `visits` and `seconds` are limits for a move; None means not given, all threads, no seed.

    settings: the search's parameters as NAME=VALUE, the profile of --profile among them.
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


class BoardSize(click.ParamType):
    """`9` or `13x9` (width x height)."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,3})(?:[xX:](\d{1,3}))?", str(value).strip())
        if not match:
            self.fail(f"{value!r} is no board size; give N or WIDTHxHEIGHT, each {SMALLEST} to {LARGEST}", param, ctx)
        width = int(match[1])
        height = int(match[2] or width)
        if not all(SMALLEST <= side <= LARGEST for side in (width, height)):
            self.fail(f"{value!r} is out of range; each side can be {SMALLEST} to {LARGEST}", param, ctx)
        return width, height


class Komi(click.ParamType):
    """A finite number."""

    name = "komi"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            komi = float(value)
        except ValueError:
            komi = math.nan
        if not math.isfinite(komi):
            self.fail(f"{value!r} is no komi; give a number such as 7.5, 7 or -3", param, ctx)
        return komi


class Number(click.FloatRange):
    """A finite number in a range: click's own lets nan pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Seconds(click.ParamType):
    """A finite time above 0."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except (TypeError, ValueError):
            seconds = math.nan
        if not 0 < seconds < math.inf:
            self.fail(f"{value!r} is no time; give seconds above 0, such as 2 or 0.5", param, ctx)
        return seconds


class Level(click.ParamType):
    """`1` to `10`, or `max`."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "int | Literal['max']":
        if value == "max":
            return "max"
        try:
            level = int(value)
        except ValueError:
            level = 0
        if not 1 <= level <= MAX_LEVEL:
            self.fail(f"{value!r} is no level; give 1 to {MAX_LEVEL}, or max", param, ctx)
        return level


class RulesName(click.ParamType):
    """The name of a ruleset, or its parts as KataGo's JSON."""

    name = "rules"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> "Rules":
        from gtp_engine.game.rules import parse_rules

        try:
            return parse_rules(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Profile(click.ParamType):
    """Whom a network is to imitate (`evaluate.metadata`)."""

    name = "profile"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from gtp_engine.evaluate.metadata import profile_name

        try:
            return profile_name(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


PROFILE_HELP = "Whom a network that imitates people plays as: rank_5k, rank_1d_3k, preaz_9d, proyear_1990, ..."


def game_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --board-size, --komi and --rules."""

    @click.option("--board-size", type=BoardSize(), default="19", show_default=True, help="N or WIDTHxHEIGHT, 2 to 25.")
    @click.option("--komi", type=Komi(), help="Points for white.  [default: 7.5; 7 on 9x9 and smaller]")
    @click.option("--rules", type=RulesName(), default="chinese", show_default=True, help="japanese, aga, ...")
    @functools.wraps(function)
    def wrapper(*args: Any, board_size: tuple[int, int], komi: float | None, rules: "Rules", **rest: Any) -> Any:
        return function(*args, game=GameOptions(*board_size, komi, rules), **rest)

    return wrapper


def _read_settings(ctx: click.Context, _: click.Parameter, path: Path | None) -> tuple[str, ...]:
    """Takes the options of a settings file as defaults, so that the command line has the last word.

    Returns the file's search parameters as NAME=VALUE.
    """
    if path is None:
        return ()
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        parameters = _checked_parameters(table.pop("search", {}))
        ctx.default_map = {**(ctx.default_map or {}), **_option_defaults(ctx, table)}
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path}: it is no text in UTF-8") from error
    except ValueError as error:
        raise click.ClickException(f"{path}: {error}") from error
    return parameters


def _checked_parameters(table: object) -> tuple[str, ...]:
    """The search's parameters as NAME=VALUE; ValueError for one that is not accepted."""
    from gtp_engine.search.parameters import SearchParameters, parse_setting

    if not isinstance(table, dict):
        raise ValueError("'search' is no table; write [search]")
    settings = tuple(f"{name}={value}" for name, value in table.items())
    functools.reduce(parse_setting, settings, SearchParameters())
    return settings


def _option_defaults(ctx: click.Context, table: dict[str, Any]) -> dict[str, Any]:
    """Click's default map of settings by option; ValueError names a setting that is unknown or has a wrong value."""
    options = {param.opts[0].lstrip("-").replace("-", "_"): param for param in ctx.command.params}
    accepted = {
        name: option
        for name, option in options.items()
        if isinstance(option, click.Option) and name not in ("set", "settings")
    }
    defaults = {}
    for name, value in table.items():
        if name not in accepted:
            raise ValueError(f"unknown setting {name!r} (accepted: {', '.join(sorted(accepted))}, [search])")
        try:
            defaults[str(accepted[name].name)] = _checked_value(ctx, accepted[name], value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        except click.BadParameter as error:
            raise ValueError(f"{name}: {error.message}") from error
    return defaults


def _checked_value(ctx: click.Context, option: click.Option, value: object) -> object:
    """A value of TOML as click takes it from a command line; BadParameter or ValueError where it does not fit."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, got {value!r}")
        return value
    values = value if option.multiple and isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float) and not isinstance(item, bool) for item in values):
        raise ValueError(f"expected one number or text, got {value!r}")
    texts = [str(item) for item in values]
    option.type_cast_value(ctx, texts if option.multiple else texts[0])
    return texts if option.multiple else texts[0]


def search_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --level to `analysis_options`, for commands that play."""
    option = click.option("--level", type=Level(), default="max", show_default=True, help="Strength: 1 to 10, or max.")
    return option(analysis_options(function))


def analysis_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --visits, --seconds, --threads, --seed, --network and what belongs to it, --set and --settings."""

    @click.option("--visits", type=click.IntRange(1), metavar="N", help="Stop a search at so many visits.")
    @click.option(
        "--seconds",
        type=Seconds(),
        help="Stop a search after this time.  [default: 5, or as said above]",
    )
    @click.option("--threads", type=click.IntRange(1, 256), metavar="N", help="Processor threads.  [default: all]")
    @click.option("--seed", type=click.IntRange(0), metavar="N", help="Repeats exactly with --visits and --threads 1.")
    @click.option(
        "--network",
        default=choices.AUTO,
        show_default=True,
        metavar="NAME",
        help="A network's file or name; auto: the shipped one for the board, if there is one; none: rollouts.",
    )
    @click.option("--device", type=click.Choice(DEVICES), default="auto", show_default=True, help="Of a network.")
    @click.option("--precision", type=click.Choice(PRECISIONS), default="auto", show_default=True, help="Of a network.")
    @click.option("--profile", type=Profile(), metavar="NAME", help=PROFILE_HELP)
    @click.option("--strict", is_flag=True, help="No rollouts on boards that are too large for the network: an error.")
    @click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a search parameter (repeatable).")
    @click.option(
        "--settings",
        "settings_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        is_eager=True,
        callback=_read_settings,
        help="A TOML file: options by name, parameters in [search].",
    )
    @functools.wraps(function)
    def wrapper(
        *args: Any,
        network: str,
        visits: int | None,
        seconds: float | None,
        threads: int | None,
        device: str,
        precision: str,
        profile: str | None,
        strict: bool,
        seed: int | None,
        settings: tuple[str, ...],
        settings_file: tuple[str, ...],
        level: "int | Literal['max']" = "max",
        **rest: Any,
    ) -> Any:
        named = () if profile is None else (f"profile={profile}",)
        parameters = settings_file + named + settings
        search = SearchOptions(network, visits, seconds, level, threads, device, precision, strict, seed, parameters)
        return function(*args, search=search, **rest)

    return wrapper


def engine_settings(options: SearchOptions, **others: Any) -> "EngineSettings":
    """`others` are further fields of EngineSettings. Raises ValueError for an unknown search parameter, and for a
    network that is not there: nobody shall wait for the engine's start to learn that."""
    from gtp_engine.engine import EngineSettings
    from gtp_engine.search.parameters import split_setting

    fields = {name: value for name, value in vars(options).items() if value is not None and name != "settings"}
    fields["network"] = network_file(options.network)
    return EngineSettings(**fields, parameters=dict(map(split_setting, options.settings)), **others)


def search_parameters(network: str, settings: tuple[str, ...]) -> "SearchParameters | None":
    """What suits the network with the settings applied, None without any; ValueError for a wrong one."""
    from gtp_engine.search.parameters import default_parameters, parse_setting

    return functools.reduce(parse_setting, settings, default_parameters(network)) if settings else None


def network_file(network: str) -> str:
    """The path of a network's file, by its name or itself; AUTO and the names of what needs no file as they are.
    ValueError says where was looked."""
    from gtp_engine.network.library import find_network
    from gtp_engine.search.parameters import WITHOUT_NETWORK

    return network if network in (choices.AUTO, *WITHOUT_NETWORK) else str(find_network(network))
