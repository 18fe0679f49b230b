"""The result of a finished game of self-play: margin, winner and ownership, from the board alone.

A network that decided which stones are dead would learn its own mistakes. Under rules by which dead stones must be
captured, the count is Tromp and Taylor's. Under rules by which players agree on dead stones, only those count as
dead that are proven to be: stones inside the territory of chains that cannot be captured even if their owner always
passes (Benson 1976). The search counts its own two passes in the first way only, so that it captures what is not proven
dead before it passes.
"""

from dataclasses import dataclass

import numpy as np

from ..go.benson import find_pass_alive
from ..go.coords import BLACK, EMPTY, WHITE, point_of_index
from ..go.game import Game
from ..go.life import area_map


@dataclass(frozen=True)
class Ending:
    """The result of a finished game.

    Attributes:
        margin: Black's points minus White's, komi included.
        winner: BLACK, WHITE, or EMPTY for a draw.
        ownership: int8 [area] in move-index order: 1 for Black, -1 for White, 0 for neither.
    """

    margin: float
    winner: int
    ownership: np.ndarray


def score_game(game: Game) -> Ending:
    """Counts a game as it stands, under area scoring."""
    dead = set() if game.rules.stones_stand else proven_dead(game)
    score = game.score(dead)
    owner = area_map(game, dead).reshape(-1)
    ownership = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
    return Ending(score.points, score.winner, ownership)


def proven_dead(game: Game) -> set[int]:
    """Returns the points of the stones inside the opponent's proven territory."""
    owner = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, owner)
    stones = game.stones().reshape(-1)
    dead = np.flatnonzero((stones != EMPTY) & (owner != EMPTY) & (stones != owner))
    return {point_of_index(int(index), game.width, game.height) for index in dead}
