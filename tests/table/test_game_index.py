"""What the database remembers of games."""

import json
import os
import sys
from pathlib import Path

import pytest

from gtp_engine.table.database import Database
from gtp_engine.table.game_index import SavedFacts, as_text, from_text, user_games

FACTS = SavedFacts("k", "2026-01-01", 9, 9, ("human", "白"), "12k", 1, "B+1", 3, is_edited=False)


def test_facts_are_read_again() -> None:
    assert from_text(as_text(FACTS)) == FACTS
    assert from_text(as_text(None)) is None


@pytest.mark.parametrize(
    "changed",
    [{"day": 3}, {"own": 7}, {"players": "abc"}, {"players": 5}, {"result": None}, {"moves": "3"}, {"colour": 1}],
)
def test_facts_of_another_kind_are_none(changed: dict[str, object]) -> None:
    assert from_text(json.dumps({**json.loads(as_text(FACTS)), **changed})) is None


@pytest.mark.parametrize("text", ["[]", "{}", "x", "null"])
def test_other_texts_are_none(text: str) -> None:
    assert from_text(text) is None


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="file names are Unicode there")
def test_a_file_whose_name_is_not_utf_8_is_listed_as_others_are(tmp_path: Path) -> None:
    """Old archives have such names, in Latin-1 or in Shift JIS."""
    sgf = b"(;GM[1]FF[4]SZ[9]AP[gtp_engine:1]PB[human]PW[gtp_engine]KM[7];B[ee];W[cc])"
    (tmp_path / "games").mkdir()
    path = Path(os.fsdecode(os.fsencode(tmp_path / "games") + b"/caf\xe9.sgf"))
    path.write_bytes(sgf)
    database = Database(tmp_path / "kept.db")
    for _ in range(2):
        assert [game.name for game in user_games(database, tmp_path / "games", {})] == [path.stem]
    assert database.notice == "" and len(database.rows("SELECT path FROM games")) == 1
    path.unlink()
    assert user_games(database, tmp_path / "games", {}) == []
    assert database.rows("SELECT path FROM games") == []
