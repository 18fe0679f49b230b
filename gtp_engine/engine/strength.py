"""Playing strength as one number, on a path from a random mover to full strength.

* From 0 to 1 a move is drawn from the network's policy, in proportion to p^b for b = strength / (1 - strength): at 0
  every move is equally likely, at 1/2 the policy is as the network gives it, at 1 its first choice is played.
* From 1 on the best move of a search with 2^(strength - 1) visits is played.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# All of these were chosen by judgement.
# Moves with a prior below this share of the largest one, times strength^2, are left out: 0.5 % at a strength of 1/4,
# 2 % at 1/2. So mistakes are those of a player who overlooks something, not of one who plays anywhere.
_LEAST_SHARE = 0.08
_LEAST_ALERTNESS = 0.5
_MOST_PATIENCE = 7


@dataclass(frozen=True, order=True)
class Strength:
    """A place on the path.

    Attributes:
        value: 0 for a random mover, 1 for the policy's first choice; more for searches.
    """

    value: float

    def visits(self, random: "np.random.Generator | None" = None) -> int:
        """Returns the visits of a move, 1 for the policy alone.

        Args:
            random: Decides between the two whole numbers beside one that is not whole; None rounds it down.
        """
        visits = 2.0 ** max(0.0, self.value - 1)
        whole = int(visits)
        return whole + (random is not None and random.random() < visits - whole)

    @property
    def of_policy(self) -> float:
        """The share of the policy in a draw, 0 to 1; the rest is noise."""
        return min(1.0, self.value)

    @property
    def least_share(self) -> float:
        """The prior of the least likely move that may be drawn, as a share of the largest prior."""
        return _LEAST_SHARE * self.of_policy**2

    @property
    def alertness(self) -> float:
        """The probability of answering an atari of a large group; 1 from a strength of 1/2 on."""
        return min(1.0, _LEAST_ALERTNESS + self.value)

    @property
    def patience(self) -> float:
        """How many times as far behind as at full strength a player has to be to resign."""
        return 1 + (_MOST_PATIENCE - 1) * (1 - self.of_policy)
