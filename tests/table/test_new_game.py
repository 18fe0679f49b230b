"""The start of a game: handicap stones and their komi, and what it takes over from the game before."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.table.new_game import described_game, initial_game


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


def begun(text: str, before: Game) -> Game:
    game, _, _ = described_game(text, before, frozenset({BLACK, WHITE}))
    return game


@pytest.mark.parametrize("text", ["white", "13"])
def test_blacks_first_moves_are_no_handicap_of_the_next_game(text: str) -> None:
    before = Game(9, komi=3.5)
    for colour, point in ((BLACK, "D4"), (WHITE, "pass"), (BLACK, "E5")):
        before.play(colour, point)
    assert before.handicap == 2  # which counts for White's compensation
    after = begun(text, before)
    assert (after.handicap, after.setup_stones, after.to_move) == (0, [], BLACK)
    assert (after.komi == 3.5) == (text == "white")


def test_handicap_stones_stay() -> None:
    before = Game(9, komi=0.5)
    before.place_handicap(["C3", "G7", "C7"])
    before.play(WHITE, "E5")
    after = begun("rules japanese", before)
    assert (after.handicap, after.komi, after.to_move) == (3, 0.5, WHITE)
    assert begun("13", before).handicap == 3
    assert begun("handicap 0", before).handicap == 0
    with pytest.raises(UserError, match="invalid number of stones: 3"):
        begun("5", before)


def test_a_position_with_many_black_stones_is_no_handicap() -> None:
    before = Game(9)
    before.set_up("A1 B1 C1 D1 E1 F1 G1 H1 J1 A2 B2 C2", ())
    assert begun("white", before).handicap == begun("13", before).handicap == 0
