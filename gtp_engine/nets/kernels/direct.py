"""Convolutions in the tiles of AMX: products of the rows of points, shifted to each cell of the kernel.

The rows lie as `grid.Grid` has them, so that the same 16 rows, shifted, are the neighbours of 16 points. The sums of
all cells stay in the tiles, and nothing is rearranged: such a convolution is faster than Winograd's with its fewer
products (`winograd`), which wait for memory, and it loses less precision.
"""

import numpy as np

from ...base.jit import njit
from .amx import MAX_TILE_ROWS, TILE_ROWS, begin_products, end_products, finish_panel, multiply_tiles
from .convolution import WIDE_ONES, Kernel, write_windows
from .emit import LANES, Panel, data_address, keep_alive
from .grid import Grid, aligned_like, aligned_rows
from .matmul import even_chunk, input_count
from .passes import NOT_ACTIVATED, Before, Pending, activate_rows, panel_key, zero_of

# From this many channels on, the activation of the next convolution is computed while the products are: then it saves
# more waiting for memory than it costs (192 channels: 8 to 16 % of a convolution, 64 channels: -10 %).
MANY_CHANNELS = 128
NONE_PENDING = (0,) * len(Pending._fields)


@njit
def step_offsets(places: np.ndarray, weights: np.ndarray, stride: int) -> np.ndarray:
    """Returns what each step adds to the address of a row, int64: for each cell the place of its row, and 64 bytes."""
    steps = weights.shape[2] // TILE_ROWS
    offsets = np.empty(len(places) * steps, np.int64)
    for index in range(len(offsets)):
        offsets[index] = places[index // steps] * stride + index % steps * 64
    return offsets


@njit
def activate_board(
    x: np.ndarray, on_board: np.ndarray, image: int, before: Before, pitch: int, out: np.ndarray
) -> None:
    """Writes the activated rows of a board between margins of what stands for 0.

    out: [margin + rows + margin, inputs], for margins of a line of the board and a point.
    """
    clear_margins(out, pitch, before)
    activate_rows(x, on_board, image, 0, x.shape[1], before, out, out[pitch + 1 :])


@njit
def clear_margins(out: np.ndarray, pitch: int, before: Before) -> None:
    """Writes what stands for 0 into the margins of a board's rows, and 0 into inputs beyond the channels."""
    zero, channels = zero_of(out, before.encoding), len(before.scale)
    out[: pitch + 1] = zero
    out[len(out) - pitch - 1 :] = zero
    if out.shape[1] > channels:
        out[:, channels:] = 0


@njit
def convolve_board(left: np.ndarray, offsets: np.ndarray, kernel: Kernel, adds: bool, out: np.ndarray) -> None:
    """Computes a convolution of a board's activated rows, or adds it to `out`, float32 [rows, outputs]."""
    if kernel.weights.itemsize == 1:
        nothing = Before(NOT_ACTIVATED, kernel.bias, kernel.bias.reshape((1, len(kernel.bias))), kernel.bias)
        add_and_activate(left, offsets, kernel, adds, True, out, np.zeros(0, np.bool_), nothing, left)
    else:
        add_products(left, offsets, kernel.weights, kernel.bias, adds, out)


@njit
def add_products(
    left: np.ndarray, offsets: np.ndarray, weights: np.ndarray, bias: np.ndarray, adds: bool, out: np.ndarray
) -> None:
    """Computes out = start + the sum over the steps of the kernel of the rows of `left`, shifted, times its matrices.

    Args:
        left: [rows and more, inputs], of the type of the weights.
        offsets: As `step_offsets` returns them.
        weights: The packed matrices [blocks, cells of the kernel, steps, columns], for tiles.
        bias: float32 [outputs], the start of each row.
        adds: Start from what is in `out` instead.
        out: float32 [rows, outputs].
    """
    stride, from_left = out.strides[0], left.strides[0]
    rows_a_panel = even_chunk(len(out))
    for first in range(0, len(out), rows_a_panel):
        rows = min(rows_a_panel, len(out) - first)
        source, target = data_address(left) + first * from_left, data_address(out) + first * stride
        for block in range(len(weights)):
            begin, step = (target, stride) if adds else (data_address(bias) + block * 4 * LANES, 0)
            right = data_address(weights) + block * weights.strides[0]
            panel = Panel(source, from_left, right, begin, step, target, stride, len(offsets))
            # No pending panel: what becomes of it has any type.
            multiply_tiles(weights, left, rows, panel, data_address(offsets), NONE_PENDING)
            target += 4 * LANES


@njit
def add_and_activate(
    left: np.ndarray,
    offsets: np.ndarray,
    kernel: Kernel,
    adds: bool,
    stores: bool,
    x: np.ndarray,
    on_board: np.ndarray,
    after: Before,
    out: np.ndarray,
) -> None:
    """Computes a convolution and what precedes the next one, while its sums are in the first-level cache.

    Args:
        left: [rows and more, inputs], of the type of the weights.
        offsets: As `step_offsets` returns them.
        kernel: The kernel. If it is of bfloat16 and `adds`, its bias is 0.
        adds: Whether to add to what is in `x`.
        stores: Whether to write the values to `x`.
        x: float32 [rows, outputs].
        on_board: bool [rows].
        after: What precedes the next convolution, for all boards.
        out: [rows, outputs or more], of the type of the next convolution's weights.
    """
    # The sums of two panels: while one is multiplied, the activation of the one before is computed.
    sums = aligned_rows(2 * MAX_TILE_ROWS, LANES)
    scratch, other = data_address(sums), data_address(sums) + 4 * LANES * MAX_TILE_ROWS
    zeros = aligned_rows(1, LANES)
    key, pending = panel_key(after.kind, adds, stores), NONE_PENDING
    weights, rows_a_panel = kernel.weights, even_chunk(len(x))
    for first in range(0, len(x), rows_a_panel):
        rows = min(rows_a_panel, len(x) - first)
        source, target = data_address(left) + first * left.strides[0], data_address(out) + first * out.strides[0]
        values, mask = data_address(x) + first * x.strides[0], data_address(on_board) + first
        for block in range(len(weights)):
            begin, right = block * 4 * LANES, data_address(weights) + block * weights.strides[0]
            bias = data_address(kernel.bias) + begin
            # Sums of integers start from 0: the bias is added when they have become float32.
            start = data_address(zeros) if weights.itemsize == 1 else bias
            panel = Panel(source, left.strides[0], right, start, 0, scratch, 4 * LANES, len(offsets))
            multiply_tiles(weights, out, rows, panel, data_address(offsets), pending)
            pending = (
                rows,
                key,
                scratch,
                data_address(kernel.factors) + begin,
                bias,
                values + begin,
                x.strides[0],
                data_address(after.scale) + begin,
                data_address(after.shift) + begin,
                data_address(after.encoding),
                mask,
                target + block * out.itemsize * LANES,
                out.strides[0],
            )
            scratch, other = other, scratch
    finish_panel(weights, out, pending)
    keep_alive(sums)


@njit
def convolve_planes_directly(
    planes: np.ndarray, grid: Grid, kernel: Kernel, start: np.ndarray, out: np.ndarray
) -> None:
    """Computes a convolution of few channels with a kernel of `network.wide_kernel`, packed for tiles.

    The arguments are those of `integers.convolve_planes_by_integers`.
    """
    weights, side = kernel.weights, kernel.weights.shape[1]
    left = aligned_like(grid.rows + (side - 1) * grid.pitch, input_count(weights[:, 0]), weights)
    offsets = step_offsets(np.arange(side) * grid.pitch, weights, left.strides[0])
    state = begin_products(weights)
    for image in range(len(planes)):
        write_windows(planes[image], grid.pitch, side, WIDE_ONES, left)
        convolve_board(left, offsets, Kernel(weights, kernel.factors, start[image]), False, out[image])
    end_products(weights, state)
