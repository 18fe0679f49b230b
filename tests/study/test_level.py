"""What a lead is worth to players of a rank, and what a lesson chooses by it."""

from pathlib import Path

import pytest

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.study import budget, lesson
from gtp_engine.study.lesson import after_game, worst_mistakes
from gtp_engine.study.level import UPSETS, Level, level_of, read_rank
from gtp_engine.study.reviewer import ReviewTask

GAMES = Path(__file__).parents[1] / "data" / "lessons"


def test_a_point_is_worth_twice_the_chance_that_the_one_who_is_ahead_loses() -> None:
    level = Level(-15, 361)
    assert level.spread == pytest.approx(30.1, abs=0.1)
    assert level.weight(BLACK, 1, 0.0, 0.01) == pytest.approx(0.01, rel=1e-3)
    assert level.weight(BLACK, 1, level.spread, 0.01) == pytest.approx(0.01 * (0.18 + 0.82 * 0.3173), rel=1e-3)
    assert level.weight(WHITE, 1, -500.0, 10.0) == pytest.approx(10 * 2 * UPSETS)
    across = level.weight(BLACK, 1, 5.0, 12.0)
    assert across == pytest.approx(level.weight(BLACK, 1, 5.0, 5.0) + level.weight(BLACK, 1, 0.0, 7.0))
    assert across == level.weight(WHITE, 1, -5.0, 12.0)


@pytest.mark.parametrize("rank", [-25, -10, 0, 4])
@pytest.mark.parametrize("size", [9, 13, 19])
def test_a_large_loss_is_never_behind_a_tiny_one(rank: int, size: int) -> None:
    level = Level(rank, size**2)
    large = [level.weight(BLACK, 1, lead, 23.6) for lead in range(-size * size, size * size)]
    assert min(large) > 0.7 >= level.weight(BLACK, 1, 0.35, 0.7)


def test_a_lead_by_handicap_stones_is_made_up_for_during_the_game() -> None:
    level = Level(-10, 169, handicap=46.0)
    assert level.weight(BLACK, 1, 46.0, 10.0) == Level(-10, 169).weight(BLACK, 1, 0.0, 10.0)
    assert level.weight(BLACK, 1, 46.0, 10.0) > 2 * level.weight(BLACK, 120, 46.0, 10.0)
    assert level.weight(BLACK, 128, 46.0, 10.0) == Level(-10, 169).weight(BLACK, 128, 46.0, 10.0)


@pytest.mark.parametrize(
    ("text", "rank"),
    [("15k", -15), ("1k", -1), ("1d", 0), ("7 dan", 6), ("9p", 8), ("", None), ("?", None), ("9" * 5000 + "k", None)],
)
def test_ranks_are_read(text: str, rank: int | None) -> None:
    assert read_rank(text) == rank


def test_the_level_is_that_of_the_ranks_that_are_known() -> None:
    record = GameRecord(9, 9, black_rank="12k", white_rank="8k", handicap=0)
    assert level_of(record, [-1.0], 30.0) == Level(-10, 81)
    record.black_rank = record.white_rank = ""
    assert level_of(record, [-1.0], 30.0) == Level(-1, 81) and level_of(record, [], None).rank == -10
    record.handicap = 2
    assert level_of(record, [0], 17.0).handicap == 17


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("kyu_9x9.sgf", {"H6", "A7", "C8"}),
        pytest.param("kyu_13x13_four_stones.sgf", {"F3", "C5", "B4"}, marks=pytest.mark.slow),
    ],
)
def test_the_lesson_names_blunders_of_a_kyu_that_did_not_change_a_strong_players_win_rate(
    name: str, moves: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The opponent was as weak, and won or lost leads of that size; or Black had a handicap, and squandered it."""
    monkeypatch.setattr(budget, "FLOOR", 6)
    monkeypatch.setattr(lesson, "_SHARE", 0.001)
    task = ReviewTask(read_sgf(GAMES / name), player=BLACK)
    told = worst_mistakes(after_game(task, EngineSettings(threads=1)).start().result())
    assert moves <= {miss.vertex(miss.move.point) for mistake in told for miss in mistake.misses}
