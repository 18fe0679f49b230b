"""The eight symmetries of a board, numbered as KataGo numbers them.

Symmetry s first flips top and bottom (1), then left and right (2), then transposes (4); the numbers add up. On an
oblong board 4 to 7 exchange width and height.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .coords import PASS, point_at, xy

COUNT = 8
FLIP_ROWS, FLIP_COLUMNS, TRANSPOSE = 1, 2, 4

Scalar = TypeVar("Scalar", bound=np.generic)


def apply(planes: NDArray[Scalar], symmetry: int) -> NDArray[Scalar]:
    """A view of `planes`, shape [..., height, width], turned by the symmetry."""
    if symmetry & FLIP_ROWS:
        planes = planes[..., ::-1, :]
    if symmetry & FLIP_COLUMNS:
        planes = planes[..., ::-1]
    return planes.swapaxes(-1, -2) if symmetry & TRANSPOSE else planes


def undo(planes: NDArray[Scalar], symmetry: int) -> NDArray[Scalar]:
    """A view of `planes` turned back: undo(apply(planes, s), s) equals planes."""
    return apply(planes, inverse(symmetry))


def inverse(symmetry: int) -> int:
    """The symmetry that takes this one back: itself, but the two quarter turns (5, 6) take back each other."""
    return {5: 6, 6: 5}.get(symmetry, symmetry)


def turned_point(point: int, symmetry: int, width: int, height: int) -> int:
    """Where a point of a width x height board comes to lie; a pass stays a pass."""
    if point == PASS:
        return PASS
    x, y = xy(point, width)
    if symmetry & FLIP_ROWS:
        y = height - 1 - y
    if symmetry & FLIP_COLUMNS:
        x = width - 1 - x
    return point_at(y, x, height) if symmetry & TRANSPOSE else point_at(x, y, width)


def turned_indices(symmetry: int, width: int, height: int) -> NDArray[np.intp]:
    """The move index that each one comes to lie at: shape [area+1], the pass last and in its place.

    `turned[turned_indices(...)] = row` turns a row in move-index order, `turned[turned_indices(...)]` turns it back.
    """
    area = width * height
    indices = np.arange(area).reshape(height, width)
    turned = np.empty(area + 1, np.intp)
    turned[apply(indices, symmetry).ravel()] = np.arange(area)
    turned[area] = area
    return turned
