"""Connected regions of equal colour on a plain array: for counting and endgame questions, off the search's hot path."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .coords import EMPTY, point_at, xy

Cell = tuple[int, int]  # row, column


@dataclass(frozen=True)
class Region:
    """A maximal connected set of cells of one colour.

    Attributes:
        colour: The value of its cells.
        cells: Its cells (row, column), the first in reading order at the front.
        borders: The colours of the cells next to it.
    """

    colour: int
    cells: list[Cell]
    borders: frozenset[int]


def find_regions(colours: NDArray[np.int8]) -> list[Region]:
    """Returns the regions of an array [height, width], in reading order of their first cells."""
    regions = []
    seen: set[Cell] = set()
    for start in np.ndindex(colours.shape):
        cell = (start[0], start[1])
        if cell not in seen:
            regions.append(_fill(colours, cell, seen))
    return regions


def _fill(colours: NDArray[np.int8], start: Cell, seen: set[Cell]) -> Region:
    colour = int(colours[start])
    cells, borders = [start], set()
    seen.add(start)
    for cell in cells:  # grows while it is walked over
        for near in neighbours(cell, colours.shape):
            if colours[near] != colour:
                borders.add(int(colours[near]))
            elif near not in seen:
                seen.add(near)
                cells.append(near)
    return Region(colour, cells, frozenset(borders))


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
