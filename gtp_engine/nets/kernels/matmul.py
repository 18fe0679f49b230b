"""Matrix products for networks on a CPU: 1x1 convolutions, and the building block of all others.

Factors are float32, bfloat16 seen as uint16, or 8-bit integers seen as uint8; results are float32. Everything runs on
the thread that calls it.

A row of 8-bit integers of a left factor holds values divided by a scale, -127 to 127, plus 128, and then the scale, a
float32: the CPU multiplies unsigned bytes by signed ones. The scale follows from the row's largest value, so that
nothing has to be known of the values before. Each column of the weights has a scale of its own, and its sum starts from
-128 times the sum of its integers.

The weights are packed once (`pack_matrices`) in the order in which the innermost loop reads them: in blocks of a few
vectors of columns. The left factor is read in chunks of rows that stay in the cache while all blocks are multiplied
with them, as in Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008).
"""

from typing import Any

import numpy as np

from ...base.jit import njit
from ..quantisation import LARGEST
from .llvm import LANES, MAX_ROWS, multiply_panel, store_row
from .scalars import ONE, ZERO, activate, fast_max

# Points that are worked on together: what is computed for them stays in a second-level cache of 1 MiB.
CHUNK = 48

# Rows before the steps in a block of 8-bit integers (see `multiply_panel`).
_HEAD_ROWS = 2
_LARGEST = np.float32(LARGEST)

# `MAX_ROWS` for compiled code, indexed by vectors per row; 0 for widths that are not used.
_MAX_ROWS = np.array([MAX_ROWS.get(vectors, 0) for vectors in range(5)])


@njit
def matmul(left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    """Computes out = start + left @ weights for the first rows.

    Args:
        left: [rows or more, inputs], of the type of the weights.
        rows: How many rows to compute.
        weights: [blocks, steps, columns], as `pack_matrix` or `pack_integers` makes them.
        start: float32 [rows or more, outputs or more], or with a single row that all rows start from.
        out: float32 [rows or more, outputs or more].
    """
    block_bytes = 4 * block_width(weights)
    single = left.reshape((1, len(left), left.shape[1]))
    multiply_blocks(single, rows, weights, start, data_address(out), block_bytes, out.strides[0])


@njit
def multiply_blocks(
    left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: int, out_step: int, out_stride: int
) -> None:
    """Computes start + left @ weights for each block of the weights, into float32 memory.

    Args:
        left: [blocks, rows or more, inputs], or [1, ...] if it is the same for all blocks.
        rows: How many rows to compute.
        weights: [blocks, steps, columns].
        start: [rows or more, columns of all blocks], or one row that all rows start from, or the columns of one block.
        out: The address of the result.
        out_step: The distance of its blocks in bytes.
        out_stride: The distance of its rows in bytes.
    """
    blocks, steps = len(weights), weight_steps(weights)
    columns, left_stride = block_width(weights), left.strides[1]
    # Addresses instead of slices: a slice for each panel would build an array structure each time. A stride of 0 makes
    # all blocks or rows read the same memory.
    left_step = left.strides[0] if len(left) > 1 else 0
    start_step = 4 * columns if start.shape[1] > columns else 0
    start_stride = start.strides[0] if len(start) > 1 else 0
    max_rows = _MAX_ROWS[columns // LANES]
    for block in range(blocks):
        line, begin, target = data_address(left) + block * left_step, data_address(start) + block * start_step, out
        right, remaining = data_address(weights) + block * weights.strides[0], rows
        # The first panel prefetches the next block of weights; later panels prefetch their own block, which is in the
        # cache by then and costs nothing.
        ahead = right + weights.strides[0]
        # Panels as even as can be: 13 rows are 6 and 7, not 8 and 5, since short panels use the registers badly.
        for panels_left in range((rows + max_rows - 1) // max_rows, 0, -1):
            panel_rows = remaining // panels_left
            multiply_panel(
                weights,
                panel_rows,
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
            line, begin = line + panel_rows * left_stride, begin + panel_rows * start_stride
            target += panel_rows * out_stride
            remaining -= panel_rows
        out += out_step


@njit
def block_width(weights: np.ndarray) -> int:
    """Returns the number of output columns in a block of packed matrices [blocks, steps, columns].

    A step is 4 bytes per column: a float32, or a pair of bfloat16.
    """
    return weights.shape[2] * weights.itemsize // 4


@njit
def weight_steps(weights: np.ndarray) -> int:
    """Returns the number of steps in a block of packed matrices."""
    return weights.shape[1] - (_HEAD_ROWS if weights.itemsize == 1 else 0)


@njit
def encode_rows(values: np.ndarray, rows: int, columns: int, like: np.ndarray) -> None:
    """Turns rows of float32 values into those of a left factor, in place: a view of them of that type is the factor.

    Args:
        values: float32 [rows or more, columns or more].
        rows: How many rows.
        columns: A multiple of `LANES`; for 8-bit integers the number of inputs of the weights.
        like: An array of the type.
    """
    if like.itemsize == 4:
        return
    address, factor = data_address(values), ONE
    for row in range(rows):
        if like.itemsize == 1:
            line, largest = values[row, :columns], ZERO
            for k in range(columns):
                largest = fast_max(largest, abs(line[k]))
            factor = _LARGEST / largest if largest > ZERO else ZERO
        store_row(like, address, columns // LANES, factor)
        if like.itemsize == 1:
            values[row, columns // 4] = largest / _LARGEST
        address += values.strides[0]


@njit
def data_address(array: np.ndarray) -> Any:
    """Returns the address of an array's first element, as the functions of `llvm` take it.

    The caller has to keep the array alive.
    """
    return np.int64(array.ctypes.data)


@njit
def convolve_1x1(
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
    """Computes a 1x1 convolution of an activation: a matrix product with a row for each point.

    The arguments are those of `winograd.convolve_3x3`, except for the weights [blocks, steps, columns].
    """
    count, height, width, _ = x.shape
    points = height * width
    bias_row = bias.reshape((1, len(bias)))
    # Every point is an image row of its own, as `activate` has it.
    source, target = x.reshape((count * points, 1, x.shape[3])), out.reshape((count * points, out.shape[3]))
    mask = on_board.reshape((on_board.size, 1))
    # One chunk of activated points, allocated once.
    inputs = weight_steps(weights) * 4 // weights.itemsize
    values = np.zeros((CHUNK, inputs), np.float32)
    activated, left = values.reshape((CHUNK, 1, inputs)), values.view(weights.dtype)
    # Chunks end with the image, because each image may have its own shift.
    for image in range(count):
        for start in range(image * points, (image + 1) * points, CHUNK):
            end = min(start + CHUNK, (image + 1) * points)
            image_shift = shift[min(image, len(shift) - 1)]
            activate(source[start:end], 0, scale, image_shift, kind, mask[start:end], activated, 0)
            values[:, len(scale) :] = ZERO  # they meet weights of 0
            encode_rows(values, end - start, inputs, weights)
            matmul(left, end - start, weights, target[start:] if adds else bias_row, target[start:])


@njit
def convolve_im2col(x: np.ndarray, weights: np.ndarray, side: int, start: np.ndarray, out: np.ndarray) -> None:
    """Computes a convolution of few channels as a matrix product: each row is the window around a point (im2col).

    Arrays are float32, except for x.

    Args:
        x: uint8 [n, h, w, channels].
        weights: [blocks, steps, columns], packed from a kernel [outputs, side * side * channels].
        side: The side of the kernel, an odd number.
        start: [n, outputs], what is added to every point of an image.
        out: [n, h, w, outputs].
    """
    count, height, width, channels = x.shape
    margin = side // 2
    left = np.zeros((CHUNK, weights.shape[1]), np.float32)
    # One image with a margin of zeros. Column and channel are one axis, so that a row of a window is contiguous.
    padded = np.zeros((height + 2 * margin, (width + 2 * margin) * channels), np.float32)
    target = out.reshape((count * height * width, out.shape[3]))
    for image in range(count):
        image_start = start[image : image + 1]
        for row in range(height):
            for column in range(width):
                for k in range(channels):
                    padded[row + margin, (column + margin) * channels + k] = x[image, row, column, k]
        for begin in range(0, height * width, CHUNK):
            end = min(begin + CHUNK, height * width)
            # Copying windows is cheap next to the products: each value is multiplied with every output.
            for point in range(begin, end):
                row, first = point // width, point % width * channels
                for line in range(side):
                    for k in range(side * channels):
                        left[point - begin, line * side * channels + k] = padded[row + line, first + k]
            matmul(left, end - begin, weights, image_start, target[image * height * width + begin :])


@njit
def choose_block_width(outputs: int) -> int:
    """Returns how many columns to multiply together, for a matrix with this multiple of `LANES` of them.

    It is the widest block that divides them: the more columns, the fewer loads of the left factor per product.
    """
    for vectors in range(len(_MAX_ROWS) - 1, 1, -1):
        if _MAX_ROWS[vectors] > 0 and outputs % (LANES * vectors) == 0:
            return LANES * vectors
    return LANES


def pack_matrix(weight: np.ndarray, half: bool) -> np.ndarray:
    """Packs a matrix [outputs, inputs] for `matmul`: [blocks, steps, columns], padded with zeros to multiples of 16."""
    return pack_matrices(weight[None], half)[:, 0]


def pack_matrices(weight: np.ndarray, half: bool) -> np.ndarray:
    """Packs several matrices of one shape.

    Args:
        weight: float32 [matrices, outputs, inputs].
        half: Whether to convert to bfloat16.

    Returns:
        [blocks of columns, matrices, steps, columns], padded with zeros to multiples of 16. A step is one input in
        float32, or two adjacent ones in bfloat16, as uint16: the CPUs' dot products add the products of pairs.
    """
    matrices, outputs, inputs = weight.shape
    steps, columns = whole_lanes(inputs), whole_lanes(outputs)
    padded = np.zeros((matrices, steps, columns), np.float32)
    padded[:, :inputs, :outputs] = weight.transpose(0, 2, 1)
    width = choose_block_width(columns)
    blocks = np.ascontiguousarray(padded.reshape(matrices, steps, columns // width, width).transpose(2, 0, 1, 3))
    if not half:
        return blocks
    pairs = to_bfloat16(blocks).reshape(-1, matrices, steps // 2, 2, width).swapaxes(3, 4)
    return pairs.reshape(-1, matrices, steps // 2, 2 * width)


def pack_integers(weight: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Packs a matrix of 8-bit integers for `matmul`.

    Args:
        weight: float32 [outputs, inputs], multiples of the scales by whole numbers of -127 to 127.
        scales: float32 [outputs].

    Returns:
        uint8 [blocks of columns, 2 + steps, 4 * columns]: two rows as `llvm.multiply_panel` expects them, then steps of
        four adjacent inputs.
    """
    outputs, inputs = weight.shape
    steps, columns = whole_lanes(inputs) // 4, whole_lanes(outputs)
    column_scales, integers = np.zeros(columns, np.float32), np.zeros((columns, 4 * steps), np.int8)
    column_scales[:outputs] = scales
    integers[:outputs, :inputs] = np.rint(weight / np.where(scales > 0, scales, 1)[:, None])
    width = choose_block_width(columns)
    packed = np.empty((columns // width, _HEAD_ROWS + steps, 4 * width), np.uint8)
    packed[:, 0] = (-128 * integers.sum(1, dtype=np.int32)).reshape(-1, width).view(np.uint8)
    packed[:, 1] = column_scales.reshape(-1, width).view(np.uint8)
    in_blocks = integers.reshape(-1, width, steps, 4).swapaxes(1, 2)
    packed[:, _HEAD_ROWS:] = np.ascontiguousarray(in_blocks).view(np.uint8).reshape(-1, steps, 4 * width)
    return packed


def packed_integers_size(outputs: int, inputs: int) -> int:
    """Returns the number of bytes that `pack_integers` returns."""
    return whole_lanes(outputs) * (4 * _HEAD_ROWS + whole_lanes(inputs))


@njit
def whole_lanes(channels: int) -> int:
    """Returns a number of channels rounded up to a multiple of `LANES`."""
    return channels + -channels % LANES


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """Returns float32 values as the bits of the nearest bfloat16, ties to even: uint16."""
    bits = values.view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
