"""What `gtp_engine rank` shows: a table of the players, or the same as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import __version__
from ..analysis.player_ranks import PlayerGames, as_data
from ..base.files import write_text
from .game_files import STANDARD

_SCALE = "The ranks are those of the engine's own play (--rank): people and other programs come out too weak."
_FEW_GAMES = 10
_FEW = "One game tells little about a rank; ten games make the interval narrow."


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
            Text(seat.name),  # it may contain brackets
            f"{seat.width}x{seat.height}",
            str(player.games),
            f"{player.counts.sum():,}",
            Text(", ".join(player.stated)),
            "-" if found is None else str(found.rank),
            "too few moves" if found is None else found.interval,
        )
    console.print(table)
    console.print(Text(_SCALE, style="dim"))
    if any(player.games < _FEW_GAMES for player in players):
        console.print(Text(_FEW, style="dim"))


def ranks_json(players: Sequence[PlayerGames], file: Path) -> None:
    """Writes the players as JSON text: {"program": ..., "players": [...]}; `STANDARD` is standard output."""
    table = {"program": f"gtp_engine {__version__}", "players": [as_data(player) for player in players]}
    text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    if file == STANDARD:
        click.echo(text.encode(), nl=False)
    else:
        write_text(file, text)
