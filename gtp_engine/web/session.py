"""What all open pages show: a game, what the engine is doing, and what has been found.

A session belongs to the thread that made it, as its engine does. It knows nothing of HTTP: messages come in as objects
(`messages`), documents go out as objects (`view`), and what the engine has found comes back through `call`. What pages
may ask for is in the modules of its parts: `moves`, `games`, `searches`, `editing`, `guessing` and `reviewing`.

The engine does one thing at a time, a `Task`. What changes the game ends the task first; a result that arrives for a
task that is no longer the present one is dropped.
"""

import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..base.errors import EXPECTED, UserError, answer_text
from ..base.messages import plural
from ..game.coords import opponent
from ..game.game import Game
from ..play.engine import Decision
from ..play.played_game import PlayedGame
from ..search.report import SearchReport
from ..sgf import TreeNode
from .editing import Editing
from .games import Games
from .guessing import Guessing
from .moves import Moves
from .reviewing import Reviewing
from .searches import Searches
from .values import Loss, Values
from .view import state_of, tree_of

T = TypeVar("T")
Document = dict[str, Any]

_FIRST_TREES = 10**8  # far less than `part.MOST_NODES`
_OF_THE_GAME = ("judgement", "move", "count")  # kinds of tasks that go on while an earlier position is shown
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

    @property
    def is_of_the_game(self) -> bool:
        """Whether it goes on while an earlier position is shown."""
        return self.kind in _OF_THE_GAME


class Session:
    """A game in the browser.

    Attributes:
        played: The game.
        call: Calls a function soon on this thread; other threads may call it.
        task: What the engine is doing; None if nothing.
        node: The position that is shown.
        report: The last search of that position that is to be shown; None if there is none.
        shown: What the report is for: "hint", "score", "analysis", or "" for nothing.
        values: What has been found about the positions.
        opinion: The search behind the engine's last move, and the node after that move; None if there is none.
        problem: What has gone wrong on the engine's side, in one line; None if nothing.
        notice: Why this game, or the one before it, was saved to a new file, or that only the first game of a file was
            opened, in one line; None for neither.
        is_watched: Whether a page is open.
        games, searches, guessing, reviewing: Parts that keep something, see their modules.
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
        self.call = call
        self.task: Task | None = None
        self.node = played.node
        self._position: tuple[TreeNode, int, Game] | None = None  # of a node in a version of the tree
        self.report: SearchReport | None = None
        self.shown = ""
        self.values = Values(self.to_move)
        self.opinion: tuple[SearchReport, TreeNode] | None = None
        self.problem: str | None = None
        self.notice = self.notice_of_opening
        self.is_watched = True
        # A page that was open before a restart must not take a game of this program for one of the program before.
        self._trees = secrets.randbelow(_FIRST_TREES)
        self.games, self.searches = Games(self), Searches(self)
        self.guessing, self.reviewing = Guessing(self), Reviewing(self)
        parts = (Moves(self), Editing(self), self.games, self.searches, self.guessing, self.reviewing)
        self._methods: dict[str, Callable[[Mapping[str, Any]], Document | None]] = {"tree": lambda _: tree_of(self)}
        for part in parts:
            self._methods |= part.methods
        self.watch_engine()
        self.go_on()

    @property
    def is_ready(self) -> bool:
        """Whether the engine is compiled and has its network."""
        return self.played.engine.ready.done()

    @property
    def notice_of_opening(self) -> str | None:
        """What there is to know about the file that the game comes from; None for nothing."""
        return None if self.played.saved is None else self.played.saved.notice

    @property
    def is_latest(self) -> bool:
        """Whether the position of the game itself is shown, and not an earlier one."""
        return self.node is self.played.node

    @property
    def line(self) -> list[TreeNode]:
        """The nodes from the start through the one that is shown to the end of its line."""
        return self.played.tree.line(self.node)

    @property
    def tree_number(self) -> int:
        """Another one for each game; the nodes of each are numbered anew."""
        return self._trees

    @property
    def tree_version(self) -> str:
        """The number of the tree and its version; it changes whenever the tree does."""
        return f"{self.tree_number}.{self.played.tree.version}"

    def position(self, node: TreeNode | None = None) -> Game:
        """Returns the position of a node, by default the one that is shown; nobody may change it.

        Raises:
            SgfError: A move that leads to it is illegal.
        """
        node, played = node or self.node, self.played
        if node is played.node:
            return played.game
        version = played.tree.version
        if self._position is None or self._position[:2] != (node, version):
            engine = played.engine
            self._position = node, version, played.tree.position(node, engine.rules, engine.komi)
        return self._position[2]

    def to_move(self, node: TreeNode) -> int:
        """Returns the player to move at a node; replays the game only if neither its move nor the next one tells.

        Raises:
            SgfError: As `position`.
        """
        if node is not self.played.node:
            if node.next is not None and node.next.move is not None:
                return node.next.move.colour
            if node.move is not None and "PL" not in node.properties:
                return opponent(node.move.colour)
        return self.position(node).to_move

    def state(self) -> Document:
        """Returns all that a page shows."""
        return state_of(self)

    def publish(self) -> None:
        """Shows the state on all pages, after the clock has been stopped or started as the state requires."""
        self.played.pause(not self._is_in_play)
        self.notice = self.played.file.notice or self.notice  # which the next save forgets
        self._publish(self.state())

    @property
    def _is_in_play(self) -> bool:
        """Whether the clock of the player to move may run.

        The engine's does while it looks for its move. A person's stops while no page is open, and while the game is
        studied: an earlier position is shown, or something is analysed or reviewed.
        """
        if not self.played.is_humans_turn:
            return self.task is not None and self.task.kind == "move" and self.is_ready
        is_studied = self.searches.analysis_visits is not None or self.reviewing.is_running
        return self.is_watched and self.is_latest and not is_studied

    def watch(self, is_watched: bool) -> None:
        """Notes whether any page is open."""
        if is_watched != self.is_watched:
            self.is_watched = is_watched
            self.check_time()
            self.publish()

    def check_time(self) -> None:
        """Ends the game if the time of the player to move is over."""
        if self.played.lose_on_time():
            self.changed()

    def receive(self, message: Mapping[str, Any]) -> Document | None:
        """Does what a page asks for; all pages get the new state.

        Args:
            message: The message (`messages.parse_message`).

        Returns:
            What only this page gets; None for nothing.

        Raises:
            UserError: It cannot be done.
        """
        self.check_time()
        kind = message["type"]
        method = self._methods.get(kind)
        if method is None:
            raise UserError(f"invalid message: unknown type {kind[:40]!r}")
        return method(message)

    def close(self) -> None:
        """Ends what the engine is doing, and saves the game."""
        self.cancel()
        self.reviewing.close()
        if not self.played.save():
            logger.error(self.played.file.error)
        elif self.played.file.notice:
            logger.warning(self.played.file.notice)

    # What the parts share: the position that is shown, and the engine.

    def look_at(self, node: TreeNode) -> None:
        """Shows another position. In a game against the engine the game itself stays as it is.

        Raises:
            SgfError: A move that leads to it is illegal.
        """
        self.position(node)
        if self.task is not None and (self.played.is_study or not self.task.is_of_the_game):
            self.cancel()
        if self.played.is_study and node is not self.played.node:
            self.played.show(node)
            self.searches.forget_judgement()
        self.played.tree.follow(node)
        self.node = node
        self.report, self.shown, self.problem = None, "", self._loading_problem()
        self.go_on()

    def changed(self) -> None:
        """Follows a change of the game: nothing that was asked or found about the position before holds."""
        self.cancel()
        self.node = self.played.node
        self.report, self.shown, self.problem = None, "", None
        self.reviewing.forget_problem()
        self.searches.forget_judgement()
        self.go_on()

    def began(self) -> None:
        """Follows another game that has taken the place of the one before."""
        self._trees += 1
        self._position, self.opinion = None, None
        self.guessing.forget()
        self.reviewing.forget()
        self.watch_engine()
        self.changed()

    def watch_engine(self) -> None:
        """Has the pages see when the engine is ready, or why it is not."""
        self.played.engine.ready.add_done_callback(lambda _: self.call(self._ready))

    def _ready(self) -> None:
        self.problem = self._loading_problem() or self.problem
        self.publish()

    def _loading_problem(self) -> str | None:
        """Returns why the engine could not get ready, as with a damaged network; None if it could or may yet."""
        ready = self.played.engine.ready
        error = ready.exception() if ready.done() else None
        return None if error is None else in_words(error)

    def go_on(self) -> None:
        """Has the engine do what comes next, and shows the state."""
        played = self.played
        if self.task is None and self.problem is None:
            if played.result is None and played.game.is_over:
                self.begin("count", played.engine.dead_stones(), self._counted)
            elif (node := self.searches.next_to_judge()) is not None:
                self.searches.judge(node)
            elif played.result is None and not played.is_humans_turn:
                self.begin("move", played.genmove(), self._decided)
            else:
                self.searches.analyse()
        self.publish()

    def begin(self, kind: str, future: "Future[T]", finish: Callable[[T], None]) -> Task:
        """Notes what the engine has begun to do.

        Args:
            kind: The kind of the task.
            future: Its result.
            finish: Called with the result, unless the task is cancelled.
        """
        task = self.task = Task(kind)
        future.add_done_callback(lambda done: self.call(lambda: self._finished(task, done, finish)))
        return task

    def _finished(self, task: Task, future: "Future[T]", finish: Callable[[T], None]) -> None:
        if task is not self.task:
            return
        self.task = None
        error = future.exception()
        if error is not None:
            self.problem = in_words(error)
            self.publish()
        else:
            finish(future.result())

    def cancel(self) -> None:
        """Ends what the engine is doing; its result is dropped."""
        if self.task is not None:
            self.task = None
            self.searches.forget_judgement()  # which may be what is dropped
            self.played.engine.stop()

    def _decided(self, decision: Decision) -> None:
        self.check_time()
        if self.played.result is not None:
            return
        before = self.played.node
        self.played.commit(decision)
        self.opinion = None
        if decision.report is not None:
            self.opinion = decision.report, self.played.node
            self.values.note(decision.report, before)
        self.changed()

    def _counted(self, dead: set[int]) -> None:
        self.played.count(dead)
        self.changed()

    @property
    def last_own_move(self) -> TreeNode:
        """The node of a person's last move before the position that is shown; the root if there is none."""
        node = self.node
        while node.parent is not None and (node.move is None or node.move.colour not in self.played.humans):
            node = node.parent
        return node

    def loss(self) -> Loss | None:
        """Returns what the last move of a person before the position that is shown has lost, while teaching."""
        tree = self.played.tree
        return self.values.loss(self.last_own_move, tree.width, tree.height) if self.searches.is_teaching else None

    def title(self) -> str:
        """Returns what the file of the game is called when a page downloads it."""
        path = self.played.file.path
        return path.stem if path else f"game-{plural(len(self.played.game.moves), 'move').replace(' ', '-')}"


def in_words(error: BaseException) -> str:
    """Returns an error in one line; one that nobody expected is logged with its traceback too."""
    if not isinstance(error, EXPECTED):
        logger.error("a search failed", exc_info=error)
    return answer_text(error)
