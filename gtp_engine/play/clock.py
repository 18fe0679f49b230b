"""The game clock: time settings, what each colour has left, and how many seconds the next move may take."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from ..base.errors import UserError
from ..base.fields import Range, parse_number
from ..game.coords import BLACK, WHITE

SYSTEMS = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")

# The length of a game for which time is planned, as a share of the board's area: 200 moves on 19x19, 45 on 9x9. Games
# are longer, but their last moves need little time, and searches whose result is settled end early.
_GAME_LENGTH = 0.55
# However long a game already lasts, time is planned for at least this share of the area as own moves (60 on 19x19, 13
# on 9x9), and for at least this number of moves on tiny boards.
_LEAST_SHARE, _LEAST_MOVES = 1 / 6, 5.0
_LONGEST_RESERVE = 1.0
_RESERVE_SHARE = 0.1
# The excess of moves over their budgets is the median of this number of moves: one slow start must not count for long.
_MEASURED_MOVES = 5
# Seconds per move. No more than this is set aside.
_LONGEST_LAG = 1.0
# Seconds between two reports. A longer delay is not lag: a person or another program has played moves of this colour.
_LONGEST_DELAY = 10.0


@dataclass(frozen=True)
class TimeSettings:
    """One time system. All times are in seconds.

    Attributes:
        system: One of `SYSTEMS`; "none" has no clock, and "fischer-capped" is "fischer" with one or both caps.
        main: The main time.
        period: The length of an overtime period (byoyomi, canadian).
        count: The number of periods (byoyomi), or of stones to play in each period (canadian).
        increment: The time added after each move (fischer).
        main_cap: The largest main time after an increment; None for no cap.
        move_cap: The longest time for one move; None for no cap.

    Raises:
        UserError: The system is unknown, or a time is negative or not finite.
    """

    system: str = "none"
    main: float = 0.0
    period: float = 0.0
    count: int = 0
    increment: float = 0.0
    main_cap: float | None = None
    move_cap: float | None = None

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise UserError(f"unknown time system {self.system!r}: expected {', '.join(SYSTEMS)}")
        times = (self.main, self.period, self.count, self.increment, self.main_cap or 0.0, self.move_cap or 0.0)
        for value in times:
            if not math.isfinite(value) or value < 0:
                raise UserError(f"invalid time {value}: expected a number of seconds, 0 or more")

    @property
    def has_overtime(self) -> bool:
        """Whether overtime periods follow the main time."""
        return self.system in ("byoyomi", "canadian") and self.period > 0 and self.count > 0

    @property
    def is_playable(self) -> bool:
        """Whether there is time for a move."""
        return self.system == "none" or self.main > 0 or self.has_overtime

    def after_increment(self, main: float) -> float:
        """Returns the seconds of main time after a move, when `main` were left before its increment."""
        main += self.increment
        return main if self.main_cap is None else min(main, self.main_cap)


NO_LIMIT = TimeSettings()


def gtp_settings(main: float, byo_yomi: float, stones: int) -> TimeSettings:
    """Returns the settings of GTP's `time_settings` (GTP version 2, section 4.2).

    By the specification a period without stones means no limit. It does not define `0 0 0`; the controllers that send
    it mean no limit.
    """
    settings = TimeSettings("canadian", main, byo_yomi, stones)
    if settings.has_overtime:
        return settings
    return NO_LIMIT if byo_yomi > 0 or main == 0 else TimeSettings("absolute", main)


def named_settings(words: Sequence[str]) -> TimeSettings:
    """Returns the settings of `kgs-time_settings` and `kata-time_settings`.

    Args:
        words: A system's name and its numbers: none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN
            PERIOD STONES | fischer MAIN INCREMENT | fischer-capped MAIN INCREMENT MAIN_CAP MOVE_CAP (a negative cap is
            none).

    Raises:
        UserError: The words have another form.
    """
    system = words[0].lower() if words else ""
    if system not in SYSTEMS:
        raise UserError(f"unknown time system {system!r}: expected {', '.join(SYSTEMS)}")
    expected = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3, "fischer": 2, "fischer-capped": 4}[system]
    numbers = [_number(word) for word in words[1:]]
    if len(numbers) != expected:
        raise UserError(f"{system} takes {expected} numbers, not {len(numbers)}")
    match system:
        case "none":
            return NO_LIMIT
        case "byoyomi" | "canadian":
            main, period, count = numbers
            if count != int(count):
                raise UserError(f"invalid count {count}: expected a whole number")
            overtime = period > 0 and count > 0
            return TimeSettings(system, main, period, int(count)) if overtime else TimeSettings("absolute", main)
        case "fischer-capped":
            caps = [cap if cap >= 0 else None for cap in numbers[2:]]
            return TimeSettings(system, numbers[0], increment=numbers[1], main_cap=caps[0], move_cap=caps[1])
        case "fischer":
            return TimeSettings(system, numbers[0], increment=numbers[1])
        case _:
            return TimeSettings(system, numbers[0])


def _number(word: str) -> float:
    return parse_number("time", word, Range(noun="number of seconds"))


def own_moves_left(area: int, move_number: int) -> float:
    """Returns for how many more moves of one player to plan on `area` points, after `move_number` moves of both."""
    return max((_GAME_LENGTH * area - move_number) / 2, _LEAST_SHARE * area, _LEAST_MOVES)


@dataclass
class _Lag:
    """How much later the controller sees one colour's moves than we play them, measured by its reports.

    Attributes:
        per_move: Seconds of lag per move.
        counted: The main time by our own count since the controller's first report; None before it.
        moves: Moves charged since then.
        behind: Seconds by which the last report was behind that count.
    """

    per_move: float = 0.0
    counted: float | None = None
    moves: int = 0
    behind: float = 0.0

    def charge(self, seconds: float, settings: TimeSettings) -> None:
        """Takes the seconds of a move from the count."""
        if self.counted is not None:
            self.counted = settings.after_increment(self.counted - seconds)
            self.moves += 1

    def report(self, seconds: float) -> None:
        """Measures by the seconds of main time that the controller reports.

        Reports are in whole seconds, so a difference of one second proves nothing. One above the count is of another
        game.
        """
        if self.counted is None or seconds > self.counted + 1:
            self.per_move, self.counted, self.moves, self.behind = 0.0, seconds, 0, 0.0
            return
        delay = self.counted - seconds - self.behind
        if delay > _LONGEST_DELAY:
            self.counted -= delay
        self.behind = self.counted - seconds
        if self.moves:
            self.per_move = min(max(self.behind - 1, 0.0) / self.moves, _LONGEST_LAG)


@dataclass
class _Side:
    """One colour's clock.

    Attributes:
        settings: The time system.
        main: Seconds left of the main time.
        period: Seconds left of the running period.
        count: Stones to play in it (canadian), or periods left with it (byoyomi).
        lag: The lag between the engine and the controller.
        excesses: Seconds by which the last moves exceeded their budgets.
    """

    settings: TimeSettings
    main: float
    period: float
    count: int
    lag: _Lag = field(default_factory=_Lag)
    excesses: deque[float] = field(default_factory=lambda: deque(maxlen=_MEASURED_MOVES))

    @property
    def overhead(self) -> float:
        """Seconds that a move costs beyond its budget: in the search, and on the way to the controller."""
        return self.lag.per_move + (median(self.excesses) if self.excesses else 0.0)


def _side(settings: TimeSettings) -> _Side:
    return _Side(settings, settings.main, settings.period, settings.count)


class Clock:
    """The clocks of both colours under one time system.

    Own moves are charged by `charge`; a controller's `time_left` overrides what was counted.
    """

    def __init__(self, settings: TimeSettings = NO_LIMIT) -> None:
        self._settings = settings
        self._sides = {BLACK: _side(settings), WHITE: _side(settings)}

    @property
    def settings(self) -> TimeSettings:
        """The time system. Setting it resets both colours to their full time."""
        return self._settings

    @settings.setter
    def settings(self, settings: TimeSettings) -> None:
        if settings != self._settings:
            for side in self._sides.values():
                side.lag = _Lag()
        self._settings = settings
        self.restart()

    def restart(self) -> None:
        """Resets both colours to their full time, for a new game.

        What was measured stays valid: some controllers send the settings, or the whole game, before each move.
        """
        for colour, old in self._sides.items():
            self._sides[colour] = replace(_side(self._settings), lag=old.lag, excesses=old.excesses)

    def time_left(self, colour: int, seconds: float, count: int) -> None:
        """Sets a clock to a controller's report (GTP's `time_left`).

        If the settings are "none", the report alone is that colour's clock.

        Args:
            colour: The player.
            seconds: The seconds left.
            count: 0 for main time; otherwise the stones for which the seconds are left, or with byo-yomi the periods
                left including the running one. It means nothing in settings without overtime.

        Raises:
            UserError: A number is invalid.
        """
        if not math.isfinite(seconds) or count < 0:
            raise UserError(f"invalid time left {seconds} {count}: expected seconds and a count, 0 or more")
        seconds = max(seconds, 0.0)  # an overrun clock may be reported below 0
        side = self._sides[colour]
        if self._settings.system == "none":
            side.settings = TimeSettings("absolute") if count == 0 else TimeSettings("canadian", 0.0, seconds, count)
        if count > 0 and side.settings.has_overtime:
            side.main, side.period, side.count = 0.0, seconds, count
            return
        side.main, side.period, side.count = seconds, side.settings.period, side.settings.count
        side.lag.report(seconds)

    def charge(self, colour: int, seconds: float, budget: float | None = None) -> None:
        """Subtracts the time of a move.

        Args:
            colour: The player.
            seconds: The time that the move took.
            budget: The time that it was meant to take; None if it had no budget.
        """
        side = self._sides[colour]
        if side.settings.system == "none":
            return
        if budget is not None and seconds >= budget:
            side.excesses.append(seconds - budget)
        side.lag.charge(seconds, side.settings)
        _spend(side, seconds)
        _end_move(side)

    def remaining(self, colour: int, spent: float = 0.0) -> tuple[float, int] | None:
        """Returns what a player has left.

        Args:
            colour: The player.
            spent: Seconds of the present move, which are not charged yet.

        Returns:
            Seconds and count as in `time_left`, 0 seconds if the time is over; None without a clock.
        """
        side = replace(self._sides[colour])
        if side.settings.system == "none":
            return None
        _spend(side, spent)
        in_main = side.main > 0 or not side.settings.has_overtime
        return (side.main, 0) if in_main else (side.period, side.count)

    def budget(self, colour: int, area: int, move_number: int, spent: float = 0.0) -> float | None:
        """Returns the seconds to spend on the next move of `colour`.

        Main time is spread over the moves to come; a period of byo-yomi, a Canadian stone's share and a Fischer
        increment are for this move. A reserve of a tenth of what may be used, at most a second, is left for the way to
        the controller.

        Args:
            colour: The player.
            area: The board's number of points.
            move_number: The number of moves played by both.
            spent: Seconds since the move was requested, which are not charged to the clock yet.

        Returns:
            Seconds; 0.0 if the player has to move at once, None without a clock.
        """
        side = self._sides[colour]
        if side.settings.system == "none":
            return None
        side = replace(side, main=max(side.main - spent, 0.0), period=side.period - max(spent - side.main, 0.0))
        planned = own_moves_left(area, move_number)
        # Not the sum: our count of the main time may be ahead of the controller's by some lag.
        usable = max(side.main, _overtime(side))
        # What a move costs beyond its budget is set aside even for a game in which each side fills the board.
        possible = max(area - move_number / 2, area / 2)
        main = max(side.main - _reserve(usable) - side.overhead * possible, 0.0)
        share = main / planned + _share_of_extras(side, usable)
        cap = side.settings.move_cap
        usable = usable if cap is None else min(usable, cap)
        return max(min(share, usable - _reserve(usable)) - side.overhead, 0.0)


def _overtime(side: _Side) -> float:
    """Returns the seconds of overtime that can be used up without losing on time."""
    return max(side.period, 0.0) if side.count > 0 else 0.0


def _share_of_extras(side: _Side, usable: float) -> float:
    """Returns the seconds of this move in addition to its main time: of overtime, increment, or time above the cap."""
    settings = side.settings
    if settings.has_overtime:
        overtime = _overtime(side)
        stones = side.count if settings.system == "canadian" else 1
        return (overtime - _reserve(overtime)) / max(stones, 1)
    if settings.main_cap is not None:
        return max(settings.increment, usable + settings.increment - settings.main_cap)  # the rest would be cut off
    return settings.increment


def _reserve(seconds: float) -> float:
    return min(_LONGEST_RESERVE, _RESERVE_SHARE * seconds)


def _spend(side: _Side, seconds: float) -> None:
    """Subtracts seconds of a move that is under way."""
    settings = side.settings
    overtime = max(seconds - side.main, 0.0)
    side.main = max(side.main - seconds, 0.0)
    if side.main > 0:
        return
    if settings.system == "byoyomi" and settings.has_overtime and overtime >= side.period:
        others, overtime = divmod(overtime - side.period, settings.period)
        side.period = settings.period
        side.count -= int(min(1 + others, side.count))
    side.period = max(side.period - overtime, 0.0) if side.count > 0 else 0.0


def _end_move(side: _Side) -> None:
    """Adds what a player gets for a move."""
    settings = side.settings
    if side.main > 0 or not settings.has_overtime:
        side.main = settings.after_increment(side.main)
    elif settings.system == "byoyomi":
        # The next move has a full period if this one was not used up.
        side.period = settings.period if side.count > 0 else 0.0
    else:
        side.count -= 1
        if side.count <= 0:
            side.period, side.count = settings.period, settings.count
