"""The transforms of Winograd's tiles (`winograd`) as LLVM code, from exact matrices."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ...base.numba_internals import ir
from .emit import FLOATS, INTEGERS, LANES, SHORTS, int64, is_half, llvm_function, splat

Matrix = list[list[Fraction]]


def winograd_matrices(side: int, points: Sequence[Fraction]) -> tuple[Matrix, Matrix, Matrix]:
    """Constructs the transforms of F(side x side, 3 x 3), exactly, by Toom-Cook interpolation.

    A tile of the output is output @ ((weights @ g @ weights.T) * (input @ d @ input.T)) @ output.T for a kernel g and
    a tile d of the input (Lavin and Gray 2016).

    Args:
        side: The side of the output tiles.
        points: The side + 1 interpolation points; infinity is added to them.

    Returns:
        The matrices output, weights and input.
    """
    kernel, result = _powers(points, 3), _powers(points, side)
    # The inverse of the matrix of powers has the coefficients of Lagrange's polynomials. Their denominators go to the
    # kernel's matrix instead: it is applied once, when a network is loaded.
    rows = []
    for number, point in enumerate(points):
        others = [other for other in points if other != point]
        denominator = math.prod(point - other for other in others)
        kernel[number] = [value / denominator for value in kernel[number]]
        rows.append([*_polynomial_with_roots(others), Fraction(0)])
    rows.append(_polynomial_with_roots(points))
    return [list(column) for column in zip(*result, strict=True)], kernel, rows


def _powers(points: Sequence[Fraction], count: int) -> Matrix:
    """Returns rows of the powers of each point, and one for the point at infinity, which has the last power alone."""
    finite = [[point**power for power in range(count)] for point in points]
    return [*finite, [Fraction(0)] * (count - 1) + [Fraction(1)]]


def _polynomial_with_roots(roots: Sequence[Fraction]) -> list[Fraction]:
    """Returns the coefficients of the monic polynomial with these roots, from the constant on."""
    highest_first: list[Fraction] = np.poly(np.array(roots, object)).tolist()
    return highest_first[::-1]


# Interpolation points by the side of the tiles. Of those tried these lose least to rounding: with bfloat16 0.5 and
# 0.8 % of a convolution's outputs, where 0, 1, -1, 2 (and -2) lose 1.2 and 2 %, and no transform 0.2 %.
_POINTS = {
    3: (Fraction(1, 2), Fraction(-1, 2), Fraction(5, 4), Fraction(-5, 4)),
    4: (Fraction(0), Fraction(5, 8), Fraction(-5, 8), Fraction(3, 2), Fraction(-3, 2)),
}
WINOGRAD_MATRICES = {side: winograd_matrices(side, points) for side, points in _POINTS.items()}


class Square(NamedTuple):
    """Points of a tile: the address of the first one, and the distances of its rows and columns, all int64."""

    address: Any
    row: Any
    column: Any

    def at(self, builder: Any, i: int, j: int) -> Any:
        """Returns the address of a point."""
        return builder.add(self.address, builder.add(builder.times(self.row, i), builder.times(self.column, j)))


@llvm_function(types.void)
def transform_input_tile(builder: Any, like: Any, side: Any, source: Any, target: Any, step: Any) -> None:
    """Transforms 16 channels of a tile of the input, with its margin, for a product cell by cell.

    Args:
        like: An array of the type of the input and the result.
        side: The side of the output tiles, a key of WINOGRAD_MATRICES.
        source: The `Square` of the tile.
        target: Address of the result's first cell.
        step: Distance of its cells.
    """
    half, points = is_half(like), Square(*source)

    def emit(matrix: Matrix, builder: Any) -> None:
        # The whole tile is loaded into values of LLVM, which spills to the stack what exceeds the registers.
        size = range(len(matrix))
        square = [[_load_f32(builder, points.at(builder, i, j), half) for j in size] for i in size]
        values = list(chain(*_transform_both_sides(builder, matrix, square)))
        for value, address in zip(values, builder.row_addresses(target, step, len(values)), strict=True):
            builder.store_at(value, address, half)

    builder.emit_switch(side, {number: partial(emit, parts[2]) for number, parts in WINOGRAD_MATRICES.items()})


@llvm_function(types.void)
def transform_output_tile(
    builder: Any, side: Any, source: Any, step: Any, start: Any, out: Any, rows: Any, columns: Any
) -> None:
    """Transforms 16 channels of a tile of products to points, and adds what lies at `start`. All are float32.

    Args:
        side: The side of the output tiles, a key of WINOGRAD_MATRICES.
        source: Address of the tile's first cell.
        step: Distance of its cells.
        start: The `Square` of what is added.
        out: The `Square` of the result.
        rows: How many rows to write; further ones lie off the board.
        columns: How many columns to write.
    """
    begin, target = Square(*start), Square(*out)

    def emit(matrix: Matrix, builder: Any) -> None:
        size = len(matrix[0])
        cells = [builder.load_at(address, FLOATS) for address in builder.row_addresses(source, step, size**2)]
        square = [cells[i * size : (i + 1) * size] for i in range(size)]
        for i, line in enumerate(_transform_both_sides(builder, matrix, square)):
            for j, value in enumerate(line):
                inside = builder.and_(
                    builder.icmp_signed(">", rows, int64(i)), builder.icmp_signed(">", columns, int64(j))
                )
                with builder.if_then(inside):
                    total = builder.fadd(value, builder.load_at(begin.at(builder, i, j), FLOATS))
                    builder.store_at(total, target.at(builder, i, j), False)

    builder.emit_switch(side, {number: partial(emit, parts[0]) for number, parts in WINOGRAD_MATRICES.items()})


def _transform_both_sides(builder: Any, matrix: Matrix, square: list[list[Any]]) -> list[list[Any]]:
    """Returns matrix @ square @ matrix.T for a square of vectors."""
    # Columns first, then rows of the result: a product of three matrices with two passes over vectors.
    columns = [_multiply_by(builder, matrix, list(column)) for column in zip(*square, strict=True)]
    return [_multiply_by(builder, matrix, list(row)) for row in zip(*columns, strict=True)]


def _multiply_by(builder: Any, matrix: Matrix, vectors: list[Any]) -> list[Any]:
    """Returns matrix @ vectors. Rows that differ only in signs share their work.

    Interpolation points p and -p make such rows, which is why they come in pairs: with the terms of equal sign in one
    sum and the others in a second, one row is their sum, the other their difference.
    """
    found: dict[int, Any] = {}
    for i, row in enumerate(matrix):
        for j, other in enumerate(matrix[:i]):
            if j not in found and [abs(value) for value in row] == [abs(value) for value in other]:
                pairs = list(zip(row, other, strict=True))
                same = _linear_combination(builder, [a if a == b else Fraction(0) for a, b in pairs], vectors)
                rest = _linear_combination(builder, [a if a != b else Fraction(0) for a, b in pairs], vectors)
                found[i], found[j] = builder.fadd(same, rest), builder.fsub(same, rest)
    return [found[i] if i in found else _linear_combination(builder, row, vectors) for i, row in enumerate(matrix)]


def _linear_combination(builder: Any, factors: Sequence[Fraction], vectors: list[Any]) -> Any:
    """Returns the sum of factor * vector, without products by 0 and 1."""
    total = None
    for factor, vector in zip(factors, vectors, strict=True):
        if factor == 0:
            continue
        if total is None:
            total = vector if factor == 1 else builder.fmul(vector, splat(float(factor)))
        elif factor == 1:
            total = builder.fadd(total, vector)
        else:
            total = builder.fused_multiply_add(vector, splat(float(factor)), total)
    return total


def _load_f32(builder: Any, address: Any, half: bool) -> Any:
    """Returns 16 values as float32."""
    if not half:
        return builder.load_at(address, FLOATS)
    bits = builder.zext(builder.load_at(address, SHORTS), INTEGERS)
    return builder.bitcast(builder.shl(bits, ir.Constant(INTEGERS, [16] * LANES)), FLOATS)
