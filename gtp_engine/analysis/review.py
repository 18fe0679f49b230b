"""The review of a record: the positions before and after each move are searched, which shows what it has cost."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..evaluate.evaluator import Evaluator
from ..game.coords import BLACK, colour_name
from ..game.game import Game, Move
from ..game.rules import Rules
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from ..search.scheduler import Scheduler
from ..search.search import Search
from ..sgf import GameRecord, SgfError

# Leaves of each position in a batch: with fewer, more positions would be searched at once, and each would take longer.
LEAVES_EACH = 2


@dataclass(frozen=True)
class MoveReview:
    """One move of a record.

    The cost of a move is the value of the move that the search prefers minus that of the position after the move
    played. Both are means over a subtree; the value of the root before the move would include the poor moves that were
    tried there.

    Attributes:
        number: The number of the move, from 1.
        move: The move.
        before: The search of the position before it.
        after: The search of the position after it.
    """

    number: int
    move: Move
    before: SearchReport
    after: SearchReport

    @property
    def best(self) -> int:
        """The point that the search prefers to play."""
        return self.before.moves[0].point if self.before.moves else self.move.point

    @property
    def better_line(self) -> tuple[int, ...]:
        """The points of the line that begins with the preferred move; empty if that move was played."""
        return () if self.move.point == self.best else self.before.moves[0].pv

    @property
    def rank(self) -> int | None:
        """The place of the move played among those that the search tried, from 1; None if it did not try it."""
        return next((move.order + 1 for move in self.before.moves if move.point == self.move.point), None)

    @property
    def winrate(self) -> float:
        """Black's win rate after the move, 0 to 1."""
        return black_winrate(self.after)

    @property
    def lead(self) -> float:
        """Black's lead after the move, in points."""
        return black_lead(self.after)

    @property
    def winrate_loss(self) -> float:
        """The win rate that the move has cost its player, 0 to 1; 0 if the search would have played it too."""
        if self.move.point == self.best:
            return 0.0
        after = self.after.winrate if self.after.to_move == self.before.to_move else 1 - self.after.winrate
        return max(0.0, self.before.moves[0].winrate - after)

    @property
    def points_loss(self) -> float:
        """The points that the move has cost its player; 0 if the search would have played it too."""
        if self.move.point == self.best:
            return 0.0
        after = self.after.lead if self.after.to_move == self.before.to_move else -self.after.lead
        return max(0.0, self.before.moves[0].lead - after)

    @property
    def complexity(self) -> float:
        """The points that a move drawn from the policy is expected to lose here, at most 1.

        The mean loss of the moves that the search tried, weighted by their priors: KaTrain's measure of how hard it is
        to find a good move (`core/ai.py`, `game_report`).
        """
        moves = self.before.moves
        weight = sum(move.prior for move in moves)
        if not weight:
            return 0.0
        return min(1.0, sum(move.prior * max(0.0, moves[0].lead - move.lead) for move in moves) / weight)

    def vertex(self, point: int) -> str:
        """Returns the name of a point on this board, "pass" for a pass."""
        return self.before.vertex(point)

    def __repr__(self) -> str:
        return f"<MoveReview: {cost_text(self)}>"


def cost_text(review: MoveReview) -> str:
    """Returns a move in words, and its cost if it has any: `34 white D4 (-2.5 points, -12.3%; E5 is better)`."""
    played = f"{review.number} {colour_name(review.move.colour)} {review.vertex(review.move.point)}"
    if not review.points_loss and not review.winrate_loss:
        return played
    cost = f"{with_minus(review.points_loss)} points, {with_minus(100 * review.winrate_loss)}%"
    return f"{played} ({cost}; {review.vertex(review.best)} is better)"


def with_minus(loss: float) -> str:
    """Returns a loss as text with a minus in front, but none in front of a zero: "-2.5", "0.0"."""
    return f"{round(-loss, 1) + 0:.1f}"


def lead_text(points: float) -> str:
    """Returns Black's lead as players write it: "B+2.5", "W+0.3"."""
    return f"{'B' if points >= 0 else 'W'}+{abs(points):.1f}"


def black_winrate(report: SearchReport) -> float:
    """Returns the root's win rate for Black, 0 to 1."""
    return report.winrate if report.to_move == BLACK else 1 - report.winrate


def black_lead(report: SearchReport) -> float:
    """Returns the root's lead for Black, in points."""
    return report.lead if report.to_move == BLACK else -report.lead


def position(record: GameRecord, number: int, rules: Rules | None = None, komi: float | None = None) -> Game:
    """Returns a record's position after `number` moves, under other rules or with another komi if they are given.

    Raises:
        SgfError: A move cannot be played.
    """
    game = record.to_game(number, rules=rules)
    if komi is not None:
        game.set_komi(komi)
    return game


def review_record(
    record: GameRecord,
    evaluator: Evaluator,
    parameters: SearchParameters,
    limits: Limits,
    *,
    seed: int | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
    numbers: range | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[MoveReview]:
    """Searches the positions of the record and yields its moves in order.

    With a limit of visits only, many positions are searched side by side. With a time limit, or with rollouts, they are
    searched one after the other, and the tree is reused from move to move.

    Args:
        record: The record; its main line is reviewed.
        evaluator: Evaluates the leaves.
        parameters: How to search.
        limits: The limits of the search of each position.
        seed: The seed of the searches.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.
        numbers: The numbers of the moves to review; None for all.
        is_stopped: Asked between the batches of the searches; the reviews end once it returns True.

    Yields:
        The review of each move, as soon as the position after it is searched.

    Raises:
        SgfError: A move cannot be played; the moves before it have been yielded.
    """
    alone = evaluator.is_rollout or limits.seconds is not None
    scheduler = Scheduler(evaluator, slots=1 if alone else max(1, evaluator.batch_size // LEAVES_EACH))
    kept = Search(evaluator, parameters, seed)
    moves = record.moves
    reviewed = range(1, len(moves) + 1) if numbers is None else numbers

    def game_at(number: int) -> Game:
        return position(record, number, rules, komi)

    def search_for_next() -> Search:
        return kept if alone else Search(evaluator, parameters, seed)

    searched = range(reviewed.start - 1, reviewed.stop)
    positions = _Positions(scheduler, searched, game_at, search_for_next, limits, is_stopped)
    before = positions.take_report(searched.start)
    for number in reviewed:
        after = positions.take_report(number)
        if before is None or after is None:
            return
        yield MoveReview(number, moves[number - 1], before, after)
        before = after


class _Positions:
    """The searches of a record's positions, in order and as many at once as the scheduler has slots."""

    def __init__(
        self,
        scheduler: Scheduler,
        numbers: range,
        game_at: Callable[[int], Game],
        search_for_next: Callable[[], Search],
        limits: Limits,
        is_stopped: Callable[[], bool],
    ) -> None:
        self._scheduler = scheduler
        self._numbers = numbers
        self._game_at = game_at
        self._search_for_next = search_for_next
        self._limits = limits
        self._is_stopped = is_stopped
        self._next = numbers.start  # the position to add next
        self._refusal: SgfError | None = None  # of that position
        self._reports: dict[int, SearchReport] = {}
        self._errors: list[Exception] = []

    def take_report(self, number: int) -> SearchReport | None:
        """Searches until a position is done, and returns its report, once; None if the review was stopped before."""
        while number not in self._reports:
            if self._is_stopped():
                return None
            self._add_up_to(number + self._scheduler.slots)
            if self._refusal is not None and number == self._next:
                raise self._refusal  # only now: the moves before it have been reviewed
            self._scheduler.step()
            if self._errors:
                raise self._errors[0]
        return self._reports.pop(number)

    def _add_up_to(self, stop: int) -> None:
        while self._refusal is None and self._next < min(stop, self._numbers.stop):
            try:
                game = self._game_at(self._next)
            except SgfError as error:
                self._refusal = error
            else:
                self._add(self._next, game)
                self._next += 1

    def _add(self, number: int, game: Game) -> None:
        def on_done(report: SearchReport | None) -> None:
            assert report is not None  # nobody cancels it
            self._reports[number] = report

        # The values of a position still change when its best move is settled.
        request = SearchRequest(game, self._limits, early_stop=False)
        self._scheduler.add(self._search_for_next(), request, on_done, self._errors.append)
