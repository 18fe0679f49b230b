"""Convolutions of 8-bit integers, in vectors and in the tiles of AMX."""

import numpy as np
import pytest
import torch
from compiled import Products, needs_bfloat16, needs_int8, needs_tiles
from convolutions import random_mask, run_once, to_array, to_tensor

from gtp_engine.nets.config import parse_config
from gtp_engine.nets.kernels.convolution import convolve_1x1
from gtp_engine.nets.kernels.grid import Grid
from gtp_engine.nets.kernels.integers import convolve_integers
from gtp_engine.nets.kernels.layers import ActivatedConv, Activation, Conv
from gtp_engine.nets.kernels.llvm import HAS_BFLOAT16, HAS_TILES
from gtp_engine.nets.kernels.matmul import BFLOAT16, FLOAT32, TILES
from gtp_engine.nets.kernels.network import CompiledNetwork
from gtp_engine.nets.kernels.scalars import IDENTITY_KIND
from gtp_engine.nets.model import Model
from gtp_engine.nets.quantisation import ALL_KINDS, Loss, Positions, Quantised, quantise

# How the products beside those of integers are computed. All kernels of a network are compiled for each way: those of
# the ways that this processor would not choose are slow tests.
BEST = TILES if HAS_TILES else BFLOAT16 if HAS_BFLOAT16 else FLOAT32
WAYS = [
    (FLOAT32, "float32", [needs_int8]),
    (BFLOAT16, "bfloat16", [needs_int8, needs_bfloat16]),
    (TILES, "tiles", [needs_tiles]),
]


@pytest.mark.parametrize("products", [pytest.param(way, id=name, marks=marks) for way, name, marks in WAYS])
@pytest.mark.parametrize("side", [1, 3])
@pytest.mark.parametrize(
    ("size", "channels", "outputs"), [((1, 1), 16, 16), ((9, 9), 96, 64), ((2, 19), 64, 80), ((19, 19), 192, 48)]
)
def test_integers_are_multiplied_exactly(
    products: Products, side: int, size: tuple[int, int], channels: int, outputs: int
) -> None:
    """All values are whole numbers here, below and above what the encoding can express, and so are the results."""
    choice, grid = np.random.default_rng(1), Grid.of(*size, products == TILES)
    x = choice.integers(-70, 250, (3, *size, channels)).astype(np.float32)
    weight = choice.integers(-127, 128, (outputs, channels, side, side)).astype(np.float32)
    on_board = random_mask(3, *size)
    least, largest = -55, 200
    if side == 1 and products != TILES:  # each row has a scale: of 1, if this is its largest value
        least, largest = -127, 127
        x[..., 0], x = -127, np.clip(x, least, largest)
    expressed = np.clip(x, least, largest) * on_board[..., None]
    bias, ones = choice.integers(-9, 9, outputs).astype(np.float32), np.ones(channels, np.float32)
    conv = ActivatedConv(
        Activation(IDENTITY_KIND, ones, 0 * ones),
        [Conv(weight, bias, np.ones(outputs, np.float32), np.array([least, largest], np.float32))],
        products,
    )
    rows = np.full((3, grid.rows, channels), np.nan, np.float32)
    grid.points(rows)[:] = x
    out = np.empty((3, grid.rows, len(conv.bias)), np.float32)
    if products == TILES:
        run_once(conv, rows, grid, grid.mask(on_board, 3), out, False)
    else:
        convolve = convolve_1x1 if side == 1 else convolve_integers
        convolve(rows, grid.mask(on_board, 3), grid, *conv.operands(grid), False, out)
    found = grid.points(out)[..., :outputs]
    given, kernel = to_tensor(expressed).double(), torch.from_numpy(weight).double()
    expected = torch.conv2d(given, kernel, torch.from_numpy(bias).double(), padding=side // 2)
    # Sums are exact; as float32 they are rounded with the products of the encoded 0 in them.
    assert np.abs(found - to_array(expected)).max() <= 2**-24 * 255 * 127 * channels * side**2


@pytest.mark.parametrize(
    "products",
    [
        pytest.param(way, id=name, marks=marks if way == BEST else [*marks, pytest.mark.slow])
        for way, name, marks in WAYS
    ],
)
@pytest.mark.parametrize("chosen", [(0, 1), (1, 0)], ids=["even blocks", "odd blocks"])
def test_blocks_of_integers_beside_others_are_computed_board_by_board(
    products: Products, chosen: tuple[int, int]
) -> None:
    """Also boards smaller than the tensor: nothing depends on the batch, nor on what the tensor has around a board."""
    torch.manual_seed(1)
    stored = Model(parse_config("b4c128")).initialise().eval().stored()
    choice = np.random.default_rng(1)
    planes, scalars = (choice.random((5, 9, 9, 22)) < 0.2).astype(np.uint8), choice.random((5, 19)).astype(np.float32)
    planes[..., 0] = 1
    planes[1::2, 6:], planes[1::2, :, 7:] = 0, 0
    layers = quantise(stored, [Positions(planes[::2], scalars[::2])], ALL_KINDS)
    part = {path: layer for path, layer in layers.items() if chosen[int(path.split(".")[2]) % 2] == 0}
    rounded = CompiledNetwork(stored, products, Quantised(part, Loss(0, 0)).values(ALL_KINDS))
    found, exact = rounded(planes, scalars), CompiledNetwork(stored, products)(planes, scalars)
    assert np.abs(found.value - exact.value).max() < 0.1 and not np.array_equal(found.value, exact.value)
    for index in range(5):
        alone = rounded(planes[index : index + 1], scalars[index : index + 1])
        assert all(np.array_equal(one[0], all_of[index]) for one, all_of in zip(alone, found, strict=True))
    small = rounded(np.ascontiguousarray(planes[1:2, :6, :7]), scalars[1:2])
    # Winograd's tiles, beside the integers, have other sides on other boards.
    tolerance = 0 if products == TILES else 0.02
    for one, other in ((small.value[0], found.value[1]), (small.scores[0], found.scores[1])):
        assert np.abs(one - other).max() <= tolerance
