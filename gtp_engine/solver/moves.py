"""The moves in a part of a board, what the rules alone tell of them, and how promising they look."""

from typing import Any

import numpy as np

from ..base.jit import njit
from .local_board import (
    ATTACKER,
    DEFENDER,
    NO_KO,
    Local,
    bit_of,
    cell_of,
    fewest_liberties,
    flood,
    has_too_few_eyes,
    is_captured,
    is_pass_alive,
    lowest,
    near,
    play,
)
from .transpositions import Search

PASS_CELL = -1
UNKNOWN, REACHED, FAILED = 0, 1, 2
_NEAR = 2  # steps from the chains of the target within which moves are not far

MOVE = np.dtype(
    [
        ("stones", np.uint64, (4,)),
        ("ko", np.int64),
        ("cell", np.int64),
        ("value", np.int64),  # UNKNOWN, REACHED or FAILED, if the rules decide
        ("is_far", np.bool_),  # from the target; a pass, too
        ("phi", np.int64),  # until the position after it was read
        ("delta", np.int64),
    ],
    align=True,
)


@njit
def _value_of(local: Local, search: Search, before: np.ndarray, stones: np.ndarray, moved: int) -> int:
    """Returns what the rules alone tell of a position after a move."""
    own = 2 * search["seeker"]
    lost_low, lost_high = before[own] & ~stones[own], before[own + 1] & ~stones[own + 1]
    if (lost_low & local["open"][0]) or (lost_high & local["open"][1]):
        return FAILED  # they may have liberties outside: what follows here would not be what follows on the board
    if is_captured(local, stones):
        return REACHED if search["seeker"] == ATTACKER else FAILED
    if moved == DEFENDER and is_pass_alive(local, stones):
        return REACHED if search["seeker"] == DEFENDER else FAILED
    if search["seeker"] == DEFENDER and has_too_few_eyes(local, stones, np.empty(2, np.uint64)):
        return FAILED
    return UNKNOWN


@njit
def _estimate(local: Local, search: Search, stones: np.ndarray, mover: int, move: Any) -> None:
    """Writes the first numbers of the position after a move."""
    liberties = fewest_liberties(local, move["stones"], 9)
    if search["seeker"] == ATTACKER:
        proof, disproof = liberties, max(1, 6 - liberties)
    else:
        proof, disproof = max(1, 6 - liberties), liberties
    bit_low, bit_high = bit_of(move["cell"])
    around_low, around_high = near(bit_low, bit_high, local["stride"])
    around_low |= around_low << np.uint64(1) | around_low >> np.uint64(1)
    around_high |= around_high << np.uint64(1) | around_high >> np.uint64(1)
    if not (around_low & stones[0]) and not (around_high & stones[1]):  # far from the defender's stones
        if mover == search["seeker"]:
            proof += 3
        else:
            disproof += 3
    if mover == search["seeker"]:
        move["phi"], move["delta"] = disproof, proof
    else:
        move["phi"], move["delta"] = proof, disproof


@njit
def write_moves(
    local: Local, search: Search, stones: np.ndarray, ko: int, mover: int, moves: np.ndarray, first: int
) -> int:
    """Writes all moves of a position and what they lead to; returns their number."""
    count = 0
    is_seeker = mover == search["seeker"]
    if not is_seeker or ko != NO_KO:
        move = moves[first]
        for index in range(4):
            move["stones"][index] = stones[index]
        move["ko"], move["cell"], move["value"] = NO_KO, PASS_CELL, UNKNOWN
        move["phi"], move["delta"] = 1, 9 if is_seeker else 1  # as the seeker's least promising moves
        move["is_far"] = True
        count = 1
    low = local["cells"][0] & ~(stones[0] | stones[2])
    high = local["cells"][1] & ~(stones[1] | stones[3])
    close_low, close_high = flood(local["target"][0], local["target"][1], stones[0], stones[1], local["stride"])
    for _ in range(_NEAR):
        around_low, around_high = near(close_low, close_high, local["stride"])
        close_low, close_high = close_low | around_low, close_high | around_high
    while low or high:
        bit_low, bit_high = lowest(low, high)
        low, high = low & ~bit_low, high & ~bit_high
        cell = cell_of(bit_low, bit_high)
        if cell == ko:
            continue
        move = moves[first + count]
        opened = play(local, stones, mover, cell, move["stones"])
        if opened < NO_KO:
            continue
        move["ko"] = NO_KO if search["ko_master"] == 1 - mover else opened
        move["cell"] = cell
        move["is_far"] = (bit_low & close_low) == 0 and (bit_high & close_high) == 0
        move["value"] = _value_of(local, search, stones, move["stones"], mover)
        if move["value"] == UNKNOWN:
            _estimate(local, search, stones, mover, move)
        count += 1
    return count
