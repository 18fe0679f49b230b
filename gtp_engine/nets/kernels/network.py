"""Whole networks as compiled code: from the inputs to the heads' raw outputs, all of them numpy arrays.

Products of the trunk are float32 or bfloat16, or of 8-bit integers where the network was quantised; tensors between
them are float32. So are the products of the first convolution and the heads, a few percent of the work, unless tiles
are used. How much faster products are in other precisions on this CPU is measured; which one is used is stored with the
compiled code.
"""

import contextlib
import math
import time
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from ...base.files import write_text
from ...base.jit import CACHE_FOLDER, njit
from ...base.jit import config as jit_config
from ..config import NetworkConfig
from ..quantisation import quantisable
from ..schema import (
    METADATA,
    ConvDesc,
    PolicyHeadDesc,
    PoolingBlockDesc,
    TipRMSNormDesc,
    TrunkDesc,
    ValueHeadDesc,
    walk,
)
from ..stored import RawOutputs, StoredNetwork, fold_norms
from .amx import begin_products, end_products
from .direct import convolve_planes_directly
from .emit import LANES, data_address
from .grid import Grid, aligned
from .layers import ActivatedConv, Activation, Linear, Values, global_pool, plain_activation
from .llvm import HAS_BFLOAT16, HAS_FLOAT32, HAS_INT8, HAS_TILES
from .matmul import (
    BFLOAT16,
    CHUNK,
    FLOAT32,
    TILES,
    convolve_im2col,
    encode_rows,
    matmul,
    pack_integers,
    pack_matrices,
    pack_matrix,
    to_bfloat16,
    whole_lanes,
)
from .passes import scale_vectors, sum_of_squares
from .scalars import KINDS
from .trunk import CompiledBlocks


def can_compile(config: NetworkConfig, precision: str) -> bool:
    """Whether a network of this architecture can be a `CompiledNetwork` on this CPU in this precision.

    The CPU needs the vector instructions, and convolutions have to be those for which there are kernels: 1x1 or 3x3,
    and the trunk's first one of any odd size, as in KataGo's networks.
    """
    integers = has_int8() and bool(quantisable(config, half_products() == TILES))
    if not {"float32": has_float32(), "bfloat16": has_bfloat16(), "int8": integers}.get(precision):
        return False
    first, policy = config.trunk.conv, config.policy
    # Convolutions that are computed as one.
    alike = [(policy.conv, policy.pool_conv), (policy.conv, config.value.conv)]
    alike += [(part.conv1, part.pool_conv) for part in walk(config) if isinstance(part, PoolingBlockDesc)]
    convs = [part for part in walk(config) if isinstance(part, ConvDesc)]
    return (
        first.height == first.width
        and all((conv.dilation_y, conv.dilation_x) == (1, 1) for conv in convs)
        and all(conv is first or (conv.height, conv.width) in ((1, 1), (3, 3)) for conv in convs)
        and all(one.height == other.height for one, other in alike)
    )


def has_float32() -> bool:
    """Whether there are kernels for this CPU, and code is compiled."""
    return HAS_FLOAT32 and not jit_config.DISABLE_JIT


def has_bfloat16() -> bool:
    """Whether there are kernels for bfloat16 on this CPU."""
    return HAS_BFLOAT16 and has_float32()


def half_products() -> "np.dtype[Any]":
    """Returns how products of bfloat16 are computed on this CPU, in this process."""
    return TILES if HAS_TILES else BFLOAT16


def has_int8() -> bool:
    """Whether there are kernels for 8-bit integers on this CPU."""
    return HAS_INT8 and has_float32()


class CompiledNetwork:
    """A network for evaluation on a CPU. Threads may call it side by side.

    Args:
        network: The network; `can_compile` has to accept it.
        products: The type of packed weights that are not of 8-bit integers (`matmul`): how products are computed.
        quantised: The values of `network.quantisation.Quantised`, if some products are to be of 8-bit integers.
    """

    def __init__(
        self,
        network: StoredNetwork,
        products: "np.dtype[Any]",
        quantised: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        assert products != TILES or HAS_TILES  # without permission the first instruction would end the process
        self._takes_metadata = network.config.metadata_version > 0
        values, trunk = Values({**fold_norms(network), **quantised}), network.config.trunk
        self._in_tiles = products == TILES
        # A few percent of the work: in float32 it costs little and loses nothing. Tiles leave no time for it.
        outside = products if self._in_tiles else FLOAT32
        self._input = _Input(trunk, values.at("trunk"), outside)
        self._blocks = CompiledBlocks(trunk, values.at("trunk"), products)
        self._tip = _Tip(trunk, values.at("trunk"))
        # The convolutions of the trunk's tip in one: that of the value head, and both of the policy head.
        value, policy = values.at("value"), values.at("policy")
        convs = [value.conv("conv"), policy.conv("conv"), policy.conv("pool_conv")]
        self._heads = ActivatedConv(self._tip.activation, convs, outside)
        self._value = _ValueHead(network.config.value, value, outside)
        self._policy = _PolicyHead(network.config.policy, policy, network.config.value.conv.out_channels, outside)

    def __call__(
        self, planes: np.ndarray, scalars: np.ndarray, metadata: np.ndarray | None = None, *, full_board: bool = False
    ) -> RawOutputs[np.ndarray]:
        """Evaluates positions.

        Args:
            planes: uint8 [n, h, w, 22]. Plane 0 is 1 on the board; smaller boards lie in the top left corner.
            scalars: float32 [n, 19].
            metadata: float32 [n, 192], for networks that imitate human players.
            full_board: Whether all boards fill the tensor, which saves the masks.

        Returns:
            float32 arrays of this call's own.
        """
        if self._takes_metadata and metadata is None:
            raise ValueError(f"the network needs metadata of the players: {METADATA} numbers")
        count, height, width, _ = planes.shape
        grid = Grid.of(height, width, self._in_tiles)
        # Not by np.array_split, which takes 50 us.
        portions = -(-count // self._blocks.portion(grid))
        boards = -(-count // portions)
        found = []
        for first in range(0, count, boards):
            part = slice(first, first + boards)
            people = None if metadata is None else metadata[part]
            found.append(self._evaluate(planes[part], scalars[part], people, grid, full_board))
        return found[0] if portions == 1 else RawOutputs(*map(np.concatenate, zip(*found, strict=True)))

    def _evaluate(
        self, planes: np.ndarray, scalars: np.ndarray, metadata: np.ndarray | None, grid: Grid, full_board: bool
    ) -> RawOutputs[np.ndarray]:
        """Evaluates positions whose tensors stay in the last-level cache."""
        count = len(planes)
        on_board = grid.mask(None if full_board else planes[..., 0] > 0, count)
        buffers = self._blocks.new_buffers(count, grid)
        x = buffers[0, : count * grid.rows * self._input.channels].reshape(count, grid.rows, -1)
        self._input(planes, grid, scalars, metadata, x)
        self._blocks(buffers, count, grid, on_board)
        self._tip.normalise(x, on_board)
        y = self._heads(x, grid, on_board)
        return RawOutputs(self._policy(y, grid, on_board), *self._value(y, grid, on_board))


class _Input:
    """The trunk's first convolution, and what the scalar inputs and the metadata add to it.

    It has few input planes, so that Winograd's tiles would mostly hold padding; a matrix of windows does better. It is
    float32: rounding its weights to bfloat16 moves the lead by 0.1 points on average, as long as it is a few percent of
    the work (b7c96h3tfrs, 450 positions of 19x19). In tiles the weights are the sum of two kernels of bfloat16, the
    second of what rounding takes from the first.
    """

    def __init__(self, trunk: TrunkDesc, values: Values, products: "np.dtype[Any]") -> None:
        self._side, self._channels = trunk.conv.height, trunk.conv.out_channels
        self.channels = whole_lanes(self._channels)
        kernel, self._in_tiles = values["conv.weight"].transpose(0, 2, 3, 1), products == TILES
        if self._in_tiles:
            rounded = (to_bfloat16(kernel).astype(np.uint32) << np.uint32(16)).view(np.float32)
            parts = [part.swapaxes(0, 1) for part in (rounded, kernel - rounded)]
            lines = np.concatenate([part.reshape(self._side, self._channels, -1) for part in parts])
            self._kernel = pack_matrices(lines, products)
        else:
            self._kernel = pack_matrix(kernel.reshape(self._channels, -1), FLOAT32)
        self._scalars = values.linear("matmul")
        self._encoder: list[Linear] = []  # of the players' metadata
        if (encoder := trunk.metadata) is not None:
            inner = values.at("metadata")
            hidden = [inner.linear("matmul1", "bias1", encoder.act1), inner.linear("matmul2", "bias2", encoder.act2)]
            self._encoder = [*hidden, inner.linear("matmul3")]

    def __call__(
        self, planes: np.ndarray, grid: Grid, scalars: np.ndarray, metadata: np.ndarray | None, out: np.ndarray
    ) -> None:
        """Writes what the trunk's blocks begin with: float32 [n, rows, channels]."""
        start = aligned((len(planes), self.channels))
        start[:, : self._channels], start[:, self._channels :] = self._scalars(scalars), 0
        if self._encoder and metadata is not None:
            for layer in self._encoder:
                metadata = layer(metadata)
            start[:, : self._channels] += metadata
        if self._in_tiles:
            convolve_planes_directly(np.ascontiguousarray(planes), grid.pitch, self._side, self._kernel, start, out)
        else:
            convolve_im2col(planes, self._kernel, self._side, start, out)


class _Tip:
    """The norm and the activation between the trunk's blocks and the heads.

    Attributes:
        activation: What the heads apply to their input: the activation, and a batch norm before it.
    """

    def __init__(self, trunk: TrunkDesc, values: Values) -> None:
        self._rms = trunk.tip_norm if isinstance(trunk.tip_norm, TipRMSNormDesc) else None
        if self._rms is None:
            self.activation = values.activation("tip_norm", trunk.tip_act, trunk.tip_norm.channels)
        else:
            scale, shift = values["tip_norm.weight"], values["tip_norm.bias"]
            self.activation = Activation(KINDS[trunk.tip_act.kind], scale, shift)

    def normalise(self, x: np.ndarray, on_board: np.ndarray) -> None:
        """Divides x, float32 [n, rows, channels], by its root mean square if the norm is of that kind, in place."""
        if self._rms is not None:
            divide_by_rms(x, on_board, self._rms.channels, self._rms.epsilon, self._rms.spatial)


@njit
def divide_by_rms(x: np.ndarray, on_board: np.ndarray, channels: int, epsilon: float, spatial: bool) -> None:
    """Divides x by its root mean square, in place.

    Args:
        x: float32 [n, points, channels or more]; those beyond are 0.
        on_board: bool [n, points], or [0, ...] if all points are on the board.
        channels: The number of channels.
        epsilon: Added to the mean square.
        spatial: Whether the mean is over all points on a board, or else over each point's channels.
    """
    count, points, width = x.shape
    vectors = width // LANES
    squares, ones = np.empty(points, np.float32), np.ones(width, np.float32)
    for image in range(count):
        total, area, first = 0.0, 0, data_address(x[image])
        for point in range(points):
            squares[point] = sum_of_squares(first + point * x.strides[1], vectors) / np.float32(channels)
            if len(on_board) == 0 or on_board[image, point]:
                total += squares[point]
                area += 1
        if spatial:
            squares[:] = total / area
        for point in range(points):
            factor, row = np.float32(1 / math.sqrt(squares[point] + epsilon)), first + point * x.strides[1]
            scale_vectors(x, row, data_address(ones), factor, row, vectors)


class _PolicyHead:
    """From the convolutions of the trunk's tip to the policy's logits.

    Args:
        head: The head.
        values: Its values.
        first: The channel from which on it reads: those for the moves first, then those that are pooled.
        products: How products are computed.
    """

    def __init__(self, head: PolicyHeadDesc, values: Values, first: int, products: "np.dtype[Any]") -> None:
        regular, self._pooled = head.conv.out_channels, head.pool_conv.out_channels
        self._first_pooled = first + regular
        self._pool_kind, self._pool_linear = KINDS[head.pool_act.kind], values.linear("pool_matmul").after(first)
        self._channels = head.out_conv.out_channels
        before = values.activation("norm", head.act, regular)
        self._out_conv = ActivatedConv(before.after(first), [values.conv("out_conv").after(first)], products)
        self._pass_layers = [values.linear("pass_matmul")]
        if head.pass_out is not None:
            self._pass_layers = [values.linear("pass_matmul", "pass_bias", head.pass_act), values.linear("pass_out")]

    def __call__(self, y: np.ndarray, grid: Grid, on_board: np.ndarray) -> np.ndarray:
        """Returns logits [n, channels, points + 1], the pass last."""
        pooled = np.empty((len(y), 3 * self._pooled), np.float32)
        global_pool(y, self._first_pooled, self._pooled, self._pool_kind, on_board, True, pooled)
        moves = grid.points(self._out_conv(y, grid, on_board, self._pool_linear(pooled)))
        logits = np.empty((len(y), self._channels, grid.height * grid.width + 1), np.float32)
        logits[:, :, :-1] = moves[..., : self._channels].transpose(0, 3, 1, 2).reshape(len(y), self._channels, -1)
        hidden = pooled
        for linear in self._pass_layers:
            hidden = linear(hidden)
        logits[:, :, -1] = hidden
        return logits


class _ValueHead:
    """Computes result, scores and ownership from the convolutions of the trunk's tip; the first one is its own."""

    def __init__(self, head: ValueHeadDesc, values: Values, products: "np.dtype[Any]") -> None:
        self._channels, self._kind = head.conv.out_channels, KINDS[head.act.kind]
        self._hidden = values.linear("matmul", "bias", head.hidden_act)
        self._value = values.linear("value_matmul", "value_bias")
        self._scores = values.linear("score_matmul", "score_bias")
        # The norm before it was folded into the convolution.
        before = plain_activation(head.act.kind, self._channels)
        self._ownership = ActivatedConv(before, [values.conv("ownership")], products)

    def __call__(self, y: np.ndarray, grid: Grid, on_board: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns value logits [n, 3], score values [n, 4 or 6], and ownership before its tanh [n, points]."""
        pooled = np.empty((len(y), 3 * self._channels), np.float32)
        global_pool(y, 0, self._channels, self._kind, on_board, False, pooled)
        hidden = self._hidden(pooled)
        ownership = grid.points(self._ownership(y, grid, on_board))[..., 0].reshape(len(y), -1)
        return self._value(hidden), self._scores(hidden), ownership


# Products are two thirds of a network's time: by this factor bfloat16 has to be faster for a gain of 15 % in all, which
# its rounding is worth.
_LEAST_GAIN = 1.25
_CHANNELS, _TRIAL_SECONDS, _REPEATS = 96, 0.05, 50


def bfloat16_is_faster() -> bool:
    """Returns whether products of bfloat16 are faster than those of float32; the CPU has to have them."""
    # A process that may not use tiles shares compiled code with others that may, but not their choice.
    file = CACHE_FOLDER / ("precision_with_tiles" if HAS_TILES else "precision") if CACHE_FOLDER else None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if file and (remembered := file.read_text()) in ("bfloat16", "float32"):
            return remembered == "bfloat16"
    is_faster = product_gain("bfloat16") > _LEAST_GAIN
    with contextlib.suppress(OSError):
        if file:
            write_text(file, "bfloat16" if is_faster else "float32")
    return is_faster


@cache  # the doctor shows the figure of the trial that decided
def product_gain(precision: str) -> float:
    """Returns how many times as fast as in float32 a product of the usual size is; the CPU has to have such products.

    The precisions alternate, and the shortest time of each counts, so that other programs disturb little. CPU time is
    of no use: on Windows its ticks are longer than one measurement.

    Args:
        precision: "bfloat16" or "int8".
    """
    weight, start = np.ones((_CHANNELS, _CHANNELS), np.float32), np.zeros((1, _CHANNELS), np.float32)
    out = aligned((CHUNK, _CHANNELS))
    is_int8 = precision == "int8"
    other = pack_integers(weight, np.ones(_CHANNELS, np.float32)) if is_int8 else pack_matrix(weight, half_products())
    factors = []
    for packed in (pack_matrix(weight, FLOAT32), other):
        values = aligned((CHUNK, _CHANNELS))
        values[:] = 1
        encode_rows(values, CHUNK, _CHANNELS, packed)
        left = values.view(packed.dtype)
        _multiply_once(left, packed, start, out)  # compiles
        factors.append((left, packed))
    times = [math.inf, math.inf]
    end = time.perf_counter() + _TRIAL_SECONDS
    while time.perf_counter() < end or math.inf in times:
        for number, (left, packed) in enumerate(factors):
            begin = time.perf_counter()
            for _ in range(_REPEATS):
                _multiply_once(left, packed, start, out)
            times[number] = min(times[number], time.perf_counter() - begin)
    return times[0] / times[1]


@njit
def _multiply_once(left: np.ndarray, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    state = begin_products(weights)
    matmul(left, CHUNK, weights, start, out)
    end_products(weights, state)
