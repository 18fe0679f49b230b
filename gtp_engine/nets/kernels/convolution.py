"""What the ways to compute a convolution share, and the simplest of them.

There are Winograd's (`winograd`), direct ones in the tiles of AMX (`direct`) and of 8-bit integers in vectors
(`integers`), and for 1x1 kernels the product of a matrix with the points. Points off the board count as 0. The
arguments are the same for all but those in tiles, which `trunk` calls board by board:

    x: float32 [n, rows, channels or more]; only the first channels, as many as there are scales, are read.
    on_board: As `Grid.mask` returns it.
    grid: The rows of a board.
    before: What precedes the convolution.
    kernel: The kernel.
    adds: Add to what is in `out`; the bias of a kernel that is not of 8-bit integers is ignored then.
    out: float32 [n, rows, outputs].

In tiles the values of rows that are not points are meaningless.
"""

from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from .emit import LANES
from .grid import Grid, aligned_rows
from .matmul import CHUNK, encode_rows, input_count, matmul
from .passes import Before, activate_rows
from .scalars import ONE

WIDE_ONES = np.uint8(128), np.uint8(1)
"""What stands for 1 in the inputs of a kernel of `network.wide_kernel`."""


class Kernel(NamedTuple):
    """A convolution's kernel."""

    weights: np.ndarray  # the packed matrices [blocks, 1 or 9, steps, columns] (`matmul.pack_matrices`)
    factors: np.ndarray  # float32 [outputs], the factors of the sums if the weights are 8-bit integers
    # float32 [outputs], what is added; to sums of integers it makes up for the encoded 0 of their inputs.
    bias: np.ndarray


@njit
def convolve_1x1(
    x: np.ndarray, on_board: np.ndarray, grid: Grid, before: Before, kernel: Kernel, adds: bool, out: np.ndarray
) -> None:
    """Computes a 1x1 convolution of an activation: a matrix product with a row for each point."""
    # Not by an index, of which numba does not know that it is contiguous: `matmul` would be compiled for both.
    blocks, _, steps, columns = kernel.weights.shape
    weights, bias = kernel.weights.reshape((blocks, steps, columns)), kernel.bias.reshape((1, len(kernel.bias)))
    # One chunk of activated points, allocated once; further inputs stay 0.
    inputs = input_count(weights)
    values = aligned_rows(CHUNK, inputs + LANES)
    left = values.view(weights.dtype)
    # Chunks end with the image, because each image may have its own shift.
    for image in range(len(x)):
        for start in range(0, grid.rows, CHUNK):
            count = min(CHUNK, grid.rows - start)
            activate_rows(x, on_board, image, start, count, before, weights, values)
            if weights.itemsize == 1:
                encode_rows(values, count, inputs)
            target = out[image, start : start + count]
            matmul(left, count, weights, target if adds else bias, target)


@njit
def places_of(cells: int, pitch: int) -> np.ndarray:
    """Returns the rows that the cells of a kernel, 1 or 9, multiply for the first row between the margins: int64."""
    if cells == 1:
        return np.array([pitch + 1])
    cell = np.arange(cells)
    return cell // 3 * pitch + cell % 3


@njit
def write_windows(planes: np.ndarray, pitch: int, side: int, ones: tuple[Any, ...], out: np.ndarray) -> None:
    """Writes for each point those around it on its line of the board, below the lines of a margin.

    Args:
        planes: uint8 [h, w, channels], 0 or 1.
        pitch: The number of rows from a point to the one below.
        side: How many points around one.
        ones: What stands for 1; all points around one are written for each of these.
        out: [rows, len(ones) * side * channels or more].
    """
    height, width, channels = planes.shape
    margin, window = side // 2, side * channels
    line = np.zeros((width + 2 * margin) * channels, out.dtype)
    for y in range(height):
        source, target = planes[y].reshape(width * channels), line[margin * channels :]
        for number in range(len(ones)):
            for k in range(width * channels):
                target[k] = source[k] * ones[number]
            for x in range(width):
                row, part = out[(y + margin) * pitch + x, number * window :], line[x * channels :]
                for k in range(window):
                    row[k] = part[k]


@njit
def convolve_im2col(x: np.ndarray, weights: np.ndarray, side: int, start: np.ndarray, out: np.ndarray) -> None:
    """Computes a convolution of few channels as a matrix product: each row is the window around a point (im2col).

    Args:
        x: uint8 [n, h, w, channels], 0 or 1.
        weights: [blocks, steps, columns], packed from a kernel [outputs, side * side * channels].
        side: The side of the kernel, an odd number.
        start: float32 [n, outputs], what is added to every point of an image.
        out: float32 [n, h * w, outputs].
    """
    count, height, width, channels = x.shape
    left, line = aligned_rows(CHUNK, weights.shape[1]), side * channels
    lines = np.zeros(((height + side - 1) * width, line), np.float32)
    for image in range(count):
        write_windows(np.ascontiguousarray(x[image]), width, side, (ONE,), lines)
        for begin in range(0, height * width, CHUNK):
            end = min(begin + CHUNK, height * width)
            # Copying windows is cheap next to the products: each value is multiplied with every output.
            for point in range(begin, end):
                for number in range(side):
                    for k in range(line):
                        left[point - begin, number * line + k] = lines[point + number * width, k]
            matmul(left, end - begin, weights, start[image : image + 1], out[image, begin:])
