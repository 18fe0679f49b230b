"""Reviews records with the network for their boards, or with rollouts if a board is too large for the network."""

import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.fields import invalid
from ..engine.settings import EngineSettings
from ..engine.worker import SearchWorker
from ..go.game import Game
from ..go.rules import RULESETS, Rules, as_rules, check_komi, rules_name
from ..go.sgf import GameRecord, SgfError, read_sgf
from ..nets.library import default_networks, network_name
from ..search.evaluate.choices import LARGEST_BOARD, network_on
from ..search.evaluate.evaluator import Evaluator
from ..search.parameters import SearchParameters
from .game_review import Conditions, GameReview
from .mistakes import Unit
from .reasons.explain import Explainer, worth_explaining
from .record_searches import RecordSearches
from .review import review_moves
from .second_look import look_again

logger = logging.getLogger(__name__)

# Per position: 200 moves in three minutes. The five seconds of a move in play would take a quarter of an hour.
DEFAULT_SECONDS = 1.0
# A network that anybody can download, for games that the bundled ones are too small for.
STRONG_NETWORK = "kata1-b18c384nbt"


def small_networks() -> dict[str, Path]:
    """Returns the files of the bundled networks for full boards, by the names with which they can be chosen."""
    return {str(path): path for path, (_, largest) in default_networks().items() if largest == LARGEST_BOARD}


def network_advice(network: str, width: int, height: int) -> str:
    """Returns a line on how far the bundled network for full boards can be trusted; empty for other networks.

    Args:
        network: The evaluator (`evaluate.factory`).
        width: The number of columns.
        height: The number of rows.
    """
    file = network_on(network, width, height)
    bundled = small_networks()
    if file not in bundled:
        return ""
    return (
        f"{network_name(bundled[file])} is a small network that misses much, above all in fights of large groups. "
        f"For reliable reviews add --network {STRONG_NETWORK}, from https://katagotraining.org/networks/."
    )


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
        searches = self._searches(task)
        searches.evaluator.clear_cache()  # so that a review does not depend on the games reviewed before
        review = GameReview(task.record, self._conditions(searches), (), task.player, task.by)
        yield (step := ReviewStep("moves", 0, len(task.record.moves if task.numbers is None else task.numbers), review))
        try:
            for move in review_moves(searches, task.numbers):
                yield (step := _next(step, moves=(*step.review.moves, move)))
        except SgfError as error:
            step = replace(step, error=str(error))
        if not self.stopped:
            yield (step := replace(step, stage="again", done=0, total=0))
            for moves in look_again(searches, step.review.moves, task.by, task.player):
                yield (step := _next(step, moves=moves))
        review = replace(step.review, is_checked=not self.stopped)
        explained = worth_explaining(review.mistakes)
        yield (step := replace(step, stage="reasons", done=0, total=len(explained), review=review))
        explainer = Explainer(
            searches.evaluator, searches.parameters, searches.limits, searches.seed, searches.is_stopped
        )
        for move in explained:
            if self.stopped:
                break
            found = explainer.reasons(searches.game_at(move.number - 1), move, task.by)
            yield (step := _next(step, reasons={**step.review.reasons, move.number: found}))
        yield replace(step, stage="stopped" if self.stopped else "done")

    def _searches(self, task: ReviewTask) -> RecordSearches:
        evaluator, parameters = self._evaluator_for(task.record)
        return RecordSearches(
            task.record,
            evaluator,
            parameters,
            self._limits,
            self._settings.seed,
            task.rules,
            task.komi,
            lambda: self.stopped,
        )

    def _conditions(self, searches: RecordSearches) -> Conditions:
        """Returns how a record is reviewed."""
        record, evaluator = searches.record, searches.evaluator
        used = searches.rules or record.game_rules() or RULESETS["chinese"]
        return Conditions(
            network=evaluator.name,
            precision=getattr(evaluator, "precision", ""),
            limits=self._limits,
            seed=self._settings.seed,
            rules=rules_name(used) or used.to_json(),
            komi=(record.komi or 0.0) if searches.komi is None else searches.komi,
        )

    def _evaluator_for(self, record: GameRecord) -> tuple[Evaluator, SearchParameters]:
        """Returns the evaluator of a record's board with the parameters that suit it."""
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
            return self._worker.evaluator_on(*board), self._worker.parameters_on(*board, parameters)
        except UserError as error:
            raise SgfError(f"{record.source}: {error}") from error

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
    record = _record(game)
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


def _record(game: object) -> GameRecord:
    """Returns the record of what is to be reviewed."""
    if isinstance(game, GameRecord):
        return game
    if isinstance(game, Game):
        return GameRecord.from_game(game)
    if isinstance(game, str | os.PathLike):
        return read_sgf(game)
    raise invalid("game", game, "a GameRecord, a Game, or an SGF file")


def _next(step: ReviewStep, **found: Any) -> ReviewStep:
    """Returns the next step of a stage, with what it has found."""
    return replace(step, done=step.done + 1, review=replace(step.review, **found))
