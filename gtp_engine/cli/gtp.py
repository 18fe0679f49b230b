"""`gtp_engine gtp`: the engine for GUIs and servers."""

import sys

import click

from .options import GameOptions, SearchOptions, engine_settings, game_options, search_options


@click.command()
@game_options
@search_options
@click.option("--ponder", is_flag=True, help="Think on the opponent's time.")
@click.option("--resign/--no-resign", default=True, show_default=True, help="Resign lost games.")
@click.option("--live-graphics", is_flag=True, help="Draw on GoGui's board while thinking (through stderr).")
@click.option("--name", default="gtp_engine", show_default=True, help="What to answer to `name`.")
@click.option("--version-as", "version", metavar="TEXT", help="What to answer to `version`.  [default: the version]")
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

    Commands are answered in order. At the end of input, or if `quit` arrives during genmove, the engine answers at
    once. Lizzie asks for scores and ownership only if the name begins with KataGo.

    \b
    Examples:
      gtp_engine gtp                                    5 s per move unless the GUI sends times
      gtp_engine gtp --visits 1000 --threads 1 --seed 7
      gtp_engine gtp --rules japanese --komi 6.5 --ponder
      gtp_engine gtp --name KataGo                      for Lizzie and LizzieYzy
    """
    from .. import __version__
    from ..gtp.loop import run
    from ..gtp.session import Identity
    from ..play.engine import Engine

    settings = engine_settings(search, ponder=ponder, resign=resign)
    engine = Engine(settings, width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    sys.exit(run(engine, Identity(name, version or __version__), live_graphics=live_graphics))
