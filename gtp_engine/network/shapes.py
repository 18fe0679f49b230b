"""Checks that the layers of a network fit together, before anything is computed with them."""

from typing import Any

from ..base.errors import UserError
from .config import PLANES, SCALARS, NetworkConfig
from .schema import (
    AttentionBlockDesc,
    BottleneckBlockDesc,
    ConvDesc,
    FeedForwardBlockDesc,
    LearnedRopeDesc,
    MatMulDesc,
    MetadataEncoderDesc,
    OrdinaryBlockDesc,
    PolicyHeadDesc,
    PoolingBlockDesc,
    ValueHeadDesc,
)

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
    channels = _product(trunk.conv, config.planes)
    _equal("trunk.matmul", _product(trunk.matmul, config.scalars), channels)
    if trunk.metadata is not None:
        _equal("trunk.metadata", _encoded(trunk.metadata), channels)
    for number, block in enumerate(trunk.blocks):
        _check_block(block, channels, f"trunk.blocks.{number}")
    _equal("trunk.tip_norm", trunk.tip_norm.channels, channels)
    _check_outputs(config, [*_policy(config.policy, channels), *_value(config.value, channels)])


def _check_outputs(config: NetworkConfig, found: list[int]) -> None:
    version = config.version
    policy = 1 if version < 12 else 2 if version < 16 else 4 if version == 16 else config.policy.declared_channels
    expected = [policy, policy, 3, 4 if version == 8 else 6, 1]
    if found != expected:
        names = "policy, pass, value, scores and ownership"
        raise UserError(f"its outputs for {names} have {found} channels; version {version} has {expected}")


def _equal(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise UserError(f"its layers do not fit together ({name} has {found} channels, not {expected})")


def _product(layer: ConvDesc | MatMulDesc, inputs: int) -> int:
    """Returns the outputs of a layer that gets this number of inputs."""
    _equal(f"the input of {layer.name}", layer.in_channels, inputs)
    return layer.out_channels


def _check_block(block: Any, channels: int, path: str) -> None:
    """Checks a block that gets this number of channels, and has to return as many."""
    if isinstance(block, BottleneckBlockDesc):
        _equal(f"{path}.pre_norm", block.pre_norm.channels, channels)
        inner = _product(block.pre_conv, channels)
        for number, part in enumerate(block.blocks):
            _check_block(part, inner, f"{path}.blocks.{number}")
        _equal(f"{path}.post_norm", block.post_norm.channels, inner)
        outputs = _product(block.post_conv, inner)
    elif isinstance(block, AttentionBlockDesc):
        outputs = _attended(block, channels, path)
    elif isinstance(block, FeedForwardBlockDesc):
        _equal(f"{path}.norm", block.norm.channels, channels)
        hidden = _product(block.first, channels)
        if block.gate is not None:
            _equal(f"{path}.gate", _product(block.gate, channels), hidden)
        outputs = _product(block.second, hidden)
    else:
        assert isinstance(block, OrdinaryBlockDesc | PoolingBlockDesc)
        outputs = _convolved(block, channels, path)
    _equal(path, outputs, channels)


def _convolved(block: OrdinaryBlockDesc | PoolingBlockDesc, channels: int, path: str) -> int:
    _equal(f"{path}.pre_norm", block.pre_norm.channels, channels)
    regular = _product(block.conv1, channels)
    if isinstance(block, PoolingBlockDesc):
        pooled = _product(block.pool_conv, channels)
        _equal(f"{path}.pool_norm", block.pool_norm.channels, pooled)
        _equal(f"{path}.pool_matmul", _product(block.pool_matmul, _POOLED * pooled), regular)
    _equal(f"{path}.mid_norm", block.mid_norm.channels, regular)
    return _product(block.conv2, regular)


def _attended(block: AttentionBlockDesc, channels: int, path: str) -> int:
    _equal(f"{path}.norm", block.norm.channels, channels)
    for name, heads, width in (
        ("query", block.heads, block.query_channels),
        ("key", block.kv_heads, block.query_channels),
        ("value", block.kv_heads, block.value_channels),
    ):
        _equal(f"{path}.{name}", _product(getattr(block, name), channels), heads * width)
    if block.rope is not None:  # which rotates pairs of channels
        _equal(f"{path}.query", block.query_channels % 2, 0)
    if isinstance(block.rope, LearnedRopeDesc):
        _equal(f"{path}.rope", 2 * block.rope.pairs, block.query_channels)
        if block.rope.heads not in (1, block.kv_heads):
            raise UserError(f"{path}.rope: angles of {block.rope.heads} heads; expected {block.kv_heads}")
    return _product(block.out, block.heads * block.value_channels)


def _encoded(encoder: MetadataEncoderDesc) -> int:
    hidden = _product(encoder.matmul1, encoder.inputs)
    _equal(encoder.bias1.name, encoder.bias1.channels, hidden)
    hidden = _product(encoder.matmul2, hidden)
    _equal(encoder.bias2.name, encoder.bias2.channels, hidden)
    return _product(encoder.matmul3, hidden)


def _policy(head: PolicyHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for points and for the pass."""
    regular, pooled = _product(head.conv, channels), _product(head.pool_conv, channels)
    _equal("policy.pool_norm", head.pool_norm.channels, pooled)
    _equal("policy.pool_matmul", _product(head.pool_matmul, _POOLED * pooled), regular)
    _equal("policy.norm", head.norm.channels, regular)
    passing = _product(head.pass_matmul, _POOLED * pooled)
    further = (head.pass_bias, head.pass_act, head.pass_out)
    if any(further) and not all(further):
        raise UserError("policy: pass_bias, pass_act and pass_out come together")
    if head.pass_bias is not None and head.pass_out is not None:
        _equal("policy.pass_bias", head.pass_bias.channels, passing)
        passing = _product(head.pass_out, passing)
    return [_product(head.out_conv, regular), passing]


def _value(head: ValueHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for value, scores and ownership."""
    pooled = _product(head.conv, channels)
    _equal("value.norm", head.norm.channels, pooled)
    hidden = _product(head.matmul, _POOLED * pooled)
    _equal("value.bias", head.bias.channels, hidden)
    value, scores = _product(head.value_matmul, hidden), _product(head.score_matmul, hidden)
    _equal("value.value_bias", head.value_bias.channels, value)
    _equal("value.score_bias", head.score_bias.channels, scores)
    names = [part.name for part in head.auxiliary]
    if len(set(names)) < len(names):
        raise UserError(f"value.auxiliary: two heads have the same name: {', '.join(names)}")
    for part in head.auxiliary:
        _product(part, pooled if isinstance(part, ConvDesc) else hidden)
    return [value, scores, _product(head.ownership, pooled)]
