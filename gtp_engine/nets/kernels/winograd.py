"""3x3 convolutions by Winograd's minimal filtering, for networks on a CPU.

Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks" (2016): the input is cut into overlapping tiles, the
tiles and the kernel are transformed, and the convolution becomes one matrix product over channels for each cell of a
tile. A tile of 4x4 output points takes 36 products for each pair of channels, not 144; one of 3x3 points 25, not 81.

Transforms are in float32, products in float32 or bfloat16. The norm and activation before the convolution, and what is
added after it, are part of the same pass, which runs on the thread that calls it.
"""

from typing import Any

import numpy as np

from ...base.jit import njit
from .convolution import Kernel
from .emit import LANES, data_address
from .grid import Grid
from .matmul import Blocks, multiply_blocks, pack_matrices
from .passes import Before, activate_rows
from .winograd_tiles import WINOGRAD_MATRICES, Square, transform_input_tile, transform_output_tile

# Tiles that are worked on together, at least: enough rows for the products.
_LEAST_TILES = 36
# The weights of many channels do not fit in a second-level cache and are read again for each group of tiles: the larger
# they are, the larger the groups. Measured on b15c192 (+12 %) and b6c96 on 19x19, Xeon with 2 MiB per core.
_ROW_BYTES_PER_TILE = 8


@njit
def convolve_3x3(
    x: np.ndarray, on_board: np.ndarray, grid: Grid, before: Before, kernel: Kernel, adds: bool, out: np.ndarray
) -> None:
    """Computes a 3x3 convolution of an activation; for the arguments see `convolution`. `pack_kernel` makes weights."""
    count, height, width = len(x), grid.height, grid.width
    target = out.reshape((count, height, width, out.shape[2]))
    weights, bias = kernel.weights, kernel.bias
    blocks, cells, steps, columns = weights.shape
    side = 3 if cells == 25 else 4
    channels, columns = steps * 4 // weights.itemsize, columns * weights.itemsize // 4
    across, down = (width + side - 1) // side, (height + side - 1) // side
    tiles = across * down
    # Small boards share the rows of a product: 9x9 has only 9 tiles of 3x3.
    group = max(_LEAST_TILES, channels * weights.itemsize // _ROW_BYTES_PER_TILE)
    images = min(count, max(1, group // tiles))
    # One image with a margin of a point, and rounded up to whole tiles. Activations are written inside the margin, so
    # that the rest stays 0 for all images.
    padded = np.zeros((down * side + 2, across * side + 2, channels), weights.dtype)
    # One row more than there are tiles: cells that lie a power of two apart would evict each other from the cache.
    transformed = np.empty((cells, images * tiles + 1, channels), weights.dtype)
    products = np.empty((cells, images * tiles + 1, columns), np.float32)
    zeros = np.zeros((1, columns), np.float32)
    for first in range(0, count, images):
        chunk = min(images, count - first)
        for image in range(first, first + chunk):
            for y in range(height):
                activate_rows(x, on_board, image, y * width, width, before, padded, padded[y + 1, 1:])
            _transform_input(padded, transformed, (image - first) * tiles, side, down, across)
        # Block by block, so that the products are transformed back while they are still in the cache.
        for block in range(blocks):
            multiply_blocks(
                Blocks(data_address(transformed), transformed.strides[0], transformed.strides[1]),
                chunk * tiles,
                weights[block],
                Blocks(data_address(zeros), 0, 0),
                Blocks(data_address(products), products.strides[0], products.strides[1]),
            )
            start = block * columns
            for image in range(chunk):
                _transform_output(products, image * tiles, side, bias[start:], adds, target, first + image, start)


@njit
def _transform_input(
    padded: np.ndarray, transformed: np.ndarray, first: int, side: int, down: int, across: int
) -> None:
    """Transforms the tiles of an image into rows from `first` on. Neighbouring tiles overlap by two points."""
    row, column, item = padded.strides
    cell, line, _ = transformed.strides
    source, target = data_address(padded), data_address(transformed) + first * line
    # A tile's cells lie in different matrices, a matrix's rows are tiles: products then run over all tiles at once.
    for y in range(down):
        for x in range(across):
            corner = source + side * (y * row + x * column)
            for channel in range(0, padded.shape[2], LANES):
                offset = channel * item
                transform_input_tile(padded, side, Square(corner + offset, row, column), target + offset, cell)
            target += line


@njit
def _transform_output(
    products: np.ndarray, first: int, side: int, bias: np.ndarray, adds: bool, out: np.ndarray, image: int, channel: int
) -> None:
    """Transforms an image's tiles, from row `first` on, back to points: a block of channels from `channel` on."""
    _, row, column, item = out.strides
    cell, line, _ = products.strides
    height, width = out.shape[1], out.shape[2]
    source = data_address(products) + first * line
    for y in range(0, height, side):
        for x in range(0, width, side):
            corner = data_address(out) + image * out.strides[0] + y * row + x * column + channel * item
            for lane in range(0, 4 * products.shape[2], 4 * LANES):
                points = Square(corner + lane, row, column)
                # What is added: the output itself, or the bias for every point.
                start = points if adds else Square(data_address(bias) + lane, 0, 0)
                # The last tiles reach beyond the board.
                transform_output_tile(side, source + lane, cell, start, points, height - y, width - x)
            source += line


def best_tile_side(height: int, width: int) -> int:
    """Returns the side of the tiles with which a 3x3 convolution of a board takes fewest products."""
    return min((3, 4), key=lambda side: (side + 2) ** 2 * -(-height // side) * -(-width // side))


def pack_kernel(weight: np.ndarray, side: int, products: "np.dtype[Any]") -> np.ndarray:
    """Transforms and packs a kernel for `convolve_3x3`.

    Args:
        weight: float32 [out channels, channels, 3, 3].
        side: The side of the output tiles.
        products: The type of the packed weights.

    Returns:
        [blocks of columns, cells of a tile, steps, columns]; see `matmul.pack_matrices`.
    """
    outputs, inputs, _, _ = weight.shape
    # In float64: this is done once, and the transform's fractions would lose precision in float32.
    matrix = np.array(WINOGRAD_MATRICES[side][1], np.float64)
    # The transform from both sides, matrix @ kernel @ matrix.T, is one product with the kernel as a row of 9 values.
    transformed = np.kron(matrix, matrix) @ weight.reshape(-1, 9).T.astype(np.float64)
    return pack_matrices(transformed.astype(np.float32).reshape(-1, outputs, inputs), products)
