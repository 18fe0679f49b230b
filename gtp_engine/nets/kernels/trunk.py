"""Runs of a trunk's blocks as compiled calls over a few buffers.

The convolutions and poolings between two transformer blocks become a table of steps, which one compiled call executes.
The heads' convolutions are such steps too. Few calls keep Python, and its global lock, out of the way of threads that
evaluate side by side, and make small batches quick.

Buffers have levels: level 0 holds the tensor that passes from block to block, level 1 what is inside a block, and so on
for blocks inside blocks.
"""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...base.jit import njit
from ..schema import (
    AttentionBlockDesc,
    BlockDesc,
    BottleneckBlockDesc,
    ConvDesc,
    FeedForwardBlockDesc,
    MatMulDesc,
    OrdinaryBlockDesc,
    PoolingBlockDesc,
    TrunkDesc,
    walk_paths,
)
from .amx import begin_products, end_products
from .convolution import Kernel, convolve_1x1, places_of
from .direct import MANY_CHANNELS, activate_board, add_and_activate, clear_margins, convolve_board, step_offsets
from .grid import Grid, aligned, memory_of
from .integers import convolve_integers
from .layers import DIRECT, ActivatedConv, Activation, Linear, Values, filled, global_pool, multiply_add
from .matmul import TILES, input_count, integers_for, whole_lanes
from .passes import Before
from .scalars import KINDS
from .transformer import Attention, FeedForward
from .winograd import best_tile_side, convolve_3x3

# A large batch is evaluated in portions whose tensors stay in the last-level cache: 6 blocks of 96 channels become
# 9 % faster with 64 boards of 19x19, 6 % with 100 of 9x9 (Zen 5), and smaller networks no slower. Weights that are
# larger than the cache are read from memory again for every portion, which therefore has a few boards at least.
_PORTION_VALUES, _PORTION_BOARDS = 750_000, 8
# In tiles products take so little time that tensors have to stay in the second-level cache: b6c64 is 6 % faster in
# portions of 4 boards of 19x19 than of 8. Weights that do not fit into it are worth more boards (b15c192: 5 %).
_TILE_PORTION_VALUES, _CACHED_WEIGHTS = 300_000, 2_000_000

_CONVOLUTION, _POOLING = 0, 1
_IN_TILES = np.zeros(0, TILES)  # what `begin_products` needs

# One row of the table of steps. Parameters lie one after the other in the array `values` (a convolution's scale, shift,
# factors, bias and encoding; a pooling's matrix and bias), packed kernels in one of the arrays of `_Tables`: a step has
# the indices where its own begin.
_STEP = np.dtype(
    [
        (name, np.int64)
        for name in (
            "kind",
            "source",  # level of the buffer that is read
            "source_channels",  # the number of its channels
            "outputs",  # number of output channels
            "activation",
            "values",  # where the parameters begin
            # Of convolutions:
            "target",  # level of the buffer that is written
            "adds",  # whether the result is added to what the target holds
            "inputs",  # the number of channels read, from the first on
            "is_shifted",  # whether the result of the last pooling is added before the activation
            "is_of_integers",
            "feeds",  # whether the next step's activation is computed at once (`direct`)
            "stores",  # whether anything else reads the result
            "weights",  # where the kernel begins
            "blocks",  # the next four: shape of the packed kernel
            "cells",
            "lines",
            "columns",
            # Of poolings:
            "first",  # the first channel to pool
            "pooled",  # the number of channels to pool
        )
    ]
)


class _Tables(NamedTuple):
    """What a run of steps consists of."""

    steps: np.ndarray  # _STEP [n]
    values: np.ndarray  # float32: all parameters but the packed kernels
    # The packed kernels of 1x1 convolutions, those of 3x3, and both again for those of 8-bit integers. In tiles those
    # of 3x3 are with the others. None if there are none, so that no code for them is compiled: on a CPU without the
    # instructions for integers LLVM ends the process, and the machine code of wheels for such CPUs does not have it.
    products: np.ndarray | None  # of the type that says how products are computed (`matmul`)
    windows: np.ndarray | None  # of the same type
    integers: np.ndarray | None  # uint8, or int8 for tiles
    integer_windows: np.ndarray | None  # uint8


class _Tensors(NamedTuple):
    """What a step works on."""

    x: np.ndarray  # float32 [n, rows, channels]
    pooled: np.ndarray  # float32 [n, channels], the result of the last pooling
    grid: Grid
    on_board: np.ndarray  # as `Grid.mask` returns it
    out: np.ndarray  # float32 [n, rows, channels]


class _Handed(NamedTuple):
    """Activated rows of all boards in tiles, which a step writes for the next one, as bytes: see `_feed`."""

    is_fed: bool  # whether the last step did
    fed: np.ndarray  # what it wrote
    feed: np.ndarray  # memory for what this step writes


@njit
def run_steps(tables: _Tables, count: int, grid: Grid, on_board: np.ndarray, buffers: np.ndarray) -> None:
    """Executes steps over `buffers`, with products in vectors.

    Args:
        tables: The steps.
        on_board: As `Grid.mask` returns it.
        buffers: float32 [levels, capacity]; each level holds a tensor [count, rows, channels].
    """
    state = begin_products(tables.values)
    pooled = np.zeros((count, 1), np.float32)
    for index in range(len(tables.steps)):
        step = tables.steps[index]
        tensors = _tensors(step, count, pooled, grid, on_board, buffers)
        if step["kind"] == _POOLING:
            pooled = _pool(step, tables.values, tensors.x, on_board)
        else:
            _convolve(step, tables, tensors)
    end_products(tables.values, state)


@njit
def run_steps_in_tiles(tables: _Tables, count: int, grid: Grid, on_board: np.ndarray, buffers: np.ndarray) -> None:
    """Executes steps as `run_steps` does, with products in tiles."""
    steps = tables.steps
    state = begin_products(_IN_TILES)
    pooled = np.zeros((count, 1), np.float32)
    # Inputs are rounded up to whole tiles, channels to whole vectors.
    channels = (buffers.shape[1] // (count * grid.rows) + 63) // 64 * 64
    capacity = 2 * count * (grid.rows + 2 * (grid.pitch + 1)) * channels
    handed = _Handed(False, memory_of(capacity), memory_of(capacity))
    for index in range(len(steps)):
        step, follower = steps[index], steps[min(index + 1, len(steps) - 1)]
        tensors = _tensors(step, count, pooled, grid, on_board, buffers)
        if step["kind"] == _POOLING:
            pooled = _pool(step, tables.values, tensors.x, on_board)
            continue
        if step["is_of_integers"] > 0:
            _convolve_in_tiles(step, follower, tables.integers, tables, tensors, handed)
        else:
            _convolve_in_tiles(step, follower, tables.products, tables, tensors, handed)
        handed = _Handed(step["feeds"] > 0, handed.feed, handed.fed)
    end_products(_IN_TILES, state)


@njit
def _tensors(
    step: Any, count: int, pooled: np.ndarray, grid: Grid, on_board: np.ndarray, buffers: np.ndarray
) -> _Tensors:
    """Returns what a step works on; `out` is meaningless for a pooling."""
    # A buffer's shape changes with the step that uses it: its tensor is a view of its beginning.
    rows, channels, outputs = count * grid.rows, step["source_channels"], step["outputs"]
    source = buffers[step["source"], : rows * channels].reshape((count, grid.rows, channels))
    target = buffers[step["target"], : rows * outputs].reshape((count, grid.rows, outputs))
    return _Tensors(source, pooled, grid, on_board, target)


@njit
def _convolve_in_tiles(
    step: Any, follower: Any, packed: np.ndarray | None, tables: _Tables, tensors: _Tensors, handed: _Handed
) -> None:
    """Computes a convolution by the kernels in `packed`, and the activation of the next one if it is to feed that."""
    if packed is None:
        return
    kernel, grid, adds = _kernel(step, packed, tables.values), tensors.grid, step["adds"] > 0
    inputs = input_count(kernel.weights[:, 0])
    offsets = step_offsets(places_of(step["cells"], grid.pitch), kernel.weights, inputs * packed.itemsize)
    before = _before(step, tables.values, tensors.pooled)
    for image in range(len(tensors.x)):
        # What is activated here is needed once: the same memory for all boards stays in the cache.
        left = _board_in(handed.fed, image if handed.is_fed else 0, grid, inputs, packed)
        if not handed.is_fed:
            activate_board(tensors.x, tensors.on_board, image, before, grid.pitch, left)
        if step["feeds"] == 0:
            convolve_board(left, offsets, kernel, adds, tensors.out[image])
        elif follower["is_of_integers"] > 0:
            _feed(step, follower, tables.integers, tables.values, left, offsets, kernel, tensors, image, handed.feed)
        else:
            _feed(step, follower, tables.products, tables.values, left, offsets, kernel, tensors, image, handed.feed)


@njit
def _feed(
    step: Any,
    follower: Any,
    like: np.ndarray | None,
    values: np.ndarray,
    left: np.ndarray,
    offsets: np.ndarray,
    kernel: Kernel,
    tensors: _Tensors,
    image: int,
    feed: np.ndarray,
) -> None:
    """Computes a convolution of a board, and the activation of the next one, with weights of the type of `like`."""
    if like is None:
        return
    grid, after = tensors.grid, _before(follower, values, tensors.pooled)
    target = _board_in(feed, image, grid, follower["lines"] * 4 // like.itemsize, like)
    clear_margins(target, grid.pitch, after)
    inside, adds, stores = target[grid.pitch + 1 :], step["adds"] > 0, step["stores"] > 0
    add_and_activate(left, offsets, kernel, adds, stores, tensors.out[image], tensors.on_board[image], after, inside)


@njit
def _board_in(memory: np.ndarray, image: int, grid: Grid, inputs: int, like: np.ndarray) -> np.ndarray:
    """Returns the rows of a board between margins, [rows, inputs] of the type of `like`, as a view of memory."""
    rows = grid.rows + 2 * (grid.pitch + 1)
    size = rows * inputs * like.itemsize
    return memory[image * size : (image + 1) * size].view(like.dtype).reshape((rows, inputs))


@njit
def _before(step: Any, values: np.ndarray, pooled: np.ndarray) -> Before:
    """Returns what precedes a convolution."""
    inputs, own = step["inputs"], values[step["values"] :]
    shift = pooled if step["is_shifted"] > 0 else own[inputs : 2 * inputs].reshape((1, inputs))
    return Before(step["activation"], own[:inputs], shift, own[2 * (inputs + step["outputs"]) :][:2])


@njit
def _kernel(step: Any, packed: np.ndarray, values: np.ndarray) -> Kernel:
    """Returns the kernel of a step."""
    shape, outputs = (step["blocks"], step["cells"], step["lines"], step["columns"]), step["outputs"]
    weights = packed[step["weights"] :][: shape[0] * shape[1] * shape[2] * shape[3]].reshape(shape)
    own = values[step["values"] + 2 * step["inputs"] :]
    return Kernel(weights, own[:outputs], own[outputs : 2 * outputs])


@njit
def _convolve(step: Any, tables: _Tables, tensors: _Tensors) -> None:
    """Computes a convolution in vectors."""
    is_of_integers = step["is_of_integers"] > 0
    if step["cells"] == 1 and is_of_integers:
        _convolve_by(convolve_1x1, step, tables.integers, tables.values, tensors)
    elif step["cells"] == 1:
        _convolve_by(convolve_1x1, step, tables.products, tables.values, tensors)
    elif is_of_integers:
        _convolve_by(convolve_integers, step, tables.integer_windows, tables.values, tensors)
    else:
        _convolve_by(convolve_3x3, step, tables.windows, tables.values, tensors)


@njit
def _convolve_by(
    convolve: Callable[..., None], step: Any, packed: np.ndarray | None, values: np.ndarray, tensors: _Tensors
) -> None:
    """Computes a convolution by one of the functions for vectors, and the kernels in `packed`."""
    if packed is None:
        return
    kernel, before, adds = _kernel(step, packed, values), _before(step, values, tensors.pooled), step["adds"] > 0
    convolve(tensors.x, tensors.on_board, tensors.grid, before, kernel, adds, tensors.out)


@njit
def _pool(step: Any, values: np.ndarray, x: np.ndarray, on_board: np.ndarray) -> np.ndarray:
    """Returns what a pooling adds to the next convolution's inputs: float32 [n, outputs]."""
    pooled, outputs = step["pooled"], step["outputs"]
    features = np.empty((len(x), 3 * pooled), np.float32)
    global_pool(x, step["first"], pooled, step["activation"], on_board, True, features)
    shift = np.empty((len(x), outputs), np.float32)
    own, size = values[step["values"] :], 3 * pooled * outputs
    multiply_add(features, own[:size].reshape((3 * pooled, outputs)), own[size : size + outputs], shift)
    return shift


class Pooling(NamedTuple):
    """Global pooling of some of the channels between two convolutions."""

    kind: int  # the activation of the channels, one of the values of `scalars.KINDS`
    first: int  # the first channel
    channels: int  # how many there are
    linear: Linear  # the matrix that follows


class Run:
    """Steps that are executed by one compiled call, a part of a trunk; `products` as in `CompiledBlocks`."""

    def __init__(self, products: "np.dtype[Any]") -> None:
        self.products = products
        self._steps: list[tuple[Any, ActivatedConv | None]] = []  # _STEP and, but for poolings, the convolution
        self._values: list[np.ndarray] = []
        self._tables: dict[int, _Tables] = {}  # by the side of the tiles
        self._lock = threading.Lock()

    def add_convolution(
        self, conv: ActivatedConv, source: int, channels: int, target: int, *, adds: bool, shifted: bool
    ) -> None:
        """Adds a convolution, with its activation, from the buffer of the level `source` to that of `target`.

        The source's channels may be more than the convolution reads. If `adds`, the result is added to what the target
        holds; if `shifted`, that of the last pooling is added before the activation.
        """
        kind, scale, shift, encoding = conv.before
        values = scale, shift, conv.factors, conv.bias, encoding
        step = self._add_step(_CONVOLUTION, source, channels, conv, *values)
        step["target"], step["adds"], step["activation"], step["is_shifted"] = target, adds, kind, shifted
        step["inputs"], step["outputs"] = len(scale), len(conv.bias)

    def add_pooling(self, pooling: Pooling, source: int, channels: int) -> None:
        """Adds global pooling of the buffer of the level `source`, which has this many channels."""
        kind, first, pooled, linear = pooling
        step = self._add_step(_POOLING, source, channels, None, linear.weight, linear.bias)
        step["first"], step["pooled"], step["activation"], step["outputs"] = first, pooled, kind, len(linear.bias)

    def _add_step(self, kind: int, source: int, channels: int, conv: ActivatedConv | None, *values: np.ndarray) -> Any:
        step = np.zeros((), _STEP)
        step["kind"], step["source"], step["source_channels"] = kind, source, channels
        step["values"] = sum(map(len, self._values))
        # Each begins at a cache line.
        self._values += [filled(each.ravel()) for each in values]
        self._steps.append((step, conv))
        return step

    def __call__(self, buffers: np.ndarray, count: int, grid: Grid, on_board: np.ndarray) -> None:
        """Executes the steps for a number of boards; on_board: as `Grid.mask` returns it."""
        in_tiles = self.products == TILES
        side = DIRECT if in_tiles else best_tile_side(grid.height, grid.width)
        with self._lock:  # otherwise each thread would pack the weights for itself
            if side not in self._tables:
                self._tables[side] = self._make_tables(grid)
        run = run_steps_in_tiles if in_tiles else run_steps
        run(self._tables[side], count, grid, on_board, buffers)

    def _make_tables(self, grid: Grid) -> _Tables:
        """Returns what `run_steps` needs for boards of this size."""
        # Filled kernel by kernel: a second copy of all of them would double the memory for a while.
        kernels = {name: aligned((size,), kind) for (name, kind), size in self._sizes(grid).items()}
        used = dict.fromkeys(kernels, 0)
        table = np.array([step for step, _ in self._steps])
        for row, (_, conv) in zip(table, self._steps, strict=True):
            if conv is None:
                continue
            kernel, (name, _) = conv.packed(grid), self._place(conv)
            row["is_of_integers"], row["weights"] = conv.is_of_integers, used[name]
            row["blocks"], row["cells"], row["lines"], row["columns"] = kernel.shape
            kernels[name][used[name] : used[name] + kernel.size] = kernel.ravel()
            used[name] += kernel.size
        if self.products == TILES:
            _mark_feeding(table)
        values = np.concatenate(self._values, out=aligned((sum(map(len, self._values)),)))
        return _Tables(table, values, *(kernels.get(name) for name in _Tables._fields[2:]))

    def _sizes(self, grid: Grid) -> Counter[tuple[str, "np.dtype[Any]"]]:
        """Returns the lengths of the arrays of packed kernels that there are, by name and type."""
        sizes: Counter[tuple[str, np.dtype[Any]]] = Counter()
        for _, conv in self._steps:
            if conv is not None:
                sizes[self._place(conv)] += conv.packed_size(grid)
        return sizes

    def _place(self, conv: ActivatedConv) -> tuple[str, "np.dtype[Any]"]:
        """Returns the name of the field of `_Tables` that holds the kernel of a convolution, and its type."""
        is_apart = conv.kernel_side > 1 and self.products != TILES
        if conv.is_of_integers:
            return "integer_windows" if is_apart else "integers", integers_for(self.products)
        return "windows" if is_apart else "products", self.products


def _mark_feeding(steps: np.ndarray) -> None:
    """Fills in `feeds` and `stores` of a table of steps."""
    for step, follower, rest in ((steps[k], steps[k + 1], steps[k + 2 :]) for k in range(len(steps) - 1)):
        convolutions = step["kind"] == follower["kind"] == _CONVOLUTION
        shared = (step["target"], step["outputs"]) == (follower["source"], follower["inputs"])
        # The sums of integers become float32 in a pass of their own in any case.
        pays = step["outputs"] >= MANY_CHANNELS or step["is_of_integers"]
        step["feeds"] = convolutions and shared and pays and not follower["is_shifted"]
        step["stores"] = _is_read(step["target"], follower, rest)


def _is_read(level: int, follower: Any, rest: np.ndarray) -> bool:
    """Whether what a step wrote to a level is read other than as the input of its follower."""
    if follower["target"] == level:
        return bool(follower["adds"])
    for step in rest:
        if step["source"] == level or (step["kind"] == _CONVOLUTION and step["target"] == level and step["adds"]):
            return True
        if step["kind"] == _CONVOLUTION and step["target"] == level:
            return False
    return True  # by what comes after these steps


Part = Callable[[np.ndarray, int, Grid, np.ndarray], None]
"""A part of a trunk: it works on the buffers of a number of boards, whose mask `Grid.mask` returns."""


def tensor_in(buffer: np.ndarray, count: int, grid: Grid, channels: int) -> np.ndarray:
    """Returns the tensor [count, rows, channels] at the beginning of a buffer."""
    return buffer[: count * grid.rows * channels].reshape(count, grid.rows, channels)


class CompiledBlocks:
    """The blocks of a trunk, whose norms are folded. Tensors have their channels rounded up to a multiple of `LANES`.

    `products` is the type of packed weights that are not of 8-bit integers (`matmul`).
    """

    def __init__(self, trunk: TrunkDesc, values: Values, products: "np.dtype[Any]") -> None:
        self._products = products
        self._parts: list[Part] = []
        self._levels, self._max_channels, self._weights = 1, whole_lanes(trunk.conv.out_channels), 0
        for part in (desc for block in trunk.blocks for _, desc in walk_paths(block, "")):
            if isinstance(part, ConvDesc | MatMulDesc):
                size = part.height * part.width if isinstance(part, ConvDesc) else 1
                self._weights += size * part.in_channels * part.out_channels
        self._add_blocks(trunk.blocks, values.at("blocks"), trunk.conv.out_channels, 0)

    def portion(self, grid: Grid) -> int:
        """Returns how many boards are to be evaluated together at most."""
        values, least = _PORTION_VALUES, _PORTION_BOARDS
        if self._products == TILES:
            values, least = _TILE_PORTION_VALUES, 1 if self._weights < _CACHED_WEIGHTS else _PORTION_BOARDS
        return max(least, values // (self._levels * grid.rows * self._max_channels))

    def new_buffers(self, count: int, grid: Grid) -> np.ndarray:
        """Returns memory for a number of boards, float32 [levels, capacity]; the input belongs at its beginning."""
        # Allocated for each call: threads that evaluate side by side must not share them.
        return aligned((self._levels, count * grid.rows * self._max_channels))

    def __call__(self, buffers: np.ndarray, count: int, grid: Grid, on_board: np.ndarray) -> None:
        """Replaces the tensor in `new_buffers`, [count, rows, channels], by what the last part returns for it.

        on_board: As `Grid.mask` returns it.
        """
        for part in self._parts:
            part(buffers, count, grid, on_board)

    def add(self, part: Part) -> None:
        """Adds a part that works on these buffers."""
        self._parts.append(part)

    def add_pooled(self, into: ActivatedConv, pooling: Pooling, back: ActivatedConv, level: int, *, adds: bool) -> None:
        """Adds convolutions from the buffer of a level to the next one, and back.

        Channels between them are pooled; the result is added before the second one's activation.
        """
        channels = len(into.bias)
        self._add_convolution(into, level, level + 1)
        self._run(into.products).add_pooling(pooling, level + 1, channels)
        self._add_convolution(back, level + 1, level, channels=channels, adds=adds, shifted=True)

    def _add_blocks(self, blocks: tuple[BlockDesc, ...], values: Values, channels: int, level: int) -> None:
        """Adds the steps of blocks that work on the buffer of a level, which has this many channels."""
        for number, block in enumerate(blocks):
            self._add(block, values.at(str(number)), channels, level)

    def _add(self, block: BlockDesc, values: Values, channels: int, level: int) -> None:
        """Adds the steps of a block."""
        if isinstance(block, BottleneckBlockDesc):
            inner = block.pre_conv.out_channels
            before = values.activation("pre_norm", block.pre_act, channels)
            self._add_convolution(self._conv(before, values, "pre_conv"), level, level + 1)
            self._add_blocks(block.blocks, values.at("blocks"), inner, level + 1)
            after = values.activation("post_norm", block.post_act, inner)
            self._add_convolution(self._conv(after, values, "post_conv"), level + 1, level, adds=True)
        elif isinstance(block, PoolingBlockDesc):
            self._add_pooling_block(block, values, channels, level)
        elif isinstance(block, AttentionBlockDesc):
            self._add_transformer(Attention(block, values, self._products), channels, level)
        elif isinstance(block, FeedForwardBlockDesc):
            self._add_transformer(FeedForward(block, values, self._products), channels, level)
        else:
            assert isinstance(block, OrdinaryBlockDesc)
            before = values.activation("pre_norm", block.pre_act, channels)
            self._add_convolution(self._conv(before, values, "conv1"), level, level + 1)
            between = values.activation("mid_norm", block.mid_act, block.conv1.out_channels)
            self._add_convolution(self._conv(between, values, "conv2"), level + 1, level, adds=True)

    def _add_pooling_block(self, block: PoolingBlockDesc, values: Values, channels: int, level: int) -> None:
        # Both convolutions in one: the regular channels first, then those that are pooled. The second convolution
        # reads the regular ones alone, shifted by the pooled ones' result.
        regular, pooled = block.conv1.out_channels, block.pool_conv.out_channels
        before = values.activation("pre_norm", block.pre_act, channels)
        between = values.activation("mid_norm", block.mid_act, regular)
        into, back = self._conv(before, values, "conv1", "pool_conv"), self._conv(between, values, "conv2")
        pooling = Pooling(KINDS[block.pool_act.kind], regular, pooled, values.linear("pool_matmul"))
        self.add_pooled(into, pooling, back, level, adds=True)

    def _conv(self, activation: Activation, values: Values, *names: str) -> ActivatedConv:
        return ActivatedConv(activation, [values.conv(name) for name in names], self._products)

    def _add_convolution(
        self,
        conv: ActivatedConv,
        source: int,
        target: int,
        *,
        channels: int | None = None,
        adds: bool = False,
        shifted: bool = False,
    ) -> None:
        """Adds a convolution; see `Run.add_convolution`. The default of `channels` is what the convolution reads."""
        channels = channels or len(conv.before.scale)
        self._levels = max(self._levels, target + 1)
        self._max_channels = max(self._max_channels, channels, len(conv.bias))
        self._run(conv.products).add_convolution(conv, source, channels, target, adds=adds, shifted=shifted)

    def _add_transformer(self, block: Attention | FeedForward, channels: int, level: int) -> None:
        """Adds a transformer block that works on the buffer of a level in place."""
        width = whole_lanes(channels)

        def run(buffers: np.ndarray, count: int, grid: Grid, on_board: np.ndarray) -> None:
            block(tensor_in(buffers[level], count, grid, width), grid, on_board)

        self._max_channels = max(self._max_channels, width)
        self._parts.append(run)

    def _run(self, products: "np.dtype[Any]") -> Run:
        """Returns the run to add steps to: the last part, or a new one."""
        last = self._parts[-1] if self._parts else None
        if isinstance(last, Run) and last.products == products:
            return last
        run = Run(products)
        self._parts.append(run)
        return run
