"""The options of `gtp_engine play`, which `gtp_engine web` shares as far as they are about the game."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ..play.new_game import COLOURS
from ..terminal.words import SHOWN_VALUES
from . import shared_options as shared
from .command import options
from .name_types import SavedGameName
from .option_types import Stones, WholeNumber
from .options import game_options, search_options

# A first game takes ten minutes on 9x9, and two hours on 19x19.
DEFAULTS = {"board_size": "9"}


@dataclass(frozen=True)
class PlayersOptions:
    """Who plays, and which saved game; None if an option without a default is not given.

    Attributes:
        file: The saved game to continue: a path, or a name in the folder of saved games.
        resume: Whether to continue the latest unfinished game.
        move: The move after which the saved game continues.
        colour: One of `COLOURS`.
        handicap: The number of handicap stones.
        sgf_dir: The folder of saved games.
        comments: Whether to save the engine's win rate, score and main line with its moves.
    """

    file: str | None
    resume: bool
    move: int | None
    colour: str
    handicap: int | None
    sgf_dir: Path | None
    comments: bool


@dataclass(frozen=True)
class PlayOptions(PlayersOptions):
    """The options of `play` in addition to those of game and search.

    Attributes:
        shown: One of `SHOWN_VALUES`.
        redraw: Whether to redraw the board in place.
    """

    shown: str
    redraw: bool


GAME_ENTRIES: tuple[str | Callable[..., Any], ...] = (
    click.argument("file", type=SavedGameName(), required=False),
    "Game",
    click.option(
        "--colour",
        "--color",
        type=click.Choice(COLOURS),
        default="black",
        help="Your colour; both: for two human players.",
    ),
    game_options,
    click.option("--handicap", type=Stones(2, 9), help="Handicap stones for Black; komi becomes 0.5. 0: none."),
    "Saved games",
    click.option(
        "--resume/--new",
        default=False,
        help="Continue the unfinished game that was saved last, or begin a new one.",
    ),
    click.option("--move", type=WholeNumber(0), help="Continue the saved game after its move N."),
    shared.games_folder_option("Folder for saved games."),
    click.option(
        "--comments/--no-comments",
        default=False,
        help="Save the engine's win rate, score and main line with its moves.",
    ),
)
_DISPLAY: tuple[str | Callable[..., Any], ...] = (
    "Display",
    click.option(
        "--show",
        "shown",
        type=click.Choice(SHOWN_VALUES),
        default="winrate",
        help="What to show after moves and with hints.",
    ),
    click.option(
        "--redraw/--no-redraw",
        default=True,
        help="Redraw the board in place if the terminal can, or print each position below the last.",
    ),
)


def play_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command; it receives `game`, `search` and the keywords of PlayOptions."""
    return options(*GAME_ENTRIES, *_DISPLAY, search_options(seconds="5", rank=True))(function)
