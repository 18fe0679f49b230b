"""The review of the main line, the lesson at the end of a game, and the way back to a reviewed game.

A review has a thread and an evaluator of its own, so that the game can be looked at and played on meanwhile.
"""

from collections.abc import Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ...base.errors import UserError
from ...base.fields import Words
from ...base.threads import in_background
from ...go.coords import as_colour, colour_name
from ...go.drawing import Candidate
from ...go.sgf import GameRecord, TreeNode
from ...study.move_review import whole
from ...table.database import Database
from ...table.game_index import game_key
from ...table.played_game import Mode
from ...table.saved_games import GameFile, called, open_tree
from .opening import Opening
from .position import line_shown
from .session import (
    CLOSING_SECONDS,
    MOST_NODES,
    Document,
    Drawn,
    Message,
    Pace,
    Part,
    Session,
    in_words,
    phrase_parts,
    visits_of,
    whole_number,
)
from .studying import label_loss

if TYPE_CHECKING:
    from ...study.game_review import GameReview, Reason
    from ...study.known_reports import KnownReports
    from ...study.lesson import GameStudy
    from ...study.move_review import Mistake, MoveReview
    from ...study.reviewer import ReviewStep
    from ...study.stored_reviews import Stored

_BEST = "#5cc48d"  # the colour of the better move on the board


@dataclass(eq=False)
class Job:
    """A review of the main line as it was then, and how far it is."""

    study: "GameStudy | None"  # None for a review that was kept
    tree: GameRecord  # the reviewed game
    file: GameFile
    positions: Sequence[TreeNode]  # the node of the position after each number of moves
    moves: Sequence[TreeNode]  # the nodes of the moves in order
    is_lesson: bool  # whether it is the lesson at the end of a game
    step: "ReviewStep | None" = None  # how far it is; None before the network is there
    stage: str = "moves"  # the stage of that step; "stopped" too if the review has failed
    left_at: TreeNode | None = None  # the node that was shown when another game took the place of this one
    players: Sequence[Document] = ()  # how well they played, once it has ended

    @property
    def mistakes(self) -> "dict[TreeNode, Mistake]":
        """The worst moves by their nodes; none before the second look at them has ended."""
        if self.step is None or self.step.stage in ("moves", "again"):
            return {}
        from ...study.lesson import worst_mistakes  # later than the first board
        from ...study.move_review import LISTED

        review = self.step.review
        found = worst_mistakes(review) if self.is_lesson else review.mistakes[:LISTED]
        return {self.moves[each.worst.number - 1]: each for each in found}

    @property
    def is_for_beginners(self) -> bool:
        """Whether it is a lesson that first tells what was good, and has no figures of the players."""
        return self.is_lesson and self.step is not None and self.step.review.level.is_beginners

    def reasons(self, move: "MoveReview") -> "Sequence[Reason]":
        """Returns what there is to say about a move, as far as that is known."""
        return self.step.review.reasons.get(move.number, ()) if self.step else ()


class Reviewing(Part):
    """The review of the present game, and that of the game before."""

    name, follows_position = "review", False

    def __init__(self, session: Session, opening: Opening, database: Database) -> None:
        super().__init__(session)
        self._opening, self._database = opening, database
        self.job: Job | None = None  # that of the present game
        # The review of a game that was left for a problem, or to try a move again.
        self.aside: Job | None = None
        self._known: KnownReports | None = None
        self._running: Future[GameReview] | None = None
        self._keeping: Future[None] | None = None  # what was found
        self._pace = Pace()

    @property
    def known(self) -> "KnownReports":
        """What reviews of this game, and of the one that it began in, have searched: one figure for one mistake."""
        from ...study.known_reports import KnownReports  # later than the first board

        self._known = self._known or KnownReports()
        return self._known

    @property
    def is_studying(self) -> bool:
        return self.job is not None and self.job.stage not in ("done", "stopped")

    def on_review(self, message: Message) -> None:
        """Begins to review the main line."""
        if self.is_studying:
            raise UserError("the review is running")
        if not self.session.is_ready:
            raise UserError("the engine is getting ready: review the game when it is")
        if not self.played.tree.moves:
            raise UserError("there are no moves to review")
        visits = visits_of(message)  # without them the review takes the usual time of the board
        colour = Words(("both", "black", "white")).parse("colour", message.get("colour", "both"))
        player = None if colour == "both" else as_colour(colour)
        self.session.tell("help")
        self._begin(player, visits=visits)
        self.session.publish()

    def after_end(self) -> None:
        """Begins the lesson about a game that a person has played against the engine."""
        played, (person, *others) = self.played, self.played.humans
        has_moved = any(move.colour == person for move in played.node.moves[played.given :])
        is_taught = self.job is not None and self.job.is_lesson and self.job.positions[-1] is played.node
        can_teach = self.session.is_ready and played.engine.network is not None
        if not others and has_moved and can_teach and not is_taught:
            self.on_stop_review({})
            self._begin(person, is_lesson=True)

    def _begin(self, player: int | None, *, visits: int | None = None, is_lesson: bool = False) -> None:
        """Begins a review, or the lesson of a player; the moves of the others are not judged."""
        from ...study.lesson import GameStudy, after_game  # later than the first board
        from ...study.reviewer import ReviewTask

        tree, engine = self.played.update_record(is_copy=True), self.played.engine
        numbers = self.played.numbers if is_lesson else None
        task = ReviewTask(tree.copy(), numbers, player, engine.rules, engine.komi)
        if is_lesson:
            study = after_game(task, engine.settings, self.known)
        else:
            study = GameStudy(task, engine.settings, visits=visits, known=self.known)
        job = self.job = self._job(study, is_lesson=is_lesson)
        self.session.other_problem, self.draws = None, True
        self._touch()
        # Every change of the job is made on the session's thread.
        self._running = study.start(lambda step: self.session.call(partial(self._show, job, step)))
        self.session.follow(self._running, partial(self._ended, job))

    def _job(self, study: "GameStudy | None", *, is_lesson: bool) -> Job:
        """Returns a review of the present game."""
        tree = self.played.tree
        moves = [node for node in tree.main_line if node.move is not None]
        positions = [*(node.parent or node for node in moves), tree.main_line[-1]]
        return Job(study, tree, self.played.file, positions, moves, is_lesson)

    def on_stop_review(self, _: Message) -> None:
        """Ends the review; what it has found stays."""
        if self.job is not None and self.job.study is not None:
            self.job.study.stop()

    def _touch(self) -> None:
        """Follows a change of what is known: it is shown, and also drawn."""
        self.session.touch()
        self.session.touch(self)

    def after_undo(self) -> None:
        """Drops the lesson of a game that goes on."""
        if self.job is not None and self.job.is_lesson:
            self.on_stop_review({})
            self.job = None
            self._touch()

    def after_beginning(self, *, is_aside: bool) -> None:
        self.on_stop_review({})
        if self.job is not None:
            self.job.left_at = self.session.node
        self.aside = (self.job or self.aside) if is_aside else None
        self._known = self._known if is_aside else None
        self.job = None
        if self.played.mode is Mode.RECORD and not is_aside:
            self._find_kept(self.session.tree_number)

    def _find_kept(self, number: int) -> None:
        """Shows the review of the present game if one is kept, as soon as it has been read."""
        key, database = game_key(self.played.tree), self._database
        if not database.rows("SELECT 1 FROM reviews WHERE key = ?", key):
            return

        def read() -> "Stored | None":
            from ...study.stored_reviews import find_review

            return find_review(database, key)

        def show(done: "Future[Stored | None]") -> None:
            if (stored := done.result()) is not None and number == self.session.tree_number and self.job is None:
                from ...study.reviewer import ReviewStep

                self.session.tell("help")
                self.job, self.draws = self._job(None, is_lesson=stored.is_lesson), True
                self._show(self.job, ReviewStep("done", 0, 0, stored.review, progress=1.0))

        self.session.follow(in_background("kept review", read), show)

    def on_back(self, _: Message) -> None:
        """Goes back to the reviewed game that was left."""
        job, known = self.aside, self._known
        if job is None:
            raise UserError("there is no reviewed game to go back to")
        saved = open_tree(job.tree, job.file.path)
        self._opening.load(saved if saved.is_own else saved.as_record())
        if self.played.file.path is not None:
            self.played.file = job.file  # which knows what was last saved there, and so what others have changed
        self.job, self._known = job, known
        self._note(job)
        self._touch()
        self.session.look_at(self.session.node if job.left_at is None or job.left_at.is_gone else job.left_at)

    def after_close(self) -> None:
        self.on_stop_review({})
        running: list[Future[Any]] = [each for each in (self._running, self._keeping) if each is not None]
        wait(running, CLOSING_SECONDS)

    def _show(self, job: Job, step: "ReviewStep") -> None:
        """Keeps what a review has found, and publishes it, but not too often."""
        is_new = step.stage != job.stage
        job.step, job.stage = step, step.stage
        if step.stage == "done":
            from ...study.stored_reviews import keep_review  # later than the first board

            job.players = [] if job.is_for_beginners else _players(step.review)
            if job.study is not None:
                keep = partial(keep_review, self._database, step.review, is_lesson=job.is_lesson)
                self._keeping = in_background("keeping a review", keep)
                self.session.follow(self._keeping, self._tell_kept)
        if job is not self.job:
            return
        if step.stage == "moves":
            self._note(job, -1)
        elif step.stage == "again" or is_new:
            self._note(job)
        self._touch()
        if self._pace.is_due() or is_new:
            self.session.publish()

    def _tell_kept(self, done: "Future[None]") -> None:
        """Says why a review could not be kept."""
        done.result()
        if self._database.notice:
            self.session.other_problem = self._database.notice
            self.session.publish()

    def _ended(self, job: Job, done: "Future[GameReview]") -> None:
        """Follows the end of a review, which may have failed."""
        if (error := done.exception()) is None:
            return
        job.stage = "stopped"
        if job is self.job:
            self.session.other_problem = in_words(error)
            self.session.publish(self)

    def _note(self, job: Job, first: int = 0) -> None:
        """Notes the values of what a review has found, from this move on."""
        review = job.step.review if job.step else None
        for move in review.searched[first:] if review else ():
            self.values.note(move.before, job.positions[move.number - 1])
            self.values.note(move.after, job.positions[move.number])
        for move in review.moves if review and review.is_checked else ():
            self.values.reviewed[job.moves[move.number - 1]] = move.points_loss
        if review is not None and job.stage in ("done", "stopped"):
            for move in review.searched:
                for number, report in enumerate((move.before, move.after), move.number - 1):
                    self.values.agree(job.positions[number], report)

    def mistake(self) -> "Mistake | None":
        """Returns the mistake that the move of the node that is shown is; None if it is not listed as one."""
        return self.job.mistakes.get(self.session.node) if self.job else None

    def draw(self, drawn: Drawn) -> None:
        mistake = self.mistake()
        if mistake is not None:
            worst = mistake.worst
            label_loss(drawn, self.session.position(), worst.move, worst.points_loss)
            if self.session.report is None:
                drawn.candidates.append(Candidate(worst.best, _BEST, is_best=True))

    def on_reason(self, message: Message) -> Document:
        """Returns the board with the better line of the mistake that is shown, or with that of a reason for it.

        There is no board if the line no longer exists, for example because another review has begun meanwhile.
        """
        session, mistake, lines = self.session, self.mistake(), list[Sequence[int]]()
        number = whole_number(message, "number", 0, MOST_NODES)
        if mistake is not None and self.job is not None:
            worst = mistake.worst
            lines = [worst.better_line, *(reason.line or (worst.move.point,) for reason in self.job.reasons(worst))]
        parent = session.node.parent
        is_known = parent is not None and number < len(lines)
        shown = line_shown(session.position(parent), lines[number]) if is_known else {}
        return {"type": "line", "of": f"reason {number}", **shown}

    def document(self) -> Document:
        job, has_aside = self.job, self.aside is not None
        if job is None:
            return {"job": None, "hasAside": has_aside}
        described = {
            "isLesson": job.is_lesson,
            "stage": job.stage,
            "done": job.step.done if job.step else 0,
            "total": job.step.total if job.step else len(job.moves),
            "progress": round(job.step.progress, 3) if job.step else 0,
            "mistakes": [self._mistaken(job, mistake.worst) for mistake in job.mistakes.values()],
            "praised": [self._told(job, move) for move in job.step.review.praised_moves] if job.step else [],
            "praisesFirst": job.is_for_beginners,
            "players": job.players,
        }
        return {"job": described, "hasAside": has_aside}

    def _told(self, job: Job, move: "MoveReview") -> Document:
        """Returns where a move of the review was played, and what there is to say about it."""
        return {
            "node": job.moves[move.number - 1].number,
            "number": move.number,
            "colour": colour_name(move.move.colour),
            "move": move.vertex(move.move.point),
            "reasons": [phrase_parts(reason.sentence) for reason in job.reasons(move)],
        }

    def _mistaken(self, job: Job, worst: "MoveReview") -> Document:
        return {**self._told(job, worst), "points": whole(worst.points_loss), "best": worst.vertex(worst.best)}


def _players(review: "GameReview") -> list[Document]:
    """Returns how well the players played: means for a move, and for one of each phase, None for an unknown one."""
    from ...study.move_review import Phase
    from ...study.page.words import PHASES

    names, found = called(review.record), list[Document]()
    phases = Phase.on(review.record.width, review.record.height)
    for colour, figures in review.figures().items():
        numbers = figures.all
        parts = ((phase, figures.phases.get(phase)) for phase in phases)
        found.append(
            {
                "colour": colour_name(colour),
                "name": phrase_parts(names[colour]) if colour in names else figures.name,
                "moves": numbers.moves,
                "accuracy": numbers.accuracy / 100,
                "lost": numbers.points_lost,
                "phases": {PHASES[phase]: part and part.points_lost for phase, part in parts},
                "firstChoice": numbers.first_choice / numbers.moves,
                "rank": figures.rank and phrase_parts(figures.rank.in_words),
            }
        )
    return found
