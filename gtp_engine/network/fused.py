"""Norm and activation in one pass over memory, for networks on a CPU: torch takes seven times as long for mish.

The passes are compiled loops over float32 or bfloat16 numbers that LLVM turns into vector instructions. bfloat16 is the
upper half of a float32; compiled code sees it as uint16. They run on the thread that calls them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from torch import Tensor, nn

from ..compiled import njit
from .records import IDENTITY, MISH, RELU, SILU

IDENTITY_KIND, _RELU, _MISH, _SILU = range(4)
KINDS = {IDENTITY: IDENTITY_KIND, RELU: _RELU, MISH: _MISH, SILU: _SILU}

# exp(x) = 2^n * 2^f: n whole, |f| <= 1/2, and 2^f by its Taylor series (relative error 1e-7).
LOG2_E = np.float32(1.4426950408889634)
C1, C2, C3 = np.float32(0.6931471805599453), np.float32(0.24022650695910072), np.float32(0.05550410866482158)
C4, C5, C6 = np.float32(0.009618129107628477), np.float32(0.0013333558146428443), np.float32(0.00015403530393381608)
# Beyond, mish and silu are x or 0 in float32; squares stay finite.
HIGH, LOW = np.float32(20.0), np.float32(-80.0)
ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)


def compiled_inline(function: Callable[..., Any]) -> Any:
    """numba's `intrinsic`, for code that numba has no expression for."""
    return intrinsic(function)


_I16, _I32, _F32 = ir.IntType(16), ir.IntType(32), ir.FloatType()


@compiled_inline
def _nearest(typing: Any, x: Any) -> Any:
    """The nearest whole number, float32."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.rint", [_F32]), arguments)

    return types.float32(types.float32), code


@compiled_inline
def _power_of_two(typing: Any, n: Any) -> Any:
    """2^n for a whole float32 of -126 to 127."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        exponent = builder.add(builder.fptosi(arguments[0], _I32), ir.Constant(_I32, 127))
        return builder.bitcast(builder.shl(exponent, ir.Constant(_I32, 23)), _F32)

    return types.float32(types.float32), code


@compiled_inline
def _number(typing: Any, x: Any) -> Any:
    """The float32 that an element of an array stands for: itself, or bfloat16's bits."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if x == types.float32:
            return arguments[0]
        return builder.bitcast(builder.shl(builder.zext(arguments[0], _I32), ir.Constant(_I32, 16)), _F32)

    return types.float32(x), code


@compiled_inline
def _element(typing: Any, x: Any, like: Any) -> Any:
    """A float32 as an element beside `like`: itself, or the nearest bfloat16's bits, ties to even; x is no NaN."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if like == types.float32:
            return arguments[0]
        sixteen, half = ir.Constant(_I32, 16), ir.Constant(_I32, 0x7FFF)
        bits = builder.bitcast(arguments[0], _I32)
        odd = builder.and_(builder.lshr(bits, sixteen), ir.Constant(_I32, 1))
        rounded = builder.add(bits, builder.add(odd, half))
        return builder.trunc(builder.lshr(rounded, sixteen), _I16)

    return like(types.float32, like), code


@njit
def _exp(x: Any) -> Any:
    x = min(max(x, LOW), HIGH) * LOG2_E
    n = _nearest(x)
    f = x - n
    return (ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))) * _power_of_two(n)


@njit
def _mish(x: Any) -> Any:
    """x * tanh(log(1 + e^x)), written with e^x alone."""
    e = _exp(x)
    w = e * (e + TWO)
    return x * (w / (w + TWO))


@njit
def _silu(x: Any) -> Any:
    e = _exp(x)
    return x * (e / (e + ONE))


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
                    made[k] = _element(_number(given[k]) * scale[k] + shift[k], made[k])
            elif kind == _RELU:
                for k in range(channels):
                    made[k] = _element(max(_number(given[k]) * scale[k] + shift[k], ZERO), made[k])
            elif kind == _MISH:
                for k in range(channels):
                    made[k] = _element(_mish(_number(given[k]) * scale[k] + shift[k]), made[k])
            else:
                for k in range(channels):
                    made[k] = _element(_silu(_number(given[k]) * scale[k] + shift[k]), made[k])


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
