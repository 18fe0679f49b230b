"""Descriptions of the parts of a network, as frozen dataclasses: layers, blocks and heads.

They mirror KataGo's files, and have its names for them (*desc*). Their fields are in the file's order, so that reading,
writing and building modules are one walk over the fields each (`katago_file`, `blocks`). A field's metadata define when
it is in a file:

- `since`: From this file version on; before it the field has its default.
- `zeros`: (version, count): from that version on, this number of reserved zeros follows the field.
- `choose`: A function of the values read so far (of this description, of the whole network) that returns the class of
  the description to read, or None if there is none.
- `in_file`: False if files never have it.
- `channels`, `side`: The inputs and outputs of a layer, and the side of a convolution in fresh networks (`of`).

Shapes are those of the file: convolutions [y, x, in, out], matrices [in, out].
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, ClassVar, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..base.errors import UserError
from .constants import IDENTITY, MISH, PLANES, RELU, SCALARS, SILU

ACTIVATIONS = (IDENTITY, RELU, MISH, SILU)

BATCH_NORM, RMS_NORM = 0, 1  # kinds of the norm at the trunk's tip

POOLED = 3  # numbers that global pooling makes of a channel
METADATA = 192  # length of the description of the players, in version 1 of the metadata
LARGEST = 1 << 20  # the limit of any count: far above those of real networks

Values = Mapping[str, Any]


class Floats(NamedTuple):
    """A block of values of a layer."""

    name: str  # in the module
    shape: tuple[int, ...]  # in the file
    axes: tuple[int, ...]  # the file's axes in the order of the module

    @property
    def size(self) -> int:
        """The number of values."""
        return math.prod(self.shape)


def _check_counts(desc: object, *names: str) -> None:
    for name in names:
        value = getattr(desc, name)
        if not 1 <= value <= LARGEST:
            raise UserError(f"{name} is {value}; expected 1 to {LARGEST}")


Channels = int | str
"""A number of channels, or a letter that stands for one, the same wherever it is in a description; "3p" is 3 * p."""


def of(*channels: Channels, side: int = 1, **more: Any) -> dict[str, Any]:
    """Returns the metadata of a layer with inputs and outputs, or of one or several blocks with as many of both.

    `x` is what a block or a head gets, and a block returns. `more` are further metadata.
    """
    return {"channels": channels, "side": side, **more}


@dataclass(frozen=True)
class Layer:
    """The description of a layer with weights; its whole numbers are counts, unless 0 is the default."""

    def __post_init__(self) -> None:
        _check_counts(self, *(entry.name for entry in fields(self) if entry.type is int and entry.default != 0))
        epsilon = getattr(self, "epsilon", 0)
        if not 0 <= epsilon < 1:
            raise UserError(f"epsilon is {epsilon}; expected 0 to 1")

    @property
    def floats(self) -> tuple[Floats, ...]:
        """The blocks of values that follow the fields in a file."""
        return ()


class ChannelLayer(Layer):
    """One with `values`, by their names, for each channel."""

    channels: int
    values: ClassVar[tuple[str, ...]] = ("weight",)

    @property
    def floats(self) -> tuple[Floats, ...]:
        return tuple(Floats(name, (self.channels,), (0,)) for name in self.values)


@dataclass(frozen=True)
class ConvDesc(Layer):
    """A convolution without bias, padded with zeros so that the board keeps its size."""

    name: str
    height: int
    width: int
    in_channels: int
    out_channels: int
    dilation_y: int = 1
    dilation_x: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.height % 2 == 0 or self.width % 2 == 0:
            raise UserError(f"a kernel of {self.height}x{self.width}; both sides must be odd")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.height, self.width, self.in_channels, self.out_channels), (3, 2, 0, 1)),)


@dataclass(frozen=True)
class BatchNormDesc(Layer):
    """(x - mean) / sqrt(variance + epsilon), times the scale, plus the bias, if it has them.

    KataGo's published networks have the statistics of their norms in scale and bias, and 0 and 1 in their place. These
    are no statistics of a batch and must not be measured anew: the norm is `constant`.
    """

    name: str
    channels: int
    epsilon: float
    has_scale: bool
    has_bias: bool
    constant: bool = field(default=False, metadata={"in_file": False})

    @property
    def floats(self) -> tuple[Floats, ...]:
        names = ["running_mean", "running_var"] + ["weight"] * self.has_scale + ["bias"] * self.has_bias
        return tuple(Floats(name, (self.channels,), (0,)) for name in names)


@dataclass(frozen=True)
class ActivationDesc(Layer):
    """One of `ACTIVATIONS`; files before version 11 have relu only."""

    name: str
    kind: str = field(default=RELU, metadata={"since": 11})

    def __post_init__(self) -> None:
        if self.kind not in ACTIVATIONS:
            raise UserError(f"unknown activation {self.kind}; expected one of {', '.join(ACTIVATIONS)}")


@dataclass(frozen=True)
class MatMulDesc(Layer):
    """A linear layer without bias."""

    name: str
    in_channels: int
    out_channels: int

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.in_channels, self.out_channels), (1, 0)),)


@dataclass(frozen=True)
class BiasDesc(ChannelLayer):
    """x + bias."""

    name: str
    channels: int
    values: ClassVar[tuple[str, ...]] = ("bias",)


@dataclass(frozen=True)
class RMSNormDesc(ChannelLayer):
    """Root mean square norm over each point's channels, inside transformer blocks."""

    name: str
    channels: int
    epsilon: float


@dataclass(frozen=True)
class TipRMSNormDesc(ChannelLayer):
    """Root mean square norm at the trunk's tip, over channels, or over channels and points together if `spatial`."""

    name: str
    channels: int
    epsilon: float
    spatial: bool
    group_size: int = 0
    values: ClassVar[tuple[str, ...]] = ("weight", "bias")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group_size != 0:
            raise UserError(f"a norm with groups of {self.group_size}; only 0 (no groups) is known")


@dataclass(frozen=True)
class LearnedRopeDesc(Layer):
    """Rotary position embedding with learned frequencies, for x and y of each pair of channels."""

    name: str
    heads: int
    pairs: int
    axes: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axes != 2:
            raise UserError(f"positions of {self.axes} coordinates; a board has 2")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("frequencies", (self.heads, self.pairs, self.axes), (0, 1, 2)),)


@dataclass(frozen=True)
class FixedRopeDesc(Layer):
    """Rotary position embedding: the first half of the pairs is rotated by y, the other half by x."""

    name: str
    theta: float

    def __post_init__(self) -> None:
        if not 0 < self.theta < math.inf:
            raise UserError(f"theta is {self.theta}; expected a number above 0")


@dataclass(frozen=True)
class OrdinaryBlockDesc:
    """x + conv2(act(norm(conv1(act(norm(x))))))."""

    name: str
    pre_norm: BatchNormDesc = field(metadata=of("x"))
    pre_act: ActivationDesc
    conv1: ConvDesc = field(metadata=of("x", "y", side=3))
    mid_norm: BatchNormDesc = field(metadata=of("y"))
    mid_act: ActivationDesc
    conv2: ConvDesc = field(metadata=of("y", "x", side=3))


@dataclass(frozen=True)
class PoolingBlockDesc:
    """An ordinary block in which some channels, pooled over the whole board, shift the others."""

    name: str
    pre_norm: BatchNormDesc = field(metadata=of("x"))
    pre_act: ActivationDesc
    conv1: ConvDesc = field(metadata=of("x", "y", side=3))
    pool_conv: ConvDesc = field(metadata=of("x", "p", side=3))
    pool_norm: BatchNormDesc = field(metadata=of("p"))
    pool_act: ActivationDesc
    pool_matmul: MatMulDesc = field(metadata=of("3p", "y"))
    mid_norm: BatchNormDesc = field(metadata=of("y"))
    mid_act: ActivationDesc
    conv2: ConvDesc = field(metadata=of("y", "x", side=3))


@dataclass(frozen=True)
class BottleneckBlockDesc:
    """Blocks in a narrower trunk, between two 1x1 convolutions."""

    name: str
    block_count: int
    pre_norm: BatchNormDesc = field(metadata=of("x"))
    pre_act: ActivationDesc
    pre_conv: ConvDesc = field(metadata=of("x", "y"))
    blocks: tuple["BlockDesc", ...] = field(metadata=of("y"))
    post_norm: BatchNormDesc = field(metadata=of("y"))
    post_act: ActivationDesc
    post_conv: ConvDesc = field(metadata=of("y", "x"))

    def __post_init__(self) -> None:
        _check_counts(self, "block_count")


def _rope(values: Values, _: Values) -> type | None:
    if not values["use_rope"]:
        return None
    return LearnedRopeDesc if values["learnable_rope"] else FixedRopeDesc


@dataclass(frozen=True, kw_only=True)
class AttentionBlockDesc:
    """x + attention over the board's points; several query heads may share a key and value head."""

    name: str
    heads: int
    kv_heads: int
    query_channels: int
    value_channels: int
    use_rope: bool
    learnable_rope: bool
    norm: RMSNormDesc = field(metadata=of("x"))
    query: MatMulDesc = field(metadata=of("x", "q"))
    key: MatMulDesc = field(metadata=of("x", "k"))
    value: MatMulDesc = field(metadata=of("x", "v"))
    out: MatMulDesc = field(metadata=of("o", "x"))
    rope: LearnedRopeDesc | FixedRopeDesc | None = field(metadata={"choose": _rope})

    def __post_init__(self) -> None:
        _check_counts(self, "heads", "kv_heads", "query_channels", "value_channels")
        if self.heads % self.kv_heads:
            raise UserError(f"{self.heads} query heads do not share {self.kv_heads} key heads evenly")
        if isinstance(self.rope, FixedRopeDesc) and self.query_channels % 4:
            raise UserError(f"heads of {self.query_channels} channels cannot rotate by x and y; use a multiple of 4")
        if isinstance(self.rope, LearnedRopeDesc):
            heads, pairs = self.rope.heads, self.rope.pairs
            if heads not in (1, self.kv_heads) or 2 * pairs != self.query_channels:
                raise UserError(f"angles for {heads} heads of {2 * pairs} channels; it has {self.query_channels}")

    @property
    def sizes(self) -> dict[str, int]:
        """The channels of all heads together, by the letters of the layers."""
        queries, values = self.query_channels, self.value_channels
        return {
            "q": self.heads * queries,
            "k": self.kv_heads * queries,
            "v": self.kv_heads * values,
            "o": self.heads * values,
        }


@dataclass(frozen=True, kw_only=True)
class FeedForwardBlockDesc:
    """x + (silu(first) * gate) @ second, of the normalised x."""

    name: str
    channels: int
    hidden: int
    use_gate: bool
    norm: RMSNormDesc = field(metadata=of("x"))
    first: MatMulDesc = field(metadata=of("x", "h"))
    gate: MatMulDesc | None = field(
        metadata=of("x", "h", choose=lambda own, _: MatMulDesc if own["use_gate"] else None)
    )
    second: MatMulDesc = field(metadata=of("h", "x"))


BlockDesc = OrdinaryBlockDesc | PoolingBlockDesc | BottleneckBlockDesc | AttentionBlockDesc | FeedForwardBlockDesc

BLOCK_KINDS: dict[str, type] = {
    "ordinary_block": OrdinaryBlockDesc,
    "gpool_block": PoolingBlockDesc,
    "nested_bottleneck_block": BottleneckBlockDesc,
    "transformer_attention_block": AttentionBlockDesc,
    "transformer_ffn_block": FeedForwardBlockDesc,
}


@dataclass(frozen=True)
class MetadataEncoderDesc:
    """Encodes who plays: ranks, time, date and server (in networks that imitate humans)."""

    name: str
    inputs: int
    matmul1: MatMulDesc = field(metadata=of(METADATA, "a"))
    bias1: BiasDesc = field(metadata=of("a"))
    act1: ActivationDesc
    matmul2: MatMulDesc = field(metadata=of("a", "b"))
    bias2: BiasDesc = field(metadata=of("b"))
    act2: ActivationDesc
    matmul3: MatMulDesc = field(metadata=of("b", "x"))

    def __post_init__(self) -> None:
        if self.inputs != METADATA:
            raise UserError(f"{self.inputs} inputs; metadata of version 1 have {METADATA}")


@dataclass(frozen=True, kw_only=True)
class TrunkDesc:
    """Everything before the heads. The channel counts are informative: the layers have their own."""

    name: str
    block_count: int
    channels: int
    mid_channels: int
    regular_channels: int
    dilated_channels: int
    pool_channels: int
    tip_norm_kind: int = field(default=BATCH_NORM, metadata={"since": 15, "zeros": (15, 5)})
    conv: ConvDesc = field(metadata=of(PLANES, "x", side=3))
    matmul: MatMulDesc = field(metadata=of(SCALARS, "x"))
    metadata: MetadataEncoderDesc | None = field(
        metadata=of("x", choose=lambda _, network: MetadataEncoderDesc if network["metadata_version"] else None)
    )
    blocks: tuple[BlockDesc, ...] = field(metadata=of("x"))
    tip_norm: BatchNormDesc | TipRMSNormDesc = field(
        metadata=of("x", choose=lambda own, _: TipRMSNormDesc if own["tip_norm_kind"] == RMS_NORM else BatchNormDesc)
    )
    tip_act: ActivationDesc

    def __post_init__(self) -> None:
        _check_counts(self, "block_count")
        if self.tip_norm_kind not in (BATCH_NORM, RMS_NORM):
            raise UserError(f"unknown kind of norm {self.tip_norm_kind} at the trunk's tip; 0 and 1 are known")


@dataclass(frozen=True)
class MoveHeadDesc:
    """A head that only helps to learn: one more logit for each move, from what the policy's own are made of."""

    name: str
    out_conv: ConvDesc = field(metadata=of("c", 1))
    pass_matmul: MatMulDesc = field(metadata=of("3p", 1))


@dataclass(frozen=True, kw_only=True)
class PolicyHeadDesc:
    """Logits of policy, and of an optimistic policy in channel 1. `declared_channels` is 0 before version 17.

    `auxiliary` are heads that only help to learn. Each has the name of its loss.
    """

    name: str
    declared_channels: int = field(default=0, metadata={"since": 17, "zeros": (17, 3)})
    conv: ConvDesc = field(metadata=of("x", "c"))
    pool_conv: ConvDesc = field(metadata=of("x", "p"))
    pool_norm: BatchNormDesc = field(metadata=of("p"))
    pool_act: ActivationDesc
    pool_matmul: MatMulDesc = field(metadata=of("3p", "c"))
    norm: BatchNormDesc = field(metadata=of("c"))
    act: ActivationDesc
    out_conv: ConvDesc = field(metadata=of("c", "o"))
    pass_matmul: MatMulDesc = field(metadata=of("3p", "q"))
    pass_bias: BiasDesc | None = field(default=None, metadata=of("q", since=15))
    pass_act: ActivationDesc | None = field(default=None, metadata={"since": 15})
    pass_out: MatMulDesc | None = field(default=None, metadata=of("q", "o", since=15))
    auxiliary: tuple[MoveHeadDesc, ...] = field(default=(), metadata={"in_file": False})


@dataclass(frozen=True, kw_only=True)
class ValueHeadDesc:
    """Result, score values and ownership.

    `auxiliary` are heads that only help to learn: convolutions of the points, as the ownership is, and matrices of the
    hidden layer, as the result is. Each has the name of its loss.
    """

    name: str = field(metadata={"zeros": (17, 3)})
    conv: ConvDesc = field(metadata=of("x", "c"))
    norm: BatchNormDesc = field(metadata=of("c"))
    act: ActivationDesc
    matmul: MatMulDesc = field(metadata=of("3c", "h"))
    bias: BiasDesc = field(metadata=of("h"))
    hidden_act: ActivationDesc
    value_matmul: MatMulDesc = field(metadata=of("h", 3))
    value_bias: BiasDesc = field(metadata=of(3))
    score_matmul: MatMulDesc = field(metadata=of("h", "s"))
    score_bias: BiasDesc = field(metadata=of("s"))
    ownership: ConvDesc = field(metadata=of("c", 1))
    auxiliary: tuple[ConvDesc | MatMulDesc, ...] = field(default=(), metadata={"in_file": False})


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Returns the types of a description's fields."""
    return get_type_hints(cls)


def classes_of(hint: Any) -> tuple[type, ...]:
    """Returns the classes of a union, or the one class."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def count_of(channels: Channels, sizes: Mapping[str, int]) -> int:
    """Returns the number that is meant, given the letters."""
    if isinstance(channels, int):
        return channels
    return sizes[channels] if channels in sizes else POOLED * sizes[channels.removeprefix("3")]


def fixed_frequencies(theta: float, query_channels: int) -> np.ndarray:
    """Returns a `FixedRopeDesc`'s frequencies for heads of `query_channels`: float32 [1, pairs, 2], of x and y."""
    count = query_channels // 4
    powers = np.float32(theta) ** (-np.arange(count, dtype=np.float32) / np.float32(count))
    zeros = np.zeros(count, np.float32)
    return np.stack((np.concatenate((zeros, powers)), np.concatenate((powers, zeros))), 1)[None]


def walk(desc: Any) -> Iterator[Any]:
    """Yields a description and all descriptions in it, in the order of the file."""
    return (part for _, part in walk_paths(desc))


def walk_paths(desc: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields what `walk` does, each with its path, such as "trunk.blocks.3.conv1"; that of the whole is `path`."""
    yield path, desc
    for entry in fields(desc):
        value, inner = getattr(desc, entry.name), f"{path}.{entry.name}" if path else entry.name
        if isinstance(value, tuple):
            for number, part in enumerate(value):
                yield from walk_paths(part, f"{inner}.{number}")
        elif is_dataclass(value):
            yield from walk_paths(value, inner)
