"""The review of a record: what a search thinks before and after each move, and so what the move has cost."""

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace

from ..engine import Engine
from ..game.coords import BLACK, vertex
from ..game.game import Move
from ..game.rules import Rules
from ..search.report import SearchReport
from ..search.search import Limits
from ..sgf import GameRecord

# A wait without a timeout cannot be interrupted by Ctrl-C on Windows.
_WAIT = 0.2


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
    record: GameRecord, engine: Engine, limits: Limits, *, rules: Rules | None = None, komi: float | None = None
) -> Iterator[MoveReview]:
    """Searches every position of the record up to `limits` and gives its moves one after the other.

    rules, komi: instead of the record's. Raises SgfError at the move that cannot be played.
    """
    moves = record.moves
    before = _search(record, 0, engine, limits, rules, komi)
    for number, move in enumerate(moves, 1):
        after = _search(record, number, engine, limits, rules, komi)
        yield MoveReview(number, move, before, after)
        before = after


def _search(
    record: GameRecord, moves: int, engine: Engine, limits: Limits, rules: Rules | None, komi: float | None
) -> SearchReport:
    game = record.to_game(moves, rules=rules)
    if komi is not None:
        game.set_komi(komi)
    engine.load(game)
    return _wait_for(engine.analyze(limits=limits))


def _wait_for(search: "Future[SearchReport]") -> SearchReport:
    while True:
        try:
            return search.result(_WAIT)
        except NotYet:
            continue


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
