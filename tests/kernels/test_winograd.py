"""Compiled convolutions compared with torch's."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from compiled import needs_bfloat16, needs_kernels
from torch import Tensor
from torch.nn import functional

from gtp_engine.nets.kernels.matmul import convolve_1x1, convolve_im2col, matmul, pack_matrix, to_bfloat16
from gtp_engine.nets.kernels.scalars import KINDS
from gtp_engine.nets.kernels.tiles import WINOGRAD_MATRICES
from gtp_engine.nets.kernels.winograd import best_tile_side, convolve_3x3, pack_kernel
from gtp_engine.nets.layers import ACTIVATION_FUNCTIONS
from gtp_engine.nets.schema import IDENTITY, MISH, RELU, SILU


@pytest.mark.parametrize("side", [3, 4])
def test_matrices_give_exact_convolutions(side: int) -> None:
    output, weights, tile = (np.array(matrix, dtype=object) for matrix in WINOGRAD_MATRICES[side])
    kernel = np.array([Fraction(3), Fraction(-5), Fraction(7)])
    line = np.array([Fraction(number * number - 4) for number in range(side + 2)])
    expected = [kernel @ line[place : place + 3] for place in range(side)]
    assert list(output @ ((weights @ kernel) * (tile @ line))) == expected


def test_tiles_that_fit_a_board_are_taken() -> None:
    assert [best_tile_side(size, size) for size in (9, 13, 19)] == [3, 4, 4]


MASKS = {"full": np.zeros((0, 1, 1), np.bool_), "ragged": np.random.default_rng(1).random((5, 19, 19)) < 0.8}


@needs_kernels
@pytest.mark.parametrize("side", [1, *WINOGRAD_MATRICES])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    ("size", "channels", "outputs"), [((1, 1), 16, 16), ((9, 9), 30, 96), ((7, 13), 48, 128), ((2, 19), 64, 70)]
)
def test_convolutions_are_torchs(
    side: int, kind: str, mask: str, size: tuple[int, int], channels: int, outputs: int
) -> None:
    torch.manual_seed(1)
    x = torch.randn(5, channels, *size)
    found, expected = both(x, outputs, kind, side, MASKS[mask], False)
    assert torch.allclose(found, expected, atol=2e-5)


@needs_kernels
@needs_bfloat16
@pytest.mark.parametrize("side", [1, *WINOGRAD_MATRICES])
@pytest.mark.parametrize("kind", [IDENTITY, RELU, MISH, SILU])
def test_convolutions_of_bfloat16_are_near(side: int, kind: str) -> None:
    torch.manual_seed(1)
    found, expected = both(torch.randn(3, 64, 19, 19), 96, kind, side, MASKS["full"], True)
    # Transforms multiply bfloat16's error of 2^-9.
    assert (found - expected).std() < 0.015 * expected.std()


@needs_kernels
@pytest.mark.parametrize("side", [1, 3, 5])
def test_convolutions_of_windows_are_torchs(side: int) -> None:
    torch.manual_seed(1)
    x, weight, start = torch.randint(0, 2, (3, 22, 9, 11)), torch.randn(48, 22, side, side), torch.randn(3, 48)
    out = np.empty((3, 9, 11, 48), np.float32)
    windows = weight.permute(0, 2, 3, 1).flatten(1).numpy()
    convolve_im2col(to_array(x.to(torch.uint8)), pack_matrix(windows, False), side, start.numpy(), out)
    expected = functional.conv2d(x.float(), weight, padding=side // 2) + start[:, :, None, None]
    assert torch.allclose(to_tensor(out), expected, atol=1e-4)


@needs_kernels
@pytest.mark.parametrize("half", [False, pytest.param(True, marks=needs_bfloat16)])
@pytest.mark.parametrize("outputs", [16, 48, 64, 80, 208])
def test_products_are_numpys(outputs: int, half: bool) -> None:
    """Of numbers that both precisions hold, so that sums are exact."""
    choice = np.random.default_rng(1)
    left, weight = (choice.integers(-8, 8, shape).astype(np.float32) for shape in ((37, 46), (outputs, 46)))
    padded = np.zeros((37, 48), np.float32)
    padded[:, :46] = left
    start = choice.integers(-8, 8, (1, outputs)).astype(np.float32)
    out = np.full((37, outputs + 16), 7, np.float32)
    matmul(to_bfloat16(padded) if half else padded, 35, pack_matrix(weight, half), start, out)
    assert (out[:35, :outputs] == left[:35] @ weight.T + start).all()
    assert (out[35:] == 7).all() and (out[:, outputs:] == 7).all()


def to_array(x: Tensor) -> np.ndarray:
    """[n, channels, h, w] as [n, h, w, channels]."""
    return np.ascontiguousarray(x.permute(0, 2, 3, 1).numpy())


def to_tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array).permute(0, 3, 1, 2)


def both(x: Tensor, outputs: int, kind: str, side: int, mask: np.ndarray, half: bool) -> tuple[Tensor, Tensor]:
    """What we find for random weights and a shift for each image, and what torch does in float32. Side 1: a 1x1 kernel.

    Adding it to what is there has to give the same, without the bias.
    """
    count, channels, height, width = x.shape
    on_board = np.ascontiguousarray(mask[:count, :height, :width])
    kernel = 1 if side == 1 else 3
    weight = torch.randn(outputs, channels, kernel, kernel) / (channels * kernel**2) ** 0.5
    scale, shift, bias = torch.rand(channels) + 0.5, torch.randn(count, channels), torch.zeros(-(-outputs // 16) * 16)
    bias[:outputs] = torch.randn(outputs)
    given = to_array(x), on_board, scale.numpy(), shift.numpy(), KINDS[kind]

    def convolved(adds: bool, out: np.ndarray) -> Tensor:
        if side == 1:
            convolve_1x1(*given, pack_matrix(weight[:, :, 0, 0].numpy(), half), bias.numpy(), adds, out)
        else:
            convolve_3x3(*given, side, pack_kernel(weight.numpy(), side, half), bias.numpy(), adds, out)
        return to_tensor(out)[:, :outputs]

    seen = ACTIVATION_FUNCTIONS[kind](x * scale.view(-1, 1, 1) + shift.view(count, -1, 1, 1))
    if len(on_board):
        seen = seen * torch.from_numpy(on_board)[:, None]
    expected = functional.conv2d(seen, weight, bias[:outputs], padding=kernel // 2)
    found = convolved(False, np.empty((count, height, width, len(bias)), np.float32))
    before = np.random.default_rng(1).normal(size=(count, height, width, len(bias))).astype(np.float32)
    more = convolved(True, before.copy()) - to_tensor(before)[:, :outputs] + bias[:outputs].view(-1, 1, 1)
    assert torch.allclose(found, more, atol=1e-5)
    return found, expected
