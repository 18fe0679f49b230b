"""Records as servers write them: what they say under other names and in other units."""

import pytest

from gtp_engine import GameRecord, read_sgf


def read(root: str) -> GameRecord:
    return read_sgf(f"(;{root};B[pd];W[dp])".encode())


@pytest.mark.parametrize(
    ("root", "komi"),
    [
        ("KO[7.5]", 7.5),  # Sina
        ("KO[6.5]KM[5.5]", 5.5),
        ("KO[6.5]KM[]", 6.5),
        ("KO[]", None),  # SGF's own KO
        ("KO[none]", None),
        ("KM[50]AP[foxwq]", 0.5),
        ("KM[50]AP[GNU Go:3.8]AP[foxwq]", 0.5),
        ("KM[375]AP[foxwq]", 7.5),
        ("KM[325]AP[foxwq]", 6.5),
        ("KM[650]AP[foxwq]", 6.5),
        ("KM[0]AP[foxwq]", 0.0),
        ("KM[6.5]AP[foxwq]", 6.5),
        ("KM[10]AP[foxwq]", 10.0),
        ("KM[65]AP[foxwq]", 65.0),
        ("KM[-50]AP[foxwq]", -0.5),
        ("KM[-650]AP[foxwq]", -6.5),
        ("KM[50]", 50.0),
        ("KM[50]AP[CGoban:3]", 50.0),
    ],
)
def test_komi(root: str, komi: float | None) -> None:
    assert read(root).komi == komi


@pytest.mark.parametrize("komi", [0.5, 10.0, 12.0, 25.0, 50.0, 75.0, -50.0, 65.0, 375.0, 7.25])
def test_a_komi_that_was_set_is_read_again(komi: float) -> None:
    record = read("AP[foxwq]KM[375]")
    record.komi = komi
    assert read_sgf(record.to_sgf().encode()).komi == komi


def test_what_has_another_name_is_saved_under_that_of_sgf() -> None:
    record = read("KO[7.5]RD[2026-04-24]HD[2]RE[x]")
    assert (record.komi, record.date, record.handicap) == (7.5, "2026-04-24", 2)
    saved = record.to_sgf()
    assert all(part in saved for part in ("KM[7.5]", "DT[2026-04-24]", "HA[2]"))
    assert not any(part in saved for part in ("KO[", "RD[", "HD["))
    both = read("RD[2026-04-24]DT[2026-04-25]HD[two]")
    assert (both.date, both.handicap) == ("2026-04-25", 0) and "RD[2026-04-24]" in both.to_sgf()
