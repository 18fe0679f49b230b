"""The architecture of a whole network: its config, as plain data too, and checked; the short names of our own."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from ..base.errors import UserError
from ..base.fields import invalid
from . import schema
from .constants import MISH, PLANES, RELU, SCALARS, SILU

OLDEST, NEWEST = 8, 17  # versions of KataGo's files that have its version 7 inputs

# The version of fresh networks: that of KataGo's 18-block networks, which its releases and the programs that ship them
# have read since 2023. It has all outputs; versions from 15 on change only the pass logit and add transformers.
FRESH_VERSION = 14
TRANSFORMER_VERSION = 17  # that of KataGo's transformers
EPSILON = 1e-4  # KataGo's training configurations
HORIZONS = 3  # of the head `td_value`, as many as KataGo has
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

    @property
    def auxiliary_names(self) -> list[str]:
        """The names of the heads that only help to learn."""
        return [head.name for head in (*self.policy.auxiliary, *self.value.auxiliary)]

    def with_auxiliary_heads(self, losses: Collection[str]) -> "NetworkConfig":
        """Returns the architecture with the heads that only help to learn, those of these losses.

        Each has the name of its loss. Network files do not contain them.
        """
        policy, hidden = self.policy, self.value.matmul.out_channels
        points = schema.ConvDesc("points", 1, 1, policy.out_conv.in_channels, 1)
        of_moves = (
            schema.MoveHeadDesc("soft_policy", points, schema.MatMulDesc("pass", policy.pass_matmul.in_channels, 1)),
        )
        of_position: tuple[schema.ConvDesc | schema.MatMulDesc, ...] = (
            schema.MatMulDesc("td_value", hidden, 3 * HORIZONS),
        )
        return replace(
            self,
            policy=replace(policy, auxiliary=tuple(head for head in of_moves if head.name in losses)),
            value=replace(self.value, auxiliary=tuple(head for head in of_position if head.name in losses)),
        )


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
    form = r"b([1-9]\d{0,2})c([1-9]\d{0,3})(?:(nbt)?(?:-(relu|mish|silu))?|h([1-9]\d{0,2})tf(l?)rs)"
    match = isinstance(name, str) and re.fullmatch(form, name)
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
        None: SILU if heads else RELU,
        "relu": RELU,
        "mish": MISH,
        "silu": SILU,
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
    sizes = ((4, 2), (8, 4), (16, 8), (48, 16), (128, 32), (256, 64))
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
        channels, (size, hidden) = self.channels, head_channels(self.channels)
        sizes = {"x": channels, "c": size, "p": size, "o": 2, "q": size if self.heads else 2}
        passing = {} if self.heads else dict.fromkeys(("pass_bias", "pass_act", "pass_out"))
        return NetworkConfig(
            name=self.name,
            version=TRANSFORMER_VERSION if self.heads else FRESH_VERSION,
            multipliers=Multipliers(score_error=150.0),  # KataGo's since its 18-block networks
            trunk=self.trunk(),
            policy=self.make(
                schema.PolicyHeadDesc, "policy", sizes, declared_channels=2 if self.heads else 0, **passing
            ),
            value=self.make(schema.ValueHeadDesc, "value", {"x": channels, "c": size, "h": hidden, "s": 6}),
        )

    @property
    def width(self) -> int:
        """Channels of the tensors that 3x3 convolutions work on."""
        return self.channels // 2 if self.nested else self.channels

    def trunk(self) -> schema.TrunkDesc:
        pooled = pooling_channels(self.width)
        pooling = pooling_blocks(self.block_count, self.nested)
        if self.heads:
            blocks = tuple(
                (self.feed_forward if number % 2 else self.attention)(f"trunk.blocks.{number}")
                for number in range(2 * self.block_count)
            )
        else:
            block = self.bottleneck if self.nested else self.block
            blocks = tuple(block(f"trunk.blocks.{number}", number in pooling) for number in range(self.block_count))
        tip_rms_norm = schema.TipRMSNormDesc("trunk.tip_norm", self.channels, _RMS_EPSILON, spatial=False)
        return self.make(
            schema.TrunkDesc,
            "trunk",
            {"x": self.channels},
            block_count=len(blocks),
            channels=self.channels,
            mid_channels=self.width,
            regular_channels=self.width - pooled,
            dilated_channels=pooled,
            pool_channels=pooled,
            tip_norm_kind=schema.RMS_NORM if self.heads else schema.BATCH_NORM,
            metadata=None,
            blocks=blocks,
            tip_norm=tip_rms_norm if self.heads else self.norm("trunk.tip_norm", self.channels),
        )

    def make(self, kind: Any, path: str, sizes: Mapping[str, int], **given: Any) -> Any:
        """Returns a description with the sizes of its layers by their letters; `given` are its other fields."""
        for entry in fields(kind):
            name, about, inner = entry.name, entry.metadata, f"{path}.{entry.name}"
            if name in ("name", *given) or not about.get("in_file", True):
                continue
            layer: Any = schema.classes_of(schema.field_types(kind)[name])[0]
            channels = [schema.count_of(each, sizes) for each in about.get("channels", ())]
            if layer is schema.ActivationDesc:
                given[name] = layer(inner, self.activation)
            elif layer is schema.BatchNormDesc:
                given[name] = self.norm(inner, *channels)
            elif layer is schema.RMSNormDesc:
                given[name] = layer(inner, channels[0], _RMS_EPSILON)
            elif layer is schema.ConvDesc:
                given[name] = layer(inner, about["side"], about["side"], *channels)
            else:
                given[name] = layer(inner, *channels)
        return kind(name=path, **given)

    def norm(self, name: str, channels: int) -> schema.BatchNormDesc:
        if self.heads:  # only a bias: with RMS norms in the trunk nothing needs a batch's statistics
            return schema.BatchNormDesc(
                name, channels, _CONSTANT_EPSILON, has_scale=False, has_bias=True, constant=True
            )
        return schema.BatchNormDesc(name, channels, EPSILON, has_scale=True, has_bias=True)

    def attention(self, path: str) -> schema.BlockDesc:
        width = self.channels // self.heads
        learned = schema.LearnedRopeDesc(f"{path}.rope", self.heads, width // 2)
        return self.make(
            schema.AttentionBlockDesc,
            path,
            dict.fromkeys("xqkvo", self.channels),
            heads=self.heads,
            kv_heads=self.heads,
            query_channels=width,
            value_channels=width,
            use_rope=True,
            learnable_rope=self.learned_rope,
            rope=learned if self.learned_rope else schema.FixedRopeDesc(f"{path}.rope", _ROPE_THETA),
        )

    def feed_forward(self, path: str) -> schema.BlockDesc:
        channels = self.channels
        hidden = -(-8 * channels // 96) * 32  # with a gate about as many weights as 4 times the channels without
        sizes = {"x": channels, "h": hidden}
        return self.make(schema.FeedForwardBlockDesc, path, sizes, channels=channels, hidden=hidden, use_gate=True)

    def bottleneck(self, path: str, pooling: bool) -> schema.BlockDesc:
        blocks = self.block(f"{path}.blocks.0", pooling), self.block(f"{path}.blocks.1", False)
        sizes = {"x": self.channels, "y": self.width}
        return self.make(schema.BottleneckBlockDesc, path, sizes, block_count=len(blocks), blocks=blocks)

    def block(self, path: str, pooling: bool) -> schema.BlockDesc:
        pooled = pooling_channels(self.width) if pooling else 0
        kind = schema.PoolingBlockDesc if pooling else schema.OrdinaryBlockDesc
        return self.make(kind, path, {"x": self.width, "y": self.width - pooled, "p": pooled})


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
    """The inverse of `to_data`; for data that do not describe a network an error of any kind, such as TypeError."""
    config = _from_data(data)
    if not isinstance(config, NetworkConfig):
        raise UserError(f"not a description of a network: {data!r:.80}")
    return config


def _from_data(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(map(_from_data, data))
    if not isinstance(data, Mapping):
        return data
    values = {name: _from_data(value) for name, value in data.items()}
    return _CLASSES[values.pop("record")](**values)


_CLASSES: dict[str, type] = {
    name: cls for name, cls in vars(schema).items() if isinstance(cls, type) and is_dataclass(cls)
} | {"Multipliers": Multipliers, "NetworkConfig": NetworkConfig}


def check_shapes(config: NetworkConfig) -> None:
    """Checks that the layers of a network fit together.

    Raises:
        UserError: Two of them do not, or the number of inputs or outputs is not that of this program.
    """
    if (config.planes, config.scalars) != (PLANES, SCALARS):
        found = f"{config.planes} planes and {config.scalars} scalars"
        raise UserError(f"its inputs are {found}; this program makes {PLANES} and {SCALARS}")
    version, policy, value = config.version, config.policy, config.value
    moves = 1 if version < 12 else 2 if version < 16 else 4 if version == 16 else policy.declared_channels
    trunk = _follow(config.trunk, "trunk", {})
    moves_sizes = _follow(policy, "policy", {"x": trunk["x"], "o": moves} | ({} if policy.pass_out else {"q": moves}))
    for head in policy.auxiliary:
        _follow(head, f"policy.auxiliary.{head.name}", {letter: moves_sizes[letter] for letter in "cp"})
    sizes = _follow(value, "value", {"x": trunk["x"], "s": 4 if version == 8 else 6})
    names = config.auxiliary_names
    if len(set(names)) < len(names):
        raise UserError(f"two heads have the same name: {', '.join(names)}")
    for part in value.auxiliary:
        _match(f"the input of {part.name}", part.in_channels, "c" if isinstance(part, schema.ConvDesc) else "h", sizes)


def _follow(desc: Any, path: str, sizes: dict[str, int]) -> dict[str, int]:
    """Checks the layers of a description, given the numbers that some letters stand for; returns those of all."""
    for entry in fields(desc):
        part, inner, names = getattr(desc, entry.name), f"{path}.{entry.name}", entry.metadata.get("channels", ())
        if isinstance(part, schema.ConvDesc | schema.MatMulDesc):
            _match(f"the input of {inner}", part.in_channels, names[0], sizes)
            _match(inner, part.out_channels, names[1], sizes)
        elif isinstance(part, schema.ChannelLayer | schema.BatchNormDesc):
            _match(inner, part.channels, names[0], sizes)
        elif isinstance(part, tuple) and names:
            for number, block in enumerate(part):
                _follow(block, f"{inner}.{number}", {"x": sizes[names[0]], **getattr(block, "sizes", {})})
        elif is_dataclass(part) and names:
            _follow(part, inner, {"x": sizes[names[0]]})
    return sizes


def _match(name: str, found: int, expected: schema.Channels, sizes: dict[str, int]) -> None:
    """Checks the channels of a layer, or notes them if they are the first of their letter."""
    if isinstance(expected, str) and expected.isalpha():
        sizes.setdefault(expected, found)
    if found != (count := schema.count_of(expected, sizes)):
        raise UserError(f"its layers do not fit together ({name} has {found} channels, not {count})")
