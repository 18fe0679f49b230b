"""Files in zip archives, which anybody may have made."""

import zipfile
from pathlib import Path

import pytest

from gtp_engine.sgf import SgfError
from gtp_engine.training.data import sgf_dataset
from gtp_engine.training.data.sgf_dataset import find_source_files


def test_a_file_that_unpacks_to_gigabytes_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgf_dataset, "LARGEST_MEMBER", 100)
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as archive:
        archive.writestr("bomb.sgf", b"0" * 101)
        archive.writestr("game.sgf", b"0" * 100)
    (source,) = find_source_files([tmp_path / "games.zip"], print)
    errors: list[object] = []
    assert [(name, len(content)) for name, content in source.read(errors.append)] == [
        (f"{tmp_path / 'games.zip'}:game.sgf", 100)
    ]
    assert errors == [f"{tmp_path / 'games.zip'}:bomb.sgf: unpacks to 101 bytes, at most 100 are read"]


def test_names_are_shown_without_escape_sequences(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as archive:
        archive.writestr("\x1b[31mred.sgf", b"(;)")
    (source,) = find_source_files([tmp_path / "games.zip"], print)
    assert [name for name, _ in source.read(print)] == [f"{tmp_path / 'games.zip'}:?[31mred.sgf"]


def test_a_damaged_archive_in_a_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "damaged.zip").write_bytes(b"PK\x03\x04 cut off")
    (tmp_path / "game.sgf").write_bytes(b"(;)")
    errors: list[str] = []
    (source,) = find_source_files([tmp_path], errors.append)
    assert source.files == ((tmp_path / "game.sgf", ""),)
    (error,) = errors
    assert error.startswith(f"{tmp_path / 'damaged.zip'}: not a zip archive, or damaged")
    with pytest.raises(SgfError, match="not a zip archive"):
        find_source_files([tmp_path / "damaged.zip"], errors.append)
