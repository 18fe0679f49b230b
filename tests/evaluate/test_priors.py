"""Priors: what they forbid, and that they know the obvious."""

import numpy as np
import pytest
from drawn_positions import FINISHED, drawn, random_position

from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.evaluate.rollout_moves import write_priors


def priors(game: Game) -> np.ndarray:
    """float32 [area+1]."""
    policy = np.full(game.area + 1, np.nan, np.float32)
    write_priors(game.board[0], policy)
    return policy


def prior(game: Game, point: int) -> float:
    return float(priors(game)[index_of_point(point, game.width, game.height)])


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19), (25, 25)])
def test_they_sum_to_one_and_are_zero_where_a_move_is_illegal(width: int, height: int) -> None:
    japanese = RULESETS["japanese"]  # simple ko, no suicide
    for seed in range(3):
        for moves in (0, width, width * height):
            game = random_position(width, height, moves, seed)
            game.set_rules(japanese)
            policy = priors(game)
            assert policy.sum() == pytest.approx(1, abs=1e-5)
            assert ((policy > 0) == game.legal_moves()).all()


def test_the_first_move_is_not_on_the_edge() -> None:
    policy = priors(Game(9))[:-1].reshape(9, 9)
    assert policy[2:-2, 2:-2].sum() > 0.9
    assert policy[0].sum() < 0.01


def test_a_capture_and_an_escape_come_first() -> None:
    game, at = drawn("""
        . . . . . . .
        . O O . . . .
        . X X O . . .
        . O a . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    game.play(WHITE, point_at(0, 2, 7))
    assert prior(game, at["a"]) == priors(game).max()
    game.to_move = WHITE
    assert prior(game, at["a"]) == priors(game).max()


def test_self_atari_and_filling_eyes_come_last() -> None:
    game, at = drawn("""
        a X . . . . .
        X X . . . . .
        . . . O . . .
        . . . . . . .
        . . . . O O .
        . . . . O . O
        . . b . . O .
    """)
    policy = priors(game)
    assert prior(game, at["a"]) < 0.2 * prior(game, at["b"])
    assert prior(game, point_at(5, 5, 7)) == 0.0  # suicide
    assert policy.argmax() != index_of_point(at["a"], 7, 7)


def test_they_follow_the_last_move() -> None:
    game = Game(19)
    game.play(BLACK, point_at(3, 3, 19))
    game.play(WHITE, point_at(15, 15, 19))
    assert prior(game, point_at(15, 13, 19)) > prior(game, point_at(3, 13, 19))


def test_a_pass_is_for_the_end() -> None:
    assert prior(Game(9), PASS) < 0.01
    finished, _ = drawn(FINISHED)
    assert prior(finished, PASS) >= 0.5
    answered = Game(9)
    answered.play(BLACK, PASS)
    assert prior(answered, PASS) == pytest.approx(0.2)
