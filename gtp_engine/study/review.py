"""The review of a record: the positions before and after each move are searched, which shows what it cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate

from ..go.coords import BLACK, colour_name
from ..go.game import Move
from ..go.sgf import GameRecord
from ..search.report import SearchReport
from .record_searches import RecordSearches

LONGEST_VARIATION = 12  # moves of a better line: those after them have hardly been searched


class Phase(Enum):
    """A phase of the game by the number of moves played, as a percentage of the board's points at which it begins.

    The shares are KaTrain's (its game report): on 19x19 the middle game begins with move 51, the endgame with move 145.
    """

    OPENING = 0
    MIDDLE_GAME = 14
    ENDGAME = 40

    @property
    def label(self) -> str:
        """Its name as text."""
        return self.name.lower().replace("_", " ")

    def first_move(self, width: int, height: int) -> int:
        """Returns the number of the move with which it begins on a board of this size."""
        return max(1, -(-self.value * width * height // 100))


@dataclass(frozen=True)
class MoveReview:
    """One move of a record.

    The cost of a move is by how much the value of the game falls with it, from the position before to the one after it:
    both are the values of the roots of two searches with the same limits, so it never differs from the game's curve.
    A move that the search prefers costs nothing even if the value falls, since no better one is known.

    Attributes:
        number: The number of the move, from 1.
        move: The move.
        before: The search of the position before it.
        after: The search of the position after it.
        is_checked: Whether both are the longer searches of a second look (`second_look`).
        has_setup: Whether the record sets up or removes stones between the two positions. They cannot be compared then:
            the move costs nothing, and is not judged.
    """

    number: int
    move: Move
    before: SearchReport
    after: SearchReport
    is_checked: bool = False
    has_setup: bool = False

    @property
    def best(self) -> int:
        """The point that the search prefers to play."""
        return self.before.moves[0].point if self.before.moves else self.move.point

    @property
    def better_line(self) -> tuple[int, ...]:
        """The points of the line that begins with the preferred move; empty if that move was played."""
        return () if self.move.point == self.best else self.before.moves[0].pv

    @property
    def place(self) -> int | None:
        """The place of the move played among those that the search tried, from 1; None if it did not try it."""
        return next((move.order + 1 for move in self.before.moves if move.point == self.move.point), None)

    @property
    def phase(self) -> Phase:
        """The phase in which the move was played."""
        board = self.before.width, self.before.height
        return max((phase for phase in Phase if phase.first_move(*board) <= self.number), key=lambda phase: phase.value)

    @property
    def winrate(self) -> float:
        """Black's win rate after the move, 0 to 1."""
        return black_winrate(self.after)

    @property
    def lead(self) -> float:
        """Black's lead after the move, in points."""
        return black_lead(self.after)

    @property
    def winrate_drop(self) -> float:
        """By how much the mover's win rate falls with the move, 0 to 1; negative if it rises."""
        if self.has_setup:
            return 0.0
        after = self.after.winrate if self.after.to_move == self.before.to_move else 1 - self.after.winrate
        return self.before.winrate - after

    @property
    def points_drop(self) -> float:
        """By how many points the mover's lead falls with the move; negative if it rises."""
        if self.has_setup:
            return 0.0
        after = self.after.lead if self.after.to_move == self.before.to_move else -self.after.lead
        return self.before.lead - after

    @property
    def winrate_loss(self) -> float:
        """The win rate that the move has cost its player, 0 to 1; 0 if the search would have played it too."""
        return 0.0 if self.move.point == self.best else max(0.0, self.winrate_drop)

    @property
    def points_loss(self) -> float:
        """The points that the move has cost its player; 0 if the search would have played it too."""
        return 0.0 if self.move.point == self.best else max(0.0, self.points_drop)

    @property
    def has_cost(self) -> bool:
        """Whether the loss is large enough to show when it is rounded to a tenth of a point or of a percent."""
        return self.points_loss >= 0.05 or self.winrate_loss >= 0.0005

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

    def line_text(self, line: Iterable[int]) -> str:
        """Returns a line of play as the names of its points."""
        return " ".join(map(self.vertex, line))

    def to_svg(self, pixels: float | None = None) -> str:
        """Draws the position after the move, with the candidates that the search found in its place.

        Args:
            pixels: The width of the drawing; None for that of `BoardDrawing`.
        """
        others = [candidate for candidate in self.before.candidates() if candidate.point != self.move.point]
        return self.after.to_svg(candidates=others, title=cost_text(self), pixels=pixels, ownership=None)

    def __repr__(self) -> str:
        return f"<MoveReview: {cost_text(self)}>"


def cost_text(review: MoveReview) -> str:
    """Returns a move in words, and its cost if it has any: `34 white D4 (-2.5 points, -12.3%; E5 is better)`."""
    played = f"{review.number} {colour_name(review.move.colour)} {review.vertex(review.move.point)}"
    if not review.has_cost:
        return played
    cost = f"{with_minus(review.points_loss)} points, {with_minus(100 * review.winrate_loss)}%"
    return f"{played} ({cost}; {review.vertex(review.best)} is better)"


def with_minus(loss: float) -> str:
    """Returns a loss as text with a minus in front, but none in front of a zero: "-2.5", "0.0"."""
    return f"{round(-loss, 1) + 0:.1f}"


def black_winrate(report: SearchReport) -> float:
    """Returns the root's win rate for Black, 0 to 1."""
    return report.winrate if report.to_move == BLACK else 1 - report.winrate


def black_lead(report: SearchReport) -> float:
    """Returns the root's lead for Black, in points."""
    return report.lead if report.to_move == BLACK else -report.lead


def review_moves(searches: RecordSearches, numbers: range | None = None) -> Iterator[MoveReview]:
    """Searches the positions of a record and yields its moves in order.

    Args:
        searches: The record, and how to search.
        numbers: The numbers of the moves to review; None for all.

    Yields:
        The review of each move, as soon as the position after it is searched.

    Raises:
        SgfError: A move cannot be played; the moves before it have been yielded.
    """
    moves, set_up = searches.record.moves, _followed_by_setup(searches.record)
    reviewed = range(1, len(moves) + 1) if numbers is None else numbers
    reports = searches.reports(range(reviewed.start - 1, reviewed.stop))
    before = next(reports, None)
    for number, after in zip(reviewed, reports, strict=False):  # fewer reports if the review is stopped
        assert before is not None
        yield MoveReview(number, moves[number - 1], before, after, has_setup=number in set_up)
        before = after


def _followed_by_setup(record: GameRecord) -> set[int]:
    """Returns the numbers of the moves with stones set up in their own node, or after it and before the next move."""
    line = record.main_line
    numbers = accumulate(node.move is not None for node in line)
    return {number for number, node in zip(numbers, line, strict=True) if node.setup}
