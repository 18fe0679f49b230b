"""Layers of compiled parts: convolutions of activations, pooling, matrices.

Tensors of points are arrays [n, h, w, channels] of float32. What is multiplied is bfloat16 where asked for.
"""

import math

import numpy as np
import torch
from torch import nn

from ..compiled import njit
from .fused import IDENTITY_KIND, KINDS, FusedActivation, activate
from .layers import MIDDLE_SIDE, SIDE_SCALE, Activation, Bias, Board, Conv, MatMul
from .matrices import convolve_points, packed_matrix
from .records import IDENTITY
from .vectors import LANES
from .winograd import best_side, convolve, packed

EVERYWHERE = np.zeros((0, 1, 1), np.bool_)


class ActivatedConv:
    """The convolutions of an activation, their outputs one after the other, in sixteens of channels."""

    def __init__(self, activation: nn.Module | None, convs: list[Conv], half: bool) -> None:
        # Kept in full precision until a board's size says for which tiles it is transformed.
        kernels = [conv.weight.detach().float() for conv in convs]
        self._weight = torch.cat(kernels) if len(kernels) > 1 else kernels[0]
        outputs, inputs, self._kernel, _ = self._weight.shape
        self.bias = np.zeros(-(-outputs // LANES) * LANES, np.float32)
        self.bias[:outputs] = np.concatenate([_bias_of(conv) for conv in convs])
        if isinstance(activation, FusedActivation):
            self.scale, self.shift, self.kind = activation.scale, activation.shift[None], activation.kind
        else:
            self.scale, self.shift = np.ones(inputs, np.float32), np.zeros((1, inputs), np.float32)
            self.kind = kind_of(activation)
        self._half = half
        self._packed: dict[int, np.ndarray] = {}  # by the side of the tiles

    def __call__(self, x: np.ndarray, on_board: np.ndarray, shift: np.ndarray | None = None) -> np.ndarray:
        """shift: [n, channels], to the inputs before the activation, where no norm is."""
        count, height, width, _ = x.shape
        out = np.empty((count, height, width, len(self.bias)), np.float32)
        shift = self.shift if shift is None else shift
        side = self._side(height, width)
        if side not in self._packed:
            self._packed[side] = self.packed(height, width)[1]
        given, made = (x, on_board, self.scale, shift, self.kind), (self._packed[side], self.bias, False, out)
        if side == 1:
            convolve_points(*given, *made)
        else:
            convolve(*given, side, *made)
        return out

    def packed(self, height: int, width: int) -> tuple[int, np.ndarray]:
        """The side of the best tiles for such a board, and the kernels for them, as `convolve` takes them; or 1, and
        the matrix that `convolve_points` takes.
        """
        side = self._side(height, width)
        if side == 1:
            return side, packed_matrix(self._weight[:, :, 0, 0], self._half)
        return side, packed(self._weight, side, self._half)

    def packed_size(self, height: int, width: int) -> int:
        """Of those kernels."""
        side = self._side(height, width)
        cells = 1 if self._kernel == 1 else (side + 2) ** 2
        return cells * len(self.bias) * (-(-len(self.scale) // LANES) * LANES)

    def _side(self, height: int, width: int) -> int:
        """Of the best tiles for such a board."""
        return 1 if self._kernel == 1 else best_side(height, width)


def _bias_of(conv: Conv) -> np.ndarray:
    bias = torch.zeros(len(conv.weight)) if conv.bias is None else conv.bias.detach()
    return bias.float().numpy()


def kind_of(activation: nn.Module | None) -> int:
    """Of an activation that follows no norm but one that is folded."""
    if isinstance(activation, FusedActivation):
        return activation.kind
    assert activation is None or isinstance(activation, Activation)
    return KINDS[IDENTITY if activation is None else activation.kind]


def on_board_of(board: Board) -> np.ndarray:
    return EVERYWHERE if board.mask is None else (board.mask[:, 0] > 0).numpy()


@njit
def pool(
    x: np.ndarray, first: int, channels: int, kind: int, on_board: np.ndarray, largest: bool, out: np.ndarray
) -> None:
    """out [n, 3 * channels]: of activations of x [n, h, w, first + channels and more] the mean, the mean scaled by the
    board's side, and the maximum or else the mean scaled by the square of the side.
    """
    count, height, width, _ = x.shape
    scale, shift = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    seen = np.empty((height, width, channels), np.float32)
    mask = np.zeros((0, 0), np.bool_)
    for image in range(count):
        if len(on_board) > 0:
            mask = on_board[image]
        activate(x[image], first, scale, shift, kind, mask, seen, 0)
        area, total = 0, np.zeros(channels, np.float32)
        most = np.full(channels, -np.inf, np.float32)
        for y in range(height):
            for z in range(width):
                if len(mask) > 0 and not mask[y, z]:
                    continue
                area += 1
                for k in range(channels):
                    total[k] += seen[y, z, k]
                for k in range(channels):
                    most[k] = max(most[k], seen[y, z, k])
        side = (math.sqrt(area) - MIDDLE_SIDE) * SIDE_SCALE
        for k in range(channels):
            mean = total[k] / area
            out[image, k] = mean
            out[image, channels + k] = mean * side
            out[image, 2 * channels + k] = most[k] if largest else mean * (side * side - 0.1)


@njit
def multiply_add(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
    """out = x @ weight + bias, float32 [n, k], [k, outputs], [outputs]."""
    for row in range(len(x)):
        for j in range(len(bias)):
            out[row, j] = bias[j]
        for k in range(x.shape[1]):
            value = x[row, k]
            for j in range(len(bias)):
                out[row, j] += value * weight[k, j]


class Linear:
    """A matrix, and a bias and an activation after it."""

    def __init__(self, matmul: MatMul, bias: Bias | None = None, activation: nn.Module | None = None) -> None:
        self.weight = matmul.weight.detach().float().numpy().T.copy()
        outputs = self.weight.shape[1]
        self.bias = np.zeros(outputs, np.float32) if bias is None else bias.bias.detach().float().numpy().copy()
        self.kind = kind_of(activation)
        self.scale, self.shift = np.ones(outputs, np.float32), np.zeros(outputs, np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        out = np.empty((len(x), len(self.bias)), np.float32)
        multiply_add(x, self.weight, self.bias, out)
        if self.kind != IDENTITY_KIND:
            points = out[None]
            activate(points, 0, self.scale, self.shift, self.kind, EVERYWHERE[:, 0], points, 0)
        return out
