"""Random convolutions of activations, and what torch finds for them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gtp_engine.nets.kernels.grid import Grid, aligned
from gtp_engine.nets.kernels.layers import ActivatedConv
from gtp_engine.nets.kernels.matmul import whole_lanes
from gtp_engine.nets.kernels.scalars import KINDS
from gtp_engine.nets.kernels.trunk import Run, tensor_in
from gtp_engine.nets.layers import ACTIVATION_FUNCTIONS


class Given(NamedTuple):
    """What a kernel is given: channels are filled up to whole vectors, and the scales of those that fill up are 0.

    Attributes:
        x: float32 [n, h, w, channels].
        on_board: bool [n, h, w], or None if all points are on the board.
        scale: float32 [channels].
        shift: float32 [n, channels].
        kind: The activation, one of the values of `KINDS`.
        weight: float32 [outputs, inputs, side, side], neither of them filled up.
        bias: float32 [outputs, filled up].
    """

    x: np.ndarray
    on_board: np.ndarray | None
    scale: np.ndarray
    shift: np.ndarray
    kind: int
    weight: np.ndarray
    bias: np.ndarray


# Writes the convolution to the last argument, [n, h, w, outputs], or adds it to what is there.
Convolve = Callable[[Given, bool, np.ndarray], None]


def to_array(x: Tensor) -> np.ndarray:
    """[n, channels, h, w] as [n, h, w, channels]."""
    return np.ascontiguousarray(x.permute(0, 2, 3, 1).numpy())


def to_tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array).permute(0, 3, 1, 2)


def random_mask(count: int, height: int, width: int) -> np.ndarray:
    return np.random.default_rng(1).random((count, height, width)) < 0.8


def run_once(conv: ActivatedConv, x: np.ndarray, grid: Grid, on_board: np.ndarray, out: np.ndarray, adds: bool) -> None:
    """Writes a convolution of x [n, rows, channels] to `out` [n, rows, outputs], or adds it, as networks compute it."""
    run, count = Run(conv.products), len(x)
    run.add_convolution(conv, 0, x.shape[2], 1, adds=adds, shifted=False)
    buffers = aligned((2, max(x.size, out.size)))
    result = tensor_in(buffers[1], count, grid, out.shape[2])
    tensor_in(buffers[0], count, grid, x.shape[2])[:], result[:] = x, out
    run(buffers, count, grid, on_board)
    out[:] = result


def both(
    x: Tensor,
    outputs: int,
    kind: str,
    side: int,
    on_board: np.ndarray | None,
    convolve: Convolve,
) -> tuple[Tensor, Tensor]:
    """What `convolve` finds for random weights and a shift for each image, and what torch does in float32.

    Added to what is there, that has to give the same without the bias.
    """
    count, channels, height, width = x.shape
    weight = torch.randn(outputs, channels, side, side) / (channels * side**2) ** 0.5
    scale, shift = torch.rand(channels) + 0.5, torch.randn(count, channels)
    filling, bias = whole_lanes(channels) - channels, torch.zeros(whole_lanes(outputs))
    bias[:outputs] = torch.randn(outputs)
    given = Given(
        to_array(torch.cat((x, torch.randn(count, filling, height, width)), 1)),
        on_board,
        functional.pad(scale, (0, filling)).numpy(),
        functional.pad(shift, (0, filling)).numpy(),
        KINDS[kind],
        weight.numpy(),
        bias.numpy(),
    )

    def convolved(adds: bool, out: np.ndarray) -> Tensor:
        convolve(given, adds, out)
        return to_tensor(out)[:, :outputs]

    seen = ACTIVATION_FUNCTIONS[kind](x * scale.view(-1, 1, 1) + shift.view(count, -1, 1, 1))
    if on_board is not None:
        seen = seen * torch.from_numpy(on_board)[:, None]
    expected = functional.conv2d(seen, weight, bias[:outputs], padding=side // 2)
    found = convolved(False, np.empty((count, height, width, len(bias)), np.float32))
    before = np.random.default_rng(1).normal(size=(count, height, width, len(bias))).astype(np.float32)
    more = convolved(True, before.copy()) - to_tensor(before)[:, :outputs] + bias[:outputs].view(-1, 1, 1)
    assert torch.allclose(found, more, atol=1e-5)
    return found, expected
