"""Layers of KataGo's networks, and the board that they work on.

Tensors of points are [n, channels, height, width], in channels-last memory where it pays. A smaller board lies in the
top left corner of the tensor. Every layer takes its record (`records`), whose numbers it holds: parameters or buffers.
"""

import math
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from .records import (
    IDENTITY,
    MISH,
    RELU,
    SILU,
    ActivationRecord,
    BatchNormRecord,
    BiasRecord,
    ConvRecord,
    FixedRopeRecord,
    LearnedRopeRecord,
    MatMulRecord,
    RMSNormRecord,
    TipRMSNormRecord,
)

# KataGo's pooling centres the side of the board at 14 and scales it by a tenth.
MIDDLE_SIDE, SIDE_SCALE = 14.0, 0.1


class Board:
    """Which points of a batch of tensors are on the board.

    mask: [n, 1, h, w] in the tensors' dtype, 1 on the board, or None where the boards fill the tensor. Tensors are zero
    off the board after `cut`, and pooling takes only such.
    """

    def __init__(self, planes: Tensor, full_board: bool, dtype: torch.dtype = torch.float32) -> None:
        on_board = planes[:, :1].float()
        self.mask: Final = None if full_board else on_board.to(dtype)
        self.area: Final[Tensor | float] = (
            float(planes.shape[2] * planes.shape[3]) if full_board else on_board.sum((1, 2, 3)).unsqueeze(1)
        )
        side = math.sqrt(self.area) if isinstance(self.area, float) else self.area.sqrt()
        self.side: Final[Tensor | float] = (side - MIDDLE_SIDE) * SIDE_SCALE

    def cut(self, x: Tensor) -> Tensor:
        """Zero off the board."""
        return x if self.mask is None else x * self.mask.to(x.dtype)  # under autocast tensors change their precision

    def mean(self, x: Tensor) -> Tensor:
        """Over the board's points, [n, channels]."""
        return x.mean((2, 3)) if self.mask is None else (x.sum((2, 3)) / self.area).to(x.dtype)

    def pool(self, x: Tensor) -> Tensor:
        """[n, 3 * channels]: mean, mean scaled by the size of the board, maximum."""
        mean = self.mean(x)
        largest = x.amax((2, 3)) if self.mask is None else (x + (self.mask - 1).to(x.dtype)).amax((2, 3))
        return torch.cat((mean, self._scaled(mean, self.side), largest), 1)

    def value_pool(self, x: Tensor) -> Tensor:
        """[n, 3 * channels]: mean, mean scaled by the size of the board, and by its square."""
        mean = self.mean(x)
        return torch.cat((mean, self._scaled(mean, self.side), self._scaled(mean, self.side**2 - 0.1)), 1)

    @staticmethod
    def _scaled(mean: Tensor, factor: Tensor | float) -> Tensor:
        return (mean * factor).to(mean.dtype)


class Conv(nn.Module):
    """A convolution that keeps the board's size. Only folding gives it a bias."""

    bias: nn.Parameter | None

    def __init__(self, record: ConvRecord) -> None:
        super().__init__()
        self.dilation = (record.dilation_y, record.dilation_x)
        self.padding = (record.height // 2 * record.dilation_y, record.width // 2 * record.dilation_x)
        self.weight = nn.Parameter(torch.zeros(record.out_channels, record.in_channels, record.height, record.width))
        self.register_parameter("bias", None)

    def forward(self, x: Tensor) -> Tensor:
        return functional.conv2d(x, self.weight, self.bias, padding=self.padding, dilation=self.dilation)


class MatMul(nn.Module):
    """x @ weight.T over the last axis, in the weight's precision."""

    def __init__(self, record: MatMulRecord) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(record.out_channels, record.in_channels))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x.to(self.weight.dtype), self.weight)


class Bias(nn.Module):
    def __init__(self, record: BiasRecord) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(record.channels))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.bias


ACTIVATION_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    IDENTITY: lambda x: x,
    RELU: functional.relu,
    MISH: functional.mish,
    SILU: functional.silu,
}


class Activation(nn.Module):
    def __init__(self, record: ActivationRecord) -> None:
        super().__init__()
        self.kind = record.kind

    def forward(self, x: Tensor) -> Tensor:
        return ACTIVATION_FUNCTIONS[self.kind](x)


class BatchNorm(nn.Module):
    """Batch normalisation whose statistics are those of the points on the board.

    momentum: how fast running statistics follow the batches: over the last few hundred. combine: where several
    processes share a batch, makes count, mean and variance of their parts those of the whole.
    """

    momentum: float = 0.01
    combine: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]] | None = None
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, record: BatchNormRecord) -> None:
        super().__init__()
        self.epsilon = record.epsilon
        self.register_buffer("running_mean", torch.zeros(record.channels))
        self.register_buffer("running_var", torch.ones(record.channels))
        self.weight = nn.Parameter(torch.ones(record.channels)) if record.has_scale else None
        self.bias = nn.Parameter(torch.zeros(record.channels)) if record.has_bias else None

    def forward(self, x: Tensor, board: Board) -> Tensor:
        if not self.training:
            scale, shift = self.scale_and_shift()
            return torch.addcmul(_of_channels(shift).to(x.dtype), x, _of_channels(scale).to(x.dtype))
        if board.mask is None and self.combine is None:
            statistics = self.running_mean, self.running_var
            return functional.batch_norm(x, *statistics, self.weight, self.bias, True, self.momentum, self.epsilon)
        mask = torch.ones_like(x[:, :1], dtype=torch.float32) if board.mask is None else board.mask
        mean, variance = self._statistics(x.float(), mask)
        scale, shift = self._scale_and_shift(mean, variance)
        return (x * _of_channels(scale) + _of_channels(shift)).to(x.dtype)

    def scale_and_shift(self) -> tuple[Tensor, Tensor]:
        """Of each channel, with the running statistics: the norm is x * scale + shift."""
        return self._scale_and_shift(self.running_mean, self.running_var)

    def _scale_and_shift(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        scale = (variance + self.epsilon).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight
        shift = -mean * scale
        return scale, shift if self.bias is None else shift + self.bias

    def _statistics(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of each channel over the boards; the running ones follow."""
        count = mask.sum()
        mean = (x * mask).sum((0, 2, 3)) / count
        variance = ((x - _of_channels(mean)).square() * mask).sum((0, 2, 3)) / count
        if self.combine:
            count, mean, variance = self.combine(count, mean, variance)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            # As torch.nn.BatchNorm2d: the running variance is the unbiased one.
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)
        return mean, variance


def _of_channels(x: Tensor) -> Tensor:
    return x.view(1, -1, 1, 1)


class Folded(nn.Module):
    """Where a norm was that has gone into the layers beside it."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = channels

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return x


class Affine(nn.Module):
    """A batch norm whose statistics no longer change: x * scale + shift."""

    scale: Tensor
    shift: Tensor

    def __init__(self, norm: BatchNorm) -> None:
        super().__init__()
        scale, shift = norm.scale_and_shift()
        self.register_buffer("scale", _of_channels(scale))
        self.register_buffer("shift", _of_channels(shift))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return torch.addcmul(self.shift, x, self.scale)


class RMSNorm(nn.Module):
    """x / root mean square over the last axis."""

    def __init__(self, record: RMSNormRecord) -> None:
        super().__init__()
        self.epsilon = record.epsilon
        self.weight = nn.Parameter(torch.ones(record.channels))

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class TipRMSNorm(nn.Module):
    """RMS norm of [n, channels, h, w]: over the channels of each point, or `spatial`: of all points on the board."""

    def __init__(self, record: TipRMSNormRecord) -> None:
        super().__init__()
        self.epsilon, self.spatial = record.epsilon, record.spatial
        self.weight = nn.Parameter(torch.ones(record.channels))
        self.bias = nn.Parameter(torch.zeros(record.channels))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        square = x.float().square()
        mean = square.mean(1, keepdim=True)
        if self.spatial:
            mean = board.mean(board.cut(mean)).view(-1, 1, 1, 1)
        root = (mean + self.epsilon).rsqrt()
        return (x * root * _of_channels(self.weight) + _of_channels(self.bias)).to(x.dtype)


Norm = BatchNorm | Affine | Folded


class Rope(nn.Module):
    """Rotary position embedding (Su et al. 2021) in two dimensions: turns adjacent pairs of channels.

    A pair of head k at (x, y) turns by x * frequencies[k][pair][0] + y * frequencies[k][pair][1].
    """

    frequencies: Tensor

    def __init__(self, record: LearnedRopeRecord | FixedRopeRecord, query_channels: int) -> None:
        super().__init__()
        if isinstance(record, LearnedRopeRecord):
            self.frequencies = nn.Parameter(torch.zeros(record.heads, record.pairs, 2))
        else:
            self.register_buffer("frequencies", self._fixed(record.theta, query_channels // 4), persistent=False)

    @staticmethod
    def _fixed(theta: float, count: int) -> Tensor:
        powers = theta ** (-torch.arange(count, dtype=torch.float32) / count)
        zeros = torch.zeros(count)
        return torch.stack((torch.cat((zeros, powers)), torch.cat((powers, zeros))), 1).unsqueeze(0)

    def turns(self, height: int, width: int) -> tuple[Tensor, Tensor]:
        """Cosine and sine, [heads or 1, points, pairs]."""
        y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        points = torch.stack((x.flatten(), y.flatten()), 1).to(self.frequencies)
        angles = points @ self.frequencies.transpose(1, 2)
        return angles.cos(), angles.sin()


def turn(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """`x` [n, heads, points, channels], turned by angles [heads or 1, points, channels / 2]."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosine - b * sine, a * sine + b * cosine), -1).flatten(-2).to(x.dtype)
