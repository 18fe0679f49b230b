"""The game that all open pages show: what they may ask for, what the engine does meanwhile, and what they see.

A session belongs to the thread that made it, as its engine does. It knows nothing of HTTP: messages come in as objects
(`messages`), documents go out as objects (`view`), and what the engine has found comes back through `call`.

The engine does one thing at a time, a `Task`. What changes the game ends the task first; a result that arrives for a
task that is no longer the present one is dropped.
"""

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..base.errors import EXPECTED, UserError, answer_text
from ..base.messages import plural
from ..game.coords import BLACK, colour_name, opponent
from ..play.engine import DEFAULT_SECONDS, Decision
from ..play.loading import open_game, unfinished_games
from ..play.played_game import PlayedGame
from ..search.report import SearchReport
from ..search.request import Limits
from .messages import new_game_of, text_of, whole_number
from .view import board_of, state_of

T = TypeVar("T")
Document = dict[str, Any]

_LISTED = 20  # unfinished games that a page offers
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """What the engine is doing.

    Attributes:
        kind: "move", "count", "hint" or "score".
        started: When it was asked for, by `time.monotonic()`.
    """

    kind: str
    started: float = field(default_factory=time.monotonic)


class Session:
    """A game in the browser.

    Attributes:
        played: The game.
        task: What the engine is doing; None if nothing.
        report: The last search of the present position that is to be shown; None if there is none.
        shown: What is shown of the report: "hint", "score", or "" for nothing.
        last_report: The search behind the engine's last move.
        problem: What has gone wrong on the engine's side, in one line; None if nothing.
    """

    def __init__(
        self,
        played: PlayedGame,
        publish: Callable[[Document], None],
        call: Callable[[Callable[[], None]], object],
    ) -> None:
        """Begins with a game.

        Args:
            played: The game.
            publish: Called with each document for all pages.
            call: Calls a function soon on this thread; it is called from others.
        """
        self.played = played
        self._publish = publish
        self._call = call
        self.task: Task | None = None
        self.report: SearchReport | None = None
        self.last_report: SearchReport | None = None
        self.shown = ""
        self.problem: str | None = None
        self._methods: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "play": self._play,
            "undo": self._undo,
            "resign": self._resign,
            "hint": lambda _: self._search("hint"),
            "score": lambda _: self._search("score"),
            "stop": self._stop,
            "new": self._new,
            "resume": self._resume,
        }
        self.played.engine.ready.add_done_callback(lambda _: self._call(self._ready))
        self._go_on()

    @property
    def is_ready(self) -> bool:
        """Whether the engine is compiled and has its network."""
        return self.played.engine.ready.done()

    def state(self) -> Document:
        """Returns all that a page shows."""
        return state_of(self)

    def receive(self, message: Mapping[str, Any]) -> Document | None:
        """Does what a page asks for; all pages get the new state.

        Args:
            message: The message (`messages.parse_message`).

        Returns:
            What only this page gets; None for nothing.

        Raises:
            UserError: It cannot be done.
        """
        kind = message["type"]
        if kind == "games":
            return {"type": "games", "games": [path.stem for path in self._unfinished()]}
        if kind == "line":
            return self._line(message)
        method = self._methods.get(kind)
        if method is None:
            raise UserError(f"invalid message: unknown type {kind[:40]!r}")
        method(message)
        return None

    def close(self) -> None:
        """Ends what the engine is doing, and saves the game."""
        self._cancel()
        if not self.played.save():
            logger.error(self.played.file.error)

    # What people do.

    def _play(self, message: Mapping[str, Any]) -> None:
        number = len(self.played.game.moves)
        if whole_number(message, "after", 0, number + 1) != number:
            raise UserError("the game has moved on: this move was made on an earlier position")
        if not self.played.is_humans_turn:
            raise UserError("it is the engine's turn")
        point = self.played.game.point(text_of(message, "point"))
        self.played.play(point)
        self._changed()

    def _undo(self, _: Mapping[str, Any]) -> None:
        if not self.played.result and not any(move.colour in self.played.humans for move in self.played.game.moves):
            raise UserError("you have no move to take back")
        self._cancel()
        self.played.undo()
        self._changed()

    def _resign(self, _: Mapping[str, Any]) -> None:
        game = self.played.game
        self.played.resign(game.to_move if self.played.is_humans_turn else opponent(game.to_move))
        self._changed()

    def _stop(self, _: Mapping[str, Any]) -> None:
        """Ends the search at once; what it has found counts."""
        self.played.engine.stop()

    def _new(self, message: Mapping[str, Any]) -> None:
        new = new_game_of(message)
        self._keep()
        engine = self.played.engine
        engine.settings = replace(engine.settings, level=new.level, seconds=new.seconds, visits=new.visits)
        self._cancel()
        self.played.begin(new.game, new.humans)
        self._began()

    def _resume(self, message: Mapping[str, Any]) -> None:
        name = text_of(message, "game")
        path = next((path for path in self._unfinished() if path.stem == name), None)
        if path is None:
            raise UserError(f"no unfinished game {name[:80]!r}")
        saved = open_game(path)
        self._keep()
        self._cancel()
        self.played.load(saved)
        self._began()

    def _unfinished(self) -> list[Any]:
        others = (path for path in unfinished_games(self.played.folder) if path != self.played.file.path)
        return [path for path, _ in zip(others, range(_LISTED), strict=False)]

    def _keep(self) -> None:
        if not self.played.save():
            raise UserError(f"{self.played.file.error}; this game would be lost: download its SGF first")

    def _began(self) -> None:
        self.last_report = None
        self.played.engine.ready.add_done_callback(lambda _: self._call(self._ready))
        self._changed()

    def _ready(self) -> None:
        """Shows that the engine is ready, or why it is not."""
        ready = self.played.engine.ready
        if ready.done() and (error := ready.exception()) is not None:
            self.problem = _in_words(error)
        self.publish()

    # What the engine does.

    def _changed(self) -> None:
        """Follows a change of the game: nothing that was asked or found about the position before holds."""
        self._cancel()
        self.report, self.shown, self.problem = None, "", None
        self._go_on()

    def _go_on(self) -> None:
        """Has the engine do what comes next, and shows the state."""
        played = self.played
        if played.result is None and played.game.is_over:
            self._begin("count", played.engine.dead_stones(), self._counted)
        elif played.result is None and not played.is_humans_turn:
            self._begin("move", played.engine.genmove(), self._decided)
        self.publish()

    def _begin(self, kind: str, future: "Future[T]", finish: Callable[[T], None]) -> None:
        task = self.task = Task(kind)
        future.add_done_callback(lambda done: self._call(lambda: self._finished(task, done, finish)))

    def _finished(self, task: Task, future: "Future[T]", finish: Callable[[T], None]) -> None:
        if task is not self.task:
            return
        self.task = None
        error = future.exception()
        if error is not None:
            self.problem = _in_words(error)
            self.publish()
        else:
            finish(future.result())

    def _cancel(self) -> None:
        """Ends what the engine is doing; its result is dropped."""
        if self.task is not None:
            self.task = None
            self.played.engine.stop()

    def _decided(self, decision: Decision) -> None:
        self.played.commit(decision)
        self.last_report = decision.report
        self._changed()

    def _counted(self, dead: set[int]) -> None:
        self.played.count(dead)
        self._changed()

    def _search(self, kind: str) -> None:
        """Searches as long as for a move, at full strength whatever the level."""
        if self.played.result:
            raise UserError("the game is over")
        if not self.played.is_humans_turn:
            raise UserError("the engine is thinking: ask when it is your turn")
        self._cancel()
        engine, settings = self.played.engine, self.played.engine.settings
        seconds = DEFAULT_SECONDS if settings.visits is None and settings.seconds is None else settings.seconds
        request = engine.request(ownership=True, limits=Limits(settings.visits, seconds))

        def show(report: SearchReport) -> None:
            self.report, self.shown = report, kind
            self.publish()

        self._begin(kind, engine.analyze(request), show)
        self.publish()

    def _line(self, message: Mapping[str, Any]) -> Document:
        """Returns the board with the main line of one of the moves of the report."""
        vertex = text_of(message, "move")
        found = [move for move in self.report.moves if move.vertex == vertex] if self.report else []
        if not found:
            raise UserError(f"the search has no line for {vertex[:10]!r}")
        return {"type": "line", "move": vertex, "board": board_of(self, found[0].pv)}

    def publish(self) -> None:
        """Shows the state on all pages."""
        self._publish(self.state())

    def result_in_parts(self) -> Document | None:
        """Returns who has won and how: {"winner": "black", "by": "points", "points": 3.5}; None during the game."""
        result = self.played.result
        if result is None:
            return None
        winner, _, margin = result.partition("+")
        if not margin:
            return {"winner": None, "by": "draw", "points": 0.0}
        by = "resignation" if margin == "R" else "points"
        colour = colour_name(BLACK if winner == "B" else opponent(BLACK))
        return {"winner": colour, "by": by, "points": 0.0 if margin == "R" else float(margin)}

    def title(self) -> str:
        """Returns what the file of the game is called when a page downloads it."""
        path = self.played.file.path
        return path.stem if path else f"game-{plural(len(self.played.game.moves), 'move').replace(' ', '-')}"


def _in_words(error: BaseException) -> str:
    """Returns an error in one line; one that nobody expected is logged with its traceback too."""
    if not isinstance(error, EXPECTED):
        logger.error("a search failed", exc_info=error)
    return answer_text(error)
