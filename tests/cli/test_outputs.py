"""Messages about files and folders that commands write."""

import os
from pathlib import Path

import pytest

from gtp_engine.cli.outputs import check_place, new_folder


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = [new_folder(tmp_path / "games", "match") for _ in range(3)]
    assert len(set(folders)) == 3
    assert all(folder.is_dir() and folder.name.startswith("match-") for folder in folders)


def test_a_file_as_parent_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"cannot create folder .*file.match-.*: Not a directory"):
        new_folder(tmp_path / "file", "match")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_not_writable_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="is not writable"):
        check_place(tmp_path / "game.sgf")
