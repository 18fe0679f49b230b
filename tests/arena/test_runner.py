"""How long one side has been winning."""

from typing import cast
from unittest.mock import Mock

import pytest

from gtp_engine.arena.runner import EndRules, GameInProgress
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport


@pytest.mark.parametrize(
    ("views", "leader", "positions"),
    [
        ([(BLACK, 0.95), (WHITE, 0.02), (BLACK, 0.9)], BLACK, 3),  # both players' views count
        ([(BLACK, 0.95), (WHITE, 0.3), (BLACK, 0.95)], BLACK, 1),  # a doubt begins anew
        ([(BLACK, 0.95), (WHITE, 0.3)], BLACK, 0),
        ([(BLACK, 0.95), (WHITE, 0.05), (BLACK, 0.05)], WHITE, 1),  # another winner begins at one
    ],
)
def test_how_long_a_side_has_been_winning(views: list[tuple[int, float]], leader: int, positions: int) -> None:
    game = GameInProgress(Game(9))
    for to_move, winrate in views:
        report = cast(SearchReport, Mock(to_move=to_move, winrate=winrate))
        game.update(report, EndRules(3, winrate=0.9, positions=3))
    assert (game.leader, game.won_positions) == (leader, positions)
    assert game.decided_for == (leader if positions == 3 else EMPTY)
