"""What the doctor checks, and the lines that it prints for other programs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.doctor import client_lines, doctor, engine_command, network_kernels, network_options
from gtp_engine.go.rules import parse_rules
from gtp_engine.nets.kernels import llvm, network
from gtp_engine.nets.published import published_networks

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"


def test_a_sound_installation_passes_whatever_the_users_defaults_are(tmp_path: Path) -> None:
    configuration = tmp_path / "config.toml"
    configuration.write_text('seconds = 500\n[gtp]\nname = "KataGo"\n')
    environment = os.environ | {"PYTHONPATH": str(ROOT), "GTP_ENGINE_CONFIG": str(configuration)}
    command = [sys.executable, "-m", "gtp_engine", "doctor", "--network", "none"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("  ok, ") == 2
    assert client_lines(engine_command(), ["--network", "none"]) in done.stdout


def test_what_fails_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(
        "gtp_engine.clients.cli.doctor.engine_command", lambda: [sys.executable, "-c", "print('hello')"]
    )
    with pytest.raises(SystemExit) as stop:
        doctor.main([])
    assert stop.value.code == 1
    [failure] = [line for line in capsys.readouterr().out.splitlines() if "FAILED" in line]
    assert failure.startswith(f"  GTP          FAILED: {sys.executable} -c print('hello') gtp")
    assert failure.endswith("gtp: exit status 0, hello")


def test_folders_that_cannot_be_made_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GTP_ENGINE_GAMES", str(tmp_path / "file" / "games"))
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "new" / "data"))
    monkeypatch.setattr("gtp_engine.clients.cli.doctor.checks_of", lambda *_: [])
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._stronger", str)
    doctor.main([], standalone_mode=False)
    output = capsys.readouterr().out
    assert f"  games        {tmp_path / 'file' / 'games'}  (not writable)\n" in output
    assert f"  data         {tmp_path / 'new' / 'data'}\n" in output


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (2000.0, ""),
        (3000.0, "tf3-b10c512, 460 Elo above tf2-b10c384 at equal visits, makes 100 visits in 5 s here: "),
        (7000.0, "tf3-b11c768, 830 Elo above tf2-b10c384 at equal visits, makes 100 visits in 5 s here: "),
    ],
)
def test_a_stronger_network_is_named_if_this_computer_is_fast_enough(
    rate: float, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.doctor.checks_of", lambda *_: [])
    monkeypatch.setattr("gtp_engine.clients.cli.speed.network_rate", lambda _: ("cpu", rate))
    doctor.main([], standalone_mode=False)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  stronger ")]
    command = f"`gtp_engine network get {said.partition(',')[0]} --default`"
    assert lines == ([f"  stronger     {said}{command}"] if said else [])


@pytest.mark.parametrize(("file", "is_used", "is_told"), [("tf2-b10c384", False, True), ("kata9x9", True, False)])
def test_what_is_stronger_is_told_by_the_network_that_is_used(
    file: str,
    is_used: bool,
    is_told: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The file before rounding changes nothing if it is there but not used; of kata9x9 no rating is known."""
    name = published_networks()[file].file_name
    shutil.copyfile(TINY, tmp_path / name)
    (tmp_path / "config.toml").write_text(f"[networks]\n{name.partition('.')[0]} = [7, 19]\n" if is_used else "")
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path))
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setattr("gtp_engine.clients.cli.doctor.checks_of", lambda *_: [])
    monkeypatch.setattr("gtp_engine.clients.cli.speed.network_rate", lambda _: ("cpu", 7000.0))
    doctor.main([], standalone_mode=False)
    assert ("830 Elo above tf2-b10c384" in capsys.readouterr().out) == is_told


def test_boards_with_a_default_of_their_own_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._check_network", lambda *facts: " ".join(map(str, facts[2:])))
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._check_gtp", " ".join)
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._stronger", str)
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text("[networks]\nb4c32-9x9 = [9, 9]\n")
    doctor.main([], standalone_mode=False)
    checked = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  network  ")]
    assert checked == [
        "  network      ok, 19 , 7 to 8, 10 to 19",
        "  network      ok, 9 , 9 to 9",
        "  network      ok, 19 , 7 to 19 at ranks",
    ]


@pytest.mark.parametrize(
    ("knows", "has", "is_faster", "expected"),
    [
        (False, False, True, ": float32, bfloat16"),
        (True, True, True, " and AMX tiles: float32, bfloat16"),
        (True, False, False, ": float32; its AMX tiles, which are faster, only where Linux permits it"),
    ],
)
def test_tiles_for_bfloat16_are_named(
    knows: bool, has: bool, is_faster: bool, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm, "KNOWS_TILES", knows)
    monkeypatch.setattr(llvm, "HAS_TILES", has)
    answers = {"bfloat16_is_faster": is_faster, "has_bfloat16": True, "has_float32": True, "has_int8": False}
    for name, answer in answers.items():
        monkeypatch.setattr(network, name, Mock(return_value=answer))
    assert network_kernels() == f"compiled code for {llvm.VECTORS}{expected}"


def test_lines_for_other_programs() -> None:
    assert client_lines(["/opt/go/bin/gtp_engine"]).splitlines() == [
        "Sabaki: File > Preferences > Engines > Add: the path, then the arguments",
        "    /opt/go/bin/gtp_engine",
        "    gtp",
        "GoGui: Program > New Program: the command",
        "    /opt/go/bin/gtp_engine gtp",
        "Lizzie, LizzieYzy: Settings > Engine: the engine command",
        "    /opt/go/bin/gtp_engine gtp --name KataGo",
        "CGOS: in the client's configuration, under GTPEngine",
        '    CommandLine = /opt/go/bin/gtp_engine gtp --rules {"suicide":false}',
        "KaTrain: Settings > Engine: instead of its own engine's command",
        f"    {'' if sys.platform == 'win32' else 'exec '}/opt/go/bin/gtp_engine analysis",
        "OGS (gtp2ogs): on the command line, with the bot account's key",
        "    gtp2ogs --apikey YOUR_KEY -- /opt/go/bin/gtp_engine gtp --seconds 30",
    ]
    assert client_lines(["gtp_engine"], ["--visits", "50"]).endswith("gtp --visits 50")


def test_blanks_in_the_path_are_quoted_where_the_client_knows_quotes() -> None:
    text = client_lines(["/my go/python", "-m", "gtp_engine"])
    assert '    "/my go/python" -m gtp_engine gtp' in text
    assert "    /my go/python\n    -m gtp_engine gtp\n" in text
    assert 'cannot start a line with spaces in a path: "/my go/python" -m' in text


def test_a_network_is_part_of_every_line() -> None:
    text = client_lines(["/opt/go/gtp_engine"], ["--network", "/my nets/a.bin.gz"])
    assert text.count('gtp --network "/my nets/a.bin.gz"') == 5
    assert '/opt/go/gtp_engine analysis --network "/my nets/a.bin.gz"' in text
    assert network_options("auto") == []
    assert network_options("none") == ["--network", "none"]
    assert network_options(str(TINY)) == ["--network", str(TINY)]
    assert network_options(str(TINY), "rank_5k") == ["--network", str(TINY), "--profile", "rank_5k"]
    with pytest.raises(ValueError, match="no network 'nosuch'"):
        network_options("nosuch")


@pytest.mark.parametrize("arguments", [[], ["--network", "none"]])
def test_a_profile_without_a_network_is_refused_as_by_gtp(arguments: list[str]) -> None:
    message = "Error: the profile rank_5k needs a human-trained --network, such as b18c384nbt-humanv0\n"
    for name in ("doctor", "gtp"):
        done = CliRunner().invoke(main, [name, "--profile", "rank_5k", *arguments], input="")
        assert (done.exit_code, done.stdout, done.stderr) == (1, "", message)


def test_the_network_that_is_named_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path))
    shutil.copy(TINY, tmp_path / "mine.bin.gz")
    monkeypatch.setattr("gtp_engine.clients.cli.doctor._check_gtp", lambda command: " ".join(command[-3:]))
    doctor.main(["--network", "mine"], standalone_mode=False)
    output = capsys.readouterr().out
    assert f"  networks     {tmp_path}: put downloaded networks here" in output
    assert f"  GTP          ok, gtp --network {tmp_path / 'mine.bin.gz'}\n" in output
    assert re.search(r"^  network      ok, mine, [\d,]+ visits/s on 19x19$", output, re.MULTILINE)


def test_cgos_rules_are_tromp_taylor_without_suicide() -> None:
    rules = parse_rules('{"suicide":false}')
    assert (rules.ko, rules.scoring, rules.suicide, rules.friendly_pass_ok) == ("POSITIONAL", "AREA", False, False)


def test_program_is_found_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "gtp_engine.exe" if sys.platform == "win32" else "gtp_engine"
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    assert engine_command() == [sys.executable, "-m", "gtp_engine"]
    (tmp_path / name).touch()
    assert engine_command() == [str(tmp_path / name)]
