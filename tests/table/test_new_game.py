"""The start of a game: what a player says of it, and what it takes over from the game before."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.table.new_game import described_game


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
