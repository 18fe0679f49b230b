"""How the points of boards lie in the rows of a tensor, and memory whose rows begin where the kernels like it.

A tensor of points is float32 [boards, rows, channels]. Its rows are a board's points, one after the other; or, for
products in the tiles of AMX, each line of the board ends with a row that stands for no point, and further ones fill the
tensor up. All neighbours of a point then lie at the same distances, and outside of the board there is always such a
row: a 3x3 convolution is nine products of the same rows, shifted. Masks treat these rows as points off the board.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit

# Rows fill tiles of 16, and two of them the step of a product over the points.
_ROWS = 32
_ALIGNMENT = 64  # bytes: a cache line, and a row of a tile


EVERY_ROW = np.zeros((0, 1), np.bool_)
"""The mask of a batch all of whose rows are points on the board."""


class Grid(NamedTuple):
    """The rows of a board of one size."""

    height: int
    width: int
    pitch: int  # the number of rows from a point to the one below
    rows: int

    @classmethod
    def of(cls, height: int, width: int, in_tiles: bool) -> "Grid":
        """Returns the rows of a board; in_tiles: whether products are computed in tiles."""
        if not in_tiles:
            return cls(height, width, width, height * width)
        return cls(height, width, width + 1, -(-height * (width + 1) // _ROWS) * _ROWS)

    def mask(self, on_board: np.ndarray | None, count: int) -> np.ndarray:
        """Returns which rows are points on the board: bool [n, rows], or `EVERY_ROW`.

        `on_board` is bool [n, height, width], None if all boards fill the grid; `count` is n.
        """
        if self.rows == self.height * self.width:
            return EVERY_ROW if on_board is None else on_board.reshape(count, self.rows)
        if on_board is None:
            return _mask_of_full_boards(self, count)
        found = np.zeros((count, self.rows), np.bool_)
        self.points(found[:, :, None])[..., 0] = on_board
        return found

    def points(self, rows: np.ndarray) -> np.ndarray:
        """Returns the points of [n, rows, channels] as a view [n, height, width, channels]."""
        lines = rows[:, : self.height * self.pitch]
        return lines.reshape(len(rows), self.height, self.pitch, rows.shape[2])[:, :, : self.width]


@cache
def _mask_of_full_boards(grid: Grid, count: int) -> np.ndarray:
    """Returns `Grid.mask` of boards that fill the grid; it is only read."""
    return grid.mask(np.ones((count, grid.height, grid.width), np.bool_), count)


@njit
def memory_of(size: int) -> np.ndarray:
    """Returns uninitialised bytes that begin at a cache line; a whole vector may be read beyond their end."""
    memory = np.empty(size + 2 * _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT  # numpy would need 2 us to tell an address
    return memory[start : start + size]


def aligned(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Returns an uninitialised array that begins at a cache line; a whole vector may be read beyond its end."""
    return memory_of(math.prod(shape) * np.dtype(dtype).itemsize).view(dtype).reshape(shape)


@njit
def aligned_rows(rows: int, columns: int) -> np.ndarray:
    """Returns zeros, float32 [rows, columns], that begin at a cache line."""
    memory = memory_of(4 * rows * columns).view(np.float32)
    memory[:] = 0
    return memory.reshape((rows, columns))


@njit
def aligned_like(rows: int, columns: int, like: np.ndarray) -> np.ndarray:
    """Returns such zeros of the type of `like`, rows of a multiple of 4 bytes."""
    return aligned_rows(rows, columns * like.itemsize // 4).view(like.dtype)
