"""The clocks of both players during a game: the time that they have used, and the time that they have left."""

from collections.abc import Mapping
from time import monotonic

from ..base.errors import UserError
from ..base.fields import Range, parse_number
from ..game.coords import BLACK, WHITE
from .clock import NO_LIMIT, Clock, TimeSettings

TimeLeft = tuple[float, int]  # seconds and count, as `Clock.remaining` returns them

# More than any game needs: 100 hours of main time, an hour for a period or an increment, 1,000 periods or stones.
MAIN_TIME = Range(0, 360_000, noun="number of seconds")
COUNT = Range(0, 1000, whole=True)
_OVERTIME = Range(0, 3600, noun="number of seconds")


def check_limits(settings: TimeSettings) -> TimeSettings:
    """Returns time limits that a game between people can have.

    Raises:
        UserError: A number is too large, or there is no time at all.
    """
    parse_number("main time", settings.main, MAIN_TIME)
    parse_number("overtime period", settings.period, _OVERTIME)
    parse_number("increment", settings.increment, _OVERTIME)
    parse_number("count of periods or stones", settings.count, COUNT)
    if not settings.is_playable:
        raise UserError("invalid time: the main time must be more than 0 if there is no overtime")
    return settings


class GameClock:
    """Two clocks of which one runs at most, in real time.

    A turn ends with `end_turn`. Before that its clock may stop and run again any number of times.

    Attributes:
        settings: The time system.
        running: The player whose clock runs; None if neither does.
        turn: The player who has used time since the last turn ended; None if neither has.
    """

    def __init__(self, settings: TimeSettings = NO_LIMIT, used: Mapping[int, float] | None = None) -> None:
        """Begins with full clocks.

        Args:
            settings: The time system.
            used: The seconds that the players have used already.
        """
        self.settings = settings
        self.running: int | None = None
        self.turn: int | None = None
        self._clock = Clock(settings)
        self._used = {BLACK: 0.0, WHITE: 0.0} | dict(used or {})
        self._spent = 0.0  # in this turn, until the clock last stopped
        self._since = 0.0

    def switch(self, colour: int | None) -> None:
        """Has the clock of a player run, and no other; None for neither."""
        if colour == self.running:
            return
        self._stop()
        if colour is not None:
            if colour != self.turn:
                self.turn, self._spent = colour, 0.0
            self.running, self._since = colour, monotonic()

    def _stop(self) -> None:
        if self.running is not None:
            elapsed = self._elapsed(self.running)
            self._used[self.running] += elapsed
            self._spent += elapsed
            self.running = None

    def _elapsed(self, colour: int) -> float:
        """Returns the seconds since the clock of a player began to run; 0 if it does not run."""
        return monotonic() - self._since if colour == self.running else 0.0

    def _spent_by(self, colour: int) -> float:
        """Returns the seconds that a player has used in this turn."""
        return self._spent + self._elapsed(colour) if colour == self.turn else 0.0

    def end_turn(self, colour: int) -> None:
        """Charges a player for a move, and stops the clock."""
        self._stop()
        self._clock.charge(colour, self._spent_by(colour))
        self.turn, self._spent = None, 0.0

    def used(self, colour: int) -> float:
        """Returns the seconds that a player has used."""
        return self._used[colour] + self._elapsed(colour)

    def left(self, colour: int) -> TimeLeft | None:
        """Returns what a player has left now; None without a time limit."""
        return self._clock.remaining(colour, self._spent_by(colour))

    def is_out(self, colour: int) -> bool:
        """Whether a player has no time left."""
        left = self.left(colour)
        return left is not None and left[0] <= 0

    def set_left(self, left: Mapping[int, TimeLeft]) -> None:
        """Stops both clocks, and sets them to the beginning of a turn; a player who is not named has full time."""
        self._stop()
        self.turn, self._spent = None, 0.0
        self._clock.restart()
        if self.settings != NO_LIMIT:
            for colour, (seconds, count) in left.items():
                self._clock.time_left(colour, seconds, count)
