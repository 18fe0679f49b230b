"""A slow, obvious solver of the same problems: all positions that can arise, and those from which the seeker wins."""

import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

DEFENDER, ATTACKER = 0, 1
NOWHERE = -1
ILLEGAL, TAKEN = -1, -2


@dataclass(frozen=True)
class Problem:
    """A part of a board, drawn as rows of text.

    `O` is the defender's target, `o` another stone of the defender's, `x` the attacker's, `.` an empty cell. Outside
    are `X` and `D`, safe stones of the attacker and the defender, and `+`, an empty point on which both play, but which
    the part that is read leaves out.
    """

    rows: tuple[str, ...]
    suicide: bool = False

    def places(self, marks: str) -> frozenset[tuple[int, int]]:
        return frozenset((x, y) for y, row in enumerate(self.rows) for x, mark in enumerate(row) if mark in marks)


def around(place: tuple[int, int]) -> list[tuple[int, int]]:
    x, y = place
    return [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]


class BruteForce:
    """The values of all positions that can be on the cells of a problem, for each goal and ko master.

    A position is a number in base 3, with a digit for each cell that is not of the target: 0 for empty, 1 for the
    defender's stone, 2 for the attacker's. A position without a stone of the target is TAKEN.
    """

    def __init__(self, problem: Problem) -> None:
        self.free = sorted(problem.places("ox.+"))
        cells = [*self.free, *sorted(problem.places("O"))]
        numbers = {place: number for number, place in enumerate(cells)}
        self.neighbours = np.array([[numbers.get(near, NOWHERE) for near in around(place)] for place in cells], np.int8)
        outside = [problem.places("D"), problem.places("X")]
        self.is_safe = np.array([[not safe.isdisjoint(around(place)) for safe in outside] for place in cells])
        marks = [problem.places("o"), problem.places("x")]
        stones = [next((1 + colour for colour in (0, 1) if place in marks[colour]), 0) for place in self.free]
        self.start = sum(stone * 3**number for number, stone in enumerate(stones))
        self.suicide = problem.suicide

    def is_possible(self) -> bool:
        """Whether every chain has a liberty at the beginning."""
        board = board_of(self.start, len(self.free), len(self.neighbours))
        scratch = np.empty((2, len(board)), np.bool_)
        return all(
            mark == 0 or has_liberty(self.neighbours, self.is_safe, board, cell, scratch)
            for cell, mark in enumerate(board)
        )

    def solve(self, seeker: int, ko_master: int, mover: int) -> bool:
        """Returns whether the seeker reaches its goal, for nobody's ko master -1."""
        return bool(all_won(*self.rules, seeker, ko_master)[self.start, 0, mover])

    @cached_property
    def rules(self) -> tuple[np.ndarray, ...]:
        """What each move leads to, and where the target lives."""
        after, kos = all_moves(self.neighbours, self.is_safe, len(self.free), self.suicide)
        return after, kos, never_taken(after)


@njit(cache=True)
def board_of(position: int, free: int, cells: int) -> np.ndarray:
    board = np.full(cells, 1, np.int8)
    for cell in range(free):
        board[cell] = position % 3
        position //= 3
    return board


@njit(cache=True)
def has_liberty(neighbours: np.ndarray, is_safe: np.ndarray, board: np.ndarray, cell: int, scratch: np.ndarray) -> bool:
    """Whether the chain of a stone has a liberty or touches safe stones of its colour; scratch[0] gets the chain."""
    colour, found = board[cell], False
    scratch[:] = False
    scratch[0, cell] = True
    grown = True
    while grown:
        grown = False
        for one in range(len(board)):
            if scratch[0, one] and not scratch[1, one]:
                scratch[1, one] = grown = True
                found |= is_safe[one, colour - 1]
                for near in neighbours[one]:
                    if near != NOWHERE:
                        found |= board[near] == 0
                        scratch[0, near] |= board[near] == colour
    return found


@njit(cache=True)
def all_moves(neighbours: np.ndarray, is_safe: np.ndarray, free: int, suicide: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns the position after each move, int32 [positions, movers, cells], and 1 + the cell that a ko forbids."""
    cells, positions = len(neighbours), 3**free
    after = np.full((positions, 2, free), ILLEGAL, np.int32)
    kos = np.zeros((positions, 2, free), np.int8)
    scratch = np.empty((2, cells), np.bool_)
    for position in range(positions):
        for mover in range(2):
            for cell in range(free):
                board = board_of(position, free, cells)
                if board[cell]:
                    continue
                board[cell] = 1 + mover
                taken = 0
                for near in neighbours[cell]:
                    is_other = near != NOWHERE and board[near] == 2 - mover
                    if is_other and not has_liberty(neighbours, is_safe, board, near, scratch):
                        for one in range(cells):
                            if scratch[0, one]:
                                board[one] = 0
                                taken += 1
                                kos[position, mover, cell] = 1 + one
                if not has_liberty(neighbours, is_safe, board, cell, scratch):
                    if not suicide or scratch[0].sum() == 1:
                        continue
                    for one in range(cells):
                        if scratch[0, one]:
                            board[one] = 0
                if taken != 1 or not is_ko(neighbours, is_safe, board, cell):
                    kos[position, mover, cell] = 0
                number = 0
                for one in range(free - 1, -1, -1):
                    number = 3 * number + board[one]
                after[position, mover, cell] = number if board[free:].all() else TAKEN
    return after, kos


@njit(cache=True)
def is_ko(neighbours: np.ndarray, is_safe: np.ndarray, board: np.ndarray, cell: int) -> bool:
    """Whether a stone that took one is alone and has one liberty."""
    liberties = 0
    for near in neighbours[cell]:
        if near != NOWHERE:
            if board[near] == board[cell]:
                return False
            liberties += board[near] == 0
    return liberties == 1 and not is_safe[cell, board[cell] - 1]


@njit(cache=True)
def never_taken(after: np.ndarray) -> np.ndarray:
    """Returns the positions in which the attacker takes no stone of the target even if the defender only passes."""
    alive = np.ones(len(after), np.bool_)
    changed = True
    while changed:
        changed = False
        for position in range(len(after)):
            for following in after[position, 1]:
                if alive[position] and following != ILLEGAL and (following == TAKEN or not alive[following]):
                    alive[position], changed = False, True
    return alive


@njit(cache=True)
def all_won(after: np.ndarray, kos: np.ndarray, is_alive: np.ndarray, seeker: int, ko_master: int) -> np.ndarray:
    """Returns where the seeker wins, bool [positions, 1 + cell that a ko forbids or 0, movers]."""
    positions, _, free = after.shape
    won = np.zeros((positions, 1 + free, 2), np.bool_)
    if seeker == DEFENDER:
        for position in range(positions):
            won[position] = is_alive[position]
    changed = True
    while changed:
        changed = False
        for position in range(positions):
            for ko, mover in np.ndindex(1 + free, 2):
                if won[position, ko, mover] or is_alive[position]:
                    continue
                is_seeker = mover == seeker
                value = (not is_seeker or ko > 0) and won[position, 0, 1 - mover]  # after a pass
                for cell in range(free):
                    following = after[position, mover, cell]
                    if following == ILLEGAL or cell + 1 == ko:
                        continue
                    next_ko = 0 if ko_master == 1 - mover else kos[position, mover, cell]
                    wins = seeker == ATTACKER if following == TAKEN else won[following, next_ko, 1 - mover]
                    value = value or wins if is_seeker else value and wins
                if value:
                    won[position, ko, mover] = changed = True
    return won


def random_problem(rng: random.Random, inside: int) -> Problem:
    """Returns a problem with so many cells inside a ring of the defender's stones, and a few liberties around it."""
    cells = {(0, 0)}
    while len(cells) < inside:
        cells.add(rng.choice([near for cell in cells for near in around(cell) if near not in cells]))
    ring = {near for cell in cells for near in around(cell)} - cells
    if rng.random() < 0.6:  # the corners as well
        ring |= {(x + i, y + j) for x, y in cells for i in (-1, 1) for j in (-1, 1)} - cells
    marks = dict.fromkeys(ring, "O")
    for cell in cells:
        marks[cell] = rng.choices(".xo", (5, 2, 1))[0]
    if rng.random() < 0.5:  # the edge of the board: no stones on one side
        border = min(y for _, y in ring)
        marks = {place: mark for place, mark in marks.items() if place[1] > border}
    outer = {near for place in marks for near in around(place)} - set(marks)
    border = min(y for _, y in marks) if rng.random() < 0.5 else -99
    outer = {place for place in outer if place[1] >= border}
    for place in outer:
        marks[place] = rng.choices("X.+D", (12, 2, 0.3, 0.3))[0]
    extra = {near for place in outer if marks[place] == "." for near in around(place)} - set(marks)
    for place in extra:
        if place[1] >= border:
            marks[place] = "X"
    low_x, low_y = min(x for x, _ in marks), min(y for _, y in marks)
    width, height = max(x for x, _ in marks) - low_x + 1, max(y for _, y in marks) - low_y + 1
    rows = [[" "] * width for _ in range(height)]
    for (x, y), mark in marks.items():
        rows[y - low_y][x - low_x] = mark
    return Problem(tuple("".join(row) for row in rows), rng.random() < 0.3)
