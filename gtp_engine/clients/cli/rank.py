"""`gtp_engine rank`: estimates players' ranks from their moves, as a table or as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ... import __version__
from ...base import fields, interrupts
from ...base.errors import UserError
from ...base.files import write_text
from ...base.messages import plural, printable
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED
from ...engine.settings import NETWORK
from ...search.evaluate.choices import AUTO
from .command import command
from .common_options import THREADS
from .game_files import STANDARD, read_records, records, show_errors
from .options import FILE_OR_STANDARD
from .outputs import check_outputs, report_written

if TYPE_CHECKING:
    from rich.text import Text

    from ...go.sgf import GameRecord
    from ...study.player_ranks import PlayerGames, RankEstimator

_LONGEST = 40  # characters of a name that are shown
_SILENT = 3  # games, which need no progress bar


@dataclass(frozen=True)
class RankOptions:
    """Whose ranks are estimated.

    Attributes:
        files: Game records, and folders of them.
        player: Estimate only black, white, or a player by name.
        network: The network that judges the moves; auto: the one that ranks were measured with on the board.
        threads: CPU threads.
        json: Write the estimates as JSON.
        force: Overwrite existing files.
    """

    files: tuple[Path, ...] = records()
    player: str | None = setting(None, accepts=fields.Text(), metavar="WHO", heading="Estimate")
    network: str = setting(AUTO, accepts=NETWORK)
    threads: int | None = setting(None, accepts=THREADS, shown="all", common=True)
    json: Path | None = setting(None, accepts=FILE_OR_STANDARD, heading="Output")
    force: bool = setting(False)


@command(common=("player", "network", "json"), groups={"options": RankOptions})
@click.pass_context
def rank(context: click.Context, options: RankOptions) -> None:
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
    from ...study.player_ranks import RankEstimator, choose_games
    from .review_display import show_notice

    if options.json is not None:
        check_outputs([options.json], options.files, force=options.force)
    with RankEstimator(options.network, options.threads) as estimator:
        found, errors = read_records(options.files)
        games: list[tuple[GameRecord, list[int]]] = []
        try:
            games = choose_games(found, options.player)
        except UserError as error:
            errors.append(str(error))
        interrupts.note()
        done = _add_all(estimator, games, errors)
    stopped = done < len(games)
    players = list(estimator.players.values())
    if options.json is not None:
        _write_json(estimator, options.json, games=len(games), done=done)
    if players and options.json != STANDARD:
        _show(players)
    if estimator.left_out and (players or stopped):
        show_notice(_left_out(estimator))
    if not players and not stopped:
        errors += _why_none(estimator, errors)
    show_errors(errors)
    if options.json is not None and options.json != STANDARD:
        report_written(options.json)
    if stopped:
        click.echo(f"stopped after {done:,} of {plural(len(games), 'game')}", err=True)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _why_none(estimator: "RankEstimator", errors: list[str]) -> list[str]:
    """Returns the error if no rank at all can be estimated, unless others tell."""
    from ...study.rank_estimate import unmeasured

    if estimator.left_out:
        boards = " and ".join(f"{width}x{height}" for width, height in estimator.left_out)
        return [str(unmeasured(f"with {estimator.chosen} on {boards}" if estimator.chosen else f"on {boards}"))]
    return [] if errors else ["there are no moves to estimate a rank from"]


def _add_all(estimator: "RankEstimator", games: "Sequence[tuple[GameRecord, list[int]]]", errors: list[str]) -> int:
    """Evaluates the games, with a progress bar if there are many; returns how many were done before Ctrl-C."""
    from .live import progress_bar

    with progress_bar(hidden=len(games) <= _SILENT) as bar:
        task = bar.add_task("games", total=len(games))
        for number, (record, colours) in enumerate(games):
            try:
                interrupts.check()
                estimator.add(record, colours)
            except KeyboardInterrupt:
                return number
            except UserError as error:
                errors.append(str(error))
            bar.advance(task)
    return len(games)


def _show(players: "Sequence[PlayerGames]") -> None:
    """Prints a table with a line for each player, those with most games first."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from .review_display import show_rank_note

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("player", overflow="fold")
    table.add_column("board", no_wrap=True)
    for head in ("games", "moves"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("stated", overflow="fold")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("interval")
    for player in sorted(players, key=lambda player: -player.games):
        found = player.estimate
        table.add_row(
            _shown(player.name),
            f"{player.width}x{player.height}",
            str(player.games),
            f"{player.counts.sum():,}",
            _shown(", ".join(player.stated)),
            "-" if found is None else str(found.rank),
            "too few moves" if found is None else found.interval(),
        )
    Console(highlight=False).print(table)
    if any(player.estimate for player in players):
        show_rank_note()


def _shown(text: str) -> "Text":
    """Returns what a record states as it is shown: without escape sequences, brackets as they are, and not too long."""
    from rich.text import Text

    text = printable(text)
    return Text(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def _left_out(estimator: "RankEstimator") -> str:
    """Returns a notice about the games on boards on which ranks were not measured."""
    from ...study.rank_estimate import measured_boards

    counts = estimator.left_out.items()
    games = " and ".join(f"{plural(count, 'game')} on {width}x{height}" for (width, height), count in counts)
    verb = "was" if estimator.left_out.total() == 1 else "were"
    return f"{games} {verb} left out: ranks are measured only on {measured_boards(estimator.chosen)}"


def _write_json(estimator: "RankEstimator", file: Path, *, games: int, done: int) -> None:
    """Writes the players as JSON text; `done` of the games were read before Ctrl-C, if that ended the command early."""
    left_out = estimator.left_out.items()
    table = {
        "program": f"gtp_engine {__version__}",
        "games": games,
        "done": done,
        "left_out": [{"width": width, "height": height, "games": count} for (width, height), count in left_out],
        "players": [player.as_data() for player in estimator.players.values()],
    }
    text = dumps(table, indent=1, ensure_ascii=False) + "\n"
    if file == STANDARD:
        click.echo(text.encode(), nl=False)
    else:
        write_text(file, text)
