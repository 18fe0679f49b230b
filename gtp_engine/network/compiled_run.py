"""Blocks of the trunk as compiled calls over a few buffers: one for the trunk's numbers, one for each level of blocks
inside of blocks.

Convolutions become lists of steps, all that lie between transformers one call. Such calls keep Python out of the way of
threads that evaluate side by side, and small batches quick.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from ..compiled import njit
from .blocks import AttentionBlock, BottleneckBlock, FeedForwardBlock, OrdinaryBlock, PoolingBlock
from .compiled_layers import ActivatedConv, Linear, kind_of, multiply_add, on_board_of, pool
from .compiled_transformer import Attention, FeedForward
from .fused import numbers_of, tensor_of
from .layers import Board, Conv
from .matrices import convolve_points
from .winograd import best_side, convolve

_CONVOLUTION, _POOLING = 0, 1
_NONE = -1
_COLUMNS = 17
# A large batch is worked on in portions whose numbers stay in a processor's nearest megabytes: 6 blocks of 96 channels
# are 9 % faster so with 64 boards of 19x19, 6 % with 100 of 9x9 (Zen 5), smaller networks no slower. Weights that are
# larger than that come from far for every portion, which so has a few boards at least.
_MOST_NUMBERS, _LEAST_BOARDS = 750_000, 8


@njit
def run(
    steps: np.ndarray,
    weights: np.ndarray,
    numbers: np.ndarray,
    count: int,
    height: int,
    width: int,
    on_board: np.ndarray,
    buffers: np.ndarray,
) -> None:
    """Does the steps over `buffers` [levels, room], each of which holds [count, height, width, channels].

    steps: int64 [n, _COLUMNS]: what kind, source, its channels, and then what the kind's function below takes: a
    number, or where an array begins in `weights` or `numbers`, and its shape. weights: float32, or bfloat16 seen as
    uint16; all else is float32.
    """
    points = count * height * width
    more = np.zeros((count, 1), np.float32)
    for number in range(len(steps)):
        step = steps[number]
        source = buffers[step[1], : points * step[2]].reshape((count, height, width, step[2]))
        if step[0] == _POOLING:
            more = _pool(step, numbers, source, on_board)
        else:
            out = buffers[step[3], : points * step[5]].reshape((count, height, width, step[5]))
            _convolve(step, weights, numbers, more, source, on_board, out)


@njit
def _convolve(
    step: np.ndarray,
    weights: np.ndarray,
    numbers: np.ndarray,
    pooled: np.ndarray,
    x: np.ndarray,
    on_board: np.ndarray,
    out: np.ndarray,
) -> None:
    """Target, whether what is there is added to, outputs, channels taken, scale, shift (or _NONE: what was pooled
    last), bias, activation, side of the tiles, kernels.
    """
    adds, outputs, taken, scale, shift, bias = step[4] > 0, step[5], step[6], step[7], step[8], step[9]
    kind, side, start = step[10], step[11], step[12]
    blocks, cells, lines, columns = step[13], step[14], step[15], step[16]
    shifts = pooled if shift == _NONE else numbers[shift : shift + taken].reshape((1, taken))
    scales, biases = numbers[scale : scale + taken], numbers[bias : bias + outputs]
    kernels = weights[start : start + blocks * cells * lines * columns].reshape((blocks, cells, lines, columns))
    if side == 1:
        matrix = kernels.reshape((blocks, lines, columns))
        convolve_points(x, on_board, scales, shifts, kind, matrix, biases, adds, out)
    else:
        convolve(x, on_board, scales, shifts, kind, side, kernels, biases, adds, out)


@njit
def _pool(step: np.ndarray, numbers: np.ndarray, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
    """The first and the number of the channels pooled, activation, matrix, bias, outputs."""
    first, pooled, kind, matrix, bias, outputs = step[3], step[4], step[5], step[6], step[7], step[8]
    seen = np.empty((len(x), 3 * pooled), np.float32)
    pool(x, first, pooled, kind, on_board, True, seen)
    more = np.empty((len(x), outputs), np.float32)
    weight = numbers[matrix : matrix + 3 * pooled * outputs].reshape((3 * pooled, outputs))
    multiply_add(seen, weight, numbers[bias : bias + outputs], more)
    return more


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


class _Run:
    """Steps that are one compiled call. half: their products are of bfloat16."""

    def __init__(self, half: bool) -> None:
        self.steps: list[_Convolution | _Pooling] = []
        self._half = half
        self._arrays: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}  # by the side of the tiles
        self._joining = threading.Lock()

    def __call__(self, buffers: np.ndarray, shape: tuple[int, int, int], on_board: np.ndarray) -> None:
        """shape: how many boards, and their height and width."""
        side = best_side(*shape[1:])
        with self._joining:  # each thread would else make its own
            if side not in self._arrays:
                self._arrays[side] = self._as_arrays(*shape[1:])
        run(*self._arrays[side], *shape, on_board, buffers)

    def _as_arrays(self, height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Steps, weights and numbers as `run` takes them, for such a board."""
        numbers = _Joined()
        convs = [step.conv for step in self.steps if isinstance(step, _Convolution)]
        size = sum(conv.packed_size(height, width) for conv in convs)
        # Filled kernel by kernel: a second copy of all of them would double the memory for a while.
        weights, place = np.empty(size, np.uint16 if self._half else np.float32), 0
        table = np.zeros((len(self.steps), _COLUMNS), np.int64)
        for row, step in zip(table, self.steps, strict=True):
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
                values += [len(conv.scale), numbers.add(conv.scale), shift, numbers.add(conv.bias), conv.kind, side]
                blocks, *cells, lines, columns = kernel.shape
                values += [place, blocks, *(cells or [1]), lines, columns]
                weights[place : place + kernel.size] = kernel.ravel()
                place += kernel.size
            row[: len(values)] = values
        return table, weights, numbers.array()


@dataclass(frozen=True)
class _Transformer:
    """Of a buffer, in place."""

    block: Attention | FeedForward
    level: int
    channels: int

    def __call__(self, buffers: np.ndarray, shape: tuple[int, int, int], on_board: np.ndarray) -> None:
        size = shape[0] * shape[1] * shape[2] * self.channels
        self.block(buffers[self.level, :size].reshape(*shape, self.channels), on_board)


class CompiledBlocks(nn.Module):
    """Blocks one after the other, norms folded, channels in sixteens. half: products are of bfloat16."""

    def __init__(self, blocks: Iterable[nn.Module], half: bool) -> None:
        super().__init__()
        self._half = half
        self._parts: list[_Run | _Transformer] = []
        self._depth = self._widest = 1
        for block in blocks:
            self._add(block, 0)

    def forward(self, x: Tensor, board: Board) -> Tensor:
        given, on_board = numbers_of(x), on_board_of(board)
        count, height, width, _ = given.shape
        size = height * width * self._widest
        portions = -(-count // max(_LEAST_BOARDS, _MOST_NUMBERS // (self._depth * size)))
        buffers = np.empty((self._depth, -(-count // portions) * size), np.float32)
        out = np.empty_like(given)
        split = (np.array_split(numbers, portions) for numbers in (given, on_board, out))
        for boards, there, said in zip(*split, strict=True):
            shape = len(boards), height, width
            buffers[0, : boards.size] = boards.reshape(-1)
            for part in self._parts:
                part(buffers, shape, there)
            said.reshape(-1)[:] = buffers[0, : boards.size]
        return tensor_of(out)

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
            self._run().append(_Pooling(linear, kind, level + 1, regular + pooled, regular))
            self._convolve(
                block.mid_act, [block.conv2], level + 1, level, channels=regular + pooled, adds=True, shifted=True
            )
        elif isinstance(block, AttentionBlock):
            self._transform(Attention(block, self._half), block.query.weight.shape[1], level)
        elif isinstance(block, FeedForwardBlock):
            self._transform(FeedForward(block, self._half), block.first.weight.shape[1], level)
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
        conv = ActivatedConv(activation, convs, self._half)
        step = _Convolution(conv, source, channels or len(conv.scale), target, adds, shifted)
        self._depth = max(self._depth, target + 1)
        self._widest = max(self._widest, step.channels, len(conv.bias))
        self._run().append(step)

    def _transform(self, block: Attention | FeedForward, channels: int, level: int) -> None:
        self._widest = max(self._widest, channels)
        self._parts.append(_Transformer(block, level, channels))

    def _run(self) -> list[_Convolution | _Pooling]:
        """The steps of the run that what comes next belongs to."""
        if not self._parts or not isinstance(self._parts[-1], _Run):
            self._parts.append(_Run(self._half))
        run = self._parts[-1]
        assert isinstance(run, _Run)
        return run.steps


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
