"""The review of a record: what a move cost, comments, and the whole of it on a small game."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gtp_engine.analysis.curve import check_picture, plot_curve
from gtp_engine.analysis.review import MoveReview, commented, review_comment, review_record, worst_moves
from gtp_engine.evaluate.rollouts import RolloutEvaluator
from gtp_engine.evaluate.uniform import UniformEvaluator
from gtp_engine.game.coords import BLACK, PASS, WHITE, parse_vertex
from gtp_engine.game.game import Move
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.search.search import Limits
from gtp_engine.sgf import GameRecord, RecordNode, SgfError, read_sgf

D4, E5, F6 = (parse_vertex(name, 9, 9) for name in ("D4", "E5", "F6"))


def move_report(point: int, winrate: float, lead: float) -> MoveReport:
    return MoveReport(point, 10, winrate, lead, lead, 0, 0, 0, 0, 0.1, 1, 0, (point, F6), (10, 5))


def report(to_move: int, best: int, winrate: float, lead: float) -> SearchReport:
    """A search whose preferred move is worth more than the root's mean."""
    moves = (move_report(best, winrate + 0.1, lead + 1),)
    return SearchReport(9, 9, to_move, 20, 20, winrate, lead, lead, 0, 0, moves, np.zeros(82, np.float32), None, 0.1)


def review(
    colour: int, played: int, best: int, winrates: tuple[float, float], leads: tuple[float, float]
) -> MoveReview:
    """A move of `colour`; values before and after it are for the side to move of each position."""
    before, after = report(colour, best, winrates[0], leads[0]), report(3 - colour, F6, winrates[1], leads[1])
    return MoveReview(1, Move(colour, played), before, after)


@pytest.mark.parametrize(("colour", "winrate", "lead"), [(BLACK, 0.3, -4.0), (WHITE, 0.7, 4.0)])
def test_cost_is_the_best_moves_value_less_the_position_after(colour: int, winrate: float, lead: float) -> None:
    mistake = review(colour, D4, E5, (0.5, 0.7), (0.0, 4.0))
    assert (mistake.winrate_loss, mistake.points_loss) == (pytest.approx(0.3), pytest.approx(5.0))
    assert (mistake.winrate, mistake.lead) == (pytest.approx(winrate), pytest.approx(lead))


def test_a_move_that_the_search_prefers_or_likes_better_afterwards_costs_nothing() -> None:
    assert review(BLACK, E5, E5, (0.5, 0.9), (0.0, 9.0)).winrate_loss == 0
    better = review(BLACK, D4, E5, (0.5, 0.2), (0.0, -5.0))
    assert (better.winrate_loss, better.points_loss) == (0, 0)


def test_worst_moves() -> None:
    small = review(BLACK, D4, E5, (0.5, 0.5), (0.0, 0.0))
    large = review(WHITE, D4, E5, (0.5, 0.8), (0.0, 9.0))
    none = review(BLACK, E5, E5, (0.5, 0.9), (0.0, 9.0))
    assert worst_moves([small, none, large], 5) == [large, small]
    assert worst_moves([small, none, large], 1) == [large]


def test_comment() -> None:
    assert review_comment(review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0))) == (
        "Win rate: 30.0% black\nScore: W+4.0\nVisits: 20\nMain line: F6 F6\n"
        "Cost: 30.0% win rate, 5.0 points\nBetter: E5 F6"
    )
    assert "Better" not in review_comment(review(BLACK, E5, E5, (0.5, 0.7), (0.0, 4.0)))


def test_comments_are_added_to_those_of_the_record() -> None:
    nodes = [RecordNode(comment="start"), RecordNode(Move(BLACK, D4), comment="first"), RecordNode(Move(WHITE, E5))]
    record = GameRecord(9, 9, nodes=nodes)
    result = commented(record, [review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0))])
    assert [node.comment[:22] for node in result.nodes] == ["start", "first\n\nWin rate: 30.0%", ""]
    assert [node.comment for node in record.nodes] == ["start", "first", ""]


def reviewed(data: bytes, limits: Limits, **options: Any) -> Iterator[MoveReview]:
    return review_record(read_sgf(data), UniformEvaluator(8), SearchParameters(), limits, seed=1, **options)


@pytest.mark.parametrize("limits", [Limits(visits=8), Limits(visits=8, seconds=60)])
def test_every_move_is_reviewed_passes_and_setup_too(limits: Limits) -> None:
    data = b"(;SZ[5:4]KM[3]RU[Japanese];B[bb];AW[dd];B[cc];W[];B[];W[bc])"
    reviews = list(reviewed(data, limits, komi=0.5))
    assert [done.move for done in reviews] == read_sgf(data).moves
    assert [done.number for done in reviews] == [1, 2, 3, 4, 5]
    assert [done.before.to_move for done in reviews] == [BLACK, BLACK, WHITE, BLACK, WHITE]
    assert all(done.before.visits == 8 for done in reviews)
    assert all(0 <= done.winrate <= 1 and done.winrate_loss >= 0 for done in reviews)


def test_with_playouts_the_tree_goes_on_from_move_to_move() -> None:
    evaluator = RolloutEvaluator(threads=1, seed=1)
    record = read_sgf(b"(;SZ[5];B[cc];W[cb];B[bb])")
    reviews = list(review_record(record, evaluator, SearchParameters(), Limits(visits=400), seed=1))
    assert reviews[0].before.playouts == 400
    assert 0 < reviews[0].after.playouts < 400


def test_review_ends_at_a_move_that_cannot_be_played() -> None:
    moves = reviewed(b"(;SZ[5];B[bb];W[bb])", Limits(visits=2))
    assert next(moves).number == 1
    with pytest.raises(SgfError, match="move 2: illegal move: B4 is occupied"):
        next(moves)


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_picture(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"curve{ending}"
    reviews = [review(BLACK, D4, E5, (0.5, 0.7), (0.0, 4.0)), review(WHITE, PASS, E5, (0.5, 0.7), (0.0, 4.0))]
    plot_curve(reviews, file, "$A - 呉")
    assert file.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(OSError, match=r"nosuch.*curve"):
        plot_curve(reviews, tmp_path / "nosuch" / file.name, "")


def test_picture_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"curve\.doc: the name of a picture must end in \.png"):
        check_picture(Path("curve.doc"))
