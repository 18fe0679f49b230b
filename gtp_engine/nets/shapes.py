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
    channels = _follow(trunk, "trunk", config.planes, "conv")
    _equal("trunk.matmul", _follow(trunk, "trunk", config.scalars, "matmul"), channels)
    if (encoder := trunk.metadata) is not None:
        encoded = _follow(encoder, "trunk.metadata", encoder.inputs, "matmul1", "bias1", "matmul2", "bias2", "matmul3")
        _equal("trunk.metadata", encoded, channels)
    for number, block in enumerate(trunk.blocks):
        _check_block(block, channels, f"trunk.blocks.{number}")
    _follow(trunk, "trunk", channels, "tip_norm")
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


def _follow(desc: Any, path: str, channels: int, *names: str) -> int:
    """Returns the outputs of layers of a description, one after the other, of which the first gets `channels`."""
    for name in names:
        layer = getattr(desc, name)
        if isinstance(layer, ConvDesc | MatMulDesc):
            _equal(f"the input of {layer.name}", layer.in_channels, channels)
            channels = layer.out_channels
        else:  # a norm or a bias
            _equal(f"{path}.{name}", layer.channels, channels)
    return channels


def _check_block(block: Any, channels: int, path: str) -> None:
    """Checks a block that gets this number of channels, and has to return as many."""
    if isinstance(block, BottleneckBlockDesc):
        inner = _follow(block, path, channels, "pre_norm", "pre_conv")
        for number, part in enumerate(block.blocks):
            _check_block(part, inner, f"{path}.blocks.{number}")
        outputs = _follow(block, path, inner, "post_norm", "post_conv")
    elif isinstance(block, AttentionBlockDesc):
        outputs = _attended(block, channels, path)
    elif isinstance(block, FeedForwardBlockDesc):
        hidden = _follow(block, path, channels, "norm", "first")
        if block.gate is not None:
            _equal(f"{path}.gate", _follow(block, path, channels, "gate"), hidden)
        outputs = _follow(block, path, hidden, "second")
    else:
        regular = _follow(block, path, channels, "pre_norm", "conv1")
        if isinstance(block, PoolingBlockDesc):
            pooled = _follow(block, path, channels, "pool_conv", "pool_norm")
            _equal(f"{path}.pool_matmul", _follow(block, path, _POOLED * pooled, "pool_matmul"), regular)
        outputs = _follow(block, path, regular, "mid_norm", "conv2")
    _equal(path, outputs, channels)


def _attended(block: AttentionBlockDesc, channels: int, path: str) -> int:
    channels = _follow(block, path, channels, "norm")
    for name, heads, width in (
        ("query", block.heads, block.query_channels),
        ("key", block.kv_heads, block.query_channels),
        ("value", block.kv_heads, block.value_channels),
    ):
        _equal(f"{path}.{name}", _follow(block, path, channels, name), heads * width)
    if block.rope is not None:  # which rotates pairs of channels
        _equal(f"{path}.query", block.query_channels % 2, 0)
    if isinstance(block.rope, LearnedRopeDesc):
        _equal(f"{path}.rope", 2 * block.rope.pairs, block.query_channels)
        if block.rope.heads not in (1, block.kv_heads):
            raise UserError(f"{path}.rope: angles of {block.rope.heads} heads; expected {block.kv_heads}")
    return _follow(block, path, block.heads * block.value_channels, "out")


def _policy(head: PolicyHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for points and for the pass."""
    regular, pooled = _follow(head, "policy", channels, "conv"), _follow(head, "policy", channels, "pool_conv")
    pooled = _POOLED * _follow(head, "policy", pooled, "pool_norm")
    _equal("policy.pool_matmul", _follow(head, "policy", pooled, "pool_matmul"), regular)
    further = (head.pass_bias, head.pass_act, head.pass_out)
    if any(further) and not all(further):
        raise UserError("policy: pass_bias, pass_act and pass_out come together")
    passing = ("pass_matmul", "pass_bias", "pass_out") if head.pass_out is not None else ("pass_matmul",)
    return [_follow(head, "policy", regular, "norm", "out_conv"), _follow(head, "policy", pooled, *passing)]


def _value(head: ValueHeadDesc, channels: int) -> list[int]:
    """Returns the outputs for value, scores and ownership."""
    pooled = _follow(head, "value", channels, "conv", "norm")
    hidden = _follow(head, "value", _POOLED * pooled, "matmul", "bias")
    names = [part.name for part in head.auxiliary]
    if len(set(names)) < len(names):
        raise UserError(f"value.auxiliary: two heads have the same name: {', '.join(names)}")
    for part in head.auxiliary:
        _equal(f"the input of {part.name}", part.in_channels, pooled if isinstance(part, ConvDesc) else hidden)
    return [
        _follow(head, "value", hidden, "value_matmul", "value_bias"),
        _follow(head, "value", hidden, "score_matmul", "score_bias"),
        _follow(head, "value", pooled, "ownership"),
    ]
