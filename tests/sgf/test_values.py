"""Values of single properties: results in parts, and comments on moves."""

import pytest
from move_names import points

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameResult, analysis_comment, read_result


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


def test_comment_is_from_blacks_side() -> None:
    line = points("D4 E5")
    assert analysis_comment(WHITE, 0.25, -3.04, 800, line, 9, 9) == (
        "Black's win rate: 75.0%\nLead: B+3.0\nVisits: 800\nMain line: D4 E5"
    )
    assert analysis_comment(BLACK, 0.25, -3.04, 1, (), 9, 9) == "Black's win rate: 25.0%\nLead: W+3.0\nVisits: 1"
