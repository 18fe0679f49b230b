"""KataGo's own outputs for its recorded inputs: exactly sized, and padded to 19x19."""

from pathlib import Path

import pytest
from compiled import EACH_WAY, WAYS
from golden import check_records, network_file, records

from gtp_engine.nets.katago_file import read_katago_file

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


def test_every_network_is_tested(shared: Path) -> None:
    assert {file.stem for file in (shared / "katago" / "golden").glob("*.jsonl")} == set(FILES)
