"""The records that `review` and `solve` read."""

from pathlib import Path

import pytest

from gtp_engine.clients.cli import review_files


def test_the_reading_of_very_many_games_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_files, "_SHOWN_GAMES", 2)
    file = tmp_path / "games[1].sgfs"
    file.write_text("(;SZ[9];B[aa])\n" * 9)
    shown: list[str] = []
    assert len(review_files._read_games(file, [], shown.append)) == 9
    assert shown == [f"reading {file}: {count} games so far" for count in (2, 4, 6, 8)]
