"""Games and sets of games for the tests of learning."""

import numpy as np

from gtp_engine.game.coords import BLACK, point_of_index
from gtp_engine.game.game import Game
from gtp_engine.game.rules import RULESETS
from gtp_engine.training.samples import SampleGame


def random_game(
    seed: int, width: int = 9, height: int | None = None, *, moves: int = 60, rules: str = "tromp-taylor"
) -> Game:
    """A game of random legal moves, with a pass here and there."""
    choice = np.random.default_rng(seed)
    game = Game(width, height, rules=RULESETS[rules], komi=float(choice.integers(-6, 8)))
    while len(game.moves) < moves:
        legal = np.flatnonzero(game.legal_moves())
        index = int(choice.choice(legal[:-1])) if len(legal) > 1 and choice.random() > 0.03 else game.area
        game.play(game.to_move, point_of_index(index, game.width, game.height))
    return game


def sample_game(game: Game, number: int = 0, **known: object) -> SampleGame:
    """What is to be learned of a game; black won by 5 unless said otherwise."""
    return SampleGame.from_game(game, number=number, **({"winner": BLACK, "margin": 5.0} | known))
