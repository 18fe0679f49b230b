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
from .records import MISH, RELU, SILU

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
def _from_bfloat16(typing: Any, bits: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.shl(builder.zext(arguments[0], _I32), ir.Constant(_I32, 16)), _F32)

    return types.float32(types.uint16), code


@compiled_inline
def _to_bfloat16(typing: Any, x: Any) -> Any:
    """Rounded to the nearest, ties to even; x is no NaN."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sixteen, half = ir.Constant(_I32, 16), ir.Constant(_I32, 0x7FFF)
        bits = builder.bitcast(arguments[0], _I32)
        odd = builder.and_(builder.lshr(bits, sixteen), ir.Constant(_I32, 1))
        rounded = builder.add(bits, builder.add(odd, half))
        return builder.trunc(builder.lshr(rounded, sixteen), _I16)

    return types.uint16(types.float32), code


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
def mish_float32(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """out = mish(x * scale + shift); x and out float32 [points, channels], scale and shift float32 [channels]."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            out[point, channel] = _mish(x[point, channel] * scale[channel] + shift[channel])


@njit
def mish_bfloat16(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """As `mish_float32`, of bfloat16 seen as uint16."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            value = _from_bfloat16(x[point, channel])
            out[point, channel] = _to_bfloat16(_mish(value * scale[channel] + shift[channel]))


@njit
def silu_float32(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """out = silu(x * scale + shift), as `mish_float32`."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            out[point, channel] = _silu(x[point, channel] * scale[channel] + shift[channel])


@njit
def silu_bfloat16(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """As `silu_float32`, of bfloat16 seen as uint16."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            value = _from_bfloat16(x[point, channel])
            out[point, channel] = _to_bfloat16(_silu(value * scale[channel] + shift[channel]))


@njit
def relu_float32(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """out = max(x * scale + shift, 0), as `mish_float32`."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            out[point, channel] = max(x[point, channel] * scale[channel] + shift[channel], ZERO)


@njit
def relu_bfloat16(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, out: np.ndarray) -> None:
    """As `relu_float32`, of bfloat16 seen as uint16."""
    for point in range(x.shape[0]):
        for channel in range(x.shape[1]):
            value = _from_bfloat16(x[point, channel])
            out[point, channel] = _to_bfloat16(max(value * scale[channel] + shift[channel], ZERO))


class FusedActivation(nn.Module):
    """activation(x * scale + shift) of float32 or bfloat16 [n, channels, h, w] on a CPU, channels-last."""

    def __init__(self, kind: str, scale: Tensor, shift: Tensor) -> None:
        super().__init__()
        self._passes = PASSES[kind]
        self._scale, self._shift = scale.float().numpy().copy(), shift.float().numpy().copy()

    def forward(self, x: Tensor) -> Tensor:
        points = x.permute(0, 2, 3, 1).contiguous()
        out = torch.empty_like(points)
        single, half = self._passes
        if x.dtype == torch.float32:
            single(_flat(points), self._scale, self._shift, _flat(out))
        else:
            half(_flat(points.view(torch.uint16)), self._scale, self._shift, _flat(out.view(torch.uint16)))
        return out.permute(0, 3, 1, 2)


def _flat(points: Tensor) -> np.ndarray:
    array: np.ndarray = points.numpy()
    return array.reshape(-1, array.shape[-1])


Pass = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
PASSES: dict[str, tuple[Pass, Pass]] = {
    MISH: (mish_float32, mish_bfloat16),
    RELU: (relu_float32, relu_bfloat16),
    SILU: (silu_float32, silu_bfloat16),
}
