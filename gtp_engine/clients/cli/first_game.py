"""The options of a game that people play, in the terminal or in the browser."""

import logging
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ...base.errors import UserError
from ...base.fields import Range, Text
from ...base.files import files_with
from ...base.folders import data_dir, games_dir
from ...base.settings import setting
from ...engine.ranks import Rank, parse_rank
from ...engine.settings import EngineSettings
from ...nets.library import network_name
from ...search.evaluate.choices import AUTO, ROLLOUTS
from ...solver.ahead import begin_when
from ...table.database import Database
from ...table.new_game import COLOURS, parse_humans
from ...table.player_rating import KeptRating, first_rating
from .common_options import GameOptions, network_file
from .defaults import is_given
from .options import EXISTING_FILE, FOLDER

if TYPE_CHECKING:
    from ...engine.engine import Engine
    from ...study.first_steps import Step
    from ...table.played_game import PlayedGame
    from ...table.rated_games import RatedGames
    from ...table.saved_games import SavedGame


# A first game takes ten minutes on 9x9, and two hours on 19x19.
DEFAULTS = {"board_size": "9"}
_AUTO = "auto"
logger = logging.getLogger(__name__)


def _rank(text: str) -> Rank | str | None:
    return _AUTO if text.strip().lower() == _AUTO else parse_rank(text)


def _saved_games() -> list[str]:
    return [path.name for path in reversed(files_with((".sgf",), games_dir()))]


@dataclass(frozen=True)
class PlayersOptions(GameOptions):
    """Who plays, and which saved game; None if an option without a default is not given.

    Attributes:
        file: The saved game to continue: a path, or a name in the folder of saved games.
        colour: Your colour; both: for two human players.
        handicap: Handicap stones for Black, 2 to 9; komi becomes 0.5. 0: none.
        resume: Continue the unfinished game that was saved last, or begin a new one.
        move: Continue the saved game after its move N.
        sgf_dir: Folder for saved games.
        comments: Save the engine's win rate, score and main line with its moves.
        rank: Play at a rank: 25k to 5d, such as 12k, or max; auto: one that follows your results.
        first_steps: Your own texts and positions for those who have never played.
    """

    file: str | None = setting(None, accepts=Text(None, "file", _saved_games, True), argument=True, required=False)
    colour: str = setting("black", accepts=COLOURS, flags=["--colour", "--color"], heading="Game")
    handicap: int | None = setting(None, accepts=Range(0, 9, whole=True), what="handicap")
    resume: bool = setting(False, flags=["--resume/--new"], heading="Saved games")
    move: int | None = setting(None, accepts=Range(0, whole=True))
    sgf_dir: Path | None = setting(None, accepts=FOLDER, metavar="FOLDER", shown="shown by `gtp_engine doctor`")
    comments: bool = setting(False)
    rank: Rank | str | None = setting(
        None, accepts=Text(_rank, "rank"), common=True, shown="asked for once, then auto", heading="Opponent"
    )
    first_steps: Path | None = setting(None, accepts=EXISTING_FILE, shown="the program's own", heading="Beginners")

    @property
    def is_auto(self) -> bool:
        """Whether the rank follows the results."""
        return self.rank == _AUTO

    def steps(self) -> "tuple[Step, ...] | None":
        """Reads the person's own first steps, if any; raises UserError if they are unusable."""
        from ...study.first_steps import read_steps  # compiled

        return None if self.first_steps is None else read_steps(self.first_steps)

    @property
    def folder(self) -> Path:
        """The folder of saved games."""
        return self.sgf_dir or games_dir()


@dataclass(frozen=True)
class FirstGame:
    """The game to begin with."""

    engine: "Engine"  # with its position
    humans: frozenset[int]  # the colours that people play
    saved: "SavedGame | None"  # what it continues; None for a new game
    search: EngineSettings  # the options of the search, those of the saved game's opponent included


def first_game(options: PlayersOptions, search: EngineSettings, *, shows_finished: bool = False) -> FirstGame:
    """Returns the game that the options ask for.

    With `shows_finished` a saved game may be a finished one, or somebody else's: people then play on for both sides.
    Raises click.UsageError if options contradict each other, and UserError if there is no such saved game, it cannot be
    continued, or a value is invalid.
    """
    if options.is_auto:
        data_dir()  # where the rating is kept: refused before there is an engine
        # A saved game keeps the rank of its file.
        click.get_current_context().set_parameter_source("rank", ParameterSource.DEFAULT)
    search = replace(search, rank=None if options.is_auto else options.rank)
    saved = saved_game(options, shows_finished=shows_finished)
    humans = parse_humans(options.colour, search.seed)
    begun = None  # no Game yet: on the first start the engine compiles the board on a thread of its own
    if saved is not None:
        search, begun = _with_opponent(search, saved), saved.game
        humans = humans if is_given("colour") else saved.humans
    elif options.handicap:
        from ...go.game import initial_game  # compiled

        width, height = options.board_size
        begun = initial_game(width, height, handicap=options.handicap, komi=options.komi, rules=options.rules)
    from ...engine.engine import Engine  # imports numba: errors of the options come first

    game = options if begun is None else begun
    engine = Engine(search, width=game.width, height=game.height, rules=game.rules, komi=game.komi)
    if begun is not None:
        engine.load(begun)
    begin_when(engine.ready)
    return FirstGame(engine, humans, saved, search)


def rated_games(
    options: PlayersOptions, search: EngineSettings, played: "PlayedGame", *, can_ask: bool
) -> "RatedGames | None":
    """Returns the games in which the rank follows the results; None if it does not.

    `can_ask` tells whether a person can be asked for the rank. Unless the options ask for it, it does if so and nobody
    has chosen how strongly the engine plays.
    """
    from ...table.rated_games import RatedGames

    if not options.is_auto and not (can_ask and not played.handicap and _is_open(search)):
        return None
    if played.saved is not None or len(played.humans) > 1 or played.engine.network is None:
        return None
    try:
        data_dir()
    except UserError:  # without a home folder nothing is asked
        return None
    file = KeptRating(Database())
    if options.is_auto and file.rating is None and (file.is_asked or not can_ask):
        file.rating = first_rating(None)
    if file.is_asked and file.rating is None:  # full strength was chosen
        return None
    return RatedGames(played, file)


def _is_open(search: EngineSettings) -> bool:
    """Whether nobody has chosen how strongly the engine plays."""
    context, names = click.get_current_context(), ("rank", "visits", "seconds")
    chosen = any(context.get_parameter_source(name) is not ParameterSource.DEFAULT for name in names)
    return not chosen and search.network == AUTO and not search.search_parameters(search.network).profile


def close_engine(engine: "Engine", status: int) -> None:
    """Closes the engine; if it is not ready yet, ends the process with `status` unless an error is on its way.

    The first start compiles for up to a minute, which nothing can interrupt: the user would wait after Ctrl-C.
    """
    if not engine.ready.done():
        if isinstance(sys.exception(), Exception):
            return  # so that it is shown
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    engine.close()


def saved_game(options: PlayersOptions, *, shows_finished: bool = False) -> "SavedGame | None":
    """Returns the saved game to continue, or None for a new game; arguments and errors are those of `first_game`."""
    path = _path(options, with_edited=shows_finished)
    if path is None:
        if options.move is not None:
            raise click.UsageError("--move needs a saved game: name its FILE, or add --resume")
        return None
    from ...go.sgf import read_sgf
    from ...table.saved_games import BOTH, open_game, open_tree

    rules = options.rules if is_given("rules") else None
    komi = options.komi if is_given("komi") else None
    if shows_finished and options.move is None:
        saved = open_tree(read_sgf(path), path, rules=rules, komi=komi)
        saved = saved if saved.is_own else replace(saved, humans=BOTH)
    else:
        saved = open_game(path, move=options.move, rules=rules, komi=komi)
    size = (saved.game.width, saved.game.height)
    if is_given("board_size") and size != options.board_size:
        wanted = f"{options.width}x{options.height}"
        raise UserError(f"{path}: the game is on {size[0]}x{size[1]}, not on {wanted}; leave out --board-size")
    return saved


def _path(options: PlayersOptions, *, with_edited: bool) -> Path | None:
    """Returns the file of the saved game to continue, or None for a new game.

    `resume = true` in the user's configuration gives way to a FILE or the options of a new game on the command line,
    and to a new game if there is none to continue.
    """
    from ...table.game_index import latest_unfinished, unfinished_games
    from ...table.saved_games import find_game

    resumes = options.resume and is_given("resume")
    if options.file is not None and is_given("resume"):
        raise click.UsageError(f"name a FILE or use --{'resume' if resumes else 'new'}, not both")
    if is_given("handicap") and (resumes or options.file is not None):
        raise click.UsageError("--handicap is for new games: a saved game has its own handicap")
    if options.file is not None:
        return find_game(options.file, options.folder)
    if resumes:
        return latest_unfinished(options.folder, with_edited=with_edited)
    begins_new = any(is_given(option) for option in ("handicap", "board_size"))
    if begins_new or not options.resume:
        return None
    return next(iter(unfinished_games(options.folder, with_edited=with_edited)), None)


def _with_opponent(search: EngineSettings, saved: "SavedGame") -> EngineSettings:
    """Returns the settings with the saved game's rank, limits and network, unless the command line has others."""
    opponent = saved.opponent
    if opponent is None:
        return search
    if not is_given("rank"):
        search = replace(search, rank=opponent.rank)
    limits = opponent.limits
    if not (limits.is_endless or is_given("seconds") or is_given("visits")):
        search = replace(search, seconds=limits.seconds, visits=limits.visits)
    if is_given("network"):
        return search
    network, usual = opponent.network or ROLLOUTS, replace(search, network=AUTO)
    if network == network_name(Path(usual.player_on(saved.game.width, saved.game.height))):
        return usual
    try:
        network = network_file(network)
    except UserError as error:
        logger.warning(f"{error}; the saved game continues with --network {search.network}")
        return search
    return replace(search, network=network)
