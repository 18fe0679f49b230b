"""The scalar operations of compiled loops over network values, which LLVM turns into vector instructions.

Loops are written element by element with the functions here. numba's own expressions would not do: its conversions
between bfloat16 and float32 do not exist, its exponential is a call that no loop can be vectorised around, and its
additions may not be reordered.

bfloat16 is the upper half of a float32; compiled code sees it as uint16. Norm and activation are one pass over memory
made of these operations (`activate`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ...base.jit import njit
from ..schema import IDENTITY, MISH, RELU, SILU

# 2^x = 2^n * 2^f with n whole and |f| <= 1/2, and 2^f by its Taylor series: the coefficient of f^k is ln(2)^k / k!.
# Six terms leave a relative error of 1e-7, float32's precision.
LOG2_E = np.float32(1.4426950408889634)
C1, C2, C3 = np.float32(0.6931471805599453), np.float32(0.24022650695910072), np.float32(0.05550410866482158)
C4, C5, C6 = np.float32(0.009618129107628477), np.float32(0.0013333558146428443), np.float32(0.00015403530393381608)
# For results that are rounded to bfloat16 anyway: the polynomial of degree 3 with the least relative error, 7.5e-5 (by
# iterated least squares), where bfloat16's rounding is up to 2e-3.
R0, R1, R2, R3 = (np.float32(c) for c in (0.99992807, 0.69326099, 0.24261113, 0.05517167))
# The same for 0 <= f < 1, when x is rounded down: 7.5e-5.
F0, F1, F2, F3 = (np.float32(c) for c in (0.99992524, 0.69583344, 0.22606721, 0.07802458))
# Arguments of e^x are clamped to these: beyond them mish and silu are x or 0 in float32. Squares of e^x stay finite.
HIGH, LOW = np.float32(20.0), np.float32(-80.0)
ZERO, ONE, TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)


def llvm_function(function: Callable[..., Any]) -> Any:
    """Decorates a function that emits LLVM code, for what numba has no expression for.

    This is numba's `intrinsic`: the function gets the types of the arguments and returns a signature and a generator of
    code. Its results are always inlined, so that they do not keep loops from being vectorised.
    """
    return intrinsic(function)


_I16, _I32, _F32 = ir.IntType(16), ir.IntType(32), ir.FloatType()


@llvm_function
def _round(typing: Any, x: Any) -> Any:
    """Returns the nearest whole number, as float32."""
    # A single instruction in LLVM, where numba's round() is a call.

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.rint", [_F32]), arguments)

    return types.float32(types.float32), code


@llvm_function
def _exp2_whole(typing: Any, n: Any) -> Any:
    """Returns 2^n for a whole float32 of -126 to 127."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # A float32 with the exponent n and the fraction 0: the exponent's bits, biased by 127, begin at bit 23.
        exponent = builder.add(builder.fptosi(arguments[0], _I32), ir.Constant(_I32, 127))
        return builder.bitcast(builder.shl(exponent, ir.Constant(_I32, 23)), _F32)

    return types.float32(types.float32), code


@llvm_function
def load_f32(typing: Any, x: Any) -> Any:
    """Returns an array's element as float32: itself, or what the bits of a bfloat16 stand for."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if x == types.float32:
            return arguments[0]
        return builder.bitcast(builder.shl(builder.zext(arguments[0], _I32), ir.Constant(_I32, 16)), _F32)

    return types.float32(x), code


@llvm_function
def store_as(typing: Any, x: Any, like: Any) -> Any:
    """Returns a float32 as an element of the type of `like`.

    That is the value itself, or the bits of the nearest bfloat16, ties to even. NaN is not handled.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if like == types.float32:
            return arguments[0]
        # Adding half of the last place kept, less one unless that place is odd, rounds the truncation below.
        sixteen, half = ir.Constant(_I32, 16), ir.Constant(_I32, 0x7FFF)
        bits = builder.bitcast(arguments[0], _I32)
        odd = builder.and_(builder.lshr(bits, sixteen), ir.Constant(_I32, 1))
        rounded = builder.add(bits, builder.add(odd, half))
        return builder.trunc(builder.lshr(rounded, sixteen), _I16)

    return like(types.float32, like), code


@llvm_function
def fused_multiply_add(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """Returns x * y + z, in one instruction if the CPU has it."""
    # llvm.fmuladd may become a product and a sum; llvm.fma would call the C library on CPUs without the instruction.

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(_F32, [_F32] * 3)
        return builder.call(builder.module.declare_intrinsic("llvm.fmuladd", [_F32], kind), arguments)

    return types.float32(*[types.float32] * 3), code


@llvm_function
def fast_max(typing: Any, x: Any, y: Any) -> Any:
    """Returns the larger of two values, neither of them NaN: checks for NaN would keep LLVM from making vectors."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flags = ("nnan", "nsz")
        return builder.select(builder.fcmp_ordered(">", *arguments, flags=flags), *arguments, flags=flags)

    return types.float32(types.float32, types.float32), code


@njit
def exp2(x: Any) -> Any:
    """Returns 2^x for a float32 of -126 to 127."""
    # Horner's scheme, innermost term first.
    n = _round(x)
    f = x - n
    series = fused_multiply_add(f, C6, C5)
    series = fused_multiply_add(f, series, C4)
    series = fused_multiply_add(f, series, C3)
    series = fused_multiply_add(f, series, C2)
    series = fused_multiply_add(f, series, C1)
    return fused_multiply_add(f, series, ONE) * _exp2_whole(n)


@njit
def exp(x: Any) -> Any:
    """Returns e^x for a float32, as if it were at least -80 and at most 20."""
    return exp2(min(max(x, LOW), HIGH) * LOG2_E)


@njit
def mish(x: Any) -> Any:
    """Returns x * tanh(log(1 + e^x)) (Misra 2019)."""
    # With e = e^x and w = e (e + 2): tanh(log(1 + e)) = w / (w + 2). One exponential, and no logarithm.
    e = exp(x)
    w = e * (e + TWO)
    return x * (w / (w + TWO))


@njit
def silu(x: Any) -> Any:
    """Returns x / (1 + e^-x)."""
    # e / (e + 1) has the same value, and reuses the clamped exponential of mish.
    e = exp(x)
    return x * (e / (e + ONE))


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
