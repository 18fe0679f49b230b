"""Compiled transformer blocks compared with torch's."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from compiled import needs_bfloat16, needs_int8, needs_kernels, needs_tiles
from torch import nn

from gtp_engine.nets.blocks import AttentionBlock, FeedForwardBlock
from gtp_engine.nets.kernels.grid import Grid
from gtp_engine.nets.kernels.layers import Values
from gtp_engine.nets.kernels.matmul import BFLOAT16, FLOAT32, TILES
from gtp_engine.nets.kernels.transformer import Attention, FeedForward
from gtp_engine.nets.layers import Board
from gtp_engine.nets.schema import (
    AttentionBlockDesc,
    FeedForwardBlockDesc,
    FixedRopeDesc,
    LearnedRopeDesc,
    MatMulDesc,
    RMSNormDesc,
)

pytestmark = needs_kernels
# How far from torch, relative to what a block adds: bfloat16 has 8 bits, and 8-bit integers 7 for all values of a row.
PRECISIONS = [
    pytest.param("float32", 3e-6),
    pytest.param("bfloat16", 1e-2, marks=needs_bfloat16),
    pytest.param("tiles", 1e-2, marks=needs_tiles),
    pytest.param("int8", 2e-2, marks=needs_int8),
    pytest.param("int8 and bfloat16", 3e-2, marks=[needs_int8, needs_bfloat16]),
    pytest.param("int8 and tiles", 3e-2, marks=[needs_int8, needs_tiles]),
]
CHANNELS = 32


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("full_board", [True, False])
@pytest.mark.parametrize(("heads", "kv_heads", "width", "value_width"), [(2, 2, 32, 32), (4, 2, 8, 20), (3, 1, 36, 4)])
@pytest.mark.parametrize("rope", ["none", "fixed", "learned"])
def test_attention_is_torchs(
    rope: str,
    heads: int,
    kv_heads: int,
    width: int,
    value_width: int,
    full_board: bool,
    precision: str,
    tolerance: float,
) -> None:
    record = AttentionBlockDesc(
        name="a",
        heads=heads,
        kv_heads=kv_heads,
        query_channels=width,
        value_channels=value_width,
        use_rope=rope != "none",
        learnable_rope=rope == "learned",
        norm=RMSNormDesc("n", CHANNELS, 1e-6),
        query=MatMulDesc("q", CHANNELS, heads * width),
        key=MatMulDesc("k", CHANNELS, kv_heads * width),
        value=MatMulDesc("v", CHANNELS, kv_heads * value_width),
        out=MatMulDesc("o", heads * value_width, CHANNELS),
        rope={
            "none": None,
            "fixed": FixedRopeDesc("t", 100.0),
            "learned": LearnedRopeDesc("r", kv_heads, width // 2),
        }[rope],
    )
    check(AttentionBlock(record), record, Attention, full_board, precision, tolerance)


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("full_board", [True, False])
@pytest.mark.parametrize("hidden", [64, 40, 80, 160])  # the last two end with a group of fewer blocks
@pytest.mark.parametrize("gated", [True, False])
def test_feed_forward_is_torchs(gated: bool, hidden: int, full_board: bool, precision: str, tolerance: float) -> None:
    record = FeedForwardBlockDesc(
        name="f",
        channels=CHANNELS,
        hidden=hidden,
        use_gate=gated,
        norm=RMSNormDesc("n", CHANNELS, 1e-6),
        first=MatMulDesc("1", CHANNELS, hidden),
        gate=MatMulDesc("g", CHANNELS, hidden) if gated else None,
        second=MatMulDesc("2", hidden, CHANNELS),
    )
    check(FeedForwardBlock(record), record, FeedForward, full_board, precision, tolerance)


@pytest.mark.parametrize(
    ("precision", "tolerance"),
    [
        pytest.param("float32", 1e-4),
        # Queries and keys are rounded by 2^-9, and scores of 300 with them.
        pytest.param("bfloat16", 0.5, marks=needs_bfloat16),
        pytest.param("tiles", 0.5, marks=needs_tiles),
    ],
)
@pytest.mark.parametrize("full_board", [True, False])
@pytest.mark.parametrize("score", [-300, -130, -101, -99, 99, 101, 130, 300])
def test_scores_of_attention_may_be_large(score: int, full_board: bool, precision: str, tolerance: float) -> None:
    """Their powers of two vanish, or are infinite, unless the largest score is subtracted."""
    record = AttentionBlockDesc(
        name="a",
        heads=1,
        kv_heads=1,
        query_channels=16,
        value_channels=16,
        use_rope=False,
        learnable_rope=False,
        norm=RMSNormDesc("n", CHANNELS, 1e-6),
        query=MatMulDesc("q", CHANNELS, 16),
        key=MatMulDesc("k", CHANNELS, 16),
        value=MatMulDesc("v", CHANNELS, 16),
        out=MatMulDesc("o", 16, CHANNELS),
        rope=None,
    )

    def prepare(block: nn.Module, x: torch.Tensor) -> None:
        """All scores are near the given one: a channel has the same value everywhere, others add a little."""
        assert isinstance(block, AttentionBlock)
        x[:, 0] = 3.0
        block.norm.weight[:] = 1.0
        normalised = 3.0 / (1 + 8 / CHANNELS) ** 0.5
        for matrix, product in ((block.query, score / math.log2(math.e) * 4), (block.key, 1.0)):
            matrix.weight.mul_(0.02)
            matrix.weight[0, 0] = product / normalised

    check(AttentionBlock(record), record, Attention, full_board, precision, tolerance, prepare)


@torch.no_grad()
def check(
    block: nn.Module,
    record: Any,
    compiled: Any,
    full_board: bool,
    precision: str,
    tolerance: float,
    prepare: Callable[[nn.Module, torch.Tensor], None] | None = None,
) -> None:
    """With random numbers, and more points than are worked on together, an odd number of them.

    `prepare` may change the numbers of the block and its input [n, channels, h, w] in place.
    """
    torch.manual_seed(1)
    for parameter in block.parameters():
        nn.init.normal_(parameter, 0.5 if parameter.dim() == 1 else 0.0, parameter.shape[-1] ** -0.5)
    x = torch.randn(2, CHANNELS, 9, 13)
    if prepare is not None:
        prepare(block, x)
    scales = round_matrices(block) if "int8" in precision else {}
    planes = torch.ones(2, 1, 9, 13)
    if not full_board:
        planes[0, :, 7:] = planes[1, :, :, 9:] = 0
    board = Board(planes, full_board)
    expected = block(x, board)
    products = TILES if "tiles" in precision else BFLOAT16 if "bfloat16" in precision else FLOAT32
    grid = Grid.of(9, 13, products == TILES)
    rows = np.zeros((2, grid.rows, CHANNELS), np.float32)
    found = grid.points(rows)
    found[:] = x.permute(0, 2, 3, 1).numpy()
    values = {f"block.{name}": tensor.numpy() for name, tensor in block.state_dict().items()} | scales
    on_board = grid.mask(None if board.mask is None else (board.mask[:, 0] > 0).numpy(), 2)
    compiled(record, Values(values, "block"), products)(rows, grid, on_board)
    added, points = (expected - x).abs().max(), torch.from_numpy(found).permute(0, 3, 1, 2)
    assert (board.cut(points) - board.cut(expected)).abs().max() < tolerance * max(1, float(added))


def round_matrices(block: nn.Module) -> dict[str, np.ndarray]:
    """Makes the rows of all matrices whole multiples of scales; returns these by their paths."""
    found = {}
    for name, weight in block.named_parameters():
        if weight.dim() == 2:
            scales = weight.abs().amax(1) / 127
            weight.copy_((weight / scales[:, None]).round() * scales[:, None])
            found[f"block.{name.removesuffix('weight')}scales"] = scales.numpy()
    return found
