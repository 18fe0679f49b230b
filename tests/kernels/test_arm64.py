"""The kernels for ARM64, executed by emulation: a network's outputs are KataGo's and torch's, as on this machine.

`tools/arm64_python` prepares the emulation. The first time numba compiles, slowly; .arm64/cache keeps its code.
"""

import contextlib
import os
import pickle
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from compiled import Products, check_against_torch, needs_int8, on_tensors
from golden import check_nearness, check_records, network_file, records
from torch import Tensor

from gtp_engine.nets.katago_file import read_katago_file
from gtp_engine.nets.kernels.matmul import BFLOAT16, FLOAT32
from gtp_engine.nets.kernels.network import CompiledNetwork
from gtp_engine.nets.model import Model
from gtp_engine.nets.quantisation import ALL_KINDS, Loss, Positions, Quantised, quantise
from gtp_engine.nets.stored import RawOutputs, StoredNetwork

ROOT = Path(__file__).resolve().parents[2]
FOLDER, TINY = ROOT / ".arm64", ROOT / "tests" / "data" / "networks"
# The emulator's processors, and what numba is told: LLVM does not recognise an emulated one. The first has all
# extensions and is taken for Amazon's Graviton 3, with vectors of 32 bytes; the second has none and stays unknown.
GRAVITON = ("max,sve-default-vector-length=32", {"NUMBA_CPU_NAME": "neoverse-v1", "NUMBA_CPU_FEATURES": "+neon,+sve"})
UNKNOWN: tuple[str, dict[str, str]] = ("cortex-a72", {})

pytestmark = [
    pytest.mark.arm64,
    pytest.mark.timeout(1200),  # compiling everything takes minutes
    pytest.mark.skipif(
        not (FOLDER / "python").exists() or shutil.which("qemu-aarch64-static") is None,
        reason="no emulated Python: tools/arm64_python prepares it",
    ),
]


class Emulated:
    """A process with `arm64_worker.Worker` on an emulated processor."""

    def __init__(self, processor: str, settings: dict[str, str]) -> None:
        variables = {
            "ARM64_CPU": processor,
            "PYTHONPATH": os.pathsep.join((str(FOLDER / "packages"), str(ROOT))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GTP_ENGINE_CACHE": str(FOLDER / "cache"),
            **settings,
        }
        self.process = subprocess.Popen(
            [FOLDER / "python", Path(__file__).with_name("arm64_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **variables},
        )

    def ask(self, name: str, *inputs: Any, **options: Any) -> Any:
        """Returns the answer of a method of the worker."""
        assert self.process.stdin is not None and self.process.stdout is not None
        pickle.dump((name, inputs, options), self.process.stdin)
        self.process.stdin.flush()
        return pickle.load(self.process.stdout)

    def network(
        self,
        network: StoredNetwork,
        products: Products = FLOAT32,
        quantised: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> Callable[..., RawOutputs[Tensor]]:
        """Returns a function that computes the network until the next one is loaded."""
        self.ask("load", network, products, dict(quantised))
        return on_tensors(lambda *inputs, **options: self.ask("compute", *inputs, **options))


@contextlib.contextmanager
def emulated(processor: str, settings: dict[str, str]) -> Iterator[Emulated]:
    machine = Emulated(processor, settings)
    try:
        yield machine
    finally:
        machine.process.kill()
        machine.process.communicate()


@pytest.fixture(scope="module")
def graviton() -> Iterator[Emulated]:
    """A processor with BF16."""
    with emulated(*GRAVITON) as machine:
        yield machine


# With few of their records: the transformer takes seconds for each.
each_network = pytest.mark.parametrize(("name", "count"), [("b6c96", 10), ("b7c96h3tf", 5)])


def katago_network(shared: Path, name: str, count: int) -> tuple[StoredNetwork, list[dict[str, Any]]]:
    """A network with some of its recorded outputs, spread over all of them."""
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")
    chosen = found[:: max(1, len(found) // count)]
    return read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"])), chosen


def test_outputs_of_katago_for_a_network_of_our_own(graviton: Emulated) -> None:
    network = read_katago_file(TINY / "tiny.bin.gz")
    check_records(graviton.network(network), network.config, records(TINY / "tiny.jsonl"))


@each_network
def test_outputs_of_katago(shared: Path, graviton: Emulated, name: str, count: int) -> None:
    network, found = katago_network(shared, name, count)
    check_records(graviton.network(network), network.config, found)


@each_network
def test_bfloat16_is_near_for_networks_of_katago(shared: Path, graviton: Emulated, name: str, count: int) -> None:
    network, found = katago_network(shared, name, count)
    check_nearness(graviton.network(network, BFLOAT16), Model.from_stored(network), found)


@pytest.mark.parametrize("products", [FLOAT32, BFLOAT16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["b2c20nbt-mish", "b2c48nbt-silu", "b2c100"])
def test_channels_need_not_fill_vectors(graviton: Emulated, name: str, products: Products) -> None:
    check_against_torch(graviton.network, name, products)


@needs_int8
def test_integers_are_multiplied_as_on_this_processor(graviton: Emulated) -> None:
    network = read_katago_file(TINY / "tiny.bin.gz")
    generator = np.random.default_rng(1)
    planes = (generator.random((3, 9, 9, 22)) < 0.2).astype(np.uint8)
    planes[..., 0] = 1
    positions = Positions(planes, generator.random((3, 19)).astype(np.float32))
    values = Quantised(quantise(network, [positions], ALL_KINDS), Loss(0, 0)).values(ALL_KINDS)
    expected = CompiledNetwork(network, FLOAT32, values)(*positions, full_board=True)
    graviton.ask("load", network, FLOAT32, values)
    for one, other in zip(expected, graviton.ask("compute", *positions, full_board=True), strict=True):
        # Activations differ in their last bits, by which a value may become the next integer. Rounding costs 0.017.
        assert np.abs(one - other).max() < 0.01


def test_any_processor_computes_in_float32() -> None:
    network = read_katago_file(TINY / "tiny.bin.gz")
    with emulated(*UNKNOWN) as machine:
        assert machine.ask("machine") == ("aarch64", {"neon"})
        assert machine.ask("precision_of_auto", network) == "float32"
        check_records(machine.network(network), network.config, records(TINY / "tiny.jsonl"))


def test_bfloat16_is_tried(graviton: Emulated) -> None:
    machine, features = graviton.ask("machine")
    assert machine == "aarch64" and {"neon", "bf16"} <= features
    assert graviton.ask("precision_of_auto", read_katago_file(TINY / "tiny.bin.gz")) in ("float32", "bfloat16")
