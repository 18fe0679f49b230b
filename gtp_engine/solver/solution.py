"""Whether a group lives: what is proved for either player to move first, with first moves and lines that show it."""

import enum
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..go.coords import PASS, opponent
from ..go.game import Game
from ..go.life import proven_owners
from ..go.regions import cells_of
from . import USUAL_SECONDS
from .local_board import ATTACKER, DEFENDER, NO_KO, play
from .part import Part, find_part
from .proof_search import (
    FAILED,
    LOST,
    PASS_CELL,
    REACHED,
    SEARCH,
    UNKNOWN,
    find_entry,
    new_line,
    new_table,
    read,
    write_moves,
)

MEGABYTES = 128.0
# The parts that are read, by their empty points: what is proved in a small one holds, and it is read sooner.
_SIZES = (8, 12, 16, 20, 24)
_FIRST_SLICE = 5_000  # positions that each search reads in its first turn; in each later one twice as many
_MOST_SLICE = 200_000  # about half a second
_LONGEST_LINE = 40


class Outcome(enum.Enum):
    """What becomes of a group."""

    LIVES = "lives"  # with two eyes, whatever the opponent plays
    SEKI = "seki"  # it cannot be captured, but has no two eyes
    KO = "ko"  # who wins a ko decides
    DIES = "dies"
    UNKNOWN = "unknown"  # not found in the time


_WANTED = {ATTACKER: (Outcome.DIES,), DEFENDER: (Outcome.LIVES, Outcome.SEKI)}


@dataclass(frozen=True)
class Answer:
    """What was found for one player to move first.

    Attributes:
        first: The colour of that player.
        outcome: What becomes of the group.
        moves: All first moves, as points, of which it was proved that they reach that, if the player who moves wants
            it; PASS if nothing has to be done. Empty if the outcome is not what the player wants, or unknown.
        line: The moves that follow, as points, the best one of each side first in the table of the search.
        walls: The attacker's chains, as points, that are taken for safe: the outcome is proved if they live.
    """

    first: int
    outcome: Outcome
    moves: tuple[int, ...] = ()
    line: tuple[int, ...] = ()
    walls: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Solution:
    """Whether a group lives.

    Attributes:
        defender: The colour of the group.
        target: The points of its stones that were asked for.
        answers: What was found for the attacker and for the defender to move first, by colour.
        positions: The number of positions read.
        seconds: The time that it took.
    """

    defender: int
    target: tuple[int, ...]
    answers: dict[int, Answer]
    positions: int
    seconds: float

    @property
    def status(self) -> str:
        """What the answers say together: alive, dead, seki, ko, unsettled (who moves first decides) or unknown."""
        attacked, defended = (self.answers[colour].outcome for colour in (opponent(self.defender), self.defender))
        if Outcome.UNKNOWN in (attacked, defended):
            return "unknown"
        if attacked is defended:
            return {Outcome.LIVES: "alive", Outcome.DIES: "dead"}.get(attacked, attacked.value)
        return "unsettled"


def solve(
    game: Game,
    points: Iterable[int | str],
    *,
    seconds: float = USUAL_SECONDS,
    stop: threading.Event | None = None,
) -> Solution:
    """Finds out whether stones can be captured, whoever moves first.

    Nothing is estimated: an outcome other than UNKNOWN is proved, under three conditions. Chains beside the part of the
    board that was read are taken for safe (`Answer.walls`). What repeats for ever captures nothing, as if
    no superko were played. And one side or the other has more ko threats than it needs: what depends on them is KO.

    Args:
        game: The position; whose turn it is does not matter.
        points: Points or vertices of stones of one colour. The chains on them are the target: the group dies if any of
            them is captured.
        seconds: The longest time; half a second more if a step takes long.
        stop: Ends the reading, with what is known by then.

    Raises:
        UserError: There is no stone on a point, the stones have both colours, or the group is too large.
    """
    return _Solver(game, [game.point(point) for point in points], seconds, stop).solve()


class _Reading:
    """What one side seeks in one part of the board, with what was read of it."""

    def __init__(
        self, memory: "_Memory", part: Part, seeker: int, ko_master: int, mover: int, *, is_next: bool
    ) -> None:
        self.part, self.seeker, self._mover = part, seeker, mover
        self._memory = memory
        self._local = part.locals[seeker]
        self._ko = part.ko if is_next and ko_master != mover else NO_KO
        self._search = np.zeros(1, SEARCH)
        self._search["seeker"], self._search["ko_master"] = seeker, ko_master
        self._search["series"] = memory.next_series()
        self._value, self._slice = UNKNOWN, _FIRST_SLICE
        self.is_finished = False

    @property
    def positions(self) -> int:
        """The number of positions read so far."""
        return int(self._search["nodes"][0])

    def read(self, stones: np.ndarray, ko: int, mover: int, positions: int) -> int:
        """Returns the value of a position, REACHED, FAILED or UNKNOWN, from so many more positions at most."""
        memory, search = self._memory, self._search[0]
        search["most_nodes"] = search["nodes"] + positions
        return int(read(self._local, search, memory.table, memory.line, memory.moves, stones, ko, mover))

    def begin(self) -> int:
        """Reads on from the position at the beginning; returns its value."""
        if not self.is_finished:
            before = self.positions
            self._value = self.read(self.part.stones, self._ko, self._mover, self._slice)
            self.is_finished = self._value != UNKNOWN or self.positions - before < self._slice
            self._slice = min(2 * self._slice, _MOST_SLICE)
        return self._value

    def first_moves(self, wanted: int, is_late: Callable[[], bool]) -> Iterator[int]:
        """Yields the points on which a first move leads to a value, as far as a slice for each of them shows it."""
        mover = self._mover
        for cell, point in self.part.points.items():
            if is_late():
                return
            after = np.empty(4, np.uint64)
            occupied = self.part.stones[cell // 64] | self.part.stones[2 + cell // 64]
            if not int(occupied) >> cell % 64 & 1 and cell != self._ko:
                ko = play(self._local, self.part.stones, mover, cell, after)
                master = self._search["ko_master"][0] == 1 - mover
                if ko >= NO_KO and self.read(after, NO_KO if master else ko, 1 - mover, _MOST_SLICE) == wanted:
                    yield point

    def line(self) -> Iterator[int]:
        """Yields the moves by which the seeker wins against the answers that took longest to refute."""
        memory, search = self._memory, self._search[0]
        stones, ko, mover = self.part.stones.copy(), self._ko, self._mover
        for _ in range(_LONGEST_LINE):
            count = write_moves(self._local, search, stones, ko, mover, memory.moves, 0)
            best, most = None, -1
            for move in memory.moves[:count]:
                work = self._work(move, mover)
                if work > most and move["cell"] != PASS_CELL:
                    best, most = move, work
            if best is None:
                return
            yield self.part.points[int(best["cell"])]
            if best["value"] != UNKNOWN:
                return
            stones, ko, mover = best["stones"].copy(), int(best["ko"]), 1 - mover

    def _work(self, move: np.void, mover: int) -> int:
        """Returns how interesting a move is, -1 for one that does not belong to the proof."""
        if move["value"] != UNKNOWN:
            return 1 << 40 if (move["value"] == REACHED) == (mover == self.seeker) else -1
        slot = find_entry(self._memory.table, self._search[0], move["stones"], int(move["ko"]), 1 - mover)
        if slot < 0:
            return -1
        entry = self._memory.table[slot]
        wins = entry["phi"] == (LOST if mover == self.seeker else 0)
        if not wins:
            return -1
        return (1 << 39) - int(entry["work"]) if mover == self.seeker else int(entry["work"])


class _Memory:
    """The memory that all readings of a solver share."""

    def __init__(self) -> None:
        self.table = new_table(MEGABYTES)
        self.line, self.moves = new_line()
        self._series = 0

    def next_series(self) -> int:
        self._series += 1
        return self._series


def _compile(memory: _Memory) -> None:
    """Compiles the search, or loads it from the cache: a corner of two empty points."""
    game = Game(5)
    game.set_up(["A5", "A4", "B4"], ["A3", "B3", "C4", "C5"])
    reading = _Reading(memory, find_part(game, [game.point("A4")]), ATTACKER, DEFENDER, ATTACKER, is_next=True)
    reading.begin()
    list(reading.line())


class _Solver:
    """The reading of one group."""

    def __init__(self, game: Game, points: list[int], seconds: float, stop: threading.Event | None) -> None:
        self._game, self._points = game, points
        self._memory = _Memory()
        _compile(self._memory)
        self._began = time.monotonic()
        self._seconds, self._stop = seconds, stop
        self._readings: dict[tuple[int, int, int, int], _Reading] = {}
        self._parts = [find_part(game, points, _SIZES[0])]
        self._defender = self._parts[0].defender

    def solve(self) -> Solution:
        sides = {ATTACKER: opponent(self._defender), DEFENDER: self._defender}
        outcomes: dict[int, Outcome] = {}
        readings: dict[int, _Reading] = {}
        proven = self._proven()
        for share, mover in enumerate(sides, start=1):
            outcomes[mover] = proven or Outcome.UNKNOWN
            if proven is None:
                self._find(mover, self._began + self._seconds * share / 2, outcomes, readings)
        answers = {}
        for mover, colour in sides.items():
            # Then a player may as well pass, unless a ko forbids the opponent one of its moves only now.
            passes = outcomes[ATTACKER] is outcomes[DEFENDER] in _WANTED[mover] and self._parts[0].ko == NO_KO
            reading = readings.get(1 - mover if passes else mover)
            moves: tuple[int, ...] = (PASS,)
            line: tuple[int, ...] = ()
            if not passes:
                moves, line = self._moves(mover, outcomes[mover], reading)
            answers[colour] = Answer(colour, outcomes[mover], moves, line, reading.part.walls if reading else ())
        return Solution(
            defender=self._defender,
            target=self._parts[0].target,
            answers=answers,
            positions=sum(reading.positions for reading in self._readings.values()),
            seconds=time.monotonic() - self._began,
        )

    def _proven(self) -> Outcome | None:
        """Returns the outcome if the whole board proves it by itself, without any reading."""
        proven = proven_owners(self._game)
        owners = {int(proven[cell]) for cell in cells_of(self._points, self._game.width)}
        if owners == {self._defender}:
            return Outcome.LIVES
        return Outcome.DIES if opponent(self._defender) in owners else None

    def _reading(self, size: int, seeker: int, ko_master: int, mover: int) -> _Reading:
        key = size, seeker, ko_master, mover
        if key not in self._readings:
            is_next = (mover == DEFENDER) == (self._game.to_move == self._defender)
            self._readings[key] = _Reading(self._memory, self._parts[size], seeker, ko_master, mover, is_next=is_next)
        return self._readings[key]

    def _is_late(self, until: float) -> bool:
        return time.monotonic() >= until or (self._stop is not None and self._stop.is_set())

    def _find(self, mover: int, until: float, outcomes: dict[int, Outcome], readings: dict[int, _Reading]) -> None:
        """Reads for one player to move first, in ever larger parts and for ever longer."""
        sizes = 1
        while not self._is_late(until):
            for size in range(sizes):
                found = self._conclude(size, mover, until)
                if found is not None:
                    outcomes[mover], readings[mover] = found
                    return
            if sizes == len(self._parts) < len(_SIZES) and self._parts[-1].is_open:
                self._parts.append(find_part(self._game, self._points, _SIZES[sizes]))
            elif sizes == len(self._parts) and self._is_exhausted(mover):
                return
            sizes = min(sizes + 1, len(self._parts))

    def _is_exhausted(self, mover: int) -> bool:
        """Whether longer reading finds nothing more."""
        return all(reading.is_finished for key, reading in self._readings.items() if key[3] == mover)

    def _conclude(self, size: int, mover: int, until: float) -> tuple[Outcome, _Reading] | None:
        """Reads one turn in one part; returns what is proved, and by which reading."""
        values = {}
        for seeker in (ATTACKER, DEFENDER):
            for ko_master in (1 - seeker, seeker):
                reading = self._reading(size, seeker, ko_master, mover)
                values[seeker, ko_master] = value = reading.begin()
                if value == REACHED and ko_master != seeker:
                    return (Outcome.DIES if seeker == ATTACKER else Outcome.LIVES), reading
                if self._is_late(until):
                    return None
        attack = self._reading(size, ATTACKER, ATTACKER, mover)
        if values[ATTACKER, ATTACKER] == values[DEFENDER, DEFENDER] == REACHED:
            return Outcome.KO, attack
        if not self._parts[size].is_open:
            if values[ATTACKER, ATTACKER] == FAILED and values[DEFENDER, ATTACKER] == FAILED:
                return Outcome.SEKI, attack
            if values[ATTACKER, DEFENDER] == FAILED and values[ATTACKER, ATTACKER] == REACHED:
                return Outcome.KO, attack
        return None

    def _moves(self, mover: int, outcome: Outcome, reading: _Reading | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Returns the first moves that reach what a player wants, and a line that shows the outcome."""
        if reading is None:
            return (), ()
        line = tuple(reading.line()) if outcome in (Outcome.DIES, Outcome.LIVES) else ()
        if outcome not in _WANTED[mover]:
            return (), line
        until = self._began + self._seconds
        wanted = FAILED if outcome is Outcome.SEKI else REACHED
        return tuple(sorted({*line[:1], *reading.first_moves(wanted, lambda: self._is_late(until))})), line
