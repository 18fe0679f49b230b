"""What each player lost, by phase and by size of the mistake, in one game or in several."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...game.coords import BLACK, colour_name
from ...languages.texts import DEFAULT, texts
from ..game_review import GameReview, Phase, phase_of
from ..mistakes import CLASSES, loss_class
from ..play_statistics import PlayStatistics, statistics
from ..rank_estimate import RankEstimate
from ..review import MoveReview


@dataclass(frozen=True)
class Part:
    """Some moves of a player.

    Attributes:
        moves: The moves.
        lost: The points that they lost in all.
        share: Their part of the points that the player lost, 0 to 1.
    """

    moves: tuple[MoveReview, ...]
    lost: float
    share: float

    @property
    def count(self) -> int:
        """The number of moves."""
        return len(self.moves)

    @property
    def statistics(self) -> PlayStatistics | None:
        """How well they were played; None without moves."""
        return statistics(self.moves) if self.moves else None


@dataclass(frozen=True)
class PlayerFigures:
    """What a player lost.

    Attributes:
        name: The player.
        games: The number of games.
        all: All the player's moves.
        phases: The moves of each phase, in the order of `Phase`.
        classes: The moves of each class of losses, the good ones first (`mistakes.loss_class`).
        rank: The estimated rank; None if it is not known, or for several games.
    """

    name: str
    games: int
    all: Part
    phases: tuple[Part, ...]
    classes: tuple[Part, ...]
    rank: RankEstimate | None = None

    @property
    def worst_phase(self) -> Phase:
        """The phase in which most points were lost."""
        return max(zip(Phase, self.phases, strict=True), key=lambda pair: pair[1].lost)[0]

    def share_of(self, phase: Phase) -> float:
        """Returns the share of the points that was lost in a phase, 0 to 1."""
        return self.phases[list(Phase).index(phase)].share

    def from_class(self, number: int) -> float:
        """Returns the share of the points that was lost in mistakes of this class and of the larger ones, 0 to 1."""
        return sum(part.share for part in self.classes[number:])


def player_figures(name: str, moves: Sequence[MoveReview], games: int = 1) -> PlayerFigures:
    """Returns the figures of a player's moves."""
    lost = sum(move.points_loss for move in moves)

    def part(chosen: Sequence[MoveReview]) -> Part:
        own = sum(move.points_loss for move in chosen)
        return Part(tuple(chosen), own, own / lost if lost else 0.0)

    return PlayerFigures(
        name,
        games,
        part(moves),
        tuple(part([move for move in moves if phase_of(move) == phase]) for phase in Phase),
        tuple(
            part([move for move in moves if loss_class(move.points_loss) == number])
            for number in range(len(CLASSES) + 1)
        ),
    )


def figures_of_game(review: GameReview, language: str = DEFAULT) -> list[PlayerFigures]:
    """Returns the figures of the judged players of a game who have moves."""
    judged = {colour: moves for colour in review.players if (moves := review.judged(colour))}
    return [
        replace(player_figures(review.name(colour, language), moves), rank=review.ranks.get(colour))
        for colour, moves in judged.items()
    ]


def figures_of_games(reviews: Sequence[GameReview], language: str = DEFAULT) -> list[PlayerFigures]:
    """Returns the figures of the players of several games, who are told apart by name; those with most games first.

    If anybody has several games, only those who do are returned: they are whom the review is about.
    """
    moves: dict[str, list[MoveReview]] = {}
    games: Counter[str] = Counter()
    for review in reviews:
        judged = [(_name(review, colour, language), review.judged(colour)) for colour in review.players]
        for name, own in judged:
            moves.setdefault(name, []).extend(own)
        games.update(list(dict.fromkeys(name for name, own in judged if own)))
    least = 2 if any(count > 1 for count in games.values()) else 1
    names = sorted((name for name, count in games.items() if count >= least), key=lambda name: -games[name])
    return [player_figures(name, moves[name], games[name]) for name in names]


def _name(review: GameReview, colour: int, language: str) -> str:
    """Returns a player's name, or the colour if there is none. It omits the rank, which may differ between games."""
    name = review.record.black if colour == BLACK else review.record.white
    return name or texts(language)(colour_name(colour))
