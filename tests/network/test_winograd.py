"""Compiled convolutions beside torch's."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

pytest.importorskip("numba")

from gtp_engine.compiled import config
from gtp_engine.network.fused import KINDS, numbers_of, tensor_of
from gtp_engine.network.layers import ACTIVATION_FUNCTIONS
from gtp_engine.network.records import IDENTITY, MISH, RELU, SILU
from gtp_engine.network.vectors import HAS_BFLOAT16, HAS_FLOAT32, MATRICES
from gtp_engine.network.winograd import best_side, convolve, packed

compiled = pytest.mark.skipif(
    config.DISABLE_JIT or not HAS_FLOAT32, reason="the vectors of this processor are not used, or code is not compiled"
)


@pytest.mark.parametrize("side", [3, 4])
def test_matrices_give_exact_convolutions(side: int) -> None:
    output, weights, tile = (np.array(matrix, dtype=object) for matrix in MATRICES[side])
    kernel = np.array([Fraction(3), Fraction(-5), Fraction(7)])
    line = np.array([Fraction(number * number - 4) for number in range(side + 2)])
    expected = [kernel @ line[place : place + 3] for place in range(side)]
    assert list(output @ ((weights @ kernel) * (tile @ line))) == expected


def test_tiles_that_fit_a_board_are_taken() -> None:
    assert [best_side(size, size) for size in (9, 13, 19)] == [3, 4, 4]


MASKS = {"full": np.zeros((0, 1, 1), np.bool_), "ragged": np.random.default_rng(1).random((5, 19, 19)) < 0.8}


@compiled
@pytest.mark.parametrize("side", MATRICES)
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
    found, expected = both(x, outputs, kind, side, MASKS[mask], torch.float32)
    assert torch.allclose(found, expected, atol=2e-5)


@compiled
@pytest.mark.skipif(not HAS_BFLOAT16, reason="this processor multiplies no bfloat16")
@pytest.mark.parametrize("side", MATRICES)
@pytest.mark.parametrize("kind", [IDENTITY, RELU, MISH, SILU])
def test_convolutions_of_bfloat16_are_near(side: int, kind: str) -> None:
    torch.manual_seed(1)
    found, expected = both(torch.randn(3, 64, 19, 19), 96, kind, side, MASKS["full"], torch.bfloat16)
    # Transforms multiply bfloat16's error of 2^-9.
    assert (found - expected).std() < 0.015 * expected.std()


def both(x: Tensor, outputs: int, kind: str, side: int, mask: np.ndarray, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """What we find for random weights, a shift for each image and something added, and what torch does in float32."""
    count, channels, height, width = x.shape
    on_board = np.ascontiguousarray(mask[:count, :height, :width])
    kernel = 1 if side == 1 else 3
    weight = torch.randn(outputs, channels, kernel, kernel) / (channels * kernel**2) ** 0.5
    scale, shift, bias = torch.rand(channels) + 0.5, torch.randn(count, channels), torch.zeros(-(-outputs // 16) * 16)
    bias[:outputs] = torch.randn(outputs)
    x = x.to(dtype)
    weights = packed(weight, side, dtype == torch.bfloat16)
    added = torch.randn(count, len(bias), height, width).to(dtype)
    out = np.empty_like(numbers_of(added))
    given = numbers_of(x), on_board, scale.numpy(), shift.numpy(), KINDS[kind], side, weights, bias.numpy()
    convolve(*given, numbers_of(added), out)
    seen = ACTIVATION_FUNCTIONS[kind](x.float() * scale.view(-1, 1, 1) + shift.view(count, -1, 1, 1))
    if len(on_board):
        seen = seen * torch.from_numpy(on_board)[:, None]
    expected = functional.conv2d(seen, weight, bias[:outputs], padding=kernel // 2)
    with_nothing = np.empty_like(out)
    convolve(*given, out[:0], with_nothing)
    assert torch.allclose(tensor_of(out).float(), tensor_of(with_nothing).float() + added.float(), rtol=0.02, atol=0.02)
    return tensor_of(out)[:, :outputs].float(), expected + added[:, :outputs].float()
