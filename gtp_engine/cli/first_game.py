"""The game that `gtp_engine play` and `gtp_engine web` begin with: a new one, or a saved one."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..play.players import parse_humans
from .command import is_given
from .engine_settings import engine_settings
from .options import GameOptions, SearchOptions
from .play_options import PlayersOptions
from .saved_game import saved_game, with_opponent

if TYPE_CHECKING:
    from ..game.game import Game
    from ..play.engine import Engine
    from ..play.loading import SavedGame


@dataclass(frozen=True)
class FirstGame:
    """The game to begin with.

    Attributes:
        engine: The engine with its position.
        humans: The colours that people play.
        saved: The saved game that it continues; None for a new game.
        search: The options of the search, those of the saved game's opponent included.
    """

    engine: "Engine"
    humans: frozenset[int]
    saved: "SavedGame | None"
    search: SearchOptions


def first_game(
    context: click.Context,
    options: PlayersOptions,
    game: GameOptions,
    search: SearchOptions,
    folder: Path,
    *,
    shows_finished: bool = False,
) -> FirstGame:
    """Returns the game that the options ask for.

    Args:
        context: The command's context, which knows which options are given.
        options: Who plays, and which saved game.
        game: The board and the rules of a new game.
        search: How the engine searches.
        folder: The folder of saved games.
        shows_finished: Whether a saved game may be a finished one, which people then play on for both sides.

    Raises:
        click.UsageError: Options contradict each other.
        UserError: There is no such saved game, it cannot be continued, or a value is invalid.
    """
    saved = saved_game(context, options, game, folder, shows_finished=shows_finished)
    humans = parse_humans(options.colour, search.seed)
    if saved is None:
        return FirstGame(_new_engine(search, game, options.handicap), humans, None, search)
    search = with_opponent(context, search, saved)
    humans = humans if is_given(context, "colour") else saved.humans
    return FirstGame(_engine_with(search, saved.game), humans, saved, search)


def _new_engine(search: SearchOptions, game: GameOptions, handicap: int | None) -> "Engine":
    """Returns an engine with a new game."""
    from ..play.engine import Engine

    if handicap:
        from ..play.initial_game import initial_game

        begun = initial_game(game.width, game.height, handicap=handicap, komi=game.komi, rules=game.rules)
        return _engine_with(search, begun)
    # No Game yet: on the first start the engine compiles the board on a thread of its own.
    return Engine(engine_settings(search), width=game.width, height=game.height, rules=game.rules, komi=game.komi)


def _engine_with(search: SearchOptions, game: "Game") -> "Engine":
    """Returns an engine with a game that has begun."""
    from ..play.engine import Engine

    engine = Engine(engine_settings(search), width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    engine.load(game)
    return engine
