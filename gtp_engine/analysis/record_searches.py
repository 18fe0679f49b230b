"""Searches of the positions of a record: many side by side, or one after the other with a tree that is kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..evaluate.evaluator import Evaluator
from ..game.game import Game
from ..game.rules import Rules
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from ..search.scheduler import Scheduler
from ..search.search import Search
from ..sgf import GameRecord, SgfError

# Leaves of each position in a batch: with fewer, more positions would be searched at once, and each would take longer.
LEAVES_EACH = 2


def are_side_by_side(evaluator: Evaluator, limits: Limits) -> bool:
    """Returns whether searches share batches: time limits and rollouts have the evaluator to themselves."""
    return not evaluator.is_rollout and limits.seconds is None


def new_scheduler(evaluator: Evaluator, limits: Limits) -> Scheduler:
    """Returns a scheduler with as many slots as there are searches in a batch."""
    shared = are_side_by_side(evaluator, limits)
    return Scheduler(evaluator, slots=max(1, evaluator.batch_size // LEAVES_EACH) if shared else 1)


@dataclass(frozen=True)
class RecordSearches:
    """How the positions of a record's main line are searched.

    With a limit of visits only, many positions are searched side by side. With a time limit, or with rollouts, they are
    searched one after the other, and the tree is reused from move to move.

    Attributes:
        record: The record.
        evaluator: Evaluates the leaves.
        parameters: How to search.
        limits: The limits of the search of each position.
        seed: The seed of the searches; None for a random one.
        rules: Rules instead of the record's.
        komi: Komi instead of the record's.
        is_stopped: Asked between the batches of the searches; there are no more reports once it returns True.
    """

    record: GameRecord
    evaluator: Evaluator
    parameters: SearchParameters
    limits: Limits
    seed: int | None = None
    rules: Rules | None = None
    komi: float | None = None
    is_stopped: Callable[[], bool] = lambda: False

    def reports(self, positions: Sequence[int]) -> Iterator[SearchReport]:
        """Searches positions and yields their reports in order, each as soon as it is there.

        Args:
            positions: The positions, ascending, by the number of moves before them.

        Raises:
            SgfError: A move cannot be played; the reports of the positions before it have been yielded.
        """
        line = _Line(self, positions)
        for number in positions:
            report = line.take_report(number)
            if report is None:
                return
            yield report

    def game_at(self, number: int) -> Game:
        """Returns the position after so many moves; raises SgfError if one of them cannot be played."""
        game = self.record.to_game(number, rules=self.rules)
        if self.komi is not None:
            game.set_komi(self.komi)
        return game

    def positions(self) -> Iterator[Game]:
        """Yields the position before each move and the last one; like `GameRecord.positions`, with rules and komi."""
        for game in self.record.positions(rules=self.rules):
            if self.komi is not None:
                game.set_komi(self.komi)
            yield game

    @property
    def one_by_one(self) -> bool:
        """Whether the positions are searched one after the other."""
        return not are_side_by_side(self.evaluator, self.limits)

    def new_search(self) -> Search:
        """Returns an empty tree."""
        return Search(self.evaluator, self.parameters, self.seed)


class _Line:
    """The searches of positions in order, as many at once as the scheduler has slots."""

    def __init__(self, searches: RecordSearches, positions: Sequence[int]) -> None:
        self._searches = searches
        self._scheduler = new_scheduler(searches.evaluator, searches.limits)
        self._kept = searches.new_search()  # the only one if positions are searched one by one
        self._to_add = list(positions)[::-1]  # the next one last
        self._refusal: SgfError | None = None  # of that position
        self._under_way = 0  # positions that were added and not taken yet
        self._reports: dict[int, SearchReport] = {}
        self._errors: list[Exception] = []

    def take_report(self, number: int) -> SearchReport | None:
        """Searches until a position is done, and returns its report, once; None if the searches were stopped before."""
        while number not in self._reports:
            if self._searches.is_stopped():
                return None
            self._add()
            if self._refusal is not None and number == self._to_add[-1]:
                raise self._refusal  # only now: the positions before it have been searched
            self._scheduler.step()
            if self._errors:
                raise self._errors[0]
        self._under_way -= 1
        return self._reports.pop(number)

    def _add(self) -> None:
        """Adds the next positions, as many as the scheduler has slots for."""
        while self._refusal is None and self._to_add and self._under_way < self._scheduler.slots:
            try:
                game = self._searches.game_at(self._to_add[-1])
            except SgfError as error:
                self._refusal = error
            else:
                self._add_search(self._to_add.pop(), game)
                self._under_way += 1

    def _add_search(self, number: int, game: Game) -> None:
        def on_done(report: SearchReport | None) -> None:
            assert report is not None  # nobody cancels it
            self._reports[number] = report

        # The values of a position still change when its best move is settled.
        request = SearchRequest(game, self._searches.limits, early_stop=False)
        search = self._kept if self._searches.one_by_one else self._searches.new_search()
        self._scheduler.add(search, request, on_done, self._errors.append)
