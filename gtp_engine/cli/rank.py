"""`gtp_engine rank`: estimates players' ranks from their moves."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base import interrupts
from ..base.errors import UserError
from ..base.messages import plural
from ..base.system import EXIT_INTERRUPTED
from ..evaluate.choices import AUTO
from .command import command, options
from .game_files import RECORDS, STANDARD, read_records, show_errors
from .name_types import NetworkName
from .outputs import FORCE, check_outputs, output_option, report_written
from .shared_options import THREADS

if TYPE_CHECKING:
    from ..analysis.player_ranks import ChosenGame, RankEstimator
    from ..sgf import GameRecord

_SILENT = 3  # games, which need no progress bar


@command(common=("player", "network", "json"))
@options(
    RECORDS,
    "Estimate",
    click.option("--player", metavar="WHO", help="Estimate only black, white, or a player by name."),
    click.option(
        "--network",
        type=NetworkName(),
        default=AUTO,
        help="The network that judges the moves; auto: the one that ranks were measured with on the board.",
    ),
    THREADS,
    "Output",
    output_option("--json", text="Write the estimates as JSON.", allow_dash=True),
    FORCE,
)
@click.pass_context
def rank(
    context: click.Context,
    files: tuple[Path, ...],
    player: str | None,
    network: str,
    threads: int | None,
    json: Path | None,
    force: bool,
) -> None:
    """Estimate players' ranks from their moves.

    Each move is judged by a network: how many points it gains or loses, and how likely the network thinks it is. This
    is compared with games that the engine played at its own ranks. The interval holds the rank with a probability of
    95% for players who play like the engine, and less often at the strongest ranks. People and other programs are
    rated too low; docs/ranks.md tells how far. At the ends of the measured range the estimate says "or weaker" or "or
    stronger". One game tells little, ten games make the interval narrow. Each board size has an estimate of its own.
    Several files, folders and collections are read one after the other, and a game that occurs twice counts once; - is
    standard input. Ctrl-C shows what the games so far tell.

    \b
    Examples:
      gtp_engine rank game.sgf
      gtp_engine rank my_games --player my_name
      gtp_engine rank my_games --json ranks.json
    """
    from ..analysis.player_ranks import RankEstimator
    from .rank_display import ranks_json, show_left_out, show_ranks

    if json is not None:
        check_outputs([json], files, force=force)
    with RankEstimator(network, threads) as estimator:
        records, errors = read_records(files)
        games = _choose(records, player, errors)
        interrupts.note()
        done = _add_all(estimator, games, errors)
    stopped = done < len(games)
    players = list(estimator.players.values())
    if json is not None:
        ranks_json(players, estimator.left_out, json, games=len(games), done=done)
    if players and json != STANDARD:
        show_ranks(players)
    if estimator.left_out and (players or stopped):
        show_left_out(estimator.left_out, estimator.chosen)
    if not players and not stopped:
        errors += _why_none(estimator, errors)
    show_errors(errors)
    if json is not None and json != STANDARD:
        report_written(json)
    if stopped:
        click.echo(f"stopped after {done:,} of {plural(len(games), 'game')}", err=True)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _choose(records: "Sequence[GameRecord]", player: str | None, errors: list[str]) -> "list[ChosenGame]":
    """Returns the games of a player; none, and an error, if nobody has this name."""
    from ..analysis.player_ranks import choose_games

    try:
        return choose_games(records, player)
    except UserError as error:
        errors.append(str(error))
        return []


def _why_none(estimator: "RankEstimator", errors: list[str]) -> list[str]:
    """Returns the error if no rank at all can be estimated, unless others tell."""
    from ..analysis.rank_models import unmeasured

    if estimator.left_out:
        boards = " and ".join(f"{width}x{height}" for width, height in estimator.left_out)
        return [str(unmeasured(f"with {estimator.chosen} on {boards}" if estimator.chosen else f"on {boards}"))]
    return [] if errors else ["there are no moves to estimate a rank from"]


def _add_all(estimator: "RankEstimator", games: "Sequence[ChosenGame]", errors: list[str]) -> int:
    """Evaluates the games, with a progress bar if there are many; returns how many were done before Ctrl-C."""
    from .live import progress_bar

    with progress_bar(hidden=len(games) <= _SILENT) as bar:
        task = bar.add_task("games", total=len(games))
        for number, game in enumerate(games):
            try:
                interrupts.check()
                estimator.add(game)
            except KeyboardInterrupt:
                return number
            except UserError as error:
                errors.append(str(error))
            bar.advance(task)
    return len(games)
