"""A network as files hold it: its config and the values of its layers, as numpy arrays.

Readers and writers of files make and take it. On a CPU the compiled kernels are made of it (`kernels.network`); for
GPUs and for learning, the torch module (`model.Model`).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from .config import NetworkConfig

Array = TypeVar("Array")


@dataclass(frozen=True)
class StoredNetwork:
    """A config with values.

    Attributes:
        config: The architecture.
        values: By the paths of the layers in the config and the names of `schema.Floats`, such as
            "trunk.blocks.3.conv1.weight": float32, in torch's axes (convolutions [out, in, y, x], matrices [out, in]).
    """

    config: NetworkConfig
    values: Mapping[str, np.ndarray]

    @cached_property
    def fingerprint(self) -> str:
        """Names the values: the same for all files of a network."""
        digest = hashlib.sha256()
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
