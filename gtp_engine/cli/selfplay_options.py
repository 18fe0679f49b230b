"""The options of `gtp_engine selfplay`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from . import shared_options as shared
from .command import options
from .name_types import RulesName
from .option_types import BoardSize, Komi, WholeNumber


@dataclass(frozen=True)
class SelfPlayOptions:
    """The options as typed; None or empty if an option without a default is not given."""

    games: int
    network: str
    sizes: tuple[tuple[int, int], ...]
    komi: float | None
    rules: tuple[str, ...]
    visits: int | None
    settings: Path | None
    parameters: tuple[str, ...]
    workers: int | None
    concurrency: int | None
    device: str | None
    precision: str | None
    seed: int | None
    sgf_dir: Path | None
    shards: Path | None
    comments: bool


_OPTIONS: tuple[str | Callable[..., Any], ...] = (
    "Games",
    click.option("--games", type=WholeNumber(1), default=100, help="Number of games."),
    click.option(
        "--board-size",
        "sizes",
        multiple=True,
        type=BoardSize(),
        show_default="9",
        help="N or WIDTHxHEIGHT (repeatable).",
    ),
    click.option("--komi", type=Komi(), show_default="varied around 7", help="The same komi in all games."),
    click.option(
        "--rules",
        multiple=True,
        metavar="RULES",
        shell_complete=RulesName().shell_complete,
        show_default="tromp-taylor and chinese",
        help="Ruleset; repeat the option to draw one at random for each game.",
    ),
    "Search",
    shared.NETWORK,
    click.option("--visits", type=WholeNumber(1), show_default="32", help="Visits of a full search."),
    shared.seed_option("Random seed; with one worker the games are reproducible."),
    shared.parameter_option("--set", "parameters", text="Set a search parameter"),
    click.option(
        "--settings",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A settings file as for `train`.",
    ),
    "Machine",
    click.option("--workers", type=WholeNumber(1), show_default="one per CPU", help="Processes that play."),
    click.option("--concurrency", type=WholeNumber(1), show_default="32", help="Games at a time in a process."),
    shared.device_option(default=None),
    shared.precision_option(default=None),
    "Output",
    shared.games_folder_option("Folder in which the run makes its own folder."),
    click.option(
        "--shards",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        show_default="that of the games",
        help="Folder for the samples.",
    ),
    click.option(
        "--comments/--no-comments",
        default=False,
        help="Save each move's win rate, score and main line as a comment.",
    ),
)


def selfplay_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command; it receives them as the keywords of SelfPlayOptions."""
    return options(*_OPTIONS)(function)
