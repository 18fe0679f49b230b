"""The command line as a whole: help of every command, light imports, one line for what is wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import gtp_engine
from gtp_engine.clients.cli import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
SECONDS = "expected a number of seconds above 0, such as 2 or 0.5"
HEAVY = ("torch", "numba", "numpy", "rich", "sgfmill")


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="gtp_engine")


def test_settings_name_options_as_the_command_line_does(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    for text, message in {
        'board_size = [9, "30"]': "board_size: invalid board size '30': expected N or WIDTHxHEIGHT, each from 2 to 25",
        'sizes = "9"': "unknown setting 'sizes': expected board_size, device, network, precision, profile, quiet, "
        "seconds, seed, strict, threads, verbose, visits, [search]",
    }.items():
        settings.write_text(text)
        done = run("benchmark", "--settings", str(settings))
        assert (done.exit_code, done.stderr) == (1, f"Error: {settings}: {message}\n")
    settings.write_text("ponder = 3")
    done = run("gtp", "--settings", str(settings))
    assert (done.exit_code, done.stderr) == (1, f"Error: {settings}: ponder: expected true or false, got 3\n")
    settings.write_text('file = "game.sgf"')
    assert "unknown setting 'file'" in run("review", "--settings", str(settings), "game.sgf").stderr


def test_help_lists_the_commands() -> None:
    pages = [run(*arguments) for arguments in ([], ["--help"], ["-h"], ["help"], ["help", "help"])]
    assert {page.exit_code for page in pages} == {0} and len({page.stdout for page in pages}) == 1
    assert all(f"  {name} " in pages[0].stdout for name in COMMANDS)
    assert "Examples:" in pages[0].stdout


def test_help_of_a_command() -> None:
    page = run("help", "play")
    assert page.exit_code == 0 and page.stdout == run("play", "--help").stdout == run("play", "-h").stdout
    assert page.stdout.startswith("Usage: gtp_engine play [OPTIONS] [FILE]\n")


def test_version() -> None:
    assert run("--version").stdout == run("-V").stdout == f"gtp_engine, version {gtp_engine.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_examples(name: str) -> None:
    done = run(name, "--help")
    assert done.exit_code == 0
    assert "Examples:" in done.stdout
    assert f"gtp_engine {name}" in done.stdout
    assert "---" not in done.stdout  # half of an option's name


def test_help_and_completion_import_nothing_heavy() -> None:
    code = (
        "import os, sys\n"
        "from gtp_engine.clients.cli import COMMANDS, main\n"
        "for name in COMMANDS:\n"
        "    main([name, '--help'], standalone_mode=False)\n"
        "from click.shell_completion import ShellComplete\n"
        "completer = ShellComplete(main, {}, 'gtp_engine', '_GTP_ENGINE_COMPLETE')\n"
        "for option, begin in (('--network', 'b'), ('--rules', 'j'), ('--profile', 'rank'), ('', '--n')):\n"
        "    assert completer.get_completions(['gtp', option] if option else ['gtp'], begin), option\n"
        f"print('heavy:', [module for module in {HEAVY!r} if module in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("heavy: []\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paly"], "No such command 'paly'. Did you mean 'play'?"),
        (["nosuch"], "No such command 'nosuch'."),
        (["help", "nosuch"], "No such command 'nosuch'."),
        (["play", "--colr", "white"], "No such option '--colr'. Did you mean '--color' or '--colour'?"),
        (["play", "--boardsize", "9"], "No such option '--boardsize'. Did you mean '--board-size'?"),
        (["play", "--white"], "No such option '--white'."),
        (["selfplay", "--out", "x"], "No such option '--out'. Did you mean '--sgf-dir'?"),
        (["learn", "--sgf-dir", "x"], "No such option '--sgf-dir'. Did you mean '--out'?"),
        (["train", "x", "--sgf-dir", "x"], "No such option '--sgf-dir'."),
        (["gtp", "--board-size", "9", "--board", "9"], "No such option '--board'."),
        (["analysis", "-model", "x", "-m", "y"], "No such option '-m'."),
        (["gtp", "-boardsize", "9"], "No such option '-boardsize'. Did you mean '--board-size'?"),
        (["help", "play", "--junk"], "No such option '--junk'."),
        (["-v", "review", "game.sgf"], "-v goes after the command: gtp_engine review -v"),
        (["play", "-v", "-q"], "choose --verbose or --quiet, not both"),
        (["play", "--board-size", "30"], "invalid board size '30': expected N or WIDTHxHEIGHT, each from 2 to 25"),
        (["play", "--board-size", "nine"], "invalid board size 'nine': expected N or WIDTHxHEIGHT, each from 2 to 25"),
        (["play", "--komi", "nan"], "invalid komi 'nan': expected a number from -1000 to 1000, such as 7.5"),
        (["play", "--seconds", "nan"], f"invalid time 'nan': {SECONDS}"),
        (["play", "--seconds", "inf"], f"invalid time 'inf': {SECONDS}"),
        (["play", "--seconds", "0"], f"invalid time '0': {SECONDS}"),
        (["match", "a", "b", "--rank", "5k"], 'an engine\'s command, such as "gtp_engine gtp --rank 5k"'),
        (["match", "a", "b", "--timeout", "nan"], f"invalid time 'nan': {SECONDS}"),
        (["play", "--rules", "mine"], "unknown rules: 'mine'"),
        (["play", "--rank", "11"], "invalid rank '11': expected 25k to 5d, such as 11k, or max"),
        (["play", "--rank", ""], "invalid rank '': expected 25k to 5d, such as 12k, or max"),
        (["play", "--rank", "9d"], "invalid rank '9d': expected 25k to 5d"),
        (["play", "--visits", "0"], "invalid number '0': expected a whole number of 1 or more"),
        (["play", "--set", "c_puct=-1"], "Invalid value for '--set': invalid c_puct '-1'"),
        (["play", "--set", "c_puct"], "Invalid value for '--set': "),
        (["play", "--set", "c_putc=1"], "'--set': unknown parameter 'c_putc': did you mean 'c_puct'"),
        (
            ["selfplay", "--set", "temperature=0.5"],
            "temperature is a setting of self-play, not a parameter: write it in [search] of a file for --settings",
        ),
        (
            ["selfplay", "--set", "gumbel_moves=0"],
            "Invalid value for '--set': gumbel_moves is a setting of self-play, not a parameter: write it, or root = "
            '"puct" instead of 0, in [search] of a file for --settings',
        ),
        (["play", "--network", "nosuch.bin.gz"], "nosuch.bin.gz"),
        (["review", "nosuch.sgf"], "nosuch.sgf"),
        (["review", "tests/data/sgf/old.sgf", "--network", "foo"], "no network 'foo': no such file, and none in"),
        (["gtp", "--network", "foo"], "no network 'foo': no such file, and none in"),
        (["selfplay", "--network", "foo"], "no network 'foo': no such file, and none in"),
        (["benchmark", "--network", "foo"], "no network 'foo': no such file, and none in"),
    ],
)
def test_bad_input_gets_one_clear_line(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code in (1, 2)
    assert "Traceback" not in done.stderr
    assert message in done.stderr.splitlines()[-1]
    assert done.stdout == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_only_long_commands_are_wider_than_a_narrow_terminal(name: str) -> None:
    page = CliRunner().invoke(main, [name, "--help"], prog_name="gtp_engine", terminal_width=80)
    assert page.exit_code == 0
    long = [line.strip() for line in page.stdout.splitlines() if len(line) > 80]
    assert [line for line in long if "  " in line or not line.startswith(("gtp_engine ", "echo "))] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("play", "--help")])
def test_one_line_for_help_that_cannot_be_written(arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "gtp_engine", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "Error: No space left on device\n")


def test_output_that_the_locale_cannot_encode_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "围棋"
    done = subprocess.run(
        [sys.executable, "-m", "gtp_engine", "config"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1", "XDG_CONFIG_HOME": str(folder), "GTP_ENGINE_CONFIG": ""},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"") and b"/??/gtp_engine" in done.stdout


def test_names_of_files_reach_the_terminal_without_escape_sequences(tmp_path: Path) -> None:
    name = tmp_path / "\x1b[31mred.sgf"
    for arguments in (("review", str(name)), ("network", str(name)), ("gtp", "--network", str(name))):
        done = run(*arguments)
        assert done.exit_code != 0 and "[31mred.sgf" in done.stderr
        assert "\x1b" not in done.output
    name.write_text("(;SZ[9]")
    done = run("review", str(name))
    assert done.exit_code == 1 and "[31mred.sgf" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["0<&-", "0<&- 1>&- 2>&-"])
@pytest.mark.parametrize(
    "command", ["gtp --network none", "analysis --network none", "play --network none", "review -"]
)
def test_closed_standard_streams_are_empty(command: str, closed: str, tmp_path: Path) -> None:
    """Their descriptors were those of the program's own pipes, from which it read commands for ever."""
    line = f"exec {closed}; exec {sys.executable} -m gtp_engine {command} --network none"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GTP_ENGINE_GAMES": str(tmp_path)}
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == (1 if command == "review -" else 0)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_in_the_midst_of_an_import_ends_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "gtp_engine", "gtp"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == -signal.SIGINT
