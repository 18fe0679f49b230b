"""Handicap stones: GTP's table, free placement on any board, and games that begin with them."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE, vertex
from gtp_engine.go.game import initial_game
from gtp_engine.go.handicap import fixed_handicap_points, free_handicap_points, most_fixed_stones

FIXED = [
    (19, 19, 2, "D4 Q16"),
    (19, 19, 3, "D4 Q16 D16"),
    (19, 19, 4, "D4 Q16 D16 Q4"),
    (19, 19, 5, "D4 Q16 D16 Q4 K10"),
    (19, 19, 6, "D4 Q16 D16 Q4 D10 Q10"),
    (19, 19, 7, "D4 Q16 D16 Q4 D10 Q10 K10"),
    (19, 19, 8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
    (19, 19, 9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
    (13, 13, 9, "D4 K10 D10 K4 D7 K7 G4 G10 G7"),
    (9, 9, 9, "C3 G7 C7 G3 C5 G5 E3 E7 E5"),
    (7, 7, 4, "C3 E5 C5 E3"),
    (8, 8, 4, "C3 F6 C6 F3"),
    (13, 9, 5, "D3 K7 D7 K3 G5"),
]


@pytest.mark.parametrize(("width", "height", "count", "expected"), FIXED)
def test_fixed_points_are_gtps(width: int, height: int, count: int, expected: str) -> None:
    points = fixed_handicap_points(count, width, height)
    assert " ".join(vertex(point, width, height) for point in points) == expected


@pytest.mark.parametrize(
    ("width", "height", "most"),
    [(19, 19, 9), (9, 9, 9), (8, 8, 4), (7, 7, 4), (9, 8, 4), (9, 7, 4), (6, 6, 0), (5, 19, 0)],
)
def test_fixed_points_end_where_gtps_do(width: int, height: int, most: int) -> None:
    assert most_fixed_stones(width, height) == most
    for count in (1, most + 1, 10):
        with pytest.raises(ValueError, match=f"invalid number of stones: {count}"):
            fixed_handicap_points(count, width, height)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (3, 2), (5, 5), (6, 4), (9, 9), (13, 7), (19, 19), (25, 25)])
def test_free_placement_gives_exactly_as_many_stones_as_asked_for(width: int, height: int) -> None:
    for count in {2, 3, min(9, width * height - 1), min(30, width * height - 1), width * height - 1}:
        points = free_handicap_points(count, width, height)
        assert len(set(points)) == len(points) == count
        assert all(vertex(point, width, height) for point in points)


def test_free_placement_is_the_fixed_one_as_far_as_that_goes() -> None:
    assert free_handicap_points(9, 19, 19) == fixed_handicap_points(9, 19, 19)


def test_free_placement_keeps_off_the_first_line_while_it_can() -> None:
    stones = {vertex(point, 5, 5) for point in free_handicap_points(9, 5, 5)}
    assert stones == {f"{column}{row}" for column in "BCD" for row in (2, 3, 4)}


@pytest.mark.parametrize("count", [-1, 0, 1, 81, 10**9])
def test_free_placement_refuses_other_numbers(count: int) -> None:
    with pytest.raises(ValueError, match="invalid number of stones"):
        free_handicap_points(count, 9, 9)


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
