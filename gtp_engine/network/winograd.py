"""Convolutions by Winograd's minimal filtering (Lavin and Gray 2016), for networks on a CPU.

A 3x3 convolution of a tile of 4x4 points takes 36 products for each pair of channels, not 144; of 3x3 points 25, not
81. Transforms are in float32, products of float32 or bfloat16. The norm and activation before the convolution, and what
is added after it, are part of the one pass, which runs on the thread that calls it.
"""

import numpy as np
import torch
from torch import Tensor

from ..compiled import njit
from . import matrices
from .fused import activate
from .matrices import address, multiply_blocks
from .vectors import LANES, MATRICES, from_tile, to_tile

# Tiles for which the transformed numbers of b15c192 stay in a second-level cache of 1 MiB, and enough for the products.
_TILES = 36


@njit
def convolve(
    x: np.ndarray,
    on_board: np.ndarray,
    scale: np.ndarray,
    shift: np.ndarray,
    kind: int,
    side: int,
    weights: np.ndarray,
    bias: np.ndarray,
    adds: bool,
    out: np.ndarray,
) -> None:
    """out = convolution(activation(x * scale + shift)) + bias, where points off the board count as 0.

    x: float32 [n, h, w, channels], of which the first len(scale) are taken. out: float32 [n, h, w, out channels].
    on_board: bool [n, h, w], or [0, ...] where all is board. kind: of `fused.KINDS`. weights: `packed` for tiles of
    side x side points. scale: [channels], shift: [1 or n, channels], bias: [out channels], float32. adds: to what is
    in `out`, in place of the bias.
    """
    count, height, width, _ = x.shape
    blocks, cells, steps, columns = weights.shape
    channels, columns = steps * 4 // weights.itemsize, columns * weights.itemsize // 4
    across, down = (width + side - 1) // side, (height + side - 1) // side
    tiles = across * down
    images = min(count, max(1, _TILES // tiles))
    padded = np.zeros((down * side + 2, across * side + 2, channels), weights.dtype)
    # One row more: powers of two apart, numbers would push each other out of the cache.
    tile = np.empty((cells, images * tiles + 1, channels), weights.dtype)
    made = np.empty((cells, images * tiles + 1, columns), np.float32)
    nothing = np.zeros((1, columns), np.float32)
    mask = np.zeros((0, 0), np.bool_)
    for first in range(0, count, images):
        now = min(images, count - first)
        for image in range(first, first + now):
            if len(on_board) > 0:
                mask = on_board[image]
            activate(x[image], 0, scale, shift[min(image, len(shift) - 1)], kind, mask, padded, 1)
            _transform(padded, tile, (image - first) * tiles, side, down, across)
        for block in range(blocks):
            multiply_blocks(tile, now * tiles, weights[block], nothing, address(made), made.strides[0], made.strides[1])
            start = block * columns
            for image in range(now):
                _finish(made, image * tiles, side, bias[start:], adds, out, first + image, start)


@njit
def _transform(padded: np.ndarray, tile: np.ndarray, first: int, side: int, down: int, across: int) -> None:
    """The tiles of an image, from `first` on."""
    row, column, number = padded.strides
    step, line, _ = tile.strides
    source, target = address(padded), address(tile) + first * line
    for y in range(down):
        for x in range(across):
            place = source + side * (y * row + x * column)
            for channel in range(0, padded.shape[2], LANES):
                to_tile(padded, side, place + channel * number, row, column, target + channel * number, step)
            target += line


@njit
def _finish(
    made: np.ndarray,
    first: int,
    side: int,
    bias: np.ndarray,
    adds: bool,
    out: np.ndarray,
    image: int,
    channel: int,
) -> None:
    """The points of an image, whose tiles begin at `first`: a block of channels from `channel` on."""
    _, row, column, number = out.strides
    step, line, _ = made.strides
    height, width = out.shape[1], out.shape[2]
    source = address(made) + first * line
    for y in range(0, height, side):
        for x in range(0, width, side):
            offset = address(out) + image * out.strides[0] + y * row + x * column + channel * number
            for lane in range(0, 4 * made.shape[2], 4 * LANES):
                place = offset + lane
                from_tile(
                    side,
                    source + lane,
                    step,
                    place if adds else address(bias) + lane,
                    adds * row,
                    adds * column,
                    place,
                    row,
                    column,
                    height - y,
                    width - x,
                )
            source += line


def best_side(height: int, width: int) -> int:
    """The side of the tiles by which a 3x3 convolution of such a board takes fewest products."""
    return min((3, 4), key=lambda side: (side + 2) ** 2 * -(-height // side) * -(-width // side))


def packed(weight: Tensor, side: int, half: bool) -> np.ndarray:
    """A kernel [out channels, channels, 3, 3] for `convolve`: [blocks of columns, numbers of a tile, steps, columns].

    Channels of both kinds come in sixteens, zero beyond those of the kernel; see `matrices.packed`.
    """
    matrix = torch.tensor([[float(value) for value in row] for row in MATRICES[side][1]], dtype=torch.float64)
    numbers = torch.einsum("ai,ocij,bj->aboc", matrix, weight.double(), matrix).float()
    return matrices.packed(numbers.flatten(0, 1), half)
