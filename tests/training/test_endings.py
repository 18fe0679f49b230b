"""How games of self-play are counted, and random games."""

import numpy as np
import pytest
from drawn_positions import game_of

from gtp_engine.game.coords import BLACK, WHITE, point_of_index
from gtp_engine.game.game import Game
from gtp_engine.game.rules import RULESETS
from gtp_engine.training.data.random_games import random_games
from gtp_engine.training.data.samples import INDEX_BITS, WHITE_BIT
from gtp_engine.training.endings import score_game
from gtp_engine.training.settings import GameSettings

# Black's chain at the top has two eyes and owns the rest of its side; the white stone inside is certainly dead.
DEAD_STONE = """
    . X . X . o
    X X X X X X
    O O O O O O
    . O . O O O
    O O O O . O
"""


@pytest.mark.parametrize(("rules", "margin"), [("chinese", 12 - 18 - 1), ("tromp-taylor", 10 - 19 - 1)])
def test_stones_that_are_proven_dead_come_off_where_players_may_agree(rules: str, margin: float) -> None:
    ending = score_game(game_of(DEAD_STONE, rules, komi=1.0))
    assert (ending.margin, ending.winner) == (margin, WHITE)
    assert ending.ownership[:6].tolist() == ([1] * 6 if rules == "chinese" else [1, 1, 1, 1, 0, -1])
    assert ending.ownership[6:].tolist() == [1] * 6 + [-1] * 18


def test_an_empty_board_is_nobodys() -> None:
    ending = score_game(Game(5, rules=RULESETS["chinese"], komi=0.0))
    assert (ending.margin, ending.winner) == (0.0, 0)
    assert not ending.ownership.any()


def test_random_games_are_legal_and_counted_exactly() -> None:
    rules = ["tromp-taylor", "chinese", "aga-button", "stone-scoring"]
    settings = GameSettings(sizes={"7": 1.0, "9x6": 1.0}, rules=rules, wide_komi_share=0.5)
    games = list(random_games(settings, 60, seed=5))
    assert {(game.width, game.height) for game in games} == {(7, 7), (9, 6)}
    assert len({game.komi for game in games}) > 5
    for sample in games:
        game = Game(sample.width, sample.height, rules=sample.rules, komi=sample.komi)
        for packed in sample.moves:
            point = point_of_index(int(packed & INDEX_BITS), game.width, game.height)
            assert game.is_legal(point)
            assert (WHITE if packed & WHITE_BIT else BLACK) == game.to_move
            game.play(game.to_move, point)
        assert game.is_over
        ending = score_game(game)
        assert (ending.margin, ending.winner) == (sample.margin, sample.winner)
        assert sample.ownership is not None
        np.testing.assert_array_equal(ending.ownership, sample.ownership)


def test_a_seed_repeats_random_games() -> None:
    first, second = (list(random_games(GameSettings(), 3, seed)) for seed in (1, 1))
    assert all(np.array_equal(a.moves, b.moves) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[0].moves, first[1].moves)
