"""The rollouts as an evaluator: perspective, statistics on positions whose outcome is known, repeatability."""

import numpy as np
import pytest
from drawn_positions import DEAD_STONES, FINISHED, drawn, random_position

from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.evaluate.evaluator import make_evaluator
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator
from gtp_engine.search.evaluate.row import LEAD, UNKNOWN, WIN, EvaluationRow, row_columns


def rows_of(game: Game, *, rollouts: int = 200, seed: int = 1, threads: int = 1, copies: int = 1) -> np.ndarray:
    """The rows of `copies` evaluations of one position."""
    evaluator = RolloutEvaluator(threads=threads, seed=seed, rollouts=rollouts)
    boards = np.repeat(game.board, copies)
    rows = evaluator.collect(evaluator.submit(boards, np.arange(copies)))
    evaluator.close()
    return rows


def evaluate(game: Game, *, rollouts: int = 200) -> EvaluationRow:
    return EvaluationRow(rows_of(game, rollouts=rollouts)[0], game.area)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19)])
def test_outputs_have_the_promised_form(width: int, height: int) -> None:
    area = width * height
    rows = rows_of(random_position(width, height, 3, 1), rollouts=4, copies=3)
    assert rows.shape == (3, row_columns(area, amaf=True)) and rows.flags.c_contiguous
    for row in rows:
        found = EvaluationRow(row, area)
        assert found.policy.shape == (area + 1,)
        assert found.policy.sum() == pytest.approx(1, abs=1e-5)
        assert found.value.shape == (3,)
        assert found.value.sum() == pytest.approx(1)
        assert found.ownership.shape == (area,)
        assert abs(found.ownership).max() <= 1
        assert (found.short_term_errors == UNKNOWN).all()
        assert found.amaf is not None and found.amaf.shape == (2, 2, area)
    assert rows.dtype == np.float32


def test_ownership_is_always_there() -> None:
    evaluator = make_evaluator("none", threads=1, seed=1)
    game, _ = drawn(FINISHED)
    rows = evaluator.collect(evaluator.submit(game.board, np.arange(1)))
    assert abs(EvaluationRow(rows[0], game.area).ownership).min() == 1


def test_a_finished_game_from_both_sides() -> None:
    black, _ = drawn(FINISHED, BLACK, komi=6.5)
    white, _ = drawn(FINISHED, WHITE, komi=6.5)
    for game, sign in ((black, 1), (white, -1)):
        found = evaluate(game)
        assert found.value.tolist() == ([1, 0, 0] if sign == 1 else [0, 1, 0])
        assert found.lead == found.score_mean == sign * 2.5
        assert found.score_stdev == 0
        assert (found.ownership.reshape(9, 9)[:, :5] == sign).all()
        assert (found.ownership.reshape(9, 9)[:, 5:] == -sign).all()


def test_amaf_statistics_are_shares_of_the_rollouts_and_their_results() -> None:
    found = evaluate(random_position(9, 9, 6, 1), rollouts=50).amaf
    assert found is not None
    assert found.shape == (2, 2, 81)
    share, won = found[:, 0], found[:, 1]
    assert (share >= 0).all()
    assert (share.sum(0) <= 1 + 1e-5).all()  # one player at most is the first at a point
    assert (abs(won) <= share + 1e-5).all()
    assert share.sum() > 40


def test_a_draw_is_half_a_win() -> None:
    game, _ = drawn(FINISHED, komi=9)
    assert evaluate(game).value.tolist() == [0.5, 0.5, 0]


def test_a_won_position_is_won_nearly_always_whoever_moves() -> None:
    for to_move in (BLACK, WHITE):
        game, _ = drawn(DEAD_STONES, to_move, komi=-10)
        found = evaluate(game, rollouts=400)
        assert found.value[0 if to_move == BLACK else 1] > 0.75


def test_dead_stones_are_owned_by_who_surrounds_them() -> None:
    game, _ = drawn(DEAD_STONES)
    owned = evaluate(game, rollouts=400).ownership.reshape(9, 9)
    assert owned[1, 1] > 0.4  # white's stone in black's corner
    assert owned[3, 1] > 0.6  # black's wall
    assert owned[3, 7] < -0.5


def test_territory_rules_count_what_area_rules_count_in_an_even_game() -> None:
    area, _ = drawn(FINISHED, rules=RULESETS["chinese"])
    territory, _ = drawn(FINISHED, rules=RULESETS["japanese"])
    for game in (area, territory):
        game.play(BLACK, PASS)
        game.play(WHITE, PASS)
    assert evaluate(area).lead == 9
    assert evaluate(territory).lead == 0  # two points each: black put down nine stones more


def test_a_seed_repeats_and_threads_change_nothing() -> None:
    game = random_position(9, 9, 10, 1)
    first, again, other = (rows_of(game, rollouts=20, seed=seed, copies=16) for seed in (1, 1, 2))
    threaded = rows_of(game, rollouts=20, seed=1, copies=16, threads=3)
    for found in (again, threaded):
        assert (found == first).all()
    assert (other[:, WIN:LEAD] != first[:, WIN:LEAD]).any()
    assert (first[0, WIN:LEAD] != first[1, WIN:LEAD]).any()  # each row has random numbers of its own


def test_two_batches_in_flight() -> None:
    evaluator = RolloutEvaluator(threads=2, seed=1, rollouts=20)
    games = [random_position(9, 9, moves, 1) for moves in (2, 8)]
    boards = [np.repeat(game.board, 16) for game in games]
    tickets = [evaluator.submit(board, np.arange(16)) for board in boards]
    values = [evaluator.collect(ticket)[:, WIN:LEAD].copy() for ticket in tickets]
    evaluator.close()
    alone = RolloutEvaluator(seed=1, rollouts=20)
    for board, value in zip(boards, values, strict=True):
        assert (alone.collect(alone.submit(board, np.arange(16)))[:, WIN:LEAD] == value).all()


def test_only_the_named_positions_are_judged() -> None:
    finished, _ = drawn(FINISHED, komi=0.5)
    boards = np.concatenate([Game(9).board, finished.board, Game(9).board])
    evaluator = RolloutEvaluator(seed=1)
    found = evaluator.collect(evaluator.submit(boards, np.array([1])))
    assert found[:, LEAD].tolist() == [8.5]


def test_the_side_to_move_is_better_off() -> None:
    leads = [rows_of(Game(9, komi=0), rollouts=50, copies=40, seed=seed)[:, LEAD].mean() for seed in (1, 2)]
    assert min(leads) > 0


def test_both_policies_agree_on_what_is_settled() -> None:
    game, _ = drawn(FINISHED)
    for heavy in (False, True):
        evaluator = RolloutEvaluator(seed=1, heavy=heavy)
        found = EvaluationRow(evaluator.collect(evaluator.submit(game.board, np.arange(1)))[0], game.area)
        assert abs(found.ownership).min() == 1
        assert found.lead == 9
