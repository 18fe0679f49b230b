"""`gtp_engine selfplay`: the engine plays itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..wording import counted
from .options import GameOptions, SearchOptions, engine_settings, game_options, search_options
from .outputs import new_folder

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..training.selfplay import SelfplayGame

DEFAULT_VISITS = 400  # half of AlphaZero's 800: a game on 9x9 takes about half a minute on two cores
_DEFAULTS = {"board_size": "9"}


@click.command(context_settings={"default_map": _DEFAULTS})
@click.option("--games", type=click.IntRange(1), default=10, show_default=True, help="How many to play.")
@game_options
@search_options
@click.option(
    "--sgf-dir",
    type=click.Path(path_type=Path),
    help="Each run makes a folder of its own in it.  [default: see doctor]",
)
@click.option("--comments", is_flag=True, help="Each move's win rate, score and main line as its comment.")
def selfplay(games: int, game: GameOptions, search: SearchOptions, sgf_dir: Path | None, comments: bool) -> None:
    """Let the engine play itself and save the games as SGF.

    Openings vary: there is noise at the root, and the first moves are drawn by visits (--set root_noise=0 and
    --set temperature=0 switch that off). Nobody resigns; a game is given up after twice as many moves as the board
    has points. Without --visits and --seconds a move takes 400 visits. Ctrl-C keeps the games that are finished.

    \b
    Examples:
      gtp_engine selfplay                                         10 games on 9x9
      gtp_engine selfplay --games 100 --visits 50 --board-size 7
      gtp_engine selfplay --games 3 --seed 1 --threads 1          the same games again
    """
    from ..engine import Engine
    from ..paths import games_dir
    from ..training.selfplay import NOISE
    from ..training.selfplay import selfplay as play_games
    from .compiling import wait_until_ready

    if search.visits is None and search.seconds is None:
        search = replace(search, visits=DEFAULT_VISITS)
    search = replace(search, settings=NOISE + search.settings)
    settings = engine_settings(search, resign=False)
    finished: list[SelfplayGame] = []
    with Engine(settings, width=game.width, height=game.height, rules=game.rules, komi=game.komi) as engine:
        wait_until_ready(engine)
        folder = new_folder(sgf_dir or games_dir(), "selfplay")
        try:
            with _progress(games, engine.game.area) as (bar, on_move):
                for played in play_games(engine, games, folder, on_move, comments=comments):
                    finished.append(played)
                    bar.console.print(f"game {played.number}: {played.result}, {counted(played.moves, 'move')}")
        except KeyboardInterrupt:
            click.echo("stopped")
            raise
        finally:
            if not finished:
                folder.rmdir()
            click.echo(_summary(finished, folder))


@contextmanager
def _progress(games: int, area: int) -> "Iterator[tuple[Progress, Callable[[int, int], None]]]":
    """A bar on a terminal, nothing elsewhere; and what moves it, by the share of a usual game's length."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(highlight=False)
    count, left = (MofNCompleteColumn(), TextColumn("games")), (TimeRemainingColumn(), TextColumn("left"))
    now = TextColumn("{task.description}")
    with Progress(*count, BarColumn(), *left, now, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=games)

        def on_move(game: int, moves: int) -> None:
            part = min(0.99, moves / area)
            bar.update(task, completed=game - 1 + part, description=f"move {moves}")

        yield bar, on_move
        bar.update(task, completed=games)


def _summary(finished: "list[SelfplayGame]", folder: Path) -> str:
    if not finished:
        return "no game was finished"
    black = sum(game.result.startswith("B") for game in finished)
    white = sum(game.result.startswith("W") for game in finished)
    length = sum(game.moves for game in finished) / len(finished)
    count = counted(len(finished), "game")
    return f"{count}: black won {black}, white {white}; {length:.0f} moves on average; in {folder}"
