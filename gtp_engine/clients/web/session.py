"""What all open pages show: a game, what the engine is doing, and what has been found.

A session belongs to the thread that made it, as its engine does. It knows nothing of HTTP: messages come in as objects,
documents go out as objects, and what the engine has found comes back through `call`. What pages may ask for, and what
they see of it, is in its parts, one for each subject: `playing`, `opening`, `searches`, `editing` and `reviewing`.

The engine does one thing at a time, a `Task`. What changes the game ends the task first; a result that arrives for a
task that is no longer the present one is dropped.
"""

import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import numpy as np

from ...base.errors import UserError
from ...base.messages import plural
from ...go.coords import BLACK, WHITE, colour_name, opponent
from ...go.drawing import BoardDrawing
from ...go.game import Game
from ...go.sgf import TreeNode
from ...search.report import SearchReport
from ...table.played_game import Mode, PlayedGame
from .part import Document, Message, Part, in_words, logger, rows_of
from .values import Values

T = TypeVar("T")

_FIRST_TREES = 10**8  # far less than part.MOST_NODES
_OF_THE_GAME = ("judgement", "move", "count")  # kinds of tasks that go on while an earlier position is shown
_PIXELS = 1000  # the drawing's own size, which the page's style replaces


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
        parts: What pages may ask for.
        next_task: Has the engine do what comes next in the game, if anything does; the part that plays sets it.
        task: What the engine is doing; None if nothing.
        node: The position that is shown.
        report: The last search of that position that is to be shown; None if there is none.
        shown: What the report is for: "hint", "score", "analysis", or "" for nothing.
        values: What has been found about the positions.
        problem: What has gone wrong on the engine's side, in one line; None if nothing.
        notice: Why this game, or the one before it, was saved to a new file, or that only the first game of a file was
            opened, in one line; None for neither.
        is_guessing: Whether moves are guessed, which hints and analyses would show.
        is_watched: Whether a page is open.
        tree_number: Another one for each game; the nodes of each are numbered anew.
    """

    def __init__(
        self,
        played: PlayedGame,
        publish: Callable[[Document], None],
        call: Callable[[Callable[[], object]], object],
    ) -> None:
        """Begins with a game, and without parts.

        Args:
            played: The game.
            publish: Called with each document for all pages.
            call: Calls a function soon on this thread; it is called from others.
        """
        self.played = played
        # The pages show a change first: it is sent in the next turn of the loop, the game is saved in the one after.
        played.keep = lambda: call(lambda: call(self.save_changes))
        self._publish = publish
        self.call = call
        self.parts: list[Part] = []
        self.next_task: Callable[[], None] = lambda: None
        self.task: Task | None = None
        self.node = played.node
        self.report: SearchReport | None = None
        self.shown = ""
        self.values = Values(self.to_move)
        self.problem: str | None = None
        self.notice = self.notice_of_opening
        self.is_guessing = False
        self.is_watched = True
        # A page that was open before a restart must not take a game of this program for one of the program before.
        self.tree_number = secrets.randbelow(_FIRST_TREES)
        self._downloaded = ""  # the version of the tree

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
    def tree_version(self) -> str:
        """The number of the tree and its version; it changes whenever the tree does."""
        return f"{self.tree_number}.{self.played.editor.version}"

    def position(self, node: TreeNode | None = None) -> Game:
        """Returns the position of a node, by default the one that is shown; nobody may change it.

        Raises:
            SgfError: A move that leads to it is illegal.
        """
        return self.played.position(node or self.node)

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

    # What pages see.

    def state(self) -> Document:
        """Returns all that a page shows: what the session has and what its parts add."""
        played, game, line = self.played, self.position(), self.line
        siblings, variation, _ = played.tree.branching(self.node)
        problems = (self.problem, played.file.error, *(part.problem for part in self.parts))
        state = {
            "type": "state",
            "board": _empty_board(game.width, game.height),
            "width": game.width,
            "height": game.height,
            **self.shown_position(),
            "node": self.node.number,
            "tree": self.tree_version,
            "moves": len(line) - 1,
            "place": line.index(self.node),
            "moveNumbers": [sum(node.move is not None for node in nodes) for nodes in (self.node.path, line)],
            "variation": {"number": variation + 1, "of": len(siblings)},
            "lastMove": _last_move(game),
            "toMove": colour_name(game.to_move),
            "captures": {colour_name(colour): game.captures(colour) for colour in (BLACK, WHITE)},
            "comment": self.node.comment,
            "humans": [colour_name(colour) for colour in sorted(played.humans)],
            "isStudy": played.mode is not Mode.GAME,
            "isReady": self.is_ready,
            "task": self.task and {"kind": self.task.kind, "seconds": time.monotonic() - self.task.started},
            "file": played.file.path.name if played.file.path else None,
            "notice": self.notice,
            "problem": next(filter(None, problems), None),
        }
        for part in self.parts:
            state |= part.state()
        return state

    def shown_position(self) -> Document:
        """Returns the stones of the position that is shown, and what is drawn there: marks and what the parts add."""
        game, marks = self.position(), self.played.tree.marks(self.node)
        labels, candidates, ownership = dict(marks.labels), list[Document](), list[float]()
        for drawn in (part.drawn() for part in self.parts):
            labels |= drawn.labels
            for each in drawn.candidates:
                vertex = game.vertex(game.point(each.point))
                candidates.append({"vertex": vertex, "fill": each.colour, "text": each.text, "isBest": each.is_best})
            if drawn.ownership is not None:
                ownership = drawn.ownership.ravel().round(2).tolist()
        return {
            "stones": rows_of(game),
            "drawn": {
                "labels": {game.vertex(point): text for point, text in labels.items()},
                "marks": {game.vertex(point): shape for point, shape in marks.shapes.items()},
                "ownership": ownership,
                "candidates": candidates,
            },
        }

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
        return self.is_watched and self.is_latest and not any(part.is_studying for part in self.parts)

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

    def receive(self, message: Message) -> Document | None:
        """Does what a page asks for; all pages get the new state.

        Args:
            message: The message (`part.parse_message`).

        Returns:
            What only this page gets; None for nothing.

        Raises:
            UserError: It cannot be done.
        """
        self.check_time()
        kind = message["type"]
        for part in self.parts:
            if kind in part.methods:
                return part.methods[kind](message)
        raise UserError(f"invalid message: unknown type {kind[:40]!r}")

    # The file.

    def title(self) -> str:
        """Returns what the file of the game is called when a page downloads it."""
        path = self.played.file.path
        return path.stem if path else f"game-{plural(len(self.played.game.moves), 'move').replace(' ', '-')}"

    def download(self) -> str:
        """Returns the game as SGF, for the person who asks for it to keep."""
        text = self.played.update_record(is_copy=True).to_sgf()
        self._downloaded = self.tree_version
        return text

    def check_kept(self) -> None:
        """Raises UserError unless the game is on disk, or a person has it."""
        if not self.played.save() and self.tree_version != self._downloaded:
            raise UserError(f"{self.played.file.error}; this game would be lost: download its SGF first")

    def save_changes(self) -> None:
        """Saves what has changed, and shows on all pages if the game has another file then, or could not be saved."""
        file = self.played.file
        before = file.path, file.error
        if self.played.is_unsaved:
            self.played.save()
            if (file.path, file.error) != before or file.notice:
                self.publish()

    def close(self) -> None:
        """Ends what the engine is doing, and saves the game."""
        self.cancel()
        for part in self.parts:
            part.close()
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
        is_game = self.played.mode is Mode.GAME
        if self.task is not None and not (is_game and self.task.is_of_the_game):
            self.cancel()
        if node is not self.played.node and not is_game:
            self.played.show(node)
            self.forget_task()
        self.played.tree.follow(node)
        self.node = node
        self.report, self.shown, self.problem = None, "", self._loading_problem()
        self.go_on()

    def changed(self) -> None:
        """Follows a change of the game: nothing that was asked or found about the position before holds."""
        self.cancel()
        self.node = self.played.node
        self.report, self.shown, self.problem = None, "", None
        for part in self.parts:
            part.problem = None
        self.forget_task()
        self.go_on()

    def began(self) -> None:
        """Follows another game that has taken the place of the one before."""
        self.tree_number += 1
        for part in self.parts:
            part.forget_game()
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
        if self.task is None and self.problem is None:
            self.next_task()
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
            self.forget_task()
            self.played.engine.stop()

    def forget_task(self) -> None:
        """Tells the parts that what the engine has tried in this position no longer holds."""
        for part in self.parts:
            part.forget_task()


@cache
def _empty_board(width: int, height: int) -> str:
    """Returns the drawing in which pages draw the positions of a board."""
    return BoardDrawing(np.zeros((height, width), np.int8), pixels=_PIXELS).to_svg()


def _last_move(game: Game) -> dict[str, str] | None:
    if not game.moves:
        return None
    colour, point = game.moves[-1]
    return {"colour": colour_name(colour), "vertex": game.vertex(point)}
