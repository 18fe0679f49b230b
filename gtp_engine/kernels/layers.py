"""Layers of compiled networks: convolutions of activations, global pooling, linear layers.

Tensors of points are arrays [n, h, w, channels] of float32. Convolutions multiply bfloat16 if asked to.
"""

import math

import numpy as np
import torch
from torch import nn

from ..base.jit import njit
from ..network.layers import MIDDLE_SIDE, SIDE_SCALE, Activation, Bias, Board, Conv, MatMul
from ..network.schema import IDENTITY
from .activations import IDENTITY_KIND, KINDS, FusedActivation, activate
from .llvm import LANES
from .matmul import convolve_1x1, pack_matrix
from .winograd import best_tile_side, convolve_3x3, pack_kernel

FULL_BOARD = np.zeros((0, 1, 1), np.bool_)
"""The mask of a batch whose boards fill the tensor."""


class ActivatedConv:
    """Convolutions of the same activation, computed as one; their outputs lie one after the other.

    The number of output channels is rounded up to a multiple of `LANES`; the channels beyond are 0.

    Args:
        activation: What precedes the convolutions, if anything.
        convs: Convolutions of 3x3 or 1x1, all of the same size.
        half: Whether products are of bfloat16.
    """

    def __init__(self, activation: nn.Module | None, convs: list[Conv], half: bool) -> None:
        # Kept in full precision: which transform the kernel gets depends on the board's size, known only later.
        kernels = [conv.weight.detach().float() for conv in convs]
        self._weight = torch.cat(kernels) if len(kernels) > 1 else kernels[0]
        outputs, inputs, self._kernel_side, _ = self._weight.shape
        # Whole vectors: the kernels that write outputs have no code for a remainder.
        self.bias = np.zeros(-(-outputs // LANES) * LANES, np.float32)
        self.bias[:outputs] = np.concatenate([_conv_bias(conv) for conv in convs])
        if isinstance(activation, FusedActivation):
            self.scale, self.shift, self.kind = activation.scale, activation.shift[None], activation.kind
        else:
            self.scale, self.shift = np.ones(inputs, np.float32), np.zeros((1, inputs), np.float32)
            self.kind = activation_kind(activation)
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
            return side, pack_matrix(self._weight[:, :, 0, 0], self._half)
        return side, pack_kernel(self._weight, side, self._half)

    def packed_size(self, height: int, width: int) -> int:
        """Returns the number of elements of the packed kernels, without packing them."""
        side = self._tile_side(height, width)
        cells = 1 if self._kernel_side == 1 else (side + 2) ** 2
        return cells * len(self.bias) * (-(-len(self.scale) // LANES) * LANES)

    def _tile_side(self, height: int, width: int) -> int:
        return 1 if self._kernel_side == 1 else best_tile_side(height, width)


def _conv_bias(conv: Conv) -> np.ndarray:
    bias = torch.zeros(len(conv.weight)) if conv.bias is None else conv.bias.detach()
    return bias.float().numpy()


def activation_kind(activation: nn.Module | None) -> int:
    """Returns the kind (a value of `KINDS`) of an activation that follows no norm, or only a folded one."""
    if isinstance(activation, FusedActivation):
        return activation.kind
    assert activation is None or isinstance(activation, Activation)
    return KINDS[IDENTITY if activation is None else activation.kind]


def board_mask(board: Board) -> np.ndarray:
    """Returns which points are on the board, bool [n, h, w], or `FULL_BOARD`."""
    return FULL_BOARD if board.mask is None else (board.mask[:, 0] > 0).numpy()


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
    """A matrix, with a bias and an activation after it if given."""

    def __init__(self, matmul: MatMul, bias: Bias | None = None, activation: nn.Module | None = None) -> None:
        self.weight = matmul.weight.detach().float().numpy().T.copy()
        outputs = self.weight.shape[1]
        self.bias = np.zeros(outputs, np.float32) if bias is None else bias.bias.detach().float().numpy().copy()
        self.kind = activation_kind(activation)
        self.scale, self.shift = np.ones(outputs, np.float32), np.zeros(outputs, np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Returns the outputs [n, outputs] of x, float32 [n, inputs]."""
        out = np.empty((len(x), len(self.bias)), np.float32)
        multiply_add(x, self.weight, self.bias, out)
        if self.kind != IDENTITY_KIND:
            points = out[None]
            activate(points, 0, self.scale, self.shift, self.kind, FULL_BOARD[:, 0], points, 0)
        return out
