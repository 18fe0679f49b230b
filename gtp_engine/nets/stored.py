"""A network as files hold it: its config and the values of its layers, as numpy arrays; with folded batch norms too.

Readers and writers of files make and take it. On a CPU the compiled kernels are made of it (`kernels.network`); for
GPUs and for learning, the torch module (`model.Model`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from .config import NetworkConfig
from .schema import BatchNormDesc, OrdinaryBlockDesc, PoolingBlockDesc, walk_paths

Array = TypeVar("Array")


@dataclass(frozen=True)
class StoredNetwork:
    """A config with values."""

    config: NetworkConfig
    # By the paths of the layers in the config and the names of `schema.Floats`, such as "trunk.blocks.3.conv1.weight":
    # float32, in torch's axes (convolutions [out, in, y, x], matrices [out, in]).
    values: Mapping[str, np.ndarray]

    @cached_property
    def fingerprint(self) -> str:
        """Names the architecture and the values: the same for all files of a network."""
        digest = hashlib.sha256(repr(replace(self.config, name="")).encode())
        for name in sorted(self.values):
            digest.update(f"{name}\0".encode())
            digest.update(self.values[name].tobytes())
        return digest.hexdigest()[:16]


class RawOutputs(NamedTuple, Generic[Array]):
    """What every network computes for the side to move: torch's tensors or numpy's arrays.

    policy: logits [n, policy channels, points + 1], pass last. value: logits [n, 3] of win, loss, no result.
    scores: [n, 4 or 6]. ownership: [n, points], before its tanh.
    """

    policy: Array
    value: Array
    scores: Array
    ownership: Array


def fold_norms(network: StoredNetwork) -> dict[str, np.ndarray]:
    """Returns the values of a network without the statistics of its batch norms.

    A norm that follows a convolution of its own block or head is moved into it: the convolution then has a "bias" among
    the values, and the norm has none. The other norms (a block's first one normalises the sum of all blocks before)
    have "scale" and "shift" in place of their statistics.
    """
    values = dict(network.values)
    folded = _layers_before_norms(network)
    for path, desc in walk_paths(network.config):
        if not isinstance(desc, BatchNormDesc):
            continue
        scale, shift = _scale_and_shift(values, path, desc)
        if path not in folded:
            values[f"{path}.scale"], values[f"{path}.shift"] = scale, shift
            continue
        # norm(conv(x) + matmul(z)) = conv(x) * scale + matmul(z) * scale + shift, for each output channel.
        conv, *matrices = folded[path]
        for layer in (conv, *matrices):
            weight = values[f"{layer}.weight"]
            values[f"{layer}.weight"] = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
        values[f"{conv}.bias"] = shift
    return values


def _scale_and_shift(values: dict[str, np.ndarray], path: str, desc: BatchNormDesc) -> tuple[np.ndarray, np.ndarray]:
    """Removes a norm's values; returns scale and shift of each channel: the norm is x * scale + shift."""
    own = {floats.name: values.pop(f"{path}.{floats.name}") for floats in desc.floats}
    scale = 1 / np.sqrt(own["running_var"] + np.float32(desc.epsilon))
    scale = scale * own.get("weight", np.float32(1))
    return scale, own.get("bias", np.float32(0)) - own["running_mean"] * scale


def _layers_before_norms(network: StoredNetwork) -> dict[str, list[str]]:
    """Returns the layers before norms, by the norms' paths: a convolution, then a matrix whose product is added."""
    found = {
        "policy.norm": ["policy.conv", "policy.pool_matmul"],
        "policy.pool_norm": ["policy.pool_conv"],
        "value.norm": ["value.conv"],
    }
    for path, desc in walk_paths(network.config):
        if isinstance(desc, PoolingBlockDesc):
            found[f"{path}.mid_norm"] = [f"{path}.conv1", f"{path}.pool_matmul"]
            found[f"{path}.pool_norm"] = [f"{path}.pool_conv"]
        elif isinstance(desc, OrdinaryBlockDesc):
            found[f"{path}.mid_norm"] = [f"{path}.conv1"]
    return found
