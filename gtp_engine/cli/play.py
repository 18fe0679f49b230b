"""`gtp_engine play`: a game in the terminal."""

from pathlib import Path

import click

from . import INTERRUPTED
from .closing import close_engine
from .options import GameOptions, SearchOptions, engine_settings, game_options, search_options

COLOURS = ("black", "white", "random", "both")

# A first game on 9x9 takes ten minutes instead of two hours.
_DEFAULTS = {"board_size": "9"}


@click.command(context_settings={"default_map": _DEFAULTS})
@click.option(
    "--colour", type=click.Choice(COLOURS), default="black", show_default=True, help="Yours; both: two humans."
)
@click.option("--handicap", type=click.IntRange(2, 9), help="Black's stones on the board; the komi is then 0.5.")
@game_options
@search_options
@click.option("--sgf-dir", type=click.Path(path_type=Path), help="Where the game is saved.  [default: see doctor]")
@click.option("--comments", is_flag=True, help="Save the engine's win rate, score and main line at its moves.")
@click.pass_context
def play(
    context: click.Context,
    colour: str,
    handicap: int | None,
    game: GameOptions,
    search: SearchOptions,
    sgf_dir: Path | None,
    comments: bool,
) -> None:
    """Play a game in the terminal.

    The board is 9x9 unless another size is given: a whole game takes minutes there. Type moves as D4, or pass, undo,
    hint, analyze, score, resign, save FILE, help, quit. Commands can be piped in; the end of the input saves the game.
    Ctrl-C makes the engine move at once; at the prompt it saves and leaves. The game is saved as SGF after every move.

    \b
    Examples:
      gtp_engine play                                  9x9, you are black
      gtp_engine play --colour white --level 3         a weak opponent begins
      gtp_engine play --board-size 19 --handicap 4     you have four stones
      gtp_engine play --colour both                    two humans; the engine gives hints
      echo "E5 G5 score" | tr " " "\\n" | gtp_engine play --seconds 1
    """
    from ..engine import Engine
    from ..game.handicap import fixed_handicap_points
    from ..paths import games_dir
    from ..terminal.play import TerminalGame

    stones = fixed_handicap_points(handicap, game.width, game.height) if handicap else []
    komi = 0.5 if game.komi is None and handicap else game.komi
    humans = _humans(colour, search.seed)
    engine = Engine(engine_settings(search), width=game.width, height=game.height, rules=game.rules, komi=komi)
    if stones:
        engine.place_handicap(stones)
    status = 1
    try:
        folder = sgf_dir or games_dir()
        played = TerminalGame(engine, humans=humans, folder=folder, engine_name=engine.name, comments=comments)
        status = 0 if played.run() else 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    finally:
        close_engine(engine, status)
    context.exit(status)


def _humans(colour: str, seed: int | None) -> frozenset[int]:
    import random

    from ..game.coords import BLACK, WHITE, parse_colour

    if colour == "both":
        return frozenset((BLACK, WHITE))
    return frozenset((random.Random(seed).choice((BLACK, WHITE)) if colour == "random" else parse_colour(colour),))
