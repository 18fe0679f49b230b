"""What a network is made of, as frozen records: layers, blocks and heads.

The records mirror KataGo's files: their fields stand in the file's order, so that reading, writing and building modules
are one walk over the fields each (`katago_file`, `blocks`). A field's metadata say when it is in a file:

- `since`: from this file version on; below it the field has its default.
- `zeros`: (version, count): so many reserved zeros follow the field from that version on.
- `choose`: a function of the values read so far (of this record, of the whole network) that gives the class of the
  record to read, or None where there is none.
- `in_file`: False where files never have it.

Shapes are those of the file: convolutions [y, x, in, out], matrices [in, out].
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

RELU, MISH, SILU, IDENTITY = "ACTIVATION_RELU", "ACTIVATION_MISH", "ACTIVATION_SILU", "ACTIVATION_IDENTITY"
ACTIVATIONS = (IDENTITY, RELU, MISH, SILU)

BATCH_NORM, RMS_NORM = 0, 1  # kinds of the norm at the trunk's tip

METADATA = 192  # numbers that say who plays, in version 1 of the metadata
LARGEST = 1 << 20  # of any count: far above every network's, and products of four still fit 80 bits

Values = Mapping[str, Any]


class Floats(NamedTuple):
    """A block of numbers of a layer: its name in the module, its shape in the file, the file's axes in the module."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)


def _since(version: int) -> Values:
    return {"since": version}


def _zeros(since: int, count: int) -> Values:
    return {"since": since, "zeros": (since, count)}


def _chosen(choose: Callable[[Values, Values], type | None]) -> Values:
    return {"choose": choose}


def _check_counts(record: object, *names: str) -> None:
    for name in names:
        value = getattr(record, name)
        if not 1 <= value <= LARGEST:
            raise ValueError(f"{name} is {value}; expected 1 to {LARGEST}")


def _check_epsilon(epsilon: float) -> None:
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is {epsilon}; expected 0 to 1")


class Layer:
    """A record with numbers of its own."""

    @property
    def floats(self) -> tuple[Floats, ...]:
        return ()


@dataclass(frozen=True)
class ConvRecord(Layer):
    """A convolution without bias, padded with zeros so that the board keeps its size."""

    name: str
    height: int
    width: int
    in_channels: int
    out_channels: int
    dilation_y: int = 1
    dilation_x: int = 1

    def __post_init__(self) -> None:
        _check_counts(self, "height", "width", "in_channels", "out_channels", "dilation_y", "dilation_x")
        if self.height % 2 == 0 or self.width % 2 == 0:
            raise ValueError(f"a kernel of {self.height}x{self.width}; both sides must be odd")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.height, self.width, self.in_channels, self.out_channels), (3, 2, 0, 1)),)


@dataclass(frozen=True)
class BatchNormRecord(Layer):
    """(x - mean) / sqrt(variance + epsilon), times a scale and plus a bias where it has them."""

    name: str
    channels: int
    epsilon: float
    has_scale: bool
    has_bias: bool

    def __post_init__(self) -> None:
        _check_counts(self, "channels")
        _check_epsilon(self.epsilon)

    @property
    def floats(self) -> tuple[Floats, ...]:
        names = ["running_mean", "running_var"] + ["weight"] * self.has_scale + ["bias"] * self.has_bias
        return tuple(Floats(name, (self.channels,), (0,)) for name in names)


@dataclass(frozen=True)
class ActivationRecord(Layer):
    name: str
    kind: str = field(default=RELU, metadata=_since(11))

    def __post_init__(self) -> None:
        if self.kind not in ACTIVATIONS:
            raise ValueError(f"unknown activation {self.kind}; known are {', '.join(ACTIVATIONS)}")


@dataclass(frozen=True)
class MatMulRecord(Layer):
    """A linear layer without bias."""

    name: str
    in_channels: int
    out_channels: int

    def __post_init__(self) -> None:
        _check_counts(self, "in_channels", "out_channels")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.in_channels, self.out_channels), (1, 0)),)


@dataclass(frozen=True)
class BiasRecord(Layer):
    name: str
    channels: int

    def __post_init__(self) -> None:
        _check_counts(self, "channels")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("bias", (self.channels,), (0,)),)


@dataclass(frozen=True)
class RMSNormRecord(Layer):
    """Root mean square norm over each point's channels, inside transformer blocks."""

    name: str
    channels: int
    epsilon: float

    def __post_init__(self) -> None:
        _check_counts(self, "channels")
        _check_epsilon(self.epsilon)

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.channels,), (0,)),)


@dataclass(frozen=True)
class TipRMSNormRecord(Layer):
    """Root mean square norm at the trunk's tip; `spatial`: over channels and points together."""

    name: str
    channels: int
    epsilon: float
    spatial: bool
    group_size: int = 0

    def __post_init__(self) -> None:
        _check_counts(self, "channels")
        _check_epsilon(self.epsilon)
        if self.group_size != 0:
            raise ValueError(f"a norm with groups of {self.group_size}; only 0 (no groups) is known")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("weight", (self.channels,), (0,)), Floats("bias", (self.channels,), (0,)))


@dataclass(frozen=True)
class LearnedRopeRecord(Layer):
    """Rotary position embedding with learned frequencies, for x and y of each pair of channels."""

    name: str
    heads: int
    pairs: int
    axes: int = 2

    def __post_init__(self) -> None:
        _check_counts(self, "heads", "pairs")
        if self.axes != 2:
            raise ValueError(f"positions of {self.axes} coordinates; a board has 2")

    @property
    def floats(self) -> tuple[Floats, ...]:
        return (Floats("frequencies", (self.heads, self.pairs, self.axes), (0, 1, 2)),)


@dataclass(frozen=True)
class FixedRopeRecord(Layer):
    """Rotary position embedding: the first half of the pairs turns with y, the other half with x."""

    name: str
    theta: float

    def __post_init__(self) -> None:
        if not 0 < self.theta < math.inf:
            raise ValueError(f"theta is {self.theta}; expected a number above 0")


@dataclass(frozen=True)
class OrdinaryBlockRecord:
    """x + conv2(act(norm(conv1(act(norm(x))))))."""

    name: str
    pre_norm: BatchNormRecord
    pre_act: ActivationRecord
    conv1: ConvRecord
    mid_norm: BatchNormRecord
    mid_act: ActivationRecord
    conv2: ConvRecord


@dataclass(frozen=True)
class PoolingBlockRecord:
    """An ordinary block, part of whose channels tell all points what they see on the whole board."""

    name: str
    pre_norm: BatchNormRecord
    pre_act: ActivationRecord
    conv1: ConvRecord
    pool_conv: ConvRecord
    pool_norm: BatchNormRecord
    pool_act: ActivationRecord
    pool_matmul: MatMulRecord
    mid_norm: BatchNormRecord
    mid_act: ActivationRecord
    conv2: ConvRecord


@dataclass(frozen=True)
class BottleneckBlockRecord:
    """Blocks in a narrower trunk, between two 1x1 convolutions."""

    name: str
    block_count: int
    pre_norm: BatchNormRecord
    pre_act: ActivationRecord
    pre_conv: ConvRecord
    blocks: tuple["BlockRecord", ...]
    post_norm: BatchNormRecord
    post_act: ActivationRecord
    post_conv: ConvRecord

    def __post_init__(self) -> None:
        _check_counts(self, "block_count")


def _rope(values: Values, _: Values) -> type | None:
    if not values["use_rope"]:
        return None
    return LearnedRopeRecord if values["learnable_rope"] else FixedRopeRecord


@dataclass(frozen=True, kw_only=True)
class AttentionBlockRecord:
    """x + attention over the board's points; several query heads may share a key and value head."""

    name: str
    heads: int
    kv_heads: int
    query_channels: int
    value_channels: int
    use_rope: bool
    learnable_rope: bool
    norm: RMSNormRecord
    query: MatMulRecord
    key: MatMulRecord
    value: MatMulRecord
    out: MatMulRecord
    rope: LearnedRopeRecord | FixedRopeRecord | None = field(metadata=_chosen(_rope))

    def __post_init__(self) -> None:
        _check_counts(self, "heads", "kv_heads", "query_channels", "value_channels")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} query heads do not share {self.kv_heads} key heads evenly")
        if isinstance(self.rope, FixedRopeRecord) and self.query_channels % 4:
            raise ValueError(f"heads of {self.query_channels} channels cannot turn with x and y; 4 must divide them")


@dataclass(frozen=True, kw_only=True)
class FeedForwardBlockRecord:
    """x + (silu(first) * gate) @ second, of the normalised x."""

    name: str
    channels: int
    hidden: int
    use_gate: bool
    norm: RMSNormRecord
    first: MatMulRecord
    gate: MatMulRecord | None = field(metadata=_chosen(lambda values, _: MatMulRecord if values["use_gate"] else None))
    second: MatMulRecord


BlockRecord = (
    OrdinaryBlockRecord | PoolingBlockRecord | BottleneckBlockRecord | AttentionBlockRecord | FeedForwardBlockRecord
)

BLOCK_KINDS: dict[str, type] = {
    "ordinary_block": OrdinaryBlockRecord,
    "gpool_block": PoolingBlockRecord,
    "nested_bottleneck_block": BottleneckBlockRecord,
    "transformer_attention_block": AttentionBlockRecord,
    "transformer_ffn_block": FeedForwardBlockRecord,
}


@dataclass(frozen=True)
class MetadataEncoderRecord:
    """Who plays: ranks, time, date, server (networks that imitate people)."""

    name: str
    inputs: int
    matmul1: MatMulRecord
    bias1: BiasRecord
    act1: ActivationRecord
    matmul2: MatMulRecord
    bias2: BiasRecord
    act2: ActivationRecord
    matmul3: MatMulRecord

    def __post_init__(self) -> None:
        if self.inputs != METADATA:
            raise ValueError(f"{self.inputs} inputs; metadata of version 1 are {METADATA}")


@dataclass(frozen=True, kw_only=True)
class TrunkRecord:
    """The channel counts are KataGo's remarks; what holds stands in the layers."""

    name: str
    block_count: int
    channels: int
    mid_channels: int
    regular_channels: int
    dilated_channels: int
    pool_channels: int
    tip_norm_kind: int = field(default=BATCH_NORM, metadata=_zeros(15, 5))
    conv: ConvRecord
    matmul: MatMulRecord
    metadata: MetadataEncoderRecord | None = field(
        metadata=_chosen(lambda _, network: MetadataEncoderRecord if network["metadata_version"] else None)
    )
    blocks: tuple[BlockRecord, ...]
    tip_norm: BatchNormRecord | TipRMSNormRecord = field(
        metadata=_chosen(lambda own, _: TipRMSNormRecord if own["tip_norm_kind"] == RMS_NORM else BatchNormRecord)
    )
    tip_act: ActivationRecord

    def __post_init__(self) -> None:
        _check_counts(self, "block_count")
        if self.tip_norm_kind not in (BATCH_NORM, RMS_NORM):
            raise ValueError(f"unknown kind of norm {self.tip_norm_kind} at the trunk's tip; 0 and 1 are known")


@dataclass(frozen=True, kw_only=True)
class PolicyHeadRecord:
    """Two channels: policy, and policy of an optimist. `declared_channels` is 0 below version 17."""

    name: str
    declared_channels: int = field(default=0, metadata=_zeros(17, 3))
    conv: ConvRecord
    pool_conv: ConvRecord
    pool_norm: BatchNormRecord
    pool_act: ActivationRecord
    pool_matmul: MatMulRecord
    norm: BatchNormRecord
    act: ActivationRecord
    out_conv: ConvRecord
    pass_matmul: MatMulRecord
    pass_bias: BiasRecord | None = field(default=None, metadata=_since(15))
    pass_act: ActivationRecord | None = field(default=None, metadata=_since(15))
    pass_out: MatMulRecord | None = field(default=None, metadata=_since(15))


@dataclass(frozen=True, kw_only=True)
class ValueHeadRecord:
    name: str = field(metadata={"zeros": (17, 3)})
    conv: ConvRecord
    norm: BatchNormRecord
    act: ActivationRecord
    matmul: MatMulRecord
    bias: BiasRecord
    hidden_act: ActivationRecord
    value_matmul: MatMulRecord
    value_bias: BiasRecord
    score_matmul: MatMulRecord
    score_bias: BiasRecord
    ownership: ConvRecord


def walk(record: Any) -> Iterator[Any]:
    """A record and all records in it, in the order of the file."""
    yield record
    for entry in fields(record):
        value = getattr(record, entry.name)
        for part in value if isinstance(value, tuple) else (value,):
            if is_dataclass(part):
                yield from walk(part)
