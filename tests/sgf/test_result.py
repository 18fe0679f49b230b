"""Results of records in parts."""

import pytest

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameResult, read_result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("B+3.5", GameResult(BLACK, "points", "3.5")),
        ("W+1", GameResult(WHITE, "points", "1")),
        ("B+R", GameResult(BLACK, "resignation")),
        ("W+Resign", GameResult(WHITE, "resignation")),
        ("W+Time", GameResult(WHITE, "time")),
        ("B+F", GameResult(BLACK, "forfeit")),
        ("B+", GameResult(BLACK, "")),
        ("0", GameResult(None, "draw")),
        ("Draw", GameResult(None, "draw")),
        ("Void", GameResult(None, "void")),
    ],
)
def test_results_that_sgf_knows(text: str, result: GameResult) -> None:
    assert read_result(text) == result


@pytest.mark.parametrize("text", ["", "?", "W+Illegal", "B+1.", "B+.5", "B+1.2.3", "B+<b>", "C+2", "B+" + "9" * 400])
def test_other_results_are_not_guessed(text: str) -> None:
    assert read_result(text) is None
