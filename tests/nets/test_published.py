"""The list of published networks, and `gtp_engine network get`."""

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gtp_engine.base.errors import UserError
from gtp_engine.clients.cli import main
from gtp_engine.nets.download import Source, file_name_of
from gtp_engine.nets.published import find_published, published_networks, usual_network

TINY = Path(__file__).parents[1] / "data" / "networks" / "tiny.bin.gz"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path / "networks"))
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text('# mine\nrank = "5k"\n\n[play]\ncolour = "white"  # always\n')
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["network", "get", *arguments])


def test_the_list_is_sound() -> None:
    networks = published_networks().values()
    for network in networks:
        assert network.url.startswith("https://") and file_name_of(network.url) == network.file_name
        assert re.fullmatch("[0-9a-f]{64}", Source(network.url, network.sha256).sha256)
        assert find_published(network.name) == find_published(network.file_name) == network
    ordered = list(networks)[:-1]
    costs = [network.cost for network in ordered]
    ratings = [network.rating for network in ordered if network.rating]
    assert costs == sorted(costs) and ratings == sorted(ratings)
    assert usual_network() in ordered


def test_a_network_is_found_by_the_beginning_of_its_name() -> None:
    assert find_published("kata1-b18") == usual_network()
    for name in ("b1", "", "b19"):
        with pytest.raises(UserError, match="unknown published network"):
            find_published(name)


def test_a_file_is_put_in_the_folder_and_made_the_default(folder: Path) -> None:
    done = run("--from", str(TINY), "--default")
    assert done.exit_code == 0, done.output
    assert (folder / "networks" / "tiny.bin.gz").read_bytes() == TINY.read_bytes()
    assert "licence   not known" in done.output and "checksum  not known" in done.output
    text = (folder / "config.toml").read_text()
    assert tomllib.loads(text) == {"rank": "5k", "network": "tiny", "play": {"colour": "white"}}
    assert text.startswith("# mine\n") and "# always" in text
    again = run("--from", str(TINY))
    assert "is here already" in again.output and "--network tiny;" in again.output


def test_another_file_is_not_taken_for_a_published_network(folder: Path) -> None:
    done = run("b6c96", "--from", str(TINY))
    assert done.exit_code == 1 and "the checksum is" in done.stderr
    assert "CC0" in done.stdout and "SHA-256, known" in done.stdout
    assert not (folder / "networks").exists()


def test_the_list_names_the_speed_and_what_is_recommended(folder: Path) -> None:
    done = run()
    assert done.exit_code == 0, done.output
    rows = [line for line in done.output.splitlines() if line[2:].startswith(tuple(published_networks()))]
    assert [row[2:].split()[0] for row in rows] == list(published_networks())
    assert all("; estimated" in row for row in rows)
    assert [row[0] for row in rows].count("*") == sum("recommended here" in row for row in rows) == 1
    speeds = [float(re.split(r"\s{2,}", row[2:])[3].replace(",", "")) for row in rows[:-1]]
    assert speeds == sorted(speeds, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nosuch"], "unknown published network 'nosuch': expected b6c96"),
        (["b6c96", "b10c128"], "name one network, not 2"),
        (["--default"], "name the network to make the default"),
        (["--list", "b6c96"], "--list only lists"),
        (["--from", "nosuch.bin.gz"], "there is no such file; an address begins with https://"),
        (["--from", "ftp://a/b.bin.gz"], "is not an address"),
        (["--from", "."], "Error: .: it does not end in the name of a network's file"),
        (["--from", "a%2Bb.bin.gz"], "Error: a%2Bb.bin.gz: it does not end in the name of a network's file"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, arguments: list[str], problem: str) -> None:
    done = run(*arguments)
    assert done.exit_code in (1, 2) and problem in done.stderr
