"""How a game of self-play ended: margin, winner and whose each point is, from the board alone.

What networks say of dead stones would teach them their own mistakes. Where the rules let dead stones stand, the count
is Tromp and Taylor's; where players may agree on them, stones are dead that are proven to be: inside the territory of
chains that cannot be taken even if their owner always passes (Benson 1976). The search counts its own two passes no
otherwise than the first way, so that it takes what is not proven off the board before it passes.
"""

from dataclasses import dataclass

import numpy as np

from ..game.coords import BLACK, EMPTY, WHITE, point_of_index
from ..game.game import Game
from ..game.life import find_pass_alive
from ..game.scoring import area_map, final_score
from .samples import DRAW


@dataclass(frozen=True)
class Ending:
    """margin: black's points, komi included. winner: BLACK, WHITE or DRAW.
    ownership: int8 [area], 1 black's, -1 white's, 0 nobody's."""

    margin: float
    winner: int
    ownership: np.ndarray


def ending_of(game: Game) -> Ending:
    """The count of a game as it stands, under area scoring."""
    dead = set() if game.rules.stones_stand else proven_dead(game)
    margin = final_score(game, dead)
    owner = area_map(game, dead).reshape(-1)
    ownership = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
    return Ending(margin, winner_of(margin), ownership)


def winner_of(margin: float) -> int:
    """BLACK, WHITE or DRAW."""
    return BLACK if margin > 0 else WHITE if margin < 0 else DRAW


def proven_dead(game: Game) -> set[int]:
    """The points of the stones that stand in the opponent's proven territory."""
    owner = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, owner)
    stones = game.stones().reshape(-1)
    lost = np.flatnonzero((stones != EMPTY) & (owner != EMPTY) & (stones != owner))
    return {point_of_index(int(index), game.width, game.height) for index in lost}
