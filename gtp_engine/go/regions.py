"""Chains of a board, and connected regions of equal colour on a plain array, off the search's hot path."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Board
from .coords import BLACK, EMPTY, WHITE, point_at, xy

Cell = tuple[int, int]  # row, column


@dataclass(frozen=True)
class Region:
    """A maximal connected set of cells of one colour."""

    colour: int  # the value of its cells
    cells: list[Cell]  # its cells (row, column), the first in reading order at the front
    borders: frozenset[int]  # the colours of the cells next to it


def find_regions(colours: NDArray[np.int8]) -> list[Region]:
    """Returns the regions of an array [height, width], in reading order of their first cells."""
    regions = []
    seen: set[Cell] = set()
    for row, column in np.ndindex(*colours.shape):
        if (row, column) in seen:
            continue
        colour, cells, borders = int(colours[row, column]), [(row, column)], set()
        seen.add((row, column))
        for cell in cells:  # grows while it is walked over
            for near in neighbours(cell, colours.shape):
                if colours[near] != colour:
                    borders.add(int(colours[near]))
                elif near not in seen:
                    seen.add(near)
                    cells.append(near)
        regions.append(Region(colour, cells, frozenset(borders)))
    return regions


def parts_of(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Returns the connected parts of a set of cells."""
    left, parts = set(cells), []
    while left:
        part = [left.pop()]
        for row, column in part:  # grows while it is walked over
            near = left & {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
            left -= near
            part.extend(near)
        parts.append(part)
    return parts


def neighbours(cell: Cell, shape: tuple[int, ...]) -> Iterator[Cell]:
    """Yields the cells next to this one."""
    row, column = cell
    if row > 0:
        yield row - 1, column
    if row + 1 < shape[0]:
        yield row + 1, column
    if column > 0:
        yield row, column - 1
    if column + 1 < shape[1]:
        yield row, column + 1


def find_liberties(cells: Iterable[Cell], stones: NDArray[np.int8]) -> set[Cell]:
    """Returns the empty cells next to these: the liberties of a chain, or of the chains of a group."""
    return {near for cell in cells for near in neighbours(cell, stones.shape) if stones[near] == EMPTY}


def points_of(cells: Iterable[Cell], width: int) -> list[int]:
    """Returns the points of these cells on a board of this width."""
    return [point_at(column, row, width) for row, column in cells]


def cells_of(points: Iterable[int], width: int) -> list[Cell]:
    """Returns the cells of these points on a board of this width."""
    return [(row, column) for column, row in (xy(point, width) for point in points)]


@dataclass(frozen=True)
class Chain:
    """A chain of stones.

    Attributes:
        colour: Its colour.
        stones: The points of its stones.
        liberties: The points of its liberties.
    """

    colour: int
    stones: frozenset[int]
    liberties: frozenset[int]


def chains_of(board: Board) -> list[Chain]:
    """Returns the chains of a board, in reading order of their first stones."""
    points = np.flatnonzero((board["stones"] == BLACK) | (board["stones"] == WHITE))
    firsts = np.unique(board["chain"][points], return_index=True)[1]
    chains = (chain_at(board, int(points[first])) for first in np.sort(firsts))
    return [chain for chain in chains if chain is not None]


def chain_at(board: Board, point: int) -> Chain | None:
    """Returns the chain with a stone at a point; None if there is none."""
    colours, stride = board["stones"], int(board["width"]) + 1
    colour = int(colours[point])
    if colour not in (BLACK, WHITE):
        return None
    stones, following = [point], int(board["next_stone"][point])
    while following != point:
        stones.append(following)
        following = int(board["next_stone"][following])
    near = {stone + step for stone in stones for step in (-stride, -1, 1, stride)}
    return Chain(colour, frozenset(stones), frozenset(place for place in near if colours[place] == EMPTY))
