"""The time that each player has used since the game was begun or opened."""

import time

from ..game.coords import BLACK, WHITE


class Clocks:
    """Two clocks, of which one runs at most.

    Attributes:
        running: The player whose clock runs; None if neither does.
    """

    def __init__(self) -> None:
        self.running: int | None = None
        self._used = {BLACK: 0.0, WHITE: 0.0}
        self._since = 0.0

    def switch(self, colour: int | None) -> None:
        """Has the clock of a player run, and no other; None for neither."""
        if colour != self.running:
            self._used = {player: self.used(player) for player in self._used}
            self.running, self._since = colour, time.monotonic()

    def used(self, colour: int) -> float:
        """Returns the seconds that a player has used."""
        return self._used[colour] + (time.monotonic() - self._since if colour == self.running else 0.0)
