"""What is dead, alive or owned in the present position of a game."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .benson import find_pass_alive
from .coords import BLACK, EMPTY
from .game import Game
from .regions import Region, find_regions, points_of
from .scoring import NEUTRAL, count_owners, enclosed, find_seki, living_stones


def area_map(game: Game, dead: Iterable[int] = ()) -> NDArray[np.int8]:
    """Returns the owner of each point once the stones on the points in `dead` are taken off, as `Game.score` counts.

    A player owns the points of its stones and the empty regions that touch its stones alone, except for those that the
    rules do not count: in seki, or to be filled.

    Returns:
        int8 [height, width] of EMPTY (nobody), BLACK and WHITE.
    """
    stones = game.stones()
    return count_owners(stones, living_stones(stones, dead), game.rules)[0]


def dead_stones(game: Game, ownership: NDArray[np.floating]) -> set[int]:
    """Returns the points of the chains whose mean ownership is the opponent's.

    What is proven (pass-alive chains, and stones inside pass-alive territory) overrides the ownership.

    Args:
        game: The game; its present position is judged.
        ownership: float [height, width] from -1 (White) to 1 (Black).
    """
    proven = proven_owners(game)
    dead: set[int] = set()
    for chain in find_regions(game.stones()):
        if chain.colour == EMPTY:
            continue
        owner = proven[chain.cells[0]]
        mean = float(np.mean([ownership[cell] for cell in chain.cells]))
        opponents = -mean if chain.colour == BLACK else mean
        if owner == 3 - chain.colour or (owner == NEUTRAL and opponents > 0):
            dead.update(points_of(chain.cells, game.width))
    return dead


def proven_owners(game: Game) -> NDArray[np.int8]:
    """Returns who certainly owns each point, int8 [height, width] of EMPTY (not proven), BLACK and WHITE.

    They own pass-alive chains and the territory that these prove.
    """
    proven = np.zeros(game.area, np.int8)
    find_pass_alive(game.board[0], game.rules.suicide, proven)
    return proven.reshape(game.height, game.width)


def unproven_chains(game: Game) -> list[Region]:
    """Returns the chains, in reading order, whose fate pass-alive chains and their territory do not prove."""
    proven = proven_owners(game)
    chains = (region for region in find_regions(game.stones()) if region.colour != EMPTY)
    return [chain for chain in chains if proven[chain.cells[0]] == EMPTY]


def seki_stones(game: Game, dead: Iterable[int] = ()) -> set[int]:
    """Returns the points of the living stones in seki, once the stones on the points in `dead` are taken off."""
    stones = game.stones()
    living = living_stones(stones, dead)
    in_seki = find_seki(stones, living, enclosed(living))
    return set(points_of((cell for cell in in_seki if living[cell] != EMPTY), game.width))
