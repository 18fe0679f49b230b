"""Convolutions by Winograd's minimal filtering (Lavin and Gray 2016), for networks on a CPU.

A 3x3 convolution of a tile of 4x4 points takes 36 products for each pair of channels, not 144; of 3x3 points 25, not
81. Transforms are in float32, products of float32 or bfloat16. The norm and activation before the convolution, and what
is added after it, are part of the one pass, which runs on the thread that calls it.
"""

import numpy as np
import torch
from torch import Tensor

from ..compiled import njit
from .fused import activate
from .vectors import LANES, MATRICES, MOST_ROWS, from_tile, multiply, to_tile

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
    added: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = convolution(activation(x * scale + shift)) + bias + added, where points off the board count as 0.

    x [n, h, w, channels], of which the first len(scale) are taken, out, added [n, h, w, out channels]: float32, or
    bfloat16 seen as uint16; added [0, ...] for none. on_board: bool [n, h, w], or [0, ...] where all is board.
    kind: of `fused.KINDS`. weights: `packed` for tiles of side x side points. scale: [channels], shift: [1 or n,
    channels], bias: [out channels], float32.
    """
    count, height, width, _ = x.shape
    blocks, cells, steps, columns = weights.shape
    channels, columns = steps * 4 // weights.itemsize, columns * weights.itemsize // 4
    margin = int(cells > side * side)
    across, down = (width + side - 1) // side, (height + side - 1) // side
    tiles = across * down
    images = min(count, max(1, _TILES // tiles))
    padded = np.zeros((down * side + 2 * margin, across * side + 2 * margin, channels), weights.dtype)
    # One row more: powers of two apart, numbers would push each other out of the cache.
    tile = np.empty((cells, images * tiles + 1, channels), weights.dtype)
    product = np.empty((cells, images * tiles + 1, columns), np.float32)
    nothing = np.zeros(columns, np.float32)
    mask = np.zeros((0, 0), np.bool_)
    for first in range(0, count, images):
        now = min(images, count - first)
        for image in range(first, first + now):
            if len(on_board) > 0:
                mask = on_board[image]
            activate(x[image], 0, scale, shift[min(image, len(shift) - 1)], kind, mask, padded, margin)
            _transform(padded, tile, (image - first) * tiles, side, down, across)
        for block in range(blocks):
            _multiply(tile, weights, product, block, now * tiles)
            start = block * columns
            for image in range(now):
                _finish(product, image * tiles, side, bias[start:], nothing, added, out, first + image, start)


@njit
def _transform(padded: np.ndarray, tile: np.ndarray, first: int, side: int, down: int, across: int) -> None:
    """The tiles of an image, from `first` on."""
    half, (row, column, number) = int(padded.itemsize == 2), padded.strides
    step, line, _ = tile.strides
    source, target = padded.ctypes.data, tile.ctypes.data + first * line
    for y in range(down):
        for x in range(across):
            place = source + side * (y * row + x * column)
            for channel in range(0, padded.shape[2], LANES):
                to_tile(side, half, place + channel * number, row, column, target + channel * number, step)
            target += line


@njit
def _multiply(tile: np.ndarray, weights: np.ndarray, product: np.ndarray, block: int, tiles: int) -> None:
    """For every number of a tile: the products of all `tiles` with a block of the weights."""
    half, vectors = int(tile.itemsize == 2), product.shape[2] // LANES
    panels = (tiles + _most_rows(vectors) - 1) // _most_rows(vectors)
    steps = weights.shape[2]
    for cell in range(tile.shape[0]):
        left, right = tile.ctypes.data + cell * tile.strides[0], weights.ctypes.data
        right += block * weights.strides[0] + cell * weights.strides[1]
        ahead = right + weights.strides[1]
        out, remaining = product.ctypes.data + cell * product.strides[0], tiles
        for panel in range(panels, 0, -1):
            rows = remaining // panel
            multiply(half, rows, vectors, left, tile.strides[1], right, ahead, out, steps)
            ahead = right
            left += rows * tile.strides[1]
            out += rows * product.strides[1]
            remaining -= rows


_ROWS = np.array([MOST_ROWS.get(vectors, 0) for vectors in range(5)])


@njit
def _most_rows(vectors: int) -> int:
    return _ROWS[vectors]


@njit
def _finish(
    product: np.ndarray,
    first: int,
    side: int,
    bias: np.ndarray,
    nothing: np.ndarray,
    added: np.ndarray,
    out: np.ndarray,
    image: int,
    channel: int,
) -> None:
    """The points of an image, whose tiles begin at `first`: a block of channels from `channel` on."""
    half, (_, row, column, number) = int(out.itemsize == 2), out.strides
    step, line, _ = product.strides
    height, width = out.shape[1], out.shape[2]
    source = product.ctypes.data + first * line
    adds = int(len(added) > 0)
    for y in range(0, height, side):
        for x in range(0, width, side):
            offset = image * out.strides[0] + y * row + x * column + channel * number
            for lane in range(0, product.shape[2], LANES):
                place = offset + lane * number
                from_tile(
                    side,
                    half,
                    source + 4 * lane,
                    step,
                    bias.ctypes.data + 4 * lane,
                    added.ctypes.data + place if adds else nothing.ctypes.data,
                    adds * row,
                    adds * column,
                    out.ctypes.data + place,
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
    """A kernel [out channels, channels, k, k] of 3x3, or of 1x1 for tiles of one point, float32, for `convolve`.

    Channels of both kinds come in sixteens, zero beyond those of the kernel. Blocks of columns, the numbers of a tile,
    steps, and columns: one float32 each, or for two channels bfloat16 side by side, as uint16.
    """
    outputs, inputs = (-(-count // LANES) * LANES for count in weight.shape[:2])
    exact = torch.zeros(outputs, inputs, *weight.shape[2:], dtype=torch.float64)
    exact[: weight.shape[0], : weight.shape[1]] = weight
    matrix = torch.tensor([[float(value) for value in row] for row in MATRICES[side][1]], dtype=torch.float64)
    numbers = torch.einsum("ai,ocij,bj->abco", matrix, exact, matrix).float()
    columns = LANES * max(vectors for vectors in MOST_ROWS if outputs % (LANES * vectors) == 0)
    blocks = numbers.flatten(0, 1).unflatten(2, (-1, columns)).permute(2, 0, 1, 3)
    if not half:
        return blocks.contiguous().numpy()
    pairs = blocks.bfloat16().unflatten(2, (-1, 2)).transpose(3, 4)
    return pairs.flatten(3).contiguous().view(torch.uint16).numpy()
