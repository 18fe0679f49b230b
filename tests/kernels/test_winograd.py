"""Compiled convolutions compared with torch's."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from compiled import Products, needs_bfloat16, needs_kernels
from convolutions import Given, both, random_mask, to_array, to_tensor
from torch.nn import functional

from gtp_engine.nets.constants import IDENTITY, MISH, RELU, SILU
from gtp_engine.nets.kernels.convolution import Kernel, convolve_1x1, convolve_im2col
from gtp_engine.nets.kernels.grid import EVERY_ROW, Grid
from gtp_engine.nets.kernels.matmul import (
    BFLOAT16,
    FLOAT32,
    matmul,
    pack_matrix,
    to_bfloat16,
)
from gtp_engine.nets.kernels.passes import NO_ENCODING, Before
from gtp_engine.nets.kernels.scalars import KINDS
from gtp_engine.nets.kernels.winograd import best_tile_side, convolve_3x3, pack_kernel
from gtp_engine.nets.kernels.winograd_tiles import WINOGRAD_MATRICES


@pytest.mark.parametrize("side", [3, 4])
def test_matrices_give_exact_convolutions(side: int) -> None:
    output, weights, tile = (np.array(matrix, dtype=object) for matrix in WINOGRAD_MATRICES[side])
    kernel = np.array([Fraction(3), Fraction(-5), Fraction(7)])
    line = np.array([Fraction(number * number - 4) for number in range(side + 2)])
    expected = [kernel @ line[place : place + 3] for place in range(side)]
    assert list(output @ ((weights @ kernel) * (tile @ line))) == expected


def test_tiles_that_fit_a_board_are_taken() -> None:
    assert [best_tile_side(size, size) for size in (9, 13, 19)] == [3, 4, 4]


@needs_kernels
@pytest.mark.parametrize("side", [1, *WINOGRAD_MATRICES])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("size", "channels", "outputs"), [((1, 1), 16, 16), ((9, 9), 30, 96), ((7, 13), 48, 128), ((2, 19), 64, 70)]
)
def test_convolutions_are_torchs(
    side: int, kind: str, masked: bool, size: tuple[int, int], channels: int, outputs: int
) -> None:
    torch.manual_seed(1)
    on_board = random_mask(5, *size) if masked else None
    way = partial(convolve, side, FLOAT32)
    found, expected = both(torch.randn(5, channels, *size), outputs, kind, kernel_side(side), on_board, way)
    assert torch.allclose(found, expected, atol=2e-5)


@needs_kernels
@needs_bfloat16
@pytest.mark.parametrize("side", [1, *WINOGRAD_MATRICES])
@pytest.mark.parametrize("kind", [IDENTITY, RELU, MISH, SILU])
def test_convolutions_of_bfloat16_are_near(side: int, kind: str) -> None:
    torch.manual_seed(1)
    way = partial(convolve, side, BFLOAT16)
    found, expected = both(torch.randn(3, 64, 19, 19), 96, kind, kernel_side(side), None, way)
    # Transforms multiply bfloat16's error of 2^-9.
    assert (found - expected).std() < 0.015 * expected.std()


@needs_kernels
@pytest.mark.parametrize("side", [1, 3, 5])
def test_convolutions_of_windows_are_torchs(side: int) -> None:
    torch.manual_seed(1)
    x, weight, start = torch.randint(0, 2, (3, 22, 9, 11)), torch.randn(48, 22, side, side), torch.randn(3, 48)
    out = np.empty((3, 9 * 11, 48), np.float32)
    windows = weight.permute(0, 2, 3, 1).flatten(1).numpy()
    convolve_im2col(to_array(x.to(torch.uint8)), pack_matrix(windows, FLOAT32), side, start.numpy(), out)
    expected = functional.conv2d(x.float(), weight, padding=side // 2) + start[:, :, None, None]
    assert torch.allclose(to_tensor(out.reshape(3, 9, 11, 48)), expected, atol=1e-4)


@needs_kernels
@pytest.mark.parametrize("products", [FLOAT32, pytest.param(BFLOAT16, marks=needs_bfloat16)])
@pytest.mark.parametrize("outputs", [16, 48, 64, 80, 208])
def test_products_are_numpys(outputs: int, products: Products) -> None:
    """Of numbers that both precisions hold, so that sums are exact."""
    choice = np.random.default_rng(1)
    left, weight = (choice.integers(-8, 8, shape).astype(np.float32) for shape in ((37, 46), (outputs, 46)))
    padded = np.zeros((37, 48), np.float32)
    padded[:, :46] = left
    start = choice.integers(-8, 8, (1, outputs)).astype(np.float32)
    out = np.full((37, outputs + 16), 7, np.float32)
    given = padded if products == FLOAT32 else to_bfloat16(padded)
    matmul(given, 35, pack_matrix(weight, products), start, out)
    assert (out[:35, :outputs] == left[:35] @ weight.T + start).all()
    assert (out[35:] == 7).all() and (out[:, outputs:] == 7).all()


def kernel_side(side: int) -> int:
    """Side 1 stands for a 1x1 kernel, and others are those of the tiles of a 3x3 one."""
    return 1 if side == 1 else 3


def convolve(side: int, products: Products, given: Given, adds: bool, out: np.ndarray) -> None:
    """See `kernel_side`."""
    count, height, width, _ = given.x.shape
    on_board = EVERY_ROW if given.on_board is None else given.on_board.reshape(count, -1)
    x, target = given.x.reshape(count, height * width, -1), out.reshape(count, height * width, -1)
    before = Before(given.kind, given.scale, given.shift, NO_ENCODING)
    grid = Grid.of(height, width, False)
    if side == 1:
        kernel = Kernel(pack_matrix(given.weight[:, :, 0, 0], products)[:, None], given.bias, given.bias)
        convolve_1x1(x, on_board, grid, before, kernel, adds, target)
    else:
        kernel = Kernel(pack_kernel(given.weight, side, products), given.bias, given.bias)
        convolve_3x3(x, on_board, grid, before, kernel, adds, target)
