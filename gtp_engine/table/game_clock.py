"""The clocks of a game between people and the engine, in real time, with the times in its record.

In a record the root has the time system (TM, OT), and nodes what was left after moves (BL, WL, OB, OW). FF[4] leaves
the text in OT free; here it has the form that Go servers write: "5x30 byo-yomi", "25/600 Canadian" and "10 Fischer".
As there, OB and OW are the stones still to play in a Canadian period, or the byo-yomi periods left.
"""

import re
from collections.abc import Iterable, Mapping
from time import monotonic

from ..base.errors import UserError
from ..base.fields import Range
from ..engine.clock import NO_LIMIT, TimeLeft, TimeSettings
from ..go.coords import BLACK, WHITE
from ..go.sgf import GameRecord, Properties, TreeNode, read_number, read_text
from ..go.sgf.values import number_text

# More than any game needs: 100 hours of main time, an hour for a period or an increment, 1,000 periods or stones.
_MAIN_TIME = Range(0, 360_000, noun="number of seconds")
_OVERTIME = Range(0, 3600, noun="number of seconds")
_COUNT = Range(0, 1000, whole=True)

_LEFT = {BLACK: ("BL", "OB"), WHITE: ("WL", "OW")}
_NUMBER = r"(\d{1,6}(?:\.\d+)?(?:e[-+]?\d+)?)"  # with an exponent too, as `number_text` writes it
_FISCHER = re.compile(rf"{_NUMBER} fischer", re.IGNORECASE)
_PERIODS = re.compile(rf"(\d{{1,4}})(?:x{_NUMBER} byo-yomi|/{_NUMBER} canadian)", re.IGNORECASE)


def check_limits(settings: TimeSettings) -> TimeSettings:
    """Returns time limits that a game between people can have.

    Raises UserError if a number is too large, or if neither main time nor overtime is given.
    """
    _MAIN_TIME.parse("main time", settings.main)
    _OVERTIME.parse("overtime period", settings.period)
    _OVERTIME.parse("increment", settings.increment)
    _COUNT.parse("count of periods or stones", settings.count)
    if settings != NO_LIMIT and settings.full.seconds == 0:
        raise UserError("invalid time: the main time must be more than 0 if there is no overtime")
    return settings


def overtime_text(settings: TimeSettings) -> str:
    """Returns the text for OT; "" if there is no overtime."""
    match settings.system:
        case "byoyomi":
            return f"{settings.count}x{number_text(settings.period)} byo-yomi"
        case "canadian":
            return f"{settings.count}/{number_text(settings.period)} Canadian"
        case "fischer":
            return f"{number_text(settings.increment)} Fischer"
        case _:
            return ""


def read_time_settings(root: Properties) -> TimeSettings:
    """Returns the time system in the properties of a root; `NO_LIMIT` for none, and for what is not read here."""
    main, overtime = read_number(read_text(root, "TM")), read_text(root, "OT").strip()
    try:
        return NO_LIMIT if main is None else check_limits(_with_overtime(main, overtime))
    except UserError:
        return NO_LIMIT


def _with_overtime(main: float, text: str) -> TimeSettings:
    if not text:
        return TimeSettings("absolute", main)
    if match := _FISCHER.fullmatch(text):
        return TimeSettings("fischer", main, increment=float(match[1]))
    if match := _PERIODS.fullmatch(text):
        system = "byoyomi" if match[2] else "canadian"
        settings = TimeSettings(system, main, float(match[2] or match[3]), int(match[1]))
        return settings if settings.has_overtime else NO_LIMIT
    return NO_LIMIT


def with_time_left(properties: Properties, left: Mapping[int, TimeLeft]) -> Properties:
    """Returns the properties of a node with the times that these players, and no others, have left after it."""
    names = {name for pair in _LEFT.values() for name in pair}
    timed = {name: values for name, values in properties.items() if name not in names}
    for colour, (seconds, count) in left.items():
        seconds_name, count_name = _LEFT[colour]
        timed[seconds_name] = [f"{seconds:.2f}".encode()]
        if count:
            timed[count_name] = [str(count).encode()]
    return timed


def read_time_left(line: Iterable[Properties]) -> dict[int, TimeLeft]:
    """Returns what the players have left after a line, by the last node that says it; without those that none names.

    Seconds or counts beyond those of any game are not read.
    """
    left: dict[int, TimeLeft] = {}
    for properties in line:
        for colour, (seconds_name, count_name) in _LEFT.items():
            seconds = read_number(read_text(properties, seconds_name))
            count = read_number(read_text(properties, count_name))
            if seconds is not None and seconds in _MAIN_TIME:
                left[colour] = TimeLeft(seconds, int(count) if count is not None and count in _COUNT else 0)
    return left


class GameClock:
    """Two clocks at the end of a game's main line, of which one runs at most, in real time.

    The node of a move says what its player has left after it. If the game is saved in mid-turn, the last node says what
    the other player has left too. Within a turn the clock may stop and run again any number of times.
    """

    def __init__(self, tree: GameRecord, settings: TimeSettings = NO_LIMIT, used: Mapping[int, float] | None = None):
        """Continues a game with the times in its record, also in mid-turn, and the seconds that players have used."""
        self.settings = settings  # the time system
        self.last = tree.main_line[-1]  # the last node of the main line, whose turn is timed
        self.running: int | None = None  # the player whose clock runs; None if neither does
        self._tree = tree
        self._used = {BLACK: 0.0, WHITE: 0.0} | dict(used or {})
        self._since = 0.0  # when the running clock began to run
        self._begin_turn()

    def _begin_turn(self) -> None:
        """Sets both clocks to the times after the last node; a player whom none names has full time."""
        self.switch(None)
        self._used_before = dict(self._used)  # the turn
        said = read_time_left(node.properties for node in self.last.path)
        self._left = {
            colour: self.settings.reported(*said[colour]) if colour in said else self.settings.full
            for colour in (BLACK, WHITE)
        }

    def switch(self, colour: int | None) -> None:
        """Has the clock of a player run, and no other; None for neither."""
        if colour == self.running:
            return
        if self.running is not None:
            self._used[self.running] = self.used(self.running)
        self.running, self._since = colour, monotonic()

    def used(self, colour: int) -> float:
        """Returns the seconds that a player has used."""
        return self._used[colour] + (monotonic() - self._since if colour == self.running else 0.0)

    def left(self, colour: int) -> TimeLeft | None:
        """Returns what a player has left now; None without a time limit."""
        if self.settings == NO_LIMIT:
            return None
        return self.settings.after(self._left[colour], self.used(colour) - self._used_before[colour])

    @property
    def period(self) -> int:
        """The count, as in `TimeLeft`, of the player whose clock runs; 0 if neither does."""
        left = None if self.running is None else self.left(self.running)
        return 0 if left is None else left.stones

    def follow(self) -> None:
        """Sets the clocks to the beginning of the last turn of the main line, if that is another one than before."""
        if self._tree.main_line[-1] is not self.last:
            self.restart_turn()

    def restart_turn(self) -> None:
        """Sets the clocks to the beginning of the last turn of the main line."""
        self.last = self._tree.main_line[-1]
        self._note({})
        self._begin_turn()

    def end_turn(self, node: TreeNode) -> None:
        """Ends the last turn by a move, whose node follows and gets the time that its player has left."""
        assert node.move is not None
        colour = node.move.colour
        self.switch(None)
        self._note({})
        if (left := self.left(colour)) is not None:
            self._left[colour] = self.settings.after_move(left)
            node.properties = with_time_left(node.properties, {colour: self._left[colour]})
        self.last, self._used_before = node, dict(self._used)

    def note_turn(self) -> None:
        """Notes in the record what a player has left who is in the middle of the last turn."""
        now = {colour: self.left(colour) for colour in self._used if self.used(colour) > self._used_before[colour]}
        self._note({colour: left for colour, left in now.items() if left is not None})

    def _note(self, now: Mapping[int, TimeLeft]) -> None:
        if self.settings == NO_LIMIT:
            return
        moved = self.last.move and self.last.move.colour
        left = {colour: each for colour, each in read_time_left([self.last.properties]).items() if colour == moved}
        left |= now
        if (properties := with_time_left(self.last.properties, left)) != self.last.properties:
            self.last.properties = properties
