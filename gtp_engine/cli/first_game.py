"""The game that `gtp_engine play` and `gtp_engine web` begin with: a new one, or a saved one."""

import logging
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.errors import UserError
from .command import is_given
from .engine_settings import engine_settings, network_file
from .options import GameOptions, SearchOptions
from .play_options import PlayersOptions

if TYPE_CHECKING:
    from ..play.engine import Engine
    from ..play.loading import SavedGame

logger = logging.getLogger(__name__)


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
    context: click.Context, options: PlayersOptions, game: GameOptions, search: SearchOptions, folder: Path
) -> FirstGame:
    """Returns the game that the options ask for.

    Raises:
        click.UsageError: Options contradict each other.
        UserError: There is no such saved game, it cannot be continued, or a value is invalid.
    """
    saved = _saved_game(context, options, game, folder)
    humans = _humans(options.colour, search.seed)
    if saved is None:
        return FirstGame(_new_engine(search, game, options.handicap), humans, None, search)
    search = _with_opponent(context, search, saved)
    humans = humans if is_given(context, "colour") else saved.humans
    return FirstGame(_engine_with(search, saved), humans, saved, search)


def _humans(colour: str, seed: int | None) -> frozenset[int]:
    """Returns the colours that people play."""
    from ..game.coords import BLACK, WHITE, parse_colour

    if colour == "both":
        return frozenset((BLACK, WHITE))
    return frozenset((random.Random(seed).choice((BLACK, WHITE)) if colour == "random" else parse_colour(colour),))


def _new_engine(search: SearchOptions, game: GameOptions, handicap: int | None) -> "Engine":
    """Returns an engine with a new game."""
    from ..game.handicap import fixed_handicap_points
    from ..play.engine import Engine
    from ..play.played_game import HANDICAP_KOMI

    stones = fixed_handicap_points(handicap, game.width, game.height) if handicap else []
    komi = HANDICAP_KOMI if game.komi is None and handicap else game.komi
    engine = Engine(engine_settings(search), width=game.width, height=game.height, rules=game.rules, komi=komi)
    if stones:
        engine.place_handicap(stones)
    return engine


def _engine_with(search: SearchOptions, saved: "SavedGame") -> "Engine":
    """Returns an engine with a saved game."""
    from ..play.engine import Engine

    game = saved.game
    engine = Engine(engine_settings(search), width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    engine.load(game)
    return engine


def _saved_game(context: click.Context, options: PlayersOptions, game: GameOptions, folder: Path) -> "SavedGame | None":
    """Returns the saved game to continue, or None for a new game.

    Raises:
        click.UsageError: Options contradict each other.
        UserError: There is no such game, or it cannot be continued.
    """
    if options.file is None and not options.resume:
        if options.move is not None:
            raise click.UsageError("--move needs a saved game: name its FILE, or add --resume")
        return None
    if options.file is not None and options.resume:
        raise click.UsageError("name a FILE or use --resume, not both")
    if is_given(context, "handicap"):
        raise click.UsageError("--handicap is for new games: a saved game has its own handicap")
    from ..play.loading import find_game, latest_unfinished, open_game

    path = latest_unfinished(folder) if options.file is None else find_game(options.file, folder)
    rules = game.rules if is_given(context, "rules") else None
    komi = game.komi if is_given(context, "komi") else None
    saved = open_game(path, move=options.move, rules=rules, komi=komi)
    size = (saved.game.width, saved.game.height)
    if is_given(context, "board_size") and size != (game.width, game.height):
        wanted = f"{game.width}x{game.height}"
        raise UserError(f"{path}: the game is on {size[0]}x{size[1]}, not on {wanted}; leave out --board-size")
    return saved


def _with_opponent(context: click.Context, search: SearchOptions, saved: "SavedGame") -> SearchOptions:
    """Returns the options with the saved game's level and network, unless the command line has others."""
    from ..evaluate.choices import AUTO, ROLLOUTS
    from ..network.library import default_network, network_name

    opponent = saved.opponent
    if opponent is None:
        return search
    if not is_given(context, "level"):
        search = replace(search, level=opponent.level)
    if is_given(context, "network"):
        return search
    usual = default_network(saved.game.width, saved.game.height)
    if opponent.network == (usual and network_name(usual)):
        return replace(search, network=AUTO)
    network = opponent.network or ROLLOUTS
    try:
        network_file(network)
    except UserError as error:
        logger.warning(f"{error}; the saved game continues with --network {search.network}")
        return search
    return replace(search, network=network)
