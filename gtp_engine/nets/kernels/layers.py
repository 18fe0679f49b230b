"""Layers of compiled networks: convolutions of activations, global pooling, linear layers.

Tensors of points are float32 [n, rows, channels], with the rows of a `grid.Grid`. The type of packed weights says how
products are computed (`matmul`).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from ..constants import MIDDLE_SIDE, SIDE_SCALE
from ..quantisation import multiples
from ..schema import ActivationDesc
from .convolution import Kernel
from .emit import LANES, data_address
from .grid import Grid, aligned, aligned_rows
from .matmul import (
    TILES,
    integers_for,
    integers_size,
    pack_integers,
    pack_matrices,
    pack_matrix,
    whole_inputs,
    whole_lanes,
)
from .passes import NO_ENCODING, Before, encoding, pool_vector
from .scalars import IDENTITY_KIND, KINDS
from .winograd import best_tile_side, pack_kernel

DIRECT = 0
"""In place of the side of Winograd's tiles: a convolution without a transform (`direct`, `integers`)."""


class Activation(NamedTuple):
    """A norm and an activation before a convolution: activation(x * scale + shift), float32 [channels]."""

    kind: int
    scale: np.ndarray
    shift: np.ndarray


class Conv(NamedTuple):
    """A convolution: float32 [outputs, inputs, side, side] and [outputs]; `scales` as in `Matrix`.

    `inputs`, float32 [2], are the least and the largest input that 8-bit integers are to express.
    """

    weight: np.ndarray
    bias: np.ndarray
    scales: np.ndarray | None = None
    inputs: np.ndarray | None = None

    def padded(self, before: int, after: int) -> "Conv":
        """Returns the same with inputs before and after the others that it does not use."""
        return self._replace(weight=np.pad(self.weight, ((0, 0), (before, after), (0, 0), (0, 0))))


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

    def packed(self, kind: "np.dtype[Any]") -> np.ndarray:
        """Returns the matrix as `matmul` takes it; kind: the type of one without scales."""
        return pack_matrix(self.weight, kind) if self.scales is None else pack_integers(self.weight, self.scales)


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
        return Conv(weight, bias, scales, self._values.get(f"{self._path}.{name}.inputs"))

    def matrix(self, name: str) -> Matrix:
        """Returns a matrix, with the scales that `quantisation` gave it, if it did."""
        return Matrix(self[f"{name}.weight"], self._values.get(f"{self._path}.{name}.scales"))

    def activation(self, norm: str, desc: ActivationDesc, channels: int) -> Activation:
        """Returns an activation together with the norm before it, which may be folded into what precedes it."""
        scale, shift = (self._values.get(f"{self._path}.{norm}.{name}") for name in ("scale", "shift"))
        if scale is None or shift is None:
            scale, shift = np.ones(channels, np.float32), np.zeros(channels, np.float32)
        return Activation(KINDS[desc.kind], scale, shift)

    def linear(
        self, matmul: str, bias: str | None = None, desc: ActivationDesc | None = None, *, after: int = 0
    ) -> "Linear":
        """Returns a matrix with what follows it; after: how many outputs of 0 to put before the others."""
        weight = self[f"{matmul}.weight"].T
        own = slice(after, after + weight.shape[1])
        # Own arrays: compiled loops over several layers need all of one type, and numba tells read-only ones apart.
        columns = whole_lanes(own.stop)
        filled_weight, filled_bias = np.zeros((len(weight), columns), np.float32), np.zeros(columns, np.float32)
        filled_weight[:, own] = weight
        if bias is not None:
            filled_bias[own] = self[f"{bias}.bias"]
        return Linear(filled_weight, filled_bias, IDENTITY_KIND if desc is None else KINDS[desc.kind])


class ActivatedConv:
    """Convolutions of the same activation, computed as one by a `trunk.Run`; their outputs lie one after the other.

    The numbers of channels are rounded up to multiples of `LANES`; the output channels beyond are 0.

    Args:
        activation: What precedes the convolutions.
        convs: Convolutions of 3x3 or 1x1, all of the same size.
        products: The type of packed weights that are not of 8-bit integers.

    Attributes:
        products: See above.
        is_of_integers: Whether products are of 8-bit integers.
        kernel_side: 3 or 1.
        before: What precedes the convolution, with all channels.
        bias: What is added, float32 [outputs]; to sums of integers it makes up for the encoded 0 of their inputs.
        factors: The factors of the sums of integers, float32 [outputs].
    """

    def __init__(self, activation: Activation, convs: list[Conv], products: "np.dtype[Any]") -> None:
        # Kept in full precision: which transform the kernel gets depends on the board's size, known only later.
        self._weight, self._scales = joined([Matrix(conv.weight, conv.scales) for conv in convs])
        self.is_of_integers = self._scales is not None
        self.kernel_side = self._weight.shape[2]
        bias = np.concatenate([conv.bias for conv in convs])
        self.factors, encoded = np.zeros(len(bias), np.float32), NO_ENCODING
        # In vectors a 1x1 convolution is a product of matrices, whose rows have scales of their own (`matmul`).
        self._is_product = self.kernel_side == 1 and products != TILES
        expressed = convs[0].inputs  # all have the same input
        if self._scales is not None and expressed is not None and not self._is_product:
            encoded = encoding(*expressed.tolist())
            self.factors = self._scales / encoded[0]
            # Inputs are `zero` too large.
            bias = bias - encoded[1] * self.factors * multiples(self._weight, self._scales).sum((1, 2, 3))
        # Whole vectors: the kernels have no code for a remainder.
        self.bias, self.factors = filled(bias), filled(self.factors)
        kind, scale, shift = activation
        self.before = Before(kind, filled(scale), filled(shift)[None], encoded)
        self.products = products

    def operands(self, grid: Grid) -> tuple[Before, Kernel]:
        """Returns what precedes the convolution, and its kernel for boards of this size; see `convolution`."""
        return self.before, Kernel(self.packed(grid), self.factors, self.bias)

    def packed(self, grid: Grid) -> np.ndarray:
        """Returns the kernels packed [blocks, cells, steps, columns], one cell of a 1x1 kernel."""
        side = self.tile_side(grid)
        if side == DIRECT:
            weight = self._weight if self._scales is None else multiples(self._weight, self._scales)
            cells = weight.reshape(*weight.shape[:2], -1).transpose(2, 0, 1)
            return pack_matrices(cells, self._type())
        if side == 1:
            return Matrix(self._weight[:, :, 0, 0], self._scales).packed(self.products)[:, None]
        return pack_kernel(self._weight, side, self.products)

    def packed_size(self, grid: Grid) -> int:
        """Returns the number of elements of the packed kernels, without packing them."""
        side = self.tile_side(grid)
        if self._is_product and self.is_of_integers:
            return integers_size(len(self.bias), len(self.before.scale))
        cells = self.kernel_side**2 if side in (DIRECT, 1) else (side + 2) ** 2
        return cells * len(self.bias) * whole_inputs(len(self.before.scale), self._type())

    def tile_side(self, grid: Grid) -> int:
        """Returns the side of Winograd's tiles, 1 for the product of a 1x1 convolution, or `DIRECT`."""
        if self._is_product:
            return 1
        is_direct = self.products == TILES or self.is_of_integers
        return DIRECT if is_direct else best_tile_side(grid.height, grid.width)

    def _type(self) -> "np.dtype[Any]":
        """Returns the type of packed weights."""
        return integers_for(self.products) if self.is_of_integers else self.products


def filled(values: np.ndarray) -> np.ndarray:
    """Returns float32 values of channels, with zeros up to a multiple of `LANES`, that begin at a cache line."""
    found = aligned((whole_lanes(len(values)),))
    found[: len(values)], found[len(values) :] = values, 0
    return found


@njit
def global_pool(
    x: np.ndarray, first: int, channels: int, kind: int, on_board: np.ndarray, with_max: bool, out: np.ndarray
) -> None:
    """Pools activated channels over each board: see `nets.layers.Board.pool` and `value_pool`.

    Args:
        x: float32 [n, rows, first + channels or more].
        kind: The activation, a value of `KINDS`.
        on_board: bool [n, rows], or [0, ...] if all rows are on the board.
        with_max: Whether the last third of the result is the maximum, or else the mean scaled by the squared side.
        out: float32 [n, 3 * channels]: the mean, the mean scaled by the board's side, and the last third.
    """
    vectors = (channels + LANES - 1) // LANES
    totals, largest = aligned_rows(1, LANES * vectors)[0], aligned_rows(1, LANES * vectors)[0]
    mask = np.ones(x.shape[1], np.bool_)
    for image in range(len(x)):
        if len(on_board) > 0:
            mask = on_board[image]
        area, source = mask.sum(), data_address(x[image]) + 4 * first
        for vector in range(0, 4 * LANES * vectors, 4 * LANES):
            pool_vector(
                kind,
                source + vector,
                x.strides[1],
                data_address(mask),
                len(mask),
                data_address(totals) + vector,
                data_address(largest) + vector,
            )
        side = (math.sqrt(area) - MIDDLE_SIDE) * SIDE_SCALE
        for k in range(channels):
            mean = totals[k] / area
            out[image, k] = mean
            out[image, channels + k] = mean * side
            out[image, 2 * channels + k] = largest[k] if with_max else mean * (side * side - 0.1)


@njit
def multiply_add(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
    """Computes out = x @ weight + bias, float32 [n, k or more], [k, outputs], [outputs].

    For the few rows of pooled values, for which packing the weights would not pay.
    """
    # The innermost loops run over contiguous outputs, so that LLVM makes vectors of them.
    for row in range(len(x)):
        for j in range(len(bias)):
            out[row, j] = bias[j]
        for k in range(len(weight)):
            value = x[row, k]
            for j in range(len(bias)):
                out[row, j] += value * weight[k, j]


class Linear(NamedTuple):
    """A matrix with a bias and an activation after it; outputs of 0 fill them up to a multiple of `LANES`."""

    weight: np.ndarray  # float32 [inputs, outputs]
    bias: np.ndarray  # float32 [outputs]
    kind: int  # one of the values of `scalars.KINDS`
