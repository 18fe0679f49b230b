"""What searches have found about the positions of a game: its graph, and what a move has lost."""

from dataclasses import dataclass

from ..game.coords import BLACK
from ..game.game import Game
from ..search.report import SearchReport

JUDGED_VISITS = 100  # a person waits for them: about a second on two cores with the bundled networks, or less
LEAST_LOSS = 1.5  # points; the second class of the mistakes of `review`, which are KaTrain's


@dataclass(frozen=True)
class Value:
    """What a search has found about a position.

    Attributes:
        winrate: Black's win rate.
        lead: Black's lead in points.
        visits: The visits behind them.
        best: The best move.
    """

    winrate: float
    lead: float
    visits: int
    best: str


@dataclass(frozen=True)
class Loss:
    """What the last move before a position has lost.

    Attributes:
        point: Where it was played.
        points: The points lost.
        best: The best move instead of it.
    """

    point: int
    points: float
    best: str


class Values:
    """The values of a game's positions, by the number of moves played."""

    def __init__(self) -> None:
        self._values: dict[int, Value] = {}

    def note(self, report: SearchReport, place: int) -> None:
        """Keeps what a search has found, unless a search with more visits has been kept."""
        known = self._values.get(place)
        if not report.moves or (known is not None and known.visits > report.visits):
            return
        is_black = report.to_move == BLACK
        winrate = report.winrate if is_black else 1 - report.winrate
        lead = report.lead if is_black else -report.lead
        self._values[place] = Value(winrate, lead, report.visits, report.moves[0].vertex)

    def forget(self, after: int = -1) -> None:
        """Forgets the positions after this number of moves; by default all."""
        self._values = {place: value for place, value in self._values.items() if place <= after}

    def is_judged(self, place: int) -> bool:
        """Whether a position has been searched well enough to judge a move by it."""
        value = self._values.get(place)
        return value is not None and value.visits >= JUDGED_VISITS

    def curve(self) -> list[tuple[int, float, float]]:
        """Returns the number of moves, Black's win rate and Black's lead of each position, in order."""
        return [
            (place, round(value.winrate, 3), round(value.lead, 1) + 0.0)
            for place, value in sorted(self._values.items())
        ]

    def loss(self, game: Game) -> Loss | None:
        """Returns what the last move of a game has lost; None if that is little, or not known."""
        place = len(game.moves)
        if not (place and self.is_judged(place) and self.is_judged(place - 1)):
            return None
        before, after, move = self._values[place - 1], self._values[place], game.moves[-1]
        points = before.lead - after.lead if move.colour == BLACK else after.lead - before.lead
        if points < LEAST_LOSS or before.best == game.vertex(move.point):
            return None
        return Loss(move.point, points, before.best)
