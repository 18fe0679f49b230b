"""The options that several commands have: each is declared here once, with its environment variable."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ..base.errors import UserError
from ..evaluate import choices
from ..languages.texts import DEFAULT, LANGUAGES
from ..play.ranks import STRONGEST, WEAKEST
from .configuration import variable
from .name_types import NetworkName, Profile, RulesName
from .option_types import NO_LEVELS, BoardSize, Komi, RankName, Refused, Seconds, WholeNumber
from .settings_file import read_settings

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

BOARD_SIZE = click.option("--board-size", type=BoardSize(), default="19", help="N or WIDTHxHEIGHT, 2 to 25.")
KOMI = click.option("--komi", type=Komi(), show_default="7.5; 7 on 9x9 and smaller", help="Points for White.")
RULES = click.option(
    "--rules",
    type=RulesName(),
    default="chinese",
    envvar=variable("rules"),
    help="Ruleset: chinese, japanese, aga, ..., or its parts as KataGo's JSON.",
)
RANK = click.option(
    "--rank",
    type=RankName(),
    show_default="full strength",
    envvar=variable("rank"),
    help=f"Play at a rank: {WEAKEST} to {STRONGEST}, such as 12k, or max.",
)
LEVEL = click.option("--level", type=Refused(NO_LEVELS), envvar=variable("level"), hidden=True, expose_value=False)
THREADS = click.option(
    "--threads",
    type=WholeNumber(1, 256),
    show_default="all",
    envvar=variable("threads"),
    help="CPU threads.",
)
NETWORK = click.option(
    "--network",
    type=NetworkName(),
    default=choices.AUTO,
    envvar=variable("network"),
    help="A network's name or file; auto: the bundled one for the board size; none: random rollouts.",
)
LANGUAGE = click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=DEFAULT,
    envvar=variable("language"),
    help="Language of the page (--html): English, Spanish, Chinese or Arabic.",
)
PROFILE = click.option(
    "--profile",
    type=Profile(),
    metavar="NAME",
    help="Human style to imitate, for human-trained networks: rank_5k, rank_1d_3k, preaz_9d, proyear_1990, ...",
)
STRICT = click.option(
    "--strict/--no-strict",
    default=False,
    help="Fail if the board is too large for the network, instead of using rollouts.",
)
SETTINGS = click.option(
    "--settings",
    "settings_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    is_eager=True,
    callback=read_settings,
    help="A TOML file with options by name, and search parameters in [search].",
)


def device_option(default: str | None = choices.AUTO) -> Decorator:
    """Returns --device; without a default, the run's settings decide."""
    return click.option(
        "--device",
        type=click.Choice((choices.AUTO, *choices.DEVICES)),
        default=default,
        envvar=variable("device"),
        help="Device for networks.",
    )


def precision_option(default: str | None = choices.AUTO) -> Decorator:
    """Returns --precision; without a default, the run's settings decide."""
    return click.option(
        "--precision",
        type=click.Choice((choices.AUTO, *choices.PRECISIONS)),
        default=default,
        envvar=variable("precision"),
        help="Numeric precision of networks.",
    )


def seed_option(text: str, default: int | None = None) -> Decorator:
    """Returns --seed; `text` says what is random."""
    return click.option("--seed", type=WholeNumber(0), default=default, help=text)


def limit_options(visits: str | None = None, seconds: str | None = None) -> tuple[Decorator, Decorator]:
    """Returns --visits and --seconds; the arguments are the command's defaults, for the help."""
    return (
        click.option(
            "--visits",
            type=WholeNumber(1),
            show_default=visits,
            envvar=variable("visits"),
            help="Stop each search after N visits.",
        ),
        click.option(
            "--seconds",
            type=Seconds(),
            show_default=seconds,
            envvar=variable("seconds"),
            help="Stop each search after this many seconds.",
        ),
    )


def games_folder_option(text: str) -> Decorator:
    """Returns --sgf-dir for commands that save games in the user's folder."""
    return click.option(
        "--sgf-dir",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        show_default="shown by `gtp_engine doctor`",
        help=text,
    )


def parameter_option(*names: str, text: str) -> Decorator:
    """Returns an option for search parameters, which can be repeated."""
    return click.option(
        *names, multiple=True, metavar="NAME=VALUE", callback=_check_parameters, help=f"{text} (repeatable)."
    )


def _check_parameters(ctx: click.Context, param: click.Parameter, settings: tuple[str, ...]) -> tuple[str, ...]:
    """The callback of `parameter_option`: a wrong parameter is a bad command line."""
    if not settings:
        return settings
    from ..search.parameters import SearchParameters, parse_setting

    try:
        functools.reduce(parse_setting, settings, SearchParameters())
    except UserError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return settings
