"""The mistakes of a reviewed game: a point that a player misses is one mistake, however often it is passed by."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..go.coords import BLACK, WHITE
from .review import MoveReview, cost_text

# The points lost from which each class of mistakes begins: KaTrain's thresholds (`config.json`, `eval_thresholds`).
CLASSES = (0.5, 1.5, 3.0, 6.0, 12.0)
# A move that costs less does not count as a mistake: the first class of losses, or the noise of small searches.
LEAST_POINTS, LEAST_WINRATE = CLASSES[0], 0.01
# If the search prefers other points for longer than this many moves, the same point counts as missed anew.
LONGEST_GAP = 10
LISTED = 10  # the most costly mistakes, which are listed and checked by a second look

Unit = Literal["points", "winrate"]


class Costly(Protocol):
    """A move with a cost: as the review found it, or as a longer search does."""

    @property
    def points_loss(self) -> float:
        """The points that it costs its player."""

    @property
    def winrate_loss(self) -> float:
        """The win rate that it costs its player; 1 is all of it."""


@dataclass(frozen=True)
class Mistake:
    """A point that a player missed, once or several times.

    Attributes:
        misses: The moves that cost their players something while the search preferred this point, in order.
        worst: The one that cost the most, of those that a second look has checked if there are any.
    """

    misses: tuple[MoveReview, ...]
    worst: MoveReview

    @property
    def first(self) -> int:
        """The number of the first of these moves."""
        return self.misses[0].number

    @property
    def last(self) -> int:
        """The number of the last of these moves."""
        return self.misses[-1].number

    @property
    def span(self) -> str:
        """The numbers of the moves as text: "65", or "127-136"."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def __repr__(self) -> str:
        place = "" if len(self.misses) == 1 else f"moves {self.span}; worst: "
        return f"<Mistake: {place}{cost_text(self.worst)}>"


def loss_class(points: float) -> int:
    """Returns the class of a loss: the number of `CLASSES` that it reaches, 0 for a good move."""
    return bisect_right(CLASSES, points)


def class_label(number: int) -> str:
    """Returns the losses of a class as text, such as "0.5 to 1.5"."""
    if number == 0:
        return f"below {CLASSES[0]:g}"
    if number == len(CLASSES):
        return f"{CLASSES[-1]:g} or more"
    return f"{CLASSES[number - 1]:g} to {CLASSES[number]:g}"


def cost(move: Costly, by: Unit) -> float:
    """Returns what a move has cost, in points or in win rate (0 to 1)."""
    return move.points_loss if by == "points" else move.winrate_loss


def drop(review: MoveReview, by: Unit) -> float:
    """Returns by how much the value fell with a move, whether or not a better one is known; in the units of `cost`."""
    return review.points_drop if by == "points" else review.winrate_drop


def least_cost(by: Unit) -> float:
    """Returns the least cost of a mistake."""
    return LEAST_POINTS if by == "points" else LEAST_WINRATE


def find_mistakes(moves: Sequence[MoveReview], by: Unit = "points", player: int | None = None) -> list[Mistake]:
    """Returns the mistakes, the most costly first.

    A point stays the same mistake until somebody plays it, stones are set up, or the search prefers others for more
    than `LONGEST_GAP` moves.

    Args:
        moves: The reviewed moves of a game, in order.
        by: What the cost of a mistake is measured in.
        player: Only this player's moves count; None for both players' moves.
    """
    missed: dict[tuple[int, int], list[MoveReview]] = {}  # by colour and point, those that are still open
    found: list[list[MoveReview]] = []
    for review in moves:
        if cost(review, by) >= least_cost(by) and player in (None, review.move.colour):
            key = review.move.colour, review.best
            misses = missed.get(key)
            if misses is None or review.number - misses[-1].number > LONGEST_GAP:
                misses = missed[key] = []
                found.append(misses)
            misses.append(review)
        for colour in (BLACK, WHITE):
            missed.pop((colour, review.move.point), None)
        if review.has_setup:
            missed.clear()
    mistakes = [
        Mistake(tuple(misses), max(misses, key=lambda review: (review.is_checked, cost(review, by))))
        for misses in found
    ]
    return sorted(mistakes, key=lambda mistake: -cost(mistake.worst, by))
