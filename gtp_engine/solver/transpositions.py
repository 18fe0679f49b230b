"""The transposition table of the search: what is known of the positions that were read."""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit
from .local_board import mixed

LOST = 1 << 30  # of phi: the player to move does not succeed; of delta: it does
_PROBES = 8

ENTRY = np.dtype(
    [
        ("stones", np.uint64, (4,)),
        ("zone", np.uint64, (2,)),  # of a finite win: the cells on which it rests
        ("phi", np.uint32),
        ("delta", np.uint32),
        ("work", np.uint32),  # positions read below it
        ("series", np.uint32),  # the search that wrote it; others count as empty
        ("verified", np.uint32),  # the verification that has seen it
        ("depth", np.uint16),  # of a finite win: moves to its end if the loser resists longest
        ("ko", np.int16),
        ("mover", np.int8),
        ("on_line", np.bool_),
        ("is_finite", np.bool_),  # of a position whose value is known: whether it rests on no repetition
    ],
    align=True,
)
SEARCH = np.dtype(
    [
        ("seeker", np.int64),
        ("ko_master", np.int64),  # DEFENDER, ATTACKER, or -1 for nobody
        ("series", np.int64),
        ("verification", np.int64),
        ("nodes", np.int64),  # positions read so far
        ("most_nodes", np.int64),
    ],
    align=True,
)

Search: TypeAlias = Any
"""One record of SEARCH: what is sought, and how much was read."""
Entry: TypeAlias = Any


def new_table(megabytes: float) -> np.ndarray:
    """Returns a table for positions, ENTRY [n]: an empty one of a power of two that fits into these megabytes."""
    return np.zeros(1 << int(np.log2(max(1024, megabytes * 1e6 / ENTRY.itemsize))), ENTRY)


@inline
def _same(entry: Entry, stones: np.ndarray, ko: int, mover: int) -> bool:
    return (
        entry["stones"][0] == stones[0]
        and entry["stones"][1] == stones[1]
        and entry["stones"][2] == stones[2]
        and entry["stones"][3] == stones[3]
        and entry["ko"] == ko
        and entry["mover"] == mover
    )


@njit
def find_entry(table: np.ndarray, search: Search, stones: np.ndarray, ko: int, mover: int) -> int:
    """Returns the slot of a position in the table, -1 if it is not there."""
    mask = len(table) - 1
    start = int(mixed(stones, 2 * (ko + 1) + mover + 512 * search["series"]) >> np.uint64(1)) & mask
    for probe in range(_PROBES):
        slot = (start + probe) & mask
        if table[slot]["series"] == search["series"] and _same(table[slot], stones, ko, mover):
            return slot
    return -1


@njit
def find_or_add(table: np.ndarray, search: Search, stones: np.ndarray, ko: int, mover: int) -> int:
    """Returns the slot of a position; it takes the place of the one near it that cost the least."""
    slot = find_entry(table, search, stones, ko, mover)
    if slot >= 0:
        return slot
    mask = len(table) - 1
    start = int(mixed(stones, 2 * (ko + 1) + mover + 512 * search["series"]) >> np.uint64(1)) & mask
    chosen, least = -1, 1 << 40
    for probe in range(_PROBES):
        slot = (start + probe) & mask
        entry = table[slot]
        if entry["series"] != search["series"]:
            chosen = slot
            break
        if not entry["on_line"] and entry["work"] < least:
            chosen, least = slot, entry["work"]
    if chosen < 0:
        return -1  # all of them are on the line
    entry = table[chosen]
    for index in range(4):
        entry["stones"][index] = stones[index]
    entry["ko"], entry["mover"] = ko, mover
    entry["series"] = search["series"]
    entry["phi"] = entry["delta"] = 1
    entry["work"] = entry["verified"] = 0
    entry["on_line"] = entry["is_finite"] = False
    return chosen
