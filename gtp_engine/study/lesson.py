"""What a player learns right after a game, or in the middle of it: the moves that cost most, and why moves were played.

Both are reviews of a few seconds; the page's whole reviews run here, too. How their figures are found, and what has to
confirm a sentence, is as in any review.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from typing import Any

from ..base.threads import in_background
from ..engine.ranks import as_rank
from ..engine.settings import EngineSettings
from ..search.evaluate.choices import AUTO
from .budget import usual_seconds
from .game_review import GameReview
from .known_reports import KnownReports
from .move_review import Mistake
from .reviewer import Reviewer, ReviewStep, ReviewTask

# In the lesson after a game, and in a beginner's, whom many mistakes would discourage: by judgement.
MISTAKES, _BEGINNERS_MISTAKES = 5, 3
_SEED = 1  # that of `gtp_engine review`
# Of the usual time of a review: 4 s on 9x9, 7 on 13x13, 16 on 19x19, and the network has to be loaded before.
_SHARE = 0.2
_WHY_SECONDS = 3.0


class GameStudy:
    """A review of the game that is being played or has just ended, on a thread of its own.

    Attributes:
        task: What is reviewed.
    """

    def __init__(
        self,
        task: ReviewTask,
        settings: EngineSettings,
        *,
        seconds: float | None = None,
        visits: int | None = None,
        known: KnownReports | None = None,
    ) -> None:
        """Prepares it.

        Args:
            task: What to review.
            settings: The engine's; see `_teacher`.
            seconds: How long the searches may take; None for the usual time of a review.
            visits: The visits of each position, instead of a time.
            known: What reviews of this game have searched, and will have.
        """
        self.task = replace(task, rank=as_rank(settings.rank))
        self._reviewer = Reviewer(
            replace(_teacher(settings), visits=visits, seed=_SEED),
            None if seconds is None else seconds / 60,
            known=known,
        )

    def start(self, follow: Callable[[ReviewStep], object] = lambda step: None) -> "Future[GameReview]":
        """Begins it and returns what will be found; `follow` gets each step, on the thread of the review."""
        return in_background("review", lambda: self._run(follow))

    def stop(self) -> None:
        """Ends it soon; what has been found by then counts."""
        self._reviewer.stopped = True

    def _run(self, follow: Callable[[ReviewStep], object]) -> GameReview:
        with closing(self._reviewer):
            for step in self._reviewer.steps(self.task):
                follow(step)
            return step.review


def _teacher(settings: EngineSettings) -> EngineSettings:
    """Returns the settings that judge games: those of the engine at full strength, without limits.

    The default network judges if the engine's imitates people, and so their mistakes as well.
    """
    if not settings.search_parameters(settings.network).profile:
        return replace(settings, rank=None, visits=None, seconds=None)
    machine: dict[str, Any] = {name: getattr(settings, name) for name in ("device", "precision", "threads")}
    return EngineSettings(AUTO, **machine)


def after_game(task: ReviewTask, settings: EngineSettings, known: KnownReports | None = None) -> GameStudy:
    """Returns the lesson about a finished game: the mistakes that mattered most to the player of the task."""
    record = task.record
    seconds = _SHARE * usual_seconds(record.width, record.height, len(record.moves))
    task = replace(task, most=MISTAKES, estimates_ranks=False)
    return GameStudy(task, settings, seconds=seconds, known=known)


def about_moves(
    task: ReviewTask, settings: EngineSettings, known: KnownReports | None = None, number: int | None = None
) -> GameStudy:
    """Returns a review of a move of a task's record, or of the last of each player.

    It tells whether the move was a mistake and why, or what it does.
    """
    last = len(task.record.moves)
    numbers = range(number, number + 1) if number else range(max(1, last - 1), last + 1)
    task = replace(task, numbers=numbers, purposes=True, estimates_ranks=False)
    return GameStudy(task, settings, seconds=_WHY_SECONDS, known=known)


def worst_mistakes(review: GameReview) -> list[Mistake]:
    """Returns the mistakes of a lesson, the most important first: only what a second look has confirmed."""
    most = _BEGINNERS_MISTAKES if review.level.is_beginners else MISTAKES
    return [mistake for mistake in review.mistakes if mistake.worst.is_checked][:most]
