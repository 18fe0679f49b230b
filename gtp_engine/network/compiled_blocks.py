"""Blocks of the trunk whose 3x3 convolutions are compiled: what `inference` puts in the place of `blocks`' own."""

import numpy as np
import torch
from torch import Tensor, nn

from .blocks import OrdinaryBlock, PoolingBlock, to_points
from .fused import IDENTITY_KIND, FusedActivation, numbers_of
from .layers import Activation, Board, Conv
from .vectors import HAS_BFLOAT16, HAS_FLOAT32, LANES
from .winograd import best_side, convolve, packed

_USABLE = {torch.float32: HAS_FLOAT32, torch.bfloat16: HAS_FLOAT32 and HAS_BFLOAT16}


class ActivatedConv(nn.Module):
    """The convolutions of an activation, their outputs one after the other, and the sum with another tensor."""

    def __init__(self, activation: nn.Module, convs: list[Conv], dtype: torch.dtype) -> None:
        super().__init__()
        self.activation = _as_fused(activation, convs[0].weight.shape[1])
        # Kept in full precision until a board's size says for which tiles it is transformed.
        self._weight = torch.cat([conv.weight.detach() for conv in convs])
        self._bias = np.concatenate([_bias_of(conv) for conv in convs])
        self._is_half = dtype == torch.bfloat16
        self._packed: dict[int, np.ndarray] = {}

    def forward(self, x: Tensor, board: Board, added: Tensor | None = None) -> Tensor:
        before = self.activation
        scale, shift, kind = before.scale, before.shift, before.kind
        if board.mask is not None:
            x = board.cut(before(x))
            scale, shift, kind = np.ones_like(scale), np.zeros_like(shift), IDENTITY_KIND
        count, _, height, width = x.shape
        side = best_side(height, width)
        if side not in self._packed:
            self._packed[side] = packed(self._weight, side, self._is_half)
        out = torch.empty((count, height, width, len(self._bias)), dtype=x.dtype).permute(0, 3, 1, 2)
        numbers = numbers_of(out)
        more = numbers[:0] if added is None else numbers_of(added)
        convolve(numbers_of(x), scale, shift, kind, side, self._packed[side], self._bias, more, numbers)
        return out


def _as_fused(activation: nn.Module, channels: int) -> FusedActivation:
    if isinstance(activation, FusedActivation):
        return activation
    assert isinstance(activation, Activation)
    return FusedActivation(activation.kind, torch.ones(channels), torch.zeros(channels))


def _bias_of(conv: Conv) -> np.ndarray:
    bias = torch.zeros(len(conv.weight)) if conv.bias is None else conv.bias.detach()
    return bias.float().numpy().copy()


class CompiledBlock(nn.Module):
    """An `OrdinaryBlock`."""

    def __init__(self, block: OrdinaryBlock, dtype: torch.dtype) -> None:
        super().__init__()
        self.first = ActivatedConv(block.pre_act, [block.conv1], dtype)
        self.second = ActivatedConv(block.mid_act, [block.conv2], dtype)

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return self.second(self.first(x, board), board, x)


class CompiledPoolingBlock(nn.Module):
    """A `PoolingBlock`."""

    def __init__(self, block: PoolingBlock, dtype: torch.dtype) -> None:
        super().__init__()
        self.first = ActivatedConv(block.pre_act, [block.conv1, block.pool_conv], dtype)
        self.second = ActivatedConv(block.mid_act, [block.conv2], dtype)
        self.channels = len(block.conv1.weight)
        self.pool_act, self.pool_matmul = block.pool_act, block.pool_matmul

    def forward(self, x: Tensor, board: Board) -> Tensor:
        y = self.first(x, board)
        seen = board.cut(self.pool_act(y[:, self.channels :]))
        y = y[:, : self.channels] + to_points(self.pool_matmul(board.pool(seen)))
        return self.second(y, board, x)


def compiled_block(block: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The block, compiled where it can be: norms folded, 3x3 convolutions of channels in sixteens."""
    if not isinstance(block, OrdinaryBlock) or not _USABLE.get(dtype, False):
        return block
    convs = [block.conv1, block.conv2, *([block.pool_conv] if isinstance(block, PoolingBlock) else [])]
    if not all(map(_is_plain, convs)):
        return block
    return CompiledPoolingBlock(block, dtype) if isinstance(block, PoolingBlock) else CompiledBlock(block, dtype)


def _is_plain(conv: Conv) -> bool:
    outputs, inputs, *kernel = conv.weight.shape
    return kernel == [3, 3] and conv.dilation == (1, 1) and outputs % LANES == inputs % LANES == 0
