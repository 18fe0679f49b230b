"""The rules of Go once more, as plain and slow as possible: sets, flood fill, whole history.

The compiled board is checked against this one, so nothing here is shared with it and nothing is clever. Points are
(x, y) pairs with y = 0 at the top; a position is a dict from points to colours (1 black, 2 white) without empty points.
"""

from collections.abc import Iterable, Iterator

EMPTY, BLACK, WHITE = 0, 1, 2

Point = tuple[int, int]
Stones = dict[Point, int]


class ReferenceBoard:
    """One game: position, simple ko, captures, passes and every earlier position."""

    def __init__(self, width: int, height: int, ko: str = "POSITIONAL", suicide: bool = True) -> None:
        self.width = width
        self.height = height
        self.ko_rule = ko
        self.suicide = suicide
        self.stones: Stones = {}
        self.to_move = BLACK
        self.ko: tuple[Point, int] | None = None  # the point and the colour that may not play there
        self.prisoners = {BLACK: 0, WHITE: 0}  # stones taken by that colour
        self.passes = 0
        self.button = False  # whether the next pass takes the button, and does not count as one
        self.earlier: list[tuple[Stones, int]] = [({}, BLACK)]  # with the colour to move
        self.neighbours = {point: self._neighbours_of(point) for point in self.points()}

    def points(self) -> Iterator[Point]:
        return ((x, y) for y in range(self.height) for x in range(self.width))

    def _neighbours_of(self, point: Point) -> list[Point]:
        x, y = point
        around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        return [(a, b) for a, b in around if 0 <= a < self.width and 0 <= b < self.height]

    def colour(self, point: Point, stones: Stones | None = None) -> int:
        return (self.stones if stones is None else stones).get(point, EMPTY)

    def region(self, start: Point, colours: Iterable[int], stones: Stones | None = None) -> set[Point]:
        """The connected points round `start` whose colours are among `colours`."""
        stones = self.stones if stones is None else stones
        found, waiting = {start}, [start]
        while waiting:
            for point in self.neighbours[waiting.pop()]:
                if point not in found and stones.get(point, EMPTY) in colours:
                    found.add(point)
                    waiting.append(point)
        return found

    def chain(self, point: Point, stones: Stones | None = None) -> set[Point]:
        return self.region(point, [self.colour(point, stones)], stones)

    def border(self, points: Iterable[Point]) -> set[Point]:
        """The points next to `points` that are not among them."""
        inside = set(points)
        return {near for point in inside for near in self.neighbours[point]} - inside

    def liberties(self, point: Point, stones: Stones | None = None) -> set[Point]:
        """The liberties of the chain at `point`."""
        stones = self.stones if stones is None else stones
        return {near for at in self.chain(point, stones) for near in self.neighbours[at] if near not in stones}

    def has_liberty(self, point: Point, stones: Stones) -> bool:
        """Whether the chain at `point` has a liberty, which is sooner seen than how many."""
        found, waiting = {point}, [point]
        while waiting:
            for near in self.neighbours[waiting.pop()]:
                if near not in stones:
                    return True
                if near not in found and stones[near] == stones[point]:
                    found.add(near)
                    waiting.append(near)
        return False

    def all_chains(self, stones: Stones | None = None) -> list[set[Point]]:
        stones = self.stones if stones is None else stones
        found: list[set[Point]] = []
        seen: set[Point] = set()
        for point in stones:
            if point not in seen:
                found.append(self.chain(point, stones))
                seen |= found[-1]
        return found

    def after(self, point: Point, colour: int) -> Stones:
        """The position after a move on an empty point, suicides taken off as well."""
        stones = dict(self.stones)
        stones[point] = colour
        for near in self.neighbours[point]:
            if self.colour(near, stones) == 3 - colour and not self.has_liberty(near, stones):
                for dead in self.chain(near, stones):
                    del stones[dead]
        if not self.has_liberty(point, stones):
            for dead in self.chain(point, stones):
                del stones[dead]
        return stones

    def is_suicide(self, point: Point, colour: int) -> bool:
        return point not in self.after(point, colour)

    def simple_illegality(self, point: Point, colour: int) -> str | None:
        """Why a move is illegal whatever was on the board before the last move, None where it is not."""
        if point in self.stones:
            return "occupied"
        if self.ko == (point, colour):
            return "ko"
        if self.is_suicide(point, colour):
            own_chain = any(self.colour(near) == colour for near in self.neighbours[point])
            if not self.suicide or not own_chain:
                return "suicide"
        return None

    def illegality(self, point: Point, colour: int) -> str | None:
        """As `simple_illegality`, superko included."""
        reason = self.simple_illegality(point, colour)
        if reason is None and self.repeats(self.after(point, colour), 3 - colour):
            return "superko"
        return reason

    def repeats(self, stones: Stones, to_move: int) -> bool:
        if self.ko_rule == "SIMPLE":
            return False
        return any(
            stones == old and (self.ko_rule == "POSITIONAL" or to_move == old_to_move)
            for old, old_to_move in self.earlier
        )

    def play(self, point: Point | None, colour: int) -> None:
        """A legal move, or a pass (None); one out of turn begins a new history, as over GTP."""
        if colour != self.to_move:
            self.begin_history(colour)
        self.ko = None
        if point is None:
            self.passes += not self.button
            if self.button:
                self.earlier = []  # the button is part of the position
            self.button = False
        else:
            self._put(point, colour)
        self.to_move = 3 - colour
        self.earlier.append((dict(self.stones), self.to_move))

    def begin_history(self, to_move: int) -> None:
        """Makes the present position a starting one."""
        self.to_move = to_move
        self.ko = None
        self.passes = 0
        self.earlier = [(dict(self.stones), to_move)]

    def _put(self, point: Point, colour: int) -> None:
        before = self.stones
        self.stones = self.after(point, colour)
        self.passes = 0
        if point not in self.stones:
            self.prisoners[3 - colour] += len(before) + 1 - len(self.stones)
            return
        taken = [dead for dead in before if dead not in self.stones]
        self.prisoners[colour] += len(taken)
        if len(taken) == 1 and self.chain(point) == {point} and len(self.liberties(point)) == 1:
            self.ko = (taken[0], 3 - colour)

    def diagram(self) -> str:
        rows = [[".XO"[self.colour((x, y))] for x in range(self.width)] for y in range(self.height)]
        return "\n".join(" ".join(row) for row in rows)


def read_diagram(text: str) -> tuple[int, int, Stones, dict[str, Point]]:
    """Width, height, stones (X black, O white) and the marked points (letters and digits) of an ASCII board."""
    rows = [line.split() for line in text.strip().splitlines()]
    stones: Stones = {}
    marks: dict[str, Point] = {}
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            if cell in "XO":
                stones[x, y] = "XO".index(cell) + 1
            elif cell != ".":
                marks[cell] = (x, y)
    return len(rows[0]), len(rows), stones, marks
