"""Zones of wins (Shih et al. 2021, "relevance zones"): the cells on which a win rests.

A finite win holds in every position that is the same on its zone, whatever lies on the other cells. So if a player
loses after a move off the zone of that loss, such as a pass, none of its other moves off this zone helps, unless it
changes the zone by a capture. A zone is a set of cells, uint64 [2].
"""

from typing import Any

import numpy as np

from ..base.jit import inline, njit
from .local_board import (
    DEFENDER,
    NO_KO,
    Local,
    add,
    bit_of,
    cell_of,
    flood,
    has_too_few_eyes,
    is_captured,
    is_safe,
    liberties_of,
    lowest,
    near,
    play,
    write_life,
)


@njit
def add_chain(local: Local, stones: np.ndarray, colour: int, cell_low: Any, cell_high: Any, zone: np.ndarray) -> None:
    """Adds the chain of a stone to a zone, with one liberty unless one is there: then no move off the zone takes it."""
    stride = local["stride"]
    low, high = flood(cell_low, cell_high, stones[2 * colour], stones[2 * colour + 1], stride)
    add(zone, low, high)
    if is_safe(local, colour, low, high):
        return
    around_low, around_high = liberties_of(local, stones, low, high)
    if (around_low | around_high) and not (around_low & zone[0]) and not (around_high & zone[1]):
        low, high = lowest(around_low, around_high)
        add(zone, low, high)


@inline
def _add_with_near(local: Local, low: Any, high: Any, zone: np.ndarray) -> None:
    """Adds cells and those next to them to a zone."""
    near_low, near_high = near(low, high, local["stride"])
    add(zone, low | (near_low & local["cells"][0]), high | (near_high & local["cells"][1]))


@njit
def add_chains_beside(
    local: Local, stones: np.ndarray, colour: int, cell_low: Any, cell_high: Any, zone: np.ndarray
) -> None:
    """Adds the chains of a colour next to a cell to a zone, as `add_chain` does."""
    low, high = near(cell_low, cell_high, local["stride"])
    low, high = low & stones[2 * colour], high & stones[2 * colour + 1]
    while low or high:
        one_low, one_high = lowest(low, high)
        add_chain(local, stones, colour, one_low, one_high, zone)
        low, high = low & ~one_low, high & ~one_high


@njit
def close_zone(local: Local, winner: int, stones: np.ndarray, zone: np.ndarray) -> None:
    """Enlarges the zone of a player's win until no move off it captures stones on it."""
    colours = 2 if local["suicide"] else 1  # the other player may take its own
    while True:
        before_low, before_high = zone[0], zone[1]
        for turn in range(colours):
            colour = winner if turn == 0 else 1 - winner
            low, high = stones[2 * colour] & zone[0], stones[2 * colour + 1] & zone[1]
            while low or high:
                bit_low, bit_high = lowest(low, high)
                add_chain(local, stones, colour, bit_low, bit_high, zone)
                bit_low, bit_high = flood(
                    bit_low, bit_high, stones[2 * colour], stones[2 * colour + 1], local["stride"]
                )
                low, high = low & ~bit_low, high & ~bit_high
        if zone[0] == before_low and zone[1] == before_high:
            return


@njit
def add_move(local: Local, stones: np.ndarray, mover: int, move: Any, zone: np.ndarray) -> None:
    """Adds to a zone what decides that a move is legal, and what it captures."""
    stride = local["stride"]
    bit_low, bit_high = bit_of(move["cell"])
    _add_with_near(local, bit_low, bit_high, zone)
    for colour in range(2):
        low, high = (
            stones[2 * colour] & ~move["stones"][2 * colour],
            stones[2 * colour + 1] & ~move["stones"][2 * colour + 1],
        )
        _add_with_near(local, low, high, zone)
    add_chains_beside(local, move["stones"], 1 - mover, bit_low, bit_high, zone)
    if (move["stones"][2 * mover] & bit_low) or (move["stones"][2 * mover + 1] & bit_high):
        add_chain(local, move["stones"], mover, bit_low, bit_high, zone)
    else:  # suicide: its chain and what surrounds it
        low, high = flood(bit_low, bit_high, stones[2 * mover] | bit_low, stones[2 * mover + 1] | bit_high, stride)
        _add_with_near(local, low, high, zone)


@njit
def add_illegal(local: Local, stones: np.ndarray, mover: int, zone: np.ndarray, scratch: np.ndarray) -> None:
    """Adds what makes moves of a player on a zone illegal: without it they might be legal."""
    low = zone[0] & local["cells"][0] & ~(stones[0] | stones[2])
    high = zone[1] & local["cells"][1] & ~(stones[1] | stones[3])
    while low or high:
        bit_low, bit_high = lowest(low, high)
        low, high = low & ~bit_low, high & ~bit_high
        if play(local, stones, mover, cell_of(bit_low, bit_high), scratch) < NO_KO:
            own_low, own_high = stones[2 * mover] | bit_low, stones[2 * mover + 1] | bit_high
            chain_low, chain_high = flood(bit_low, bit_high, own_low, own_high, local["stride"])
            _add_with_near(local, chain_low, chain_high, zone)
            # The other's chains beside it are not taken by the move as long as they keep a liberty.
            for index in range(4):  # a slice would compile its messages of wrong shapes, too
                scratch[index] = stones[index]
            scratch[2 * mover], scratch[2 * mover + 1] = own_low, own_high
            add_chains_beside(local, scratch, 1 - mover, bit_low, bit_high, zone)


@njit
def add_goal(local: Local, winner: int, move: Any, zone: np.ndarray) -> None:
    """Adds to a zone on what the goal rests that a move reaches, besides what it took."""
    if winner == DEFENDER:
        write_life(local, move["stones"], zone)
    elif not is_captured(local, move["stones"]):
        has_too_few_eyes(local, move["stones"], zone)
