"""`gtp_engine rank`: estimates players' ranks from their games."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base import interrupts
from ..base.errors import UserError
from ..base.system import EXIT_INTERRUPTED
from ..evaluate.choices import AUTO
from .command import command, options
from .game_files import RECORDS, STANDARD, read_records
from .name_types import NetworkName
from .outputs import check_place, output_option
from .shared_options import THREADS

if TYPE_CHECKING:
    from ..analysis.player_ranks import RankEstimator
    from ..sgf import GameRecord

_SILENT = 3  # games, which need no progress bar


@command(common=("player", "network", "json"))
@options(
    RECORDS,
    "Estimate",
    click.option("--player", metavar="NAME", help="Show only the player of this name."),
    click.option(
        "--network",
        type=NetworkName(),
        default=AUTO,
        help="The network that judges the moves; auto: the one that ranks were measured with on the board.",
    ),
    THREADS,
    "Output",
    output_option("--json", text="Write the estimates as JSON.", allow_dash=True),
)
@click.pass_context
def rank(
    context: click.Context,
    files: tuple[Path, ...],
    player: str | None,
    network: str,
    threads: int | None,
    json: Path | None,
) -> None:
    """Estimate players' ranks from their moves.

    What each move gains or loses by a network's judgement, and how likely the network finds it, are compared with games
    that the engine has played at its own ranks (--rank of other commands). The interval holds the rank with a
    probability of 95 % for players who play as the engine does. People and other programs come out weaker than they
    are; docs/ranks.md tells how far. One game tells little, ten games make the interval narrow. Each board size has an
    estimate of its own. Players at the end of what was measured are "or weaker" or "or stronger". Several files,
    folders and collections are read one after the other; - is standard input. Ctrl-C shows what the games so far tell.

    \b
    Examples:
      gtp_engine rank game.sgf
      gtp_engine rank my_games --player my_name
      gtp_engine rank my_games --json ranks.json
    """
    from ..analysis.player_ranks import RankEstimator
    from .rank_display import ranks_json, show_ranks

    if json is not None and json != STANDARD:
        check_place(json)
    records, errors = read_records(files)
    interrupts.note()
    with RankEstimator(network, threads) as estimator:
        stopped = _add_all(estimator, records, errors)
    chosen = [found for found in estimator.players.values() if player in (None, found.seat.name)]
    if player is not None and not chosen and not stopped:
        errors.append(f"no player {player!r} in these games")
    if json is not None:
        ranks_json(chosen, json)
    if chosen and json != STANDARD:
        show_ranks(chosen)
    for error in errors:
        click.echo(f"Error: {error}", err=True)
    context.exit(1 if errors else EXIT_INTERRUPTED if stopped else 0)


def _add_all(estimator: "RankEstimator", records: "list[GameRecord]", errors: list[str]) -> bool:
    """Evaluates the games, with a progress bar if there are many; returns whether Ctrl-C ended it early."""
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    from .review_progress import progress_bar

    with progress_bar(MofNCompleteColumn(), TimeRemainingColumn(), hidden=len(records) <= _SILENT) as bar:
        task = bar.add_task("games", total=len(records))
        for record in records:
            try:
                interrupts.check()
                estimator.add(record)
            except KeyboardInterrupt:
                return True
            except UserError as error:
                errors.append(str(error))
            bar.advance(task)
    return False
