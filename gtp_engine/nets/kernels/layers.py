"""Layers of compiled networks: convolutions of activations, global pooling, linear layers.

Tensors of points are arrays [n, h, w, channels] of float32. Convolutions multiply bfloat16 if asked to.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ...base.jit import njit
from ..schema import IDENTITY, MIDDLE_SIDE, SIDE_SCALE, ActivationDesc
from .matmul import convolve_1x1, pack_integers, pack_matrix, packed_integers_size, whole_lanes
from .scalars import IDENTITY_KIND, KINDS, activate
from .winograd import best_tile_side, convolve_3x3, pack_kernel

FULL_BOARD = np.zeros((0, 1, 1), np.bool_)
"""The mask of a batch whose boards fill the tensor."""


class Activation(NamedTuple):
    """A norm and an activation before a convolution: activation(x * scale + shift), float32 [channels]."""

    kind: int
    scale: np.ndarray
    shift: np.ndarray


class Conv(NamedTuple):
    """A convolution: float32 [outputs, inputs, side, side] and [outputs]; `scales` of a 1x1 one as in `Matrix`."""

    weight: np.ndarray
    bias: np.ndarray
    scales: np.ndarray | None = None


class Matrix(NamedTuple):
    """A matrix: float32 [outputs, inputs].

    `scales`, float32 [outputs], is None unless each row consists of whole multiples of its scale, -127 to 127 times it:
    the matrix is then computed with 8-bit integers.
    """

    weight: np.ndarray
    scales: np.ndarray | None

    def map_rows(self, change: Callable[[np.ndarray], np.ndarray]) -> "Matrix":
        """Returns the matrix with its rows rearranged, padded or multiplied: `change` is given [outputs, columns]."""
        return Matrix(change(self.weight), None if self.scales is None else change(self.scales[:, None])[:, 0])

    def packed(self, half: bool) -> np.ndarray:
        """Returns the matrix as `matmul` takes it; half: whether to convert one without scales to bfloat16."""
        return pack_matrix(self.weight, half) if self.scales is None else pack_integers(self.weight, self.scales)


def joined(matrices: list[Matrix]) -> Matrix:
    """Returns matrices of the same inputs as one; all of them have scales, or none."""
    if len(matrices) == 1:  # without a copy
        return matrices[0]
    scales = [matrix.scales for matrix in matrices if matrix.scales is not None]
    assert len(scales) in (0, len(matrices))
    return Matrix(np.concatenate([each.weight for each in matrices]), np.concatenate(scales) if scales else None)


class Values:
    """The values of a network whose norms are folded (`stored.fold_norms`), below the path of a part."""

    def __init__(self, values: Mapping[str, np.ndarray], path: str = "") -> None:
        self._values, self._path = values, path

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[f"{self._path}.{name}"]

    def at(self, name: str) -> "Values":
        """Returns the values of a part of this part."""
        return Values(self._values, f"{self._path}.{name}" if self._path else name)

    def conv(self, name: str) -> Conv:
        """Returns a convolution; without a norm folded into it its bias is 0."""
        weight, scales = self.matrix(name)
        bias = self._values.get(f"{self._path}.{name}.bias")
        bias = np.zeros(len(weight), np.float32) if bias is None else bias
        return Conv(weight if scales is None else weight[:, :, None, None], bias, scales)

    def matrix(self, name: str) -> Matrix:
        """Returns a matrix, with the scales that `quantisation` gave it, if it did."""
        return Matrix(self[f"{name}.weight"], self._values.get(f"{self._path}.{name}.scales"))

    def activation(self, norm: str, desc: ActivationDesc, channels: int) -> Activation:
        """Returns an activation together with the norm before it, which may be folded into what precedes it."""
        scale, shift = (self._values.get(f"{self._path}.{norm}.{name}") for name in ("scale", "shift"))
        if scale is None or shift is None:
            return plain_activation(desc.kind, channels)
        return Activation(KINDS[desc.kind], scale, shift)

    def linear(self, matmul: str, bias: str | None = None, desc: ActivationDesc | None = None) -> "Linear":
        """Returns a matrix with what follows it."""
        weight = self[f"{matmul}.weight"]
        kind = IDENTITY_KIND if desc is None else KINDS[desc.kind]
        return Linear(weight, np.zeros(len(weight), np.float32) if bias is None else self[f"{bias}.bias"], kind)


def plain_activation(kind: str, channels: int) -> Activation:
    """Returns an activation without a norm."""
    return Activation(KINDS[kind], np.ones(channels, np.float32), np.zeros(channels, np.float32))


class ActivatedConv:
    """Convolutions of the same activation, computed as one; their outputs lie one after the other.

    The number of output channels is rounded up to a multiple of `LANES`; the channels beyond are 0.

    Args:
        activation: What precedes the convolutions; None for nothing.
        convs: Convolutions of 3x3 or 1x1, all of the same size.
        half: Whether products that are not of 8-bit integers are of bfloat16.

    Attributes:
        is_of_integers: Whether products are of 8-bit integers.
    """

    def __init__(self, activation: Activation | None, convs: list[Conv], half: bool) -> None:
        # Kept in full precision: which transform the kernel gets depends on the board's size, known only later.
        self._weight, self._scales = joined([Matrix(conv.weight, conv.scales) for conv in convs])
        self.is_of_integers = self._scales is not None
        outputs, inputs, self._kernel_side, _ = self._weight.shape
        # Whole vectors: the kernels that write outputs have no code for a remainder.
        self.bias = np.zeros(whole_lanes(outputs), np.float32)
        self.bias[:outputs] = np.concatenate([conv.bias for conv in convs])
        self.kind, self.scale, shift = activation or plain_activation(IDENTITY, inputs)
        self.shift = shift[None]
        self._half = half
        self._packed: dict[int, np.ndarray] = {}  # by the side of the tiles

    def __call__(self, x: np.ndarray, on_board: np.ndarray, shift: np.ndarray | None = None) -> np.ndarray:
        """Returns the outputs, float32 [n, h, w, channels].

        Args:
            x: float32 [n, h, w, channels or more].
            on_board: bool [n, h, w], or `FULL_BOARD`.
            shift: float32 [n, channels], added before the activation in place of a norm's shift.
        """
        count, height, width, _ = x.shape
        out = np.empty((count, height, width, len(self.bias)), np.float32)
        shift = self.shift if shift is None else shift
        side = self._tile_side(height, width)
        if side not in self._packed:
            self._packed[side] = self.packed(height, width)[1]
        source, target = (x, on_board, self.scale, shift, self.kind), (self._packed[side], self.bias, False, out)
        if side == 1:
            convolve_1x1(*source, *target)
        else:
            convolve_3x3(*source, side, *target)
        return out

    def packed(self, height: int, width: int) -> tuple[int, np.ndarray]:
        """Returns the side of the best tiles for a board and the kernels packed for it.

        The side 1 stands for a 1x1 convolution, with a matrix for `convolve_1x1`.
        """
        side = self._tile_side(height, width)
        if side == 1:
            return side, Matrix(self._weight[:, :, 0, 0], self._scales).packed(self._half)
        return side, pack_kernel(self._weight, side, self._half)

    def packed_size(self, height: int, width: int) -> int:
        """Returns the number of elements of the packed kernels, without packing them."""
        if self.is_of_integers:
            return packed_integers_size(len(self.bias), len(self.scale))
        side = self._tile_side(height, width)
        cells = 1 if self._kernel_side == 1 else (side + 2) ** 2
        return cells * len(self.bias) * whole_lanes(len(self.scale))

    def _tile_side(self, height: int, width: int) -> int:
        return 1 if self._kernel_side == 1 else best_tile_side(height, width)


@njit
def global_pool(
    x: np.ndarray, first: int, channels: int, kind: int, on_board: np.ndarray, with_max: bool, out: np.ndarray
) -> None:
    """Pools activated channels over each board: see `network.layers.Board.pool` and `value_pool`.

    Args:
        x: float32 [n, h, w, first + channels or more].
        first: The first channel to pool.
        channels: How many channels to pool.
        kind: The activation, a value of `KINDS`.
        on_board: bool [n, h, w], or `FULL_BOARD`.
        with_max: Whether the last third of the result is the maximum, or else the mean scaled by the squared side.
        out: float32 [n, 3 * channels]: the mean, the mean scaled by the board's side, and the last third.
    """
    count, height, width, _ = x.shape
    # The norm before the activation was folded into the convolution.
    scale, shift = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    activated = np.empty((height, width, channels), np.float32)
    mask = np.zeros((0, 0), np.bool_)
    for image in range(count):
        if len(on_board) > 0:
            mask = on_board[image]
        activate(x[image], first, scale, shift, kind, mask, activated, 0)
        area, total = 0, np.zeros(channels, np.float32)
        largest = np.full(channels, -np.inf, np.float32)
        for row in range(height):
            for column in range(width):
                if len(mask) > 0 and not mask[row, column]:
                    continue
                area += 1
                # Two simple loops over contiguous channels, which LLVM vectorises.
                for k in range(channels):
                    total[k] += activated[row, column, k]
                for k in range(channels):
                    largest[k] = max(largest[k], activated[row, column, k])
        side = (math.sqrt(area) - MIDDLE_SIDE) * SIDE_SCALE
        for k in range(channels):
            mean = total[k] / area
            out[image, k] = mean
            out[image, channels + k] = mean * side
            out[image, 2 * channels + k] = largest[k] if with_max else mean * (side * side - 0.1)


@njit
def multiply_add(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
    """Computes out = x @ weight + bias, float32 [n, k], [k, outputs], [outputs].

    For the few rows of pooled values, for which packing the weights would not pay.
    """
    # The innermost loops run over contiguous outputs, so that LLVM makes vectors of them.
    for row in range(len(x)):
        for j in range(len(bias)):
            out[row, j] = bias[j]
        for k in range(x.shape[1]):
            value = x[row, k]
            for j in range(len(bias)):
                out[row, j] += value * weight[k, j]


class Linear:
    """A matrix, with a bias and an activation after it.

    Args:
        weight: float32 [outputs, inputs].
        bias: float32 [outputs].
        kind: The activation, a value of `scalars.KINDS`.
    """

    def __init__(self, weight: np.ndarray, bias: np.ndarray, kind: int) -> None:
        self.weight, self.bias, self.kind = np.ascontiguousarray(weight.T), bias, kind
        self.scale, self.shift = np.ones(len(bias), np.float32), np.zeros(len(bias), np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Returns the outputs [n, outputs] of x, float32 [n, inputs]."""
        out = np.empty((len(x), len(self.bias)), np.float32)
        multiply_add(x, self.weight, self.bias, out)
        if self.kind != IDENTITY_KIND:
            points = out[None]
            activate(points, 0, self.scale, self.shift, self.kind, FULL_BOARD[:, 0], points, 0)
        return out
