"""The rules on a part of a board of at most 128 points, as sets of bits.

The *cells* are the points on which both play. All else is fixed: stones outside are taken for safe, so that a chain
that touches one of its own colour cannot be captured. A set of cells is two uint64, a low and a high half; cell (x, y)
of the part is bit y * stride + x, and each row ends with a column that holds no cell, so that shifted sets do not run
into the next row.

One player, the *defender*, owns the target: stones that the *attacker* wants to capture.
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit

DEFENDER, ATTACKER = 0, 1
NO_KO = -1
CELLS = 128
_HALF = 64

LOCAL = np.dtype(
    [
        ("stride", np.int64),
        ("suicide", np.bool_),
        ("cells", np.uint64, (2,)),
        ("target", np.uint64, (2,)),
        ("fixed", np.uint64, (2, 2)),  # by colour: the cells next to stones of that colour outside
        ("open", np.uint64, (2,)),  # the cells next to empty points outside, which count as no liberties
    ],
    align=True,
)
"""What does not change while a problem is read: a record of this type."""

Local: TypeAlias = Any
Mask: TypeAlias = Any  # one half of a set of cells, uint64

_ONE, _ZERO = np.uint64(1), np.uint64(0)
_MOST_CHAINS = CELLS // 2
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # of splitmix64


@inline
def bit_of(cell: int) -> tuple[Mask, Mask]:
    """Returns the set of one cell."""
    if cell < _HALF:
        return _ONE << np.uint64(cell), _ZERO
    return _ZERO, _ONE << np.uint64(cell - _HALF)


@inline
def lowest(low: Mask, high: Mask) -> tuple[Mask, Mask]:
    """Returns the set of the first cell of a set that is not empty."""
    if low:
        return low & (~low + _ONE), _ZERO
    return _ZERO, high & (~high + _ONE)


@njit
def cell_of(low: Mask, high: Mask) -> int:
    """Returns the first cell of a set that is not empty."""
    rest, cell = (low, 0) if low else (high, _HALF)
    for width in (32, 16, 8, 4, 2, 1):
        if rest & ((_ONE << np.uint64(width)) - _ONE) == 0:
            rest >>= np.uint64(width)
            cell += width
    return cell


@inline
def _ones(half: Mask) -> int:
    """Returns the number of cells in one half of a set."""
    half -= (half >> _ONE) & np.uint64(0x5555555555555555)
    half = (half & np.uint64(0x3333333333333333)) + ((half >> np.uint64(2)) & np.uint64(0x3333333333333333))
    half = (half + (half >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((half * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inline
def count(low: Mask, high: Mask) -> int:
    """Returns the number of cells in a set."""
    return _ones(low) + _ones(high)


@inline
def near(low: Mask, high: Mask, stride: int) -> tuple[Mask, Mask]:
    """Returns the places next to the cells of a set; some of them may be no cells."""
    one, row = _ONE, np.uint64(stride)
    last, rest = np.uint64(_HALF - 1), np.uint64(_HALF - stride)
    found_low = (low << one) | (low >> one) | (high << last) | (low << row) | (low >> row) | (high << rest)
    found_high = (high << one) | (high >> one) | (low >> last) | (high << row) | (high >> row) | (low >> rest)
    return found_low, found_high


@njit
def flood(low: Mask, high: Mask, within_low: Mask, within_high: Mask, stride: int) -> tuple[Mask, Mask]:
    """Returns all cells of a set that are connected to some of its cells."""
    while True:
        grown_low, grown_high = near(low, high, stride)
        grown_low, grown_high = (grown_low & within_low) | low, (grown_high & within_high) | high
        if grown_low == low and grown_high == high:
            return low, high
        low, high = grown_low, grown_high


@inline
def add(cells: np.ndarray, low: Mask, high: Mask) -> None:
    """Adds cells to a set, uint64 [2]."""
    cells[0] |= low
    cells[1] |= high


@inline
def is_safe(local: Local, colour: int, low: Mask, high: Mask) -> bool:
    """Whether a chain touches a stone of its colour outside, which is taken for safe."""
    return (low & local["fixed"][colour, 0]) != 0 or (high & local["fixed"][colour, 1]) != 0


@inline
def liberties_of(local: Local, stones: np.ndarray, low: Mask, high: Mask) -> tuple[Mask, Mask]:
    """Returns the liberties of a chain in the part."""
    near_low, near_high = near(low, high, local["stride"])
    empty_low, empty_high = ~(stones[0] | stones[2]), ~(stones[1] | stones[3])
    return near_low & local["cells"][0] & empty_low, near_high & local["cells"][1] & empty_high


@njit
def play(local: Local, stones: np.ndarray, mover: int, cell: int, after: np.ndarray) -> int:
    """Plays on an empty cell, and returns the cell of a ko that this opens, NO_KO for none, or -2 if it is illegal.

    Args:
        stones: uint64 [4], the defender's stones, then the attacker's.
        mover: DEFENDER or ATTACKER.
        cell: An empty cell; that a ko forbids it, the caller knows.
        after: Gets the stones after the move.
    """
    stride = local["stride"]
    own, other = 2 * mover, 2 - 2 * mover
    bit_low, bit_high = bit_of(cell)
    own_low, own_high = stones[own] | bit_low, stones[own + 1] | bit_high
    other_low, other_high = stones[other], stones[other + 1]
    cells_low, cells_high = local["cells"][0], local["cells"][1]
    near_low, near_high = near(bit_low, bit_high, stride)
    rest_low, rest_high = near_low & other_low, near_high & other_high
    taken_low, taken_high = _ZERO, _ZERO
    empty_low, empty_high = cells_low & ~(own_low | other_low), cells_high & ~(own_high | other_high)
    while rest_low or rest_high:
        low, high = lowest(rest_low, rest_high)
        low, high = flood(low, high, other_low, other_high, stride)
        rest_low, rest_high = rest_low & ~low, rest_high & ~high
        if not is_safe(local, 1 - mover, low, high):
            around_low, around_high = near(low, high, stride)
            if (around_low & empty_low) == 0 and (around_high & empty_high) == 0:
                taken_low, taken_high = taken_low | low, taken_high | high
    other_low, other_high = other_low & ~taken_low, other_high & ~taken_high
    empty_low, empty_high = empty_low | taken_low, empty_high | taken_high
    low, high = flood(bit_low, bit_high, own_low, own_high, stride)
    around_low, around_high = near(low, high, stride)
    around_low, around_high = around_low & empty_low, around_high & empty_high
    stays = is_safe(local, mover, low, high)
    ko = NO_KO
    is_alone = low == bit_low and high == bit_high
    if not stays and around_low == 0 and around_high == 0:
        if not local["suicide"] or is_alone:
            return -2
        own_low, own_high = own_low & ~low, own_high & ~high
    elif not stays and is_alone and around_low == taken_low and around_high == taken_high:
        first_low, first_high = lowest(taken_low, taken_high)
        if first_low == taken_low and first_high == taken_high:
            ko = cell_of(taken_low, taken_high)
    after[own], after[own + 1], after[other], after[other + 1] = own_low, own_high, other_low, other_high
    return ko


@njit
def fewest_liberties(local: Local, stones: np.ndarray, most: int) -> int:
    """Returns the liberties of the chain of the target that has the fewest, at most `most`."""
    low, high = local["target"][0], local["target"][1]
    fewest = most
    while low or high:
        bit_low, bit_high = lowest(low, high)
        bit_low, bit_high = flood(bit_low, bit_high, stones[0], stones[1], local["stride"])
        low, high = low & ~bit_low, high & ~bit_high
        if not is_safe(local, DEFENDER, bit_low, bit_high):
            near_low, near_high = liberties_of(local, stones, bit_low, bit_high)
            fewest = min(fewest, count(near_low, near_high))
    return fewest


@njit
def needs_outside(local: Local, stones: np.ndarray, player: int) -> bool:
    """Whether a player has a chain whose only liberties lie outside."""
    own_low, own_high = stones[2 * player], stones[2 * player + 1]
    low, high = own_low & local["open"][0], own_high & local["open"][1]
    while low or high:
        bit_low, bit_high = lowest(low, high)
        bit_low, bit_high = flood(bit_low, bit_high, own_low, own_high, local["stride"])
        low, high = low & ~bit_low, high & ~bit_high
        near_low, near_high = liberties_of(local, stones, bit_low, bit_high)
        if near_low == 0 and near_high == 0 and not is_safe(local, player, bit_low, bit_high):
            return True
    return False


@njit
def is_captured(local: Local, stones: np.ndarray) -> bool:
    """Whether a stone of the target is gone."""
    target = local["target"]
    return (target[0] & ~stones[0]) != 0 or (target[1] & ~stones[1]) != 0


@njit
def is_pass_alive(local: Local, stones: np.ndarray) -> bool:
    """Whether the attacker cannot capture any stone of the target even if the defender always passes (Benson 1976).

    Chains that touch stones of their colour outside are alive, as these are taken for safe.
    """
    return write_life(local, stones, np.zeros(2, np.uint64))


@njit
def write_life(local: Local, stones: np.ndarray, zone: np.ndarray) -> bool:
    """Adds to a set of cells the living chains and the regions from which the target lives, if it is pass-alive."""
    stride, suicide = local["stride"], local["suicide"]
    cells_low, cells_high = local["cells"][0], local["cells"][1]
    # What is not the defender's and touches the outside is not enclosed.
    edge_low, edge_high = local["fixed"][ATTACKER, 0], local["fixed"][ATTACKER, 1]
    regions = np.empty((_MOST_CHAINS, 2), np.uint64)
    needed = np.empty((_MOST_CHAINS, 2), np.uint64)  # what has to be liberties of a chain for which a region is vital
    enclosed = 0
    rest_low, rest_high = cells_low & ~stones[0], cells_high & ~stones[1]
    all_low, all_high = rest_low, rest_high
    while rest_low or rest_high:
        low, high = lowest(rest_low, rest_high)
        low, high = flood(low, high, all_low, all_high, stride)
        rest_low, rest_high = rest_low & ~low, rest_high & ~high
        if (low & edge_low) == 0 and (high & edge_high) == 0:
            regions[enclosed, 0], regions[enclosed, 1] = low, high
            needed[enclosed, 0] = low if suicide else low & ~stones[2]
            needed[enclosed, 1] = high if suicide else high & ~stones[3]
            enclosed += 1
    alive_low, alive_high = stones[0], stones[1]
    target_low, target_high = local["target"][0], local["target"][1]
    while True:
        dropped = False
        rest_low, rest_high = alive_low, alive_high
        while rest_low or rest_high:
            low, high = lowest(rest_low, rest_high)
            low, high = flood(low, high, stones[0], stones[1], stride)
            rest_low, rest_high = rest_low & ~low, rest_high & ~high
            if is_safe(local, DEFENDER, low, high):
                continue
            near_low, near_high = near(low, high, stride)
            eyes = 0
            for region in range(enclosed):
                eyes += (needed[region, 0] & ~near_low) == 0 and (needed[region, 1] & ~near_high) == 0
            if eyes < 2:
                if (low & target_low) != 0 or (high & target_high) != 0:
                    return False
                dropped = True
                alive_low, alive_high = alive_low & ~low, alive_high & ~high
                # The regions that it borders are not enclosed by living chains.
                kept = 0
                for region in range(enclosed):
                    if (regions[region, 0] & near_low) == 0 and (regions[region, 1] & near_high) == 0:
                        regions[kept, 0], regions[kept, 1] = regions[region, 0], regions[region, 1]
                        needed[kept, 0], needed[kept, 1] = needed[region, 0], needed[region, 1]
                        kept += 1
                enclosed = kept
        if not dropped:
            break
    add(zone, alive_low, alive_high)
    for region in range(enclosed):
        add(zone, regions[region, 0], regions[region, 1])
    return True


@njit
def has_too_few_eyes(local: Local, stones: np.ndarray, zone: np.ndarray) -> bool:
    """Returns whether the target, which is on the board, never becomes pass-alive, whatever both play.

    The attacker's chains that touch its stones outside stay. An eye of the target lies where it can get to, beside no
    such chain, and on none of the target's stones. Two eyes are not next to each other.

    Args:
        local: The part.
        stones: uint64 [4], the defender's stones, then the attacker's.
        zone: uint64 [2], to which the cells are added on which this rests: the stones that stay, and the target's.
    """
    stride = local["stride"]
    edge_low, edge_high = local["fixed"][ATTACKER, 0], local["fixed"][ATTACKER, 1]
    stay_low, stay_high = flood(stones[2] & edge_low, stones[3] & edge_high, stones[2], stones[3], stride)
    free_low, free_high = local["cells"][0] & ~stay_low, local["cells"][1] & ~stay_high
    own_low, own_high = flood(local["target"][0], local["target"][1], stones[0], stones[1], stride)
    low, high = flood(own_low, own_high, free_low, free_high, stride)
    if is_safe(local, DEFENDER, low, high):
        return False
    near_low, near_high = near(stay_low, stay_high, stride)
    low, high = low & ~(near_low | edge_low | own_low), high & ~(near_high | edge_high | own_high)
    eyes = count(low, high)
    if eyes > 2:
        return False
    if eyes == 2:
        first_low, first_high = lowest(low, high)
        near_low, near_high = near(first_low, first_high, stride)
        if (near_low & low) == 0 and (near_high & high) == 0:
            return False
    add(zone, stay_low | own_low, stay_high | own_high)
    return True


@inline
def mixed(stones: np.ndarray, extra: int) -> Mask:
    """Returns a hash of stones and a small number."""
    value = np.uint64(extra) * _MULTIPLIER
    for index in range(4):
        value = (value ^ stones[index]) * _MULTIPLIER
        value ^= value >> np.uint64(29)
    return value
