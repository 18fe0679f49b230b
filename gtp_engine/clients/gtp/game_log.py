"""A log of the games for the owner of a bot: every move, what the engine thought of its own ones, and the results."""

import logging
import time
from itertools import takewhile
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.messages import plural, printable
from ...go.coords import colour_name
from ...go.game import Move
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

    def __init__(self, path: Path) -> None:
        """Opens the file, and adds to it what follows; raises OSError if it cannot be written."""
        self._handler = _Handler(path, maxBytes=_BYTES, backupCount=_OLDER, encoding="utf-8")
        self._handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
        self._game: int | None = None  # `Engine.games_begun`
        self._about = ""  # this game: its board, komi, rules and stones
        self._moves: list[Move] = []  # of this game that are in the log
        self._result = ("", 0)  # and after how many moves

    def decided(self, engine: "Engine", decision: "Decision") -> None:
        """Notes what the engine decides, before it is played, and the moves that others have played before."""
        self._follow(engine)
        report, seconds = decision.report, time.monotonic() - decision.started
        thought = f"{seconds:.2f} s"
        if report is not None:
            found = report.move_at(decision.point) or report
            values = f"win rate {found.winrate:.1%}, lead {found.lead:+.1f}"
            thought = f"{plural(report.visits, 'visit')}, {values}, {thought}"
        number = len(self._moves) + 1
        self._write(f"move {number} {colour_name(decision.colour)} {decision.vertex}: {thought}")
        if not decision.resign:
            self._moves.append(Move(decision.colour, decision.point))

    def ended(self, engine: "Engine", result: str) -> None:
        """Notes the result of a game as the engine has counted it, once for a position."""
        self._follow(engine)
        if (found := (result, len(self._moves))) != self._result:
            self._result = found
            self._write(f"result {result}")

    def _follow(self, engine: "Engine") -> None:
        """Notes a new game, and the moves that the client has sent and those that it sends in place of others."""
        game, moves = engine.game, list(engine.game.moves)
        rank = "" if engine.settings.rank is None else f", {engine.settings.rank}"
        rules = rules_name(engine.rules) or "other"
        about = f"game {game.width}x{game.height}, komi {game.komi:g}, {rules} rules{rank}"
        # gtp2ogs sends the whole game again before each move.
        is_sent_again = bool(self._moves) and about == self._about and moves[: len(self._moves)] == self._moves
        if self._game != engine.games_begun and not is_sent_again:
            self._moves, self._result = [], ("", 0)
            self._write(about)
        self._game, self._about = engine.games_begun, about
        known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._moves, moves, strict=False)))
        for number, move in enumerate(moves[known:], known + 1):
            self._write(f"move {number} {colour_name(move.colour)} {game.vertex(move.point)}")
        self._moves = moves

    def _write(self, text: str) -> None:
        self._handler.handle(logging.LogRecord("games", logging.INFO, "", 0, printable(text), None, None))

    def close(self) -> None:
        """Closes the file."""
        self._handler.close()
