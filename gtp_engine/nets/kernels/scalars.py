"""The scalar operations of compiled loops over network values, which LLVM turns into vector instructions.

Loops are written element by element with the functions here. numba's own exponential would not do: it is a call that no
loop can be vectorised around. Norms and activations are passes over vectors (`passes`), with the numbers given here.
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


_I32, _F32 = ir.IntType(32), ir.FloatType()


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


# Numbers for compiled code, where comparing strings would be slow.
KINDS = {kind: number for number, kind in enumerate((IDENTITY, RELU, MISH, SILU))}
IDENTITY_KIND = KINDS[IDENTITY]
