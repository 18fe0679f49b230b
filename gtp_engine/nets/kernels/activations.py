"""Norm and activation in one pass over memory.

The passes are compiled loops over float32 or bfloat16 values that LLVM turns into vector instructions. They run on the
thread that calls them.
"""

import numpy as np

from ...base.jit import njit
from ..schema import IDENTITY, MISH, RELU, SILU
from .scalars import ZERO, load_f32, mish, silu, store_as

# Numbers for compiled code, where comparing strings would be slow.
IDENTITY_KIND, _RELU, _MISH, _SILU = range(4)
KINDS = {IDENTITY: IDENTITY_KIND, RELU: _RELU, MISH: _MISH, SILU: _SILU}


@njit
def activate(
    x: np.ndarray,
    first: int,
    scale: np.ndarray,
    shift: np.ndarray,
    kind: int,
    on_board: np.ndarray,
    out: np.ndarray,
    margin: int,
) -> None:
    """Writes activation(x * scale + shift) of some channels of one image into `out`, and 0 off the board.

    Args:
        x: [rows, columns, channels] of float32, or of bfloat16 seen as uint16.
        first: The first channel to read; as many are read as `scale` has.
        scale: float32 [channels read].
        shift: float32 [channels read].
        kind: One of the values of `KINDS`.
        on_board: bool [rows, columns], or [0, ...] if all points are on the board.
        out: [rows + 2 * margin, columns + 2 * margin, channels], of float32 or bfloat16. Its margin and its further
            channels stay as they are.
        margin: The width of the margin around the image in `out`.
    """
    rows, columns, _ = x.shape
    channels = len(scale)
    for i in range(rows):
        for j in range(columns):
            # Slices, so that the loops below index by k alone: LLVM does not vectorise an index that is a sum, because
            # numba has to allow for it to be negative.
            source, target = x[i, j, first : first + channels], out[i + margin, j + margin, :channels]
            # The kind is chosen outside of the loops over channels: a branch inside would keep them scalar.
            if len(on_board) > 0 and not on_board[i, j]:
                target[:] = 0
            elif kind == IDENTITY_KIND:
                for k in range(channels):
                    target[k] = store_as(load_f32(source[k]) * scale[k] + shift[k], target[k])
            elif kind == _RELU:
                for k in range(channels):
                    target[k] = store_as(max(load_f32(source[k]) * scale[k] + shift[k], ZERO), target[k])
            elif kind == _MISH:
                for k in range(channels):
                    target[k] = store_as(mish(load_f32(source[k]) * scale[k] + shift[k]), target[k])
            else:
                for k in range(channels):
                    target[k] = store_as(silu(load_f32(source[k]) * scale[k] + shift[k]), target[k])
