"""A log of the games for the owner of a bot: every move, what the engine thought of its own ones, and the results."""

import logging
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.messages import plural, printable
from ...go.coords import colour_name
from ...go.rules import rules_name

if TYPE_CHECKING:
    from ...engine.engine import Decision, Engine

_BYTES, _OLDER = 5_000_000, 2  # of a file, some 500 long games, and how many files before it are kept
logger = logging.getLogger(__name__)


class _Handler(RotatingFileHandler):
    """Says only once that the file cannot be written: the games go on."""

    has_failed = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        if not self.has_failed:
            self.has_failed = True
            logger.warning(f"cannot write to {self.baseFilename}: the games are not logged completely")


class GameLog:
    """A file with a line for each event; once it is full it becomes FILE.1, and that one FILE.2."""

    def __init__(self, path: Path, *, size: int = _BYTES) -> None:
        """Opens the file, and adds to it what follows.

        Args:
            path: The file.
            size: The bytes from which on it is full.

        Raises:
            OSError: It cannot be written.
        """
        self._handler = _Handler(path, maxBytes=size, backupCount=_OLDER, encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
        self._game: int | None = None  # `Engine.games_begun`
        self._moves = 0  # of this game that are in the log

    def decided(self, engine: "Engine", decision: "Decision") -> None:
        """Notes what the engine decides, before it is played, and the moves that others have played before."""
        self._follow(engine)
        report, seconds = decision.report, time.monotonic() - decision.started
        thought = f"{seconds:.2f} s"
        if report is not None:
            found = report.move_at(decision.point) or report
            values = f"win rate {found.winrate:.1%}, lead {found.lead:+.1f}"
            thought = f"{plural(report.visits, 'visit')}, {values}, {thought}"
        number = self._moves + 1
        self._write(f"move {number} {colour_name(decision.colour)} {decision.vertex}: {thought}")
        self._moves += not decision.resign

    def ended(self, engine: "Engine", result: str) -> None:
        """Notes the result of a game as the engine has counted it."""
        self._follow(engine)
        self._write(f"result {result}")

    def _follow(self, engine: "Engine") -> None:
        """Notes a new game, and the moves that the client has sent."""
        game = engine.game
        if self._game != engine.games_begun:
            self._game, self._moves = engine.games_begun, 0
            rank = "" if engine.settings.rank is None else f", {engine.settings.rank}"
            rules = rules_name(engine.rules) or "other"
            self._write(f"game {game.width}x{game.height}, komi {game.komi:g}, {rules} rules{rank}")
        self._moves = min(self._moves, len(game.moves))  # some have been taken back
        for number, move in enumerate(game.moves[self._moves :], self._moves + 1):
            self._write(f"move {number} {colour_name(move.colour)} {game.vertex(move.point)}")
        self._moves = len(game.moves)

    def _write(self, text: str) -> None:
        self._handler.handle(logging.LogRecord("games", logging.INFO, "", 0, printable(text), None, None))

    def close(self) -> None:
        """Closes the file."""
        self._handler.close()
