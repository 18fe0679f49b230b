"""The review of the main line, in the background: the game can be looked at and played on meanwhile.

It has a thread and an evaluator of its own, so that it need not share the engine's searches.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ...base.errors import UserError
from ...go.coords import colour_name
from ...go.drawing import Candidate
from ...go.sgf import TreeNode
from .part import MOST_NODES, Drawn, Message, Part, in_words, line_shown, phrase_parts, visits_of, whole_number
from .playing import Playing
from .session import Session

if TYPE_CHECKING:
    from ...study.game_review import Reason
    from ...study.move_review import Mistake, MoveReview
    from ...study.reviewer import Reviewer, ReviewStep, ReviewTask

DEFAULT_VISITS = 100  # 250 moves then take about a minute on two cores with the bundled network
_SEED = 1  # that of `gtp_engine review`: a review that is repeated shows the same mistakes
_LISTED = 10  # mistakes, as many as the summary of `gtp_engine review` has
_PUBLISH_SECONDS = 0.3
_CLOSING_SECONDS = 5.0
_BEST = "#5cc48d"  # the colour of the better move on the board


@dataclass(eq=False)
class Job:
    """A review and how far it is.

    Attributes:
        reviewer: Makes it.
        task: The main line when it was begun.
        positions: The node of the position after each number of moves.
        moves: The nodes of the moves in order.
        step: How far it is; None before the network is there.
        stage: The stage of that step; "stopped" too if the review has failed.
    """

    reviewer: "Reviewer"
    task: "ReviewTask"
    positions: Sequence[TreeNode]
    moves: Sequence[TreeNode]
    step: "ReviewStep | None" = None
    stage: str = "moves"

    @property
    def is_running(self) -> bool:
        """Whether it goes on."""
        return self.stage not in ("done", "stopped")

    @property
    def mistakes(self) -> "list[Mistake]":
        """The worst moves; none before the second look at them has ended."""
        if self.step is None or self.step.stage in ("moves", "again"):
            return []
        return self.step.review.mistakes[:_LISTED]

    def reasons(self, mistake: "Mistake") -> "Sequence[Reason]":
        """Returns why a move is a mistake, as far as that is known."""
        return self.step.review.reasons.get(mistake.worst.number, ()) if self.step else ()


class Reviewing(Part):
    """The review of the present game.

    Attributes:
        job: The review; None if there is none.
    """

    def __init__(self, session: Session, playing: Playing) -> None:
        super().__init__(session)
        self.playing = playing
        self.job: Job | None = None
        self._thread: threading.Thread | None = None
        self._published = 0.0

    @property
    def is_studying(self) -> bool:
        return self.job is not None and self.job.is_running

    def on_review(self, message: Message) -> None:
        """Begins to review the main line."""
        from ...study.reviewer import Reviewer, ReviewTask  # later than the first board

        session = self.session
        if self.is_studying:
            raise UserError("the review is running")
        if not session.is_ready:
            raise UserError("the engine is getting ready: review the game when it is")
        tree, engine = session.played.tree, session.played.engine
        line = tree.main_line
        moves = [node for node in line if node.move is not None]
        if not moves:
            raise UserError("there are no moves to review")
        visits = visits_of(message) or DEFAULT_VISITS
        reviewer = Reviewer(replace(engine.settings, rank=None, visits=visits, seconds=None, seed=_SEED))
        self.playing.end_guessing()
        self.problem = None
        positions = [*(node.parent or node for node in moves), line[-1]]
        task = ReviewTask(tree.copy(), rules=engine.rules, komi=engine.komi)
        job = self.job = Job(reviewer, task, positions, moves)
        self._thread = threading.Thread(target=self._run, args=(job,), name="review", daemon=True)
        self._thread.start()
        session.publish()

    def on_stop_review(self, _: Message) -> None:
        """Ends the review; what it has found stays."""
        if self.job is not None:
            self.job.reviewer.stopped = True

    def forget_game(self) -> None:
        self.on_stop_review({})
        self.job = None

    def close(self) -> None:
        self.on_stop_review({})
        if self._thread is not None:
            self._thread.join(_CLOSING_SECONDS)

    def _run(self, job: Job) -> None:
        """Makes the review on a thread of its own; every change of the job is made on the session's thread."""
        try:
            for step in job.reviewer.steps(job.task):
                self.session.call(partial(self._show, job, step))
        except Exception as error:  # on another thread nobody else would report it
            self.session.call(partial(self._show, job, problem=in_words(error)))
        finally:
            job.reviewer.close()

    def _show(self, job: Job, step: "ReviewStep | None" = None, problem: str | None = None) -> None:
        """Keeps what a review has found, and publishes it, but not too often."""
        if job is not self.job:
            return
        stage = "stopped" if step is None else step.stage
        is_due = stage != job.stage or time.monotonic() - self._published > _PUBLISH_SECONDS
        job.stage, self.problem = stage, problem
        if step is not None:
            job.step = step
            if stage in ("moves", "again"):
                self._note(job, step.review.moves[-1:] if stage == "moves" else step.review.moves)
        if is_due:
            self._published = time.monotonic()
            self.session.publish()

    def _note(self, job: Job, moves: "Sequence[MoveReview]") -> None:
        """Keeps the values of the positions before and after moves."""
        for move in moves:
            self.session.values.note(move.before, job.positions[move.number - 1])
            self.session.values.note(move.after, job.positions[move.number])

    def _mistake(self) -> "Mistake | None":
        """Returns the mistake that the move of the node that is shown is; None if it is not listed as one."""
        job, node = self.job, self.session.node
        if job is None:
            return None
        return next((found for found in job.mistakes if job.moves[found.worst.number - 1] is node), None)

    def drawn(self) -> Drawn:
        mistake = self._mistake()
        if mistake is None:
            return Drawn()
        worst = mistake.worst
        candidates = [Candidate(worst.best, _BEST, is_best=True)] if self.session.report is None else []
        return Drawn(self.loss_label(worst.move.point, worst.points_loss), candidates)

    def on_reason(self, message: Message) -> dict[str, Any]:
        """Returns the board with the better line of the mistake that is shown, or with that of a reason for it.

        The board has no line if that one no longer exists, for example because another review has begun meanwhile.
        """
        session, lines = self.session, self._lines()
        number = whole_number(message, "number", 0, MOST_NODES)
        parent = session.node.parent
        is_known = parent is not None and number < len(lines)
        shown = line_shown(session.position(parent), lines[number]) if is_known else session.shown_position()
        return {"type": "line", "of": f"reason {number}", **shown}

    def _lines(self) -> list[Sequence[int]]:
        """Returns the better line of the mistake that is shown, then those of the reasons; none if none is shown."""
        mistake = self._mistake()
        if mistake is None or self.job is None:
            return []
        return [mistake.worst.better_line, *(reason.line for reason in self.job.reasons(mistake))]

    def state(self) -> dict[str, Any]:
        job = self.job
        if job is None:
            return {"review": None}
        places = {node: place for place, node in enumerate(self.session.line)}
        review = {
            "stage": job.stage,
            "done": job.step.done if job.step else 0,
            "total": job.step.total if job.step else len(job.moves),
            "mistakes": [_mistake(job, mistake, places) for mistake in job.mistakes],
        }
        return {"review": review}


def _mistake(job: Job, mistake: "Mistake", places: Mapping[TreeNode, int]) -> dict[str, Any]:
    """Returns a mistake, with its place in the line that is shown; None as its place if it is in another variation."""
    worst, node = mistake.worst, job.moves[mistake.worst.number - 1]
    return {
        "node": node.number,
        "place": places.get(node),
        "number": worst.number,
        "colour": colour_name(worst.move.colour),
        "move": worst.vertex(worst.move.point),
        "points": round(worst.points_loss, 1),
        "best": worst.vertex(worst.best),
        "reasons": [phrase_parts(reason.sentence) for reason in job.reasons(mistake)],
    }
