"""A slow, obvious solver of the same problems: all positions that can arise, and those from which the seeker wins."""

import random
from dataclasses import dataclass

DEFENDER, ATTACKER = 0, 1


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
    """The value of every position of a problem, for a goal and a ko master."""

    def __init__(self, problem: Problem, seeker: int, ko_master: int) -> None:
        self.problem, self.seeker, self.ko_master = problem, seeker, ko_master
        self.cells = problem.places("Oox.+")
        self.target = problem.places("O")
        self.outside = {DEFENDER: problem.places("D"), ATTACKER: problem.places("X")}
        self.start = (problem.places("Oo"), problem.places("x"))

    def liberties_and_chain(self, stones, colour, place):
        own, other = stones[colour], stones[1 - colour]
        chain, todo, liberties = {place}, [place], set()
        while todo:
            for near in around(todo.pop()):
                if near in self.outside[colour]:
                    liberties.add("safe")
                elif near in own and near not in chain:
                    chain.add(near)
                    todo.append(near)
                elif near in self.cells and near not in own and near not in other:
                    liberties.add(near)
        return liberties, chain

    def play(self, stones, mover, place):
        """Returns the stones after a move and the place of a ko, or None if it is illegal."""
        after = [set(stones[0]), set(stones[1])]
        after[mover].add(place)
        taken = set()
        for near in around(place):
            if near in stones[1 - mover]:
                liberties, chain = self.liberties_and_chain(after, 1 - mover, near)
                if not liberties:
                    taken |= chain
        after[1 - mover] -= taken
        liberties, chain = self.liberties_and_chain(after, mover, place)
        ko = None
        if not liberties:
            if not self.problem.suicide or len(chain) == 1:
                return None
            after[mover] -= chain
        elif len(taken) == 1 and len(chain) == 1 and liberties == taken:
            (ko,) = taken
        return (frozenset(after[0]), frozenset(after[1])), ko

    def is_over(self, stones):
        """Returns whether the seeker has reached its goal, None if nobody has: the target is taken or pass-alive."""
        if not self.target <= stones[DEFENDER]:
            return self.seeker == ATTACKER
        if self.is_unconditionally_alive(stones):
            return self.seeker == DEFENDER
        return None

    def is_unconditionally_alive(self, stones):
        """Returns whether the attacker takes no stone of the target even if the defender only passes."""
        seen, todo = {stones}, [stones]
        while todo:
            position = todo.pop()
            for place in self.cells - position[0] - position[1]:
                played = self.play(position, ATTACKER, place)
                if played is not None:
                    after = played[0]
                    if not self.target <= after[DEFENDER]:
                        return False
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        return True

    def solve(self, mover, ko=None):
        root = (self.start, mover, ko)
        after, over, todo = {}, {}, [root]
        while todo:
            state = todo.pop()
            if state in after:
                continue
            stones, mover, ko = state
            over[state] = self.is_over(stones)
            after[state] = []
            if over[state] is not None:
                continue
            for place in self.cells - stones[0] - stones[1]:
                if place == ko:
                    continue
                played = self.play(stones, mover, place)
                if played is not None:
                    taken = None if self.ko_master == 1 - mover else played[1]
                    after[state].append((played[0], 1 - mover, taken))
            if mover != self.seeker:
                after[state].append((stones, 1 - mover, None))
            todo += after[state]
        won = {state for state, value in over.items() if value}
        while True:
            more = {
                state
                for state, following in after.items()
                if state not in won
                and over[state] is None
                and ((any if state[1] == self.seeker else all)(one in won for one in following) if following else False)
            }
            if not more:
                return root in won
            won |= more


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
