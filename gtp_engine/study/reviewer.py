"""Reviews records with the network for their boards, or with rollouts if a board is too large for the network."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from ..base.errors import UserError
from ..base.fields import invalid
from ..engine.settings import EngineSettings
from ..engine.worker import SearchWorker
from ..go.game import Game
from ..go.rules import RULESETS, Rules, as_rules, check_komi, rules_name
from ..go.sgf import GameRecord, SgfError, read_sgf
from .game_review import Conditions, GameReview
from .move_review import Unit
from .reasons.explain import reasons_for, worth_explaining
from .searches import Positions, Searches, look_again, review_moves

# Per position: 200 moves in three minutes. The five seconds of a move in play would take a quarter of an hour.
DEFAULT_SECONDS = 1.0


@dataclass(frozen=True)
class ReviewTask:
    """What to review.

    Attributes:
        record: The record.
        numbers: The numbers of the moves to review; None for all.
        player: The only player whose moves are judged; None for both.
        by: What the cost of a mistake is measured in.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.
    """

    record: GameRecord
    numbers: range | None = None
    player: int | None = None
    by: Unit = "points"
    rules: Rules | None = None
    komi: float | None = None


@dataclass(frozen=True)
class ReviewStep:
    """How far a review is.

    Attributes:
        stage: What is done now: "moves", "again" for the second look at the worst of them, "reasons" for them; then
            "done", or "stopped" if `Reviewer.stopped` ended the review early.
        done: How many moves, positions or reasons have been found in this stage.
        total: How many there are; 0 if that is not known.
        review: What has been found so far.
        error: Why the moves end before the last one; "" if they do not.
    """

    stage: str
    done: int
    total: int
    review: GameReview
    error: str = ""

    def next(self, **found: Any) -> "ReviewStep":
        """Returns the next step of the stage, with what it has found."""
        return replace(self, done=self.done + 1, review=replace(self.review, **found))


class Reviewer:
    """Reviews records by the engine's settings. The network is loaded for the first record that needs it.

    Args:
        settings: Evaluator, limits and search parameters. Without a limit a position is searched for DEFAULT_SECONDS.

    Attributes:
        stopped: Setting it to True, also from a signal handler, ends the review soon.

    Raises:
        UserError: The settings limit searches to one visit, which compares no moves.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.stopped = False
        self._settings = settings
        self._limits = settings.limits(DEFAULT_SECONDS)
        if self._limits.visits == 1:
            expected = "2 or more: the first visit only evaluates the position, and compares no moves"
            raise invalid("number of visits", 1, expected)
        self._worker: SearchWorker | None = None

    def steps(self, task: ReviewTask) -> Iterator[ReviewStep]:
        """Reviews a record: its moves one by one, those that seem to be the worst once more, and why they are mistakes.

        Yields:
            The growing review: at the start of each stage, after each move, position and reason, and at the end.

        Raises:
            UserError: The profile does not suit the network.
            SgfError: The board is too large for the network and the settings are strict.
        """
        record, by = task.record, task.by
        searches = self._searches(record)
        positions = Positions(record, task.rules, task.komi)
        numbers = task.numbers or range(1, len(positions.moves) + 1)
        review = GameReview(record, self._conditions(searches, task), (), task.player, by)
        yield (step := ReviewStep("moves", 0, len(numbers), review))
        for move in review_moves(searches, positions, numbers):
            yield (step := step.next(moves=(*step.review.moves, move)))
        if not self.stopped:
            error = positions.problem if numbers.stop > positions.count else ""
            yield (step := replace(step, stage="again", done=0, total=0, error=error))
            for moves in look_again(searches, positions, step.review.moves, by, task.player):
                yield (step := step.next(moves=moves))
        review = replace(step.review, is_checked=not self.stopped)
        explained = worth_explaining(review.mistakes)
        yield (step := replace(step, stage="reasons", done=0, total=len(explained), review=review))
        for move in explained:
            if self.stopped:
                break
            found = reasons_for(searches, positions[move.number - 1], move, by)
            yield (step := step.next(reasons={**step.review.reasons, move.number: found}))
        yield replace(step, stage="stopped" if self.stopped else "done")

    def _searches(self, record: GameRecord) -> Searches:
        """Returns how the positions of a record are searched: by the evaluator and the parameters of its board."""
        board = record.width, record.height
        settings = self._settings.on_board(*board)
        parameters = settings.search_parameters(settings.network)
        if self._worker is None or settings.network != self._worker.network_name:
            self.close()
            self._worker = settings.new_worker()
            self._worker.warm_up()
            self._worker.announce(parameters)
            self._worker.check_profile(parameters.profile)
        try:
            evaluator, parameters = self._worker.evaluator_on(*board), self._worker.parameters_on(*board, parameters)
        except UserError as error:
            raise SgfError(f"{record.source}: {error}") from error
        evaluator.clear_cache()  # so that a review does not depend on the games reviewed before
        return Searches(evaluator, parameters, self._limits, settings.seed, lambda: self.stopped)

    def _conditions(self, searches: Searches, task: ReviewTask) -> Conditions:
        """Returns how a record is reviewed."""
        used = task.rules or task.record.game_rules() or RULESETS["chinese"]
        return Conditions(
            network=searches.evaluator.name,
            precision=getattr(searches.evaluator, "precision", ""),
            limits=self._limits,
            seed=searches.seed,
            rules=rules_name(used) or used.to_json(),
            komi=(task.record.komi or 0.0) if task.komi is None else task.komi,
        )

    def close(self) -> None:
        """Closes the network, and the rollouts for boards too large for it."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def review(
    game: GameRecord | Game | str | os.PathLike[str],
    settings: EngineSettings | None = None,
    *,
    rules: Rules | str | None = None,
    komi: float | None = None,
) -> GameReview:
    """Reviews a game: every position of the main line is searched, and those of the most costly moves once more.

    The reasons for the most costly mistakes are found by further searches.

    Args:
        game: A record, a game, or an SGF file.
        settings: How to search; None for the defaults. Without visits and seconds each position is searched for 1 s.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.

    Raises:
        UserError: The network is not found, or an argument is invalid.
        SgfError: The record cannot be read or replayed, or has no moves.
        OSError: The file cannot be read.
    """
    if isinstance(game, GameRecord):
        record = game
    elif isinstance(game, Game):
        record = GameRecord.from_game(game)
    elif isinstance(game, str | os.PathLike):
        record = read_sgf(game)
    else:
        raise invalid("game", game, "a GameRecord, a Game, or an SGF file")
    if not isinstance(settings, EngineSettings | None):
        raise invalid("settings", settings, "EngineSettings, such as EngineSettings(visits=100)")
    chosen_rules = None if rules is None else as_rules(rules)
    if komi is not None:
        check_komi(komi)
    if not record.moves:
        raise SgfError(f"{record.source}: there are no moves to review")
    record.to_game(rules=chosen_rules)  # an unplayable record is reported before the engine starts
    reviewer = Reviewer(settings or EngineSettings())

    def run() -> GameReview:
        try:
            *_, last = reviewer.steps(ReviewTask(record, rules=chosen_rules, komi=komi))
            return last.review
        finally:
            reviewer.close()

    # On a thread of its own, so that torch's settings elsewhere stay as they are.
    with ThreadPoolExecutor(1, "review") as thread:
        reviewed = thread.submit(run)
        try:
            return reviewed.result()
        finally:
            reviewer.stopped = True  # Ctrl-C ends the review soon
