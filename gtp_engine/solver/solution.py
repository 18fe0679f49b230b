"""Whether a group lives: what is proved for either player to move first, with the moves that show it."""

import itertools
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial

from ..base.fields import invalid
from ..go.coords import PASS, as_colour, colour_name, opponent
from ..go.game import Game
from ..go.life import proven_owners
from ..go.regions import cells_of
from . import USUAL_SECONDS
from .ahead import prepare
from .local_board import ATTACKER, DEFENDER, NO_KO
from .moves import FAILED, REACHED
from .part import Part, find_part, part_within
from .reading import Memory, Position, Reading
from .refutations import BEST, Branch, Found, Outcome, Refutations, vertices

# The parts that are read, by their empty points, and whether these are the nearest: the points that the group's colour
# reaches first may lie far from a small group. What is proved in a small part holds, and it is read sooner.
_PARTS = ((8, True), (12, True), (12, False), (16, False), (20, False), (24, False))
_FIRST_SLICE = 5_000  # positions that each search reads in its first turn; in each later one twice as many
_MOST_SLICE = 200_000  # about half a second


@dataclass(frozen=True, repr=False)
class Answer:
    """What was found for one player to move first.

    Attributes:
        first: The colour of that player.
        outcome: What becomes of the group.
        moves: All first moves, as points, that are proved to reach this outcome, if it is what the player wants or a
            ko; PASS if no move is needed. Empty if the opponent gets what it wants, or nothing was found.
        tree: Lines of play, the best first moves before the others. A player who gets something has here all `moves`
            and then wrong ones, whose other outcome their replies show; the other player those that resist longest.
            All that the tree says is proved; what was not found in time is not in it.
        walls: The attacker's chains, as points, that are taken for safe: the outcome is proved if they live.
        size: The width and the height of the board.
    """

    first: int
    outcome: Outcome
    moves: tuple[int, ...] = ()
    tree: tuple[Branch, ...] = ()
    walls: tuple[tuple[int, ...], ...] = ()
    size: tuple[int, int] = field(kw_only=True)

    @property
    def line(self) -> tuple[int, ...]:
        """The main line of the tree, as points."""
        return self.tree[0].line if self.tree else ()

    def __str__(self) -> str:
        said = f"{colour_name(self.first)} first, {self.outcome.value}"
        return f"{said} with {vertices(self.moves, self.size)}" if self.moves else said

    def __repr__(self) -> str:
        return f"<Answer: {self}; {vertices(self.line, self.size)}>"


@dataclass(frozen=True, repr=False)
class Solution:
    """Whether a group lives.

    Attributes:
        defender: The colour of the group.
        target: The points of its stones that were asked for.
        answers: What was found for the attacker and for the defender to move first, by colour.
        positions: The number of positions read.
        seconds: The time that it took.
        size: The width and the height of the board.
        within: The only points that were read, if the group was taken to be enclosed in them: then an outcome other
            than LIVES holds if it cannot get out. None if that was not assumed.
    """

    defender: int
    target: tuple[int, ...]
    answers: dict[int, Answer] = field(hash=False)
    positions: int
    seconds: float
    size: tuple[int, int]
    within: frozenset[int] | None = None

    @property
    def is_conditional(self) -> bool:
        """Whether an outcome holds only if the group cannot get out."""
        outcomes = {answer.outcome for answer in self.answers.values()}
        return self.within is not None and not outcomes <= {Outcome.LIVES, Outcome.UNKNOWN}

    @property
    def status(self) -> str:
        """What the answers say together: alive, dead, seki, ko, unsettled (who moves first decides) or unknown."""
        attacked, defended = (self.answers[colour].outcome for colour in (opponent(self.defender), self.defender))
        if Outcome.UNKNOWN in (attacked, defended):
            return "unknown"
        if attacked is defended:
            return {Outcome.LIVES: "alive", Outcome.DIES: "dead"}.get(attacked, attacked.value)
        return "unsettled"

    def __repr__(self) -> str:
        group = f"{colour_name(self.defender)} {vertices(self.target, self.size)}"
        return f"<Solution: {group} {self.status}; {'; '.join(map(str, self.answers.values()))}>"


def solve(
    game: Game,
    points: Iterable[int | str],
    *,
    first: int | str | None = None,
    seconds: float = USUAL_SECONDS,
    stop: threading.Event | None = None,
    report: Callable[[int], object] = lambda positions: None,
    within: Iterable[int | str] | None = None,
) -> Solution:
    """Finds out whether stones can be captured, whoever moves first.

    Nothing is estimated: an outcome other than UNKNOWN is proved, under three assumptions. The chains that surround the
    part of the board that was read are safe (`Answer.walls`). There is no superko rule, and a cycle of moves captures
    nothing. An outcome that depends on which side has more ko threats is KO.

    Args:
        game: The position; whose turn it is does not matter.
        points: The points of stones of one colour; several vertices may be one text, as in "D4 E5". The chains on them
            are the target: the group dies if any of them is captured.
        first: The colour of the only player to move first who is of interest, whatever is found for the other one; None
            for both.
        seconds: The longest time; half a second more if a step takes long.
        stop: Ends the reading, with what is known by then.
        report: Called with the number of positions read so far, at least every few seconds.
        within: The only points that are read, as if the group were enclosed in them: `Solution.within`.

    Raises:
        UserError: It is not a Game, a point is empty or not on the board, the stones are of both colours, the group is
            too large, or the time is negative.
    """
    if not isinstance(game, Game):
        raise invalid("game", game, "a Game, as GameRecord.to_game() returns it")
    only = None if first is None else as_colour(first)
    if not seconds >= 0:
        raise invalid("number of seconds", seconds, "a number of 0 or more")
    enclosed = None if within is None else frozenset(game.points(within)) - {PASS}
    solver = _Solver(game, game.points(points), seconds, stop, report, enclosed)
    return solver.solve(None if only is None else DEFENDER if only == solver.defender else ATTACKER)


class _Solver:
    """The reading of one group."""

    def __init__(
        self,
        game: Game,
        points: list[int],
        seconds: float,
        stop: threading.Event | None,
        report: Callable[[int], object],
        within: frozenset[int] | None,
    ) -> None:
        self._game, self._points, self._within = game, points, within
        self._parts = [self._part(0)]  # before anything is compiled: it refuses wrong points
        self.defender = self._parts[0].defender
        self._memory = Memory()
        prepare(lambda: stop is not None and stop.is_set())
        self._began = time.monotonic()
        self._until, self._stop, self._report = self._began + seconds, stop, report
        self._readings: dict[tuple[int, int, int], Reading] = {}
        self._found: dict[int, tuple[Outcome, Reading]] = {}
        self._trees: dict[int, Refutations] = {}

    def solve(self, only: int | None) -> Solution:
        """Reads, for both players to move first or for one of them."""
        if self._proven is None:
            self._find((ATTACKER, DEFENDER) if only is None else (only,))
            for mover, tree in self._trees.items():
                if not self._passes(mover):
                    tree.complete()
        answers: dict[int, Answer] = {}
        # The one who may not pass comes first: the tree of the other one is its tree after a pass.
        for mover in sorted((ATTACKER, DEFENDER), key=self._passes):
            answers[mover] = self._answer(mover, answers)
        self._trees.clear()  # they lead back here: the memory of this solver is free at once, not some time later
        return Solution(
            defender=self.defender,
            target=self._parts[0].target,
            answers={answers[mover].first: answers[mover] for mover in (ATTACKER, DEFENDER)},
            positions=self._positions,
            seconds=time.monotonic() - self._began,
            size=self._parts[0].size,
            within=self._within,
        )

    @property
    def _positions(self) -> int:
        return sum(reading.positions for reading in self._readings.values())

    @cached_property
    def _proven(self) -> Outcome | None:
        """Returns the outcome if the whole board proves it by itself, without any reading."""
        proven = proven_owners(self._game)
        owners = {int(proven[cell]) for cell in cells_of(self._points, self._game.width)}
        if owners == {self.defender}:
            return Outcome.LIVES
        return Outcome.DIES if opponent(self.defender) in owners else None

    def _part(self, size: int) -> Part:
        if self._within is not None:
            return part_within(self._game, self._points, self._within)
        empty, nearest = _PARTS[size]
        return find_part(self._game, self._points, empty, nearest=nearest)

    def _reading(self, size: int, seeker: int, ko_master: int) -> Reading:
        key = size, seeker, ko_master
        if key not in self._readings:
            self._readings[key] = Reading(self._memory, self._parts[size], seeker, ko_master)
        return self._readings[key]

    def _start(self, size: int, mover: int) -> Position:
        part = self._parts[size]
        is_next = (mover == DEFENDER) == (self._game.to_move == self.defender)
        return Position(part.stones, part.ko if is_next else NO_KO, mover)

    def _is_late(self) -> bool:
        return time.monotonic() >= self._until or (self._stop is not None and self._stop.is_set())

    def _find(self, movers: tuple[int, ...]) -> None:
        """Reads for players to move first by turns, in ever larger parts and for ever longer."""
        positions = [_FIRST_SLICE]  # for each size
        while not self._found.keys() >= {*movers} and not self._is_late():
            for size, mover in itertools.product(range(len(positions)), movers):
                if mover not in self._found:
                    self._note(size, mover, self._conclude(size, self._start(size, mover), positions[size]))
            positions = [min(2 * most, _MOST_SLICE) for most in positions]
            if len(positions) < len(self._parts):
                positions.append(_FIRST_SLICE)
            elif len(self._parts) < len(_PARTS) and self._parts[-1].is_open:
                self._parts.append(self._part(len(self._parts)))
                positions.append(_FIRST_SLICE)
            elif self._is_exhausted(movers):
                return

    def _note(self, size: int, mover: int, found: Found) -> None:
        """Keeps what was found for a player to move first, and what that tells of the other one.

        Whoever gets all that it wants although the opponent moves first gets it by passing, too. The proof gives the
        opponent all ko threats, so no ko forbade it a move, and the position after the pass is the same.
        """
        if found is not None:
            start = self._start(size, mover)
            self._found[mover] = found
            self._trees[mover] = Refutations(start, found, partial(self._conclude, size), self._is_late)
            if found[0] is BEST[1 - mover]:
                self._found[1 - mover] = found

    def _is_exhausted(self, movers: tuple[int, ...]) -> bool:
        """Whether longer reading finds nothing more."""
        return all(
            reading.is_finished(self._start(size, mover))
            for (size, _, _), reading in self._readings.items()
            for mover in movers
            if mover not in self._found
        )

    def _conclude(self, size: int, position: Position, positions: int) -> Found:
        """Reads a position in one part; returns what is proved, and by which reading."""
        values = {}
        for seeker in (ATTACKER, DEFENDER):
            for ko_master in (1 - seeker, seeker):
                reading = self._reading(size, seeker, ko_master)
                share = positions // 4 if ko_master == seeker else positions  # for what tells only a ko or a seki
                values[seeker, ko_master] = value = reading.read(position, share)
                if value == REACHED and ko_master != seeker:
                    return BEST[seeker], reading
                self._report(self._positions)
                if self._is_late():
                    return None
        attack = self._reading(size, ATTACKER, ATTACKER)
        if values[ATTACKER, ATTACKER] == values[DEFENDER, DEFENDER] == REACHED:
            return Outcome.KO, attack
        if not self._parts[size].is_open:
            # Nobody succeeds, whoever wins the kos. If the defender could live by winning them, it would not be a seki.
            if values[ATTACKER, ATTACKER] == values[DEFENDER, ATTACKER] == values[DEFENDER, DEFENDER] == FAILED:
                return Outcome.SEKI, attack
            if values[ATTACKER, DEFENDER] == FAILED and values[ATTACKER, ATTACKER] == REACHED:
                return Outcome.KO, attack
        return None

    def _outcome(self, mover: int) -> Outcome:
        return self._proven or (self._found[mover][0] if mover in self._found else Outcome.UNKNOWN)

    def _gets_something(self, mover: int) -> bool:
        """Whether a player who moves first gets what it wants, or a ko."""
        outcome = self._outcome(mover)
        return outcome in (BEST[mover], Outcome.KO) or (outcome is Outcome.SEKI and mover == DEFENDER)

    def _passes(self, mover: int) -> bool:
        """Whether a player may as well pass, since the opponent, moving first, gets nothing."""
        return (
            not self._gets_something(1 - mover)
            and self._outcome(1 - mover) is self._outcome(mover) is not Outcome.UNKNOWN
        )

    def _answer(self, mover: int, answers: dict[int, Answer]) -> Answer:
        """Returns the answer for a player to move first; those that were made before it are of use."""
        first, outcome = self.defender if mover == DEFENDER else opponent(self.defender), self._outcome(mover)
        size = self._parts[0].size
        if self._passes(mover):
            other = answers[1 - mover]
            branch = Branch(PASS, outcome, other.tree, size=size)
            return Answer(first, outcome, (PASS,), (branch,), other.walls, size=size)
        if mover not in self._found:
            return Answer(first, outcome, size=size)
        tree = self._trees[mover].tree
        moves = sorted(branch.point for branch in tree if branch.outcome is outcome)
        walls = self._found[mover][1].part.walls
        return Answer(first, outcome, tuple(moves) if self._gets_something(mover) else (), tree, walls, size=size)
