"""Records in the formats of Tygem, Cyberoro and PandaNet."""

from pathlib import Path

import pytest

from gtp_engine import GameRecord, SgfError, read_sgf, read_sgf_games
from gtp_engine.go.coords import colour_letter, sgf_point, vertex
from gtp_engine.go.sgf import split_games
from gtp_engine.go.sgf.other_formats import as_sgf

DATA = Path(__file__).resolve().parents[1] / "data" / "sgf"


def facts(record: GameRecord) -> list[object]:
    players = [record.black, record.black_rank, record.white, record.white_rank]
    return [*players, record.width, record.komi, record.rules, record.handicap, record.date, record.result]


def stones(record: GameRecord) -> set[str]:
    return {vertex(point, record.width, record.height) for point in record.root.setup}


def moves(record: GameRecord) -> str:
    size = record.width, record.height
    return " ".join(f"{colour_letter(move.colour)}{sgf_point(move.point, *size)}" for move in record.moves)


@pytest.mark.parametrize(
    ("file", "expected", "handicap", "played"),
    [
        (
            "tygem.gib",
            ["둘", "3k", "하나", "2d", 19, 0, "", 3, "2021-03-09", "W+3.5"],
            {"D4", "Q16", "D16"},
            "Wpp Bas W Bsa",
        ),
        ("tygem_global.gib", ["甲", "9p", "乙", "9d", 19, 7.5, "", 0, "2024-07-01", "B+R"], set(), "Bpd Wdd"),
        ("cyberoro.ngf", ["dul", "12k", "하나", "9p", 19, 6.5, "", 0, "2022-05-18", "B+T"], set(), "Bqd Was B"),
        (
            "cyberoro_handicap.ngf",
            ["black", "1k", "white", "3d", 13, 0, "", 2, "2022-05-18", "W+2.5"],
            {"D4", "K10"},
            "Wgg",
        ),
        ("cyberoro_older.ngf", ["甲", "初段", "乙", "五段", 19, 6.5, "", 0, "2006-09-05", "B+R"], set(), "Bqd Wdd"),
        (
            "panda.ugi",
            ["甲", "1d", "乙", "4d", 19, 0.5, "Japanese", 2, "2020-01-05", "W+R"],
            {"Q16", "D4"},
            "Wdc Brq W",
        ),
        (
            "panda_from_the_top.ugf",
            ["black", "", "white", "", 9, -5.5, "Chinese", 0, "", "B+7.5"],
            set(),
            "Bcb Wgh",
        ),
    ],
)
def test_what_is_read(file: str, expected: list[object], handicap: set[str], played: str) -> None:
    record = read_sgf(DATA / file)
    assert facts(record) == expected
    assert stones(record) == handicap
    assert moves(record) == played
    record.to_game()
    saved = read_sgf(record.to_sgf().encode())
    assert (facts(saved), stones(saved), moves(saved)) == (expected, handicap, played)


def test_they_are_read_wherever_sgf_is() -> None:
    content = (DATA / "tygem.gib").read_bytes()
    assert [record.white for record in read_sgf_games(DATA / "tygem.gib")] == ["하나"]
    assert [record.white for record in read_sgf_games(content, name="a")] == ["하나"]
    assert [read_sgf(game).white for game in split_games(content)] == ["하나"]


def test_a_header_may_be_cut_off() -> None:
    assert as_sgf(b"A game\n19\nPMABBQQ\nPMACWDD\n") is not None
    assert as_sgf(b"[Header] none\n[Data]\nQD,B1,1\n") is None


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("tygem_global.gib", b"STO", b"XXX", "no moves found in this file"),
        ("tygem_global.gib", b"15 3", b"19 3", "move 1 is not on the board: column 20, row 4 of 19"),
        ("tygem_global.gib", b"INI 0 1 0", b"INI 0 1 99", "99 is too large: expected at most 9"),
        ("cyberoro.ngf", b"BREER", b"BAEER", "move 1 is not on the board: column 0, row 4 of 19"),
        ("cyberoro_handicap.ngf", b"\n13\n", b"\n6\n", r"invalid number of stones: 2 \(on 6x6: none\)"),
        ("panda.ugi", b"PLAIN", b"OTHER", "the file is encrypted"),
        ("panda.ugi", b"RC,B1,2", b"ZC,B1,2", "move 2 is not on the board: column 26, row 17 of 19"),
    ],
)
def test_what_is_wrong_is_one_line(file: str, old: bytes, new: bytes, problem: str) -> None:
    content = (DATA / file).read_bytes()
    assert old in content
    with pytest.raises(SgfError, match=problem):
        read_sgf(content.replace(old, new))
