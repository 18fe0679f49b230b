"""Game records as training data: which are used, and the targets from their results and from rollouts."""

import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from making import sample_game

from gtp_engine.go.coords import BLACK, WHITE, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.scoring import Score
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf_games
from gtp_engine.training.data import sgf_dataset
from gtp_engine.training.data.game_records import Unusable, check_filters, read_record
from gtp_engine.training.data.ownership import label_ownership
from gtp_engine.training.data.samples import DRAW, UNKNOWN, WHITE_BIT, pack
from gtp_engine.training.data.sgf_dataset import find_source_files
from gtp_engine.training.run_settings import RecordSettings, rank_of

MOVES = ";B[ee];W[gc];B[cg];W[cc];B[gg]"


def record(root: str = "SZ[9]KM[7]RE[B+2.5]", moves: str = MOVES) -> GameRecord:
    return next(iter(read_sgf_games(f"(;GM[1]FF[4]{root}{moves})".encode())))


@pytest.mark.parametrize(
    ("result", "winner", "margin"),
    [
        ("B+2.5", BLACK, 2.5),
        ("W+12", WHITE, -12),
        ("B+R", BLACK, None),
        ("W+Resign", WHITE, None),
        ("W+", WHITE, None),
        ("B+T", UNKNOWN, None),
        ("W+Forfeit", UNKNOWN, None),
        ("0", DRAW, 0),
        ("Jigo", DRAW, 0),
        ("Void", UNKNOWN, None),
        ("?", UNKNOWN, None),
        ("", UNKNOWN, None),
        ("B+99999", UNKNOWN, None),
        ("B+1.2.3", BLACK, None),
        ("W+1.75", WHITE, -3.5),  # zi
        ("B+19.25", BLACK, 38.5),
        (str(Score(-1.75)), WHITE, -1.75),  # our own records
        ("B+1 3/4", BLACK, None),
    ],
)
def test_results(result: str, winner: int, margin: float | None) -> None:
    game = read_record(record(f"SZ[9]KM[7]RE[{result}]"))
    assert game.winner == winner
    assert math.isnan(game.margin) if margin is None else game.margin == margin


def test_moves_rules_komi_and_handicap() -> None:
    game = read_record(record("SZ[9]KM[5.5]RU[Japanese]RE[B+R]", ";B[aa];W[ia];B[]"))
    assert game.moves.tolist() == [0, 8 | WHITE_BIT, 81]
    assert (game.komi, game.rules, game.to_move) == (5.5, RULESETS["japanese"], BLACK)
    without_komi = read_record(record("SZ[9]RE[B+2.5]"))
    assert (without_komi.winner, without_komi.komi) == (UNKNOWN, 7) and math.isnan(without_komi.margin)
    handicap = read_record(record("SZ[9]KM[0.5]HA[2]AB[cc][gg]RE[W+R]", ";W[ee];B[ef]"))
    assert (handicap.komi, handicap.to_move, len(handicap.setup)) == (2.5, WHITE, 2)


def test_a_komi_of_0_that_cannot_be_is_the_usual_one() -> None:
    game = read_record(record("SZ[9]KM[0]RU[Japanese]RE[W+3.5]"))
    assert (game.komi, game.winner, game.margin) == (6, WHITE, -3.5)
    assert read_record(record("SZ[9]KM[0]RU[Japanese]RE[W+3]")).komi == 0
    assert read_record(record("SZ[9]KM[]RU[Japanese]RE[W+3.5]")).winner == UNKNOWN


def test_stones_set_up_in_the_middle_are_refused() -> None:
    with pytest.raises(Unusable, match="set up"):
        read_record(record(moves=";B[ee]AW[aa];W[gc];AE[ee]"))


def test_a_game_is_known_again_turned_and_continued() -> None:
    moves = [("ee", "gc", "cg"), ("ee", "cc", "gg"), ("ee", "cg", "gc")]  # as it is, mirrored, transposed
    texts = [f";B[{a}];W[{b}];B[{c}]" for a, b, c in moves]
    numbers = {read_record(record(moves=text)).number for text in texts}
    assert len(numbers) == 1
    assert read_record(record(moves=";B[ee];W[gc];B[gg]")).number not in numbers
    assert read_record(record("SZ[13]", texts[0])).number not in numbers


@pytest.mark.parametrize(
    ("text", "rank"),
    [("5k", -5), ("3d", 3), ("9p", 109), ("P", 100), ("4 dan", 4), ("7d?", 7), ("ama", None), ("", None), ("12", None)],
)
def test_ranks(text: str, rank: int | None) -> None:
    assert rank_of(text) == rank


GOOD = "SZ[9]BR[4d]WR[1p]DT[2003-05-01]"


@pytest.mark.parametrize(
    ("filters", "root", "reason"),
    [
        ({}, GOOD, None),
        ({"board_sizes": ["9", "13"]}, GOOD, None),
        ({"board_sizes": ["13x13"]}, GOOD, "board size"),
        ({}, "SZ[21]", "board size"),
        ({}, "SZ[1]", "board size"),
        ({"least_moves": 6}, GOOD, "too few moves"),
        ({"rank": "4d"}, GOOD, None),
        ({"rank": "5d"}, GOOD, "rank"),
        ({"rank": "9k"}, "SZ[9]BR[4d]", "rank"),
        ({"since": "2003", "until": "2003"}, GOOD, None),
        ({"since": "2003-05-02"}, GOOD, "date"),
        ({"until": "2003-04"}, GOOD, "date"),
        ({"since": "1900"}, "SZ[9]", "date"),
        ({"until": "2100"}, "SZ[9]DT[?]", "date"),
        ({"since": "2000"}, "SZ[9]DT[circa 1680]", "date"),
    ],
)
def test_filters(filters: dict[str, object], root: str, reason: str | None) -> None:
    wanted = RecordSettings(**({"least_moves": 5} | filters))  # type: ignore[arg-type]
    moves = MOVES if "SZ[1]" not in root else ";B[];W[];B[];W[];B[]"
    if reason is None:
        check_filters(record(root, moves), wanted)
    else:
        with pytest.raises(Unusable, match=reason):
            check_filters(record(root, moves), wanted)


@pytest.mark.parametrize("wrong", [{"rank": "strong"}, {"since": "May"}, {"until": "2003/05"}])
def test_wrong_filters_are_told(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"unknown (rank|date)"):
        RecordSettings(**wrong)  # type: ignore[arg-type]


def test_numbers_are_those_of_the_shared_archives(shared: Path) -> None:
    """Their README names the games that were held back there, by the ends of their numbers: those are missing."""
    with zipfile.ZipFile(shared / "games" / "pro19.zip") as archive:
        lines = archive.read("aeb-pro-03.sgfs").splitlines()[:200]
    games = [read_record(game) for game in read_sgf_games(b"\n".join(lines), name="aeb.sgfs")]
    held = np.array([(game.number >> 32) % 20 == 0 for game in games])
    assert not held.any()


def test_what_is_read_of_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that unpacks to gigabytes is skipped, and names are shown without escape sequences."""
    monkeypatch.setattr(sgf_dataset, "LARGEST_MEMBER", 100)
    with zipfile.ZipFile(tmp_path / "games.zip", "w") as archive:
        archive.writestr("bomb.sgf", b"0" * 101)
        archive.writestr("\x1b[31mred.sgf", b"0" * 100)
    (source,) = find_source_files([tmp_path / "games.zip"], print)
    errors: list[object] = []
    assert [(name, len(content)) for name, content in source.read(errors.append)] == [
        (f"{tmp_path / 'games.zip'}:?[31mred.sgf", 100)
    ]
    assert errors == [f"{tmp_path / 'games.zip'}:bomb.sgf: unpacks to 101 bytes, at most 100 are read"]


def test_a_damaged_archive_in_a_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "damaged.zip").write_bytes(b"PK\x03\x04 cut off")
    (tmp_path / "game.sgf").write_bytes(b"(;)")
    errors: list[str] = []
    (source,) = find_source_files([tmp_path], errors.append)
    assert source.files == ((tmp_path / "game.sgf", ""),)
    (error,) = errors
    assert error.startswith(f"{tmp_path / 'damaged.zip'}: not a zip archive, or damaged")
    with pytest.raises(SgfError, match="not a zip archive"):
        find_source_files([tmp_path / "damaged.zip"], errors.append)


def two_walls(dead_stone: bool) -> Game:
    """Black has the four columns on the left, white the three on the right; a white stone may be dead on the left."""
    game = Game(7, komi=0.5)
    for y in range(7):
        game.play(BLACK, point_at(3, y, 7))
        game.play(WHITE, point_at(4, y, 7))
    if dead_stone:
        game.play(BLACK, point_at(1, 2, 7))
        game.play(WHITE, point_at(1, 4, 7))
    return game


EXPECTED = np.tile([1, 1, 1, 1, -1, -1, -1], 7)


@pytest.mark.parametrize("dead_stone", [False, True])
@pytest.mark.parametrize(("margin", "is_confirmed"), [(6.5, True), (4.5, True), (0.5, False), (float("nan"), False)])
def test_scores_that_rollouts_confirm(dead_stone: bool, margin: float, is_confirmed: bool) -> None:
    games = label_ownership(pack([sample_game(two_walls(dead_stone), margin=margin)]))
    games.check()
    assert games.games["ownership_unit"].tolist() == [is_confirmed]
    np.testing.assert_array_equal(games.ownership, EXPECTED if is_confirmed else [])


def test_what_is_known_stays() -> None:
    known = np.full(49, -1, np.int8)
    game = two_walls(False)
    samples = [sample_game(game, margin=0.0), sample_game(game, ownership=known), sample_game(game, margin=6.5)]
    games = label_ownership(pack(samples))
    games.check()
    assert games.games["ownership_unit"].tolist() == [0, 1, 1]
    np.testing.assert_array_equal(games.ownership, np.concatenate((known, EXPECTED)))
