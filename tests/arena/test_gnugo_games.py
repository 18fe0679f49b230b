"""Whole 9x9 games of this engine against GNU Go: legal at both ends, and all three counts agree."""

import shlex
import sys
from pathlib import Path

import pytest

from gtp_engine.arena.match import play_match
from gtp_engine.go.sgf import read_sgf

pytestmark = pytest.mark.peer


def test_both_colours_under_chinese_rules(gnugo: str, tmp_path: Path) -> None:
    # Without resigning, so that both games are played out and counted.
    ours = [
        sys.executable,
        "-m",
        "gtp_engine",
        "gtp",
        "--network",
        "none",
        "--visits",
        "150",
        "--threads",
        "1",
        "--seed",
        "5",
        "--no-resign",
    ]
    result = play_match(shlex.join(ours), gnugo, games=2, width=9, komi=7.0, folder=tmp_path)
    for game in result.games:
        assert game.reason == "score"
        assert game.notes == ()
        assert set(game.claims) == {"A", "B"}
        record = read_sgf(tmp_path / game.sgf)
        replayed = record.to_game()
        assert replayed.is_over
        assert len(replayed.moves) == game.moves
        assert record.result == game.result
