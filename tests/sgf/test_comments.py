"""Comments on moves."""

from move_names import points

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import analysis_comment


def test_comment_is_from_blacks_side() -> None:
    line = points("D4 E5")
    assert analysis_comment(WHITE, 0.25, -3.04, 800, line, 9, 9) == (
        "Black's win rate: 75.0%\nLead: B+3.0\nVisits: 800\nMain line: D4 E5"
    )
    assert analysis_comment(BLACK, 0.25, -3.04, 1, (), 9, 9) == "Black's win rate: 25.0%\nLead: W+3.0\nVisits: 1"
