"""Layers of KataGo's networks, and the board that they work on.

Tensors of points are [n, channels, height, width], in channels-last memory if that is faster. A smaller board lies in
the top left corner of the tensor. Every layer is made from its description (`schema`), and holds its values as
parameters or buffers.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from .constants import IDENTITY, MIDDLE_SIDE, MISH, RELU, SIDE_SCALE, SILU
from .schema import (
    ActivationDesc,
    BatchNormDesc,
    BiasDesc,
    ConvDesc,
    FixedRopeDesc,
    LearnedRopeDesc,
    MatMulDesc,
    RMSNormDesc,
    TipRMSNormDesc,
    fixed_frequencies,
)


class Board:
    """Which points of a batch of tensors are on the board.

    Tensors are 0 off the board after `cut`, and pooling accepts only such tensors.

    Args:
        planes: The input planes [n, planes, h, w]; plane 0 is 1 on the board.
        full_board: Whether all boards fill the tensor.

    Attributes:
        mask: [n, 1, h, w], 1 on the board, or None if all boards fill the tensor.
        area: The number of points on the board, [n, 1], or one number for all.
        side: The square root of the area, centred and scaled as in KataGo, in the same form.
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
        """Returns x with 0 off the board."""
        # Under autocast tensors change their precision, so that it may differ from the mask's.
        return x if self.mask is None else x * self.mask.to(x.dtype)

    def mean(self, x: Tensor) -> Tensor:
        """Returns the mean over each board's points, [n, channels]."""
        return x.mean((2, 3)) if self.mask is None else (x.sum((2, 3)) / self.area).to(x.dtype)

    def pool(self, x: Tensor) -> Tensor:
        """Returns mean, mean scaled by the board's side, and maximum: [n, 3 * channels]."""
        mean = self.mean(x)
        # Off the board this is -1, below all values of relu, mish and silu.
        largest = x.amax((2, 3)) if self.mask is None else (x + (self.mask - 1).to(x.dtype)).amax((2, 3))
        return torch.cat((mean, self._scaled(mean, self.side), largest), 1)

    def value_pool(self, x: Tensor) -> Tensor:
        """Returns mean, mean scaled by the board's side, and by its square less 0.1: [n, 3 * channels]."""
        mean = self.mean(x)
        return torch.cat((mean, self._scaled(mean, self.side), self._scaled(mean, self.side**2 - 0.1)), 1)

    @staticmethod
    def _scaled(mean: Tensor, factor: Tensor | float) -> Tensor:
        return (mean * factor).to(mean.dtype)


class Conv(nn.Module):
    """A convolution that keeps the board's size; it has a bias only after a norm was folded into it."""

    bias: nn.Parameter | None

    def __init__(self, desc: ConvDesc) -> None:
        super().__init__()
        self.dilation = (desc.dilation_y, desc.dilation_x)
        self.padding = (desc.height // 2 * desc.dilation_y, desc.width // 2 * desc.dilation_x)
        self.weight = nn.Parameter(torch.zeros(desc.out_channels, desc.in_channels, desc.height, desc.width))
        self.register_parameter("bias", None)

    def forward(self, x: Tensor) -> Tensor:
        return functional.conv2d(x, self.weight, self.bias, padding=self.padding, dilation=self.dilation)


class MatMul(nn.Module):
    """x @ weight.T over the last axis, in the weight's precision."""

    def __init__(self, desc: MatMulDesc) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(desc.out_channels, desc.in_channels))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x.to(self.weight.dtype), self.weight)


class Bias(nn.Module):
    """x + bias."""

    def __init__(self, desc: BiasDesc) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(desc.channels))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.bias


ACTIVATION_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    IDENTITY: lambda x: x,
    RELU: functional.relu,
    MISH: functional.mish,
    SILU: functional.silu,
}


class Activation(nn.Module):
    """One of `ACTIVATION_FUNCTIONS`."""

    def __init__(self, desc: ActivationDesc) -> None:
        super().__init__()
        self.kind = desc.kind

    def forward(self, x: Tensor) -> Tensor:
        return ACTIVATION_FUNCTIONS[self.kind](x)


class BatchNorm(nn.Module):
    """Batch normalisation with the statistics of the points on the board; a constant one always has the running ones.

    Attributes:
        momentum: The weight of a batch in the running statistics, which so follow the last few hundred batches.
        combine: If several processes share a batch, computes its count, mean and variance from those of their parts.
    """

    momentum: float = 0.01
    combine: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]] | None = None
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, desc: BatchNormDesc) -> None:
        super().__init__()
        self.epsilon = desc.epsilon
        self.constant = desc.constant
        self.register_buffer("running_mean", torch.zeros(desc.channels))
        self.register_buffer("running_var", torch.ones(desc.channels))
        self.weight = nn.Parameter(torch.ones(desc.channels)) if desc.has_scale else None
        self.bias = nn.Parameter(torch.zeros(desc.channels)) if desc.has_bias else None

    def forward(self, x: Tensor, board: Board) -> Tensor:
        if self.constant or not self.training:
            scale, shift = self._scale_and_shift(self.running_mean, self.running_var)
            return torch.addcmul(_per_channel(shift).to(x.dtype), x, _per_channel(scale).to(x.dtype))
        if board.mask is None and self.combine is None:
            statistics = self.running_mean, self.running_var
            return functional.batch_norm(x, *statistics, self.weight, self.bias, True, self.momentum, self.epsilon)
        mask = torch.ones_like(x[:, :1]) if board.mask is None else board.mask.to(x.dtype)
        scale, shift = self._scale_and_shift(*self._statistics(x, mask))
        # As a norm with known statistics, since that is one fused operation, forwards and backwards.
        zero, one = torch.zeros_like(self.running_mean), torch.ones_like(self.running_var)
        return functional.batch_norm(x, zero, one, scale, shift, eps=0.0)

    def _scale_and_shift(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """Returns scale and shift of each channel by these statistics: the norm is x * scale + shift."""
        scale = (variance + self.epsilon).rsqrt()
        if self.weight is not None:
            scale = scale * self.weight
        shift = -mean * scale
        return scale, shift if self.bias is None else shift + self.bias

    def _statistics(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Returns mean and variance of each channel over the boards, and updates the running ones."""
        count, mean, variance = _Moments.apply(x, mask)
        if self.combine:
            count, mean, variance = self.combine(count, mean, variance)
        with torch.no_grad():
            self.running_mean.lerp_(mean, self.momentum)
            # As in torch.nn.BatchNorm2d, the running variance is the unbiased one.
            self.running_var.lerp_(variance * (count / (count - 1)), self.momentum)
        return mean, variance


class _Moments(torch.autograd.Function):
    """Count, mean and variance of x over the points of a mask, [1] and [channels] each, in float32.

    Written out with operations on whole tensors they take more time than all convolutions of a small network.
    """

    @staticmethod
    def forward(context: Any, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        everywhere, squares = _tensor_moments(x * mask)
        count = mask.sum(dtype=torch.float32)
        points = x.numel() / x.shape[1] / count  # of the tensor, for each one on the boards
        mean = everywhere * points
        # The variance over the whole tensor, which is 0 off the boards, says what the mean square is.
        variance = (squares + everywhere.square()) * points - mean.square()
        context.save_for_backward(x, mask, count, mean)
        context.mark_non_differentiable(count)
        return count, mean, variance.clamp_min(0)

    @staticmethod
    @once_differentiable
    def backward(context: Any, _: Tensor, of_mean: Tensor, of_variance: Tensor) -> tuple[Tensor, None]:
        x, mask, count, mean = context.saved_tensors
        slope = 2 * of_variance / count
        level = of_mean / count - slope * mean
        return torch.addcmul(_per_channel(level).to(x.dtype), x, _per_channel(slope).to(x.dtype)) * mask, None


def _per_channel(x: Tensor) -> Tensor:
    """Returns [channels] in a form that applies to [n, channels, h, w]."""
    return x.view(1, -1, 1, 1)


def _tensor_moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """Returns mean and variance of each channel over a whole tensor, in float32."""
    if x.device.type not in ("cpu", "cuda"):  # torch has the fused operation for these only
        variance, mean = torch.var_mean(x.float(), (0, 2, 3), correction=0)
        return mean, variance
    zero = torch.zeros(x.shape[1], device=x.device)
    mean, variance = torch.batch_norm_update_stats(x, zero, zero.clone(), 0.0)
    return mean, variance


class Folded(nn.Module):
    """The place of a norm that was folded into an adjacent layer: an identity."""

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return x


class Affine(nn.Module):
    """A batch norm with constant statistics: x * scale + shift, [channels] each."""

    scale: Tensor
    shift: Tensor

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.ones(channels))
        self.register_buffer("shift", torch.zeros(channels))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return torch.addcmul(_per_channel(self.shift), x, _per_channel(self.scale))


class RMSNorm(nn.RMSNorm):
    """x / root mean square over the last axis, times a weight (Zhang and Sennrich 2019)."""

    def __init__(self, desc: RMSNormDesc) -> None:
        super().__init__(desc.channels, desc.epsilon)


class TipRMSNorm(nn.Module):
    """RMS norm of [n, channels, h, w], over the channels of each point or, if `spatial`, of all points on the board."""

    def __init__(self, desc: TipRMSNormDesc) -> None:
        super().__init__()
        self.epsilon, self.spatial = desc.epsilon, desc.spatial
        self.weight = nn.Parameter(torch.ones(desc.channels))
        self.bias = nn.Parameter(torch.zeros(desc.channels))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        square = x.float().square()
        mean = square.mean(1, keepdim=True)
        if self.spatial:
            mean = board.mean(board.cut(mean)).view(-1, 1, 1, 1)
        root = (mean + self.epsilon).rsqrt()
        return (x * root * _per_channel(self.weight) + _per_channel(self.bias)).to(x.dtype)


class Rope(nn.Module):
    """Rotary position embedding (Su et al. 2021) in two dimensions: rotates adjacent pairs of channels.

    A pair of head k at (x, y) is rotated by x * frequencies[k][pair][0] + y * frequencies[k][pair][1].
    """

    frequencies: Tensor

    def __init__(self, desc: LearnedRopeDesc | FixedRopeDesc, query_channels: int) -> None:
        super().__init__()
        if isinstance(desc, LearnedRopeDesc):
            self.frequencies = nn.Parameter(torch.zeros(desc.heads, desc.pairs, 2))
        else:
            frequencies = torch.from_numpy(fixed_frequencies(desc.theta, query_channels))
            self.register_buffer("frequencies", frequencies, persistent=False)

    def cosine_and_sine(self, height: int, width: int) -> tuple[Tensor, Tensor]:
        """Returns cosine and sine of the angles on a board: [heads or 1, points, pairs]."""
        # Made on the device: a copy from the CPU would wait for it in every block.
        columns, rows = (torch.arange(count, device=self.frequencies.device) for count in (width, height))
        y, x = torch.meshgrid(rows, columns, indexing="ij")
        points = torch.stack((x.flatten(), y.flatten()), 1).to(self.frequencies.dtype)
        angles = points @ self.frequencies.transpose(1, 2)
        return angles.cos(), angles.sin()


def rotate_pairs(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rotates x [n, heads, points, channels] by angles [heads or 1, points, channels / 2]."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosine - b * sine, a * sine + b * cosine), -1).flatten(-2).to(x.dtype)
