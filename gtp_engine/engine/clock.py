"""The clock: time settings, what a player has left under them, and how many seconds the engine's next move may take."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import mean, median
from typing import Any, NamedTuple

from ..base.errors import UserError
from ..base.fields import Range, Words
from ..go.coords import BLACK, WHITE

# The time systems, and the numbers that follow their names in `kata-time_settings`, as attributes of `TimeSettings`.
_NUMBERS = {
    "none": (),
    "absolute": ("main",),
    "byoyomi": ("main", "period", "count"),
    "canadian": ("main", "period", "count"),
    "fischer": ("main", "increment"),
    "fischer-capped": ("main", "increment", "main_cap", "move_cap"),
}
SYSTEMS = tuple(_NUMBERS)
_SECONDS, _ANY_SECONDS = Range(0, noun="number of seconds"), Range(noun="number of seconds")

# Time is for moves that can still decide the game. It is planned for a game of this share of the board's area in moves
# (162 on 19x19, 36 on 9x9), and, however long it already lasts, for at least this share of the area as own moves (30 on
# 19x19, 7 on 9x9), and on tiny boards for at least this number. In games of professionals, 4-dan players and engines on
# 9x9, 13x13 and 19x19 (60 of each) moves of undecided positions get 0.02 to 0.13 doublings of time more than with 0.55,
# 1/6 and no even part (benchmarks/time_plan.py, November 2026).
_GAME_LENGTH = 0.45
_LEAST_SHARE, _LEAST_MOVES = 1 / 12, 5.0
# This part of the main time is spread evenly over a game in which each side fills the board, so that late moves get
# some time, and a lag that nothing has shown costs few games.
_EVEN_PART = 0.1
# The reserve for the way to the controller. On a busy machine, where moves are late, it grows up to a share that leaves
# time to think, chosen by judgement.
_LONGEST_RESERVE = 1.0
_RESERVE_SHARE, _LARGEST_SHARE = 0.1, 0.5
# Main time that nothing follows keeps this share of itself, by judgement: moves take some time even when none is left,
# and a game of 125 moves by rollouts on 9x9 took longer than its 10 seconds.
_KEPT_SHARE = 0.05
# The excess of moves over their budgets is the median of the last 5: one slow start must not count for long. The
# reserve follows the largest of the last 20, about half a game on 9x9; the usual part of a budget is also a mean of 20.
_USUAL_MOVES, _MEASURED_MOVES = 5, 20
# A search that begins with an empty tree cannot be settled before half of its time is over (`batches._is_settled`). One
# that begins with many visits can, but that says nothing about the next one.
_LEAST_PART = 0.5
# Seconds per move. No more than this is set aside for lag.
_LONGEST_LAG = 1.0
# Seconds between two reports. A longer delay is not lag: a person or another program has played moves of this colour.
# After such a delay, or a move that exceeded its budget by as much, main time is planned anew.
_LONGEST_DELAY = 10.0


class TimeLeft(NamedTuple):
    """What a player has left, as in GTP's `time_left`."""

    seconds: float  # of the main time, or of the running period; 0 if the time is over
    # 0 in main time; otherwise the stones to play in the period (canadian), or the periods left including the running
    # one (byoyomi).
    stones: int = 0


@dataclass(frozen=True)
class TimeSettings:
    """One time system. All times are in seconds.

    Raises:
        UserError: The system is unknown, or a time is negative or not finite.
    """

    # One of `SYSTEMS`; "none" has no clock, and "fischer-capped" is "fischer" with one or both caps.
    system: str = "none"
    main: float = 0.0
    period: float = 0.0  # the length of an overtime period (byoyomi, canadian)
    count: int = 0  # the number of periods (byoyomi), or of stones to play in each period (canadian)
    increment: float = 0.0  # the time added after each move (fischer)
    main_cap: float | None = None  # the largest main time after an increment; None for no cap
    move_cap: float | None = None  # the longest time for one move; None for no cap

    def __post_init__(self) -> None:
        Words(SYSTEMS).parse("time system", self.system)
        for value in (self.main, self.period, self.count, self.increment, self.main_cap or 0.0, self.move_cap or 0.0):
            _SECONDS.parse("time", value)

    @property
    def has_overtime(self) -> bool:
        """Whether overtime periods follow the main time."""
        return self.system in ("byoyomi", "canadian") and self.period > 0 and self.count > 0

    @property
    def full(self) -> TimeLeft:
        """What a player has at the beginning."""
        return self.reported(self.main, 0)

    def reported(self, seconds: float, count: int) -> TimeLeft:
        """Returns what a player has left who is said to have this; a count means nothing without overtime.

        More than a period can only be main time and the first period: gtp2ogs reported Fischer time so.
        """
        if not self.has_overtime:
            return TimeLeft(seconds)
        if count > 0 and seconds > self.period:
            return TimeLeft(seconds - self.period)
        return TimeLeft(seconds, count) if seconds > 0 or count > 0 else TimeLeft(self.period, self.count)

    def after(self, left: TimeLeft, spent: float) -> TimeLeft:
        """Returns what is left in the middle of a move, after some seconds of it."""
        seconds, count = left
        if seconds <= 0:
            return left  # over
        seconds -= spent
        if seconds <= 0 and count == 0 and self.has_overtime:
            seconds, count = seconds + self.period, self.count
        if seconds <= 0 and self.system == "byoyomi" and self.has_overtime:
            used = int(min(-seconds // self.period + 1, count))
            seconds, count = seconds + used * self.period if used < count else 0.0, count - used
        return TimeLeft(max(seconds, 0.0), count)

    def after_move(self, left: TimeLeft) -> TimeLeft:
        """Returns what is left at the end of a move that left this: the increment and the period are for every move."""
        seconds, count = left
        if count == 0:
            main = seconds + self.increment
            return TimeLeft(main if self.main_cap is None else min(main, self.main_cap))
        if self.system == "byoyomi":
            return TimeLeft(self.period, count)
        return TimeLeft(seconds, count - 1) if count > 1 else TimeLeft(self.period, self.count)


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


def named_settings(words: Sequence[str], systems: Collection[str] = SYSTEMS) -> TimeSettings:
    """Returns the settings of `kgs-time_settings` and `kata-time_settings`.

    Args:
        words: A system's name and its numbers: none | absolute MAIN | byoyomi MAIN PERIOD PERIODS | canadian MAIN
            PERIOD STONES | fischer MAIN INCREMENT | fischer-capped MAIN INCREMENT MAIN_CAP MOVE_CAP (a negative cap is
            none).

    Raises:
        UserError: The words have another form.
    """
    system = Words(systems).parse("time system", words[0].lower() if words else "")
    names = _NUMBERS[system]
    if len(words) - 1 != len(names):
        raise UserError(f"{system} takes {len(names)} numbers, not {len(words) - 1}")
    values: dict[str, Any] = {name: _value(name, word) for name, word in zip(names, words[1:], strict=True)}
    settings = TimeSettings(system, **values)
    return TimeSettings("absolute", settings.main) if "count" in names and not settings.has_overtime else settings


def _value(name: str, word: str) -> float | None:
    if name == "count":
        return Range(0, whole=True).parse("count", word)
    seconds = _ANY_SECONDS.parse("time", word)
    return None if name.endswith("_cap") and seconds < 0 else seconds


@dataclass
class _Side:
    """One colour's clock."""

    settings: TimeSettings
    left: TimeLeft  # what is left at the beginning of the next move
    # The main time of which a part is spread evenly: that of the settings, or what was left when the plan began anew.
    planned: float
    # Seconds by which the last moves exceeded their budgets.
    excesses: deque[float] = field(default_factory=lambda: deque(maxlen=_MEASURED_MOVES))
    # The parts of their budgets that the last moves took; two whole ones come before the first.
    parts: deque[float] = field(default_factory=lambda: deque([1.0, 1.0], maxlen=_MEASURED_MOVES))
    # The main time by our own count since the controller's last report; None before the first one.
    counted: float | None = None
    moves: int = 0  # since the first report
    # Seconds by which the reports were behind the count: the controller sees the moves later than we play them.
    late: float = 0.0

    @property
    def overhead(self) -> float:
        """Seconds that a move costs beyond its budget: in the search, and on the way to the controller.

        Reports are in whole seconds, so a lag of one second in all proves nothing.
        """
        lag = min(max(self.late - 1, 0.0) / self.moves, _LONGEST_LAG) if self.moves else 0.0
        return lag + self._usual_excess

    @property
    def _usual_excess(self) -> float:
        return median(islice(reversed(self.excesses), _USUAL_MOVES)) if self.excesses else 0.0

    @property
    def usual_part(self) -> float:
        """The part of its budget that a move takes: most searches end before their time is over."""
        return max(mean(self.parts), _LEAST_PART)

    def reserve(self, seconds: float) -> float:
        """Returns what is left of these seconds for the way to the controller, and for a move as late as any before.

        An excess that is too large for a reserve does not count: it was a slow start, or nothing would help.
        """
        most = _LARGEST_SHARE * seconds
        is_all = not (self.settings.has_overtime or self.settings.increment)
        kept = min(_KEPT_SHARE * self.planned, most) if is_all else 0.0
        least = min(_LONGEST_RESERVE, max(_RESERVE_SHARE * seconds, kept))
        lateness = (excess - self._usual_excess for excess in self.excesses)
        return max((least + late for late in lateness if 0 < late <= most - least), default=least)

    def main_share(self, seconds: float, given: float, area: int, move_number: int) -> float:
        """Returns the part of these seconds of main time to spend on a move.

        given: the seconds that each move has from an increment or overtime.
        """
        even = _EVEN_PART * max(self.planned, seconds) / area
        # For each move of a game in which each side fills the board, what it costs beyond its budget is set aside.
        possible = max(area - move_number / 2, area / 2)
        main = max(seconds - max(self.overhead, even - given) * possible, 0.0)
        moves = max((_GAME_LENGTH * area - move_number) / 2, _LEAST_SHARE * area, _LEAST_MOVES)
        return main / moves / self.usual_part

    def report(self, seconds: float) -> None:
        """Measures the lag by the seconds of main time that the controller reports."""
        late = 0.0 if self.counted is None else self.counted - seconds
        if self.counted is None or late > _LONGEST_DELAY:
            self.planned = seconds
        elif self.late + late < -1:  # more than we have counted: it is another game
            self.planned, self.moves, self.late = seconds, 0, 0.0
        else:
            self.late += late
        self.counted = seconds

    def charge(self, seconds: float) -> None:
        """Subtracts the time of a move."""
        self.left = self.settings.after_move(self.settings.after(self.left, seconds))
        if self.counted is not None:
            self.counted = self.settings.after_move(TimeLeft(self.counted - seconds)).seconds
            self.moves += 1


class Clock:
    """The clocks of both colours under one time system.

    Own moves are charged by `charge`; a controller's `time_left` overrides what was counted, unless it is less than a
    second more, which is rounding.
    """

    def __init__(self, settings: TimeSettings = NO_LIMIT) -> None:
        self._settings = settings
        self._sides = {colour: _Side(settings, settings.full, settings.main) for colour in (BLACK, WHITE)}

    @property
    def settings(self) -> TimeSettings:
        """The time system. Setting it resets both colours to their full time."""
        return self._settings

    @settings.setter
    def settings(self, settings: TimeSettings) -> None:
        if settings != self._settings:
            for side in self._sides.values():
                side.counted, side.planned, side.moves, side.late = None, settings.main, 0, 0.0
        self._settings = settings
        self.restart()

    def restart(self) -> None:
        """Resets both colours to their full time, for a new game.

        What was measured stays valid: some controllers send the settings, or the whole game, before each move.
        """
        for side in self._sides.values():
            side.settings, side.left = self._settings, self._settings.full

    def time_left(self, colour: int, seconds: float, count: int) -> None:
        """Sets a clock to a controller's report (GTP's `time_left`).

        If the settings are "none", the report alone is that colour's clock.

        Args:
            seconds: What is left; an overrun clock may be reported below 0.
            count: As in `TimeLeft`. It means nothing in settings without overtime.

        Raises:
            UserError: A number is invalid.
        """
        seconds = max(_ANY_SECONDS.parse("time left", seconds), 0.0)
        count = int(Range(0, whole=True).parse("count", count))
        side = self._sides[colour]
        if self._settings.system == "none":
            side.settings = TimeSettings("absolute") if count == 0 else TimeSettings("canadian", 0.0, seconds, count)
        reported, counted = side.settings.reported(seconds, count), side.left
        # A report of hardly more than we have counted is rounded up.
        is_rounded = 0 < counted.seconds < reported.seconds < counted.seconds + 1 and counted.stones == reported.stones
        side.left = counted if is_rounded else reported
        if count == 0 or not side.settings.has_overtime:
            side.report(seconds)

    def charge(self, colour: int, seconds: float, budget: float | None = None) -> None:
        """Subtracts the seconds that a move took; the budget is what it was meant to take, None if it had none."""
        side = self._sides[colour]
        if side.settings.system == "none":
            return
        if budget is not None and seconds >= budget:
            side.excesses.append(seconds - budget)
        if budget:
            side.parts.append(min(seconds / budget, 1.0))
        side.charge(seconds)
        if seconds > (budget or 0.0) + _LONGEST_DELAY:
            side.planned = side.left.seconds

    def remaining(self, colour: int) -> TimeLeft | None:
        """Returns what a player has left; None without a clock."""
        side = self._sides[colour]
        return None if side.settings.system == "none" else side.left

    def budget(self, colour: int, area: int, move_number: int, spent: float = 0.0) -> float | None:
        """Returns the seconds to spend on the next move of `colour`.

        Main time is spread over the moves that still decide the game, as if each took the usual part of its budget, and
        a tenth of it evenly over a game that fills the board. A period of byo-yomi, a Canadian stone's share and a
        Fischer increment are for this move. A reserve of a tenth of what may be used, or a twentieth of a main time
        that nothing follows, at most a second, is left for the way to the controller, and by as much more as the latest
        of the last moves was later than the others. What moves have usually cost beyond their budgets is taken off
        besides, as is the lag, for this move and those to come.

        Args:
            colour, area, move_number: The player, the board's number of points, and the moves played by both.
            spent: Seconds since the move was requested, which are not charged to the clock yet.

        Returns:
            Seconds; 0.0 if the player has to move at once, None without a clock.
        """
        side = self._sides[colour]
        settings = side.settings
        if settings.system == "none":
            return None
        seconds, count = settings.after(side.left, spent)
        if seconds <= 0:
            return 0.0
        overtime = seconds if count else settings.period if settings.has_overtime else 0.0
        # Not the sum: our count of the main time may be ahead of the controller's by some lag.
        usable = max(seconds, overtime)
        if settings.has_overtime:
            stones = (count or settings.count) if settings.system == "canadian" else 1
            given = (overtime - side.reserve(overtime)) / stones
        elif settings.main_cap is not None:  # what is above the cap would be cut off
            given = max(settings.increment, usable + settings.increment - settings.main_cap)
        else:
            given = settings.increment
        main = 0.0 if count else seconds - side.reserve(usable)
        share = given + side.main_share(main, given, area, move_number)
        usable = usable if settings.move_cap is None else min(usable, settings.move_cap)
        return max(min(share, usable - side.reserve(usable)) - side.overhead, 0.0)
