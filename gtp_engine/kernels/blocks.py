"""Parts of a network that are compiled as a whole: `prepare` puts them in the place of those of `network.blocks`."""

from itertools import chain, groupby

import numpy as np
import torch
from torch import Tensor, nn

from ..network.blocks import AttentionBlock, BottleneckBlock, FeedForwardBlock, PolicyHead, Trunk, ValueHead
from ..network.layers import Board, Conv
from ..network.model import Model
from .activations import to_array, to_tensor
from .layers import ActivatedConv, Linear, activation_kind, board_mask, global_pool
from .llvm import HAS_BFLOAT16, HAS_FLOAT32, LANES
from .matmul import convolve_im2col, pack_matrix
from .trunk import CompiledBlocks


class CompiledInput(nn.Module):
    """The trunk's first convolution, in float32.

    It has few input planes, so that Winograd's tiles would mostly hold padding; a matrix of windows does better.
    """

    def __init__(self, conv: Conv) -> None:
        super().__init__()
        self.weight = conv.weight
        outputs, _, self._side, _ = conv.weight.shape
        windows = conv.weight.detach().float().permute(0, 2, 3, 1).flatten(1)
        self._outputs, self._matrix = outputs, pack_matrix(windows, False)

    def forward(self, x: Tensor) -> Tensor:
        planes = to_array(x)
        out = np.empty((*planes.shape[:3], self._outputs), np.float32)
        convolve_im2col(planes, self._matrix, self._side, out)
        return to_tensor(out)


class CompiledPolicyHead(nn.Module):
    """A `PolicyHead`, in float32."""

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        self.conv = head.conv
        # Both convolutions of the trunk's tip in one: the regular channels first, then those that are pooled.
        self._convs = ActivatedConv(None, [head.conv, head.pool_conv], False)
        self._regular, self._pooled = len(head.conv.weight), len(head.pool_conv.weight)
        self._pool_kind, self._pool_linear = activation_kind(head.pool_act), Linear(head.pool_matmul)
        self._out_conv = ActivatedConv(head.act, [head.out_conv], False)
        self._channels = len(head.out_conv.weight)
        self._pass_layers = [Linear(head.pass_matmul, head.pass_bias, head.pass_act)]
        if head.pass_out is not None:
            self._pass_layers.append(Linear(head.pass_out))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        on_board = board_mask(board)
        y = self._convs(to_array(x), on_board)
        pooled = np.empty((len(x), 3 * self._pooled), np.float32)
        global_pool(y, self._regular, self._pooled, self._pool_kind, on_board, True, pooled)
        moves = self._out_conv(y, on_board, self._pool_linear(pooled))
        logits = np.empty((len(x), self._channels, moves.shape[1] * moves.shape[2] + 1), np.float32)
        logits[:, :, :-1] = moves.reshape(len(x), -1, moves.shape[3])[:, :, : self._channels].transpose(0, 2, 1)
        hidden = pooled
        for linear in self._pass_layers:
            hidden = linear(hidden)
        logits[:, :, -1] = hidden
        return torch.from_numpy(logits)


class CompiledValueHead(nn.Module):
    """A `ValueHead`, in float32."""

    def __init__(self, head: ValueHead) -> None:
        super().__init__()
        self._conv = ActivatedConv(None, [head.conv], False)
        self._channels, self._kind = len(head.conv.weight), activation_kind(head.act)
        self._hidden = Linear(head.matmul, head.bias, head.hidden_act)
        self._value = Linear(head.value_matmul, head.value_bias)
        self._scores = Linear(head.score_matmul, head.score_bias)
        self._ownership = ActivatedConv(head.act, [head.ownership], False)

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor]:
        on_board = board_mask(board)
        y = self._conv(to_array(x), on_board)
        pooled = np.empty((len(x), 3 * self._channels), np.float32)
        global_pool(y, 0, self._channels, self._kind, on_board, False, pooled)
        hidden = self._hidden(pooled)
        ownership = self._ownership(y, on_board)[..., 0].reshape(len(x), -1)
        return tuple(map(torch.from_numpy, (self._value(hidden), self._scores(hidden), ownership)))  # type: ignore[return-value]


def can_compile_trunk(dtype: torch.dtype) -> bool:
    """Whether this CPU has the vector instructions that compiled products of this type need."""
    return (dtype == torch.float32 and HAS_FLOAT32) or (dtype == torch.bfloat16 and HAS_BFLOAT16)


def compile_heads(model: Model) -> None:
    """Replaces the heads of a model whose norms are folded, in place."""
    if HAS_FLOAT32:
        model.policy, model.value = CompiledPolicyHead(model.policy), CompiledValueHead(model.value)  # type: ignore[assignment]


def compile_trunk(trunk: Trunk, dtype: torch.dtype) -> None:
    """Replaces what can be compiled of a trunk whose norms are folded, in place.

    Args:
        trunk: The trunk. Runs of adjacent blocks that can be compiled become one module.
        dtype: The type of the factors of products.
    """
    half = dtype == torch.bfloat16
    # Windows need a square kernel with a centre. Another first convolution stays torch's, which costs little.
    height, width = trunk.conv.weight.shape[2:]
    if height == width and height % 2 and trunk.conv.dilation == (1, 1) and len(trunk.conv.weight) % LANES == 0:
        trunk.conv = CompiledInput(trunk.conv)  # type: ignore[assignment]
    # The longer a run, the fewer calls from Python.
    runs = [(compilable, list(blocks)) for compilable, blocks in groupby(trunk.blocks, _is_compilable)]
    parts = [[CompiledBlocks(blocks, half)] if compilable else blocks for compilable, blocks in runs]
    trunk.blocks = nn.ModuleList(chain(*parts))


def _is_compilable(block: nn.Module) -> bool:
    """Whether the block and those inside it have only 3x3 and 1x1 kernels, and channels in multiples of `LANES`."""
    if isinstance(block, AttentionBlock | FeedForwardBlock):
        return len(block.norm.weight) % LANES == 0
    inner = list(block.blocks) if isinstance(block, BottleneckBlock) else []
    own = [part for part in block.children() if isinstance(part, Conv)]
    return all(map(_is_compilable, inner)) and all(_has_small_kernel(conv) and _has_full_lanes(conv) for conv in own)


def _has_small_kernel(conv: Conv) -> bool:
    return conv.weight.shape[2:] in ((3, 3), (1, 1)) and conv.dilation == (1, 1)


def _has_full_lanes(conv: Conv) -> bool:
    return conv.weight.shape[0] % LANES == conv.weight.shape[1] % LANES == 0
