"""Compiled transformer blocks beside torch's."""

from typing import Any

import pytest
import torch
from torch import nn

pytest.importorskip("numba")

from gtp_engine.compiled import config
from gtp_engine.network.blocks import AttentionBlock, FeedForwardBlock
from gtp_engine.network.compiled_layers import on_board_of
from gtp_engine.network.compiled_transformer import Attention, FeedForward
from gtp_engine.network.fused import numbers_of, tensor_of
from gtp_engine.network.layers import Board
from gtp_engine.network.records import (
    AttentionBlockRecord,
    FeedForwardBlockRecord,
    FixedRopeRecord,
    LearnedRopeRecord,
    MatMulRecord,
    RMSNormRecord,
)
from gtp_engine.network.vectors import HAS_BFLOAT16, HAS_FLOAT32

pytestmark = pytest.mark.skipif(
    config.DISABLE_JIT or not HAS_FLOAT32, reason="the vectors of this processor are not used, or code is not compiled"
)
# How far from torch, relative to what a block adds: bfloat16 has 8 bits.
PRECISIONS = [
    pytest.param(False, 2e-6, id="float32"),
    pytest.param(True, 1e-2, id="bfloat16", marks=pytest.mark.skipif(not HAS_BFLOAT16, reason="no bfloat16")),
]
CHANNELS = 32


@pytest.mark.parametrize(("half", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("full_board", [True, False])
@pytest.mark.parametrize(("heads", "kv_heads", "width", "value_width"), [(2, 2, 32, 32), (4, 2, 8, 20), (3, 1, 36, 4)])
@pytest.mark.parametrize("rope", ["none", "fixed", "learned"])
def test_attention_is_torchs(
    rope: str, heads: int, kv_heads: int, width: int, value_width: int, full_board: bool, half: bool, tolerance: float
) -> None:
    record = AttentionBlockRecord(
        name="a",
        heads=heads,
        kv_heads=kv_heads,
        query_channels=width,
        value_channels=value_width,
        use_rope=rope != "none",
        learnable_rope=rope == "learned",
        norm=RMSNormRecord("n", CHANNELS, 1e-6),
        query=MatMulRecord("q", CHANNELS, heads * width),
        key=MatMulRecord("k", CHANNELS, kv_heads * width),
        value=MatMulRecord("v", CHANNELS, kv_heads * value_width),
        out=MatMulRecord("o", heads * value_width, CHANNELS),
        rope={
            "none": None,
            "fixed": FixedRopeRecord("t", 100.0),
            "learned": LearnedRopeRecord("r", kv_heads, width // 2),
        }[rope],
    )
    block = AttentionBlock(record)
    check(block, Attention, full_board, half, tolerance)


@pytest.mark.parametrize(("half", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("full_board", [True, False])
@pytest.mark.parametrize("hidden", [64, 40])
@pytest.mark.parametrize("gated", [True, False])
def test_feed_forward_is_torchs(gated: bool, hidden: int, full_board: bool, half: bool, tolerance: float) -> None:
    record = FeedForwardBlockRecord(
        name="f",
        channels=CHANNELS,
        hidden=hidden,
        use_gate=gated,
        norm=RMSNormRecord("n", CHANNELS, 1e-6),
        first=MatMulRecord("1", CHANNELS, hidden),
        gate=MatMulRecord("g", CHANNELS, hidden) if gated else None,
        second=MatMulRecord("2", hidden, CHANNELS),
    )
    block = FeedForwardBlock(record)
    check(block, FeedForward, full_board, half, tolerance)


@torch.no_grad()
def check(block: nn.Module, compiled: Any, full_board: bool, half: bool, tolerance: float) -> None:
    """With random numbers, and more points than are worked on together, an odd number of them."""
    torch.manual_seed(1)
    for parameter in block.parameters():
        nn.init.normal_(parameter, 0.5 if parameter.dim() == 1 else 0.0, parameter.shape[-1] ** -0.5)
    x = torch.randn(2, CHANNELS, 9, 13)
    planes = torch.ones(2, 1, 9, 13)
    if not full_board:
        planes[0, :, 7:] = planes[1, :, :, 9:] = 0
    board = Board(planes, full_board)
    expected = block(x, board)
    found = numbers_of(x).copy()
    compiled(block, half)(found, on_board_of(board))
    added = (expected - x).abs().max()
    assert (board.cut(tensor_of(found)) - board.cut(expected)).abs().max() < tolerance * max(1, float(added))
