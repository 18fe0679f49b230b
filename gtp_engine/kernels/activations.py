"""Norm and activation in one pass over memory, for networks on a CPU: torch takes seven times as long for mish.

The passes are compiled loops over float32 or bfloat16 values that LLVM turns into vector instructions. They run on the
thread that calls them.
"""

import numpy as np
import torch
from torch import Tensor, nn

from ..base.jit import njit
from ..network.schema import IDENTITY, MISH, RELU, SILU
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


NO_MASK = np.zeros((0, 0), np.bool_)


class FusedActivation(nn.Module):
    """activation(x * scale + shift) of float32 or bfloat16 [n, channels, h, w] on a CPU, channels-last.

    Args:
        kind: The activation, one of the keys of `KINDS`.
        scale: [channels].
        shift: [channels].
    """

    def __init__(self, kind: str, scale: Tensor, shift: Tensor) -> None:
        super().__init__()
        self.kind = KINDS[kind]
        # Copies: contiguous, and independent of the tensors of the norm that is replaced.
        self.scale, self.shift = scale.float().numpy().copy(), shift.float().numpy().copy()

    def forward(self, x: Tensor) -> Tensor:
        points = to_array(x)
        out = np.empty_like(points)
        # All points of the batch as one image of a single row.
        row = 1, -1, x.shape[1]
        activate(points.reshape(row), 0, self.scale, self.shift, self.kind, NO_MASK, out.reshape(row), 0)
        return to_tensor(out)


def to_array(x: Tensor) -> np.ndarray:
    """Converts [n, channels, h, w] for compiled code: [n, h, w, channels], contiguous, bfloat16 as uint16."""
    # A channels-last tensor is contiguous in this order of its axes, so that nothing is copied.
    points = x.permute(0, 2, 3, 1).contiguous()
    array: np.ndarray = (points.view(torch.uint16) if x.dtype == torch.bfloat16 else points).numpy()
    return array


def to_tensor(array: np.ndarray) -> Tensor:
    """The inverse of `to_array`."""
    points = torch.from_numpy(array)
    return (points.view(torch.bfloat16) if array.dtype == np.uint16 else points).permute(0, 3, 1, 2)
