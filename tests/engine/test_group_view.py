"""What is said of a group that is not solved: what the network thinks, and where it can run."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawn_positions import game_of

from gtp_engine.base.languages.texts import texts
from gtp_engine.engine.group_view import GroupView, group_view
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.request import SearchRequest
from gtp_engine.solver.part import find_way_out


def said(view: GroupView) -> list[str]:
    return [texts().say(phrase) for phrase in view.phrases]


@pytest.mark.parametrize(
    ("attacked", "defended", "sentence"),
    [
        (0.97, 0.99, "The network thinks: probably alive, 9 of 10."),  # nothing is proved
        (0.76, 0.9, "The network thinks: probably alive, 8 of 10."),
        (0.1, 0.2, "The network thinks: probably dead, 8 of 10."),
        (0.2, 0.8, "The network thinks: who moves first decides."),
        (0.5, 0.8, "The network is not sure about it."),
        (0.4, 0.6, "The network is not sure about it."),
    ],
)
def test_what_is_told_by_the_shares_of_groups_that_live(attacked: float, defended: float, sentence: str) -> None:
    assert said(GroupView(attacked, defended)) == [sentence]


def test_a_group_can_run_only_if_it_is_likely_to_live_then() -> None:
    assert said(GroupView(0.5, 0.8, "F6"))[1] == "It is not enclosed: it can run out at F6."
    assert len(said(GroupView(0.1, 0.2, "F6"))) == 1


def test_the_weakest_chain_counts_with_the_ownership_for_its_owner() -> None:
    game = Game(9)
    for vertex in ("C3", "G7", "C6", "G3"):
        game.play(game.to_move, vertex)

    def ownership(_: object, first: int) -> np.ndarray:
        owned = np.full((9, 9), -1.0 if first == WHITE else 1.0)
        owned[2, 6] = -1.0  # G7, which is White's whoever moves first
        return owned

    worker: Any = SimpleNamespace(ownership_moving_first=ownership)

    def view(*vertices: str) -> GroupView:
        return group_view(worker, SearchRequest(game), game.points(vertices))

    assert game.stone_at("C3") == BLACK
    lost, kept = view("C3")[:2]
    assert lost < 0.2 and kept > 0.8
    assert view("G7")[:2] == (kept, kept)
    assert view("G7", "G3")[:2] == (lost, kept)


# A stone of White's in the middle is in the open; that of Black in the corner is enclosed, and so is Black's territory.
OPEN = """
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . X . . . . . X . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . O . . . . .
    . . . . . . . . . . .
    . . X . . . . . . . .
    . O . O . . . . . . .
    O . . O . . . . X . .
    X . O . . . . . . . .
"""
WALL = """
    . . . . . X O . . . .
    . . . . . X O . . . .
    . . . . . X O . . . .
    . . . . . X O . . . .
    . . . . . X O . . . .
    . . . . . X O . . . .
    X X X X X X O . . . .
    O O O O O O O . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
    . . . . . . . . . . .
"""


def test_a_group_can_run_if_it_reaches_the_open_over_points_that_the_opponent_does_not_touch() -> None:
    game = game_of(OPEN)
    out = find_way_out(game, game.points(["F6"]))
    assert out is not None and game.vertex(out) in ("E6", "F5", "F7", "G6")
    assert find_way_out(game, game.points(["A1"])) is None
    territory = game_of(WALL)
    assert find_way_out(territory, territory.points(["F11"])) is None
    assert find_way_out(territory, territory.points(["G11"])) is None
