"""The rollouts as an evaluator: perspective, statistics on positions whose outcome is known, repeatability."""

import numpy as np
import pytest
from drawn_positions import DEAD_STONES, FINISHED, drawn, random_position

from gtp_engine.evaluate.factory import make_evaluator
from gtp_engine.evaluate.interface import Outputs
from gtp_engine.evaluate.rollouts import RolloutEvaluator
from gtp_engine.game.coords import BLACK, PASS, WHITE
from gtp_engine.game.game import Game
from gtp_engine.game.rules import RULESETS


def judge(game: Game, *, playouts: int = 200, seed: int = 1, threads: int = 1, copies: int = 1) -> Outputs:
    """The outputs of `copies` evaluations of one position."""
    evaluator = RolloutEvaluator(threads=threads, seed=seed, playouts=playouts)
    boards = np.repeat(game.board, copies)
    found = evaluator.collect(evaluator.submit(boards, np.arange(copies), ownership=True))
    evaluator.close()
    return found


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19)])
def test_outputs_have_the_promised_form(width: int, height: int) -> None:
    area = width * height
    found = judge(random_position(width, height, 3, 1), playouts=4, copies=3)
    assert found.policy.shape == (3, area + 1)
    assert found.policy.sum(1) == pytest.approx(1, abs=1e-5)
    assert found.value.shape == (3, 3)
    assert found.value.sum(1) == pytest.approx(1)
    assert found.lead.shape == found.score_mean.shape == found.score_stdev.shape == (3,)
    assert found.ownership is not None
    assert found.ownership.shape == (3, area)
    assert abs(found.ownership).max() <= 1
    assert {array.dtype for array in (found.policy, found.value, found.lead, found.ownership)} == {np.dtype(np.float32)}


def test_ownership_is_given_only_where_asked() -> None:
    evaluator = make_evaluator("none", threads=1, seed=1)
    assert evaluator.collect(evaluator.submit(Game(5).board, np.arange(1))).ownership is None


def test_a_finished_game_from_both_sides() -> None:
    black, _ = drawn(FINISHED, BLACK, komi=6.5)
    white, _ = drawn(FINISHED, WHITE, komi=6.5)
    for game, sign in ((black, 1), (white, -1)):
        found = judge(game)
        assert found.value[0].tolist() == ([1, 0, 0] if sign == 1 else [0, 1, 0])
        assert found.lead[0] == found.score_mean[0] == sign * 2.5
        assert found.score_stdev[0] == 0
        assert found.ownership is not None
        assert (found.ownership.reshape(9, 9)[:, :5] == sign).all()
        assert (found.ownership.reshape(9, 9)[:, 5:] == -sign).all()


def test_first_plays_are_shares_of_the_playouts_and_what_they_won() -> None:
    found = judge(random_position(9, 9, 6, 1), playouts=50).first_plays
    assert found is not None
    assert found.shape == (1, 2, 2, 81)
    share, won = found[0, :, 0], found[0, :, 1]
    assert (share >= 0).all()
    assert (share.sum(0) <= 1 + 1e-5).all()  # one player at most is the first at a point
    assert (abs(won) <= share + 1e-5).all()
    assert share.sum() > 40


def test_a_draw_is_half_a_win() -> None:
    game, _ = drawn(FINISHED, komi=9)
    assert judge(game).value[0].tolist() == [0.5, 0.5, 0]


def test_a_won_position_is_won_nearly_always_whoever_moves() -> None:
    for to_move in (BLACK, WHITE):
        game, _ = drawn(DEAD_STONES, to_move, komi=-10)
        found = judge(game, playouts=400)
        assert found.value[0, 0 if to_move == BLACK else 1] > 0.75


def test_dead_stones_are_owned_by_who_surrounds_them() -> None:
    game, _ = drawn(DEAD_STONES)
    owned = judge(game, playouts=400).ownership
    assert owned is not None
    owned = owned.reshape(9, 9)
    assert owned[1, 1] > 0.4  # white's stone in black's corner
    assert owned[3, 1] > 0.6  # black's wall
    assert owned[3, 7] < -0.5


def test_territory_rules_count_what_area_rules_count_in_an_even_game() -> None:
    area, _ = drawn(FINISHED, rules=RULESETS["chinese"])
    territory, _ = drawn(FINISHED, rules=RULESETS["japanese"])
    for game in (area, territory):
        game.play(BLACK, PASS)
        game.play(WHITE, PASS)
    assert judge(area).lead[0] == 9
    assert judge(territory).lead[0] == 0  # two points each: black put down nine stones more


def test_a_seed_repeats_and_threads_change_nothing() -> None:
    game = random_position(9, 9, 10, 1)
    first, again, other = (judge(game, playouts=20, seed=seed, copies=16) for seed in (1, 1, 2))
    threaded = judge(game, playouts=20, seed=1, copies=16, threads=3)
    for found in (again, threaded):
        assert (found.value == first.value).all()
        assert (found.score_mean == first.score_mean).all()
        assert found.ownership is not None
        assert (found.ownership == first.ownership).all()
    assert (other.value != first.value).any()
    assert (first.value[0] != first.value[1]).any()  # each row has random numbers of its own


def test_two_batches_in_flight() -> None:
    evaluator = RolloutEvaluator(threads=2, seed=1, playouts=20)
    games = [random_position(9, 9, moves, 1) for moves in (2, 8)]
    boards = [np.repeat(game.board, 16) for game in games]
    tickets = [evaluator.submit(board, np.arange(16)) for board in boards]
    values = [evaluator.collect(ticket).value.copy() for ticket in tickets]
    evaluator.close()
    alone = RolloutEvaluator(seed=1, playouts=20)
    for board, value in zip(boards, values, strict=True):
        assert (alone.collect(alone.submit(board, np.arange(16))).value == value).all()


def test_only_the_named_positions_are_judged() -> None:
    finished, _ = drawn(FINISHED, komi=0.5)
    boards = np.concatenate([Game(9).board, finished.board, Game(9).board])
    evaluator = RolloutEvaluator(seed=1)
    found = evaluator.collect(evaluator.submit(boards, np.array([1])))
    assert found.lead.tolist() == [8.5]


def test_the_side_to_move_is_better_off() -> None:
    leads = [judge(Game(9, komi=0), playouts=50, copies=40, seed=seed).lead.mean() for seed in (1, 2)]
    assert min(leads) > 0


def test_both_policies_agree_on_what_is_settled() -> None:
    game, _ = drawn(FINISHED)
    for heavy in (False, True):
        evaluator = RolloutEvaluator(seed=1, heavy=heavy)
        found = evaluator.collect(evaluator.submit(game.board, np.arange(1), ownership=True))
        assert found.ownership is not None
        assert abs(found.ownership).min() == 1
        assert found.lead[0] == 9
