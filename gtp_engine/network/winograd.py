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
    scale: np.ndarray,
    shift: np.ndarray,
    kind: int,
    side: int,
    weights: np.ndarray,
    bias: np.ndarray,
    added: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = convolution(activation(x * scale + shift)) + bias + added.

    x [n, h, w, channels], out, added [n, h, w, out channels]: float32, or bfloat16 seen as uint16; added [0, ...] for
    none. kind: of `fused.KINDS`. weights: `packed` for tiles of side x side points; scale, shift, bias: float32.
    """
    count, height, width, channels = x.shape
    blocks, columns = weights.shape[1], weights.shape[3]
    across, down = (width + side - 1) // side, (height + side - 1) // side
    tiles = across * down
    images = min(count, max(1, _TILES // tiles))
    padded = np.zeros((down * side + 2, across * side + 2, channels), x.dtype)
    cells = (side + 2) ** 2
    # One row more: powers of two apart, numbers would push each other out of the cache.
    tile = np.empty((cells, images * tiles + 1, channels), x.dtype)
    product = np.empty((cells, images * tiles + 1, columns), np.float32)
    nothing = np.zeros(columns, np.float32)
    for first in range(0, count, images):
        now = min(images, count - first)
        for image in range(now):
            activate(x[first + image], scale, shift, kind, padded, 1)
            _transform(padded, tile, image * tiles, side, down, across)
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
    steps = tile.shape[2] * tile.itemsize // 4
    for cell in range(tile.shape[0]):
        left, right = tile.ctypes.data + cell * tile.strides[0], weights.ctypes.data
        right += cell * weights.strides[0] + block * weights.strides[1]
        out, remaining = product.ctypes.data + cell * product.strides[0], tiles
        for panel in range(panels, 0, -1):
            rows = remaining // panel
            multiply(half, rows, vectors, left, tile.strides[1], right, out, steps)
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
    """The side of the tiles that take fewest products for such a board."""
    return min(MATRICES, key=lambda side: (side + 2) ** 2 * -(-height // side) * -(-width // side))


def packed(weight: Tensor, side: int, half: bool) -> np.ndarray:
    """A kernel [out channels, channels, 3, 3], float32, transformed for `convolve`: [numbers of a tile, blocks, steps,
    columns] in float32 or, two channels side by side, in uint32.
    """
    matrix = torch.tensor([[float(value) for value in row] for row in MATRICES[side][1]], dtype=torch.float64)
    numbers = torch.einsum("ai,ocij,bj->abco", matrix, weight.double(), matrix).float()
    columns = LANES * max(vectors for vectors in MOST_ROWS if weight.shape[0] % (LANES * vectors) == 0)
    blocks = numbers.flatten(0, 1).unflatten(2, (-1, columns)).transpose(1, 2)
    if not half:
        return blocks.contiguous().numpy()
    pairs = blocks.bfloat16().unflatten(2, (-1, 2)).transpose(3, 4)
    return pairs.contiguous().view(torch.uint16).numpy().view(np.uint32)[..., 0]
