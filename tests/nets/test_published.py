"""The list of published networks, and `gtp_engine network get`."""

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gtp_engine.base.errors import UserError
from gtp_engine.clients.cli import main
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.nets.download import Source, file_name_of
from gtp_engine.nets.library import RANK_PLAY, default_network, find_network
from gtp_engine.nets.published import estimated_rates, find_published, published_networks, strongest

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
    networks = published_networks()
    for network in networks.values():
        assert network.url.startswith("https://") and file_name_of(network.url) == network.file_name
        assert re.fullmatch("[0-9a-f]{64}", Source(network.url, network.sha256).sha256)
        assert find_published(network.name) == find_published(network.file_name) == network
    first, *others = networks.values()
    assert first.find() == default_network(19, 19) and not any(network.find() for network in others)


@pytest.mark.parametrize(
    ("reference", "name"), [(10, "tf2-b10c384"), (3000, "tf3-b10c512"), (6600, "tf3-b11c768"), (1e6, "tf3-b11c768")]
)
def test_the_strongest_that_is_fast_enough_is_recommended(reference: float, name: str) -> None:
    assert strongest(estimated_rates(reference), 20).name == name


def test_a_network_is_found_by_the_beginning_of_its_name() -> None:
    assert find_published("kata1-b18").name == "b18c384nbt"
    for name in ("b1", "", "b19"):
        with pytest.raises(UserError, match="unknown published network"):
            find_published(name)


def test_a_file_is_put_in_the_folder_and_made_the_default(folder: Path) -> None:
    done = run("--from", str(TINY), "--default")
    assert done.exit_code == 0, done.output
    path = folder / "networks" / "tiny.bin.gz"
    assert path.read_bytes() == TINY.read_bytes()
    assert "licence   not known" in done.output and "checksum  not known" in done.output
    text = (folder / "config.toml").read_text()
    assert tomllib.loads(text) == {"rank": "5k", "networks": {"tiny": [7, 19]}, "play": {"colour": "white"}}
    assert text.startswith("# mine\n") and "# always" in text
    assert default_network(13, 9) == path and default_network(5, 5) is None
    assert default_network(19, 19, RANK_PLAY) == find_network("b6c64-19x19")
    again = run("--from", str(TINY))
    assert "is here already" in again.output and "--network tiny;" in again.output


def test_a_network_is_the_default_on_boards_of_one_size(folder: Path) -> None:
    bundled, path = default_network(9, 9), folder / "networks" / "tiny.bin.gz"
    done = run("--from", str(TINY), "--default-on", "9x9")
    assert "the default on 9x9 is now tiny:" in done.output and "has tiny = [9, 9] under [networks]" in done.output
    assert [default_network(side, side) for side in (7, 9, 10, 19)] == [bundled, path, bundled, bundled]
    assert Path(EngineSettings().network_on(9, 9)) == path
    assert run("tf2-b10c384", "--default").exit_code == 0  # the one for the fewest sizes counts
    assert [default_network(side, side) for side in (9, 19)] == [path, bundled]
    shutil.copyfile(TINY, folder / "networks" / "other.bin.gz")
    run("--from", str(folder / "networks" / "other.bin.gz"), "--default-on", "9")
    table = tomllib.loads((folder / "config.toml").read_text())["networks"]
    assert table == {"b10c384h6nbttflrs-int8": [7, 19], "other": [9, 9]}
    assert (
        "until now it was that on 9x9" in run("--from", str(folder / "networks" / "other.bin.gz"), "--default").output
    )
    assert "[networks]" not in CliRunner().invoke(main, ["config"]).stderr


def test_what_overrides_the_new_default_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORK", "none")
    (folder / "config.toml").write_text('network = "none"\n')
    done = run("--from", str(TINY), "--default-on", "9")
    assert "also has network = 'none', which overrides it" in done.stderr
    assert "GTP_ENGINE_NETWORK is set, which overrides it" in done.stderr
    assert "also has" not in run("--from", str(TINY), "--default").stderr
    assert "network" not in tomllib.loads((folder / "config.toml").read_text())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("networks = 9", "'networks' is not a table; write [networks]"),
        ("[networks]\ntiny = 9", "tiny = 9: expected the least and the most points of the longer side, as in [7, 9]"),
        ("[networks]\nnosuch = [9, 9]", "config.toml: [networks]: no network 'nosuch'"),
    ],
)
def test_a_wrong_table_of_own_defaults_is_one_line(folder: Path, text: str, problem: str) -> None:
    (folder / "config.toml").write_text(text)
    done = CliRunner().invoke(main, ["gtp", "--board-size", "9"], input="quit\n")
    assert done.exit_code == 1 and problem in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            (TINY.parent / "human.bin.gz").read_bytes(),
            "bad imitates people, and does not judge: use it with --network bad --profile rank_5k",
        ),
        (b"bad", "not a KataGo network"),
    ],
)
def test_what_cannot_judge_does_not_become_the_default(folder: Path, content: bytes, problem: str) -> None:
    (folder / "networks").mkdir()
    file = folder / "networks" / "bad.bin.gz"
    file.write_bytes(content)
    before = (folder / "config.toml").read_text()
    done = run("--from", str(file), "--default")
    assert done.exit_code == 1 and problem in done.stderr
    assert (folder / "config.toml").read_text() == before
    assert "--default" not in run("--from", str(file)).output


def test_the_network_that_comes_with_the_program_is_not_loaded(folder: Path) -> None:
    done = run("tf2-b10c384")
    assert done.exit_code == 0 and not (folder / "networks").exists()
    assert "is here already; it is this network with its weights rounded to 8-bit integers" in done.output
    assert "to use it: --network b10c384h6nbttflrs-int8;" in done.output


def test_a_file_that_is_here_is_checked(folder: Path) -> None:
    network = published_networks()["kata9x9"]
    (folder / "networks").mkdir()
    shutil.copyfile(TINY, folder / "networks" / network.file_name)
    done = run("kata9x9", "--default-on", "9")
    assert done.exit_code == 1 and "is here already" in done.output
    assert f"instead of {network.sha256}" in done.stderr and "move it away, and run the same command" in done.stderr
    assert "networks" not in tomllib.loads((folder / "config.toml").read_text())


def test_names_start_from_the_folder_of_the_configuration(folder: Path) -> None:
    (folder / "own").mkdir()
    shutil.copyfile(TINY, folder / "own" / "mine.bin.gz")
    (folder / "config.toml").write_text('[networks]\n"own/mine.bin.gz" = [9, 9]\n')
    assert default_network(9, 9) == folder / "own" / "mine.bin.gz"


def test_a_name_with_a_space_is_quoted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(folder / "my networks"))
    assert f"--from '{folder}/my networks/tiny.bin.gz' --default" in run("--from", str(TINY)).output


def test_another_file_is_not_taken_for_a_published_network(folder: Path) -> None:
    done = run("tf2-b10c384", "--from", str(TINY))
    assert done.exit_code == 1 and "the checksum is" in done.stderr
    assert "licence   KataGo Neural Network License" in done.stdout and "SHA-256, known" in done.stdout
    assert not (folder / "networks").exists()


def test_the_list_names_the_speed_and_what_is_recommended(folder: Path) -> None:
    done = run()
    assert done.exit_code == 0, done.output
    rows = [line for line in done.output.splitlines() if line[2:].startswith(tuple(published_networks()))]
    assert [row[2:].split()[0] for row in rows] == list(published_networks())
    assert ["; measured, it is here" in row for row in rows] == [True, *[False] * (len(rows) - 1)]
    assert [row[0] for row in rows].count("*") == sum("recommended here" in row for row in rows) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nosuch"], "unknown published network 'nosuch': expected tf2-b10c384"),
        (["kata9x9", "human"], "name one network, not 2"),
        (["--default"], "name the network to make the default"),
        (["--default-on", "9"], "name the network to make the default"),
        (["human", "--default-on", "25"], "invalid board size '25': expected N or WIDTHxHEIGHT, each from 2 to 19"),
        (["human", "--default", "--default-on", "9"], "choose --default or --default-on, not both"),
        (["--from", "nosuch.bin.gz"], "there is no such file; an address begins with https://"),
        (["--from", "ftp://a/b.bin.gz"], "is not an address"),
        (["--from", "."], "Error: .: it does not end in the name of a network's file"),
        (["--from", "a%2Bb.bin.gz"], "Error: a%2Bb.bin.gz: it does not end in the name of a network's file"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, arguments: list[str], problem: str) -> None:
    done = run(*arguments)
    assert done.exit_code in (1, 2) and problem in done.stderr
