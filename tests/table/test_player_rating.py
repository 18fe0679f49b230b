"""The rating of the person who plays here: Glicko-2, the next opponent, and the file."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gtp_engine.engine.ranks import Rank
from gtp_engine.table.player_rating import PlayerRating, RatingFile, first_rating, within_reach

KNOWN = PlayerRating(-900.0, 70.0, games=40, last=1)


def test_a_game_of_the_example_of_the_paper() -> None:
    """Its first game: 1500 (200) beats 1400 (30); g = 0.9955 and E = 0.639 are the paper's."""
    after = PlayerRating(100.0, 200.0).after(Rank(0), 1)
    variance = 1 / (0.9955**2 * 0.639 * 0.361)
    spread = 1 / (1 / ((200 / 173.7178) ** 2 + 0.06**2) + 1 / variance)
    assert after.rating == pytest.approx(100 + 173.7178 * spread * 0.9955 * 0.361, abs=0.1)
    assert after.deviation == pytest.approx(173.7178 * spread**0.5, abs=0.1)
    assert after.volatility == pytest.approx(0.06, abs=1e-4) and (after.games, after.last) == (1, 1)


def test_a_surprise_raises_the_volatility_and_a_handicap_counts_as_ranks() -> None:
    assert KNOWN.after(Rank(20), 1).volatility > KNOWN.volatility > KNOWN.after(Rank(-9), 0.5).volatility
    assert KNOWN.after(Rank(-5), 1, stones=4) == KNOWN.after(Rank(-9), 1)


def test_the_next_opponent() -> None:
    assert KNOWN.opponent == KNOWN.rank == Rank(-9)
    unsure = replace(KNOWN, deviation=300.0)
    assert unsure.opponent > Rank(-9) > replace(unsure, last=0).opponent
    assert replace(unsure, last=0.5).opponent == Rank(-9)
    assert first_rating(None).deviation > first_rating(Rank(-9)).deviation
    assert replace(KNOWN, rating=9000.0).opponent == replace(KNOWN, rating=9000.0).rank == Rank(5)


@pytest.mark.parametrize(
    ("rating", "size", "stones"), [(-2400, 19, 0), (-2500, 19, 0), (-2600, 19, 2), (-9000, 19, 9), (-2600, 13, 0)]
)
def test_a_player_below_the_weakest_rank_takes_stones_where_their_worth_is_known(
    rating: float, size: int, stones: int
) -> None:
    weak = replace(KNOWN, rating=rating)
    assert weak.stones(within_reach(weak.opponent), size, size) == stones
    assert weak.rank == Rank(-24)


def test_the_file_keeps_the_rating(tmp_path: Path) -> None:
    file = RatingFile(tmp_path / "new" / "rating.json")
    assert (file.rating, file.is_asked, file.notice) == (None, False, "")
    file.keep(KNOWN)
    assert RatingFile(file.path).rating == KNOWN
    file.keep(None)
    again = RatingFile(file.path)
    assert again.rating is None and again.is_asked
    assert [path.name for path in file.path.parent.iterdir()] == ["rating.json"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\x00\xff",
        "[]",
        "{}",
        "[" * 100_000,
        json.dumps({"version": 2, "rating": {"rating": "x", "deviation": 1}}),
        json.dumps({"version": 2, "rating": {"rating": 1e999, "deviation": 1}}),
        json.dumps({"version": 2, "rating": {"rating": 0, "deviation": 0}}),
        json.dumps({"version": 2, "rating": {"rating": 0, "deviation": 9, "games": 1.5}}),
        json.dumps({"version": 1, "rating": None}),
        json.dumps({"version": "99", "rating": None}),
    ],
)
def test_a_damaged_file_is_kept_aside_and_said_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "rating.json"
    path.write_text(content, encoding="latin-1")
    file = RatingFile(path)
    assert (file.rating, file.is_asked) == (None, False)
    assert file.notice == f"{path} is damaged and is kept as rating-damaged.json: your rank is found anew"
    assert (tmp_path / "rating-damaged.json").read_text(encoding="latin-1") == content
    file.keep(KNOWN)
    assert RatingFile(path).rating == KNOWN and file.notice == ""


def test_a_second_damaged_file_leaves_the_first(tmp_path: Path) -> None:
    path = tmp_path / "rating.json"
    for content in ("first", "second", "third"):
        path.write_text(content)
        RatingFile(path)
    kept = [(tmp_path / f"rating-damaged{number}.json").read_text() for number in ("", "1", "2")]
    assert kept == ["first", "second", "third"]


def test_the_file_of_a_newer_version_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rating.json"
    path.write_text(content := json.dumps({"version": 99, "rating": {"stars": 5}}))
    file = RatingFile(path)
    file.keep(KNOWN)
    assert file.rating == KNOWN
    assert path.read_text() == content and list(tmp_path.iterdir()) == [path]
    assert file.notice.startswith(f"{path} was written by a newer version of gtp_engine (99, this one reads 2): ")


def test_a_rating_that_cannot_be_saved_goes_on_in_this_program(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    file = RatingFile(tmp_path / "file" / "rating.json")
    file.keep(KNOWN)
    assert file.rating == KNOWN and file.notice.startswith("your rank cannot be saved: ")
