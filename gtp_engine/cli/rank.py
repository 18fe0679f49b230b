"""`gtp_engine rank`: estimates players' ranks from their games."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import UserError
from ..base.messages import plural, printable
from ..base.system import EXIT_INTERRUPTED
from .command import command, options
from .name_types import NetworkName
from .outputs import output_option
from .review_outputs import read_records

if TYPE_CHECKING:
    from ..analysis.player_ranks import Player


@command(common=("network", "player"))
@options(
    click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(exists=True, allow_dash=True, path_type=Path)
    ),
    "Estimate",
    click.option("--player", metavar="NAME", help="Show only the player of this name."),
    click.option(
        "--network",
        type=NetworkName(),
        default="auto",
        help="The network that judges the moves, one that ranks were measured with; auto: the bundled one for the board.",
    ),
    "Output",
    output_option("--json", text="Write the estimates as JSON.", allow_dash=True),
)
@click.pass_context
def rank(context: click.Context, files: tuple[Path, ...], player: str | None, network: str, json: Path | None) -> None:
    """Estimate players' ranks from their moves.

    The points that each move loses and how natural it is, as a network sees them without a search, are compared with
    games at the engine's own ranks (`--rank` of other commands). One game tells little, ten tell much: the interval
    holds the rank in 95 % of such players. The scale is that of docs/ranks.md; people who play better or worse than
    the ranks that were measured get "or stronger" and "or weaker". Files may be folders and collections.

    \b
    Examples:
      gtp_engine rank game.sgf
      gtp_engine rank my_games --player my_name
      gtp_engine rank my_games --json ranks.json
    """
    from ..analysis.player_ranks import MOVES

    records, errors = read_records(files)
    players: dict[Any, Player] = {}
    stopped = False
    try:
        players = _gather(records, network, errors)
    except KeyboardInterrupt:
        stopped = True
    chosen = [one for one in players.values() if player is None or one.name == player]
    if player is not None and not chosen and not stopped:
        errors.append(f"no game of {player!r} with {MOVES} moves or more")
    _show(chosen, network, json)
    for error in errors:
        click.echo(f"Error: {error}", err=True)
    context.exit(1 if errors else EXIT_INTERRUPTED if stopped else 0)
