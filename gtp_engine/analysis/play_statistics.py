"""How well some moves of a reviewed game were played, in numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .mistakes import CLASSES, loss_class
from .review import MoveReview

FIRST_CHOICES = 5


@dataclass(frozen=True)
class PlayStatistics:
    """How well some moves were played.

    Attributes:
        moves: The number of moves.
        points_lost: The mean loss of a move, in points.
        winrate_lost: The mean loss of a move, in win rate, 0 to 1.
        accuracy: See `accuracy`, 0 to 100.
        first_choice: How many of the moves were the search's first choice.
        first_five: How many of them were among its first five.
        classes: How many of them fall into each class of losses, the good ones first (`mistakes.loss_class`).
    """

    moves: int
    points_lost: float
    winrate_lost: float
    accuracy: float
    first_choice: int
    first_five: int
    classes: tuple[int, ...]


def statistics(moves: Sequence[MoveReview]) -> PlayStatistics:
    """Returns the statistics of at least one move."""
    count = len(moves)
    classes = Counter(loss_class(review.points_loss) for review in moves)
    return PlayStatistics(
        moves=count,
        points_lost=sum(review.points_loss for review in moves) / count,
        winrate_lost=sum(review.winrate_loss for review in moves) / count,
        accuracy=accuracy(moves),
        first_choice=sum(review.place == 1 for review in moves),
        first_five=sum((review.place or FIRST_CHOICES + 1) <= FIRST_CHOICES for review in moves),
        classes=tuple(classes[number] for number in range(len(CLASSES) + 1)),
    )


def accuracy(moves: Sequence[MoveReview]) -> float:
    """Returns the accuracy of at least one move, 0 to 100, by KaTrain's formula (`core/ai.py`, `game_report`).

    It is 100 · 0.75^L, with L the weighted mean of the points lost: no loss is 100, a loss of one point a move 75, of
    two points 56. The weight of a move is the complexity of its position (`MoveReview.complexity`), or a
    quarter of the points it lost if that is more; at least 0.05 and at most 1. Obvious moves therefore count little.
    """
    weights = [max(0.05, min(1.0, max(review.complexity, review.points_loss / 4))) for review in moves]
    losses = sum(weight * review.points_loss for weight, review in zip(weights, moves, strict=True))
    return float(100 * 0.75 ** (losses / sum(weights)))
