"""What is computed for rows of points between products, as LLVM code: norms, activations, softmax.

Results that are rounded to bfloat16 anyway have an exponential of three terms, and a reciprocal of 14 bits in place of
a division where there is one.

Functions of the vectors of a row take `like`, an array of the type of the result, addresses of rows of float32, the
address `out` of the result, and the number of vectors of 16 values.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ...base.jit import njit
from ...base.numba_internals import cgutils, ir
from ..constants import IDENTITY, LARGEST_INTEGER, MISH, RELU, SILU
from .emit import (
    FLOATS,
    HAS_AVX512,
    I8,
    I16,
    I32,
    INTEGERS,
    LANES,
    data_address,
    int64,
    is_half,
    is_integer,
    llvm_function,
    splat,
)
from .scalars import C1, C2, C3, C4, C5, C6, F0, F1, F2, F3, HIGH, KINDS, LOG2_E, ONE, R0, R1, R2, R3, fast_max

NOT_ACTIVATED = len(KINDS)
"""In place of one of the values of `scalars.KINDS`: no activation follows a panel of sums (`panel_key`)."""

_FALSE = ir.Constant(I8, 0)


class Before(NamedTuple):
    """What precedes a convolution: activation(x * scale + shift)."""

    kind: int  # the activation, one of the values of `scalars.KINDS`, or `NOT_ACTIVATED`
    scale: np.ndarray  # float32 [channels], a multiple of `LANES`
    shift: np.ndarray  # float32 [1 or n, channels], for all boards or for each
    encoding: np.ndarray  # as `encoding` returns it, if the convolution's weights are 8-bit integers


@llvm_function(types.void)
def activate_vectors(
    builder: Any,
    like: Any,
    rows: Any,
    kind: Any,
    x: Any,
    scale: Any,
    shift: Any,
    encoding: Any,
    out: Any,
    vectors: Any,
) -> None:
    """Writes activation(x * scale + shift) as float32, bfloat16, or 8-bit integers.

    Args (further ones are those of the module):
        rows: The array that `out` is in: if it is float32 and `like` is of integers, the result is float32 as exact as
            bfloat16, for `encode_vectors`.
        kind: One of the values of `scalars.KINDS`.
        encoding: Address of an `encoding` for integers.
    """
    stored = rows if is_integer(like) else like

    def emit(activation: Callable[[Any, Any], Any], builder: Any) -> None:
        with cgutils.for_range(builder, vectors) as loop:
            value = builder.fused_multiply_add(*_load_each(builder, loop.index, x, scale, shift))
            address = builder.add(out, builder.times(loop.index, LANES * stored.dtype.bitwidth // 8))
            _store_activated(builder, stored, activation(builder, value), encoding, address)

    rough = like.dtype.bitwidth < 32
    builder.emit_switch(kind, {number: partial(emit, each) for number, each in _activations(rough).items()})


def encoding(least: float, largest: float) -> np.ndarray:
    """Returns how values between these become the integers 0 to 255: float32 [factor, zero].

    An integer is a value * factor + zero, rounded, where `zero` is a whole number, the integer of the value 0.
    """
    factor = 255 / max(largest - min(least, 0.0), float(np.finfo(np.float32).tiny) * 256)
    return np.array([factor, np.rint(-min(least, 0.0) * factor)], np.float32)


NO_ENCODING = np.zeros(2, np.float32)
"""For results that are not of integers."""


def _store_activated(builder: Any, like: Any, values: Any, encoding: Any, address: Any) -> None:
    """Stores 16 values as elements of an array's type; those beyond what an encoding can express are cut off."""
    if not is_integer(like):
        builder.store_at(values, address, is_half(like))
        return
    factor, zero = (builder.broadcast(builder.add(encoding, int64(offset)), FLOATS) for offset in (0, 4))
    whole = builder.round_vector(builder.fused_multiply_add(values, factor, zero))
    whole = _smaller(builder, _larger(builder, whole, splat(0.0)), splat(255.0))
    integers = builder.trunc(builder.fptosi(whole, INTEGERS), ir.VectorType(I8, LANES))
    builder.store_at(integers, address, False)


@njit
def activate_rows(
    x: np.ndarray,
    on_board: np.ndarray,
    image: int,
    first: int,
    count: int,
    before: Before,
    like: np.ndarray,
    out: np.ndarray,
) -> None:
    """Writes the activated rows of a board, and 0 off the board.

    Args:
        x: float32 [n, rows, channels or more].
        on_board: bool [n, rows], or [0, ...] if all rows are on the board.
        like: An array of the type of the weights that the rows are for.
        out: [count or more, channels or more], of this type; further channels stay as they are. Or float32: a view of
            it of this type has the rows, unless they are of integers, for which `encode_rows` has to follow.
    """
    channels, encoding = len(before.scale), before.encoding
    shift = before.shift[min(image, len(before.shift) - 1)]
    source, target = data_address(x) + image * x.strides[0] + first * x.strides[1], data_address(out)
    operands = data_address(before.scale), data_address(shift), data_address(encoding)
    for row in range(count):
        if len(on_board) > 0 and not on_board[image, first + row]:
            out[row, :channels] = zero_of(out, encoding)
        else:
            activate_vectors(like, out, before.kind, source, *operands, target, channels // LANES)
        source, target = source + x.strides[1], target + out.strides[0]


@njit
def activate_values(values: np.ndarray, kind: int) -> None:
    """Replaces values, float32 [n, channels], a multiple of `LANES`, by their activations."""
    count, channels = values.shape
    zeros, everywhere = np.zeros((1, channels), np.float32), np.zeros((0, 1), np.bool_)
    before = Before(kind, np.ones(channels, np.float32), zeros, zeros[0])
    activate_rows(values.reshape((1, count, channels)), everywhere, 0, 0, count, before, values, values)


@njit
def zero_of(like: np.ndarray, encoding: np.ndarray) -> int:
    """Returns the bits of 0 as an element of an array: of integers it is that of an encoding."""
    return int(encoding[1]) if like.itemsize == 1 else 0


@llvm_function(types.void)
def pool_vector(
    builder: Any, kind: Any, x: Any, stride: Any, on_board: Any, rows: Any, total: Any, largest: Any
) -> None:
    """Writes the sums and the largest values of 16 activated channels over the points on the board.

    Args:
        kind: The activation, one of the values of `scalars.KINDS`.
        x: Address of the channels of the first row, float32.
        stride: Distance of its rows.
        on_board: Address of the mask, bool [rows].
        total: Address of the sums, float32.
        largest: Address of the largest values, float32.
    """

    def emit(activation: Callable[[Any, Any], Any], builder: Any) -> None:
        found = [cgutils.alloca_once_value(builder, splat(value)) for value in (0.0, -np.inf)]
        with cgutils.for_range(builder, rows) as loop:
            value = builder.load_at(builder.add(x, builder.mul(loop.index, stride)), FLOATS)
            value = activation(builder, value)
            inside = builder.icmp_signed("!=", builder.load_at(builder.add(on_board, loop.index), I8), _FALSE)
            sums, most = (builder.load(place) for place in found)
            builder.store(builder.fadd(sums, builder.select(inside, value, splat(0.0))), found[0])
            builder.store(_larger(builder, builder.select(inside, value, splat(-np.inf)), most), found[1])
        for place, address in zip(found, (total, largest), strict=True):
            builder.store_at(builder.load(place), address, False)

    builder.emit_switch(kind, {number: partial(emit, each) for number, each in _activations(False).items()})


class Pending(NamedTuple):
    """The sums of a panel of 16 channels, whose activation is still to be computed; values of LLVM."""

    rows: Any  # how many rows, a multiple of 4
    key: Any  # see `panel_key`
    sums: Any  # address of the sums, float32 [rows, 16], or int32 of products of 8-bit integers
    factors: Any  # address of the factors of the channels' sums, float32, if these are int32
    bias: Any  # address of what is added to them then
    x: Any  # address of the first row of values, float32: a value is a sum, or a sum and what lies there
    x_stride: Any  # distance of its rows
    scale: Any  # address of the factors of the channels
    shift: Any  # address of what is added
    encoding: Any  # address of an `encoding`, if the result is of integers
    on_board: Any  # address of the mask, bool [rows]
    out: Any  # address of the result: activation(value * scale + shift), and 0 off the board
    out_stride: Any  # distance of its rows


@njit
def panel_key(kind: int, adds: bool, stores: bool) -> int:
    """Returns what stands for an activation of `scalars.KINDS`, and whether values are added to and stored at `x`.

    Nothing is activated if the kind is `NOT_ACTIVATED`.
    """
    return kind * 3 + (2 if adds else 1 if stores else 0)


def emit_rows(builder: Any, like: Any, feed: Any, pending: Pending, first: Any, count: int) -> None:
    """Emits the activation of some rows of a panel, from the row `first` on.

    `like` and `feed` are arrays of the types of the factors of the sums, and of the result.
    """

    def emit(activation: Callable[[Any, Any], Any] | None, adds: bool, stores: bool, builder: Any) -> None:
        ends = [builder.load_at(address, FLOATS) for address in (pending.factors, pending.bias) if is_integer(like)]
        norm = [
            builder.load_at(address, FLOATS) for address in (pending.scale, pending.shift) if activation is not None
        ]
        for row in (builder.add(first, int64(number)) for number in range(count)):
            value = _load_sums(builder, builder.add(pending.sums, builder.times(row, 4 * LANES)), ends)
            at_x = builder.add(pending.x, builder.mul(row, pending.x_stride))
            if adds:
                value = builder.fadd(value, builder.load_at(at_x, FLOATS))
            if stores:
                builder.store_at(value, at_x, False)
            if activation is None:
                continue
            result = activation(builder, builder.fused_multiply_add(value, *norm))
            inside = builder.icmp_signed("!=", builder.load_at(builder.add(pending.on_board, row), I8), _FALSE)
            result = builder.select(inside, result, splat(0.0))
            address = builder.add(pending.out, builder.mul(row, pending.out_stride))
            _store_activated(builder, feed, result, pending.encoding, address)

    activations: dict[int, Callable[[Any, Any], Any] | None] = {**_activations(True), NOT_ACTIVATED: None}
    cases = {
        number * 3 + way: partial(emit, activation, way == 2, way > 0)
        for number, activation in activations.items()
        for way in range(3)
    }
    builder.emit_switch(pending.key, cases)


def _load_sums(builder: Any, address: Any, ends: list[Any]) -> Any:
    """Returns 16 sums as float32; ends: the factors of sums of integers, and what is added to them."""
    if not ends:
        return builder.load_at(address, FLOATS)
    return builder.fused_multiply_add(builder.sitofp(builder.load_at(address, INTEGERS), FLOATS), *ends)


@llvm_function(types.void)
def gate_vectors(builder: Any, like: Any, gated: Any, x: Any, gate: Any, out: Any, vectors: Any) -> None:
    """Writes silu(x), times the gate if `gated` (SwiGLU, Shazeer 2020).

    The result is float32 or bfloat16; for `encode_vectors`, if `like` is of integers, float32 as exact as bfloat16.
    """
    half, rough = is_half(like), is_half(like) or is_integer(like)

    def emit(has_gate: bool, builder: Any) -> None:
        with cgutils.for_range(builder, vectors) as loop:
            value = _silu(builder, _load_each(builder, loop.index, x)[0], rough)
            if has_gate:
                value = builder.fmul(value, *_load_each(builder, loop.index, gate))
            _store_at(builder, value, out, loop.index, half)

    builder.emit_switch(gated, {0: partial(emit, False), 1: partial(emit, True)})


@llvm_function(types.void)
def scale_vectors(builder: Any, like: Any, x: Any, scale: Any, factor: Any, out: Any, vectors: Any) -> None:
    """Writes x * scale * factor, which is float32 itself, as float32 or bfloat16."""
    factors = builder.fill(factor, FLOATS)
    with cgutils.for_range(builder, vectors) as loop:
        value = builder.fmul(builder.fmul(*_load_each(builder, loop.index, x, scale)), factors)
        _store_at(builder, value, out, loop.index, is_half(like))


@llvm_function(types.void)
def power_vectors(builder: Any, like: Any, scores: Any, peak: Any, out: Any, sums: Any, vectors: Any) -> None:
    """Writes 2^(score - peak), peak float32, as float32 or bfloat16, and as exact as that.

    The powers are added lane by lane to the 16 sums at the address `sums`, float32.
    """
    half, peaks = is_half(like), builder.fill(peak, FLOATS)
    total = cgutils.alloca_once_value(builder, builder.load_at(sums, FLOATS))
    with cgutils.for_range(builder, vectors) as loop:
        power = exp2(builder, builder.fsub(*_load_each(builder, loop.index, scores), peaks), half)
        _store_at(builder, power, out, loop.index, half)
        builder.store(builder.fadd(builder.load(total), power), total)
    builder.store_at(builder.load(total), sums, False)


@njit
def largest_of(values: np.ndarray) -> Any:
    """Returns the largest of float32 values."""
    largest = values[0]
    for k in range(len(values)):
        largest = fast_max(largest, values[k])
    return largest


@llvm_function(types.void)
def encode_vectors(builder: Any, x: Any, out: Any, vectors: Any) -> None:
    """Writes a row of float32 as 8-bit integers: 128 + x / its scale, rounded, and the scale, float32, after them.

    The scale is a 127th of the largest absolute value. `out` may be the address of the row itself.
    """
    most, zero = cgutils.alloca_once_value(builder, splat(0.0)), ir.Constant(FLOATS.element, 0.0)
    with cgutils.for_range(builder, vectors) as loop:
        size = builder.call_intrinsic(f"llvm.fabs.v{LANES}f32", FLOATS, *_load_each(builder, loop.index, x))
        builder.store(_larger(builder, size, builder.load(most)), most)
    largest = _reduce(builder, "fmax", builder.load(most), fastmath=("nnan",))
    # A row of zeros has the scale 0, and any factor.
    divisor = builder.select(builder.fcmp_ordered(">", largest, zero), largest, ir.Constant(FLOATS.element, 1.0))
    factor = builder.fill(builder.fdiv(ir.Constant(FLOATS.element, float(LARGEST_INTEGER)), divisor), FLOATS)
    with cgutils.for_range(builder, vectors) as loop:
        whole = builder.fused_multiply_add(*_load_each(builder, loop.index, x), factor, splat(128.0))
        integers = builder.fptosi(builder.round_vector(whole), INTEGERS)
        address = builder.add(out, builder.times(loop.index, LANES))
        builder.store_at(builder.trunc(integers, ir.VectorType(I8, LANES)), address, False)
    scale = builder.fdiv(largest, ir.Constant(FLOATS.element, float(LARGEST_INTEGER)))
    builder.store_at(scale, builder.add(out, builder.times(vectors, LANES)), False)


@llvm_function(types.float32)
def sum_vector(builder: Any, x: Any) -> Any:
    """Returns the sum of the 16 float32 values at an address."""
    return _sum_lanes(builder, builder.load_at(x, FLOATS))


@llvm_function(types.float32)
def sum_of_squares(builder: Any, x: Any, vectors: Any) -> Any:
    """Returns the sum of the squares of the values of a row."""
    total = cgutils.alloca_once_value(builder, splat(0.0))
    with cgutils.for_range(builder, vectors) as loop:
        (value,) = _load_each(builder, loop.index, x)
        builder.store(builder.fused_multiply_add(value, value, builder.load(total)), total)
    return _sum_lanes(builder, builder.load(total))


def _sum_lanes(builder: Any, vector: Any) -> Any:
    """Returns the sum of a vector's lanes."""
    return _reduce(builder, "fadd", ir.Constant(FLOATS.element, -0.0), vector, fastmath=("reassoc",))


def _reduce(builder: Any, name: str, *arguments: Any, fastmath: tuple[str, ...]) -> Any:
    """Returns what LLVM's reduction of this name makes of a vector's lanes."""
    name = f"llvm.vector.reduce.{name}.v{LANES}f32"
    return builder.call_intrinsic(name, FLOATS.element, *arguments, fastmath=fastmath)


@llvm_function(types.void)
def transpose_units(builder: Any, source: Any, stride: Any, target: Any, target_stride: Any) -> None:
    """Transposes a square of 16 times 16 units of 4 bytes, given its address and the distance of its rows."""
    rows = [builder.load_at(address, INTEGERS) for address in builder.row_addresses(source, stride, LANES)]
    # Squares of 1, 2, 4 and 8 units change places across the diagonals of squares twice as large.
    for size in (1, 2, 4, 8):
        for row in (row for row in range(LANES) if not row & size):
            one, other = rows[row], rows[row + size]
            upper = [lane if not lane & size else LANES + lane - size for lane in range(LANES)]
            lower = [lane + size if not lane & size else LANES + lane for lane in range(LANES)]
            rows[row], rows[row + size] = (builder.lanes(one, chosen, other) for chosen in (upper, lower))
    for value, address in zip(rows, builder.row_addresses(target, target_stride, LANES), strict=True):
        builder.store_at(value, address, False)


def _load_each(builder: Any, index: Any, *rows: Any) -> list[Any]:
    """Returns a vector of each of some rows of float32."""
    offset = builder.times(index, 4 * LANES)
    return [builder.load_at(builder.add(row, offset), FLOATS) for row in rows]


def _store_at(builder: Any, value: Any, row: Any, index: Any, half: bool) -> None:
    """Stores a vector of a row of bfloat16 or float32."""
    builder.store_at(value, builder.add(row, builder.times(index, (2 if half else 4) * LANES)), half)


def _activations(half: bool) -> dict[int, Callable[[Any, Any], Any]]:
    """Returns the activations by the values of `scalars.KINDS`, each of a builder and a vector."""
    return {
        KINDS[IDENTITY]: lambda _, x: x,
        KINDS[RELU]: lambda builder, x: _larger(builder, x, splat(0.0)),
        KINDS[MISH]: lambda builder, x: _mish(builder, x, half),
        KINDS[SILU]: lambda builder, x: _silu(builder, x, half),
    }


def _mish(builder: Any, x: Any, rough: bool) -> Any:
    """Returns x * tanh(log(1 + e^x)) (Misra 2019)."""
    # With e = e^x and w = e (e + 2): tanh(log(1 + e)) = w / (w + 2). One exponential, and no logarithm.
    e = _exponential(builder, x, rough)
    w = builder.fmul(e, builder.fadd(e, splat(2.0)))
    return builder.fmul(x, _divide(builder, w, builder.fadd(w, splat(2.0)), rough))


def _silu(builder: Any, x: Any, rough: bool) -> Any:
    """Returns x / (1 + e^-x), as x * e / (e + 1) with e = e^x."""
    e = _exponential(builder, x, rough)
    return builder.fmul(x, _divide(builder, e, builder.fadd(e, splat(1.0)), rough))


def _divide(builder: Any, a: Any, b: Any, rough: bool) -> Any:
    if not (rough and HAS_AVX512):
        return builder.fdiv(a, b)
    operands = b, splat(0.0), ir.Constant(I16, -1)
    return builder.fmul(a, builder.call_intrinsic("llvm.x86.avx512.rcp14.ps.512", FLOATS, *operands))


def _exponential(builder: Any, x: Any, rough: bool) -> Any:
    """Returns e^x, where x is at most as large as in `scalars`."""
    return exp2(builder, builder.fmul(_smaller(builder, x, splat(HIGH)), splat(LOG2_E)), rough)


def exp2(builder: Any, x: Any, rough: bool) -> Any:
    """Returns 2^x, as exact as float32, or as bfloat16 if `rough`; at least 2^127, or infinity, if x is too large."""
    if rough and HAS_AVX512:
        # The rest after rounding down, and a multiplication by 2^(x rounded down), which may underflow: an instruction
        # each.
        rest = _avx512(builder, "reduce", x, ir.Constant(I32, 1))
        series = splat(F3)
        for term in (F2, F1, F0):
            series = builder.fused_multiply_add(series, rest, splat(term))
        return _avx512(builder, "scalef", series, x)
    x = _smaller(builder, _larger(builder, x, splat(-126.0)), splat(127.0))
    whole = builder.round_vector(x)
    rest = builder.fsub(x, whole)
    terms = (R3, R2, R1, R0) if rough else (C6, C5, C4, C3, C2, C1, ONE)
    series = splat(terms[0])
    for term in terms[1:]:
        series = builder.fused_multiply_add(series, rest, splat(term))
    # Adding to the bits of the exponent multiplies by the power of two.
    exponent = builder.shl(builder.fptosi(whole, INTEGERS), ir.Constant(INTEGERS, [23] * LANES))
    return builder.bitcast(builder.add(builder.bitcast(series, INTEGERS), exponent), FLOATS)


def _avx512(builder: Any, name: str, a: Any, b: Any) -> Any:
    """Returns what an instruction of AVX-512 with a mask and a mode of rounding makes of all lanes."""
    mode = ir.Constant(I32, 4)  # that of the thread
    operands = a, b, a, ir.Constant(I16, -1), mode
    return builder.call_intrinsic(f"llvm.x86.avx512.mask.{name}.ps.512", FLOATS, *operands)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    """Returns the larger of two vectors' values; the second one's if any is NaN."""
    return builder.select(builder.fcmp_ordered(">", a, b, flags=("nnan", "nsz")), a, b)


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b, flags=("nnan", "nsz")), a, b)
