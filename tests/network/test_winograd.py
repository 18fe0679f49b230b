"""Compiled convolutions beside torch's."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

pytest.importorskip("numba")

from gtp_engine.compiled import config
from gtp_engine.network.fused import KINDS, numbers_of
from gtp_engine.network.layers import ACTIVATION_FUNCTIONS
from gtp_engine.network.records import IDENTITY, MISH, RELU, SILU
from gtp_engine.network.vectors import HAS_BFLOAT16, HAS_FLOAT32, MATRICES
from gtp_engine.network.winograd import best_side, convolve, packed

compiled = pytest.mark.skipif(
    config.DISABLE_JIT or not HAS_FLOAT32, reason="the vectors of this processor are not used, or code is not compiled"
)


@pytest.mark.parametrize("side", MATRICES)
def test_matrices_give_exact_convolutions(side: int) -> None:
    output, weights, tile = (np.array(matrix, dtype=object) for matrix in MATRICES[side])
    kernel = np.array([Fraction(3), Fraction(-5), Fraction(7)])
    line = np.array([Fraction(number * number - 4) for number in range(side + 2)])
    expected = [kernel @ line[place : place + 3] for place in range(side)]
    assert list(output @ ((weights @ kernel) * (tile @ line))) == expected


def test_tiles_that_fit_a_board_are_taken() -> None:
    assert [best_side(size, size) for size in (9, 13, 19)] == [3, 4, 4]


@compiled
@pytest.mark.parametrize("side", MATRICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("size", "channels", "outputs"), [((1, 1), 16, 16), ((9, 9), 32, 96), ((7, 13), 48, 128), ((2, 19), 64, 80)]
)
def test_convolutions_are_torchs(side: int, kind: str, size: tuple[int, int], channels: int, outputs: int) -> None:
    torch.manual_seed(1)
    x, added = torch.randn(5, channels, *size), torch.randn(5, outputs, *size)
    found, expected = both(x, added, kind, side)
    assert torch.allclose(found, expected, atol=2e-5)
    found, expected = both(x, None, kind, side)
    assert torch.allclose(found, expected, atol=2e-5)


@compiled
@pytest.mark.skipif(not HAS_BFLOAT16, reason="this processor multiplies no bfloat16")
@pytest.mark.parametrize("side", MATRICES)
@pytest.mark.parametrize("kind", [IDENTITY, RELU, MISH, SILU])
def test_convolutions_of_bfloat16_are_near(side: int, kind: str) -> None:
    torch.manual_seed(1)
    found, expected = both(torch.randn(3, 64, 19, 19).bfloat16(), torch.randn(3, 96, 19, 19).bfloat16(), kind, side)
    # Transforms multiply bfloat16's error of 2^-9 about fivefold.
    assert (found - expected).std() < 0.02 * expected.std()


def both(x: Tensor, added: Tensor | None, kind: str, side: int) -> tuple[Tensor, Tensor]:
    """What we find for random weights, and what torch does in float32; `x` and `added` of one dtype."""
    outputs = added.shape[1] if added is not None else 32
    channels = x.shape[1]
    weight = torch.randn(outputs, channels, 3, 3) / channels**0.5
    scale, shift, bias = torch.rand(channels) + 0.5, torch.randn(channels), torch.randn(outputs)
    out = torch.empty(len(x), *x.shape[2:], outputs, dtype=x.dtype).permute(0, 3, 1, 2)
    numbers = numbers_of(out)
    convolve(
        numbers_of(x),
        scale.numpy(),
        shift.numpy(),
        KINDS[kind],
        side,
        packed(weight, side, x.dtype == torch.bfloat16),
        bias.numpy(),
        numbers[:0] if added is None else numbers_of(added),
        numbers,
    )
    seen = ACTIVATION_FUNCTIONS[kind](x.float() * scale.view(-1, 1, 1) + shift.view(-1, 1, 1))
    expected = functional.conv2d(seen, weight, bias, padding=1)
    return out.float(), expected if added is None else expected + added.float()
