"""Parts of a network that are compiled as a whole: what `inference` puts in the place of those of `blocks`.

Inside, tensors are arrays [n, h, w, channels] of float32, or of bfloat16 seen as uint16.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn

from ..compiled import njit
from .blocks import BottleneckBlock, OrdinaryBlock, PolicyHead, PoolingBlock, ValueHead
from .fused import IDENTITY_KIND, KINDS, FusedActivation, activate, numbers_of, tensor_of
from .layers import MIDDLE_SIDE, SIDE_SCALE, Activation, Bias, Board, Conv, MatMul
from .model import Model
from .records import IDENTITY
from .vectors import HAS_BFLOAT16, HAS_FLOAT32, LANES
from .winograd import best_side, convolve, packed

_EVERYWHERE = np.zeros((0, 1, 1), np.bool_)


class ActivatedConv:
    """The convolutions of an activation, their outputs one after the other, in sixteens of channels."""

    def __init__(self, activation: nn.Module | None, convs: list[Conv], dtype: torch.dtype) -> None:
        # Kept in full precision until a board's size says for which tiles it is transformed.
        self._weight = torch.cat([conv.weight.detach().float() for conv in convs])
        outputs, inputs, self._kernel, _ = self._weight.shape
        self._bias = np.zeros(-(-outputs // LANES) * LANES, np.float32)
        self._bias[:outputs] = np.concatenate([_bias_of(conv) for conv in convs])
        if isinstance(activation, FusedActivation):
            self._scale, self._shift, self._kind = activation.scale, activation.shift[None], activation.kind
        else:
            self._scale, self._shift = np.ones(inputs, np.float32), np.zeros((1, inputs), np.float32)
            self._kind = _kind_of(activation)
        self._is_half = dtype == torch.bfloat16
        self._dtype = np.uint16 if self._is_half else np.float32
        self._packed: dict[int, np.ndarray] = {}

    def __call__(
        self,
        x: np.ndarray,
        on_board: np.ndarray,
        *,
        added: np.ndarray | None = None,
        shift: np.ndarray | None = None,
    ) -> np.ndarray:
        """`added` to the outputs; `shift` [n, channels] to the inputs before the activation, where no norm is."""
        count, height, width, _ = x.shape
        side = 1 if self._kernel == 1 else best_side(height, width)
        if side not in self._packed:
            self._packed[side] = packed(self._weight, side, self._is_half)
        out = np.empty((count, height, width, len(self._bias)), self._dtype)
        added = out[:0] if added is None else added
        shift = self._shift if shift is None else shift
        weights = self._packed[side]
        convolve(x, on_board, self._scale, shift, self._kind, side, weights, self._bias, added, out)
        return out


def _bias_of(conv: Conv) -> np.ndarray:
    bias = torch.zeros(len(conv.weight)) if conv.bias is None else conv.bias.detach()
    return bias.float().numpy()


def _kind_of(activation: nn.Module | None) -> int:
    """Of an activation that follows no norm but one that is folded."""
    if isinstance(activation, FusedActivation):
        return activation.kind
    assert activation is None or isinstance(activation, Activation)
    return KINDS[IDENTITY if activation is None else activation.kind]


def _on_board(board: Board) -> np.ndarray:
    return _EVERYWHERE if board.mask is None else (board.mask[:, 0] > 0).numpy()


@njit
def pool(
    x: np.ndarray, first: int, channels: int, kind: int, on_board: np.ndarray, largest: bool, out: np.ndarray
) -> None:
    """out [n, 3 * channels]: of activations of x [n, h, w, first + channels and more] the mean, the mean scaled by the
    board's side, and the maximum or else the mean scaled by the square of the side.
    """
    count, height, width, _ = x.shape
    scale, shift = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    seen = np.empty((height, width, channels), np.float32)
    mask = np.zeros((0, 0), np.bool_)
    for image in range(count):
        if len(on_board) > 0:
            mask = on_board[image]
        activate(x[image], first, scale, shift, kind, mask, seen, 0)
        area, total = 0, np.zeros(channels, np.float32)
        most = np.full(channels, -np.inf, np.float32)
        for y in range(height):
            for z in range(width):
                if len(mask) > 0 and not mask[y, z]:
                    continue
                area += 1
                for k in range(channels):
                    total[k] += seen[y, z, k]
                for k in range(channels):
                    most[k] = max(most[k], seen[y, z, k])
        side = (math.sqrt(area) - MIDDLE_SIDE) * SIDE_SCALE
        for k in range(channels):
            mean = total[k] / area
            out[image, k] = mean
            out[image, channels + k] = mean * side
            out[image, 2 * channels + k] = most[k] if largest else mean * (side * side - 0.1)


@njit
def multiply_add(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, out: np.ndarray) -> None:
    """out = x @ weight + bias, float32 [n, k], [k, outputs], [outputs]."""
    for row in range(len(x)):
        for j in range(len(bias)):
            out[row, j] = bias[j]
        for k in range(x.shape[1]):
            value = x[row, k]
            for j in range(len(bias)):
                out[row, j] += value * weight[k, j]


class _Linear:
    """A matrix, and a bias and an activation after it."""

    def __init__(self, matmul: MatMul, bias: Bias | None = None, activation: nn.Module | None = None) -> None:
        self._weight = matmul.weight.detach().float().numpy().T.copy()
        outputs = self._weight.shape[1]
        self._bias = np.zeros(outputs, np.float32) if bias is None else bias.bias.detach().float().numpy().copy()
        self._kind = _kind_of(activation)
        self._scale, self._shift = np.ones(outputs, np.float32), np.zeros(outputs, np.float32)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        out = np.empty((len(x), len(self._bias)), np.float32)
        multiply_add(x, self._weight, self._bias, out)
        if self._kind != IDENTITY_KIND:
            points = out[None]
            activate(points, 0, self._scale, self._shift, self._kind, _EVERYWHERE[:, 0], points, 0)
        return out


class CompiledBlock(nn.Module):
    """An `OrdinaryBlock`."""

    def __init__(self, block: OrdinaryBlock, dtype: torch.dtype) -> None:
        super().__init__()
        self._first = ActivatedConv(block.pre_act, [block.conv1], dtype)
        self._second = ActivatedConv(block.mid_act, [block.conv2], dtype)

    def forward(self, x: Tensor, board: Board) -> Tensor:
        return tensor_of(self.over(numbers_of(x), _on_board(board)))

    def over(self, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
        return self._second(self._first(x, on_board), on_board, added=x)


class CompiledPoolingBlock(CompiledBlock):
    """A `PoolingBlock`."""

    def __init__(self, block: PoolingBlock, dtype: torch.dtype) -> None:
        super().__init__(block, dtype)
        self._first = ActivatedConv(block.pre_act, [block.conv1, block.pool_conv], dtype)
        self._regular, self._pooled = len(block.conv1.weight), len(block.pool_conv.weight)
        self._pool_kind, self._linear = _kind_of(block.pool_act), _Linear(block.pool_matmul)

    def over(self, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
        y = self._first(x, on_board)
        seen = np.empty((len(x), 3 * self._pooled), np.float32)
        pool(y, self._regular, self._pooled, self._pool_kind, on_board, True, seen)
        return self._second(y, on_board, added=x, shift=self._linear(seen))


class CompiledBottleneck(CompiledBlock):
    """A `BottleneckBlock` of compiled blocks."""

    def __init__(self, block: BottleneckBlock, inner: list[CompiledBlock], dtype: torch.dtype) -> None:
        nn.Module.__init__(self)
        self._before = ActivatedConv(block.pre_act, [block.pre_conv], dtype)
        self._after = ActivatedConv(block.post_act, [block.post_conv], dtype)
        self._inner = inner

    def over(self, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
        y = self._before(x, on_board)
        for block in self._inner:
            y = block.over(y, on_board)
        return self._after(y, on_board, added=x)


class CompiledInput(nn.Module):
    """The trunk's first convolution."""

    def __init__(self, conv: Conv, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(conv.weight.to(dtype))
        self._conv = ActivatedConv(None, [conv], dtype)

    def forward(self, x: Tensor) -> Tensor:
        return tensor_of(self._conv(numbers_of(x), _EVERYWHERE))


class CompiledPolicyHead(nn.Module):
    """A `PolicyHead`, in float32."""

    def __init__(self, head: PolicyHead) -> None:
        super().__init__()
        self.conv = head.conv
        self._first = ActivatedConv(None, [head.conv, head.pool_conv], torch.float32)
        self._regular, self._pooled = len(head.conv.weight), len(head.pool_conv.weight)
        self._pool_kind, self._linear = _kind_of(head.pool_act), _Linear(head.pool_matmul)
        self._second = ActivatedConv(head.act, [head.out_conv], torch.float32)
        self._channels = len(head.out_conv.weight)
        self._passing = [_Linear(head.pass_matmul, head.pass_bias, head.pass_act)]
        if head.pass_out is not None:
            self._passing.append(_Linear(head.pass_out))

    def forward(self, x: Tensor, board: Board) -> Tensor:
        on_board = _on_board(board)
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
        self._channels, self._kind = len(head.conv.weight), _kind_of(head.act)
        self._hidden = _Linear(head.matmul, head.bias, head.hidden_act)
        self._value = _Linear(head.value_matmul, head.value_bias)
        self._scores = _Linear(head.score_matmul, head.score_bias)
        self._ownership = ActivatedConv(head.act, [head.ownership], torch.float32)

    def forward(self, x: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor]:
        on_board = _on_board(board)
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
    trunk.blocks = nn.ModuleList(_compiled(block, dtype) for block in trunk.blocks)


def _compiled(block: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The block, compiled where its kernels are small and its channels come in sixteens."""
    if not all(_is_small(part) and _is_even(part) for part in block.modules() if isinstance(part, Conv)):
        return block
    if isinstance(block, PoolingBlock):
        return CompiledPoolingBlock(block, dtype)
    if isinstance(block, OrdinaryBlock):
        return CompiledBlock(block, dtype)
    if isinstance(block, BottleneckBlock):
        inner = [_compiled(part, dtype) for part in block.blocks]
        parts = [part for part in inner if isinstance(part, CompiledBlock)]
        if len(parts) == len(inner):
            return CompiledBottleneck(block, parts, dtype)
        block.blocks = nn.ModuleList(inner)
    return block


def _is_small(conv: Conv) -> bool:
    return conv.weight.shape[2:] in ((3, 3), (1, 1)) and conv.dilation == (1, 1)


def _is_even(conv: Conv) -> bool:
    return conv.weight.shape[0] % LANES == conv.weight.shape[1] % LANES == 0
