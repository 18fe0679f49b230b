"""`go.coords`' converters between points and move indices for compiled code, which cannot call plain Python.

They live apart so that importing `go.coords` does not import numba. A test holds them against their twins.
"""

from ..base.jit import inline
from .coords import PASS


@inline
def point_at(x: int, y: int, width: int) -> int:
    """Returns the point of column `x` (0 is A) and row `y` (0 is the top row)."""
    return (y + 1) * (width + 1) + x + 1


@inline
def point_of_index(index: int, width: int, height: int) -> int:
    """Returns the point of a move index; width*height is the pass."""
    if index == width * height:
        return PASS
    return point_at(index % width, index // width, width)


@inline
def index_of_point(point: int, width: int, height: int) -> int:
    """Returns the move index of a point or of `PASS`."""
    if point == PASS:
        return width * height
    return (point // (width + 1) - 1) * width + point % (width + 1) - 1
