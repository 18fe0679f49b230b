"""The options of `gtp_engine match`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from .option_types import Seconds
from .options import DEVICES, PRECISIONS, GameOptions, add_options, game_options

NETWORK_VISITS = 100
NETWORK_CONCURRENCY = 64
FOR_ENGINES = ("clock", "timeout")  # options that only matches of GTP engines accept
FOR_NETWORKS = ("set_a", "set_b", "visits", "threads", "device", "precision")


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


_OPTIONS = (
    click.argument("engines", nargs=-1, metavar="[ENGINE_A ENGINE_B]"),
    click.option(
        "--network",
        "networks",
        multiple=True,
        metavar="NAME",
        help="Network of A, then of B (give the option twice): a file or a name; none: random rollouts.",
    ),
    click.option("--set-a", multiple=True, metavar="NAME=VALUE", help="Set a search parameter of A (networks only)."),
    click.option("--set-b", multiple=True, metavar="NAME=VALUE", help="Set a search parameter of B (networks only)."),
    click.option("--games", type=click.IntRange(1), default=100, show_default=True, help="Number of games."),
    game_options,
    click.option(
        "--time",
        "clock",
        type=click.IntRange(0),
        nargs=3,
        default=(0, 0, 0),
        metavar="MAIN BYO STONES",
        help="Time limits as in GTP's time_settings, enforced; 0 2 1 is 2 s per move.  [default: no clock]",
    ),
    click.option(
        "--timeout",
        type=Seconds(),
        default=300.0,
        show_default=True,
        help="Without a clock: an engine that does not answer for this many seconds loses.",
    ),
    click.option(
        "--openings",
        type=click.Path(exists=True, path_type=Path),
        help="SGF file or folder of games whose first moves are the openings.  [default: random moves]",
    ),
    click.option("--opening-moves", type=click.IntRange(0), default=2, show_default=True, help="Moves per opening."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random openings."),
    click.option(
        "--concurrency",
        type=click.IntRange(1),
        help=f"Games played at the same time.  [default: 1; {NETWORK_CONCURRENCY} with networks]",
    ),
    click.option(
        "--visits",
        type=click.IntRange(1),
        default=NETWORK_VISITS,
        show_default=True,
        help="Visits per move (networks only).",
    ),
    click.option("--threads", type=click.IntRange(1, 256), help="CPU threads (networks only).  [default: all]"),
    click.option(
        "--device",
        type=click.Choice(DEVICES),
        default="auto",
        show_default=True,
        help="Device for the networks.",
    ),
    click.option(
        "--precision",
        type=click.Choice(PRECISIONS),
        default="auto",
        show_default=True,
        help="Numeric precision of the networks.",
    ),
    click.option(
        "--sprt",
        type=float,
        nargs=2,
        metavar="ELO0 ELO1",
        help="Stop as soon as the games decide whether A is ELO1 or only ELO0 stronger (5 % errors).",
    ),
    click.option(
        "--sgf-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder for games and results; that of an unfinished match resumes it.  [default: a new folder]",
    ),
    click.option(
        "--json",
        "json_file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the result to this file.",
    ),
)


def match_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command; it receives them as the keywords of MatchOptions."""
    return add_options(function, _OPTIONS)
