"""KataGo's own outputs for its recorded inputs: exactly sized, and padded to 19x19."""

from pathlib import Path

import pytest
import torch
from compiled import EACH_WAY, WAYS, needs_gpu, on_gpu
from golden import check_nearness, check_records, network_file, records

from gtp_engine.nets.katago_file import read_katago_file
from gtp_engine.nets.model import Model

FILES = ("b6c96", "b15c192", "b18c384nbt", "b10c384h6tf", "b7c96h3tf", "b7c96h6kv3tf")


TINY = Path(__file__).resolve().parents[1] / "data" / "networks"


@EACH_WAY
def test_outputs_of_katago_for_a_network_of_our_own(way: str) -> None:
    """A random network with every kind of block, written by this program and evaluated by KataGo 1.17.2."""
    network = read_katago_file(TINY / "tiny.bin.gz")
    check_records(WAYS[way](network), network.config, records(TINY / "tiny.jsonl"))


@pytest.mark.slow
@EACH_WAY
@pytest.mark.parametrize("name", FILES)
def test_outputs_of_katago(shared: Path, name: str, way: str) -> None:
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")
    network = read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"]))
    check_records(WAYS[way](network), network.config, found)


@pytest.mark.slow
@needs_gpu
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", FILES)
def test_a_gpu_in_16_bits_is_near(shared: Path, name: str, dtype: torch.dtype) -> None:
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")
    network = read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"]))
    check_nearness(on_gpu(network, dtype), Model.from_stored(network), found)


def test_every_network_is_tested(shared: Path) -> None:
    assert {file.stem for file in (shared / "katago" / "golden").glob("*.jsonl")} == set(FILES)
