"""The part of a board in which a group is read, and what is taken for granted around it."""

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..base.errors import UserError
from ..go.coords import EMPTY, opponent
from ..go.game import Game
from ..go.life import proven_owners, unproven_chains
from ..go.regions import Cell, Region, cells_of, find_liberties, find_regions, neighbours, points_of
from .local_board import ATTACKER, CELLS, DEFENDER, LOCAL, NO_KO

# Empty points of a part at most. Chosen by judgement: more are hardly ever read to the end.
MOST_EMPTY = 24
# The opponent's chains of at most so many liberties are read with the group instead of taken for safe. By judgement.
_WEAK = 3


@dataclass(frozen=True)
class Part:
    """A part of a board, in the form that the compiled search reads."""

    locals: np.ndarray  # LOCAL [2], what stays as it is, by the player who seeks its goal
    stones: np.ndarray  # uint64 [4], the defender's stones and the attacker's at the beginning
    defender: int  # the colour of the group
    size: tuple[int, int]  # the width and the height of the board
    points: dict[int, int]  # the point of each cell
    target: tuple[int, ...]  # the points of the stones that are to be captured
    # The attacker's chains outside that are taken for safe, each as its points; proven ones are left out.
    walls: tuple[tuple[int, ...], ...]
    is_open: bool  # whether the part ends at empty points: the group may get out there
    ko: int  # the cell that a ko forbids to the player to move, or NO_KO


def find_part(game: Game, points: Iterable[int], most_empty: int = MOST_EMPTY, *, nearest: bool = False) -> Part:
    """Returns the part of a board in which the chains on some points are read.

    It holds what the group reaches over empty points, stones of its colour and such stones of the opponent's as have
    few liberties, or none elsewhere. Of many empty points it takes the nearest, or prefers those that stones of its
    colour reach before the opponent's.

    Raises:
        UserError: There is no stone on one of the points, they have both colours, or the group is too large.
    """
    wanted = cells_of(points, game.width)
    return _find_part(_Side(game, _colour_of(game, wanted), nearest=nearest), wanted, most_empty)


def part_within(game: Game, points: Iterable[int], within: Iterable[int]) -> Part:
    """Returns the part that has the points `within`, and the chains on `points` as if they were enclosed in it.

    The empty points around it count as safe stones of the attacker's. So what lives there lives on the board as well,
    and what cannot be captured there cannot be captured; what is captured there may still get out on the board.

    Raises:
        UserError: As `find_part`.
    """
    wanted = cells_of(points, game.width)
    side = _Side(game, _colour_of(game, wanted), nearest=True)
    cells = {*cells_of(within, game.width), *wanted}
    beside = {near for cell in cells for near in neighbours(cell, side.stones.shape)}
    # Adjacent chains of the defender's are read as well: if the group needs them to live, it could still be captured.
    own = [cell for cell in beside if side.stones[cell] == side.defender != side.proven[cell]]
    cells.update(*(side.chain_of[cell] for cell in (*wanted, *own)))
    grid = _Grid.around(cells)
    if grid is None:
        raise UserError("the group is too large to be read")
    return _part(side, wanted, cells, grid, is_enclosed=True)


def _colour_of(game: Game, wanted: Collection[Cell]) -> int:
    """Returns the colour of the stones on some cells; raises UserError if one is empty, or they have both colours."""
    stones = game.stones()
    for cell in wanted:
        if stones[cell] == EMPTY:
            raise UserError(f"no stone at {game.vertex(points_of([cell], game.width)[0])}")
    colours = {int(stones[cell]) for cell in wanted}
    if len(colours) != 1:
        raise UserError("stones of one colour are needed: name those of one group")
    return colours.pop()


def _find_part(side: "_Side", wanted: Collection[Cell], most_empty: int) -> Part:
    for empty in range(most_empty, 0, -1):
        cells = _Growth(side, wanted, empty).cells
        if (grid := _Grid.around(cells)) is not None:
            return _part(side, wanted, cells, grid)
    raise UserError("the group is too large to be read")


class _Side:
    """A position as the parts around all groups of one colour, the defender's, begin from it."""

    def __init__(self, game: Game, defender: int, *, nearest: bool = False) -> None:
        self.game, self.defender = game, defender
        self.stones, self.proven = game.stones(), proven_owners(game)
        chains = [region for region in find_regions(self.stones) if region.colour != EMPTY]
        self.chain_of = {cell: region.cells for region in chains for cell in region.cells}
        found = {region.cells[0]: find_liberties(region.cells, self.stones) for region in chains}
        self.liberties_of = {cell: found[chain[0]] for cell, chain in self.chain_of.items()}
        self.costs = np.ones(self.stones.shape, np.int64) if nearest else self._step_costs(chains)

    def _step_costs(self, chains: Iterable[Region]) -> NDArray[np.int64]:
        """Returns what an empty cell costs: the least where the defender gets first, and so may make eyes.

        Of the costs 1, 1, 1 (the nearest cells first) and six others, these led to the most proofs in problems of the
        relevance-zone study.
        """
        own, other = set[Cell](), set[Cell]()
        for chain in chains:
            if chain.colour == self.defender:
                own.update(chain.cells)
            elif len(self.liberties_of[chain.cells[0]]) > _WEAK:
                other.update(chain.cells)
        own_steps, other_steps = (_distances(self.stones, cells) for cells in (own, other))
        return np.where(own_steps < other_steps, 1, np.where(own_steps == 1, 2, 4))


class _Growth:
    """The cells of a part, which grows from a group."""

    def __init__(self, side: _Side, wanted: Collection[Cell], most_empty: int) -> None:
        self.cells: set[Cell] = set()
        self._stones, self._most_empty, self._defender = side.stones, most_empty, side.defender
        self._proven, self._costs = side.proven, side.costs
        self._chain_of, self._liberties_of = side.chain_of, side.liberties_of
        self._queue: list[tuple[int, int, Cell]] = []
        self._cost = 0  # of the cell that was taken from the queue last
        self._empty = 0
        for cell in wanted:
            self._add_chain(cell)
        self._spread()
        while (chain := next(self._caught(), None)) is not None:
            self._add_chain(chain[0])
            self._spread()

    def _add_chain(self, cell: Cell) -> None:
        new = [one for one in self._chain_of[cell] if one not in self.cells]
        self.cells.update(new)
        for one in new:
            self._push(one, 1)

    def _push(self, cell: Cell, cost: int) -> None:
        heapq.heappush(self._queue, (self._cost + cost, len(self.cells), cell))

    def _spread(self) -> None:
        """Adds what is reached over empty points and stones of the group's colour, the cheapest first."""
        while self._queue:
            self._cost, _, cell = heapq.heappop(self._queue)
            if self._stones[cell] == EMPTY and cell not in self.cells:
                if self._empty == self._most_empty:
                    continue
                self._empty += 1
                self.cells.add(cell)
            for near in neighbours(cell, self._stones.shape):
                if near in self.cells:
                    continue
                colour = self._stones[near]
                if colour == self._defender and self._proven[near] != self._defender:
                    self._add_chain(near)
                elif colour == EMPTY:
                    self._push(near, int(self._costs[near]))
                elif colour == opponent(self._defender) and self._proven[near] == EMPTY:
                    self._add_weak(self._chain_of[near])

    def _add_weak(self, chain: list[Cell]) -> None:
        """Adds a chain of the opponent's with its liberties, if they are few and there is room."""
        liberties = self._liberties_of[chain[0]]
        new = liberties - self.cells
        if len(liberties) <= _WEAK and self._empty + len(new) <= self._most_empty:
            self._empty += len(new)
            self.cells |= new
            for one in sorted(new):
                self._push(one, int(self._costs[one]))
            self._add_chain(chain[0])

    def _caught(self) -> Iterator[list[Cell]]:
        """Yields the opponent's chains next to the part that have no liberties outside, and may die."""
        for cell in self.cells:
            for near in neighbours(cell, self._stones.shape):
                is_other = self._stones[near] == opponent(self._defender) and near not in self.cells
                if is_other and self._proven[near] == EMPTY and self._liberties_of[near] <= self.cells:
                    yield self._chain_of[near]


def _distances(stones: NDArray[np.int8], cells: Iterable[Cell]) -> NDArray[np.int64]:
    """Returns the steps over empty cells from the nearest of some cells."""
    queue = deque(cells)
    found = np.full(stones.shape, stones.size)
    for cell in queue:
        found[cell] = 0
    while queue:
        cell = queue.popleft()
        for near in neighbours(cell, stones.shape):
            if stones[near] == EMPTY and found[near] > found[cell] + 1:
                found[near] = found[cell] + 1
                queue.append(near)
    return found


@dataclass(frozen=True)
class _Grid:
    """How the cells lie in the bits of a set: the place of the first row and column, and the columns of a row."""

    top: int
    left: int
    stride: int
    is_turned: bool

    @staticmethod
    def around(cells: Collection[Cell]) -> "_Grid | None":
        """Returns the grid for cells, None if they are too many."""
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
        is_turned = (width + 1) * height > CELLS
        stride, others = (height + 1, width) if is_turned else (width + 1, height)
        return _Grid(min(rows), min(columns), stride, is_turned) if stride * others <= CELLS else None

    def cell(self, cell: Cell) -> int:
        row, column = cell[0] - self.top, cell[1] - self.left
        return column * self.stride + row if self.is_turned else row * self.stride + column

    def mask(self, cells: Iterable[Cell]) -> tuple[int, int]:
        """Returns the set of cells as its low and its high half."""
        bits = sum(1 << self.cell(cell) for cell in set(cells))
        return bits & (2**64 - 1), bits >> 64


def _part(side: _Side, wanted: Collection[Cell], cells: set[Cell], grid: _Grid, *, is_enclosed: bool = False) -> Part:
    game, stones, chain_of, proven, defender = side.game, side.stones, side.chain_of, side.proven, side.defender
    target = {one for cell in wanted for one in chain_of[cell]}
    colours = {DEFENDER: defender, ATTACKER: opponent(defender)}
    beside = [(cell, near) for cell in cells for near in neighbours(cell, stones.shape) if near not in cells]
    local = np.zeros(2, LOCAL)
    local["stride"], local["suicide"] = grid.stride, game.rules.suicide
    local["cells"], local["target"] = grid.mask(cells), grid.mask(target)
    opening = grid.mask(cell for cell, near in beside if stones[near] == EMPTY)
    if not is_enclosed:
        local["open"] = opening
    for player, colour in colours.items():
        local["fixed"][:, player] = grid.mask(cell for cell, near in beside if stones[near] == colour)
        # Whoever seeks its goal may not count on what lies outside: as if the other had safe stones there.
        local["fixed"][1 - player, player] |= local["open"][0]
    if is_enclosed:
        local["fixed"][:, ATTACKER] |= np.array(opening, np.uint64)
    is_wall = {near for _, near in beside if stones[near] == colours[ATTACKER] != proven[near]}
    points = {grid.cell(cell): points_of([cell], game.width)[0] for cell in cells}
    of_colour = [grid.mask(cell for cell in cells if stones[cell] == colour) for colour in colours.values()]
    return Part(
        locals=local,
        stones=np.array([*of_colour[0], *of_colour[1]], np.uint64),
        defender=defender,
        size=(game.width, game.height),
        points=points,
        target=tuple(sorted(points_of(target, game.width))),
        walls=tuple(sorted({tuple(points_of(chain_of[near], game.width)) for near in is_wall})),
        is_open=bool(local["open"].any()),
        ko=next((cell for cell, point in points.items() if point == game.board["ko_point"][0]), NO_KO),
    )


def find_way_out(game: Game, points: Iterable[int]) -> int | None:
    """Returns the liberty from which a group that is not enclosed can run; None if there is none.

    The way leads over empty points that no stone of the opponent's touches, more of them than can be read, to where the
    group's colour is not the first to come.
    """
    side = _Side(game, _colour_of(game, wanted := cells_of(points, game.width)))

    def steps(colour: int) -> NDArray[np.int64]:
        return _distances(side.stones, [(row, column) for row, column in np.argwhere(side.stones == colour).tolist()])

    own_steps, other_steps = steps(side.defender), steps(opponent(side.defender))
    liberties = set[Cell]().union(*(side.liberties_of[cell] for cell in wanted))
    origin = {cell: cell for cell in sorted(liberties) if other_steps[cell] > 1}
    reached = [*origin]
    for cell in reached:
        for near in neighbours(cell, side.stones.shape):
            if side.stones[near] == EMPTY and near not in origin and other_steps[near] > 1:
                origin[near] = origin[cell]
                reached.append(near)
    outside = next((cell for cell in reached if other_steps[cell] <= own_steps[cell]), None)
    if outside is None or len(reached) <= MOST_EMPTY:
        return None
    return points_of([origin[outside]], game.width)[0]


def closed_parts(
    game: Game, points: Iterable[int], most_empty: int = MOST_EMPTY, *, nearest: bool = False
) -> dict[int, Part]:
    """Returns, by its point, the part in which each chain is read whose part is neither open nor too large.

    The parts are those of `find_part`, for the same arguments.
    """
    side = cache(lambda colour: _Side(game, colour, nearest=nearest))
    found = {}
    for point in points:
        wanted = cells_of([point], game.width)
        colour = _colour_of(game, wanted)
        with suppress(UserError):  # too large
            part = _find_part(side(colour), wanted, most_empty)
            if not part.is_open:
                found[point] = part
    return found


def enclosed_groups(game: Game) -> list[tuple[int, ...]]:
    """Returns the largest chain, as its points, of each group that can be read in a closed part and is not proven."""
    unproven = (tuple(points_of(chain.cells, game.width)) for chain in unproven_chains(game))
    chains = {chain[0]: chain for chain in unproven}
    groups: dict[tuple[int, frozenset[int]], tuple[int, ...]] = {}
    for point, part in closed_parts(game, chains).items():
        key = part.defender, frozenset(part.points.values())
        groups[key] = max(groups.get(key, ()), chains[point], key=len)
    return list(groups.values())
