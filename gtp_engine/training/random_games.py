"""Random games: what they teach of scores and ownership costs next to nothing.

Both sides play anywhere but into their own single-point eyes, and pass only where nothing is left: so the board is
settled at the end, and counting its area is exact. Of a ruleset's other parts they take what does not change the count.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..evaluate.playout import MOVE_CAP_PER_POINT, count_area, play_recorded
from ..game.coords import BLACK, WHITE
from ..game.game import Game, Move
from .endings import winner_of
from .samples import SampleGame, pack_moves
from .settings import GameSettings

SOURCE = "random"


def random_games(games: GameSettings, count: int, seed: int) -> Iterator[SampleGame]:
    """So many games, always the same ones for a seed. Their moves are no example: to be learned without a policy."""
    random = np.random.default_rng(seed)
    state = random.integers(0, 2**63, 1, np.uint64)
    for number in range(count):
        game = new_game(games, random)
        board, ownership = game.board.copy()[0], np.zeros(game.area, np.int32)
        points = np.zeros(MOVE_CAP_PER_POINT * game.area, np.int16)
        length = play_recorded(board, state, points)
        margin = count_area(board, ownership) - game.komi
        moves = [Move(BLACK if turn % 2 == 0 else WHITE, int(point)) for turn, point in enumerate(points[:length])]
        yield SampleGame(
            width=game.width,
            height=game.height,
            # Nobody looks for repetitions here, and counts a button or a tax.
            rules=replace(game.rules, ko="SIMPLE", tax="NONE", has_button=False),
            komi=game.komi,
            to_move=BLACK,
            setup=np.zeros(0, np.uint16),
            moves=pack_moves(moves, game.width, game.height),
            winner=winner_of(margin),
            margin=margin,
            ownership=ownership.astype(np.int8),
            number=number,
            source=SOURCE,
        )


def new_game(games: GameSettings, random: np.random.Generator) -> Game:
    """An empty board of a size, rules and komi that are drawn."""
    boards, weights = list(games.boards), np.array(list(games.boards.values()))
    width, height = boards[int(random.choice(len(boards), p=weights / weights.sum()))]
    rulesets = games.rulesets()
    rules = rulesets[int(random.integers(len(rulesets)))]
    spread = games.wide_komi_spread if random.random() < games.wide_komi_share else games.komi_spread
    komi = round(2 * random.normal(games.fair_komi(width, height), spread)) / 2
    return Game(width, height, rules=rules, komi=float(komi))
