"""Messages about files and folders that commands write."""

import os
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.outputs import check_folder, check_outputs, check_place, new_folder


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = [new_folder(tmp_path / "games", "match") for _ in range(3)]
    assert len(set(folders)) == 3
    assert all(folder.is_dir() and folder.name.startswith("match-") for folder in folders)


def test_a_file_as_parent_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"cannot create folder .*file.match-.*: ."):
        new_folder(tmp_path / "file", "match")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="is not writable"):
        check_place(tmp_path / "game.sgf")


@pytest.mark.parametrize("name", ["games", "games/new/one"])
def test_a_folder_is_as_writable_as_what_exists_of_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = tmp_path / "games"
    games.mkdir()
    check_folder(tmp_path / name)
    monkeypatch.setattr(os, "access", lambda path, _: path != games)  # as in a file system that is read-only
    check_folder(tmp_path)
    with pytest.raises(PermissionError, match=r"cannot write to .*: folder .*games is not writable"):
        check_folder(tmp_path / name)


def test_a_folder_on_a_drive_that_is_missing_is_not_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=f"folder {re.escape(tmp_path.anchor)} is not writable"):
        check_folder(tmp_path)


@pytest.mark.parametrize(
    "command", [["selfplay", "--sgf-dir"], ["selfplay", "--shards"], ["match", "a", "b", "--sgf-dir"]]
)
def test_no_game_is_played_for_a_folder_that_is_not_writable(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path)
    monkeypatch.setattr("gtp_engine.engine.compile_ahead.compile_ahead", lambda: pytest.fail("it compiles"))
    done = CliRunner().invoke(main, [*command, str(tmp_path)], prog_name="gtp_engine")
    message = f"Error: cannot write to {tmp_path}: folder {tmp_path} is not writable\n"
    assert (done.exit_code, done.output) == (1, message)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_only_what_could_be_lost_is_not_overwritten(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.touch()
    check_outputs([pipe, Path(os.devnull), tmp_path / "new"], [], force=False)
    check_outputs([file], [], force=True)
    for existing in (file, tmp_path):
        with pytest.raises(FileExistsError, match="already exists; choose another name or add --force"):
            check_outputs([existing], [], force=False)


@pytest.mark.parametrize("name", ["__stdout__", "__stderr__"])
def test_what_standard_output_is_redirected_to_is_not_replaced(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.txt"
    with open(file, "w") as output:
        monkeypatch.setattr(sys, name, output)
        monkeypatch.setattr(os, "access", lambda *_: False)  # as /dev is, which has the link to the file
        check_outputs([file], [], force=False)
        check_place(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_that_is_not_writable_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(os, "access", lambda path, _: path != pipe)
    with pytest.raises(PermissionError, match=r"cannot write .*pipe: it is not writable"):
        check_outputs([pipe], [], force=True)
