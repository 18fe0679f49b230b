"""The scalar operations of compiled loops over network values, which LLVM turns into vector instructions.

Loops are written element by element with the functions here. numba's own exponential would not do: it is a call that no
loop can be vectorised around. Norms and activations are passes over vectors (`passes`), with the numbers given here.
"""

from typing import Any

import numpy as np
from numba import types

from ...base.jit import config, njit
from ...base.numba_internals import ir
from ..constants import IDENTITY, MISH, RELU, SILU
from .emit import I32, int32, llvm_function

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

# Whether nothing is compiled, so that a debugger can step through.
_IS_PLAIN = bool(config.DISABLE_JIT)
_F32 = ir.FloatType()


@llvm_function(types.float32)
def _round(builder: Any, x: Any) -> Any:
    """Returns the nearest whole number, as float32."""
    # A single instruction in LLVM, where numba's round() is a call.
    return builder.call_intrinsic("llvm.rint.f32", _F32, x)


@llvm_function(types.float32)
def _exp2_whole(builder: Any, n: Any) -> Any:
    """Returns 2^n for a whole float32 of -126 to 127."""
    # A float32 with the exponent n and the fraction 0: the exponent's bits, biased by 127, begin at bit 23.
    exponent = builder.add(builder.fptosi(n, I32), int32(127))
    return builder.bitcast(builder.shl(exponent, int32(23)), _F32)


@llvm_function(types.float32)
def fused_multiply_add(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Returns x * y + z, in one instruction if the CPU has it."""
    # llvm.fmuladd may become a product and a sum; llvm.fma would call the C library on CPUs without the instruction.
    return builder.call_intrinsic("llvm.fmuladd.f32", _F32, x, y, z)


@llvm_function(types.float32)
def fast_max(builder: Any, x: Any, y: Any) -> Any:
    """Returns the larger of two values, neither of them NaN: checks for NaN would keep LLVM from making vectors."""
    flags = ("nnan", "nsz")
    return builder.select(builder.fcmp_ordered(">", x, y, flags=flags), x, y, flags=flags)


@njit
def exp(x: Any) -> Any:
    """Returns e^x for a float32, as if it were at least -80 and at most 20."""
    if _IS_PLAIN:
        return np.exp(min(max(x, LOW), HIGH))
    x = min(max(x, LOW), HIGH) * LOG2_E
    # Horner's scheme, innermost term first.
    n = _round(x)
    f = x - n
    series = fused_multiply_add(f, C6, C5)
    series = fused_multiply_add(f, series, C4)
    series = fused_multiply_add(f, series, C3)
    series = fused_multiply_add(f, series, C2)
    series = fused_multiply_add(f, series, C1)
    return fused_multiply_add(f, series, ONE) * _exp2_whole(n)


# Numbers for compiled code, where comparing strings would be slow.
KINDS = {kind: number for number, kind in enumerate((IDENTITY, RELU, MISH, SILU))}
IDENTITY_KIND = KINDS[IDENTITY]
