"""The time that each player has used for a game."""

import time
from collections.abc import Mapping

from ..game.coords import BLACK, WHITE


class UsedTime:
    """Two clocks that count up, of which one runs at most.

    Attributes:
        running: The player whose clock runs; None if neither does.
    """

    def __init__(self, used: Mapping[int, float] | None = None) -> None:
        """Begins with the seconds that the players have used already."""
        self.running: int | None = None
        self._used = {BLACK: 0.0, WHITE: 0.0} | dict(used or {})
        self._since = 0.0

    def switch(self, colour: int | None) -> None:
        """Has the clock of a player run, and no other; None for neither."""
        if colour != self.running:
            self._used = {player: self.of(player) for player in self._used}
            self.running, self._since = colour, time.monotonic()

    def of(self, colour: int) -> float:
        """Returns the seconds that a player has used."""
        return self._used[colour] + (time.monotonic() - self._since if colour == self.running else 0.0)
