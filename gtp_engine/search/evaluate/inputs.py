"""The inputs of a batch for a network."""

import numpy as np

from ...nets.schema import METADATA
from .features import PLANES, SCALARS


class Inputs:
    """Memory for the inputs of a batch.

    Attributes:
        size: How many positions there is memory for.
        planes: uint8 [size, height, width, 22].
        scalars: float32 [size, 19].
        metadata: float32 [size, 192], or None if the network has no inputs for it.
        legal: bool [size, points + 1], the legal moves of the positions themselves.
    """

    def __init__(self, size: int, width: int, height: int, metadata: bool) -> None:
        self.size = size
        self.planes = np.empty((size, height, width, PLANES), np.uint8)
        self.scalars = np.empty((size, SCALARS), np.float32)
        self.metadata = np.empty((size, METADATA), np.float32) if metadata else None
        self.legal = np.empty((size, width * height + 1), np.bool_)


def as_slice(positions: np.ndarray) -> slice | np.ndarray:
    """Returns indices in ascending order as a slice if they are a range: a slice is not copied."""
    first, last = int(positions[0]), int(positions[-1])
    return slice(first, last + 1) if last - first == len(positions) - 1 else positions
