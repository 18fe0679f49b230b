"""Moves between the same stones as earlier ones, and a search that avoids them."""

import numpy as np
from searching import run, search_of

from gtp_engine.go.coords import index_of_point, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.search.repetition import repeated_moves
from gtp_engine.search.request import Limits


def played(*moves: str, width: int = 19, height: int = 19) -> Game:
    game = Game(width, height)
    for move in moves:
        game.play(game.to_move, move)
    return game


def repeated(game: Game) -> set[str]:
    moves = np.flatnonzero(repeated_moves(game))
    return {game.vertex(point_of_index(int(move), game.width, game.height)) for move in moves}


def test_the_same_move_between_the_same_stones_in_any_corner():
    assert repeated(Game(19)) == set()
    assert repeated(played("D4", "K10")) == {"Q4", "D16", "Q16"}
    assert repeated(played("D4", "Q17")) == {"Q4", "D16"}  # the white stone is near Q16
    assert repeated(played("D4", "Q17", "K10")) == {"R4", "Q3", "D17", "C16"}  # White repeats its own move


def test_colours_do_not_matter_but_who_has_moved_does():
    joseki = ("D4", "Q4", "F3", "O3")  # both have played their enclosures
    assert repeated(played(*joseki)) == {"D16", "Q16"}
    assert repeated(played(*joseki, "D16", "Q16")) >= {"F17"}


def test_a_board_that_is_not_square_has_fewer_symmetries():
    assert repeated(played("C3", "pass", width=9, height=13)) == {"C11", "G11"}  # the stone is near G3
    assert len(repeated(played("C4", "pass", width=13, height=13))) == 6


def test_a_ko_does_not_count():
    game = played("D4", "E4", "C5", "F5", "D6", "E6", "E5", "D5", "A1", "B1", width=9, height=9)
    assert game.is_legal("E5")
    assert not repeated_moves(game)[index_of_point(game.point("E5"), 9, 9)]


def test_a_search_avoids_what_was_played_before():
    game = played("C4", "pass", width=13, height=13)
    repeats = repeated_moves(game)

    def share(penalty: float) -> float:
        report = run(search_of(game, avoid_repeated_patterns=penalty), Limits(visits=600))
        assert penalty <= 0 or report.moves[0].vertex not in repeated(game)
        return sum(move.visits for move in report.moves if repeats[index_of_point(move.point, 13, 13)]) / report.visits

    rarely, usually, often = share(2.0), share(0.0), share(-1.0)
    assert rarely < 0.04 and rarely < usually < often
