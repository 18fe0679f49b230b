"""`gtp_engine network`."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gtp_engine.clients.cli import main
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.model import Model

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["network", *arguments])


def test_one_network_is_described(folder: Path) -> None:
    write_katago_file(Model(parse_config("b4c16nbt-mish")).initialise().stored(), folder / "mine.bin.gz")
    done = run("mine")
    assert done.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["name"] == "b4c16nbt-mish"
    assert lines["version"] == "14"
    assert lines["blocks"] == "4 nested bottleneck (inside: 7 ordinary, 1 gpool)"
    assert lines["channels"] == "16"
    assert lines["activation"] == "mish"
    assert lines["errors"] == "short-term errors of value and score"


def test_a_card_is_shown_whatever_is_in_it(folder: Path) -> None:
    write_katago_file(Model(parse_config("b1c8")).initialise().stored(), folder / "mine.bin.gz")
    (folder / "mine.md").write_bytes(b"\xef\xbb\xbf# Mine\r\n\tcaf\xe9 \x1b[31mred\r\n\r\n")
    done = run("mine")
    assert done.exit_code == 0
    assert done.stdout.endswith("\n\n# Mine\n    caf\ufffd ?[31mred\n")


def test_several_make_a_table_and_bad_ones_are_reported(folder: Path) -> None:
    for name in ("b1c8", "b2c16"):
        write_katago_file(Model(parse_config(name)).initialise().stored(), folder / f"{name}.bin.gz")
    (folder / "bad.bin.gz").write_bytes(b"nonsense")
    done = run(str(folder / "b1c8.bin.gz"), str(folder / "bad.bin.gz"), "b2c16")
    assert done.exit_code == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["b1c8.bin.gz", "b2c16.bin.gz"]
    assert done.stderr.startswith(f"Error: {folder / 'bad.bin.gz'}: not a KataGo network")
    listed = run()
    assert "b1c8.bin.gz" in listed.stdout and "b2c16.bin.gz" in listed.stdout


def test_what_is_not_there(folder: Path) -> None:
    done = run("nosuch")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: no network 'nosuch': no such file, and none in")


def test_a_transformer_is_written_with_rounded_weights(folder: Path) -> None:
    out = folder / "rounded.bin.gz"
    done = run(str(TINY), "--rounded", str(out))
    assert done.exit_code == 0 and done.stdout == f"wrote {out}\n"
    assert out.stat().st_size < TINY.stat().st_size
    assert run("rounded").exit_code == 0
    again = run(str(TINY), "--rounded", str(out))
    assert again.exit_code == 1 and again.stderr == f"Error: {out} already exists; choose another name\n"


@pytest.mark.parametrize(
    ("names", "message"),
    [((), "one network, not 0"), (("a", "b"), "one network, not 2"), (("mine",), "no transformer")],
)
def test_what_cannot_be_rounded_is_named(folder: Path, names: tuple[str, ...], message: str) -> None:
    write_katago_file(Model(parse_config("b1c8")).initialise().stored(), folder / "mine.bin.gz")
    done = run(*names, "--rounded", str(folder / "out.bin.gz"))
    assert done.exit_code > 0 and message in done.stderr
    assert not (folder / "out.bin.gz").exists()
    assert "--rounded does not go with" in run("get", "--rounded", str(folder / "out.bin.gz")).stderr
