"""Random games, compiled: what they teach of scores and ownership is free, some ten thousand games a second.

Both sides play anywhere but into their own single-point eyes, and pass only where nothing is left: so the board is
settled at the end, and counting it is exact.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..compiled import njit
from ..evaluate.playout import MOVE_CAP_PER_POINT, anywhere, count_area
from ..game.board import BOARD, Board, play
from ..game.coords import BLACK, PASS
from ..game.game import Game
from .endings import winner_of
from .samples import WHITE_BIT, SampleGame
from .settings import GameSettings, usual_komi

SOURCE = "random"


@njit
def _play_random_game(board: Board, state: np.ndarray, moves: np.ndarray, ownership: np.ndarray) -> tuple[int, int]:
    """Plays to two passes or until `moves` (uint16) is full, of packed moves; their number, and the area's margin.

    state: of `evaluate.playout.next_random`. ownership: int32 [area].
    """
    width = int(board["width"])
    area = width * int(board["height"])
    count = passes = 0
    while passes < 2 and count < len(moves):
        point = anywhere(board, state)
        passes = passes + 1 if point == PASS else 0
        index = area if point == PASS else (point // (width + 1) - 1) * width + point % (width + 1) - 1
        moves[count] = index if board["to_move"] == BLACK else index | WHITE_BIT
        play(board, point)
        count += 1
    ownership[:area] = 0
    return count, count_area(board, ownership)


def random_games(games: GameSettings, count: int, seed: int) -> Iterator[SampleGame]:
    """So many games, always the same ones for a seed. Their moves teach nothing: to be learned from without a policy."""
    random = np.random.default_rng(seed)
    state = random.integers(0, 2**63, 1, np.uint64)
    for number in range(count):
        game = new_game(games, random)
        board = game.board.copy()
        assert board.dtype == BOARD
        moves = np.zeros(MOVE_CAP_PER_POINT * game.area, np.uint16)
        ownership = np.zeros(game.area, np.int32)
        length, area = _play_random_game(board[0], state, moves, ownership)
        margin = area - game.komi
        yield SampleGame(
            width=game.width,
            height=game.height,
            rules=replace(game.rules, ko="SIMPLE"),  # nobody looks for repetitions here
            komi=game.komi,
            to_move=BLACK,
            setup=np.zeros(0, np.uint16),
            moves=moves[:length].copy(),
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
    komi = round(2 * random.normal(usual_komi(width, height), spread)) / 2
    return Game(width, height, rules=rules, komi=float(komi))
