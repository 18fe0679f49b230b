"""The options of `gtp_engine match`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..base.errors import UserError
from . import shared_options as shared
from .command import options
from .name_types import NetworkName
from .option_types import Refused, Seconds, WholeNumber
from .options import GameOptions, game_options
from .outputs import FORCE, output_option

NETWORK_VISITS = 100
NETWORK_CONCURRENCY = 64
FOR_ENGINES = ("clock", "timeout")  # options that only matches of GTP engines accept
FOR_NETWORKS = ("set_a", "set_b", "visits", "threads", "device", "precision")
_RANK_OF_ENGINE = '--rank belongs in an engine\'s command, such as "gtp_engine gtp --rank 5k"'


@dataclass(frozen=True)
class MatchOptions:
    """The options as typed; None if an option without a default is not given.

    Attributes:
        clock: Main time, overtime period and stones per period, as in GTP's time_settings; (0, 0, 0) for no clock.
        timeout: Seconds until an engine without a clock loses for not answering.
    """

    engines: tuple[str, ...]
    networks: tuple[str, ...]
    set_a: tuple[str, ...]
    set_b: tuple[str, ...]
    games: int
    game: GameOptions
    clock: tuple[int, int, int]
    timeout: float
    openings: Path | None
    opening_moves: int
    seed: int
    concurrency: int | None
    visits: int
    threads: int | None
    device: str
    precision: str
    sprt: tuple[float, float] | None
    sgf_dir: Path | None
    json_file: Path | None
    force: bool


def _check_clock(ctx: click.Context, param: click.Parameter, clock: tuple[int, int, int]) -> tuple[int, int, int]:
    """The callback of --time: a wrong clock is a bad command line."""
    if any(clock):
        from ..games.match import check_time

        try:
            check_time(clock)
        except UserError as error:
            raise click.BadParameter(str(error), ctx, param) from error
    return clock


_OPTIONS = (
    click.argument("engines", nargs=-1, metavar="[ENGINE_A ENGINE_B]"),
    "Players",
    click.option(
        "--network",
        "networks",
        type=NetworkName(),
        multiple=True,
        help="Network of A, then of B (give the option twice): a name or a file; none: random rollouts.",
    ),
    shared.parameter_option("--set-a", text="Set a search parameter of A, with networks"),
    shared.parameter_option("--set-b", text="Set a search parameter of B, with networks"),
    click.option("--rank", type=Refused(_RANK_OF_ENGINE), hidden=True, expose_value=False),
    shared.LEVEL,
    game_options,
    "Match",
    click.option("--games", type=WholeNumber(1), default=100, help="Number of games."),
    click.option(
        "--openings",
        type=click.Path(exists=True, path_type=Path),
        show_default="random moves",
        help="SGF file or folder of games whose first moves are the openings.",
    ),
    click.option(
        "--opening-moves",
        type=WholeNumber(0),
        default=2,
        help="Moves per opening; once the board has no others left, later ones are longer.",
    ),
    shared.seed_option("Random seed of the openings, and of the searches of --network.", default=0),
    click.option(
        "--sprt",
        type=float,
        nargs=2,
        metavar="ELO0 ELO1",
        help="Stop as soon as the games decide whether A is ELO1 or only ELO0 stronger (5% errors).",
    ),
    "Limits",
    click.option(
        "--time",
        "clock",
        type=WholeNumber(0),
        nargs=3,
        default=(0, 0, 0),
        show_default="no clock",
        metavar="MAIN BYO STONES",
        callback=_check_clock,
        help="Engines: time limits as in GTP's time_settings, enforced; 0 2 1 is 2 s per move. What an engine has "
        "to load or compile before its first move counts.",
    ),
    click.option(
        "--timeout",
        type=Seconds(),
        default=300,
        help="Engines: without a clock, one that does not answer for this many seconds loses.",
    ),
    click.option("--visits", type=WholeNumber(1), default=NETWORK_VISITS, help="Networks: visits per move."),
    "Machine",
    click.option(
        "--concurrency",
        type=WholeNumber(1),
        show_default=f"1; {NETWORK_CONCURRENCY} with networks",
        help="Games played at the same time.",
    ),
    shared.THREADS,
    shared.device_option(),
    shared.precision_option(),
    "Output",
    click.option(
        "--sgf-dir",
        type=click.Path(file_okay=False, path_type=Path),
        show_default="a new folder",
        help="Folder for games and results; that of an unfinished match resumes it.",
    ),
    output_option("--json", "json_file", text="Write the result as JSON; a match that resumes replaces its own."),
    FORCE,
)


def match_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command; it receives them as the keywords of MatchOptions."""
    return options(*_OPTIONS)(function)
