"""How long one side has been winning."""

from dataclasses import dataclass
from typing import cast

from gtp_engine.arena.runner import ResignTracker
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.search.report import SearchReport


@dataclass
class Seen:
    """What is looked at of a report."""

    to_move: int
    winrate: float


def seen(*views: tuple[int, float]) -> tuple[int, int]:
    tracker = ResignTracker()
    for to_move, winrate in views:
        tracker.update(cast(SearchReport, Seen(to_move, winrate)), 0.9)
    return tracker.leader, tracker.positions


def test_both_players_views_count() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.02), (BLACK, 0.9)) == (BLACK, 3)


def test_a_doubt_begins_anew() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.3), (BLACK, 0.95)) == (BLACK, 1)
    assert seen((BLACK, 0.95), (WHITE, 0.3)) == (BLACK, 0)


def test_another_winner_begins_at_one() -> None:
    assert seen((BLACK, 0.95), (WHITE, 0.05), (BLACK, 0.05)) == (WHITE, 1)
