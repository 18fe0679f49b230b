"""What compiled passes over a network's numbers are made of: single numbers, which LLVM joins to vectors.

bfloat16 is the upper half of a float32; compiled code sees it as uint16.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..compiled import njit

# 2^x = 2^n * 2^f: n whole, |f| <= 1/2, and 2^f by its Taylor series (relative error 1e-7).
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
def _whole_power_of_two(typing: Any, n: Any) -> Any:
    """2^n for a whole float32 of -126 to 127."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        exponent = builder.add(builder.fptosi(arguments[0], _I32), ir.Constant(_I32, 127))
        return builder.bitcast(builder.shl(exponent, ir.Constant(_I32, 23)), _F32)

    return types.float32(types.float32), code


@compiled_inline
def number(typing: Any, x: Any) -> Any:
    """The float32 that an element of an array stands for: itself, or bfloat16's bits."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if x == types.float32:
            return arguments[0]
        return builder.bitcast(builder.shl(builder.zext(arguments[0], _I32), ir.Constant(_I32, 16)), _F32)

    return types.float32(x), code


@compiled_inline
def element(typing: Any, x: Any, like: Any) -> Any:
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


@compiled_inline
def fused(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """x * y + z, in one instruction where the processor has it."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_F32, [_F32] * 3)
        return builder.call(builder.module.declare_intrinsic("llvm.fmuladd", [_F32], kind), arguments)

    return types.float32(*[types.float32] * 3), code


@compiled_inline
def plus(typing: Any, x: Any, y: Any) -> Any:
    """x + y of a sum whose order does not matter, so that it becomes one of vectors."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments, flags=("reassoc",))

    return types.float32(types.float32, types.float32), code


@compiled_inline
def larger(typing: Any, x: Any, y: Any) -> Any:
    """Of two numbers, neither of them NaN."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(">", *arguments, flags=flags), *arguments, flags=flags)

    return types.float32(types.float32, types.float32), code


@njit
def power_of_two(x: Any) -> Any:
    """2^x for a float32 of -126 to 127."""
    n = _nearest(x)
    f = x - n
    series = fused(f, fused(f, fused(f, fused(f, fused(f, C6, C5), C4), C3), C2), C1)
    return fused(f, series, ONE) * _whole_power_of_two(n)


@njit
def _exp(x: Any) -> Any:
    return power_of_two(min(max(x, LOW), HIGH) * LOG2_E)


@njit
def mish(x: Any) -> Any:
    """x * tanh(log(1 + e^x)), written with e^x alone."""
    e = _exp(x)
    w = e * (e + TWO)
    return x * (w / (w + TWO))


@njit
def silu(x: Any) -> Any:
    e = _exp(x)
    return x * (e / (e + ONE))
