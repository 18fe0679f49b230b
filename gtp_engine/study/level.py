"""What a lead is worth to the players of a game, who give back more of it the weaker they are.

Figures are those of `benchmarks/lead_worth.py`, which fits them to games of people and of the engine's ranks.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from ..engine.ranks import WEAKEST
from ..go.coords import BLACK
from ..go.sgf import GameRecord

# Of players of 1d on 19x19, the standard deviation of what becomes of a lead by the end of the game, in points; and the
# logarithm of the factor from one rank to the next weaker one. It grows with the number of points on the board.
SPREAD, BY_RANK = 14.0, 0.051
# The share of games that are lost with a lead of any size.
UPSETS = 0.09
# A handicap has been made up for when this share of the board's points has been played.
HANDICAP_ENDS = 0.75
_RANK = re.compile(r"(\d{1,2}) ?([kdp])", re.IGNORECASE)
_PROFESSIONAL = 8  # 9d
_USUAL = -10.0  # of a game whose players have no rank: that in the middle of the people's games


@dataclass(frozen=True)
class Level:
    """What leads are worth in a game.

    Attributes:
        rank: The players' rank, a number in which 1d is 0 and 1k is -1.
        area: The number of points on the board.
        handicap: Black's lead at the start of a game with handicap stones, which White is expected to make up for.
    """

    rank: float
    area: int
    handicap: float = 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of what becomes of a lead by the end of the game, in points."""
        return SPREAD * math.exp(-BY_RANK * self.rank) * self.area / 361

    @property
    def is_beginners(self) -> bool:
        """Whether the players are at the engine's weakest rank, or weaker."""
        return self.rank <= WEAKEST.number - 1

    def weight(self, colour: int, number: int, lead: float, points: float) -> float:
        """Returns what points of a lead are worth: each by twice the chance that the one who is ahead will lose.

        A point is worth 1 in an even game, and 2 `UPSETS` in one that seems to be decided.

        Args:
            colour: The player who loses the points.
            number: The number of the move by which they are lost.
            lead: Black's lead before it.
            points: How many are lost.
        """
        beyond = lead - self.handicap * max(0.0, 1 - (number - 1) / (HANDICAP_ENDS * self.area))
        own = beyond if colour == BLACK else -beyond
        return self._worth(own) - self._worth(own - points)

    def _worth(self, lead: float) -> float:
        """Returns the integral of twice the chance of an upset, from an even game to this lead."""
        size, share = abs(lead), abs(lead) / self.spread
        normal = size * math.erfc(share / math.sqrt(2)) / 2
        normal += self.spread * (1 - math.exp(-(share**2) / 2)) / math.sqrt(2 * math.pi)
        return math.copysign(2 * UPSETS * size + 2 * (1 - 2 * UPSETS) * normal, lead)


def level_of(record: GameRecord, others: Sequence[float], start: float | None) -> Level:
    """Returns the level of a game, by the ranks that its record states.

    Args:
        record: The game.
        others: Ranks that count if it states none.
        start: Black's lead before the first move; None if it is not known.
    """
    stated = [known for text in (record.black_rank, record.white_rank) if (known := read_rank(text)) is not None]
    rank = float(mean(stated or others or [_USUAL]))
    handicap = start or 0.0 if record.handicap > 1 else 0.0
    return Level(rank, record.width * record.height, handicap)


def read_rank(text: str) -> int | None:
    """Returns a rank as a number in which 1d is 0 and 1k is -1; None if a text names none."""
    match = _RANK.match(text.strip())
    if match is None:
        return None
    kind = match[2].lower()
    return _PROFESSIONAL if kind == "p" else int(match[1]) - 1 if kind == "d" else -int(match[1])


EVERYBODY = Level(_USUAL, 361)  # before the level of a game is known
