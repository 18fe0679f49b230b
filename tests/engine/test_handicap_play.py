"""The playout doubling advantage of games with a handicap: KataGo's rule, and that it reaches the search."""

from pathlib import Path

import pytest

from gtp_engine.engine.engine import Engine
from gtp_engine.engine.handicap_play import Doublings, black_lead, white_doublings
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.search.search import Search

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


def with_handicap(stones: int, size: int = 19, komi: float = 0.5, rules: str = "japanese") -> Game:
    game = Game(size, komi=komi, rules=rules)
    game.place_handicap(fixed_handicap_points(stones, size, size))
    return game


@pytest.mark.parametrize(
    ("game", "points"),
    [
        (Game(19, komi=7.5), -0.5),
        (Game(19, komi=0.5), 6.5),
        (with_handicap(2), 20.5),
        (with_handicap(9), 118.5),
        (with_handicap(9, rules="chinese"), 117.5),  # 15 points a stone, and White gets nine back
        (with_handicap(4, rules="aga"), 48.5),
    ],
)
def test_a_handicap_in_points(game: Game, points: float) -> None:
    assert black_lead(game) == points


def test_the_advantage_begins_with_the_most_that_the_handicap_allows() -> None:
    per_point = 0.045
    assert white_doublings(Game(19, komi=7.5), per_point, None) == 0
    assert white_doublings(with_handicap(2), per_point, None) == 0.75  # 0.045 * 16.5, in steps of an eighth
    assert white_doublings(with_handicap(9), per_point, None) == 2.75
    assert white_doublings(with_handicap(9), 0.0, None) == 0
    assert white_doublings(Game(19, komi=40.5), per_point, None) == -1.375  # Black is behind
    assert white_doublings(with_handicap(2, 9), per_point, None) == 2.5  # a stone is worth more on a small board
    assert white_doublings(with_handicap(2, 7), per_point, None) == 0


@pytest.mark.parametrize(
    ("winrate", "advantage"), [(0.01, 1.625), (0.049, 1.625), (0.1, 1.5), (0.25, 1.5), (0.3, 1.375), (0.99, 1.375)]
)
def test_the_advantage_follows_the_win_rate(winrate: float, advantage: float) -> None:
    assert white_doublings(with_handicap(4), 0.045, Doublings(1, 1.5, winrate)) == advantage
    black_behind = white_doublings(Game(19, komi=60.5), 0.045, Doublings(1, -1.5, 1 - winrate))
    assert black_behind == -advantage
    for edge, step in ((0.0, 0.9), (2.0, 0.01)):  # it stays between nothing and the most, here 2
        assert 0 <= white_doublings(with_handicap(4), 0.045, Doublings(1, edge, step)) <= 2


def test_white_expects_more_of_a_handicap_game_and_knows_it_while_black_thinks() -> None:
    settings = EngineSettings(TINY, threads=1, seed=1, visits=20, handicap_doubling=0.045, ponder=True)
    with Engine(settings, width=9) as engine:

        def search() -> Search:
            engine.stop()
            return engine._thread.submit(lambda worker: worker._search).result()

        engine.place_handicap(fixed_handicap_points(2, 9, 9))
        decision = engine.genmove().result()
        assert decision.white_doublings == -search()._doublings == 1.5
        engine.commit(decision)
        first = search()
        engine.ponder()
        white = -search()._doublings  # as White expects it at its next move
        engine.play("black", "A1")
        following = engine.genmove().result()
        assert following.white_doublings == white == pytest.approx(1.5, abs=0.125)
        assert search() is first
        engine.set_board_size(9)
        assert engine.genmove().result().white_doublings == 0


def test_a_fixed_advantage_is_the_engines_own_while_the_opponent_thinks() -> None:
    settings = EngineSettings(
        TINY, threads=1, seed=1, visits=20, ponder=True, parameters={"playout_doubling_advantage": 1.0}
    )
    with Engine(settings, width=9) as engine:
        engine.commit(engine.genmove().result())
        for think, black in ((engine.ponder, 1.0), (engine.analyze, -1.0)):  # an analysis is for White, who is to move
            think()
            engine.stop()
            assert engine._thread.submit(lambda worker: worker._search._doublings).result() == black
