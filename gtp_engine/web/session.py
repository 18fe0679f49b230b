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
from ..base.fields import parse_word
from ..base.messages import plural
from ..game.coords import BLACK, EMPTY, PASS, WHITE, colour_name, opponent, point_at, xy
from ..game.game import Game, Move
from ..game.regions import find_regions
from ..play.engine import Decision
from ..play.loading import open_game, open_record, unfinished_games
from ..play.played_game import PlayedGame
from ..search.report import SearchReport
from ..search.request import Limits
from ..sgf import read_sgf
from .messages import new_game_of, text_of, visits_of, whole_number
from .networks import network_choices
from .values import JUDGED_VISITS, Loss, Values
from .view import board_of, state_of

T = TypeVar("T")
Document = dict[str, Any]

_BOTH = frozenset((BLACK, WHITE))
_OF_THE_GAME = ("judgement", "move", "count")  # kinds of tasks that go on while an earlier position is shown
LAYERS = ("candidates", "ownership", "policy")
# Reports a second are enough to watch, and cost little beside the search.
_REPORT_SECONDS = 0.25
_LISTED = 20  # unfinished games that a page offers
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Task:
    """What the engine is doing.

    Attributes:
        kind: "move", "count", "hint", "score" or "analysis"; "judgement" and "preparation" for judging a person's move,
            after it and before it.
        started: When it was asked for, by `time.monotonic()`.
    """

    kind: str
    started: float = field(default_factory=time.monotonic)


class Session:
    """A game in the browser.

    Attributes:
        played: The game.
        task: What the engine is doing; None if nothing.
        networks: What `EngineSettings.network` is for each network that a page may choose.
        place: The number of moves that have been played on the board that is shown.
        report: The last search of that position that is to be shown; None if there is none.
        shown: What the report is for: "hint", "score", "analysis", or "" for nothing.
        layer: What an analysis draws on the board, one of `LAYERS`.
        analysis_visits: Visits after which an analysis ends; None while nothing is analysed.
        values: What has been found about the positions.
        is_teaching: Whether moves that lose points are marked.
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
        self.place = len(played.game.moves)
        self.layer = LAYERS[0]
        self.networks = network_choices()
        self.analysis_visits: int | None = None
        self.values = Values()
        self.is_teaching = False
        self._tried: int | None = None
        self._downloaded: list[Move] | None = None
        self.report: SearchReport | None = None
        self.last_report: SearchReport | None = None
        self.shown = ""
        self.problem: str | None = None
        self._methods: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "play": self._play,
            "undo": self._undo,
            "resign": self._resign,
            "hint": lambda _: self._ask("hint"),
            "score": lambda _: self._ask("score"),
            "stop": self._stop,
            "go": self._go,
            "analyse": self._analyse,
            "layer": self._choose_layer,
            "teach": self._teach,
            "network": self._choose_network,
            "new": self._new,
            "resume": self._resume,
            "open": self._open,
            "branch": self._branch,
            "dead": self._dispute,
        }
        self.played.engine.ready.add_done_callback(lambda _: self._call(self._ready))
        self._go_on()

    @property
    def is_ready(self) -> bool:
        """Whether the engine is compiled and has its network."""
        return self.played.engine.ready.done()

    @property
    def is_latest(self) -> bool:
        """Whether the position of the game itself is shown, and not an earlier one."""
        return self.place == len(self.played.game.moves)

    def position(self) -> Game:
        """Returns the position that is shown."""
        game = self.played.game.copy()
        while len(game.moves) > self.place:
            game.undo()
        return game

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
        if not self.is_latest:
            raise UserError("an earlier position is shown: go to the last move to play on")
        if whole_number(message, "after", 0, number + 1) != number:
            raise UserError("the game has moved on: this move was made on an earlier position")
        if not self.played.is_humans_turn:
            raise UserError("it is the engine's turn")
        point = self.played.game.point(text_of(message, "point"))
        self.played.play(point)
        self._changed()

    def _undo(self, _: Mapping[str, Any]) -> None:
        if not self.played.can_undo:
            raise UserError("you have no move to take back")
        self._cancel()
        self.played.undo()
        self.values.forget(after=len(self.played.game.moves))
        self._changed()

    def _resign(self, _: Mapping[str, Any]) -> None:
        game = self.played.game
        self.played.resign(game.to_move if self.played.is_humans_turn else opponent(game.to_move))
        self._changed()

    def _dispute(self, message: Mapping[str, Any]) -> None:
        """Counts again with the stones of one chain dead instead of alive, or the other way round."""
        played = self.played
        if played.result is None or not played.game.is_over:
            raise UserError("the game has not been counted")
        point = played.game.point(text_of(message, "point"))
        if point == PASS:
            raise UserError("there is no stone")
        column, row = xy(point, played.game.width)
        part = next(part for part in find_regions(played.game.stones()) if (row, column) in part.cells)
        if part.colour == EMPTY:
            raise UserError("there is no stone")
        played.count(played.dead ^ {point_at(x, y, played.game.width) for y, x in part.cells})
        self.publish()

    def _stop(self, _: Mapping[str, Any]) -> None:
        """Ends the search at once; what it has found counts."""
        self.played.engine.stop()

    def _go(self, message: Mapping[str, Any]) -> None:
        """Shows the position after a number of moves; the game stays as it is."""
        place = whole_number(message, "move", 0, len(self.played.game.moves))
        if self.task is not None and self.task.kind not in _OF_THE_GAME:
            self._cancel()
        self.place = place
        self.report, self.shown = None, ""
        self._go_on()

    def _analyse(self, message: Mapping[str, Any]) -> None:
        """Begins to analyse whatever is shown, or ends that."""
        self.analysis_visits = visits_of(message)
        if self.task is not None and self.task.kind not in _OF_THE_GAME:
            self._cancel()
        if self.analysis_visits is None and self.shown == "analysis":
            self.report, self.shown = None, ""
        self._go_on()

    def _teach(self, message: Mapping[str, Any]) -> None:
        """Begins or ends marking the moves that lose points."""
        self.is_teaching = message.get("on") is True
        self._go_on()

    def _choose_layer(self, message: Mapping[str, Any]) -> None:
        self.layer = parse_word("layer", message.get("layer"), LAYERS)
        self.publish()

    def _choose_network(self, message: Mapping[str, Any]) -> None:
        """Has the engine use another network, for its moves and for analyses."""
        chosen = parse_word("network", message.get("network"), self.networks)
        engine = self.played.engine
        engine.settings = replace(engine.settings, network=self.networks[chosen])
        self._cancel()
        engine.load(engine.game)
        self.values.forget()
        self._began()

    def _new(self, message: Mapping[str, Any]) -> None:
        new = new_game_of(message)
        self._keep()
        engine = self.played.engine
        engine.settings = replace(engine.settings, rank=new.rank, seconds=new.seconds, visits=new.visits)
        self._cancel()
        self.played.begin(new.game, new.humans)
        self.values.forget()
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
        self.values.forget()
        self._began()

    def _open(self, message: Mapping[str, Any]) -> None:
        """Shows a record; its file is not changed, and what is played on is saved as a new game."""
        record = read_sgf(text_of(message, "sgf").encode("utf-8", "replace"))
        saved = replace(open_record(record), humans=_BOTH)
        self._keep()
        self._cancel()
        self.played.load(saved)
        self.values.forget()
        self._began()

    def _branch(self, message: Mapping[str, Any]) -> None:
        """Begins a new game against the engine from the position that is shown."""
        game = self.position()
        if game.is_over:
            raise UserError("both players have passed here: choose an earlier position")
        self._keep()
        self._cancel()
        self.played.begin(game, frozenset((game.to_move,)))
        self.values.forget(after=len(game.moves))
        self._began()

    def _unfinished(self) -> list[Any]:
        others = (path for path in unfinished_games(self.played.folder) if path != self.played.file.path)
        return [path for path, _ in zip(others, range(_LISTED), strict=False)]

    def download(self) -> str:
        """Returns the game as SGF, for the person who asks for it to keep."""
        self._downloaded = list(self.played.game.moves)
        return self.played.record().to_sgf()

    def _keep(self) -> None:
        if not self.played.save() and self.played.game.moves != self._downloaded:
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
        self.place = len(self.played.game.moves)
        self.report, self.shown, self.problem = None, "", None
        self._tried = None
        self._go_on()

    def _go_on(self) -> None:
        """Has the engine do what comes next, and shows the state."""
        played = self.played
        if self.task is None and self.problem is None:
            if played.result is None and played.game.is_over:
                self._begin("count", played.engine.dead_stones(), self._counted)
            elif self._has_to_judge():
                self._judge()
            elif played.result is None and not played.is_humans_turn:
                self._begin("move", played.engine.genmove(), self._decided)
            elif self.analysis_visits is not None:
                self._search("analysis", Limits(visits=self.analysis_visits))
        self.publish()

    def _begin(self, kind: str, future: "Future[T]", finish: Callable[[T], None]) -> Task:
        task = self.task = Task(kind)
        future.add_done_callback(lambda done: self._call(lambda: self._finished(task, done, finish)))
        return task

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

    def _has_to_judge(self) -> bool:
        """Whether the position of the game is to be searched, so that a move before or after it can be judged."""
        place = len(self.played.game.moves)
        is_open = self.played.result is None and self.is_latest and self._tried != place
        return self.is_teaching and is_open and not self.values.is_judged(place)

    def _judge(self) -> None:
        place = self._tried = len(self.played.game.moves)
        engine = self.played.engine

        def note(report: SearchReport) -> None:
            self.values.note(report, place)
            self._go_on()

        kind = "preparation" if self.played.is_humans_turn else "judgement"
        self._begin(kind, engine.analyze(engine.request(limits=Limits(visits=JUDGED_VISITS))), note)

    def loss(self) -> Loss | None:
        """Returns what the last move of a person before the position that is shown has lost, while teaching."""
        game = self.position()
        while game.moves and game.moves[-1].colour not in self.played.humans:
            game.undo()
        return self.values.loss(game) if self.is_teaching else None

    def _decided(self, decision: Decision) -> None:
        self.played.commit(decision)
        self.last_report = decision.report
        if decision.report is not None:
            self.values.note(decision.report, len(self.played.game.moves) - (not decision.resign))
        self._changed()

    def _counted(self, dead: set[int]) -> None:
        self.played.count(dead)
        self._changed()

    def _ask(self, kind: str) -> None:
        """Searches as long as for a move, at full strength whatever the rank."""
        if self.task is not None and self.task.kind in _OF_THE_GAME:
            raise UserError("the engine is thinking: ask when it is your turn")
        self._cancel()
        self._search(kind, self.played.engine.settings.limits())
        self.publish()

    def _search(self, kind: str, limits: Limits) -> None:
        """Searches the position that is shown; what has been found is shown meanwhile if it is an analysis."""
        engine = self.played.engine
        place = self.place

        def show(report: SearchReport) -> None:
            self.report, self.shown = report, kind
            self.values.note(report, place)
            self.publish()

        def show_soon(report: SearchReport) -> None:
            self._call(lambda: show(report) if self.task is task else None)

        options: dict[str, Any] = {"ownership": True, "limits": limits}
        if kind == "analysis":
            options |= {"on_report": show_soon, "interval": _REPORT_SECONDS}
        request = replace(engine.request(**options), game=self.position())
        task = self._begin(kind, engine.analyze(request), show)

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
        colour = colour_name(BLACK if winner == "B" else WHITE)
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
