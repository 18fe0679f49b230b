"""What is read of a part of a board: questions to the search, and what its table then proves of the moves."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .local_board import NO_KO, play
from .moves import PASS_CELL, REACHED, UNKNOWN, write_moves
from .part import Part
from .proof_search import Question, new_line
from .transpositions import SEARCH, find_entry, new_table
from .verification import read

_MEGABYTES = 128.0


class Memory:
    """The memory that all readings of a problem share; each of them has a series of its own in the table."""

    def __init__(self) -> None:
        self.table = new_table(_MEGABYTES)
        self.line, self.moves = new_line()
        self.series = 0  # how many there are


@dataclass(frozen=True, eq=False)
class Position:
    """A position in a part."""

    stones: np.ndarray  # uint64 [4], the defender's stones, then the attacker's
    ko: int  # the cell that a ko forbids to the player to move, or NO_KO
    mover: int

    @property
    def key(self) -> tuple[bytes, int, int]:
        """What is the same for equal positions."""
        return self.stones.tobytes(), self.ko, self.mover


@dataclass(frozen=True, eq=False)
class Step:
    """A move in a part."""

    point: int  # on the board
    after: Position
    value: int  # what the rules alone tell of that: REACHED, FAILED or UNKNOWN
    cell: int  # of the part
    is_sure: bool  # whether it captures on the board as in the part: no stones next to empty points outside


class Reading:
    """What one side, the seeker, can reach in one part of the board if one of the players is ko master.

    The table holds for every position of the part, whoever moves first.
    """

    def __init__(self, memory: Memory, part: Part, seeker: int, ko_master: int) -> None:
        self.part, self.seeker, self.ko_master = part, seeker, ko_master
        self._memory = memory
        self._local = part.locals[seeker]
        self._search = np.zeros(1, SEARCH)
        self._search["seeker"], self._search["ko_master"] = seeker, ko_master
        memory.series += 1
        self._search["series"] = memory.series
        self._finished: dict[tuple[bytes, int, int], int] = {}

    @property
    def positions(self) -> int:
        """The number of positions read so far."""
        return int(self._search["nodes"][0])

    def is_finished(self, position: Position) -> bool:
        """Whether longer reading finds nothing more."""
        return position.key in self._finished

    def read(self, position: Position, positions: int) -> int:
        """Returns the value of a position, REACHED, FAILED or UNKNOWN, from so many more positions at most."""
        if position.key not in self._finished:
            before = self.positions
            value = self._read(position, positions)
            if value == UNKNOWN and self.positions - before >= positions:
                return value
            self._finished[position.key] = value
        return self._finished[position.key]

    def _read(self, position: Position, positions: int) -> int:
        memory, search = self._memory, self._search[0]
        search["most_nodes"] = self.positions + positions
        question = Question(self._local, search, memory.table, memory.line, memory.moves)
        return int(read(question, position.stones, self._ko(position), position.mover))

    def is_won(self, step: Step, positions: int) -> bool:
        """Whether the seeker is proved to win after a move, by reading so many more positions at most."""
        return step.value == REACHED or (step.value == UNKNOWN and self.read(step.after, positions) == REACHED)

    def _ko(self, position: Position) -> int:
        """Returns the cell that a ko forbids: none to the ko master."""
        return NO_KO if self.ko_master == position.mover else position.ko

    def steps(self, position: Position) -> Iterator[Step]:
        """Yields the moves on the board."""
        memory, mover = self._memory, position.mover
        count = write_moves(self._local, self._search[0], position.stones, self._ko(position), mover, memory.moves, 0)
        for cell, value in memory.moves[:count][["cell", "value"]].tolist():
            if cell != PASS_CELL:
                stones = np.empty(4, np.uint64)
                ko = int(play(self._local, position.stones, mover, cell, stones))
                is_sure = not (np.tile(self._local["open"], 2) & position.stones & ~stones).any()
                yield Step(self.part.points[cell], Position(stones, ko, 1 - mover), value, cell, is_sure)

    def proved_steps(self, position: Position, positions: int = 0) -> list[Step]:
        """Returns the moves after which the table proves that the seeker wins.

        Those of the seeker come first that took least reading, those of the other player that resist longest. Where the
        table has lost them, so many positions may be read again.
        """
        is_seeker = position.mover == self.seeker
        found = []
        for step in self.steps(position):
            effort = self.effort(step.after) if step.value == UNKNOWN else (0, 0) if step.value == REACHED else None
            if effort is not None and (is_seeker or step.value == UNKNOWN):
                depth, work = effort
                found.append(((work, depth) if is_seeker else (-depth, -work), step.cell, step))
        if not found and positions and self._read(position, positions) == REACHED:
            return self.proved_steps(position)
        return [step for _, _, step in sorted(found, key=lambda each: each[:2])]

    def effort(self, position: Position) -> tuple[int, int] | None:
        """Returns the moves to the seeker's win and the positions read to prove it; None if the table does not."""
        entry = self._entry(position)
        is_proved = entry is not None and entry["phi" if position.mover == self.seeker else "delta"] == 0
        return (int(entry["depth"]), int(entry["work"])) if entry is not None and is_proved else None

    def zone(self, position: Position) -> int | None:
        """Returns the cells on which a win of the seeker rests, as bits; None if the table does not have it."""
        entry = self._entry(position)
        if entry is None or not entry["is_finite"]:
            return None
        return int(entry["zone"][0]) | int(entry["zone"][1]) << 64

    def _entry(self, position: Position) -> np.void | None:
        search, table = self._search[0], self._memory.table
        slot = find_entry(table, search, position.stones, self._ko(position), position.mover)
        return None if slot < 0 else table[slot]
