"""Whole networks as compiled code: from the inputs to the heads' raw outputs, all of them numpy arrays.

Products of the trunk are float32 or bfloat16, or of 8-bit integers where the network was quantised; tensors between
them are float32. So are the products of the first convolution and the heads, a few percent of the work, unless tiles
are used. How much faster products are in other precisions on this CPU is measured; which one is used is stored with the
compiled code.
"""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from timeit import timeit
from types import MappingProxyType
from typing import Any

import numpy as np

from ...base.files import write_text
from ...base.jit import CACHE_FOLDER, njit
from ...base.jit import config as jit_config
from ..config import NetworkConfig
from ..quantisation import MATRICES, WINDOWS, kinds_of, multiples, scales_of
from ..schema import METADATA, ConvDesc, PoolingBlockDesc, TipRMSNormDesc, TrunkDesc, walk
from ..stored import RawOutputs, StoredNetwork, fold_norms
from .amx import begin_products, end_products
from .convolution import WIDE_ONES, Kernel, convolve_im2col
from .direct import convolve_planes_directly
from .emit import LANES, data_address
from .grid import EVERY_ROW, Grid, aligned
from .integers import convolve_integers, convolve_planes_by_integers
from .layers import ActivatedConv, Activation, Conv, Linear, Values, filled, global_pool, multiply_add
from .llvm import HAS_BFLOAT16, HAS_FLOAT32, HAS_INT8, HAS_TILES
from .matmul import (
    BFLOAT16,
    CHUNK,
    FLOAT32,
    INTEGERS,
    TILES,
    integers_for,
    matmul,
    pack_matrices,
    pack_matrix,
    whole_lanes,
)
from .passes import activate_values, scale_vectors, sum_of_squares
from .scalars import IDENTITY_KIND, KINDS
from .trunk import CompiledBlocks, Pooling, tensor_in
from .winograd import convolve_3x3


def can_compile(config: NetworkConfig, precision: str) -> bool:
    """Whether a network of this architecture can be a `CompiledNetwork` on this CPU in this precision.

    The CPU needs the vector instructions, and convolutions have to be those for which there are kernels: 1x1 or 3x3,
    and the trunk's first one of any odd size; both heads need the same activation. KataGo's networks are such.
    """
    if not {"float32": has_float32(), "bfloat16": has_bfloat16(), "int8": has_int8()}.get(precision):
        return False
    if precision == "int8" and not integer_kinds(config):
        return False
    first, policy = config.trunk.conv, config.policy
    # Convolutions that are computed as one.
    value = config.value
    alike = [(policy.conv, policy.pool_conv), (policy.conv, value.conv), (policy.out_conv, value.ownership)]
    alike += [(part.conv1, part.pool_conv) for part in walk(config) if isinstance(part, PoolingBlockDesc)]
    convs = [part for part in walk(config) if isinstance(part, ConvDesc)]
    return (
        first.height == first.width
        and all((conv.dilation_y, conv.dilation_x) == (1, 1) for conv in convs)
        and all(conv is first or (conv.height, conv.width) in ((1, 1), (3, 3)) for conv in convs)
        and all(one.height == other.height for one, other in alike)
        and policy.act.kind == value.act.kind
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
        quantised: The values of `quantisation.Quantised`, if some products are to be of 8-bit integers.
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
        self._input = _Input(trunk, values.at("trunk"), INTEGERS if quantised and not self._in_tiles else outside)
        self._blocks = CompiledBlocks(trunk, values.at("trunk"), products)
        self._heads = _Heads(network.config, values, self._blocks, outside)

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
        # Not by np.array_split, which takes 50 us. Without positions the outputs are empty.
        portions = -(-max(count, 1) // self._blocks.portion(grid))
        boards = -(-max(count, 1) // portions)
        # Portions whose tensors stay in a cache.
        buffers, outputs = self._blocks.new_buffers(boards, grid), self._heads.new_outputs(count, height * width)
        for first in range(0, count, boards):
            part, number = slice(first, first + boards), min(boards, count - first)
            people = None if metadata is None else metadata[part]
            on_board = grid.mask(None if full_board else planes[part, ..., 0] > 0, number)
            x = tensor_in(buffers[0], number, grid, self._input.channels)
            self._input(planes[part], grid, scalars[part], people, x)
            self._blocks(buffers, number, grid, on_board)
            self._heads(buffers, number, grid, on_board, first, outputs)
        return outputs


class _Input:
    """The trunk's first convolution, and what the scalar inputs and the metadata add to it.

    It has few input planes, so that Winograd's tiles would mostly hold padding; a matrix of windows does better. It is
    float32: rounding its weights to bfloat16 moves the lead by 0.1 points on average, as long as it is a few percent of
    the work (b7c96h3tfrs, 450 positions of 19x19). Where products are faster than that, the weights have 15 bits, in
    pairs of 8-bit integers (`wide_kernel`).

    Args:
        products: `FLOAT32`, `TILES` or `INTEGERS`.
    """

    def __init__(self, trunk: TrunkDesc, values: Values, products: "np.dtype[Any]") -> None:
        self._side, self._channels = trunk.conv.height, trunk.conv.out_channels
        self.channels = whole_lanes(self._channels)
        kernel, self._products = values["conv.weight"].transpose(0, 2, 3, 1), products
        lines = kernel.reshape(self._channels, self._side, -1)
        if products == FLOAT32:
            self._matrix = pack_matrix(kernel.reshape(self._channels, -1), FLOAT32)
        else:
            self._kernel = wide_kernel(lines, integers_for(products))
        self._scalars = values.linear("matmul")
        self._encoder: tuple[Linear, ...] = ()  # of the players' metadata
        if (encoder := trunk.metadata) is not None:
            inner = values.at("metadata")
            hidden = inner.linear("matmul1", "bias1", encoder.act1), inner.linear("matmul2", "bias2", encoder.act2)
            self._encoder = *hidden, inner.linear("matmul3")

    def __call__(
        self, planes: np.ndarray, grid: Grid, scalars: np.ndarray, metadata: np.ndarray | None, out: np.ndarray
    ) -> None:
        """Writes what the trunk's blocks begin with: float32 [n, rows, channels]."""
        start = aligned((len(planes), self.channels))
        multiply_add(scalars, self._scalars.weight, self._scalars.bias, start)
        if self._encoder and metadata is not None:
            start += _multiply(metadata, self._encoder)
        if self._products == FLOAT32:
            convolve_im2col(planes, self._matrix, self._side, start, out)
        else:
            convolve = convolve_planes_directly if self._products == TILES else convolve_planes_by_integers
            convolve(np.ascontiguousarray(planes), grid, self._kernel, start, out)


def wide_kernel(weight: np.ndarray, kind: "np.dtype[Any]") -> Kernel:
    """Returns a kernel of 8-bit integers whose weights have 15 bits, for inputs that are 0 or 1.

    A weight is 128 times an integer and another one, times a factor. Their inputs, `WIDE_ONES`, are 128 and 1.

    Args:
        weight: float32 [outputs, lines of the kernel, inputs].
        kind: `INTEGERS` or `INTEGER_TILES`.

    Returns:
        The kernel; for each line a matrix of [outputs, 2 * inputs].
    """
    scales = scales_of(weight)
    high, ones = multiples(weight, scales), scales / WIDE_ONES[0]
    low = multiples(weight - high * scales[:, None, None], ones)
    packed = pack_matrices(np.concatenate([high, low], 2).swapaxes(0, 1), kind)
    return Kernel(packed, filled(ones), np.zeros(whole_lanes(len(weight)), np.float32))


@njit
def divide_by_rms(x: np.ndarray, on_board: np.ndarray, channels: int, epsilon: float, spatial: bool) -> None:
    """Divides x by its root mean square, in place.

    Args:
        x: float32 [n, points, channels or more]; those beyond are 0.
        on_board: bool [n, points], or [0, ...] if all points are on the board.
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


class _Heads:
    """The heads, whose convolutions are steps after the trunk's blocks.

    Channels between these are those of the value head, those for the moves, and those that the policy head pools.

    Args:
        blocks: The trunk's blocks, to which the steps are added.
        products: The type of packed weights of the heads.
    """

    def __init__(
        self, config: NetworkConfig, values: Values, blocks: CompiledBlocks, products: "np.dtype[Any]"
    ) -> None:
        own, moves, value, policy = values.at("value"), values.at("policy"), config.value, config.policy
        channels, regular, pooled = value.conv.out_channels, policy.conv.out_channels, policy.pool_conv.out_channels
        self._policies, self._numbers = policy.out_conv.out_channels, value.score_matmul.out_channels
        # The convolutions of the trunk's tip in one: that of the value head, and both of the policy head.
        convs = [own.conv("conv"), moves.conv("conv"), moves.conv("pool_conv")]
        tip = ActivatedConv(_tip_activation(config.trunk, values.at("trunk"), blocks), convs, products)
        # The convolutions that end both heads in one, each with weights of 0 for the channels of the other.
        norm = moves.activation("norm", policy.act, regular)
        # The norm of the value head was folded into its convolution.
        scale = np.concatenate([np.ones(channels, np.float32), norm.scale])
        convs = [own.conv("ownership").padded(0, regular), moves.conv("out_conv").padded(channels, 0)]
        points = ActivatedConv(Activation(norm.kind, scale, np.zeros_like(scale)), convs, products)
        kind, linear = KINDS[policy.pool_act.kind], moves.linear("pool_matmul", after=channels)
        blocks.add_pooled(tip, Pooling(kind, channels + regular, pooled, linear), points, 0, adds=False)
        pass_layers: tuple[Linear, ...] = (moves.linear("pass_matmul"),)
        if policy.pass_out is not None:
            pass_layers = moves.linear("pass_matmul", "pass_bias", policy.pass_act), moves.linear("pass_out")
        result, scores = own.linear("value_matmul", "value_bias"), own.linear("score_matmul", "score_bias")
        weight, bias = (
            np.concatenate([getattr(each, name) for each in (result, scores)], -1) for name in ("weight", "bias")
        )
        layers = own.linear("matmul", "bias", value.hidden_act), Linear(weight, bias, result.kind)
        # What the heads pool, for `_pool`; as plain tuples, which numba unpacks faster than named ones.
        self._of_value = 0, channels, KINDS[value.act.kind], tuple(map(tuple, layers))
        self._of_policy = channels + regular, pooled, kind, tuple(map(tuple, pass_layers))
        self._channels = len(points.bias), len(tip.bias)  # by the level of the buffer

    def new_outputs(self, count: int, area: int) -> RawOutputs[np.ndarray]:
        """Returns memory for the outputs of a number of positions."""
        shapes = (count, self._policies, area + 1), (count, 3), (count, self._numbers), (count, area)
        return RawOutputs(*(np.empty(shape, np.float32) for shape in shapes))

    def __call__(
        self,
        buffers: np.ndarray,
        count: int,
        grid: Grid,
        on_board: np.ndarray,
        first: int,
        outputs: RawOutputs[np.ndarray],
    ) -> None:
        """Writes the outputs of `count` positions, from index `first` on; the steps left them in the buffers."""
        points, inside = (tensor_in(buffers[level], count, grid, self._channels[level]) for level in (0, 1))
        _write_outputs(inside, points, grid, on_board, self._of_value, self._of_policy, first, outputs)


def _tip_activation(trunk: TrunkDesc, values: Values, blocks: CompiledBlocks) -> Activation:
    """Returns what the heads apply to their input, a batch norm included; a norm of another kind is added as a part."""
    norm = trunk.tip_norm
    if not isinstance(norm, TipRMSNormDesc):
        return values.activation("tip_norm", trunk.tip_act, norm.channels)

    def divide(buffers: np.ndarray, count: int, grid: Grid, on_board: np.ndarray) -> None:
        x = tensor_in(buffers[0], count, grid, whole_lanes(norm.channels))
        divide_by_rms(x, on_board, norm.channels, norm.epsilon, norm.spatial)

    blocks.add(divide)
    return Activation(KINDS[trunk.tip_act.kind], values["tip_norm.weight"], values["tip_norm.bias"])


@njit
def _multiply(x: np.ndarray, layers: Any) -> np.ndarray:
    """Returns the outputs of the last of these layers; the first one's inputs are float32 [n, inputs]."""
    for weight, bias, kind in layers:
        out = np.empty((len(x), len(bias)), np.float32)
        multiply_add(x, weight, bias, out)
        if kind != IDENTITY_KIND:
            activate_values(out, kind)
        x = out
    return x


@njit
def _pool(x: np.ndarray, on_board: np.ndarray, pooled: Any, with_max: bool) -> np.ndarray:
    """Returns what layers make of pooled channels; pooled: the first channel, how many, their activation, the layers.

    For the other arguments see `global_pool`.
    """
    first, channels, kind, layers = pooled
    features = np.empty((len(x), 3 * channels), np.float32)
    global_pool(x, first, channels, kind, on_board, with_max, features)
    return _multiply(features, layers)


@njit
def _write_outputs(
    inside: np.ndarray,
    points: np.ndarray,
    grid: Grid,
    on_board: np.ndarray,
    of_value: Any,
    of_policy: Any,
    first: int,
    outputs: RawOutputs[np.ndarray],
) -> None:
    """Computes what the heads pool over each board, and writes all that they put out.

    Args:
        inside: float32 [n, rows, channels], the channels between the convolutions of the heads.
        points: float32 [n, rows, channels], the results: the ownership first, then policies.
        on_board: As `Grid.mask` returns it.
        of_value: What the value head pools (`_pool`). The first `LANES` outputs of its last layer are the result, and
            the scores follow.
        of_policy: What the policy head pools, for the pass.
        first: The row of the first position in the outputs.
    """
    policy, value, scores, ownership = outputs
    numbers, passes = _pool(inside, on_board, of_value, False), _pool(inside, on_board, of_policy, True)
    area = ownership.shape[1]
    for image in range(len(points)):
        out = first + image
        value[out] = numbers[image, : value.shape[1]]
        scores[out] = numbers[image, LANES : LANES + scores.shape[1]]
        policy[out, :, area] = passes[image, : policy.shape[1]]
        for line in range(grid.height):
            for x in range(grid.width):
                row, point = points[image, line * grid.pitch + x], line * grid.width + x
                ownership[out, point] = row[0]
                for channel in range(policy.shape[1]):
                    policy[out, channel, point] = row[1 + channel]


# Products are two thirds of a network's time: by this factor bfloat16 has to be faster for a gain of 15 % in all, which
# its rounding is worth.
_LEAST_GAIN = 1.25
# What rounding to 8-bit integers is worth.
_LEAST_WINDOW_GAIN = 1.25
_CHANNELS, _TRIAL_SECONDS, _REPEATS = 96, 0.05, 50


def bfloat16_is_faster() -> bool:
    """Returns whether products of bfloat16 are faster than those of float32; the CPU has to have them."""
    # A process that may not use tiles shares compiled code with others that may, but not their choice.
    name = "precision_with_tiles" if HAS_TILES else "precision"
    return _remembered(name, ("float32", "bfloat16"), lambda: _product_gain() > _LEAST_GAIN)


def integer_kinds(config: NetworkConfig) -> frozenset[str]:
    """Returns the kinds of a network's layers that this CPU computes with 8-bit integers; it has to have them.

    In tiles the matrices of transformers are faster in bfloat16. In vectors a 3x3 convolution of integers has four
    times the products of Winograd's, and not every CPU is fast enough at these to make up for it.
    """
    kinds = frozenset(kinds_of(config))
    if half_products() == TILES:
        return kinds - {MATRICES}
    # A network without such convolutions does not wait for the trial, which compiles both ways.
    return kinds if WINDOWS not in kinds or windows_are_faster() else kinds - {WINDOWS}


@cache
def windows_are_faster() -> bool:
    """Returns whether 3x3 convolutions of 8-bit integers in vectors are faster than in any other precision."""
    return _remembered("integers", ("points", "windows"), lambda: _window_gain() > _LEAST_WINDOW_GAIN)


def _remembered(name: str, answers: tuple[str, str], is_so: Callable[[], bool]) -> bool:
    """Returns what a trial found, now or earlier: its answer, for no and for yes, is stored with the compiled code."""
    file = CACHE_FOLDER / name if CACHE_FOLDER else None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if file and (found := file.read_text()) in answers:
            return found == answers[1]
    result = is_so()
    with contextlib.suppress(OSError):
        if file:
            write_text(file, answers[result])
    return result


def _window_gain() -> float:
    """Returns how many times as fast a 3x3 convolution of 8-bit integers is as in the best other precision."""
    choice = np.random.default_rng(1)
    weight = choice.uniform(-1, 1, (_CHANNELS, _CHANNELS, 3, 3)).astype(np.float32)
    bias, ones, side = np.zeros(_CHANNELS, np.float32), np.ones(_CHANNELS, np.float32), 9
    grid, x = Grid.of(side, side, False), choice.uniform(0, 1, (1, side * side, _CHANNELS)).astype(np.float32)
    out = np.empty_like(x)
    activation = Activation(IDENTITY_KIND, ones, 0 * ones)
    other = BFLOAT16 if has_bfloat16() and bfloat16_is_faster() else FLOAT32
    integers = Conv(np.rint(127 * weight) / 127, bias, ones / 127, np.array([0, 1], np.float32))
    ways = (convolve_3x3, Conv(weight, bias)), (convolve_integers, integers)
    convs = [(way, ActivatedConv(activation, [conv], other).operands(grid)) for way, conv in ways]
    return _gain(*(partial(way, x, EVERY_ROW, grid, *operands, False, out) for way, operands in convs))


def _product_gain() -> float:
    """Returns how many times as fast as in float32 a usual product is in bfloat16, which the CPU has to have."""
    weight, start = np.ones((_CHANNELS, _CHANNELS), np.float32), np.zeros((1, _CHANNELS), np.float32)
    out = aligned((CHUNK, _CHANNELS))
    factors = []
    for packed in (pack_matrix(weight, products) for products in (FLOAT32, half_products())):
        left = aligned((CHUNK, 4 * _CHANNELS // packed.itemsize), packed.dtype)
        left[:] = 1
        factors.append((left, packed))
    return _gain(*(partial(_multiply_once, *each, start, out) for each in factors))


def _gain(one: Callable[[], object], other: Callable[[], object]) -> float:
    """Returns how many times as fast the second of two functions is; both have been compiled or are so now.

    They alternate, and the shortest time of each counts, so that other programs disturb little. CPU time is of no use:
    on Windows its ticks are longer than one measurement.
    """
    times = [math.inf, math.inf]
    one(), other()
    end = time.perf_counter() + _TRIAL_SECONDS
    while time.perf_counter() < end or math.inf in times:
        for number, function in enumerate((one, other)):
            times[number] = min(times[number], timeit(function, number=_REPEATS))
    return times[0] / times[1]


@njit
def _multiply_once(left: np.ndarray, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    state = begin_products(weights)
    matmul(left, CHUNK, weights, start, out)
    end_products(weights, state)
