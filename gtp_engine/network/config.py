"""The description of a whole network, and the short names of our own."""

import re
from dataclasses import dataclass, field
from typing import Any

from .records import (
    BATCH_NORM,
    MISH,
    RELU,
    SILU,
    ActivationRecord,
    BatchNormRecord,
    BiasRecord,
    BlockRecord,
    BottleneckBlockRecord,
    ConvRecord,
    Layer,
    MatMulRecord,
    OrdinaryBlockRecord,
    PolicyHeadRecord,
    PoolingBlockRecord,
    TrunkRecord,
    ValueHeadRecord,
    walk,
)

OLDEST, NEWEST = 8, 17  # file versions with the version 7 inputs
KATAGO_INPUTS = 7
PLANES, SCALARS = 22, 19

# Fresh networks: the newest version that KataGo's releases and the programs that ship them have read since 2023 (that
# of its own 18-block networks). It has all outputs; 15 and later change only the pass logit and add transformers.
FRESH_VERSION = 14
EPSILON = 1e-4  # KataGo's training configurations


@dataclass(frozen=True)
class Multipliers:
    """What raw outputs are multiplied by; the defaults are those of versions 8 to 12."""

    td_score: float = 20.0
    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25
    score_error: float = 30.0


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """A network, but for its numbers. Raises ValueError for one that cannot be.

    version: of KataGo's file format, which decides what the outputs mean. metadata_version: 1 where the network takes
    metadata, else 0. suicide_areas: areas of the input planes are as if suicide were legal, whatever the rules say.
    inputs_version: the input planes and scalars; only 7, KataGo's, can be written to KataGo's files.
    """

    name: str
    version: int
    planes: int = PLANES
    scalars: int = SCALARS
    multipliers: Multipliers = field(default=Multipliers(), metadata={"since": 13})
    metadata_version: int = field(default=0, metadata={"since": 15})
    suicide_areas: bool = field(default=False, metadata={"since": 15, "zeros": (15, 6)})
    trunk: TrunkRecord
    policy: PolicyHeadRecord
    value: ValueHeadRecord
    inputs_version: int = field(default=KATAGO_INPUTS, metadata={"in_file": False})

    def __post_init__(self) -> None:
        if not OLDEST <= self.version <= NEWEST:
            raise ValueError(f"version {self.version}; expected {OLDEST} to {NEWEST}")
        if self.metadata_version not in (0, 1):
            raise ValueError(f"unknown metadata version {self.metadata_version}; 0 and 1 are known")

    @property
    def channels(self) -> int:
        """Of the trunk."""
        return self.trunk.conv.out_channels

    @property
    def policy_channels(self) -> int:
        """1; 2: with an optimistic policy; 4: with values of each move, too."""
        return self.policy.out_conv.out_channels

    @property
    def has_optimism(self) -> bool:
        """Whether it has an optimistic policy; KataGo leaves that of networks that imitate people alone."""
        return self.version >= 12 and self.policy_channels >= 2 and not self.metadata_version

    @property
    def has_errors(self) -> bool:
        """Whether it predicts how wrong its value and score are in the short term."""
        return self.version >= 9

    @property
    def activations(self) -> tuple[str, ...]:
        """The kinds used, without KataGo's prefix, sorted."""
        kinds = {record.kind for record in walk(self) if isinstance(record, ActivationRecord)}
        return tuple(sorted(kind.removeprefix("ACTIVATION_").lower() for kind in kinds))

    @property
    def parameter_count(self) -> int:
        return sum(part.numbers for record in walk(self) if isinstance(record, Layer) for part in record.floats)


def parse_config(name: str) -> NetworkConfig:
    """The network that a short name describes, in KataGo's manner.

    `b10c128`: 10 blocks of 128 channels. `b18c384nbt`: nested bottlenecks, two blocks inside each, half as wide.
    A suffix `-mish` or `-silu` takes that activation in place of relu: stronger for its size, slower on a CPU.
    Up to 100 blocks and 1024 channels. Raises ValueError for another name.
    """
    match = re.fullmatch(r"b([1-9]\d{0,2})c([1-9]\d{0,3})(nbt)?(?:-(relu|mish|silu))?", name)
    if not match:
        raise ValueError(f"no network is called {name!r}; expected a name such as b6c96, b10c128-mish, b18c384nbt")
    block_count, channels, nested = int(match[1]), int(match[2]), bool(match[3])
    if block_count > 100 or not 8 <= channels <= 1024 or channels % 4:
        raise ValueError(f"{name!r}: expected 1 to 100 blocks and 8 to 1024 channels, a multiple of 4")
    activation = {None: RELU, "relu": RELU, "mish": MISH, "silu": SILU}[match[4]]
    return _Architect(name, block_count, channels, nested, activation).config()


def pooling_blocks(block_count: int, nested: bool) -> list[int]:
    """Which blocks, from 0, pool globally: as in KataGo's b6c96, b10c128, b15c192, b20c256 and b18c384nbt.

    Nested: every third but the last. Else: every fifth from the seventh on; in shallower networks more of them.
    """
    if nested:
        start, step = 3, 3
    else:
        start = min(7, max(3, block_count // 2))
        step = 2 if block_count < 8 else 3 if block_count < 12 else 5
    return [number - 1 for number in range(start, block_count, step)] or [block_count - 1]


def pooling_channels(width: int) -> int:
    """How many of a pooling block's channels are pooled: as in KataGo's networks of 16 to 192 channels."""
    sizes = ((8, 4), (16, 8), (48, 16), (128, 32), (256, 64))
    return next((pooled for largest, pooled in sizes if width <= largest), 128)


def head_channels(channels: int) -> tuple[int, int]:
    """Channels of both heads' convolutions, and of the value head's hidden layer: near those of KataGo's networks."""
    sizes = ((16, 8, 12), (32, 12, 24), (64, 24, 48), (96, 32, 64), (128, 32, 80), (192, 32, 96), (256, 48, 112))
    return next(((conv, hidden) for largest, conv, hidden in sizes if channels <= largest), (48, 128))


@dataclass(frozen=True)
class _Architect:
    """Draws the records of a fresh network."""

    name: str
    block_count: int
    channels: int
    nested: bool
    activation: str

    def config(self) -> NetworkConfig:
        return NetworkConfig(
            name=self.name,
            version=FRESH_VERSION,
            multipliers=Multipliers(score_error=150.0),  # KataGo's since its 18-block networks
            trunk=self.trunk(),
            policy=self.policy_head(),
            value=self.value_head(),
        )

    @property
    def width(self) -> int:
        """Of the tensors that 3x3 convolutions work on."""
        return self.channels // 2 if self.nested else self.channels

    def trunk(self) -> TrunkRecord:
        pooled = pooling_channels(self.width)
        pooling = pooling_blocks(self.block_count, self.nested)
        block = self.bottleneck if self.nested else self.block
        return TrunkRecord(
            name="trunk",
            block_count=self.block_count,
            channels=self.channels,
            mid_channels=self.width,
            regular_channels=self.width - pooled,
            dilated_channels=pooled,
            pool_channels=pooled,
            tip_norm_kind=BATCH_NORM,
            conv=ConvRecord("trunk.conv", 3, 3, PLANES, self.channels),
            matmul=MatMulRecord("trunk.matmul", SCALARS, self.channels),
            metadata=None,
            blocks=tuple(block(f"trunk.blocks.{number}", number in pooling) for number in range(self.block_count)),
            tip_norm=self.norm("trunk.tip_norm", self.channels),
            tip_act=self.act("trunk.tip_act"),
        )

    def norm(self, name: str, channels: int) -> BatchNormRecord:
        return BatchNormRecord(name, channels, EPSILON, has_scale=True, has_bias=True)

    def act(self, name: str) -> ActivationRecord:
        return ActivationRecord(name, self.activation)

    def bottleneck(self, name: str, pooling: bool) -> BlockRecord:
        return BottleneckBlockRecord(
            name=name,
            block_count=2,
            pre_norm=self.norm(f"{name}.pre_norm", self.channels),
            pre_act=self.act(f"{name}.pre_act"),
            pre_conv=ConvRecord(f"{name}.pre_conv", 1, 1, self.channels, self.width),
            blocks=(self.block(f"{name}.blocks.0", pooling), self.block(f"{name}.blocks.1", False)),
            post_norm=self.norm(f"{name}.post_norm", self.width),
            post_act=self.act(f"{name}.post_act"),
            post_conv=ConvRecord(f"{name}.post_conv", 1, 1, self.width, self.channels),
        )

    def block(self, name: str, pooling: bool) -> BlockRecord:
        pooled = pooling_channels(self.width) if pooling else 0
        rest = self.width - pooled
        layers: dict[str, Any] = {
            "pre_norm": self.norm(f"{name}.pre_norm", self.width),
            "pre_act": self.act(f"{name}.pre_act"),
            "conv1": ConvRecord(f"{name}.conv1", 3, 3, self.width, rest),
            "mid_norm": self.norm(f"{name}.mid_norm", rest),
            "mid_act": self.act(f"{name}.mid_act"),
            "conv2": ConvRecord(f"{name}.conv2", 3, 3, rest, self.width),
        }
        if not pooling:
            return OrdinaryBlockRecord(name=name, **layers)
        return PoolingBlockRecord(
            name=name,
            pool_conv=ConvRecord(f"{name}.pool_conv", 3, 3, self.width, pooled),
            pool_norm=self.norm(f"{name}.pool_norm", pooled),
            pool_act=self.act(f"{name}.pool_act"),
            pool_matmul=MatMulRecord(f"{name}.pool_matmul", 3 * pooled, rest),
            **layers,
        )

    def policy_head(self) -> PolicyHeadRecord:
        size, _ = head_channels(self.channels)
        return PolicyHeadRecord(
            name="policy",
            conv=ConvRecord("policy.conv", 1, 1, self.channels, size),
            pool_conv=ConvRecord("policy.pool_conv", 1, 1, self.channels, size),
            pool_norm=self.norm("policy.pool_norm", size),
            pool_act=self.act("policy.pool_act"),
            pool_matmul=MatMulRecord("policy.pool_matmul", 3 * size, size),
            norm=self.norm("policy.norm", size),
            act=self.act("policy.act"),
            out_conv=ConvRecord("policy.out_conv", 1, 1, size, 2),
            pass_matmul=MatMulRecord("policy.pass_matmul", 3 * size, 2),
        )

    def value_head(self) -> ValueHeadRecord:
        size, hidden = head_channels(self.channels)
        return ValueHeadRecord(
            name="value",
            conv=ConvRecord("value.conv", 1, 1, self.channels, size),
            norm=self.norm("value.norm", size),
            act=self.act("value.act"),
            matmul=MatMulRecord("value.matmul", 3 * size, hidden),
            bias=BiasRecord("value.bias", hidden),
            hidden_act=self.act("value.hidden_act"),
            value_matmul=MatMulRecord("value.value_matmul", hidden, 3),
            value_bias=BiasRecord("value.value_bias", 3),
            score_matmul=MatMulRecord("value.score_matmul", hidden, 6),
            score_bias=BiasRecord("value.score_bias", 6),
            ownership=ConvRecord("value.ownership", 1, 1, size, 1),
        )
