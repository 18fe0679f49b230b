"""Trees of moves that show why a group lives or dies, and what refutes the moves that do not work."""

import enum
import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ..go.coords import vertex
from .local_board import ATTACKER, DEFENDER, NO_KO
from .moves import UNKNOWN
from .reading import Position, Reading, Step

_MOST_BRANCHES = 150
_LONGEST_LINE = 40
_RESISTANCES = 4  # moves of the losing side in one position
_WRONG = 6  # first moves that do not work
_KO_FIGHT = 8  # moves in a line about a ko or a seki, which has no natural end
_SHORT = 20_000  # positions read for each question about a move that does not work: a twentieth of a second
_LONG = 200_000  # the same for one that may work


class Outcome(enum.Enum):
    """What becomes of a group."""

    LIVES = "lives"  # with two eyes, whatever the opponent plays
    SEKI = "seki"  # it cannot be captured, but has no two eyes
    KO = "ko"  # who wins a ko decides
    DIES = "dies"
    UNKNOWN = "unknown"  # not found in the time


BEST = {ATTACKER: Outcome.DIES, DEFENDER: Outcome.LIVES}
"""What each player wants most."""


def vertices(points: Iterable[int], size: tuple[int, int]) -> str:
    """Returns the names of points on a board of this width and height, with spaces between them."""
    return " ".join(vertex(point, *size) for point in points)


@dataclass(frozen=True, repr=False)
class Branch:
    """A move in a tree of lines, with what was proved of the position after it.

    Attributes:
        point: The point; PASS if nothing has to be done.
        outcome: What becomes of the group, whatever its owner or the opponent tries.
        replies: The answers, the best first. The side that gets what it wants has one of them; the other one those that
            resist longest. Empty where the rules decide, where nothing resists, or where the tree was cut off.
        size: The width and the height of the board.
    """

    point: int
    outcome: Outcome
    replies: "tuple[Branch, ...]" = ()
    size: tuple[int, int] = field(kw_only=True)

    @property
    def line(self) -> tuple[int, ...]:
        """The points of the move and of the best answers after it."""
        return (self.point, *(self.replies[0].line if self.replies else ()))

    def __repr__(self) -> str:
        return f"<Branch: {vertices(self.line, self.size)}; {self.outcome.value}>"


Found = tuple[Outcome, Reading] | None
Conclude = Callable[[Position, int], Found]
"""Returns what is proved of a position by reading so many positions for each question, and by which reading."""


@dataclass(eq=False)
class _Node:
    """A branch that grows."""

    step: Step
    outcome: Outcome
    reading: Reading
    is_over: bool
    replies: "list[_Node]" = field(default_factory=list)

    def branch(self) -> Branch:
        replies = tuple(reply.branch() for reply in self.replies)
        return Branch(self.step.point, self.outcome, replies, size=self.reading.part.size)


class Refutations:
    """The lines from one position, which grow in two steps: from the table while it is fresh, and by further reading.

    Args:
        found: What is proved of it, and by which reading.
        conclude: Reads other positions.
        is_late: Whether there is no time to read on.
    """

    def __init__(
        self, position: Position, found: tuple[Outcome, Reading], conclude: Conclude, is_late: Callable[[], bool]
    ) -> None:
        self._position, (self._outcome, self._reading) = position, found
        self._conclude, self._is_late = conclude, is_late
        self._first: list[_Node] = []
        self._waiting: list[tuple[bool | int, int, int, _Node]] = []  # a heap
        self._size = 0
        self._add(self._first, self._replies(position, self._outcome, self._reading, 0), 0, 0)
        self._grow(_MOST_BRANCHES // 2)

    def complete(self) -> None:
        """Adds the first moves that have to be read, as long as there is time."""
        if self._outcome is not BEST[1 - self._position.mover]:
            self._add(self._first, self._others(), 0, 0)
        self._grow(_MOST_BRANCHES)

    @property
    def tree(self) -> tuple[Branch, ...]:
        """The first moves with what follows: those that work, the best first, then others with what refutes them."""
        return tuple(node.branch() for node in self._first)

    def _add(self, siblings: list[_Node], nodes: Iterable[_Node], others: int, depth: int) -> None:
        """Adds moves after so many others, of which some leave the main line."""
        for node in nodes:
            is_other = bool(siblings)
            siblings.append(node)
            self._size += 1
            heapq.heappush(self._waiting, (others + is_other, depth, self._size, node))

    def _grow(self, most: int) -> None:
        """Adds replies up to so many moves: first to the main line, then to what leaves it once, and so on."""
        while self._waiting and self._size < most:
            others, depth, _, node = heapq.heappop(self._waiting)
            if not node.is_over and depth < _LONGEST_LINE:
                replies = self._replies(node.step.after, node.outcome, node.reading, depth + 1)
                self._add(node.replies, replies, others, depth + 1)

    def _replies(self, position: Position, outcome: Outcome, reading: Reading, depth: int) -> Iterator[_Node]:
        """Yields the best moves in a position, after so many others, that keep its outcome."""
        if outcome in BEST.values():
            steps = reading.proved_steps(position, 0 if self._is_late() else _SHORT)
            for step in steps[: 1 if position.mover == reading.seeker else _RESISTANCES]:
                yield _Node(step, outcome, reading, step.value != UNKNOWN)
        elif depth < _KO_FIGHT and position.ko == NO_KO:
            steps = sorted(reading.steps(position), key=lambda step: step.after.ko == NO_KO)
            yield from itertools.islice(filter(lambda node: node.outcome is outcome, self._concluded(steps)), 1)

    def _concluded(self, steps: Iterable[Step]) -> Iterator[_Node]:
        """Yields the moves of which a short reading proves what they lead to."""
        for step in steps:
            if self._is_late():
                return
            if step.is_sure and (found := self._conclude(step.after, _SHORT)) is not None:
                yield _Node(step, *found, is_over=False)

    def _others(self) -> list[_Node]:
        """Returns more first moves of a player who gets something: those that work, then the most tempting others."""
        known = {*(node.step.cell for node in self._first), self._position.ko}
        nodes = []
        if self._outcome is BEST[self._position.mover]:
            for step in self._reading.steps(self._position):
                if step.cell not in known and not self._is_late() and self._reading.is_won(step, _LONG):
                    nodes.append(_Node(step, self._outcome, self._reading, step.value != UNKNOWN))
                    known.add(step.cell)
        zone = self._zone()
        steps = (step for step in self._reading.steps(self._position) if step.cell not in known)
        nodes += self._concluded(step for step in steps if zone is None or zone >> step.cell & 1)
        wrong = [node for node in nodes if node.outcome is not self._outcome]
        wrong.sort(key=lambda node: node.reading.effort(node.step.after) or (0, 0), reverse=True)
        return [*(node for node in nodes if node.outcome is self._outcome), *wrong[:_WRONG]]

    def _zone(self) -> int | None:
        """Returns the cells on which it rests that a pass does not work; None if that is not known."""
        passed = Position(self._position.stones, NO_KO, 1 - self._position.mover)
        found = None if self._is_late() else self._conclude(passed, _SHORT)
        return found[1].zone(passed) if found is not None and found[0] is BEST[passed.mover] else None
