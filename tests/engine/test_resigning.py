"""When a position is hopeless."""

import numpy as np

from gtp_engine.engine.resigning import is_hopeless
from gtp_engine.go.coords import BLACK, point_at
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport


def report(game: Game, winrate: float, lead: float) -> SearchReport:
    priors = np.zeros(game.area + 1, np.float32)
    return SearchReport(
        game.width, game.height, game.to_move, 99, 99, winrate, lead, lead, 9.0, 0.0, (), priors, None, 1
    )


def test_hopeless_means_far_behind_late_and_without_chances():
    game = Game(9)
    lost = report(game, winrate=0.01, lead=-20.0)
    assert not is_hopeless(game, lost, 0.05)
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 2 * (number // 9), 9))
    assert is_hopeless(game, lost, 0.05)
    assert not is_hopeless(game, lost, 0.001)
    assert not is_hopeless(game, report(game, winrate=0.01, lead=-1.0), 0.05)


def test_stones_that_are_set_up_count_as_moves():
    game = Game(9)
    points = [point_at(number % 9, 2 * (number // 9), 9) for number in range(21)]
    game.set_up(points[::2], points[1::2], BLACK)
    assert is_hopeless(game, report(game, winrate=0.01, lead=-20.0), 0.05)


def test_handicap_is_no_reason_to_resign_early():
    game = Game(9)
    game.place_handicap([point_at(2, 2, 9), point_at(6, 6, 9), point_at(2, 6, 9), point_at(6, 2, 9)])
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 4 * (number // 9), 9))
    assert not is_hopeless(game, report(game, winrate=0.01, lead=-20.0), 0.05)
