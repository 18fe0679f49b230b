"""Files that are written completely or not at all, and one program at a time in a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.base.files import folder_lock, write_text
from gtp_engine.cli import main

MESSAGE = "another program is using this folder; wait until it ends, or stop it"
HOLD = """
import sys
from pathlib import Path
from gtp_engine.base.files import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def hold(folder: Path) -> "subprocess.Popen[str]":
    """A process that holds the folder until it reads a line."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_a_link_remains_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file.name)
    write_text(link, "new")
    assert link.is_symlink() and file.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [file, link]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders")
def test_a_pipe_is_written_and_not_replaced(tmp_path: Path) -> None:
    """As /dev/null would be replaced for root, and stay so for all programs of the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 100) == b"text" and pipe.is_fifo()
    os.close(reader)


def test_the_second_is_refused_until_the_first_ends(tmp_path: Path) -> None:
    process = hold(tmp_path)
    with pytest.raises(ValueError, match=f"{tmp_path}: {MESSAGE}"), folder_lock(tmp_path):
        pass
    process.communicate("go\n")
    with folder_lock(tmp_path):
        pass


def test_a_killed_program_leaves_no_lock(tmp_path: Path) -> None:
    process = hold(tmp_path)
    process.kill()
    process.communicate()
    with folder_lock(tmp_path):
        pass


@pytest.mark.parametrize("command", ["train", "learn"])
def test_commands_that_learn_hold_their_folder(command: str, tmp_path: Path) -> None:
    run, record = tmp_path / "run", tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9])")
    run.mkdir()
    (run / "settings.toml").write_text("version = 1\n")
    arguments = {"train": ["train", str(run)], "learn": ["learn", str(record), "--out", str(run)]}[command]
    with folder_lock(run):
        files = {path.name for path in run.iterdir()}
        done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 1
    assert done.stderr == f"Error: {run}: {MESSAGE}\n"
    assert {path.name for path in run.iterdir()} == files


def test_a_file_is_on_the_disk_before_it_takes_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.pt"
    path.write_text("old")
    steps = []
    monkeypatch.setattr(os, "fsync", lambda _: steps.append(path.read_text()))
    write_text(path, "new")
    assert (steps, path.read_text(), list(tmp_path.iterdir())) == (["old"], "new", [path])
