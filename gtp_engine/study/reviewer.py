"""Reviews records with the network for their boards, or with rollouts if a board is too large for the network."""

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

from ..base.errors import UserError
from ..base.fields import Range, invalid
from ..base.languages.texts import Phrase
from ..base.threads import on_own_thread
from ..engine.ranks import Rank
from ..engine.settings import EngineSettings, as_settings
from ..go.game import Game
from ..go.rules import Rules, as_rules, check_komi, rules_name
from ..go.sgf import GameRecord, SgfError, read_sgf, terms_of
from ..search.request import Limits, SearchRequest
from ..search.scheduler import run_search
from ..search.search import Search
from ..solver.ahead import begin as begin_solver
from ..solver.ahead import is_compiling
from ..solver.ahead import prepare as prepare_solver
from .board_searches import BoardSearches
from .budget import Plan, later_work, usual_seconds
from .game_review import Conditions, GameReview, Reason
from .known_reports import KnownReports, position_key
from .level import level_of
from .move_review import LEAST_POINTS, LISTED, MoveReview, worth
from .rank_estimate import estimate_ranks
from .reasons.explain import REASON_WORK, caught_in_a_ladder, explain, find_purpose, next_to_explain
from .reasons.praise import find_praise
from .reasons.recurring import find_recurring
from .searches import SECOND_LOOK_FACTOR, Positions, Searches, look_again, review_moves

MINUTES = Range(0, above=True)
_MEASURED = Limits(visits=128, seconds=0.3)  # before the review, to know the speed


@dataclass(frozen=True)
class ReviewTask:
    """What to review.

    Attributes:
        record: The record.
        numbers: The numbers of the moves to review; None for all.
        player: The only player whose moves are judged; None for both.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.
        most: How many of the worst mistakes are looked at again and explained; None for those that are listed, and for
            more of them if there is time.
        purposes: Whether to find, too, what the moves do that are no mistakes; `GameReview.reasons` has it.
        rank: That at which the engine played, which is the level of a game whose record states none.
        estimates_ranks: Whether to estimate the ranks of the players, as far as that is possible.
    """

    record: GameRecord
    numbers: range | None = None
    player: int | None = None
    rules: Rules | None = None
    komi: float | None = None
    most: int | None = None
    purposes: bool = False
    rank: Rank | None = None
    estimates_ranks: bool = True

    @property
    def listed(self) -> int:
        """How many mistakes are explained whatever time is left."""
        return self.most or LISTED


@dataclass(frozen=True)
class ReviewStep:
    """How far a review is.

    Attributes:
        stage: What is done now: "moves", "again" for the second look at the worst of them, "compiling" while the solver
            is not ready, "reasons" for them; then "done", or "stopped" if `Reviewer.stopped` ended the review early.
        done: How many moves, positions or reasons have been found in this stage.
        total: How many there are; 0 if that is not known.
        review: What has been found so far.
        error: Why the moves end before the last one; "" if they do not.
        progress: The share of the whole review that is done, 0 to 1, as far as it can be foreseen.
        expected: The seconds that the rest is expected to take.
        is_short: Whether the budget is too small for the fewest visits that a review needs, which it takes then.
    """

    stage: str
    done: int
    total: int
    review: GameReview
    error: str = ""
    progress: float = 0.0
    expected: float = 0.0
    is_short: bool = False

    def next(self, plan: Plan, **found: Any) -> "ReviewStep":
        """Returns the next step of the stage, with what it has found."""
        review = replace(self.review, **found)
        return replace(self, done=self.done + 1, review=review, progress=plan.progress, expected=plan.expected)


class Reviewer:
    """Reviews records by the engine's settings. The network is loaded for the first record that needs it.

    Args:
        settings: Evaluator, limits and search parameters. Without a limit the visits follow from `minutes`.
        minutes: How long the review of a game may take; None for the usual time of its board (`usual_seconds`).
        clock: Returns the time in seconds.
        known: What reviews of the same game have searched, and will have. It is left alone if the settings have limits.

    Attributes:
        stopped: Setting it to True, also from a signal handler, ends the review soon.

    Raises:
        UserError: The settings limit searches to one visit, which compares no moves, or there are both limits and
            minutes, or the minutes are not above 0.
    """

    def __init__(
        self,
        settings: EngineSettings,
        minutes: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        known: KnownReports | None = None,
    ) -> None:
        self.stopped = False
        self._clock = clock
        self._limits = Limits(settings.visits, settings.seconds)
        self._known = known if self._limits.is_endless else None
        self._minutes = None if minutes is None else float(MINUTES.parse("minutes", minutes, from_text=False))
        if minutes is not None and not self._limits.is_endless:
            raise UserError("a review has either minutes, or visits and seconds of each position")
        if self._limits.visits == 1:
            expected = "2 or more: the first visit only evaluates the position, and compares no moves"
            raise invalid("number of visits", 1, expected)
        self._boards = BoardSearches(settings, self._limits, lambda: self.stopped)

    def steps(self, task: ReviewTask) -> Iterator[ReviewStep]:
        """Reviews a record: its moves one by one, those that seem to be the worst once more, and why they are mistakes.

        Yields:
            The growing review: at the start of each stage, after each move, position and reason, and at the end.

        Raises:
            UserError: The profile does not suit the network.
            SgfError: The board is too large for the network and the settings are strict.
        """
        record = task.record
        searches = self._searches(record)
        positions = Positions(record, task.rules, task.komi)
        numbers = task.numbers or range(1, len(positions.moves) + 1)
        plan = self._plan(searches, positions, numbers, task.listed)
        review = GameReview(record, self._conditions(searches, task, plan, ()), (), task.player)
        step = ReviewStep("moves", 0, len(numbers), review, expected=plan.expected, is_short=plan.is_too_small)
        yield step
        for move in review_moves(replace(searches, pace=lambda: plan.limits), positions, numbers):
            plan.advance(1)
            yield (step := step.next(plan, searched=(*step.review.searched, move)))
        step = replace(step, review=self._with_level(searches, positions, task, plan, step.review))
        if not self.stopped:
            error = positions.problem if numbers.stop > positions.count else ""
            plan.begin("again", *later_work(len(numbers) + 1, task.listed))
            yield (step := replace(step, stage="again", done=0, total=0, error=error))
            looked = replace(searches, limits=plan.limits)
            for moves in look_again(looked, positions, step.review.searched, task.player, task.listed):
                plan.advance(SECOND_LOOK_FACTOR)
                yield (step := step.next(plan, searched=moves))
        review = replace(step.review, is_checked=not self.stopped)
        total = min(len(review.mistakes), task.listed)
        plan.begin("reasons", REASON_WORK * total)
        step = replace(step, stage="compiling", done=0, total=total, review=review)
        if is_compiling():
            yield step
        with plan.paused():
            prepare_solver(lambda: self.stopped)
        yield (step := replace(step, stage="reasons"))
        step = yield from self._reasons(searches, positions, plan, step, task)
        if not self.stopped:
            with_more = self._with_purposes if task.purposes else self._with_more
            step = replace(step, review=with_more(replace(searches, limits=plan.limits), positions, step.review))
        stage = "stopped" if self.stopped else "done"
        review = replace(step.review, conditions=self._at_the_end(step.review, plan, stage))
        yield replace(step, stage=stage, review=review, progress=1.0)

    def _with_level(
        self, searches: Searches, positions: Positions, task: ReviewTask, plan: Plan, found: GameReview
    ) -> GameReview:
        """Returns a review after the first look, with its conditions, the ranks that the players play like, and the
        level of the game, by which its moves are weighed.
        """
        whole = not self.stopped and len(found.searched) == len(positions.moves)
        ranks = estimate_ranks(searches.evaluator, positions) if whole and task.estimates_ranks else {}
        first = found.searched[0] if found.searched else None
        start = worth(first.before).lead if first and first.number == 1 else None
        played = [] if task.rank is None else [task.rank.number - 1]
        level = level_of(task.record, played or [each.rank for each in ranks.values()], start)
        moves = tuple(replace(move, level=level) for move in found.searched)
        return replace(found, conditions=self._conditions(searches, task, plan, moves), ranks=ranks, searched=moves)

    def _reasons(
        self, searches: Searches, positions: Positions, plan: Plan, step: ReviewStep, task: ReviewTask
    ) -> Generator[ReviewStep, None, ReviewStep]:
        """Explains the worst mistakes, yields a step for each and returns the last one.

        What is listed is explained whatever time is left.
        """
        total = step.total
        while not self.stopped:
            limited = replace(searches, limits=plan.limits)
            if len(step.review.mistakes) < task.listed:  # two were the same ladder: another may take a place
                looks = look_again(limited, positions, step.review.searched, task.player, task.listed)
                step = yield from _looked(looks, plan, step)
            most = task.listed if plan.is_over else task.most
            worst = next_to_explain(step.review.mistakes[:most], step.review.reasons)
            if worst is None:
                break
            found = self._explained(limited, positions[worst.number - 1], worst)
            plan.advance(REASON_WORK)
            told = replace(worst, ladder=caught_in_a_ladder(found))
            moves = tuple(told if move.number == worst.number else move for move in step.review.searched)
            step = step.next(plan, searched=moves, reasons={**step.review.reasons, worst.number: found})
            yield (step := replace(step, total=max(total, step.done)))
        return step

    def _explained(self, searches: Searches, game: Game, worst: MoveReview) -> tuple[Reason, ...]:
        """Returns why a move is a mistake: what was told before, unless the mistake has been searched longer since."""
        told = self._known.told if self._known else {}
        how = position_key(game), worst.move, worst.before.visits, worst.after.visits
        if how in told:
            return told[how]
        found = explain(searches, game, worst)
        if not self.stopped:
            told[how] = found
        return found

    def _with_more(self, searches: Searches, positions: Positions, review: GameReview) -> GameReview:
        """Returns a review that also names the points missed several times, and praises some good moves."""
        reasons = dict(review.reasons)
        for number, reason in find_recurring(review):
            reasons[number] = (*reasons.get(number, ()), reason)
        praised = {number: (reason,) for number, reason in find_praise(searches, positions, review)}
        return replace(review, reasons=reasons | praised, praised=tuple(sorted(praised)))

    def _with_purposes(self, searches: Searches, positions: Positions, review: GameReview) -> GameReview:
        """Returns the review with the purpose of each move that is not a mistake."""
        good = [move for move in review.moves if move.cost.lead < LEAST_POINTS]
        found = {move.number: find_purpose(searches, positions[move.number - 1], move.move) for move in good}
        return replace(review, reasons={**review.reasons, **found})

    def _plan(self, searches: Searches, positions: Positions, numbers: range, listed: int) -> Plan:
        """Returns how long the searches are; the speed is measured in the middle of what is reviewed."""
        count, rate = len(numbers) + 1, 1.0
        if self._limits.is_endless or self._limits.visits is not None:
            middle = positions[min(numbers.start - 1 + count // 2, positions.count - 1)]
            rates = list[float]()
            for _ in range(2):  # the first time is slower, and so is either if the machine does something else
                search = Search(searches.evaluator, searches.parameters, searches.seed)
                report = run_search(search, SearchRequest(middle, _MEASURED, early_stop=False))
                searches.evaluator.clear_cache()
                rates.append(max(1, report.new_visits) / max(1e-6, report.seconds))
            rate = max(rates)
        if not self._limits.is_endless:
            return Plan(count, self._limits, rate, clock=self._clock, listed=listed)
        usual = usual_seconds(positions.record.width, positions.record.height, len(numbers))
        seconds = usual if self._minutes is None else 60 * self._minutes
        return Plan(count, None, rate, seconds, self._clock, listed, self._spared)

    def _spared(self) -> int:
        return self._known.spared if self._known else 0

    def _searches(self, record: GameRecord) -> Searches:
        """Returns how the positions of a record are searched: by the evaluator and the parameters of its board."""
        self._boards.load(record.width, record.height)  # whose errors are not the record's
        try:
            searches = self._boards.on_board(record.width, record.height)
        except UserError as error:
            raise SgfError(f"{record.source}: {error}") from error
        begin_solver()
        return replace(searches, known=self._known)

    def _conditions(self, searches: Searches, task: ReviewTask, plan: Plan, moves: Sequence[MoveReview]) -> Conditions:
        """Returns how a record is reviewed: with a budget of time by the visits of the first look at these moves."""
        terms = terms_of(task.record, task.rules, task.komi)
        return Conditions(
            network=searches.evaluator.name,
            precision=getattr(searches.evaluator, "precision", ""),
            limits=Limits(round(mean(move.after.visits for move in moves))) if plan.seconds and moves else plan.limits,
            again=0 if plan.seconds else None,
            seed=searches.seed,
            rules=rules_name(terms.rules) or terms.rules.to_json(),
            komi=terms.komi,
            notices=terms.notices,
        )

    def _at_the_end(self, review: GameReview, plan: Plan, stage: str) -> Conditions:
        """Returns how a record has been reviewed, with a budget of time by the least visits of a second look."""
        stopped = (Phrase("reviewStopped"),) if stage == "stopped" else ()
        conditions = replace(review.conditions, notices=(*review.conditions.notices, *stopped))
        if not plan.seconds:
            return conditions
        looks = (report for move in review.moves for report in (move.before, move.after))
        again = min((report.visits for report in looks if report.ownership is not None), default=0)
        return replace(conditions, again=again, took=plan.elapsed)

    def close(self) -> None:
        """Closes the network, and the rollouts for boards too large for it."""
        self._boards.close()


def _looked(
    looks: Iterable[tuple[MoveReview, ...]], plan: Plan, step: ReviewStep
) -> Generator[ReviewStep, None, ReviewStep]:
    """Yields a step of the same number for each position searched again, and returns the last one."""
    for moves in looks:
        plan.advance(SECOND_LOOK_FACTOR)
        yield (step := replace(step, review=replace(step.review, searched=moves)))
    return step


def review(
    game: GameRecord | Game | str | os.PathLike[str],
    settings: EngineSettings | None = None,
    *,
    minutes: float | None = None,
    rules: Rules | str | None = None,
    komi: float | None = None,
) -> GameReview:
    """Reviews a game: every position of the main line is searched, and those of the most costly moves once more.

    The reasons for the most costly mistakes are found by further searches.

    Args:
        game: A record, a game, or an SGF file.
        settings: How to search; None for the defaults.
        minutes: How long the review may take if the settings have neither visits nor seconds, which say how long each
            position is searched; None for the usual time: up to 18 s on 9x9, 37 s on 13x13, 79 s on 19x19.
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
    reviewer = Reviewer(as_settings(settings), minutes)
    chosen_rules = None if rules is None else as_rules(rules)
    if komi is not None:
        check_komi(komi)
    if not record.moves:
        raise SgfError(f"{record.source}: there are no moves to review")
    record.to_game(rules=chosen_rules)  # an unplayable record is reported before the engine starts

    def steps() -> Generator[ReviewStep, None, None]:
        with closing(reviewer):
            yield from reviewer.steps(ReviewTask(record, rules=chosen_rules, komi=komi))

    def stop() -> None:
        reviewer.stopped = True

    *_, last = on_own_thread("review", steps(), stop)
    return last.review
