"""Parts of a network that are compiled as a whole: what `inference` puts in the place of those of `blocks`."""

from itertools import chain, groupby

import numpy as np
import torch
from torch import Tensor, nn

from .blocks import BottleneckBlock, OrdinaryBlock, PolicyHead, PoolingBlock, ValueHead
from .compiled_layers import EVERYWHERE, ActivatedConv, Linear, kind_of, on_board_of, pool
from .compiled_run import CompiledBlocks
from .fused import numbers_of, tensor_of
from .layers import Board, Conv
from .model import Model
from .vectors import HAS_BFLOAT16, HAS_FLOAT32, LANES


class CompiledInput(nn.Module):
    """The trunk's first convolution."""

    def __init__(self, conv: Conv, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(conv.weight.to(dtype))
        self._conv = ActivatedConv(None, [conv], dtype)

    def forward(self, x: Tensor) -> Tensor:
        return tensor_of(self._conv(numbers_of(x), EVERYWHERE))


class CompiledPolicyHead(nn.Module):
    """A `PolicyHead`, in float32."""

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        self.conv = head.conv
        self._first = ActivatedConv(None, [head.conv, head.pool_conv], torch.float32)
        self._regular, self._pooled = len(head.conv.weight), len(head.pool_conv.weight)
        self._pool_kind, self._linear = kind_of(head.pool_act), Linear(head.pool_matmul)
        self._second = ActivatedConv(head.act, [head.out_conv], torch.float32)
        self._channels = len(head.out_conv.weight)
        self._passing = [Linear(head.pass_matmul, head.pass_bias, head.pass_act)]
        if head.pass_out is not None:
            self._passing.append(Linear(head.pass_out))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        on_board = on_board_of(board)
        y = self._first(numbers_of(x), on_board)
        seen = np.empty((len(x), 3 * self._pooled), np.float32)
        pool(y, self._regular, self._pooled, self._pool_kind, on_board, True, seen)
        moves = self._second(y, on_board, shift=self._linear(seen))
        logits = np.empty((len(x), self._channels, moves.shape[1] * moves.shape[2] + 1), np.float32)
        logits[:, :, :-1] = moves.reshape(len(x), -1, moves.shape[3])[:, :, : self._channels].transpose(0, 2, 1)
        for linear in self._passing:
            seen = linear(seen)
        logits[:, :, -1] = seen
        return torch.from_numpy(logits)


class CompiledValueHead(nn.Module):
    """A `ValueHead`, in float32."""

    def __init__(self, head: ValueHead) -> None:
        super().__init__()
        self._first = ActivatedConv(None, [head.conv], torch.float32)
        self._channels, self._kind = len(head.conv.weight), kind_of(head.act)
        self._hidden = Linear(head.matmul, head.bias, head.hidden_act)
        self._value = Linear(head.value_matmul, head.value_bias)
        self._scores = Linear(head.score_matmul, head.score_bias)
        self._ownership = ActivatedConv(head.act, [head.ownership], torch.float32)

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor]:
        on_board = on_board_of(board)
        y = self._first(numbers_of(x), on_board)
        seen = np.empty((len(x), 3 * self._channels), np.float32)
        pool(y, 0, self._channels, self._kind, on_board, False, seen)
        hidden = self._hidden(seen)
        ownership = self._ownership(y, on_board)[..., 0].reshape(len(x), -1)
        return tuple(map(torch.from_numpy, (self._value(hidden), self._scores(hidden), ownership)))  # type: ignore[return-value]


def compile_parts(model: Model, dtype: torch.dtype) -> None:
    """Compiles what can be compiled of a model whose norms are folded, in place, before it is converted to `dtype`."""
    if not HAS_FLOAT32:
        return
    model.policy, model.value = CompiledPolicyHead(model.policy), CompiledValueHead(model.value)  # type: ignore[assignment]
    if dtype == torch.float16 or (dtype == torch.bfloat16 and not HAS_BFLOAT16):
        return
    trunk = model.trunk
    if _is_small(trunk.conv) and len(trunk.conv.weight) % LANES == 0:
        trunk.conv = CompiledInput(trunk.conv, dtype)  # type: ignore[assignment]
    runs = [(fits, list(blocks)) for fits, blocks in groupby(trunk.blocks, _fits)]
    parts = [[CompiledBlocks(blocks, dtype)] if fits else blocks for fits, blocks in runs]
    trunk.blocks = nn.ModuleList(chain(*parts))


def _fits(block: nn.Module) -> bool:
    """Whether it is of ordinary, pooling and bottleneck blocks, with small kernels and channels in sixteens."""
    known = (OrdinaryBlock, PoolingBlock, BottleneckBlock)
    inner = list(block.blocks) if isinstance(block, BottleneckBlock) else []
    convs = [part for part in block.modules() if isinstance(part, Conv)]
    return isinstance(block, known) and all(map(_fits, inner)) and all(_is_small(c) and _is_even(c) for c in convs)


def _is_small(conv: Conv) -> bool:
    return conv.weight.shape[2:] in ((3, 3), (1, 1)) and conv.dilation == (1, 1)


def _is_even(conv: Conv) -> bool:
    return conv.weight.shape[0] % LANES == conv.weight.shape[1] % LANES == 0
