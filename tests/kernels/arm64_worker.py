"""Computes networks in a process of its own, for `test_arm64`: pickled requests come in, pickled answers go out.

A request is the name of a method of `Worker` with its arguments. The Python that runs this has no PyTorch.
"""

import os
import pickle
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gtp_engine.base.target import target
from gtp_engine.nets.kernels.matmul import FLOAT32
from gtp_engine.nets.kernels.network import CompiledNetwork, can_compile
from gtp_engine.nets.stored import RawOutputs, StoredNetwork
from gtp_engine.search.evaluate.runner import CompiledRunner, make_runner


class Worker:
    """Computes the network that was loaded last."""

    _network: CompiledNetwork

    def machine(self) -> tuple[str, frozenset[str]]:
        """Returns the kind of machine, and the features that its processor has."""
        return platform.machine(), target().needs

    def load(self, network: StoredNetwork, products: "np.dtype[Any]", quantised: dict[str, np.ndarray]) -> None:
        precision = "int8" if quantised else "float32" if products == FLOAT32 else "bfloat16"
        assert can_compile(network.config, precision)
        self._network = CompiledNetwork(network, products, quantised)

    def compute(self, *inputs: np.ndarray | None, full_board: bool) -> RawOutputs[np.ndarray]:
        return self._network(*inputs, full_board=full_board)

    def precision_of_auto(self, network: StoredNetwork) -> str:
        runner = make_runner(network, Path("network.bin.gz"), "cpu")
        assert isinstance(runner, CompiledRunner)
        return runner.precision


def main() -> None:
    # Whatever is printed must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = Worker()
    while True:
        name, inputs, options = pickle.load(sys.stdin.buffer)
        answer: Any = getattr(worker, name)(*inputs, **options)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
