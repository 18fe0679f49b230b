"""What a player learns right after a game, or in the middle of it: the moves that cost most, and why moves were played.

Both are reviews of a few seconds. How their figures are found and what has to confirm a sentence is as in any review.
"""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from ..base.threads import in_background
from ..engine.settings import EngineSettings
from ..go.game import Game
from ..go.sgf import GameRecord
from ..search.evaluate.choices import AUTO
from .budget import usual_seconds
from .game_review import GameReview
from .move_review import Mistake
from .reviewer import Reviewer, ReviewStep, ReviewTask

MISTAKES = 3  # in the lesson after a game
_SEED = 1  # that of `gtp_engine review`
# Of the usual time of a review: 4 s on 9x9, 8 on 13x13, 17 on 19x19, and the network has to be loaded before.
_SHARE = 0.2
_WHY_SECONDS = 3.0


class Lesson:
    """A short review of the game that is being played or has just ended, on a thread of its own."""

    def __init__(self, task: ReviewTask, settings: EngineSettings, seconds: float) -> None:
        """Prepares it.

        Args:
            task: What to review.
            settings: The engine's; see `teacher`.
            seconds: How long the searches may take.
        """
        self._task = task
        self._reviewer = Reviewer(replace(teacher(settings), seed=_SEED), seconds / 60)

    def start(self) -> "Future[GameReview]":
        """Begins it and returns what will be found."""
        return in_background("lesson", self._run)

    def stop(self) -> None:
        """Ends it soon; what has been found by then counts."""
        self._reviewer.stopped = True

    def _run(self) -> GameReview:
        try:
            *_, last = self._steps()
            return last.review
        finally:
            self._reviewer.close()

    def _steps(self) -> Iterator[ReviewStep]:
        for step in self._reviewer.steps(self._task):
            yield step
            # What follows is an estimate of the rank.
            if not self._task.purposes and step.stage == "reasons" and step.done >= step.total:
                return


def teacher(settings: EngineSettings) -> EngineSettings:
    """Returns the settings that judge games: those of the engine at full strength, without limits.

    The default network judges if the engine's imitates people, and so their mistakes as well.
    """
    if not settings.search_parameters(settings.network).profile:
        return replace(settings, rank=None, visits=None, seconds=None)
    machine: dict[str, Any] = {name: getattr(settings, name) for name in ("device", "precision", "threads")}
    return EngineSettings(AUTO, **machine)


def after_game(game: Game, settings: EngineSettings, player: int | None) -> Lesson:
    """Returns the lesson about a finished game: the `MISTAKES` that have cost a player most; None for both players."""
    task = ReviewTask(GameRecord.from_game(game), player=player, most=MISTAKES)
    return Lesson(task, settings, lesson_seconds(game.width, game.height, len(game.moves)))


def lesson_seconds(width: int, height: int, moves: int) -> float:
    """Returns how long the searches of the lesson after a game may take."""
    return _SHARE * usual_seconds(width, height, moves)


def about_last_moves(game: Game, settings: EngineSettings) -> Lesson:
    """Returns the lesson about the last move of each player: whether it was a mistake and why, or what it does."""
    last = len(game.moves)
    task = ReviewTask(GameRecord.from_game(game), range(max(1, last - 1), last + 1), purposes=True)
    return Lesson(task, settings, _WHY_SECONDS)


def worst_mistakes(review: GameReview) -> list[Mistake]:
    """Returns the mistakes of a lesson, the most costly first: only what a second look has confirmed."""
    return [mistake for mistake in review.mistakes if mistake.worst.is_checked][:MISTAKES]
