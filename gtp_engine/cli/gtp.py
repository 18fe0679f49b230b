"""`gtp_engine gtp`: the engine for GUIs and servers."""

import sys

import click

from .options import GameOptions, SearchOptions, engine_settings, game_options, search_options


@click.command()
@game_options
@search_options
@click.option("--ponder", is_flag=True, help="Think in the opponent's time.")
@click.option("--resign/--no-resign", default=True, show_default=True, help="Give lost games up.")
@click.option("--live-graphics", is_flag=True, help="Draw on GoGui's board while thinking (on stderr).")
def gtp(game: GameOptions, search: SearchOptions, ponder: bool, resign: bool, live_graphics: bool) -> None:
    """Speak GTP on standard input and output.

    Commands are answered in order. The end of input, and `quit` behind a running genmove, make it answer at once.

    \b
    Examples:
      gtp_engine gtp                                    5 s a move unless the GUI sends times
      gtp_engine gtp --visits 1000 --threads 1 --seed 7
      gtp_engine gtp --rules japanese --komi 6.5 --ponder
    """
    from ..engine import Engine
    from ..gtp.loop import run

    settings = engine_settings(search, ponder=ponder, resign=resign)
    engine = Engine(settings, width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    sys.exit(run(engine, live_graphics=live_graphics))
