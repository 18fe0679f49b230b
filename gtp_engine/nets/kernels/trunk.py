"""Runs of a trunk's blocks as compiled calls over a few buffers.

The convolutions and poolings between two transformer blocks become a table of steps, which one compiled call executes.
Such calls keep Python, and its global lock, out of the way of threads that evaluate side by side, and make small
batches quick.

Buffers have levels: level 0 holds the tensor that passes from block to block, level 1 what is inside a block, and so on
for blocks inside blocks.
"""

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from ..schema import (
    AttentionBlockDesc,
    BlockDesc,
    BottleneckBlockDesc,
    FeedForwardBlockDesc,
    OrdinaryBlockDesc,
    PoolingBlockDesc,
    TrunkDesc,
)
from .layers import ActivatedConv, Activation, Conv, Linear, Values, global_pool, multiply_add
from .matmul import convolve_1x1, whole_lanes
from .scalars import KINDS
from .transformer import Attention, FeedForward
from .winograd import best_tile_side, convolve_3x3

# A large batch is evaluated in portions whose tensors stay in the last-level cache: 6 blocks of 96 channels become
# 9 % faster with 64 boards of 19x19, 6 % with 100 of 9x9 (Zen 5), and smaller networks no slower. Weights that are
# larger than the cache are read from memory again for every portion, which therefore has a few boards at least.
_PORTION_VALUES, _PORTION_BOARDS = 750_000, 8

_CONVOLUTION, _POOLING = 0, 1
_POOLED_SHIFT = -1  # as a step's `shift`: the result of the last pooling

# One row of the table of steps. Scales, shifts, biases and small matrices lie one after the other in the array
# `values`, packed kernels in `weights`, or in `integers` if they are of 8-bit integers: a step has the index where each
# begins.
_STEP = np.dtype(
    [
        (name, np.int64)
        for name in (
            "kind",
            "source",  # level of the buffer that is read
            "source_channels",  # the number of its channels
            "outputs",  # number of output channels
            "activation",
            "bias",
            # Of convolutions:
            "target",  # level of the buffer that is written
            "adds",  # whether the result is added to what the target holds
            "inputs",  # the number of channels read, from the first on
            "scale",
            "shift",
            "tile_side",  # 1 for 1x1 kernels
            "is_of_integers",
            "weights",  # where the kernel begins
            "blocks",  # the next four: shape of the packed kernel
            "cells",
            "lines",
            "columns",
            # Of poolings:
            "first",  # the first channel to pool
            "pooled",  # the number of channels to pool
            "matrix",
        )
    ]
)


@njit
def run_steps(
    steps: np.ndarray,
    weights: np.ndarray,
    integers: np.ndarray,
    values: np.ndarray,
    count: int,
    height: int,
    width: int,
    on_board: np.ndarray,
    buffers: np.ndarray,
) -> None:
    """Executes steps over `buffers`.

    Args:
        steps: _STEP [n].
        weights: float32, or bfloat16 seen as uint16: the packed kernels.
        integers: uint8: the packed kernels of 8-bit integers, if there are any.
        values: float32: all other parameters.
        count: The number of boards.
        height: Their height.
        width: Their width.
        on_board: bool [count, height, width], or [0, ...] if all points are on the board.
        buffers: float32 [levels, capacity], each of which holds [count, height, width, channels].
    """
    points = count * height * width
    pooled = np.zeros((count, 1), np.float32)
    for index in range(len(steps)):
        step = steps[index]
        channels = step["source_channels"]
        # A buffer's shape changes with the step that uses it: its tensor is a view of its beginning.
        source = buffers[step["source"], : points * channels].reshape((count, height, width, channels))
        if step["kind"] == _POOLING:
            pooled = _pool(step, values, source, on_board)
        else:
            outputs = step["outputs"]
            out = buffers[step["target"], : points * outputs].reshape((count, height, width, outputs))
            _convolve(step, weights, integers, values, pooled, source, on_board, out)


@njit
def _convolve(
    step: Any,
    weights: np.ndarray,
    integers: np.ndarray,
    values: np.ndarray,
    pooled: np.ndarray,
    x: np.ndarray,
    on_board: np.ndarray,
    out: np.ndarray,
) -> None:
    adds, inputs, outputs = step["adds"] > 0, step["inputs"], step["outputs"]
    kind, side, start = step["activation"], step["tile_side"], step["weights"]
    blocks, cells, lines, columns = step["blocks"], step["cells"], step["lines"], step["columns"]
    scale = values[step["scale"] : step["scale"] + inputs]
    bias = values[step["bias"] : step["bias"] + outputs]
    if step["shift"] == _POOLED_SHIFT:
        shift = pooled
    else:
        shift = values[step["shift"] : step["shift"] + inputs].reshape((1, inputs))
    if step["is_of_integers"] > 0:
        packed = integers[start : start + blocks * lines * columns].reshape((blocks, lines, columns))
        convolve_1x1(x, on_board, scale, shift, kind, packed, bias, adds, out)
        return
    # numba needs one number of axes for all kernels: those of 1x1 have a single cell.
    kernels = weights[start : start + blocks * cells * lines * columns].reshape((blocks, cells, lines, columns))
    if side == 1:
        matrix = kernels.reshape((blocks, lines, columns))
        convolve_1x1(x, on_board, scale, shift, kind, matrix, bias, adds, out)
    else:
        convolve_3x3(x, on_board, scale, shift, kind, side, kernels, bias, adds, out)


@njit
def _pool(step: Any, values: np.ndarray, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
    """Returns what a pooling adds to the next convolution's inputs: float32 [n, outputs]."""
    pooled, outputs = step["pooled"], step["outputs"]
    features = np.empty((len(x), 3 * pooled), np.float32)
    global_pool(x, step["first"], pooled, step["activation"], on_board, True, features)
    shift = np.empty((len(x), outputs), np.float32)
    matrix = values[step["matrix"] : step["matrix"] + 3 * pooled * outputs].reshape((3 * pooled, outputs))
    multiply_add(features, matrix, values[step["bias"] : step["bias"] + outputs], shift)
    return shift


class _Tables(NamedTuple):
    """The arguments of the same names of `run_steps`."""

    steps: np.ndarray
    weights: np.ndarray
    integers: np.ndarray
    values: np.ndarray


class _Run:
    """Steps that are executed by one compiled call; `half` as in `CompiledBlocks`."""

    def __init__(self, half: bool) -> None:
        self._half = half
        self._steps: list[tuple[Any, ActivatedConv | None]] = []  # _STEP and, but for poolings, the convolution
        self._values = _Concatenation()
        self._tables: dict[int, _Tables] = {}  # by the side of the tiles
        self._lock = threading.Lock()

    def add_convolution(
        self, conv: ActivatedConv, source: int, channels: int, target: int, *, adds: bool, shifted: bool
    ) -> None:
        """Adds a convolution, with its activation, from the buffer of the level `source` to that of `target`.

        The source's channels may be more than the convolution reads. If `adds`, the result is added to what the target
        holds; if `shifted`, that of the last pooling is added before the activation.
        """
        step = self._add_step(_CONVOLUTION, source, channels, conv)
        step["target"], step["adds"], step["activation"] = target, adds, conv.kind
        step["inputs"], step["outputs"] = len(conv.scale), len(conv.bias)
        step["scale"], step["bias"] = self._values.add(conv.scale), self._values.add(conv.bias)
        step["shift"] = _POOLED_SHIFT if shifted else self._values.add(conv.shift)

    def add_pooling(self, linear: Linear, kind: int, source: int, channels: int, first: int, pooled: int) -> None:
        """Adds global pooling of the buffer of the level `source`, with a matrix after it.

        Of its channels `pooled` ones are pooled, from `first` on, after an activation, `kind` in `scalars.KINDS`.
        """
        step = self._add_step(_POOLING, source, channels, None)
        step["first"], step["pooled"], step["activation"] = first, pooled, kind
        step["matrix"], step["bias"] = self._values.add(linear.weight), self._values.add(linear.bias)
        step["outputs"] = len(linear.bias)

    def _add_step(self, kind: int, source: int, channels: int, conv: ActivatedConv | None) -> Any:
        step = np.zeros((), _STEP)
        step["kind"], step["source"], step["source_channels"] = kind, source, channels
        self._steps.append((step, conv))
        return step

    def __call__(self, buffers: np.ndarray, shape: tuple[int, int, int], on_board: np.ndarray) -> None:
        """Executes the steps; shape: the number of boards, their height and width."""
        side = best_tile_side(*shape[1:])
        with self._lock:  # otherwise each thread would pack the weights for itself
            if side not in self._tables:
                self._tables[side] = self._make_tables(*shape[1:])
        run_steps(*self._tables[side], *shape, on_board, buffers)

    def _make_tables(self, height: int, width: int) -> _Tables:
        """Returns what `run_steps` needs for boards of this size."""
        sizes = {True: 0, False: 0}  # by whether they are 8-bit integers
        for _, conv in self._steps:
            if conv is not None:
                sizes[conv.is_of_integers] += conv.packed_size(height, width)
        # Filled kernel by kernel: a second copy of all of them would double the memory for a while.
        # Without any, the array of integers has the type of the others. Then no code for integers is compiled: on a CPU
        # without the instructions LLVM ends the process, and the machine code of wheels for such CPUs does not have it.
        usual = np.uint16 if self._half else np.float32
        types = {True: np.uint8 if sizes[True] else usual, False: usual}
        kernels = {kind: np.empty(size, types[kind]) for kind, size in sizes.items()}
        used = {True: 0, False: 0}
        table = np.array([step for step, _ in self._steps])
        for row, (_, conv) in zip(table, self._steps, strict=True):
            if conv is None:
                continue
            side, kernel = conv.packed(height, width)
            kind = conv.is_of_integers
            row["tile_side"], row["is_of_integers"], row["weights"] = side, kind, used[kind]
            row["blocks"], *cells, row["lines"], row["columns"] = kernel.shape
            row["cells"] = cells[0] if cells else 1
            kernels[kind][used[kind] : used[kind] + kernel.size] = kernel.ravel()
            used[kind] += kernel.size
        return _Tables(table, kernels[False], kernels[True], self._values.array())


@dataclass(frozen=True)
class _Transformer:
    """A transformer block that works on a buffer in place."""

    block: Attention | FeedForward
    level: int
    channels: int

    def __call__(self, buffers: np.ndarray, shape: tuple[int, int, int], on_board: np.ndarray) -> None:
        size = shape[0] * shape[1] * shape[2] * self.channels
        self.block(buffers[self.level, :size].reshape(*shape, self.channels), on_board)


class CompiledBlocks:
    """The blocks of a trunk, whose norms are folded. Tensors have their channels rounded up to a multiple of `LANES`.

    `half` says whether products that are not of 8-bit integers are of bfloat16.
    """

    def __init__(self, trunk: TrunkDesc, values: Values, half: bool) -> None:
        self._half = half
        self._parts: list[_Run | _Transformer] = []
        self._levels, self._max_channels = 1, whole_lanes(trunk.conv.out_channels)
        self._add_blocks(trunk.blocks, values.at("blocks"), trunk.conv.out_channels, 0)

    def __call__(self, source: np.ndarray, on_board: np.ndarray) -> np.ndarray:
        """Returns what the last block returns for `source`, both float32 [n, h, w, channels].

        on_board: bool [n, h, w], or `layers.FULL_BOARD`.
        """
        count, height, width, _ = source.shape
        size = height * width * self._max_channels
        portions = -(-count // max(_PORTION_BOARDS, _PORTION_VALUES // (self._levels * size)))
        boards = -(-count // portions)  # in a portion; not by np.array_split, which takes 50 us
        # Allocated for each call: threads that evaluate side by side must not share them.
        buffers = np.empty((self._levels, boards * size), np.float32)
        out = np.empty_like(source)
        for first in range(0, count, boards):
            portion, mask = source[first : first + boards], on_board[first : first + boards]
            buffers[0, : portion.size] = portion.reshape(-1)
            for part in self._parts:
                part(buffers, portion.shape[:3], mask)
            out[first : first + boards] = buffers[0, : portion.size].reshape(portion.shape)
        return out

    def _add_blocks(self, blocks: tuple[BlockDesc, ...], values: Values, channels: int, level: int) -> None:
        """Adds the steps of blocks that work on the buffer of a level, which has this many channels."""
        for number, block in enumerate(blocks):
            self._add(block, values.at(str(number)), channels, level)

    def _add(self, block: BlockDesc, values: Values, channels: int, level: int) -> None:
        """Adds the steps of a block."""
        if isinstance(block, BottleneckBlockDesc):
            inner = block.pre_conv.out_channels
            before = values.activation("pre_norm", block.pre_act, channels)
            self._add_convolution(before, [values.conv("pre_conv")], level, level + 1)
            self._add_blocks(block.blocks, values.at("blocks"), inner, level + 1)
            after = values.activation("post_norm", block.post_act, inner)
            self._add_convolution(after, [values.conv("post_conv")], level + 1, level, adds=True)
        elif isinstance(block, PoolingBlockDesc):
            self._add_pooling_block(block, values, channels, level)
        elif isinstance(block, AttentionBlockDesc):
            self._add_transformer(Attention(block, values, self._half), channels, level)
        elif isinstance(block, FeedForwardBlockDesc):
            self._add_transformer(FeedForward(block, values, self._half), channels, level)
        else:
            assert isinstance(block, OrdinaryBlockDesc)
            before = values.activation("pre_norm", block.pre_act, channels)
            self._add_convolution(before, [values.conv("conv1")], level, level + 1)
            between = values.activation("mid_norm", block.mid_act, block.conv1.out_channels)
            self._add_convolution(between, [values.conv("conv2")], level + 1, level, adds=True)

    def _add_pooling_block(self, block: PoolingBlockDesc, values: Values, channels: int, level: int) -> None:
        # Both convolutions in one: the regular channels first, then those that are pooled. The second convolution
        # reads the regular ones alone, shifted by the pooled ones' result.
        regular, pooled = block.conv1.out_channels, block.pool_conv.out_channels
        both = whole_lanes(regular + pooled)
        before = values.activation("pre_norm", block.pre_act, channels)
        self._add_convolution(before, [values.conv("conv1"), values.conv("pool_conv")], level, level + 1)
        linear, kind = values.linear("pool_matmul"), KINDS[block.pool_act.kind]
        self._run().add_pooling(linear, kind, level + 1, both, regular, pooled)
        between = values.activation("mid_norm", block.mid_act, regular)
        self._add_convolution(between, [values.conv("conv2")], level + 1, level, channels=both, adds=True, shifted=True)

    def _add_convolution(
        self,
        activation: Activation,
        convs: list[Conv],
        source: int,
        target: int,
        *,
        channels: int | None = None,
        adds: bool = False,
        shifted: bool = False,
    ) -> None:
        """Adds a convolution; see `_Run.add_convolution`. The default of `channels` is what the convolution reads."""
        conv = ActivatedConv(activation, convs, self._half)
        channels = channels or whole_lanes(len(conv.scale))
        self._levels = max(self._levels, target + 1)
        self._max_channels = max(self._max_channels, channels, len(conv.bias))
        self._run().add_convolution(conv, source, channels, target, adds=adds, shifted=shifted)

    def _add_transformer(self, block: Attention | FeedForward, channels: int, level: int) -> None:
        self._max_channels = max(self._max_channels, whole_lanes(channels))
        self._parts.append(_Transformer(block, level, whole_lanes(channels)))

    def _run(self) -> _Run:
        """Returns the run to add steps to: the last one, or a new one after a transformer block."""
        if not self._parts or not isinstance(self._parts[-1], _Run):
            self._parts.append(_Run(self._half))
        run = self._parts[-1]
        assert isinstance(run, _Run)
        return run


class _Concatenation:
    """Concatenates arrays and keeps the index at which each begins."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0

    def add(self, part: np.ndarray) -> int:
        """Appends an array; returns where it begins."""
        self._parts.append(part.ravel())
        self._size += part.size
        return self._size - part.size

    def array(self) -> np.ndarray:
        return np.concatenate(self._parts)
