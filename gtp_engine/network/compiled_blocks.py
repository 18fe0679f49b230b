"""Parts of a network that are compiled as a whole: what `inference` puts in the place of those of `blocks`."""

from itertools import chain, groupby

import numpy as np
import torch
from torch import Tensor, nn

from .blocks import AttentionBlock, BottleneckBlock, FeedForwardBlock, PolicyHead, Trunk, ValueHead
from .compiled_layers import ActivatedConv, Linear, kind_of, on_board_of, pool
from .compiled_run import CompiledBlocks
from .fused import numbers_of, tensor_of
from .layers import Board, Conv
from .matrices import convolve_windows, packed_matrix
from .model import Model
from .vectors import HAS_BFLOAT16, HAS_FLOAT32, LANES


class CompiledInput(nn.Module):
    """The trunk's first convolution, in float32. Its few planes make a matrix of windows."""

    def __init__(self, conv: Conv) -> None:
        super().__init__()
        self.weight = conv.weight
        outputs, _, self._side, _ = conv.weight.shape
        windows = conv.weight.detach().float().permute(0, 2, 3, 1).flatten(1)
        self._outputs, self._matrix = outputs, packed_matrix(windows, False)

    def forward(self, x: Tensor) -> Tensor:
        planes = numbers_of(x)
        out = np.empty((*planes.shape[:3], self._outputs), np.float32)
        convolve_windows(planes, self._matrix, self._side, out)
        return tensor_of(out)


class CompiledPolicyHead(nn.Module):
    """A `PolicyHead`, in float32."""

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        self.conv = head.conv
        self._first = ActivatedConv(None, [head.conv, head.pool_conv], False)
        self._regular, self._pooled = len(head.conv.weight), len(head.pool_conv.weight)
        self._pool_kind, self._linear = kind_of(head.pool_act), Linear(head.pool_matmul)
        self._second = ActivatedConv(head.act, [head.out_conv], False)
        self._channels = len(head.out_conv.weight)
        self._passing = [Linear(head.pass_matmul, head.pass_bias, head.pass_act)]
        if head.pass_out is not None:
            self._passing.append(Linear(head.pass_out))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        on_board = on_board_of(board)
        y = self._first(numbers_of(x), on_board)
        seen = np.empty((len(x), 3 * self._pooled), np.float32)
        pool(y, self._regular, self._pooled, self._pool_kind, on_board, True, seen)
        moves = self._second(y, on_board, self._linear(seen))
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
        self._first = ActivatedConv(None, [head.conv], False)
        self._channels, self._kind = len(head.conv.weight), kind_of(head.act)
        self._hidden = Linear(head.matmul, head.bias, head.hidden_act)
        self._value = Linear(head.value_matmul, head.value_bias)
        self._scores = Linear(head.score_matmul, head.score_bias)
        self._ownership = ActivatedConv(head.act, [head.ownership], False)

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor]:
        on_board = on_board_of(board)
        y = self._first(numbers_of(x), on_board)
        seen = np.empty((len(x), 3 * self._channels), np.float32)
        pool(y, 0, self._channels, self._kind, on_board, False, seen)
        hidden = self._hidden(seen)
        ownership = self._ownership(y, on_board)[..., 0].reshape(len(x), -1)
        return tuple(map(torch.from_numpy, (self._value(hidden), self._scores(hidden), ownership)))  # type: ignore[return-value]


def compiles_trunk(dtype: torch.dtype) -> bool:
    """Whether this processor has the vectors by which products of such numbers are compiled."""
    return (dtype == torch.float32 and HAS_FLOAT32) or (dtype == torch.bfloat16 and HAS_BFLOAT16)


def compile_heads(model: Model) -> None:
    """In place, of a model whose norms are folded."""
    if HAS_FLOAT32:
        model.policy, model.value = CompiledPolicyHead(model.policy), CompiledValueHead(model.value)  # type: ignore[assignment]


def compile_trunk(trunk: Trunk, dtype: torch.dtype) -> None:
    """Compiles what can be compiled of a trunk whose norms are folded, in place; products are of `dtype`."""
    half = dtype == torch.bfloat16
    height, width = trunk.conv.weight.shape[2:]
    if height == width and height % 2 and trunk.conv.dilation == (1, 1) and len(trunk.conv.weight) % LANES == 0:
        trunk.conv = CompiledInput(trunk.conv)  # type: ignore[assignment]
    runs = [(fits, list(blocks)) for fits, blocks in groupby(trunk.blocks, _fits)]
    parts = [[CompiledBlocks(blocks, half)] if fits else blocks for fits, blocks in runs]
    trunk.blocks = nn.ModuleList(chain(*parts))


def _fits(block: nn.Module) -> bool:
    """Whether its kernels are small and channels come in sixteens, in the blocks inside of it too."""
    if isinstance(block, AttentionBlock | FeedForwardBlock):
        return len(block.norm.weight) % LANES == 0
    inner = list(block.blocks) if isinstance(block, BottleneckBlock) else []
    own = [part for part in block.children() if isinstance(part, Conv)]
    return all(map(_fits, inner)) and all(_is_small(conv) and _is_even(conv) for conv in own)


def _is_small(conv: Conv) -> bool:
    return conv.weight.shape[2:] in ((3, 3), (1, 1)) and conv.dilation == (1, 1)


def _is_even(conv: Conv) -> bool:
    return conv.weight.shape[0] % LANES == conv.weight.shape[1] % LANES == 0
