"""Counts how long one side has been winning, so that decided games can be cut short."""

from dataclasses import dataclass

from ..game.coords import EMPTY, opponent
from ..search.report import SearchReport


@dataclass
class ResignTracker:
    """The side that is ahead, and for how long it has been winning.

    Attributes:
        leader: Colour of the side that was ahead at the last position; EMPTY before the first one.
        positions: Number of consecutive positions at which the leader was winning, each by the search of whichever
            side was to move there.
    """

    leader: int = EMPTY
    positions: int = 0

    def update(self, report: SearchReport, winrate: float) -> None:
        """Adds the next position.

        Args:
            report: The search of the position.
            winrate: Win rate (0.5..1) from which a side counts as winning; with 1 no side does.
        """
        leader = report.to_move if report.winrate > 0.5 else opponent(report.to_move)
        is_winning = winrate < 1 and max(report.winrate, 1 - report.winrate) >= winrate
        self.positions = (self.positions + 1 if leader == self.leader else 1) if is_winning else 0
        self.leader = leader
