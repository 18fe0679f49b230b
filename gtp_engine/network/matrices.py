"""Products of matrices, for networks on a CPU: 1x1 convolutions, and what others are made of.

Factors are float32 or bfloat16 seen as uint16, sums float32. All runs on the thread that calls it.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..compiled import njit
from .fused import activate
from .vectors import LANES, MOST_ROWS, multiply

# Points that are worked on together: what is made of them stays in a second-level cache of 1 MiB.
CHUNK = 48

_ROWS = np.array([MOST_ROWS.get(vectors, 0) for vectors in range(5)])


@njit
def product(left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    """out = start + left @ weights, for the first `rows`.

    left: [rows and more, width]. weights: [blocks, steps, columns] as `packed_matrix` makes them. start, out: float32
    [rows and more, columns and more], start with one row where all begin alike.
    """
    width = 4 * block_width(weights)
    one = left.reshape((1, len(left), left.shape[1]))
    multiply_blocks(one, rows, weights, start, address(out), width, out.strides[0])


@njit
def multiply_blocks(
    left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: int, out_step: int, out_stride: int
) -> None:
    """start + left @ weights for each block of the weights [blocks, steps, columns], to float32 at the address `out`.

    left: [blocks, rows and more, width], or [1, ...] for all blocks the same. start: [rows and more, columns of all
    blocks], or one row where all begin alike, or the columns of one block. Blocks of `out` lie `out_step` bytes apart,
    rows `out_stride`.
    """
    blocks, steps, _ = weights.shape
    columns, left_stride = block_width(weights), left.strides[1]
    left_step = left.strides[0] if len(left) > 1 else 0
    start_step = 4 * columns if start.shape[1] > columns else 0
    start_stride = start.strides[0] if len(start) > 1 else 0
    most = _ROWS[columns // LANES]
    for block in range(blocks):
        line, begin, target = address(left) + block * left_step, address(start) + block * start_step, out
        right, remaining = address(weights) + block * weights.strides[0], rows
        ahead = right + weights.strides[0]
        # Panels as even as can be.
        for panel in range((rows + most - 1) // most, 0, -1):
            now = remaining // panel
            multiply(
                weights,
                now,
                columns // LANES,
                line,
                left_stride,
                right,
                ahead,
                begin,
                start_stride,
                target,
                out_stride,
                steps,
            )
            ahead = right
            line, begin, target = line + now * left_stride, begin + now * start_stride, target + now * out_stride
            remaining -= now
        out += out_step


@njit
def block_width(weights: np.ndarray) -> int:
    """How many columns a block of packed matrices [blocks, steps, columns] has."""
    return weights.shape[2] * weights.itemsize // 4


@njit
def address(array: np.ndarray) -> Any:
    """Of its first number, as `vectors` takes it."""
    return np.int64(array.ctypes.data)


@njit
def convolve_points(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    shift: np.ndarray,
    kind: int,
    weights: np.ndarray,
    bias: np.ndarray,
    adds: bool,
    out: np.ndarray,
) -> None:
    """A 1x1 convolution, with the arguments of `winograd.convolve`, but weights [blocks, steps, columns]."""
    count, height, width, _ = x.shape
    points = height * width
    # Every point a row of its own.
    first = bias.reshape((1, len(bias)))
    given, made = x.reshape((count * points, 1, x.shape[3])), out.reshape((count * points, out.shape[3]))
    mask = on_board.reshape((on_board.size, 1))
    left = np.zeros((CHUNK, weights.shape[1] * 4 // weights.itemsize), weights.dtype)
    line = left.reshape((CHUNK, 1, left.shape[1]))
    for image in range(count):
        for start in range(image * points, (image + 1) * points, CHUNK):
            end = min(start + CHUNK, (image + 1) * points)
            activate(given[start:end], 0, scale, shift[min(image, len(shift) - 1)], kind, mask[start:end], line, 0)
            product(left, end - start, weights, made[start:] if adds else first, made[start:])


@njit
def convolve_windows(x: np.ndarray, weights: np.ndarray, side: int, out: np.ndarray) -> None:
    """A convolution of few channels by kernels of side x side: every point's window is a row of a matrix.

    x: [n, h, w, channels]. weights: [blocks, steps, columns] of a kernel [outputs, side * side * channels]. out:
    [n, h, w, outputs]. All are float32.
    """
    count, height, width, channels = x.shape
    margin = side // 2
    left = np.zeros((CHUNK, weights.shape[1]), np.float32)
    padded = np.zeros((height + 2 * margin, (width + 2 * margin) * channels), np.float32)
    nothing = np.zeros((1, out.shape[3]), np.float32)
    made = out.reshape((count * height * width, out.shape[3]))
    for image in range(count):
        for row in range(height):
            for column in range(width):
                for k in range(channels):
                    padded[row + margin, (column + margin) * channels + k] = x[image, row, column, k]
        for start in range(0, height * width, CHUNK):
            end = min(start + CHUNK, height * width)
            for point in range(start, end):
                row, first = point // width, point % width * channels
                for line in range(side):
                    for k in range(side * channels):
                        left[point - start, line * side * channels + k] = padded[row + line, first + k]
            product(left, end - start, weights, nothing, made[image * height * width + start :])


@njit
def block_columns(outputs: int) -> int:
    """The columns that are multiplied together, for a matrix with so many, which sixteens fill."""
    for vectors in range(len(_ROWS) - 1, 1, -1):
        if _ROWS[vectors] > 0 and outputs % (LANES * vectors) == 0:
            return LANES * vectors
    return LANES


def packed_matrix(weight: Tensor, half: bool) -> np.ndarray:
    """A matrix [outputs, inputs] as `product` takes it, [blocks, steps, columns], with zeros to fill sixteens."""
    return packed(weight[None], half)[:, 0]


def packed(weight: Tensor, half: bool) -> np.ndarray:
    """Matrices [cells, outputs, inputs] as [blocks of columns, cells, steps, columns], with zeros to fill sixteens.

    A step is one input in float32, or two in bfloat16 side by side, as uint16.
    """
    cells, outputs, inputs = weight.shape
    numbers = torch.zeros(cells, inputs + -inputs % LANES, outputs + -outputs % LANES)
    numbers[:, :inputs, :outputs] = weight.transpose(1, 2)
    blocks = numbers.unflatten(2, (-1, block_columns(numbers.shape[2]))).permute(2, 0, 1, 3)
    if not half:
        return blocks.contiguous().numpy()
    pairs = blocks.bfloat16().unflatten(2, (-1, 2)).transpose(3, 4)
    return pairs.flatten(3).contiguous().view(torch.uint16).numpy()
