"""`gtp_engine gtp`: the engine for GUIs and servers."""

import sys

import click

from .command import command, options
from .engine_settings import engine_settings
from .options import GameOptions, SearchOptions, game_options, search_options


@command(common=("network", "seconds", "visits", "rank"))
@game_options
@search_options(seconds="5", rank=True)
@options(
    "Behaviour",
    click.option("--ponder/--no-ponder", default=False, help="Think on the opponent's time."),
    click.option("--resign/--no-resign", default=True, help="Resign lost games."),
    "Client",
    click.option(
        "--live-graphics/--no-live-graphics",
        default=False,
        help="Draw on GoGui's board while thinking, through stderr.",
    ),
    click.option("--name", metavar="NAME", default="gtp_engine", help="Response to the GTP command `name`."),
    click.option(
        "--version-as",
        "version",
        metavar="VERSION",
        show_default="the version",
        help="Response to the GTP command `version`.",
    ),
)
def gtp(
    game: GameOptions,
    search: SearchOptions,
    ponder: bool,
    resign: bool,
    live_graphics: bool,
    name: str,
    version: str | None,
) -> None:
    """Speak GTP on standard input and output.

    Commands are answered in order. If `quit` arrives during genmove, the engine answers at once. At the end of
    input, running searches finish first, so leave `quit` out of a script. Lizzie asks for scores and ownership only if
    the name begins with KataGo.

    \b
    Examples:
      gtp_engine gtp                      5 s a move if the GUI sends no times
      gtp_engine gtp --visits 1000 --threads 1 --seed 7
      gtp_engine gtp --rules japanese --komi 6.5 --ponder
      gtp_engine gtp --rank 12k           play as a 12k does
      gtp_engine gtp --name KataGo        for Lizzie and LizzieYzy
    """
    from ..base import VERSION
    from ..gtp.loop import run
    from ..play.engine import Engine

    settings = engine_settings(search, ponder=ponder, resign=resign)
    engine = Engine(settings, width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    sys.exit(run(engine, name=name, version=version or VERSION, live_graphics=live_graphics))
