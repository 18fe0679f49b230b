"""Matrix products for networks on a CPU: 1x1 convolutions, and the building block of all others.

Factors are float32, bfloat16, or 8-bit integers seen as uint8; results are float32. Everything runs on the thread that
calls it. The type of the packed weights says how products are computed: `FLOAT32`, `BFLOAT16` in vectors, or `TILES`,
which is bfloat16 in the tiles of AMX. With tiles, rows begin at cache lines and there are multiples of 16 of them, and
the caller of `matmul` has begun products (`amx.begin_products`). Convolutions of 8-bit integers are in `direct`, in
vectors (`INTEGERS`) and tiles (`INTEGER_TILES`).

A row of 8-bit integers of a left factor of `matmul` holds values divided by a scale, -127 to 127, plus 128, and then
the scale, a float32: the CPU multiplies unsigned bytes by signed ones. The scale follows from the row's largest value,
so that nothing has to be known of the values before. Each column of the weights has a scale of its own, and its sum
starts from -128 times the sum of its integers.

The weights are packed once (`pack_matrices`) in the order in which the innermost loop reads them: in blocks of a few
vectors of columns. The left factor is read in chunks of rows that stay in the cache while all blocks are multiplied
with them, as in Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
"""

from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from ..quantisation import multiples
from .amx import MAX_TILE_ROWS, TILE_ROWS, is_for_tiles
from .emit import LANES, Panel, data_address
from .grid import aligned
from .llvm import KNOWS_TILES, MAX_ROWS, SHIFTED_ROWS, multiply_panel
from .passes import encode_vectors

FLOAT32, BFLOAT16, TILES = np.dtype(np.float32), np.dtype(np.uint16), np.dtype(np.int16)
"""The types of packed weights that are not 8-bit integers."""
INTEGERS, INTEGER_TILES = np.dtype(np.uint8), np.dtype(np.int8)
"""The types of those of 8-bit integers, in vectors and in tiles."""

# Points that are worked on together: what is computed for them stays in a second-level cache of 1 MiB.
CHUNK = MAX_TILE_ROWS if KNOWS_TILES else 48

# Rows before the steps in a block of 8-bit integers (see `multiply_panel`).
_HEAD_ROWS = 2

# `MAX_ROWS` for compiled code, indexed by vectors per row; 0 for widths that are not used.
_MAX_ROWS = np.array([MAX_ROWS.get(vectors, 0) for vectors in range(5)])


@njit
def matmul(left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    """Computes out = start + left @ weights for the first rows.

    Args:
        left: [rows or more, inputs], of the type of the weights.
        weights: [blocks, steps, columns], as `pack_matrix` or `pack_integers` makes them.
        start: float32 [rows or more, outputs or more], or with a single row that all rows start from.
        out: float32 [rows or more, outputs or more].
    """
    width = 4 * block_width(weights)
    multiply_blocks(
        Blocks(data_address(left), 0, left.strides[0]),
        rows,
        weights,
        Blocks(data_address(start), width, start.strides[0] if len(start) > 1 else 0),
        Blocks(data_address(out), width, out.strides[0]),
    )


class Blocks(NamedTuple):
    """A matrix in blocks: for each panel a slice would build an array structure."""

    address: int
    step: int  # the distance of its blocks in bytes; 0 if all blocks read the same
    stride: int  # the distance of its rows; 0 if all rows read the same


@njit
def multiply_blocks(left: Blocks, rows: int, weights: np.ndarray, start: Blocks, out: Blocks) -> None:
    """Computes out = start + left @ weights for each block of the weights.

    Args:
        left: The left factor, of the type of the weights.
        weights: [blocks, steps, columns].
        start: What the sums start from, float32.
        out: The result, float32.
    """
    steps, vectors = weight_steps(weights), block_width(weights) // LANES
    # Panels have any number of rows, or with tiles multiples of 16.
    unit, max_rows = 1, _MAX_ROWS[vectors]
    if is_for_tiles(weights):
        unit, max_rows, steps = TILE_ROWS, MAX_TILE_ROWS, steps // TILE_ROWS
    for block in range(len(weights)):
        right = data_address(weights) + block * weights.strides[0]
        line, begin, target = (
            left.address + block * left.step,
            start.address + block * start.step,
            out.address + block * out.step,
        )
        # The first panel prefetches the next block of weights; later panels prefetch their own block, which is in the
        # cache by then and costs nothing.
        ahead, remaining = right + weights.strides[0], rows
        # Panels as even as can be: 13 rows are 6 and 7, not 8 and 5, since short panels use the registers badly.
        for panels_left in range((rows + max_rows - 1) // max_rows, 0, -1):
            count = remaining // unit // panels_left * unit
            panel = Panel(line, left.stride, right, begin, start.stride, target, out.stride, steps)
            multiply_panel(weights, count, vectors, panel, ahead)
            line, begin, target = line + count * left.stride, begin + count * start.stride, target + count * out.stride
            ahead, remaining = right, remaining - count


@njit
def block_width(weights: np.ndarray) -> int:
    """Returns the number of output columns in a block of packed matrices [blocks, steps, columns].

    A step is 4 bytes per column: a float32, or a pair of bfloat16.
    """
    return weights.shape[2] * weights.itemsize // 4


@njit
def weight_steps(weights: np.ndarray) -> int:
    """Returns the number of steps in a block of packed matrices."""
    return weights.shape[1] - (_HEAD_ROWS if weights.itemsize == 1 and not is_for_tiles(weights) else 0)


@njit
def even_chunk(rows: int) -> int:
    """Returns how many rows to work on together, at most `CHUNK`: as even as can be in multiples of 16.

    Two panels of 48 rows take less time than one of 64 and one of 32, for which there are fewer products a load.
    """
    chunks = (rows + CHUNK - 1) // CHUNK
    return ((rows + chunks - 1) // chunks + LANES - 1) // LANES * LANES


@njit
def input_count(weights: np.ndarray) -> int:
    """Returns the number of inputs of packed matrices, with those that only fill up."""
    return weight_steps(weights) * 4 // weights.itemsize


@njit
def encode_rows(values: np.ndarray, rows: int, columns: int) -> None:
    """Turns rows of float32 values into those of a left factor of 8-bit integers, in place.

    Args:
        values: float32 [rows or more, columns + 1 or more].
        columns: The number of inputs of the weights.
    """
    address = data_address(values)
    for _ in range(rows):
        encode_vectors(address, address, columns // LANES)
        address += values.strides[0]


@njit
def choose_block_width(outputs: int, in_tiles: bool) -> int:
    """Returns how many columns to multiply together, for a matrix with this multiple of `LANES` of them.

    It is the widest block that divides them: the more columns, the fewer loads of the left factor per product. Tiles
    have 16 columns.
    """
    if in_tiles:
        return LANES
    for vectors in range(len(_MAX_ROWS) - 1, 1, -1):
        if _MAX_ROWS[vectors] > 0 and outputs % (LANES * vectors) == 0:
            return LANES * vectors
    return LANES


def pack_matrix(weight: np.ndarray, kind: "np.dtype[Any]") -> np.ndarray:
    """Packs a matrix [outputs, inputs] for `matmul`: [blocks, steps, columns], padded with zeros."""
    return pack_matrices(weight[None], kind)[:, 0]


def pack_matrices(weight: np.ndarray, kind: "np.dtype[Any]", width: int = 0) -> np.ndarray:
    """Packs several matrices of one shape.

    Args:
        weight: float32 [matrices, outputs, inputs].
        kind: `FLOAT32`, `BFLOAT16`, `TILES`, or for whole numbers of -127 to 127 `INTEGERS` or `INTEGER_TILES`.
        width: The columns of a block, by default as many as are best.

    Returns:
        [blocks of columns, matrices, steps, columns], padded with zeros to whole vectors, and to whole tiles for these.
        A step is 4 bytes of inputs, one in float32, or adjacent ones: the CPUs' dot products add their products.
    """
    matrices, outputs, inputs = weight.shape
    steps, columns = whole_inputs(inputs, kind), whole_lanes(outputs)
    padded = np.zeros((matrices, steps, columns), np.float32)
    padded[:, :inputs, :outputs] = weight.transpose(0, 2, 1)
    if kind == INTEGERS:
        width = width or LANES * max(vectors for vectors in SHIFTED_ROWS if columns % (LANES * vectors) == 0)
    else:
        width = choose_block_width(columns, kind in (TILES, INTEGER_TILES))
    blocks = np.ascontiguousarray(padded.reshape(matrices, steps, columns // width, width).transpose(2, 0, 1, 3))
    if kind == FLOAT32:
        return blocks
    values = (blocks.astype(np.int8) if kind.itemsize == 1 else to_bfloat16(blocks)).view(kind)
    per_step = 4 // kind.itemsize
    in_steps = values.reshape(-1, matrices, steps // per_step, per_step, width).swapaxes(3, 4)
    packed = aligned((columns // width, matrices, steps // per_step, per_step * width), kind)
    packed[:] = in_steps.reshape(packed.shape)
    return packed


def pack_integers(weight: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Packs a matrix of 8-bit integers for `matmul`.

    Args:
        weight: float32 [outputs, inputs], multiples of the scales by whole numbers of -127 to 127.
        scales: float32 [outputs].

    Returns:
        uint8 [blocks of columns, 2 + steps, 4 * columns]: two rows as `llvm.multiply_panel` expects them, then steps of
        four adjacent inputs.
    """
    integers = multiples(weight, scales)
    steps = pack_matrices(integers[None], INTEGERS, choose_block_width(whole_lanes(len(weight)), False))
    head = np.zeros((_HEAD_ROWS, whole_lanes(len(weight))), np.float32)
    head[0, : len(weight)], head[1, : len(weight)] = (-128 * integers.sum(1)).astype(np.int32).view(np.float32), scales
    rows = head.reshape(_HEAD_ROWS, len(steps), -1).swapaxes(0, 1)
    return np.concatenate([np.ascontiguousarray(rows).view(np.uint8), steps[:, 0]], 1)


def integers_size(outputs: int, inputs: int) -> int:
    """Returns the number of bytes of a matrix that `pack_integers` packs."""
    return whole_lanes(outputs) * (4 * _HEAD_ROWS + whole_lanes(inputs))


@njit
def whole_lanes(channels: int) -> int:
    """Returns a number of channels rounded up to a multiple of `LANES`."""
    return channels + -channels % LANES


def integers_for(products: "np.dtype[Any]") -> "np.dtype[Any]":
    """Returns the type of 8-bit integers where other products are of a type."""
    return INTEGER_TILES if products == TILES else INTEGERS


def whole_inputs(inputs: int, kind: "np.dtype[Any]") -> int:
    """Returns a number of inputs rounded up to what a packed matrix has."""
    step = 64 // kind.itemsize if kind in (TILES, INTEGER_TILES) else LANES
    return inputs + -inputs % step


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Returns float32 values as the bits of the nearest bfloat16, ties to even: uint16."""
    bits = values.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
