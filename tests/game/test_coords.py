"""Names of points."""

import pytest

from gtp_engine.game.coords import PASS, parse_vertex, point_at


def test_vertices_in_any_case_and_with_blanks() -> None:
    assert parse_vertex(" d4\t", 9, 9) == point_at(3, 5, 9)
    assert parse_vertex("Pass", 9, 9) == PASS


@pytest.mark.parametrize(
    "text", ["", "I5", "K1", "A0", "A10", "D", "4D", "D+4", "D_4", "D٤", "\u00a0D4", "D4\u2003", "pa\u017fs"]
)
def test_what_names_no_point(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid vertex .*: expected A1 to J9"):
        parse_vertex(text, 9, 9)
