"""What the ways to compute a convolution share, and the simplest of them.

There are Winograd's (`winograd`), direct ones in the tiles of AMX (`direct`) and of 8-bit integers in vectors
(`integers`), and for 1x1 kernels the product of a matrix with the points.
"""

from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from .amx import begin_products, end_products
from .grid import aligned_like
from .matmul import CHUNK, input_count, matmul
from .passes import activate_rows


class Kernel(NamedTuple):
    """A convolution's kernel.

    Attributes:
        weights: The packed matrices [blocks, 1 or 9, steps, columns] (`matmul.pack_matrices`).
        factors: float32 [outputs], the factors of the sums if the weights are 8-bit integers.
        bias: float32 [outputs], what is added.
    """

    weights: np.ndarray
    factors: np.ndarray
    bias: np.ndarray


class Before(NamedTuple):
    """What precedes a convolution: activation(x * scale + shift).

    Attributes:
        kind: The activation, one of the values of `scalars.KINDS`, or `passes.NOT_ACTIVATED`.
        scale: float32 [channels].
        shift: float32 [channels].
        encoding: As `passes.encoding` returns it, if the convolution's weights are 8-bit integers.
    """

    kind: int
    scale: np.ndarray
    shift: np.ndarray
    encoding: np.ndarray


@njit
def activate_lines(
    x: np.ndarray, on_board: np.ndarray, image: int, width: int, before: Before, shift: np.ndarray, out: np.ndarray
) -> None:
    """Writes the activated points of a board line by line; see `convolve_integers`.

    Args:
        x: float32 [n, points, channels or more].
        on_board: bool [n, points], or [0, ...] if all points are on the board.
        image: Which board.
        width: Its width.
        before: The activation.
        shift: float32 [channels], in place of its own.
        out: [lines or more, width or more, channels or more], of the type of the products.
    """
    mask = np.zeros(0, np.bool_)
    for y in range(x.shape[1] // width):
        points = slice(y * width, (y + 1) * width)
        if len(on_board) > 0:
            mask = on_board[image, points]
        activate_rows(x[image, points], mask, before.scale, shift, before.kind, before.encoding, out[y])


@njit
def convolve_1x1(
    x: np.ndarray, on_board: np.ndarray, before: Before, shift: np.ndarray, kernel: Kernel, adds: bool, out: np.ndarray
) -> None:
    """Computes a 1x1 convolution of an activation: a matrix product with a row for each point.

    The arguments are those of `winograd.convolve_3x3`, for a kernel of one cell.
    """
    count, points, _ = x.shape
    weights, bias = kernel.weights[:, 0], kernel.bias.reshape((1, len(kernel.bias)))
    # One chunk of activated points, allocated once; further inputs stay 0.
    left = aligned_like(CHUNK, input_count(weights), weights)
    mask = np.zeros(0, np.bool_)
    state = begin_products(weights)
    # Chunks end with the image, because each image may have its own shift.
    for image in range(count):
        own = shift[min(image, len(shift) - 1)]
        for start in range(0, points, CHUNK):
            end = min(start + CHUNK, points)
            if len(on_board) > 0:
                mask = on_board[image, start:end]
            activate_rows(x[image, start:end], mask, before.scale, own, before.kind, before.encoding, left)
            target = out[image, start:end]
            matmul(left, end - start, weights, target if adds else bias, target)
    end_products(weights, state)


@njit
def place_of(cell: int, cells: int, pitch: int) -> int:
    """Returns the row that a cell of a kernel of 1 or 9 cells multiplies for the first row between the margins."""
    return cell // 3 * pitch + cell % 3 if cells == 9 else pitch + 1


@njit
def write_windows(planes: np.ndarray, pitch: int, side: int, one: Any, out: np.ndarray) -> None:
    """Writes for each point those around it on its line of the board, below the lines of a margin.

    Args:
        planes: uint8 [h, w, channels], 0 or 1.
        pitch: The number of rows from a point to the one below.
        side: How many points around one.
        one: What stands for 1.
        out: [rows, side * channels or more].
    """
    height, width, channels = planes.shape
    margin, window = side // 2, side * channels
    line = np.zeros((width + 2 * margin) * channels, out.dtype)
    for y in range(height):
        source, target = planes[y].reshape(width * channels), line[margin * channels :]
        for k in range(width * channels):
            target[k] = source[k] * one
        for x in range(width):
            row, part = out[(y + margin) * pitch + x], line[x * channels : x * channels + window]
            for k in range(window):
                row[k] = part[k]
