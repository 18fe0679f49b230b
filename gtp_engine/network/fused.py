"""Norm and activation in one pass over memory, for networks on a CPU: torch takes seven times as long for mish.

The passes are compiled loops over float32 or bfloat16 numbers that LLVM turns into vector instructions. They run on the
thread that calls them.
"""

import numpy as np
import torch
from torch import Tensor, nn

from ..compiled import njit
from .elements import ZERO, element, mish, number, silu
from .records import IDENTITY, MISH, RELU, SILU

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
    """out = activation(x * scale + shift) of the channels from `first` on, 0 off the board, inside a margin of `out`.

    x, out: [rows, columns, channels] of float32, or of bfloat16 seen as uint16. scale, shift: float32 [channels taken].
    kind: of KINDS. on_board: bool [rows, columns], or without rows where all is board. Margin and other channels of
    `out` stay as they are.
    """
    rows, columns, _ = x.shape
    channels = len(scale)
    for i in range(rows):
        for j in range(columns):
            # Rows of their own: an index that is a sum might be negative, and no vectors are made of it.
            given, made = x[i, j, first : first + channels], out[i + margin, j + margin, :channels]
            if len(on_board) > 0 and not on_board[i, j]:
                made[:] = 0
            elif kind == IDENTITY_KIND:
                for k in range(channels):
                    made[k] = element(number(given[k]) * scale[k] + shift[k], made[k])
            elif kind == _RELU:
                for k in range(channels):
                    made[k] = element(max(number(given[k]) * scale[k] + shift[k], ZERO), made[k])
            elif kind == _MISH:
                for k in range(channels):
                    made[k] = element(mish(number(given[k]) * scale[k] + shift[k]), made[k])
            else:
                for k in range(channels):
                    made[k] = element(silu(number(given[k]) * scale[k] + shift[k]), made[k])


NO_MASK = np.zeros((0, 0), np.bool_)


class FusedActivation(nn.Module):
    """activation(x * scale + shift) of float32 or bfloat16 [n, channels, h, w] on a CPU, channels-last."""

    def __init__(self, kind: str, scale: Tensor, shift: Tensor) -> None:
        super().__init__()
        self.kind = KINDS[kind]
        self.scale, self.shift = scale.float().numpy().copy(), shift.float().numpy().copy()

    def forward(self, x: Tensor) -> Tensor:
        points = numbers_of(x)
        out = np.empty_like(points)
        lines = 1, -1, x.shape[1]
        activate(points.reshape(lines), 0, self.scale, self.shift, self.kind, NO_MASK, out.reshape(lines), 0)
        return tensor_of(out)


def numbers_of(x: Tensor) -> np.ndarray:
    """[n, channels, h, w] as compiled code takes it: [n, h, w, channels], contiguous, bfloat16 as uint16."""
    points = x.permute(0, 2, 3, 1).contiguous()
    array: np.ndarray = (points.view(torch.uint16) if x.dtype == torch.bfloat16 else points).numpy()
    return array


def tensor_of(numbers: np.ndarray) -> Tensor:
    """The inverse of `numbers_of`."""
    points = torch.from_numpy(numbers)
    return (points.view(torch.bfloat16) if numbers.dtype == np.uint16 else points).permute(0, 3, 1, 2)
