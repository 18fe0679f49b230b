"""Searches of the positions of a record: many side by side, or one after the other with a tree that is kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..go.game import Game
from ..go.rules import Rules
from ..go.sgf import GameRecord, SgfError
from ..search.evaluate.evaluator import Evaluator
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from ..search.scheduler import Scheduler, run_in_order
from ..search.search import Search


def are_side_by_side(evaluator: Evaluator, limits: Limits) -> bool:
    """Returns whether searches share batches: time limits and rollouts have the evaluator to themselves."""
    return not evaluator.is_rollout and limits.seconds is None


def new_scheduler(evaluator: Evaluator, limits: Limits) -> Scheduler:
    """Returns a scheduler that searches as many positions at once as share a batch."""
    return Scheduler(evaluator, slots=None if are_side_by_side(evaluator, limits) else 1)


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
        refusal: SgfError | None = None
        kept = self.new_search()  # the only one if positions are searched one by one

        def searches() -> Iterator[tuple[Search, SearchRequest]]:
            nonlocal refusal
            wanted = set(positions)
            try:
                for number, game in enumerate(islice(self.positions(), max(positions, default=-1) + 1)):
                    if number in wanted:
                        # The values of a position still change when its best move is settled.
                        request = SearchRequest(game.copy(), self.limits, early_stop=False)
                        yield kept if self.one_by_one else self.new_search(), request
            except SgfError as error:
                refusal = error

        scheduler = new_scheduler(self.evaluator, self.limits)
        yield from run_in_order(scheduler, searches(), self.is_stopped)
        if refusal is not None and not self.is_stopped():
            raise refusal

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
