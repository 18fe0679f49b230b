"""For how long a side has been sure to win, by which self-play and matches end games that are decided."""

from dataclasses import dataclass

from ..game.coords import EMPTY, opponent
from .report import SearchReport


@dataclass
class Certainty:
    """colour: who was ahead at the position seen last. positions: at so many in a row it was sure to win, in the eyes
    of whoever was to move there.
    """

    colour: int = EMPTY
    positions: int = 0

    def see(self, report: SearchReport, sure_winrate: float) -> None:
        """Looks at the next position; a side is sure to win whose win rate is `sure_winrate` or more."""
        ahead = report.to_move if report.winrate > 0.5 else opponent(report.to_move)
        is_sure = max(report.winrate, 1 - report.winrate) >= sure_winrate
        self.positions = (self.positions + 1 if ahead == self.colour else 1) if is_sure else 0
        self.colour = ahead
