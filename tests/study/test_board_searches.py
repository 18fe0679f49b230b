"""Many positions searched at once, as a Python program does it."""

import itertools
import threading

import pytest

from gtp_engine import EngineSettings, Game, search_games
from gtp_engine.base.errors import UserError
from gtp_engine.go.sgf import read_sgf

RECORD = read_sgf(b"(;SZ[5];B[cc];W[cb];B[bb];W[bc])")
FEW = EngineSettings("uniform", visits=20, seed=1, threads=1)


def test_the_reports_come_in_order_and_the_games_may_be_played_on() -> None:
    games = [*RECORD.positions(), Game(4, 6)]
    reports = list(search_games(games, FEW, ownership=True))
    assert [(report.width, report.height, report.to_move, report.visits) for report in reports] == [
        (game.width, game.height, game.to_move, 20) for game in games
    ]
    assert [len(game.moves) for game in games] == [0, 1, 2, 3, 4, 0]
    assert all(report.ownership is not None for report in reports)
    assert next(search_games(games, FEW)).ownership is None


def test_a_game_that_is_played_on_is_searched_as_it_was() -> None:
    game = Game(5)

    def played() -> object:
        for point in ("C3", "B2", "pass"):
            yield game
            game.play(game.to_move, point)

    assert [report.to_move for report in search_games(played(), FEW)] == [1, 2, 1]  # type: ignore[arg-type]


def test_games_may_have_no_end_and_a_caller_may_stop() -> None:
    reports = search_games((Game(5) for _ in itertools.count()), FEW)
    assert [report.visits for report in itertools.islice(reports, 3)] == [20] * 3
    reports.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("search")]


def test_no_games_have_no_reports() -> None:
    assert list(search_games([], FEW)) == []


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(UserError, match="invalid games <Game 5x5"):
        search_games(Game(5))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="invalid settings 100"):
        search_games([], 100)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="invalid game 'D4'"):
        list(search_games(["D4"], FEW))  # type: ignore[list-item]
    with pytest.raises(UserError, match="up to 19x19"):
        list(search_games([Game(21)], EngineSettings("b4c32-9x9", visits=2, strict=True, threads=1)))
