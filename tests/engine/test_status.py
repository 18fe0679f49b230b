"""The status of groups during a game and after two passes: what is judged together, and what is read."""

from unittest.mock import Mock

import numpy as np
import pytest
from drawn_positions import (
    DEAD_STONES,
    FINISHED,
    PRISONERS,
    SEKI,
    SETTLED,
    game_of,
    seen_ownership,
)

from gtp_engine.engine import seki_reading
from gtp_engine.engine.seki_reading import uncapturable_stones
from gtp_engine.engine.status import agreed_dead, chain_statuses, find_dead, in_their_own_turn
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.life import area_map, dead_stones, proven_owners
from gtp_engine.solver import ahead


def points(game: Game, names: str) -> set[int]:
    return {parse_vertex(name, game.width, game.height) for name in names.split()}


def owned(game: Game, dead: set[int], certainty: float = 0.9) -> np.ndarray:
    """An ownership that these dead stones explain."""
    owner = area_map(game, dead)
    return certainty * ((owner == BLACK).astype(float) - (owner == WHITE).astype(float))


# Black has the left, White the right; a white stone is left behind on B5.
HALVES = """
    . . . . X O . . .
    . . . . X O . . .
    . . . . X O . . .
    . . . . X O . . .
    . O . . X O . . .
    . . . . X O . . .
    . . . . X O . . .
    . . . . X O . . .
    . . . . X O . . .
"""


def test_a_stone_that_would_undo_a_territory_is_dead_although_its_own_point_is_in_doubt() -> None:
    game = game_of(HALVES, "japanese", komi=6)
    stone = points(game, "B5")
    ownership = owned(game, stone)
    ownership[4, 1] = -0.3
    assert dead_stones(game, ownership) == set()
    assert agreed_dead(game, ownership) == stone
    assert game.score(stone).points == (36 + 1) - 27 - 6


def test_all_stones_stay_if_both_players_pass_at_the_beginning() -> None:
    game = Game(9, rules="chinese", komi=7)
    for vertex in ("C3", "G7", "G3", "C7", "E6", "E4"):
        game.play(game.to_move, parse_vertex(vertex, 9, 9))
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    assert find_dead(game, lambda: np.full((9, 9), -0.9)) == set()  # although White is ahead everywhere
    assert game.score().points == -7


def test_a_living_group_that_is_surrounded_stays() -> None:
    game = game_of("""
        . O . O . X . . .
        O O O O O X . . .
        X X X X X X . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        X X X X X X X X X
        O O O O O O O O O
        . . . . . . . . .
    """)
    assert agreed_dead(game, owned(game, set())) == set()
    # What is proven needs no ownership at all.
    assert (proven_owners(game)[:2, :4] == WHITE).all()
    assert not agreed_dead(game, np.full((9, 9), 0.9)) & points(game, "B9 D9 A8 B8 C8 D8 E8")


# Black's chains on C and D are dead, and connected with each other only by their liberties.
CHAINS = """
    . O X . O . . . .
    . O X . O . O O .
    . O . X O . . . .
    . O X . O . . O .
    . O X . O . . . .
    . O O O O . . . .
    O O . . . O O O O
    X X O O O O X X X
    . X X X X X X . .
"""
DEAD = {CHAINS: "C9 C8 D7 C6 C5", HALVES: "B5", PRISONERS: "B1 B4 G3", DEAD_STONES: "B8"}


@pytest.mark.parametrize("drawing", [FINISHED, SETTLED, PRISONERS, DEAD_STONES, HALVES, CHAINS])
@pytest.mark.parametrize("certainty", [0.6, 0.98])
def test_a_consistent_ownership_is_taken_as_it_is(drawing: str, certainty: float) -> None:
    game = game_of(drawing)
    dead = points(game, DEAD.get(drawing, ""))
    assert agreed_dead(game, owned(game, dead, certainty)) == dead


def test_a_group_dies_as_a_whole() -> None:
    game = game_of(HALVES.replace(". O . . X O", ". O O . X O", 1).replace(". . . . X O", ". . . O X O", 1))
    group = points(game, "B5 C5 D9")
    ownership = owned(game, group)
    ownership[4, 1:3] = -0.2  # a network that sees some of its chains alive
    assert dead_stones(game, ownership) == points(game, "D9")
    assert agreed_dead(game, ownership) == group


@pytest.mark.usefixtures("solver")
def test_stones_in_seki_cannot_be_captured() -> None:
    game = game_of(SEKI, "japanese", komi=0)
    stones = points(game, "A6 A5 A4")
    assert uncapturable_stones(game, stones) == stones
    for _ in range(3):  # during the game, after the first pass and after the last
        assert find_dead(game, lambda: owned(game, stones, 0.99)) == set()
        game.play(game.to_move, PASS)
    statuses = chain_statuses(game, set())
    assert {game.vertex(chain[0]) for chain in statuses["seki"]} == {"A7", "A6"}
    assert game.score().points == 4  # Black's four eyes on the right; nothing on the left


def test_a_count_does_not_wait_for_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = Mock()
    monkeypatch.setattr(ahead, "is_ready", lambda: False)
    monkeypatch.setattr(ahead, "begin", begun)
    monkeypatch.setattr(ahead, "prepare", lambda: pytest.fail("it waits"))
    monkeypatch.setattr(seki_reading, "Reading", lambda *_: pytest.fail("it compiles"))
    game = game_of(SEKI, "japanese", komi=0)
    stones = points(game, "A6 A5 A4")
    assert find_dead(game, lambda: owned(game, stones, 0.99)) == stones
    begun.assert_called_once()


@pytest.mark.usefixtures("solver")
def test_stones_that_can_be_captured_are_dead() -> None:
    with_an_eye = SEKI.replace("O X X X X . X", "O . O X X . X").replace("O X O X X X X", "O O O X X X X")
    game = game_of(with_an_eye, "japanese", komi=0)
    stones = points(game, "A6 A5 A4")
    assert uncapturable_stones(game, stones) == set()
    assert find_dead(game, lambda: owned(game, stones, 0.6)) == stones


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize(
    ("drawing", "name"),
    [
        ("X . O\n. O O\nO O .", "A3"),  # a stone in a corner
        (". X X X O\nX X X X O\nO O O O O\n. O . O .", "B4"),  # one eye
    ],
)
def test_chains_without_two_eyes_can_be_captured(drawing: str, name: str) -> None:
    game = game_of(drawing)
    assert uncapturable_stones(game, points(game, name)) == set()


@pytest.mark.usefixtures("solver")
def test_a_stone_that_has_just_taken_a_ko_is_read() -> None:
    game = game_of(
        """
        . X O . O
        X . X O O
        . X O O .
        . X X O O
        . . X O .
    """,
        to_move=WHITE,
    )
    game.play(WHITE, "B4")  # takes C4, whose point the ko forbids to Black
    assert game.to_move == BLACK and not game.is_legal("C4")
    assert uncapturable_stones(game, points(game, "B4")) == set()


def test_what_is_too_large_is_not_read() -> None:
    game = game_of(HALVES)
    assert uncapturable_stones(game, points(game, "B5")) == set()


def test_only_finished_games_are_judged_together() -> None:
    game = game_of(HALVES, "japanese", komi=6)
    ownership = owned(game, points(game, "B5"))
    ownership[4, 1] = -0.3
    assert find_dead(game, lambda: ownership) == set()
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    assert find_dead(game, lambda: ownership) == points(game, "B5")
    game.set_rules("tromp-taylor")
    assert find_dead(game, lambda: pytest.fail("nothing has to be known")) == set()


def test_dead_stones_of_both_players_are_found_during_the_game() -> None:
    game = game_of(PRISONERS)
    assert find_dead(game, lambda: seen_ownership(PRISONERS, game)) == points(game, "B1 B4 G3")
    settled = game_of(SETTLED)
    assert find_dead(settled, lambda: seen_ownership(SETTLED, settled)) == set()


def test_stones_that_live_when_their_owner_moves_are_not_dead() -> None:
    game = game_of(PRISONERS)
    dead, living = np.full((7, 7), -0.9), np.full((7, 7), 0.9)
    for black_first, white_first in ((living, dead), (dead, living)):
        owned = in_their_own_turn(game, black_first, white_first)
        assert (owned[game.stones() == BLACK] == 0.9).all() and (owned[game.stones() == WHITE] == -0.9).all()
        assert (owned[game.stones() == EMPTY] == 0).all()


def test_the_chains_by_their_status() -> None:
    game = game_of(PRISONERS)
    statuses = chain_statuses(game, points(game, "B1 B4 G3"))
    assert sorted(len(chain) for chain in statuses["dead"]) == [1, 1, 1]
    assert not statuses["seki"]
    assert sum(len(chain) for chain in statuses["alive"]) == int(np.count_nonzero(game.stones() != EMPTY)) - 3
