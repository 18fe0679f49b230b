"""Makes a larger network that at first computes what a smaller one does, to train it further from there.

The idea is Net2Net's (Chen, Goodfellow and Shlens 2015), with zeros in place of copies: added blocks end in zeros, so
that they add nothing to the trunk; the channels of the smaller network read the added ones, which have random weights,
with weights of zero. These zeros have gradients from the first step on, and all other added weights soon after it.
"""

from dataclasses import replace

import numpy as np
import torch

from ..base.errors import UserError
from .config import NetworkConfig, parse_config
from .model import Model
from .schema import BlockDesc, BottleneckBlockDesc
from .stored import StoredNetwork

_POOLED = (".pool_matmul.weight", ".pass_matmul.weight", "value.matmul.weight")  # three inputs a channel
_LAST = ("conv2.weight", "post_conv.weight")  # the last layers of blocks


def enlarged(network: StoredNetwork, config: NetworkConfig, generator: torch.Generator | None = None) -> StoredNetwork:
    """Returns a larger network with the outputs of a smaller one, except for rounding.

    Args:
        network: The smaller network.
        config: The architecture of the larger one, as from `parse_config`. It needs at least as many blocks of each
            kind, in an order that contains that of the smaller one, and at least as many channels of each layer.
        generator: The source of the random weights; by default torch's.

    Raises:
        UserError: The network does not have an architecture of this program, or does not fit into the larger one.
    """
    small = network.config
    if not _is_own(small):
        raise UserError(f"{small.name}: only networks of `learn` and `train` can be enlarged, not KataGo's")
    if small.activations != config.activations:
        kinds = " and ".join(f"{each.name} has {', '.join(each.activations)}" for each in (config, small))
        raise UserError(f"the activation must stay the same: {kinds}")
    if _is_nested(small) != _is_nested(config):
        raise UserError(f"{config.name} cannot contain {small.name}: both need nested bottlenecks (nbt), or neither")
    blocks = _places(small, config)
    model = Model(replace(config, multipliers=small.multipliers, suicide_areas=small.suicide_areas))
    fresh = model.initialise(generator).stored()
    values = {}
    for name, value in fresh.values.items():
        old = _name_before(name, blocks)
        before = network.values[old] if old else None
        if before is not None and any(new < count for new, count in zip(value.shape, before.shape, strict=True)):
            raise UserError(
                f"{config.name} cannot contain {small.name}: it has fewer channels, or fewer beside the pooled ones; "
                "choose another number of channels"
            )
        values[name] = _filled(name, value, before)
    return StoredNetwork(fresh.config, values)


def _is_own(config: NetworkConfig) -> bool:
    """Whether `parse_config` makes such an architecture; its layers then have the same names in all sizes."""
    nested = "nbt" if _is_nested(config) else ""
    try:
        own = parse_config(f"b{len(config.trunk.blocks)}c{config.channels}{nested}-{'-'.join(config.activations)}")
    except UserError:
        return False
    return replace(config, name=own.name, multipliers=own.multipliers, suicide_areas=own.suicide_areas) == own


def _is_nested(config: NetworkConfig) -> bool:
    return isinstance(config.trunk.blocks[0], BottleneckBlockDesc)


def _places(small: NetworkConfig, large: NetworkConfig) -> dict[int, int]:
    """Returns by the number of a block in the larger network that of the smaller one that it contains.

    Each block of the smaller network goes to the first one of its kind after those before it.
    """
    found: dict[int, int] = {}
    waiting = list(map(_kind, small.trunk.blocks))
    for number, block in enumerate(large.trunk.blocks):
        if len(found) < len(waiting) and _kind(block) == waiting[len(found)]:
            found[number] = len(found)
    if len(found) < len(waiting):
        raise UserError(
            f"{large.name} cannot contain {small.name}: it has fewer blocks, or pools globally in other places; choose "
            "another number of blocks"
        )
    return found


def _kind(block: BlockDesc) -> tuple[type, ...]:
    """Returns what has to be the same in both networks: the block's class and those of the blocks inside."""
    inner = block.blocks if isinstance(block, BottleneckBlockDesc) else ()
    return (type(block), *map(type, inner))


def _name_before(name: str, blocks: dict[int, int]) -> str | None:
    """Returns the smaller network's name of a value; None in a block that is added."""
    if not name.startswith("trunk.blocks."):
        return name
    number, rest = name.removeprefix("trunk.blocks.").split(".", 1)
    place = blocks.get(int(number))
    return None if place is None else f"trunk.blocks.{place}.{rest}"


def _filled(name: str, fresh: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Returns a value of the larger network.

    Args:
        name: Its name.
        fresh: What a fresh network has there: [channels], or [out, in, ...].
        before: The smaller network's value; None in a block that is added.
    """
    if before is None:
        return np.zeros_like(fresh) if name.count(".") == 4 and name.endswith(_LAST) else fresh
    parts = 3 if name.endswith(_POOLED) else 1
    filled = _in_parts(fresh.copy(), parts)
    filled[: len(before)] = 0  # what the smaller network's channels read from added ones
    inside = tuple(slice(size) for size in _in_parts(before, parts).shape)
    filled[inside] = _in_parts(before, parts)
    return filled.reshape(fresh.shape)


def _in_parts(value: np.ndarray, parts: int) -> np.ndarray:
    """Returns [out, parts * in, ...] as [out, parts, in, ...], and [channels] as it is."""
    return value if value.ndim == 1 else value.reshape(value.shape[0], parts, -1, *value.shape[2:])
