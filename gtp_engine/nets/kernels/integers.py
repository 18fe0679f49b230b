"""Convolutions of 8-bit integers in vectors: products of the points of a line, shifted to each cell of the kernel.

The sums of all cells stay in registers. There are four times as many products as with Winograd's tiles of 4x4 points,
in which 8 bits would lose too much, but an instruction computes four times as many as of float32, and nothing is
transformed.
"""

import numpy as np

from ...base.jit import njit
from .convolution import WIDE_ONES, Kernel, places_of, write_windows
from .emit import LANES, Panel, data_address
from .grid import Grid, aligned_like
from .llvm import SHIFTED_ROWS, multiply_shifted
from .passes import Before, activate_rows, zero_of

# `SHIFTED_ROWS` for compiled code, indexed by vectors per row.
_SHIFTED_ROWS = np.array([SHIFTED_ROWS.get(vectors, 0) for vectors in range(3)])


@njit
def convolve_integers(
    x: np.ndarray, on_board: np.ndarray, grid: Grid, before: Before, kernel: Kernel, adds: bool, out: np.ndarray
) -> None:
    """Computes a convolution of an activation with 8-bit integers in vectors; for the arguments see `convolution`."""
    weights, width, pitch = kernel.weights, grid.width, grid.width + 1
    # The lines of a board, each with a point off the board after it, between margins.
    left = aligned_like(grid.height * pitch + 2 * (pitch + 1), 4 * weights.shape[2], weights)
    left[:] = zero_of(left, before.encoding)
    offsets = places_of(weights.shape[1], pitch) * left.strides[0]
    zeros = np.zeros((1, out.shape[2]), np.float32)
    for image in range(len(x)):
        for y in range(grid.height):
            activate_rows(x, on_board, image, y * width, width, before, left, left[(y + 1) * pitch + 1 :])
        target = out[image]
        _multiply_lines(left, offsets, pitch, width, kernel, target if adds else zeros, target)


@njit
def _multiply_lines(
    left: np.ndarray, offsets: np.ndarray, pitch: int, width: int, kernel: Kernel, start: np.ndarray, out: np.ndarray
) -> None:
    """Computes out = start + a convolution of a board's rows of 8-bit integers.

    Args:
        left: [lines times pitch and more, inputs].
        offsets: What is added to the address of a row for each cell of the kernel, int64.
        pitch: The number of rows of `left` from a point to the one below.
        kernel: The kernel, packed for vectors.
        start: float32 [points, outputs], or a single row that all points start from.
        out: float32 [points, outputs].
    """
    weights, start_stride = kernel.weights, start.strides[0] if len(start) > 1 else 0
    _, cells, steps, bytes_a_step = weights.shape
    vectors = bytes_a_step // (4 * LANES)
    most = _SHIFTED_ROWS[vectors]
    for block in range(len(weights)):
        channel, right = block * bytes_a_step, data_address(weights) + block * weights.strides[0]
        factors, bias = data_address(kernel.factors) + channel, data_address(kernel.bias) + channel
        for y in range(len(out) // width):
            source = data_address(left) + y * pitch * left.strides[0]
            begin = data_address(start) + channel + y * width * start_stride
            target = data_address(out) + channel + y * width * out.strides[0]
            rest = width
            for panels_left in range((width + most - 1) // most, 0, -1):
                rows = rest // panels_left
                panel = Panel(source, left.strides[0], right, begin, start_stride, target, out.strides[0], steps)
                multiply_shifted(weights, rows, vectors, panel, data_address(offsets), cells, factors, bias)
                source, begin = source + rows * left.strides[0], begin + rows * start_stride
                target, rest = target + rows * out.strides[0], rest - rows


@njit
def convolve_planes_by_integers(
    planes: np.ndarray, grid: Grid, kernel: Kernel, start: np.ndarray, out: np.ndarray
) -> None:
    """Computes a convolution of few channels with a kernel of `network.wide_kernel`, in vectors.

    Args:
        planes: uint8 [n, h, w, channels], 0 or 1.
        start: float32 [n, outputs], what is added to every point of an image.
        out: float32 [n, rows, outputs].
    """
    weights, width, side = kernel.weights, grid.width, kernel.weights.shape[1]
    left = aligned_like((grid.height + side - 1) * width, 4 * weights.shape[2], weights)
    offsets = np.arange(side) * width * left.strides[0]
    for image in range(len(planes)):
        write_windows(planes[image], width, side, WIDE_ONES, left)
        _multiply_lines(left, offsets, width, width, kernel, start[image : image + 1], out[image])
