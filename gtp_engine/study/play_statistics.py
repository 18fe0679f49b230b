"""How well a player's moves of one or several reviewed games were played, in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from .mistakes import CLASSES, loss_class
from .review import MoveReview, Phase

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
        class_losses: The points that the moves of each class lost in all.
    """

    moves: int
    points_lost: float
    winrate_lost: float
    accuracy: float
    first_choice: int
    first_five: int
    classes: tuple[int, ...]
    class_losses: tuple[float, ...]

    @property
    def lost(self) -> float:
        """The points that the moves lost in all."""
        return sum(self.class_losses)


@dataclass(frozen=True)
class PlayerFigures:
    """How well a player played.

    Attributes:
        name: The player.
        all: All the player's moves.
        phases: Those of each phase, in the order of `Phase`; None for one without moves.
        games: The number of games.
    """

    name: str
    all: PlayStatistics
    phases: tuple[PlayStatistics | None, ...]
    games: int = 1

    @property
    def worst_phase(self) -> Phase:
        """The phase in which most points were lost."""
        return max(Phase, key=self._lost_in)

    def share_of(self, phase: Phase) -> float:
        """Returns the share of the points that was lost in a phase, 0 to 1."""
        return self._lost_in(phase) / (self.all.lost or 1)

    def from_class(self, number: int) -> float:
        """Returns the share of the points that was lost in mistakes of this class and of the larger ones, 0 to 1."""
        return sum(self.all.class_losses[number:]) / (self.all.lost or 1)

    def _lost_in(self, phase: Phase) -> float:
        part = self.phases[list(Phase).index(phase)]
        return part.lost if part else 0.0


def player_figures(name: str, moves: Sequence[MoveReview], games: int = 1) -> PlayerFigures:
    """Returns the figures of a player's moves, of which there is at least one."""
    parts = ([move for move in moves if move.phase == phase] for phase in Phase)
    return PlayerFigures(name, statistics(moves), tuple(statistics(part) if part else None for part in parts), games)


def statistics(moves: Sequence[MoveReview]) -> PlayStatistics:
    """Returns the statistics of at least one move."""
    count = len(moves)
    losses: list[list[float]] = [[] for _ in range(len(CLASSES) + 1)]
    for review in moves:
        losses[loss_class(review.points_loss)].append(review.points_loss)
    return PlayStatistics(
        moves=count,
        points_lost=sum(review.points_loss for review in moves) / count,
        winrate_lost=sum(review.winrate_loss for review in moves) / count,
        accuracy=accuracy(moves),
        first_choice=sum(review.place == 1 for review in moves),
        first_five=sum((review.place or FIRST_CHOICES + 1) <= FIRST_CHOICES for review in moves),
        classes=tuple(map(len, losses)),
        class_losses=tuple(map(sum, losses)),
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
