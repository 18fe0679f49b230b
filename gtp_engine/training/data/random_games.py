"""Random games, from which a network learns scores and ownership at almost no cost.

Both sides play anywhere except into their own single-point eyes, and pass only if no such move is left. The final
position is therefore settled, and its area count is exact. The games keep only the rule settings that do not affect the
score.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...go.coords import BLACK, WHITE
from ...go.game import Game, Move
from ...go.scoring import Score
from ...search.evaluate.rollouts import MOVE_CAP_PER_POINT, count_area, play_recorded
from ..run_settings import GameSettings
from .samples import SampleGame, pack_moves


def random_games(games: GameSettings, count: int, seed: int) -> Iterator[SampleGame]:
    """Yields random games, the same ones for the same seed. Their moves are not policy targets."""
    random = np.random.default_rng(seed)
    state = random.integers(0, 2**63, 1, np.uint64)
    for number in range(count):
        game = new_game(games, random)
        board, ownership = game.board.copy()[0], np.zeros(game.area, np.int32)
        points = np.zeros(MOVE_CAP_PER_POINT * game.area, np.int16)
        length = play_recorded(board, state, points)
        margin = count_area(board, ownership) - game.komi
        moves = [Move(BLACK if turn % 2 == 0 else WHITE, int(point)) for turn, point in enumerate(points[:length])]
        yield SampleGame.from_game(
            game,
            # Repetitions are not checked, and neither a button nor a group tax is counted.
            rules=replace(game.rules, ko="SIMPLE", tax="NONE", has_button=False),
            moves=pack_moves(moves, game.width, game.height),
            winner=Score(margin).winner,
            margin=margin,
            ownership=ownership.astype(np.int8),
            number=number,
        )


def new_game(games: GameSettings, random: np.random.Generator) -> Game:
    """Returns a game on an empty board, with board size, rules and komi drawn at random."""
    boards, weights = list(games.boards), np.array(list(games.boards.values()))
    width, height = boards[int(random.choice(len(boards), p=weights / weights.sum()))]
    rulesets = games.rulesets()
    rules = rulesets[int(random.integers(len(rulesets)))]
    spread = games.wide_komi_spread if random.random() < games.wide_komi_share else games.komi_spread
    komi = games.fair_komi(width, height)
    if spread > 0:
        komi = round(2 * random.normal(komi, spread)) / 2
    game = Game(width, height, rules=rules, komi=float(komi))
    game.handicap = 0  # also if White passes at once, which would make a handicap of Black's first moves
    return game
