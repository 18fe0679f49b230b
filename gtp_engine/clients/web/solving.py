"""Whether a group in the position that is shown is alive, by exact reading, and the lines that show it.

The reading has a thread of its own; the game, and the engine's searches, go on beside it.
"""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...base.fields import invalid
from ...base.threads import in_background
from ...engine.group_view import GroupView, group_view
from ...go.coords import PASS, as_colour
from ...go.drawing import Candidate
from ...go.game import Game
from ...solver.description import as_document
from ...solver.part import find_part
from ...solver.refutations import Branch
from ...solver.solution import Answer, Solution, solve
from .position import line_shown
from .session import CLOSING_SECONDS, Document, Message, Pace, Part, Task, in_words, phrase_parts, text_of

if TYPE_CHECKING:
    from ...engine.worker import SearchWorker
    from ...search.request import SearchRequest

SECONDS = 20.0  # by judgement: most groups that are solved at all take less
_WORKS, _FAILS = "#5cc48d", "#e08a7b"  # the colours of moves that keep the outcome of the first ones, and of others


@dataclass(eq=False)
class Job:
    """The reading of one group."""

    game: Game
    point: int  # the stone that was chosen
    stop: threading.Event = field(default_factory=threading.Event)  # ends it
    began: float = field(default_factory=time.monotonic)
    positions: int = 0  # read so far
    solution: Solution | None = None  # what was found; None while it is read, or if it has failed
    view: GroupView | None = None  # what the network thinks; None before it was asked, or without one


class Solving(Part):
    """The reading of a group. It is dropped when other stones are shown."""

    name, follows_position = "solving", False  # until there is something to drop

    _job: Job | None = None
    _reading: Future[Solution] | None = None

    @property
    def is_studying(self) -> bool:
        return self._shown is not None

    @property
    def _shown(self) -> Job | None:
        """The reading of the position that is shown."""
        job = self._job
        if job is not None and not np.array_equal(job.game.stones(), self.session.position().stones()):
            self._drop()
        return self._job

    def _drop(self) -> None:
        if self._job is not None:
            self._job.stop.set()
            self._job = None

    def _begin(self, job: Job) -> None:
        self._drop()
        self._job, self.follows_position = job, True
        self.session.touch(self)

    def on_solve(self, message: Message) -> None:
        """Begins to read whether the group of a stone is alive."""
        self.check_shown(message)
        game = self.session.position().copy()
        point = game.point(text_of(message, "point"))
        find_part(game, [point])  # which refuses what is no group
        job = Job(game, point)
        self._begin(job)
        self.session.other_problem = None
        self.session.tell("help")
        self._reading = in_background("solver", partial(self._read, job))
        self.session.follow(self._reading, partial(self._ended, job))
        self._ask_network(job)

    def _ask_network(self, job: Job) -> None:
        """Has the network say what it thinks meanwhile, unless the engine thinks about the game."""
        session, engine = self.session, self.played.engine

        def keep(view: GroupView) -> None:
            job.view = view
            session.touch(self)
            session.go_on()

        is_busy = session.task is not None and session.task.is_of_the_game
        if is_busy or engine.network is None or not session.is_ready:
            session.publish(self)
            return
        session.cancel()

        def think(worker: "SearchWorker", request: "SearchRequest") -> GroupView:
            return group_view(worker, replace(request, game=job.game), [job.point])

        session.go_on(Task("life", partial(engine.ask, think), keep))

    def show(self, game: Game, solution: Solution) -> None:
        """Shows the lines of a position of which a solution is known."""
        self._begin(Job(game.copy(), solution.target[0], positions=solution.positions, solution=solution))

    def on_stop_solve(self, _: Message) -> None:
        """Ends the reading; what it has found stays."""
        if self._job is not None:
            self._job.stop.set()

    def on_leave_solve(self, _: Message) -> None:
        """Goes back to the game."""
        self._drop()
        self.session.publish(self)

    def after_beginning(self, *, is_aside: bool) -> None:
        self._drop()

    def after_close(self) -> None:
        self._drop()
        if self._reading is not None:
            wait([self._reading], CLOSING_SECONDS)

    def _read(self, job: Job) -> Solution:
        """Reads on a thread of its own; every change of the job is made on the session's thread."""
        pace = Pace()

        def report(positions: int) -> None:
            if pace.is_due():
                self.session.call(partial(self._show, job, positions))

        return solve(job.game, [job.point], seconds=SECONDS, stop=job.stop, report=report)

    def _show(self, job: Job, positions: int) -> None:
        if job is self._job:
            if not job.positions:  # what was compiled before does not count
                job.began = time.monotonic()
            job.positions = positions
            self.session.publish(self)

    def _ended(self, job: Job, done: Future[Solution]) -> None:
        if job is not self._job:
            return
        if (error := done.exception()) is not None:
            self._job, self.session.other_problem = None, in_words(error)
        else:
            job.solution = done.result()
            job.positions = job.solution.positions
        self.session.publish(self)

    # What pages see.

    def document(self) -> Document:
        job = self._shown
        if job is None:
            return {"life": None}
        found = None if job.solution is None else as_document(job.solution, job.game)
        seconds = time.monotonic() - job.began
        stone, progress = job.game.vertex(job.point), min(1.0, round(seconds / SECONDS, 2))
        life = {"stone": stone, "positions": job.positions, "progress": progress, "found": found}
        return {"life": {**life, "thought": list(map(phrase_parts, job.view.phrases if job.view else ()))}}

    def on_lines(self, message: Message) -> Document:
        """Returns the board after some moves of the lines for one player to move first, with the moves that follow.

        Without a solution, or if the moves are not in its lines, there is no board.
        """
        job, moves = self._shown, message.get("moves")
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise invalid("moves", moves, "a list of vertices")
        first = as_colour(text_of(message, "first"))
        shown: Document = {}
        if job is not None and job.solution is not None:
            shown = _lines_shown(job, job.solution.answers[first], moves) or shown
        return {"type": "line", "of": " ".join(["lines", text_of(message, "first"), *moves]), **shown}


def _lines_shown(job: Job, answer: Answer, moves: Sequence[str]) -> Document | None:
    """Returns a position of the lines; None if these moves are not in them."""
    game, following, line = job.game.copy(), answer.tree, list[Branch]()
    for move in moves:
        found = next((branch for branch in following if game.vertex(branch.point) == move), None)
        if found is None:
            return None
        line.append(found)
        following = found.replies
    game.to_move = answer.first
    outcome = line[-1].outcome if line else answer.outcome
    shapes = dict.fromkeys(job.solution.target, "triangle") if job.solution else {}
    shapes |= {point: "square" for chain in answer.walls for point in chain}
    candidates = [
        Candidate(branch.point, _WORKS if works else _FAILS, is_best=works)  # the ring tells it without colours
        for branch, works in ((branch, branch.outcome is outcome) for branch in following)
        if branch.point != PASS
    ]
    return line_shown(game, [branch.point for branch in line], shapes, candidates)
