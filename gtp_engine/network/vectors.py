"""Vector instructions of `matrices` and `winograd`: products and the transforms of tiles, as LLVM writes them.

numba has no expression for registers that hold a block of sums, nor for products of bfloat16, hence LLVM's own
language. Arrays are given by addresses and distances in bytes. A vector is 16 numbers; LLVM splits it where a
processor's are shorter. `like`: an array whose type says what is multiplied, float32 or bfloat16 seen as uint16; sums
are always float32.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .elements import compiled_inline

LANES = 16

_FEATURES = llvm.get_host_cpu_features()
HAS_FLOAT32 = bool(_FEATURES.get("avx2") and _FEATURES.get("fma"))
# Products of bfloat16 take vectors of that type since LLVM 16.
HAS_BFLOAT16 = bool(_FEATURES.get("avx512bf16")) and llvm.llvm_version_info >= (16,)
# For so many vectors a row, the most rows whose sums fit into the registers beside what they are made of: there are 32
# registers of 16 numbers, or 16 of 8.
MOST_ROWS = {4: 6, 3: 8, 2: 8, 1: 8} if _FEATURES.get("avx512f") else {1: 6}


class _BFloat16(ir.Type):
    """LLVM's type, which llvmlite does not know."""

    def __str__(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat16)

    def __hash__(self) -> int:
        return hash(_BFloat16)


_I16, _I32, _I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_FLOATS, _INTEGERS, _SHORTS = (ir.VectorType(kind, LANES) for kind in (ir.FloatType(), _I32, _I16))
_HALVES, _PAIRS = ir.VectorType(_BFloat16(), LANES), ir.VectorType(_BFloat16(), 2 * LANES)


Matrix = list[list[Fraction]]


def winograd_matrices(side: int, points: Sequence[Fraction]) -> tuple[Matrix, Matrix, Matrix]:
    """(output, weights, input) for F(side x side, 3 x 3): Lavin and Gray 2016, by Toom and Cook's interpolation at
    these side + 1 points and infinity.

    A tile of the output is output @ ((weights @ g @ weights.T) * (input @ d @ input.T)) @ output.T for a kernel g and
    a tile d of the input.
    """
    count = len(points) + 1
    kernel, result = _powers(points, 3), _powers(points, side)
    # The inverse of the matrix of powers: coefficients of Lagrange's polynomials, but for their denominators, which
    # the kernel takes: it is transformed once.
    rows = []
    for number, point in enumerate(points):
        others = [other for other in points if other != point]
        denominator = Fraction(1)
        for other in others:
            denominator *= point - other
        kernel[number] = [value / denominator for value in kernel[number]]
        rows.append([*_with_roots(others), Fraction(0)])
    rows.append(_with_roots(points))
    assert all(len(row) == count for row in rows)
    return [list(column) for column in zip(*result, strict=True)], kernel, rows


def _powers(points: Sequence[Fraction], count: int) -> Matrix:
    finite = [[point**power for power in range(count)] for point in points]
    return [*finite, [Fraction(0)] * (count - 1) + [Fraction(1)]]


def _with_roots(roots: Sequence[Fraction]) -> list[Fraction]:
    """The polynomial with these roots, from the constant on."""
    polynomial = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *polynomial]
        polynomial = [a - root * b for a, b in zip(shifted, [*polynomial, Fraction(0)], strict=True)]
    return polynomial


# Of the points tried these lose least to rounding: with bfloat16 0.5 and 0.8 % of a convolution's outputs, where
# 0, 1, -1, 2 (and -2) lose 1.2 and 2 %, and no transform 0.2 %.
_POINTS = {
    3: (Fraction(1, 2), Fraction(-1, 2), Fraction(5, 4), Fraction(-5, 4)),
    4: (Fraction(0), Fraction(5, 8), Fraction(-5, 8), Fraction(3, 2), Fraction(-3, 2)),
}
# By a tile's side.
MATRICES = {side: winograd_matrices(side, points) for side, points in _POINTS.items()}


@compiled_inline
def multiply(
    typing: Any,
    like: Any,
    rows: Any,
    vectors: Any,
    left: Any,
    stride: Any,
    right: Any,
    ahead: Any,
    start: Any,
    start_stride: Any,
    out: Any,
    out_stride: Any,
    steps: Any,
) -> Any:
    """out[rows, 16 * vectors] = start[rows, ...] + left[rows, ...] @ right, at most MOST_ROWS[vectors] rows.

    In `steps` steps of 4 bytes of a row of `left`: one number, or two halves. `right` holds [steps, 16 * vectors] of
    such; all else is float32. `ahead` is where the next call's `right` lies, which is brought near.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, rows, vectors, *places = arguments
        half = _is_half(like)
        cases = {v * 16 + r: (half, r, v) for v, most in MOST_ROWS.items() for r in range(1, most + 1)}
        key = _add(builder, _scaled(builder, vectors, 16), rows)
        _choose(builder, key, {number: _product(*case, *places) for number, case in cases.items()})
        return context.get_dummy_value()

    return types.void(like, *[types.int64] * 11), code


@compiled_inline
def to_tile(typing: Any, like: Any, side: Any, source: Any, row: Any, column: Any, target: Any, step: Any) -> Any:
    """Transforms 16 channels of a tile of the input, with its margin; its numbers lie `step` apart."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _, side, source, row, column, target, step = arguments
        half = _is_half(like)

        def case(matrix: Matrix) -> Callable[[Any], None]:
            def write(builder: Any) -> None:
                count = range(len(matrix))
                square = [
                    [_read(builder, _cell(builder, source, i, row, j, column), half) for j in count] for i in count
                ]
                for number, value in enumerate(chain(*_both_ways(builder, matrix, square))):
                    _write(builder, value, _add(builder, target, _scaled(builder, step, number)), half)

            return write

        _choose(builder, side, {number: case(parts[2]) for number, parts in MATRICES.items()})
        return context.get_dummy_value()

    return types.void(like, *[types.int64] * 6), code


@compiled_inline
def from_tile(
    typing: Any,
    side: Any,
    source: Any,
    step: Any,
    start: Any,
    start_row: Any,
    start_column: Any,
    out: Any,
    row: Any,
    column: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """Transforms 16 channels of a tile back, adds what lies at `start`, and writes its first `rows` x `columns` points.

    All are float32; the tile's numbers lie `step` apart.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        side, source, step, start, start_row, start_column, out, row, column, rows, columns = arguments

        def case(matrix: Matrix) -> Callable[[Any], None]:
            def write(builder: Any) -> None:
                size = len(matrix[0])
                cells = [
                    _load(builder, _add(builder, source, _scaled(builder, step, k)), _FLOATS) for k in range(size**2)
                ]
                tile = _both_ways(builder, matrix, [cells[i * size : (i + 1) * size] for i in range(size)])
                for i, line in enumerate(tile):
                    for j, value in enumerate(line):
                        inside = builder.and_(
                            builder.icmp_signed(">", rows, _whole(i)), builder.icmp_signed(">", columns, _whole(j))
                        )
                        with builder.if_then(inside):
                            more = _load(builder, _cell(builder, start, i, start_row, j, start_column), _FLOATS)
                            _write(builder, builder.fadd(value, more), _cell(builder, out, i, row, j, column), False)

            return write

        _choose(builder, side, {number: case(parts[0]) for number, parts in MATRICES.items()})
        return context.get_dummy_value()

    return types.void(*[types.int64] * 11), code


@compiled_inline
def turn(typing: Any, x: Any, cosine: Any, sine: Any, out: Any, distance: Any) -> Any:
    """Turns 16 pairs of numbers by their angles; what makes a pair lies `distance` apart in x and out."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, cosine, sine, out, distance = arguments
        places = x, _add(builder, x, distance), cosine, sine
        a, b, across, up = (_load(builder, place, _FLOATS) for place in places)
        first = builder.fsub(builder.fmul(a, across), builder.fmul(b, up))
        _write(builder, first, out, False)
        _write(builder, _fused(builder, a, up, builder.fmul(b, across)), _add(builder, out, distance), False)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), code


def _is_half(like: Any) -> bool:
    return bool(like.dtype == types.uint16)


def _choose(builder: Any, key: Any, cases: dict[int, Callable[[Any], None]]) -> None:
    """Code that does the case whose number `key` is."""
    end = builder.append_basic_block("end")
    choice = builder.switch(key, end)
    for number, write in cases.items():
        block = builder.append_basic_block(f"case{number}")
        choice.add_case(_whole(number), block)
        builder.position_at_end(block)
        write(builder)
        builder.branch(end)
    builder.position_at_end(end)


def _product(
    half: bool,
    rows: int,
    vectors: int,
    left: Any,
    stride: Any,
    right: Any,
    ahead: Any,
    start: Any,
    start_stride: Any,
    out: Any,
    out_stride: Any,
    steps: Any,
) -> Callable[[Any], None]:
    """Writes the loop of `multiply` for so many rows and vectors, whose sums stay in registers."""

    def write(builder: Any) -> None:
        entry, loop, done = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("done")
        lines = [_add(builder, left, _scaled(builder, stride, row)) for row in range(rows)]
        starts = []
        for row in range(rows):
            place = _add(builder, start, _scaled(builder, start_stride, row))
            starts += [_load(builder, _add(builder, place, _whole(64 * v)), _FLOATS) for v in range(vectors)]
        builder.branch(loop)
        builder.position_at_end(loop)
        step = builder.phi(_I64)
        sums = [[builder.phi(_FLOATS) for _ in range(vectors)] for _ in range(rows)]
        columns = _add(builder, right, _scaled(builder, step, 4 * LANES * vectors))
        _prefetch(builder, _add(builder, ahead, _scaled(builder, step, 4 * LANES * vectors)), vectors)
        factors = [
            _load(builder, _add(builder, columns, _whole(64 * v)), _PAIRS if half else _FLOATS) for v in range(vectors)
        ]
        totals = []
        for line, row_sums in zip(lines, sums, strict=True):
            place = _add(builder, line, _scaled(builder, step, 4))
            totals.append(_with_products(builder, half, row_sums, place, factors))
        following = _add(builder, step, _whole(1))
        step.add_incoming(_whole(0), entry)
        step.add_incoming(following, loop)
        for value, first, total in zip(chain(*sums), starts, chain(*totals), strict=True):
            value.add_incoming(first, entry)
            value.add_incoming(total, loop)
        builder.cbranch(builder.icmp_signed("<", following, steps), loop, done)
        builder.position_at_end(done)
        for row, row_totals in enumerate(totals):
            target = _add(builder, out, _scaled(builder, out_stride, row))
            for v, total in enumerate(row_totals):
                _write(builder, total, _add(builder, target, _whole(64 * v)), False)

    return write


def _prefetch(builder: Any, address: Any, lines: int) -> None:
    """Has so many cache lines of 64 bytes brought near."""
    pointer = _I16.as_pointer()
    signature = ir.FunctionType(ir.VoidType(), [pointer, _I32, _I32, _I32])
    fetch = cgutils.get_or_insert_function(builder.module, signature, "llvm.prefetch.p0")
    for line in range(lines):
        place = builder.inttoptr(_add(builder, address, _whole(64 * line)), pointer)
        # To read, for all levels of cache but the first, data.
        builder.call(fetch, [place, *(ir.Constant(_I32, number) for number in (0, 2, 1))])


def _with_products(builder: Any, half: bool, sums: list[Any], place: Any, factors: list[Any]) -> list[Any]:
    """sums + factor * what lies at `place`."""
    kind = _INTEGERS if half else _FLOATS
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, _load(builder, place, kind.element), ir.Constant(_I32, 0))
    value = builder.shuffle_vector(first, undefined, ir.Constant(_INTEGERS, [0] * LANES))
    if not half:
        return [_fused(builder, value, factor, total) for total, factor in zip(sums, factors, strict=True)]
    value = builder.bitcast(value, _PAIRS)
    name, signature = "llvm.x86.avx512bf16.dpbf16ps.512", ir.FunctionType(_FLOATS, [_FLOATS, _PAIRS, _PAIRS])
    add = cgutils.get_or_insert_function(builder.module, signature, name)
    return [builder.call(add, [total, value, factor]) for total, factor in zip(sums, factors, strict=True)]


def _both_ways(builder: Any, matrix: Matrix, square: list[list[Any]]) -> list[list[Any]]:
    """matrix @ square @ matrix.T"""
    columns = [_times(builder, matrix, list(column)) for column in zip(*square, strict=True)]
    return [_times(builder, matrix, list(row)) for row in zip(*columns, strict=True)]


def _times(builder: Any, matrix: Matrix, vectors: list[Any]) -> list[Any]:
    """matrix @ vectors. Rows that differ in signs alone share their work."""
    found: dict[int, Any] = {}
    for i, row in enumerate(matrix):
        for j, other in enumerate(matrix[:i]):
            if j not in found and [abs(value) for value in row] == [abs(value) for value in other]:
                pairs = list(zip(row, other, strict=True))
                same = _combined(builder, [a if a == b else Fraction(0) for a, b in pairs], vectors)
                rest = _combined(builder, [a if a != b else Fraction(0) for a, b in pairs], vectors)
                found[i], found[j] = builder.fadd(same, rest), builder.fsub(same, rest)
    return [found[i] if i in found else _combined(builder, row, vectors) for i, row in enumerate(matrix)]


def _combined(builder: Any, factors: Sequence[Fraction], vectors: list[Any]) -> Any:
    """The sum of factor * vector."""
    total = None
    for factor, vector in zip(factors, vectors, strict=True):
        if factor == 0:
            continue
        if total is None:
            total = vector if factor == 1 else builder.fmul(vector, _constant(float(factor)))
        elif factor == 1:
            total = builder.fadd(total, vector)
        else:
            total = _fused(builder, vector, _constant(float(factor)), total)
    return total


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c"""
    signature = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, signature, "llvm.fma.v16f32"), [a, b, c])


def _whole(number: int) -> Any:
    return ir.Constant(_I64, number)


def _constant(number: float) -> Any:
    return ir.Constant(_FLOATS, [number] * LANES)


def _add(builder: Any, a: Any, b: Any) -> Any:
    return builder.add(a, b)


def _scaled(builder: Any, number: Any, factor: int) -> Any:
    return builder.mul(number, _whole(factor))


def _cell(builder: Any, base: Any, i: int, row: Any, j: int, column: Any) -> Any:
    """base + i * row + j * column"""
    return _add(builder, base, _add(builder, _scaled(builder, row, i), _scaled(builder, column, j)))


def _load(builder: Any, address: Any, kind: Any) -> Any:
    return builder.load(builder.inttoptr(address, kind.as_pointer()), align=2)


def _read(builder: Any, address: Any, half: bool) -> Any:
    """16 numbers as float32."""
    if not half:
        return _load(builder, address, _FLOATS)
    bits = builder.zext(_load(builder, address, _SHORTS), _INTEGERS)
    return builder.bitcast(builder.shl(bits, ir.Constant(_INTEGERS, [16] * LANES)), _FLOATS)


def _write(builder: Any, value: Any, address: Any, half: bool) -> None:
    value = builder.fptrunc(value, _HALVES) if half else value
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=2)
