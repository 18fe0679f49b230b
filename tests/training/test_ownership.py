"""The ownership at the end of a record: known only if rollouts confirm the record's score."""

import numpy as np
import pytest
from making import sample_game

from gtp_engine.game.coords import BLACK, WHITE, point_at
from gtp_engine.game.game import Game
from gtp_engine.training.data.ownership import label_ownership
from gtp_engine.training.data.samples import pack


def two_walls(dead_stone: bool) -> Game:
    """Black has the four columns on the left, white the three on the right; a white stone may be dead on the left."""
    game = Game(7, komi=0.5)
    for y in range(7):
        game.play(BLACK, point_at(3, y, 7))
        game.play(WHITE, point_at(4, y, 7))
    if dead_stone:
        game.play(BLACK, point_at(1, 2, 7))
        game.play(WHITE, point_at(1, 4, 7))
    return game


EXPECTED = np.tile([1, 1, 1, 1, -1, -1, -1], 7)


@pytest.mark.parametrize("dead_stone", [False, True])
@pytest.mark.parametrize(("margin", "is_confirmed"), [(6.5, True), (4.5, True), (0.5, False), (float("nan"), False)])
def test_scores_that_rollouts_confirm(dead_stone: bool, margin: float, is_confirmed: bool) -> None:
    games = label_ownership(pack([sample_game(two_walls(dead_stone), margin=margin)]))
    games.check()
    assert games.games["ownership_unit"].tolist() == [is_confirmed]
    np.testing.assert_array_equal(games.ownership, EXPECTED if is_confirmed else [])


def test_what_is_known_stays() -> None:
    known = np.full(49, -1, np.int8)
    game = two_walls(False)
    samples = [sample_game(game, margin=0.0), sample_game(game, ownership=known), sample_game(game, margin=6.5)]
    games = label_ownership(pack(samples))
    games.check()
    assert games.games["ownership_unit"].tolist() == [0, 1, 1]
    np.testing.assert_array_equal(games.ownership, np.concatenate((known, EXPECTED)))
