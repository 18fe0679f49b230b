"""The searches of a review: of a record's positions, and of the most costly moves a second time and longer.

The most costly mistakes are the largest of many inexact numbers, so chance puts moves on the list that were not bad at
all. Before a mistake is listed, the positions before and after it are therefore searched anew, both with the same
longer limits. The new values replace the old ones, which were chosen for being large. What has told of a mistake in the
same game before, by enough visits, is the exception (`known_reports`): its figures stay what the reader was told.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from ..engine.status import agreed_before_the_end, dead_at_the_end
from ..go.coords import BLACK, PASS
from ..go.game import Game
from ..go.rules import Rules
from ..go.sgf import GameRecord, SgfError
from ..search.evaluate.evaluator import Evaluator
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import Limits, SearchRequest
from ..search.scheduler import Scheduler, run_in_order
from ..search.search import Search
from .known_reports import KnownReports
from .move_review import LEAST_POINTS, LISTED, MoveReview, find_mistakes

# Times the limits of the first look, of which few are enough to find what is worth the second (benchmarks/review.md).
SECOND_LOOK_FACTOR = 8
# The positions that may be looked at again: the work is then twice that of the first look. If only a few moves are
# reviewed it may be more, as many positions as make ten moves.
_SHARE, _FEWEST = 1 / 4, 2 * LISTED


@dataclass(frozen=True)
class Searches:
    """How positions are searched.

    With a limit of visits only, many positions are searched side by side. With a time limit, or with rollouts, which
    have the evaluator to themselves, they are searched one after the other, and the tree is kept from move to move.

    Attributes:
        evaluator: Evaluates the leaves.
        parameters: How to search.
        limits: The limits of the search of each position.
        seed: The seed of the searches; None for a random one.
        is_stopped: Asked between the batches of the searches; there are no more reports once it returns True.
        pace: Returns the limits of the search that begins now, in the place of `limits`; None if they do not change.
        known: The reports of earlier reviews, which are used and added to with a limit of visits, except with rollouts;
            None for none.
    """

    evaluator: Evaluator
    parameters: SearchParameters
    limits: Limits
    seed: int | None = None
    is_stopped: Callable[[], bool] = lambda: False
    pace: Callable[[], Limits] | None = None
    known: KnownReports | None = None

    def reports(
        self, games: Iterable[Game], *, ownership: bool = False, moves_ownership: bool = False
    ) -> Iterator[SearchReport]:
        """Searches positions and yields their reports in order, each as soon as it is there.

        Args:
            games: The positions; each is taken when its search begins, and belongs to it.
            ownership: Whether the owners of the points are reported.
            moves_ownership: Whether they are for every move as well.
        """
        is_rough = self.evaluator.least_visits > 1
        one_by_one = is_rough or self.limits.seconds is not None
        kept = self._new_search()
        # The values of a position still change when its best move is settled.
        requests = (
            SearchRequest(
                game,
                self.pace() if self.pace else self.limits,
                ownership=ownership,
                moves_ownership=moves_ownership,
                early_stop=False,
                dead=agreed_before_the_end(game, self.evaluator, self.parameters),
            )
            for game in games
        )

        def run(requests: Iterable[SearchRequest]) -> Iterator[SearchReport]:
            searches = ((kept if one_by_one else self._new_search(), request) for request in requests)
            scheduler = Scheduler(self.evaluator, slots=1 if one_by_one else None)
            return run_in_order(scheduler, searches, self.is_stopped)

        if self.known is None or is_rough or self.limits.visits is None:
            return run(requests)
        return self.known.complete(requests, (self.evaluator.name, self.parameters), run)

    def counted(self, report: SearchReport, game: Game) -> SearchReport:
        """Returns the report of a finished game with the value of its count, without the dead stones.

        Without a network it stays as it is: rollouts play the game to its end.
        """
        if self.evaluator.least_visits > 1:
            return report
        points = game.score(dead_at_the_end(game, self.evaluator, self.parameters.profile)).points
        lead = points if report.to_move == BLACK else -points
        winrate = 1.0 if lead > 0 else 0.0 if lead < 0 else 0.5
        exact = replace(report, winrate=winrate, utility=2 * winrate - 1, moves=())
        return replace(exact, lead=lead, score_mean=lead, score_stdev=0.0)

    def _new_search(self) -> Search:
        return Search(self.evaluator, self.parameters, self.seed)

    def times(self, factor: int) -> "Searches":
        """Returns searches whose limits are `factor` times as large."""
        return replace(self, limits=self.limits.times(factor), pace=None)

    def as_long_as(self, report: SearchReport) -> "Searches":
        """Returns searches like a second look, and with no fewer visits than the search of a report has."""
        longer = self.times(SECOND_LOOK_FACTOR)
        if longer.limits.visits is None:
            return longer
        return replace(longer, limits=replace(longer.limits, visits=max(longer.limits.visits, report.visits)))


class Positions:
    """The positions of a record's main line, by the number of moves before them; the player to move is the record's.

    Attributes:
        record: The record.
        moves: Its moves.
        count: How many positions there are, up to the first move that cannot be played.
        problem: Why that move cannot be played; "" if all can.
        final: The number of the first position that is counted if two passes end the record; None if it ends otherwise.
            More passes may follow, as under AGA rules.
    """

    def __init__(self, record: GameRecord, rules: Rules | None = None, komi: float | None = None) -> None:
        """Replays a record, with these rules and this komi instead of its own unless they are None."""
        self.record, self.moves = record, record.moves
        self._rules, self._komi = rules, komi
        line = record.main_line
        self._nodes = [*(node.parent or node for node in line if node.move is not None), line[-1]]
        self.count, self.problem = 0, ""
        try:
            for _ in record.positions(rules=rules):
                self.count += 1
        except SgfError as error:
            self.problem = str(error)
        last = len(self.moves)
        passes = next((number for number, move in enumerate(reversed(self.moves)) if move.point != PASS), last)
        self.final = last - passes + 2 if self.count > last and self[last].is_over and passes >= 2 else None

    def __getitem__(self, number: int) -> Game:
        """Returns a position, which belongs to the caller; raises SgfError if a move before it cannot be played."""
        game = self.record.position(self._nodes[number], self._rules, self._komi)
        if number < len(self.moves):
            game.to_move = self.moves[number].colour
        return game


def _reports(
    searches: Searches, positions: Positions, numbers: Iterable[int], *, owned: bool = False
) -> Iterator[SearchReport]:
    """Searches positions and yields their reports in order; two passes at the end of a record are its count."""
    numbers = tuple(numbers)
    games = (positions[number] for number in numbers)
    reports = searches.reports(games, ownership=owned, moves_ownership=owned)
    for number, report in zip(numbers, reports, strict=False):
        is_over = positions.final is not None and number >= positions.final
        yield searches.counted(report, positions[number]) if is_over else report


def review_moves(searches: Searches, positions: Positions, numbers: range | None = None) -> Iterator[MoveReview]:
    """Searches the positions of a record and yields its moves in order, each as soon as the one after it is searched.

    Args:
        searches: How to search.
        positions: The positions of the record.
        numbers: The numbers of the moves to review; None for all. Those that cannot be played are left out.
    """
    set_up = _followed_by_setup(positions.record)
    first, stop = (1, positions.count) if numbers is None else (numbers.start, min(numbers.stop, positions.count))
    reports = _reports(searches, positions, range(first - 1, stop))
    before = next(reports, None)
    for number, after in zip(range(first, stop), reports, strict=False):  # fewer reports if the review is stopped
        assert before is not None
        yield MoveReview(
            number,
            positions.moves[number - 1],
            before,
            after,
            has_setup=number in set_up,
            ends_game=positions.final is not None and number > positions.final - 2,
        )
        before = after


def _followed_by_setup(record: GameRecord) -> set[int]:
    """Returns the numbers of the moves with stones set up in their own node, or after it and before the next move."""
    line = record.main_line
    numbers = accumulate(node.move is not None for node in line)
    return {number for number, node in zip(numbers, line, strict=True) if node.setup}


def most_looked_at_again(positions: int) -> int:
    """Returns how many of so many positions may be looked at again."""
    return min(positions, max(_FEWEST, int(_SHARE * positions)))


def look_again(
    searches: Searches,
    positions: Positions,
    moves: Sequence[MoveReview],
    player: int | None = None,
    listed: int = LISTED,
) -> Iterator[tuple[MoveReview, ...]]:
    """Searches the positions of the most costly moves again, until all mistakes that will be listed have been checked.

    If one of those mistakes has turned out not to be one, another call resumes where the last one ended.

    A move with which the value falls is a candidate even if the search prefers it: a longer one may find a better move.

    Args:
        searches: How the moves were searched.
        positions: The positions of the record.
        moves: The reviewed moves in order.
        player: Only this player's moves are judged; None for both players' moves.
        listed: How many mistakes will be listed.

    Yields:
        All moves with what is known so far, after each position.
    """
    most = most_looked_at_again(len(moves) + 1)
    ends = [end for move in moves for end in ((move.number - 1, move.before), (move.number, move.after))]
    checked = {number for number, report in ends if report.ownership is not None}
    seed = None if searches.seed is None else searches.seed + 1  # other symmetries than those of the first look
    longer = replace(searches.times(SECOND_LOOK_FACTOR), seed=seed)
    known = tuple(moves)
    while numbers := _next_positions(_candidates(known, player, listed), checked, most):
        # Who owns the points after each move tells why one is a mistake (`reasons.explain`).
        for number, report in zip(numbers, _reports(longer, positions, numbers, owned=True), strict=False):
            known = tuple(_updated(move, number, report) for move in known)
            checked.add(number)
            yield known
        if not checked.issuperset(numbers):  # the review was stopped
            return


def _updated(move: MoveReview, number: int, report: SearchReport) -> MoveReview:
    """Returns a move with the report of the second look at a position."""
    if number not in (move.number - 1, move.number):
        return move
    looked = replace(move, after=report) if number == move.number else replace(move, before=report)
    return replace(looked, is_checked=looked.before.ownership is not None and looked.after.ownership is not None)


def _candidates(moves: Sequence[MoveReview], player: int | None, most: int) -> list[MoveReview]:
    """Returns the moves that would be listed but have not been checked, the most important first.

    Of a mistake made several times the most costly move is enough, unless another one is more important: the others
    would take the second look from other mistakes.
    """
    listed = find_mistakes([move for move in moves if move.is_checked], player)[:most]
    least = listed[-1].worst.importance if len(listed) == most else 0.0
    known = {move.number for move in moves if move.is_checked}
    for mistake in find_mistakes(moves, player):
        others = (miss for miss in mistake.misses if miss is not mistake.worst)
        known |= {miss.number for miss in others if miss.importance <= mistake.worst.importance}
    judged = (move for move in moves if move.number not in known and player in (None, move.move.colour))
    fallen = [(move.weight(move.drop.lead), move) for move in judged if move.drop.lead >= LEAST_POINTS]
    doubtful = sorted(fallen, key=lambda each: each[0], reverse=True)
    return [move for weight, move in doubtful if weight >= least][:most]


def _next_positions(candidates: Sequence[MoveReview], checked: set[int], most: int) -> list[int]:
    """Returns the positions of these moves that have not been checked, in order; not more than `most` in all."""
    positions: set[int] = set()
    for move in candidates:
        both = positions | ({move.number - 1, move.number} - checked)
        if len(checked) + len(both) > most:
            break
        positions = both
    return sorted(positions)
