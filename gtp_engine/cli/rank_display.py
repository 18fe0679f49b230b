"""What `gtp_engine rank` shows: a table of the players, or the same as JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..analysis.player_ranks import PlayerGames, as_data
from ..analysis.rank_models import measured_boards
from ..base import VERSION
from ..base.files import write_text
from ..base.messages import plural, printable
from .game_files import STANDARD
from .review_display import show_notice, show_rank_note

_LONGEST = 40  # characters of a name that are shown


def show_ranks(players: Sequence[PlayerGames]) -> None:
    """Prints a table with a line for each player, those with most games first."""
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("player", overflow="fold")
    table.add_column("board", no_wrap=True)
    for head in ("games", "moves"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("stated", overflow="fold")
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("interval")
    for player in sorted(players, key=lambda player: -player.games):
        found, seat = player.estimate, player.seat
        table.add_row(
            _shown(seat.name),
            f"{seat.width}x{seat.height}",
            str(player.games),
            f"{player.counts.sum():,}",
            _shown(", ".join(player.stated)),
            "-" if found is None else str(found.rank),
            "too few moves" if found is None else found.interval(),
        )
    console.print(table)
    if any(player.estimate for player in players):
        show_rank_note()


def _shown(text: str) -> Text:
    """Returns what a record states as it is shown: without escape sequences, brackets as they are, and not too long."""
    text = printable(text)
    return Text(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")


def show_left_out(left_out: Mapping[tuple[int, int], int], network: str | None) -> None:
    """Prints a notice about the games on boards on which ranks were not measured.

    Args:
        left_out: The number of games by the board's width and height.
        network: The name of the network that was asked for, if any.
    """
    games = " and ".join(f"{plural(count, 'game')} on {width}x{height}" for (width, height), count in left_out.items())
    verb = "was" if sum(left_out.values()) == 1 else "were"
    show_notice(f"{games} {verb} left out: ranks are measured only on {measured_boards(network)}")


def ranks_json(
    players: Sequence[PlayerGames], left_out: Mapping[tuple[int, int], int], file: Path, *, games: int, done: int
) -> None:
    """Writes the players as JSON text.

    Args:
        players: The players.
        left_out: The number of games on boards, by width and height, on which ranks were not measured.
        file: The file; `STANDARD` is standard output.
        games: The number of games.
        done: How many of them were read before Ctrl-C, if that ended the command early.
    """
    table = {
        "program": f"gtp_engine {VERSION}",
        "games": games,
        "done": done,
        "left_out": [{"width": width, "height": height, "games": count} for (width, height), count in left_out.items()],
        "players": [as_data(player) for player in players],
    }
    text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    if file == STANDARD:
        click.echo(text.encode(), nl=False)
    else:
        write_text(file, text)
