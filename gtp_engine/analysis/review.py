"""The review of a record: what a search thinks before and after each move, and so what the move has cost."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..evaluate.interface import Evaluator
from ..game.coords import BLACK, vertex
from ..game.game import Move
from ..game.rules import Rules
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.scheduler import Job, Scheduler
from ..search.search import Limits, Search
from ..sgf import GameRecord, SgfError

# So many leaves of each position in a batch: more positions at once would make each of them wait for longer.
LEAVES_EACH = 2


@dataclass(frozen=True)
class MoveReview:
    """One move of a record, the first being number 1, and the searches of the positions before and after it.

    What it cost is the value of the move that the search prefers, less that of the position after the one played: both
    are means over a subtree, while the root's own value holds the poor moves that were tried too.
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
    def winrate(self) -> float:
        """Black's win rate after the move, 0 to 1."""
        return black_winrate(self.after)

    @property
    def lead(self) -> float:
        """Black's lead after the move, in points."""
        return black_lead(self.after)

    @property
    def winrate_loss(self) -> float:
        """The win rate that the move has cost its player; 0 where the search would have played it too."""
        if self.move.point == self.best:
            return 0.0
        after = self.after.winrate if self.after.to_move == self.before.to_move else 1 - self.after.winrate
        return max(0.0, self.before.moves[0].winrate - after)

    @property
    def points_loss(self) -> float:
        """The points that the move has cost its player; 0 where the search would have played it too."""
        if self.move.point == self.best:
            return 0.0
        after = self.after.lead if self.after.to_move == self.before.to_move else -self.after.lead
        return max(0.0, self.before.moves[0].lead - after)


def black_winrate(report: SearchReport) -> float:
    """The root's win rate for black."""
    return report.winrate if report.to_move == BLACK else 1 - report.winrate


def black_lead(report: SearchReport) -> float:
    """The root's lead for black, in points."""
    return report.lead if report.to_move == BLACK else -report.lead


def review_record(
    record: GameRecord,
    evaluator: Evaluator,
    parameters: SearchParameters,
    limits: Limits,
    *,
    seed: int | None = None,
    rules: Rules | None = None,
    komi: float | None = None,
) -> Iterator[MoveReview]:
    """Searches every position of the record up to `limits` and gives its moves one after the other.

    With a limit of visits alone many positions are searched side by side; a time is for each of them alone, and then,
    as with playouts, the tree goes on from move to move.
    rules, komi: instead of the record's. Raises SgfError at the move that cannot be played.
    """
    alone = evaluator.plays_out or limits.seconds is not None
    places = 1 if alone else max(1, evaluator.batch_size // LEAVES_EACH)
    scheduler = Scheduler(evaluator, places)
    kept = Search(evaluator, parameters, seed)
    reports: dict[int, SearchReport] = {}
    errors: list[Exception] = []

    def add(number: int) -> None:
        game = record.to_game(number, rules=rules)
        if komi is not None:
            game.set_komi(komi)

        def start() -> Search:
            search = kept if alone else Search(evaluator, parameters, seed)
            search.set_position(game)
            return search

        def done(report: SearchReport | None) -> None:
            assert report is not None  # nobody cancels it
            reports[number] = report

        scheduler.add(Job(start, limits, done, errors.append))

    moves = record.moves
    added, refused = 0, None
    for number in range(len(moves) + 1):
        while number not in reports:
            while refused is None and added <= len(moves) and added < number + places:
                try:
                    add(added)
                    added += 1
                except SgfError as error:  # said after the moves before it
                    refused = error
            if refused is not None and number == added:
                raise refused
            scheduler.step()
            if errors:
                raise errors[0]
        if number:
            yield MoveReview(number, moves[number - 1], reports.pop(number - 1), reports[number])


def worst_moves(reviews: Sequence[MoveReview], count: int) -> list[MoveReview]:
    """The moves that cost the most win rate, the worst first; those that cost nothing are left out."""
    costly = [review for review in reviews if review.winrate_loss > 0]
    return sorted(costly, key=lambda review: -review.winrate_loss)[:count]


def commented(record: GameRecord, reviews: Sequence[MoveReview]) -> GameRecord:
    """The record with the reviews added to the comments of the moves they are about."""
    nodes = []
    by_number = {review.number: review for review in reviews}
    number = 0
    for node in record.nodes:
        number += node.move is not None
        review = by_number.get(number) if node.move is not None else None
        text = [node.comment, review_comment(review)] if review else [node.comment]
        nodes.append(replace(node, comment="\n\n".join(filter(None, text))))
    result = copy.copy(record)
    result.nodes = nodes
    return result


def review_comment(review: MoveReview) -> str:
    """What is said about a move: the search after it and, where it cost win rate, what would have been better."""
    after, before = review.after, review.before
    text = after.as_comment()
    if not review.winrate_loss:
        return text
    better = " ".join(vertex(point, before.width, before.height) for point in before.moves[0].pv)
    loss = f"Cost: {100 * review.winrate_loss:.1f}% win rate, {review.points_loss:.1f} points"
    return f"{text}\n{loss}\nBetter: {better}"
