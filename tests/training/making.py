"""Games for the tests of training."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from gtp_engine.go.coords import BLACK, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import GameRecord
from gtp_engine.training.data.samples import FULL_SHARE, GameSet, SampleGame, pack, rule_codes
from gtp_engine.training.progress import Observer
from gtp_engine.training.selfplay import FinishedGame


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


def finished_game(number: int) -> FinishedGame:
    """Returns a short game of self-play."""
    sample = sample_game(random_game(number, 5, moves=10), number)
    return FinishedGame(pack([sample]), f"(;SZ[5]GN[{number}])", is_decided=False, is_checked=False, is_upset=False)


def unpacked(games: GameSet) -> SampleGame:
    """Returns the only game of a set, which began on an empty board, with the targets of all positions."""
    (record,) = games.games
    ends = games.target_starts[1:]
    targets = [
        (games.target_moves[start:end], games.target_shares[start:end] / FULL_SHARE) if end > start else None
        for start, end in zip(games.target_starts, ends, strict=False)
    ]
    codes = {name: int(record[name]) for name in rule_codes(RULESETS["chinese"])}
    return SampleGame(
        **{name: record[name].item() for name in ("width", "height", "komi", "to_move", "winner", "margin", "number")},
        rules=next(rules for rules in RULESETS.values() if rule_codes(rules) == codes),
        setup=games.setup,
        moves=games.moves,
        ownership=games.ownership,
        weights=games.weights,
        policies=targets,
        values=games.values,
        surprises=games.surprises,
    )


def record_of(seed: int, size: int = 5, *, moves: int = 16) -> str:
    """Returns the record of a random game, in one line; odd ones are won by points."""
    record = GameRecord.from_game(random_game(seed, size, moves=moves), result="B+3" if seed % 2 else "W+R")
    return record.to_sgf().replace("\n", "")


def write_records(path: Path, seeds: Iterable[int]) -> None:
    """Writes a .sgfs file of random games on 5x5, one for each seed."""
    path.write_text("".join(f"{record_of(seed, moves=20)}\n" for seed in seeds))
