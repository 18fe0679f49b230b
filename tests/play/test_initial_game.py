"""The start of a game: handicap stones and their komi."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK, WHITE
from gtp_engine.play.initial_game import initial_game


@pytest.mark.parametrize(
    ("handicap", "komi", "expected"), [(0, None, 7.0), (0, 3.5, 3.5), (2, None, 0.5), (2, 0.0, 0.0), (2, 5.5, 5.5)]
)
def test_komi_is_half_a_point_with_handicap_unless_it_is_given(
    handicap: int, komi: float | None, expected: float
) -> None:
    game = initial_game(9, 9, handicap=handicap, komi=komi, rules="aga")
    assert (game.komi, game.handicap, game.rules.white_handicap_bonus) == (expected, handicap, "N-1")
    assert game.to_move == (WHITE if handicap else BLACK)
    assert [game.stone_at(vertex) for vertex in ("C3", "G7", "C7")] == [BLACK * bool(handicap)] * 2 + [0]


def test_boards_without_points_for_the_stones_are_refused() -> None:
    with pytest.raises(UserError, match=r"^invalid number of stones: 5 \(on 8x8: 2 to 4\)$"):
        initial_game(8, 8, handicap=5, komi=None, rules="chinese")
