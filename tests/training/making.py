"""Games for the tests of training."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gtp_engine.go.coords import BLACK, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import GameRecord
from gtp_engine.training.data.samples import SampleGame
from gtp_engine.training.progress import Observer


class Kept(Observer):
    """Keeps what is reported."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.messages: list[str] = []

    def skipped(self, text: str) -> None:
        self.errors.append(text)

    def message(self, text: str) -> None:
        self.messages.append(text)


def random_game(
    seed: int, width: int = 9, height: int | None = None, *, moves: int = 60, rules: str = "tromp-taylor"
) -> Game:
    """Returns a game of random legal moves, with some passes."""
    choice = np.random.default_rng(seed)
    game = Game(width, height, rules=RULESETS[rules], komi=float(choice.integers(-6, 8)))
    while len(game.moves) < moves:
        legal = np.flatnonzero(game.legal_moves())
        index = int(choice.choice(legal[:-1])) if len(legal) > 1 and choice.random() > 0.03 else game.area
        game.play(game.to_move, point_of_index(index, game.width, game.height))
    return game


def sample_game(game: Game, number: int = 0, **known: object) -> SampleGame:
    """Returns a sample of a game; by default Black won by 5."""
    return SampleGame.from_game(game, number=number, **({"winner": BLACK, "margin": 5.0} | known))


def write_records(path: Path, seeds: Iterable[int]) -> None:
    """Writes a .sgfs file of random games on 5x5, one for each seed."""
    games = (random_game(seed, 5, moves=20) for seed in seeds)
    path.write_text(
        "".join(GameRecord.from_game(game, result="B+3").to_sgf().replace("\n", "") + "\n" for game in games)
    )
