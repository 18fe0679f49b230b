"""The time of a game in its record."""

import pytest
from hypothesis import given
from hypothesis import settings as conditions
from hypothesis import strategies as st

from gtp_engine.engine.clock import NO_LIMIT, TimeSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import Properties, read_sgf
from gtp_engine.go.sgf.values import number_text
from gtp_engine.table.game_clock import overtime_text, read_time_left, read_time_settings, with_time_left


def root(text: str) -> Properties:
    return read_sgf(f"(;GM[1]SZ[9]{text})".encode()).root.properties


MAIN, PERIOD, COUNT = st.floats(0, 360_000), st.floats(0, 3600, exclude_min=True), st.integers(1, 1000)


@given(
    st.builds(TimeSettings, st.just("absolute"), MAIN)
    | st.builds(TimeSettings, st.sampled_from(("byoyomi", "canadian")), MAIN, PERIOD, COUNT)
    | st.builds(TimeSettings, st.just("fischer"), MAIN, increment=PERIOD)
)
@conditions(deadline=None)
def test_every_time_of_a_game_returns_exactly(settings: TimeSettings) -> None:
    properties = {"TM": [number_text(settings.main).encode()], "OT": [overtime_text(settings).encode()]}
    assert read_time_settings(properties) == (settings if settings.full.seconds else NO_LIMIT)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", NO_LIMIT),
        ("OT[5x30 byo-yomi]", NO_LIMIT),
        ("TM[soon]", NO_LIMIT),
        ("TM[-1]", NO_LIMIT),
        ("TM[inf]", NO_LIMIT),
        ("TM[0]", NO_LIMIT),
        ("TM[0]OT[0x30 byo-yomi]", NO_LIMIT),
        ("TM[600]OT[one move a day]", NO_LIMIT),
        ("TM[600]OT[5x0 byo-yomi]", NO_LIMIT),
        ("TM[600]OT[0/300 Canadian]", NO_LIMIT),
        ("TM[1e300]", NO_LIMIT),
        ("TM[360001]", NO_LIMIT),
        ("TM[600]OT[1001x30 byo-yomi]", NO_LIMIT),
        ("TM[600]OT[5x3601 byo-yomi]", NO_LIMIT),
        ("TM[600]OT[5x1e999 byo-yomi]", NO_LIMIT),
        ("TM[600]OT[3601 Fischer]", NO_LIMIT),
        ("TM[360000]OT[1000x3600 byo-yomi]", TimeSettings("byoyomi", 360_000.0, 3600.0, 1000)),
        ("TM[600]OT[25/600 Canadian]", TimeSettings("canadian", 600.0, 600.0, 25)),
        ("TM[1800]OT[ 3X60 Byo-Yomi ]", TimeSettings("byoyomi", 1800.0, 60.0, 3)),
    ],
)
def test_other_programs_texts(text: str, settings: TimeSettings) -> None:
    assert read_time_settings(root(text)) == settings


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (["BL[60]WL[50]", "BL[12.5]OB[3]", "", "WL[-1]OW[2]BL[x]"], {BLACK: (12.5, 3), WHITE: (50.0, 0)}),
        (["BL[60]WL[50]", "BL[12.5]OB[1e300]WL[1e300]OW[3]"], {BLACK: (12.5, 0), WHITE: (50.0, 0)}),  # no game has them
        ([""], {}),
    ],
)
def test_the_time_left_is_that_of_the_last_node_that_says_it(texts: list[str], left: dict[int, object]) -> None:
    assert read_time_left(map(root, texts)) == left


def test_times_replace_those_before_and_leave_the_rest() -> None:
    before = root("BL[60]OB[5]WL[50]C[text]")
    after = with_time_left(before, {WHITE: (30.0, 2)})
    assert {name: after[name] for name in ("C", "WL", "OW")} == {"C": [b"text"], "WL": [b"30.00"], "OW": [b"2"]}
    assert "BL" not in after and "OB" not in after and before["BL"] == [b"60"]
    assert with_time_left(before, {}) == root("C[text]")
