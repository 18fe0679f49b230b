"""How long one side has been winning."""

from dataclasses import dataclass
from typing import cast

from gtp_engine.arena.runner import EndRules, GameInProgress
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport


@dataclass
class Seen:
    """What is looked at of a report."""

    to_move: int
    winrate: float


def seen(*views: tuple[int, float]) -> tuple[int, int]:
    game = GameInProgress(Game(9))
    for to_move, winrate in views:
        game.update(cast(SearchReport, Seen(to_move, winrate)), EndRules(3, winrate=0.9, positions=3))
    assert game.decided_for == (game.leader if game.won_positions >= 3 else EMPTY)
    return game.leader, game.won_positions


def test_both_players_views_count() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.02), (BLACK, 0.9)) == (BLACK, 3)


def test_a_doubt_begins_anew() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.3), (BLACK, 0.95)) == (BLACK, 1)
    assert seen((BLACK, 0.95), (WHITE, 0.3)) == (BLACK, 0)


def test_another_winner_begins_at_one() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.05), (BLACK, 0.05)) == (WHITE, 1)
