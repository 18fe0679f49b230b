"""The eight symmetries of a board, numbered as KataGo numbers them.

A symmetry's number is a set of bits, applied in this order: 1 flips top and bottom, 2 flips left and right, 4
transposes. On a rectangular board 4 to 7 exchange width and height.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .coords import PASS, point_at, xy

COUNT = 8
ALL_SYMMETRIES = 8  # in place of a symmetry's number: the mean over all eight
FLIP_ROWS, FLIP_COLUMNS, TRANSPOSE = 1, 2, 4

Scalar = TypeVar("Scalar", bound=np.generic)


def apply(planes: NDArray[Scalar], symmetry: int) -> NDArray[Scalar]:
    """Returns a view of `planes`, [..., height, width], transformed by the symmetry."""
    if symmetry & FLIP_ROWS:
        planes = planes[..., ::-1, :]
    if symmetry & FLIP_COLUMNS:
        planes = planes[..., ::-1]
    return planes.swapaxes(-1, -2) if symmetry & TRANSPOSE else planes


def transform_point(point: int, symmetry: int, width: int, height: int) -> int:
    """Returns the point that a point of a width x height board becomes; a pass stays a pass."""
    if point == PASS:
        return PASS
    x, y = xy(point, width)
    if symmetry & FLIP_ROWS:
        y = height - 1 - y
    if symmetry & FLIP_COLUMNS:
        x = width - 1 - x
    return point_at(y, x, height) if symmetry & TRANSPOSE else point_at(x, y, width)


def permutation(symmetry: int, width: int, height: int) -> NDArray[np.intp]:
    """Returns the new move index of each move under a symmetry, the pass last and unchanged: [area + 1].

    For a row of values in move-index order, `transformed[permutation(...)] = row` transforms it, and
    `transformed[permutation(...)]` is the row again.
    """
    area = width * height
    indices = np.arange(area).reshape(height, width)
    new_indices = np.empty(area + 1, np.intp)
    new_indices[apply(indices, symmetry).ravel()] = np.arange(area)
    new_indices[area] = area
    return new_indices
