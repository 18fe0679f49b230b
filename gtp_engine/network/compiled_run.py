"""A run of convolutional blocks as one compiled call.

Such calls keep Python out of the way of threads that evaluate side by side, and small batches quick. The blocks become
a list of steps over a few buffers: one for the trunk's numbers, one for each level of blocks inside of blocks.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from ..compiled import njit
from .blocks import BottleneckBlock, OrdinaryBlock, PoolingBlock
from .compiled_layers import ActivatedConv, Linear, kind_of, multiply_add, on_board_of, pool
from .fused import numbers_of, tensor_of
from .layers import Board, Conv
from .winograd import best_side, convolve

_CONVOLUTION, _POOLING = 0, 1
_NONE = -1
_COLUMNS = 17


@njit
def run(
    steps: np.ndarray,
    weights: np.ndarray,
    numbers: np.ndarray,
    x: np.ndarray,
    on_board: np.ndarray,
    buffers: np.ndarray,
) -> None:
    """Does the steps with x [n, h, w, channels]; the result comes to lie in the first of the `buffers` [levels, room].

    steps: int64 [n, _COLUMNS], of a convolution: _CONVOLUTION, source, its channels, target, whether what is there is
    added, outputs, channels taken, where scale, shift (or _NONE: what was pooled last) and bias begin in `numbers`,
    activation, side of the tiles, where the kernels begin in `weights`, and their shape. Of pooling: _POOLING, source,
    its channels, the first and the number of those pooled, activation, where matrix and bias begin, outputs.
    """
    count, height, width, _ = x.shape
    points = count * height * width
    buffers[0, : x.size] = x.reshape(x.size)
    more = np.zeros((count, 1), np.float32)
    for number in range(len(steps)):
        step = steps[number]
        source = buffers[step[1], : points * step[2]].reshape((count, height, width, step[2]))
        if step[0] == _POOLING:
            first, pooled, kind, matrix, bias, outputs = step[3], step[4], step[5], step[6], step[7], step[8]
            seen = np.empty((count, 3 * pooled), np.float32)
            pool(source, first, pooled, kind, on_board, True, seen)
            more = np.empty((count, outputs), np.float32)
            weight = numbers[matrix : matrix + 3 * pooled * outputs].reshape((3 * pooled, outputs))
            multiply_add(seen, weight, numbers[bias : bias + outputs], more)
            continue
        target, added, outputs, taken, scale, shift = step[3], step[4], step[5], step[6], step[7], step[8]
        bias, kind, side, start = step[9], step[10], step[11], step[12]
        blocks, cells, lines, columns = step[13], step[14], step[15], step[16]
        out = buffers[target, : points * outputs].reshape((count, height, width, outputs))
        before = more if shift == _NONE else numbers[shift : shift + taken].reshape((1, taken))
        convolve(
            source,
            on_board,
            numbers[scale : scale + taken],
            before,
            kind,
            side,
            weights[start : start + blocks * cells * lines * columns].reshape((blocks, cells, lines, columns)),
            numbers[bias : bias + outputs],
            out if added else out[:0],
            out,
        )


@dataclass(frozen=True)
class _Convolution:
    """From one buffer to another, by their levels; `adds` to what is there, `shifted` by what was pooled last."""

    conv: ActivatedConv
    source: int
    channels: int
    target: int
    adds: bool = False
    shifted: bool = False


@dataclass(frozen=True)
class _Pooling:
    """Of a buffer's channels from the first on."""

    linear: Linear
    kind: int
    source: int
    channels: int
    first: int


class CompiledBlocks(nn.Module):
    """Ordinary, pooling and bottleneck blocks, one after the other, norms folded, channels in sixteens."""

    def __init__(self, blocks: Iterable[nn.Module], dtype: torch.dtype) -> None:
        super().__init__()
        self._dtype = dtype
        self._steps: list[_Convolution | _Pooling] = []
        for block in blocks:
            self._add(block, 0)
        convolutions = [step for step in self._steps if isinstance(step, _Convolution)]
        self._depth = 1 + max(step.target for step in convolutions)
        self._widest = max(max(step.channels, len(step.conv.bias)) for step in convolutions)
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._joining = threading.Lock()

    def forward(self, x: Tensor, board: Board) -> Tensor:
        given = numbers_of(x)
        count, height, width, _ = given.shape
        side = best_side(height, width)
        with self._joining:  # each thread would else make its own
            if side not in self._arrays:
                self._arrays[side] = self._as_arrays(height, width)
        buffers = np.empty((self._depth, count * height * width * self._widest), given.dtype)
        run(*self._arrays[side], given, on_board_of(board), buffers)
        return tensor_of(buffers[0, : given.size].reshape(given.shape))

    def _add(self, block: nn.Module, level: int) -> None:
        """The steps of a block whose numbers lie in the buffer of that level."""
        if isinstance(block, BottleneckBlock):
            self._convolve(block.pre_act, [block.pre_conv], level, level + 1)
            for inner in block.blocks:
                self._add(inner, level + 1)
            self._convolve(block.post_act, [block.post_conv], level + 1, level, adds=True)
        elif isinstance(block, PoolingBlock):
            regular, pooled = len(block.conv1.weight), len(block.pool_conv.weight)
            self._convolve(block.pre_act, [block.conv1, block.pool_conv], level, level + 1)
            linear, kind = Linear(block.pool_matmul), kind_of(block.pool_act)
            self._steps.append(_Pooling(linear, kind, level + 1, regular + pooled, regular))
            self._convolve(
                block.mid_act, [block.conv2], level + 1, level, channels=regular + pooled, adds=True, shifted=True
            )
        else:
            assert isinstance(block, OrdinaryBlock)
            self._convolve(block.pre_act, [block.conv1], level, level + 1)
            self._convolve(block.mid_act, [block.conv2], level + 1, level, adds=True)

    def _convolve(
        self,
        activation: nn.Module,
        convs: list[Conv],
        source: int,
        target: int,
        *,
        channels: int | None = None,
        adds: bool = False,
        shifted: bool = False,
    ) -> None:
        """channels: of the source, where it has more than the kernels take."""
        conv = ActivatedConv(activation, convs, self._dtype)
        self._steps.append(_Convolution(conv, source, channels or len(conv.scale), target, adds, shifted))

    def _as_arrays(self, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps, weights and numbers as `run` takes them, for such a board."""
        numbers = _Joined()
        convs = [step.conv for step in self._steps if isinstance(step, _Convolution)]
        weights = np.empty(sum(conv.packed_size(height, width) for conv in convs), convs[0].dtype)
        place = 0
        table = np.zeros((len(self._steps), _COLUMNS), np.int64)
        for row, step in zip(table, self._steps, strict=True):
            if isinstance(step, _Pooling):
                outputs = len(step.linear.bias)
                pooled = step.channels - step.first
                places = numbers.add(step.linear.weight), numbers.add(step.linear.bias)
                values = [_POOLING, step.source, step.channels, step.first, pooled, step.kind, *places, outputs]
            else:
                conv = step.conv
                side, kernel = conv.packed(height, width)
                shift = _NONE if step.shifted else numbers.add(conv.shift)
                values = [_CONVOLUTION, step.source, step.channels, step.target, step.adds, len(conv.bias)]
                values += [len(conv.scale), numbers.add(conv.scale), shift, numbers.add(conv.bias)]
                values += [conv.kind, side, place, *kernel.shape]
                weights[place : place + kernel.size] = kernel.ravel()
                place += kernel.size
            row[: len(values)] = values
        return table, weights, numbers.array()


class _Joined:
    """Arrays one after the other."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0

    def add(self, part: np.ndarray) -> int:
        """Where it begins."""
        self._parts.append(part.ravel())
        self._size += part.size
        return self._size - part.size

    def array(self) -> np.ndarray:
        return np.concatenate(self._parts)
