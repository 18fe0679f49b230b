"""The architecture of a whole network: its config, as plain data too, and checked; the short names of our own."""

import itertools
import math
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any

from ..base.errors import UserError
from ..base.fields import invalid
from . import schema

OLDEST, NEWEST = 8, 17  # versions of KataGo's files that have its version 7 inputs
PLANES, SCALARS = 22, 19
SUPERKO, TERRITORY = 6, 9  # indices of scalars that are not 0 under such rules

# The version of fresh networks: that of KataGo's 18-block networks, which its releases and the programs that ship them
# have read since 2023. It has all outputs; versions from 15 on change only the pass logit and add transformers.
FRESH_VERSION = 14
TRANSFORMER_VERSION = 17  # that of KataGo's transformers
EPSILON = 1e-4  # KataGo's training configurations
_RMS_EPSILON, _CONSTANT_EPSILON, _ROPE_THETA = 1e-6, 1e-20, 100.0  # those of KataGo's transformers


@dataclass(frozen=True)
class Multipliers:
    """Factors of raw outputs, by default those of versions 8 to 12; raises UserError unless positive and finite."""

    td_score: float = 20.0
    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25
    score_error: float = 30.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0):
                raise invalid(f"multiplier {name}", value, "a positive number")


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """Architecture of a network, without weights. The fields are in the order of KataGo's files, see `schema`.

    Raises:
        UserError: A version is not supported.
    """

    name: str
    version: int  # version of KataGo's file format, which determines the meaning of the outputs
    planes: int = PLANES  # number of input planes
    scalars: int = SCALARS  # number of scalar inputs
    multipliers: Multipliers = field(default=Multipliers(), metadata={"since": 13})  # factors of the raw outputs
    # 1 if the network has inputs for metadata of the players, else 0.
    metadata_version: int = field(default=0, metadata={"since": 15})
    # Whether the areas of the input planes are computed as if suicide were legal under all rules.
    suicide_areas: bool = field(default=False, metadata={"since": 15, "zeros": (15, 6)})
    trunk: schema.TrunkDesc  # everything before the heads
    policy: schema.PolicyHeadDesc
    value: schema.ValueHeadDesc

    def __post_init__(self) -> None:
        if not OLDEST <= self.version <= NEWEST:
            raise UserError(f"unsupported version {self.version}; expected {OLDEST} to {NEWEST}")
        if self.metadata_version not in (0, 1):
            raise UserError(f"unknown metadata version {self.metadata_version}; 0 and 1 are known")

    @property
    def channels(self) -> int:
        """Number of the trunk's channels."""
        return self.trunk.conv.out_channels

    @property
    def policy_channels(self) -> int:
        """Number of the policy's channels: 1, 2 with an optimistic policy, or 4 with values of each move as well."""
        return self.policy.out_conv.out_channels

    @property
    def has_optimism(self) -> bool:
        """Whether it has an optimistic policy; as in KataGo, that of networks that imitate humans is not used."""
        return self.version >= 12 and self.policy_channels >= 2 and not self.metadata_version

    @property
    def has_errors(self) -> bool:
        """Whether it predicts the short-term errors of its value and score."""
        return self.version >= 9

    @property
    def activations(self) -> tuple[str, ...]:
        """The activations used, without KataGo's prefix, sorted."""
        kinds = {desc.kind for desc in schema.walk(self) if isinstance(desc, schema.ActivationDesc)}
        return tuple(sorted(kind.removeprefix("ACTIVATION_").lower() for kind in kinds))

    @property
    def parameter_count(self) -> int:
        """Number of values of all layers. A network file contains them all, except for those of auxiliary heads."""
        return sum(block.size for desc in schema.walk(self) if isinstance(desc, schema.Layer) for block in desc.floats)

    def without_auxiliary_heads(self) -> "NetworkConfig":
        """Returns the architecture as it is in network files, which do not contain heads that only help to learn."""
        return replace(self, value=replace(self.value, auxiliary=()))


def parse_config(name: str) -> NetworkConfig:
    """Returns the architecture that a short name in KataGo's style describes.

    `b10c128` has 10 blocks of 128 channels, `b18c384nbt` nested bottlenecks with two blocks inside each, half as wide.
    `b7c96h3tfrs` is a transformer: 7 times attention with 3 heads and a feed-forward layer, with fixed rotary positions
    or, as `tflrs`, learned ones. The suffix `-mish` or `-silu` selects an activation other than relu: stronger for its
    size, slower on a CPU; transformers have silu.

    Raises:
        UserError: The name is not of this form, or has more than 100 blocks or 1024 channels, or the heads do not share
            the channels in multiples of 4.
    """
    match = re.fullmatch(
        r"b([1-9]\d{0,2})c([1-9]\d{0,3})(?:(nbt)?(?:-(relu|mish|silu))?|h([1-9]\d{0,2})tf(l?)rs)", name
    )
    if not match:
        raise UserError(
            f"unknown architecture {name!r}: expected a name such as b6c96, b10c128-mish, b18c384nbt, b7c96h3tfrs"
        )
    block_count, channels, nested = int(match[1]), int(match[2]), bool(match[3])
    if block_count > 100 or not 8 <= channels <= 1024 or channels % 4:
        raise UserError(f"{name!r}: expected 1 to 100 blocks and 8 to 1024 channels, a multiple of 4")
    heads = int(match[5] or 0)
    if heads and channels % (4 * heads):
        raise UserError(f"{name!r}: {heads} heads cannot share {channels} channels; each needs a multiple of 4")
    activation = {
        None: schema.SILU if heads else schema.RELU,
        "relu": schema.RELU,
        "mish": schema.MISH,
        "silu": schema.SILU,
    }[match[4]]
    return _Architect(name, block_count, channels, nested, activation, heads, bool(match[6])).config()


def pooling_blocks(block_count: int, nested: bool) -> list[int]:
    """Returns the blocks, counted from 0, that pool globally, as in KataGo's b6c96, b10c128, b15c192 and b20c256.

    They are every fifth from the seventh on, and more of them in shallower networks. Of nested bottlenecks it is every
    third except the last, as in b18c384nbt.
    """
    if nested:
        start, step = 3, 3
    else:
        start = min(7, max(3, block_count // 2))
        step = 2 if block_count < 8 else 3 if block_count < 12 else 5
    return [number - 1 for number in range(start, block_count, step)] or [block_count - 1]


def pooling_channels(width: int) -> int:
    """Returns how many of a pooling block's channels are pooled, as in KataGo's networks of 16 to 192 channels."""
    sizes = ((8, 4), (16, 8), (48, 16), (128, 32), (256, 64))
    return next((pooled for largest, pooled in sizes if width <= largest), 128)


def head_channels(channels: int) -> tuple[int, int]:
    """Returns the channels of both heads' convolutions and of the value head's hidden layer.

    They are close to those of KataGo's networks.
    """
    sizes = ((16, 8, 12), (32, 12, 24), (64, 24, 48), (96, 32, 64), (128, 32, 80), (192, 32, 96), (256, 48, 112))
    return next(((conv, hidden) for largest, conv, hidden in sizes if channels <= largest), (48, 128))


@dataclass(frozen=True)
class _Architect:
    """Makes the descriptions of a fresh network."""

    name: str
    block_count: int
    channels: int
    nested: bool
    activation: str
    heads: int  # of the attention; 0 for networks of convolutions
    learned_rope: bool

    def config(self) -> NetworkConfig:
        return NetworkConfig(
            name=self.name,
            version=TRANSFORMER_VERSION if self.heads else FRESH_VERSION,
            multipliers=Multipliers(score_error=150.0),  # KataGo's since its 18-block networks
            trunk=self.trunk(),
            policy=self.policy_head(),
            value=self.value_head(),
        )

    @property
    def width(self) -> int:
        """Channels of the tensors that 3x3 convolutions work on."""
        return self.channels // 2 if self.nested else self.channels

    def trunk(self) -> schema.TrunkDesc:
        pooled = pooling_channels(self.width)
        pooling = pooling_blocks(self.block_count, self.nested)
        if not self.heads:
            block = self.bottleneck if self.nested else self.block
            blocks = tuple(block(f"trunk.blocks.{number}", number in pooling) for number in range(self.block_count))
        else:
            pairs = (
                (self.attention(f"trunk.blocks.{number}"), self.feed_forward(f"trunk.blocks.{number + 1}"))
                for number in range(0, 2 * self.block_count, 2)
            )
            blocks = tuple(itertools.chain.from_iterable(pairs))
        tip_rms_norm = schema.TipRMSNormDesc("trunk.tip_norm", self.channels, _RMS_EPSILON, spatial=False)
        return schema.TrunkDesc(
            name="trunk",
            block_count=len(blocks),
            channels=self.channels,
            mid_channels=self.width,
            regular_channels=self.width - pooled,
            dilated_channels=pooled,
            pool_channels=pooled,
            tip_norm_kind=schema.RMS_NORM if self.heads else schema.BATCH_NORM,
            conv=schema.ConvDesc("trunk.conv", 3, 3, PLANES, self.channels),
            matmul=schema.MatMulDesc("trunk.matmul", SCALARS, self.channels),
            metadata=None,
            blocks=blocks,
            tip_norm=tip_rms_norm if self.heads else self.norm("trunk.tip_norm", self.channels),
            tip_act=self.act("trunk.tip_act"),
        )

    def norm(self, name: str, channels: int) -> schema.BatchNormDesc:
        if self.heads:  # only a bias: with RMS norms in the trunk nothing needs a batch's statistics
            return schema.BatchNormDesc(
                name, channels, _CONSTANT_EPSILON, has_scale=False, has_bias=True, constant=True
            )
        return schema.BatchNormDesc(name, channels, EPSILON, has_scale=True, has_bias=True)

    def act(self, name: str) -> schema.ActivationDesc:
        return schema.ActivationDesc(name, self.activation)

    def attention(self, name: str) -> schema.BlockDesc:
        channels, width = self.channels, self.channels // self.heads
        projections = {
            part: schema.MatMulDesc(f"{name}.{part}", channels, channels) for part in ("query", "key", "value", "out")
        }
        learned = schema.LearnedRopeDesc(f"{name}.rope", self.heads, width // 2)
        return schema.AttentionBlockDesc(
            name=name,
            heads=self.heads,
            kv_heads=self.heads,
            query_channels=width,
            value_channels=width,
            use_rope=True,
            learnable_rope=self.learned_rope,
            norm=schema.RMSNormDesc(f"{name}.norm", channels, _RMS_EPSILON),
            rope=learned if self.learned_rope else schema.FixedRopeDesc(f"{name}.rope", _ROPE_THETA),
            **projections,
        )

    def feed_forward(self, name: str) -> schema.BlockDesc:
        channels = self.channels
        hidden = -(-8 * channels // 96) * 32  # with a gate about as many weights as 4 times the channels without
        return schema.FeedForwardBlockDesc(
            name=name,
            channels=channels,
            hidden=hidden,
            use_gate=True,
            norm=schema.RMSNormDesc(f"{name}.norm", channels, _RMS_EPSILON),
            first=schema.MatMulDesc(f"{name}.first", channels, hidden),
            gate=schema.MatMulDesc(f"{name}.gate", channels, hidden),
            second=schema.MatMulDesc(f"{name}.second", hidden, channels),
        )

    def bottleneck(self, name: str, pooling: bool) -> schema.BlockDesc:
        return schema.BottleneckBlockDesc(
            name=name,
            block_count=2,
            pre_norm=self.norm(f"{name}.pre_norm", self.channels),
            pre_act=self.act(f"{name}.pre_act"),
            pre_conv=schema.ConvDesc(f"{name}.pre_conv", 1, 1, self.channels, self.width),
            blocks=(self.block(f"{name}.blocks.0", pooling), self.block(f"{name}.blocks.1", False)),
            post_norm=self.norm(f"{name}.post_norm", self.width),
            post_act=self.act(f"{name}.post_act"),
            post_conv=schema.ConvDesc(f"{name}.post_conv", 1, 1, self.width, self.channels),
        )

    def block(self, name: str, pooling: bool) -> schema.BlockDesc:
        pooled = pooling_channels(self.width) if pooling else 0
        rest = self.width - pooled
        layers: dict[str, Any] = {
            "pre_norm": self.norm(f"{name}.pre_norm", self.width),
            "pre_act": self.act(f"{name}.pre_act"),
            "conv1": schema.ConvDesc(f"{name}.conv1", 3, 3, self.width, rest),
            "mid_norm": self.norm(f"{name}.mid_norm", rest),
            "mid_act": self.act(f"{name}.mid_act"),
            "conv2": schema.ConvDesc(f"{name}.conv2", 3, 3, rest, self.width),
        }
        if not pooling:
            return schema.OrdinaryBlockDesc(name=name, **layers)
        return schema.PoolingBlockDesc(
            name=name,
            pool_conv=schema.ConvDesc(f"{name}.pool_conv", 3, 3, self.width, pooled),
            pool_norm=self.norm(f"{name}.pool_norm", pooled),
            pool_act=self.act(f"{name}.pool_act"),
            pool_matmul=schema.MatMulDesc(f"{name}.pool_matmul", 3 * pooled, rest),
            **layers,
        )

    def policy_head(self) -> schema.PolicyHeadDesc:
        size, _ = head_channels(self.channels)
        return schema.PolicyHeadDesc(
            name="policy",
            declared_channels=2 if self.heads else 0,
            conv=schema.ConvDesc("policy.conv", 1, 1, self.channels, size),
            pool_conv=schema.ConvDesc("policy.pool_conv", 1, 1, self.channels, size),
            pool_norm=self.norm("policy.pool_norm", size),
            pool_act=self.act("policy.pool_act"),
            pool_matmul=schema.MatMulDesc("policy.pool_matmul", 3 * size, size),
            norm=self.norm("policy.norm", size),
            act=self.act("policy.act"),
            out_conv=schema.ConvDesc("policy.out_conv", 1, 1, size, 2),
            pass_matmul=schema.MatMulDesc("policy.pass_matmul", 3 * size, size if self.heads else 2),
            pass_bias=schema.BiasDesc("policy.pass_bias", size) if self.heads else None,
            pass_act=self.act("policy.pass_act") if self.heads else None,
            pass_out=schema.MatMulDesc("policy.pass_out", size, 2) if self.heads else None,
        )

    def value_head(self) -> schema.ValueHeadDesc:
        size, hidden = head_channels(self.channels)
        return schema.ValueHeadDesc(
            name="value",
            conv=schema.ConvDesc("value.conv", 1, 1, self.channels, size),
            norm=self.norm("value.norm", size),
            act=self.act("value.act"),
            matmul=schema.MatMulDesc("value.matmul", 3 * size, hidden),
            bias=schema.BiasDesc("value.bias", hidden),
            hidden_act=self.act("value.hidden_act"),
            value_matmul=schema.MatMulDesc("value.value_matmul", hidden, 3),
            value_bias=schema.BiasDesc("value.value_bias", 3),
            score_matmul=schema.MatMulDesc("value.score_matmul", hidden, 6),
            score_bias=schema.BiasDesc("value.score_bias", 6),
            ownership=schema.ConvDesc("value.ownership", 1, 1, size, 1),
        )


def to_data(record: Any) -> dict[str, Any]:
    """Converts a config, or a part of one, to plain dictionaries, lists, strings and numbers, as in JSON."""
    data: dict[str, Any] = {"record": type(record).__name__}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if isinstance(value, tuple):
            data[entry.name] = [to_data(part) for part in value]
        else:
            data[entry.name] = to_data(value) if is_dataclass(value) else value
    return data


def config_from_data(data: Any) -> NetworkConfig:
    """The inverse of `to_data`; UserError if the data do not describe a network."""
    record = _record(data)
    if not isinstance(record, NetworkConfig):
        raise UserError(f"expected the description of a network, not of a {type(record).__name__}")
    return record


def _record(data: Any) -> Any:
    if not isinstance(data, Mapping) or data.get("record") not in _CLASSES:
        raise UserError(f"not a description of a network: {data!r:.80}")
    cls = _CLASSES[data["record"]]
    hints, values = field_types(cls), {}
    for name, value in data.items():
        if name == "record":
            continue
        if name not in hints:
            raise UserError(f"{data['record']} has no {name!r}")
        values[name] = _value(value, hints[name], f"{data['record']}.{name}")
    try:
        return cls(**values)
    except TypeError as error:
        raise UserError(str(error)) from error


def _value(data: Any, hint: Any, where: str) -> Any:
    """Returns a value of the type of a field."""
    if typing.get_origin(hint) is tuple:
        return tuple(_value(part, typing.get_args(hint)[0], where) for part in data)
    value, accepted = _record(data) if isinstance(data, Mapping) else data, classes_of(hint)
    if type(value) is int and float in accepted:
        value = float(value)
    if type(value) not in accepted:
        raise UserError(f"{where} cannot be {value!r:.80}")
    return value


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Returns the types of a description's fields."""
    return typing.get_type_hints(cls)


def classes_of(hint: Any) -> tuple[type, ...]:
    """Returns the classes of a union, or the one class."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


_CLASSES: dict[str, type] = {
    name: cls for name, cls in vars(schema).items() if isinstance(cls, type) and is_dataclass(cls)
} | {"Multipliers": Multipliers, "NetworkConfig": NetworkConfig}


_POOLED = 3  # numbers that global pooling makes of a channel


def check_shapes(config: NetworkConfig) -> None:
    """Follows the channels through a network.

    Raises:
        UserError: Two layers do not fit together, or the number of inputs or outputs is not that of this program.
    """
    if (config.planes, config.scalars) != (PLANES, SCALARS):
        found = f"{config.planes} planes and {config.scalars} scalars"
        raise UserError(f"its inputs are {found}; this program makes {PLANES} and {SCALARS}")
    trunk = config.trunk
    channels = _follow(trunk, "trunk", config.planes, "conv")
    _equal("trunk.matmul", _follow(trunk, "trunk", config.scalars, "matmul"), channels)
    if (encoder := trunk.metadata) is not None:
        encoded = _follow(encoder, "trunk.metadata", encoder.inputs, "matmul1", "bias1", "matmul2", "bias2", "matmul3")
        _equal("trunk.metadata", encoded, channels)
    for number, block in enumerate(trunk.blocks):
        _check_block(block, channels, f"trunk.blocks.{number}")
    _follow(trunk, "trunk", channels, "tip_norm")
    outputs = [*_policy_outputs(config.policy, channels), *_value_outputs(config.value, channels)]
    version = config.version
    policy = 1 if version < 12 else 2 if version < 16 else 4 if version == 16 else config.policy.declared_channels
    expected = [policy, policy, 3, 4 if version == 8 else 6, 1]
    if outputs != expected:
        names = "policy, pass, value, scores and ownership"
        raise UserError(f"its outputs for {names} have {outputs} channels; version {version} has {expected}")


def _equal(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise UserError(f"its layers do not fit together ({name} has {found} channels, not {expected})")


def _follow(desc: Any, path: str, channels: int, *names: str) -> int:
    """Returns the outputs of layers of a description, one after the other, of which the first gets `channels`."""
    for name in names:
        layer = getattr(desc, name)
        if isinstance(layer, schema.ConvDesc | schema.MatMulDesc):
            _equal(f"the input of {layer.name}", layer.in_channels, channels)
            channels = layer.out_channels
        else:  # a norm or a bias
            _equal(f"{path}.{name}", layer.channels, channels)
    return channels


def _check_block(block: Any, channels: int, path: str) -> None:
    """Checks a block that gets this number of channels, and has to return as many."""
    if isinstance(block, schema.BottleneckBlockDesc):
        inner = _follow(block, path, channels, "pre_norm", "pre_conv")
        for number, part in enumerate(block.blocks):
            _check_block(part, inner, f"{path}.blocks.{number}")
        outputs = _follow(block, path, inner, "post_norm", "post_conv")
    elif isinstance(block, schema.AttentionBlockDesc):
        outputs = _attended(block, channels, path)
    elif isinstance(block, schema.FeedForwardBlockDesc):
        hidden = _follow(block, path, channels, "norm", "first")
        if block.gate is not None:
            _equal(f"{path}.gate", _follow(block, path, channels, "gate"), hidden)
        outputs = _follow(block, path, hidden, "second")
    else:
        regular = _follow(block, path, channels, "pre_norm", "conv1")
        if isinstance(block, schema.PoolingBlockDesc):
            pooled = _follow(block, path, channels, "pool_conv", "pool_norm")
            _equal(f"{path}.pool_matmul", _follow(block, path, _POOLED * pooled, "pool_matmul"), regular)
        outputs = _follow(block, path, regular, "mid_norm", "conv2")
    _equal(path, outputs, channels)


def _attended(block: schema.AttentionBlockDesc, channels: int, path: str) -> int:
    channels = _follow(block, path, channels, "norm")
    for name, heads, width in (
        ("query", block.heads, block.query_channels),
        ("key", block.kv_heads, block.query_channels),
        ("value", block.kv_heads, block.value_channels),
    ):
        _equal(f"{path}.{name}", _follow(block, path, channels, name), heads * width)
    if block.rope is not None:  # which rotates pairs of channels
        _equal(f"{path}.query", block.query_channels % 2, 0)
    if isinstance(block.rope, schema.LearnedRopeDesc):
        _equal(f"{path}.rope", 2 * block.rope.pairs, block.query_channels)
        if block.rope.heads not in (1, block.kv_heads):
            raise UserError(f"{path}.rope: angles of {block.rope.heads} heads; expected {block.kv_heads}")
    return _follow(block, path, block.heads * block.value_channels, "out")


def _policy_outputs(head: schema.PolicyHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for points and for the pass."""
    regular, pooled = _follow(head, "policy", channels, "conv"), _follow(head, "policy", channels, "pool_conv")
    pooled = _POOLED * _follow(head, "policy", pooled, "pool_norm")
    _equal("policy.pool_matmul", _follow(head, "policy", pooled, "pool_matmul"), regular)
    further = (head.pass_bias, head.pass_act, head.pass_out)
    if any(further) and not all(further):
        raise UserError("policy: pass_bias, pass_act and pass_out come together")
    passing = ("pass_matmul", "pass_bias", "pass_out") if head.pass_out is not None else ("pass_matmul",)
    return [_follow(head, "policy", regular, "norm", "out_conv"), _follow(head, "policy", pooled, *passing)]


def _value_outputs(head: schema.ValueHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for value, scores and ownership."""
    pooled = _follow(head, "value", channels, "conv", "norm")
    hidden = _follow(head, "value", _POOLED * pooled, "matmul", "bias")
    names = [part.name for part in head.auxiliary]
    if len(set(names)) < len(names):
        raise UserError(f"value.auxiliary: two heads have the same name: {', '.join(names)}")
    for part in head.auxiliary:
        _equal(f"the input of {part.name}", part.in_channels, pooled if isinstance(part, schema.ConvDesc) else hidden)
    return [
        _follow(head, "value", hidden, "value_matmul", "value_bias"),
        _follow(head, "value", hidden, "score_matmul", "score_bias"),
        _follow(head, "value", pooled, "ownership"),
    ]
