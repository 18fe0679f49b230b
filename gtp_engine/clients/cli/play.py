"""`gtp_engine play`: a game in the terminal."""

import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base import interrupts
from ...base.errors import UserError
from ...base.languages.texts import LANGUAGES
from ...base.log import LOGGER
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED, available_cpus
from ...engine.settings import EngineSettings
from ...search.evaluate.choices import AUTO
from ..terminal.words import SHOWN_VALUES
from .command import command
from .common_options import search_options
from .first_game import DEFAULTS, PlayersOptions, close_engine, first_game, rated_games

if TYPE_CHECKING:
    from ...study.known_reports import KnownReports


@dataclass(frozen=True)
class DisplayOptions:
    """What the terminal shows.

    Attributes:
        shown: What to show after moves at full strength, and with hints.
        redraw: Redraw the board in place if the terminal can, or print each position below the last.
        language: Language of the first steps, by its code.
    """

    shown: str = setting("winrate", accepts=SHOWN_VALUES, flags=["--show"], heading="Display")
    redraw: bool = setting(True)
    language: str | None = setting(None, accepts=tuple(LANGUAGES), shown="the terminal's", common=True)


@command(
    common=("board-size", "colour", "handicap", "rank"),
    groups={"players": PlayersOptions, "display": DisplayOptions, "search": search_options(["delay"])},
    context_settings={"default_map": DEFAULTS},
)
def play(players: PlayersOptions, display: DisplayOptions, search: EngineSettings) -> None:
    """Play a game in the terminal.

    Type moves such as D4, or pass, undo, hint, analyze, score, resign, save FILE, load FILE, help, quit. Press Ctrl-C
    to make the engine move now, and twice at the prompt to save and exit. Every move is saved as SGF. Commands can be
    piped in.

    The first game asks how strong you are; then the engine's rank follows your results. With --visits, --seconds or
    --network but no --rank, and in a pipe, it plays at full strength without asking.

    With FILE or --resume a saved game continues and saves to the same file; --rank, --seconds and --visits override the
    file. A finished game continues from an earlier move with --move N. Such a game, and one that another program saved,
    is saved as a new game; in another program's game you play the next move unless --colour is given.

    \b
    Examples:
      gtp_engine play                                  9x9, you are Black
      gtp_engine play --colour white --rank 10k        a weaker engine begins
      gtp_engine play --handicap 4 --rank 5k           you have four stones
      gtp_engine play --colour both                    two humans, hints on demand
      gtp_engine play --resume                         continue the last game
      gtp_engine play game.sgf --move 40               play on after move 40
      gtp_engine play --show nothing                   no win rates
      echo "E5 G5 score" | tr " " "\\n" | gtp_engine play --seconds 1
    """
    from ...study.first_steps import read_steps
    from ...study.learner import Learner
    from ...table.database import Database
    from ...table.played_game import PlayedGame
    from ..terminal.learning import Lessons, terminal_language
    from ..terminal.play import TerminalGame
    from ..terminal.screen import Screen

    steps = players.steps()
    first = first_game(players, search)
    screen = Screen(redraw=display.redraw)
    status = 1
    try:
        played = PlayedGame(
            first.engine, humans=first.humans, folder=players.folder, comments=players.comments, saved=first.saved
        )
        rated = rated_games(players, search, played, can_ask=screen.is_interactive)
        language = display.language or terminal_language()
        shown = TerminalGame(
            played,
            screen,
            shown=display.shown,
            rated=rated,
            lessons=Lessons(screen, first.engine, language, lambda: Learner(steps or read_steps(), Database())),
            review=lambda path, known: _review(path, first.search, first.engine.parameters.profile, known),
        )
        status = 0 if shown.run() else 1
    except KeyboardInterrupt:
        status = EXIT_INTERRUPTED
    finally:
        screen.close()
        close_engine(first.engine, status)
    sys.exit(status)


def _review(path: Path, search: EngineSettings, profile: str, known: "KnownReports") -> None:
    """Reviews a finished game as `gtp_engine review` does. Ctrl-C ends the review, not the game's prompt.

    The network is that of the game, unless it imitated humans with this profile and so their mistakes as well. What
    has been searched in the game is known.
    """
    from .review import review

    network = AUTO if profile else search.network
    arguments = ["--network", network, "--device", search.device, "--precision", search.precision]
    reporting = {logging.INFO: ["--verbose"], logging.ERROR: ["--quiet"]}
    arguments += reporting.get(logging.getLogger(LOGGER).level, [])
    if search.threads != available_cpus():
        arguments += ["--threads", str(search.threads)]
    on_end = signal.getsignal(signal.SIGTERM)
    try:
        review.main([*arguments, "--", str(path)], prog_name="gtp_engine review", standalone_mode=False, obj=known)
    except click.ClickException as error:
        raise UserError(error.format_message()) from error
    except click.Abort:  # click's KeyboardInterrupt
        raise UserError("the review was stopped") from None
    finally:
        signal.signal(signal.SIGTERM, on_end)
        interrupts.raise_again()
