"""Pass-alive chains and territory: David Benson, "Life in the game of Go" (Information Sciences 10, 1976).

For one colour, a *region* is a connected set of points that hold no stone of that colour. Chains that keep two vital
regions each cannot be captured even if their owner always passes; what such chains enclose is theirs where the opponent
cannot live inside it.
"""

import numpy as np

from ..compiled import inline, njit
from .board import MAX_AREA, MAX_POINTS, in_atari
from .coords import BLACK, EMPTY, WALL, WHITE

_MAX_REGIONS = MAX_AREA // 2 + 3  # at most every second point is a region; 0 stands for none, one more ends the last
_VITAL = 4  # a point touches no more chains


@njit
def _find_regions(board: np.ndarray, colour: int, region_of: np.ndarray, order: np.ndarray, starts: np.ndarray) -> int:
    """Numbers the regions of `colour` from 1; their number.

    region_of gets each point's region, 0 where `colour` has a stone; order the points region after region, those of
    region r from starts[r] to starts[r + 1].
    """
    stones = board["stones"]
    width, height = board["width"], board["height"]
    stride = width + 1
    region_of[: (height + 2) * stride + 1] = 0
    count = 0
    filled = 0
    for y in range(height):
        for first in range((y + 1) * stride + 1, (y + 2) * stride):
            if region_of[first] != 0 or stones[first] == colour:
                continue
            count += 1
            starts[count] = filled
            region_of[first] = count
            order[filled] = first
            read = filled
            filled += 1
            while read < filled:
                point = order[read]
                read += 1
                for near in (point - stride, point - 1, point + 1, point + stride):
                    if region_of[near] == 0 and stones[near] != colour and stones[near] != WALL:
                        region_of[near] = count
                        order[filled] = near
                        filled += 1
    starts[count + 1] = filled
    return count


@inline
def _touches(board: np.ndarray, point: int, head: int) -> bool:
    """Whether a point lies next to the chain with this head."""
    stride = board["width"] + 1
    colour = board["stones"][head]
    for near in (point - stride, point - 1, point + 1, point + stride):
        if board["stones"][near] == colour and board["chain"][near] == head:
            return True
    return False


@njit
def _chains_at(board: np.ndarray, point: int, colour: int, heads: np.ndarray) -> int:
    """Writes the heads of the chains of `colour` next to a point; their number, at most 4."""
    stride = board["width"] + 1
    count = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        if board["stones"][near] != colour:
            continue
        head = board["chain"][near]
        known = False
        for index in range(count):
            known = known or heads[index] == head
        if not known:
            heads[count] = head
            count += 1
    return count


@njit
def _vital_chains(board: np.ndarray, colour: int, suicide: bool, points: np.ndarray, heads: np.ndarray) -> int:
    """Writes the heads of the chains that the region of these points is vital for; their number.

    Those are the chains that all the points touch. Where suicide is illegal the empty points are enough: the opponent
    cannot fill the last of them.
    """
    count = -1
    for point in points:
        if not suicide and board["stones"][point] != EMPTY:
            continue
        if count < 0:
            count = _chains_at(board, point, colour, heads)
        kept = 0
        for index in range(count):
            if _touches(board, point, heads[index]):
                heads[kept] = heads[index]
                kept += 1
        count = kept
        if count == 0:
            return 0
    return max(count, 0)


@njit
def _drop_chain(board: np.ndarray, head: int, region_of: np.ndarray, usable: np.ndarray) -> None:
    """Makes the regions that touch a chain vital for nobody."""
    stride = board["width"] + 1
    stone = head
    while True:
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            usable[region_of[near]] = False
        stone = board["next_stone"][stone]
        if stone == head:
            return


@njit
def _find_alive(
    board: np.ndarray,
    colour: int,
    suicide: bool,
    region_of: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    count: int,
    usable: np.ndarray,
) -> np.ndarray:
    """Benson's algorithm: bool [MAX_POINTS], True at the heads of pass-alive chains.

    usable: bool [_MAX_REGIONS], all True; False at the end where a region touches a chain that is not pass-alive.
    """
    vital = np.empty((_MAX_REGIONS, _VITAL), np.int16)
    vital_count = np.empty(_MAX_REGIONS, np.int16)
    for region in range(1, count + 1):
        points = order[starts[region] : starts[region + 1]]
        vital_count[region] = _vital_chains(board, colour, suicide, points, vital[region])
    heads = np.empty(MAX_AREA, np.int16)
    alive = np.zeros(MAX_POINTS, np.bool_)
    stride = board["width"] + 1
    chains = 0
    for point in range(stride + 1, (board["height"] + 1) * stride):
        if board["stones"][point] == colour and board["chain"][point] == point:
            alive[point] = True
            heads[chains] = point
            chains += 1
    eyes = np.zeros(MAX_POINTS, np.int16)
    left = 0
    while chains != left:
        left = chains
        for head in heads[:chains]:
            eyes[head] = 0
        for region in range(1, count + 1):
            if usable[region]:
                for index in range(vital_count[region]):
                    eyes[vital[region, index]] += 1
        chains = 0
        for head in heads[:left]:
            if eyes[head] >= 2:
                heads[chains] = head
                chains += 1
            else:
                alive[head] = False
                _drop_chain(board, head, region_of, usable)
    return alive


@inline
def _has_stones(board: np.ndarray, points: np.ndarray) -> bool:
    for point in points:
        if board["stones"][point] != EMPTY:
            return True
    return False


@njit
def _room(board: np.ndarray, colour: int, points: np.ndarray) -> int:
    """The points that touch no stone of a colour, counted no further than 2: the opponent needs two to live there."""
    stride = board["width"] + 1
    stones = board["stones"]
    count = 0
    for point in points:
        if (
            stones[point - stride] != colour
            and stones[point - 1] != colour
            and stones[point + 1] != colour
            and stones[point + stride] != colour
        ):
            count += 1
            if count == 2:
                break
    return count


@njit
def _mark(board: np.ndarray, colour: int, suicide: bool, proven_only: bool, owner: np.ndarray) -> None:
    """Writes what belongs to one colour into owner (int8 [MAX_POINTS]): pass-alive chains and what they enclose, and
    other regions without an opponent's stone where nobody owns anything yet, unless `proven_only`.
    """
    stride = board["width"] + 1
    stones = board["stones"]
    region_of = np.empty(MAX_POINTS, np.int16)
    order = np.empty(MAX_AREA, np.int16)
    starts = np.empty(_MAX_REGIONS, np.int16)
    usable = np.ones(_MAX_REGIONS, np.bool_)
    count = _find_regions(board, colour, region_of, order, starts)
    if starts[count + 1] == board["width"] * board["height"]:
        return  # without a stone nothing is enclosed
    alive = _find_alive(board, colour, suicide, region_of, order, starts, count, usable)
    for region in range(1, count + 1):
        points = order[starts[region] : starts[region + 1]]
        proven = usable[region] and (not _has_stones(board, points) or _room(board, colour, points) <= 1)
        if not proven and (proven_only or _has_stones(board, points)):
            continue
        for point in points:
            if proven or owner[point] == EMPTY:
                owner[point] = colour
    for point in range(stride + 1, (board["height"] + 1) * stride):
        if stones[point] == colour and alive[board["chain"][point]]:
            owner[point] = colour


@njit
def _write(board: np.ndarray, by_point: np.ndarray, owner: np.ndarray) -> None:
    """Copies from points to move-index order."""
    width, height = board["width"], board["height"]
    for y in range(height):
        for x in range(width):
            owner[y * width + x] = by_point[(y + 1) * (width + 1) + x + 1]


@njit
def find_pass_alive(board: np.ndarray, suicide: bool, owner: np.ndarray) -> None:
    """Writes who owns each point for certain: pass-alive chains and the territory that they prove.

    suicide: whether the analysis counts on suicide of several stones being legal. owner: int8 [area] in move-index
    order, gets 0, 1 or 2.
    """
    by_point = np.zeros(MAX_POINTS, np.int8)
    _mark(board, BLACK, suicide, True, by_point)
    _mark(board, WHITE, suicide, True, by_point)
    _write(board, by_point, owner)


@njit
def find_area(board: np.ndarray, suicide: bool, owner: np.ndarray) -> None:
    """Writes each point's owner: pass-alive territory with all in it, else stones and what one colour encloses.

    Arguments as of `find_pass_alive`. This is KataGo's area without taxes (networks' input planes 18 and 19).
    """
    by_point = np.zeros(MAX_POINTS, np.int8)
    _mark(board, BLACK, suicide, False, by_point)
    _mark(board, WHITE, suicide, False, by_point)
    stride = board["width"] + 1
    for point in range(stride + 1, (board["height"] + 1) * stride):
        if by_point[point] == EMPTY and board["stones"][point] != WALL:
            by_point[point] = board["stones"][point]
    _write(board, by_point, owner)


@njit
def find_independent_area(board: np.ndarray, suicide: bool, owner: np.ndarray) -> None:
    """As `find_area`, less the territory in seki: KataGo's area under a tax (networks' input planes 18 and 19).

    A connected area is in seki where it touches a neutral point or holds an own stone in atari.
    """
    find_area(board, suicide, owner)
    width, height = board["width"], board["height"]
    by_point = np.full(MAX_POINTS, WALL, np.int8)
    for y in range(height):
        for x in range(width):
            by_point[(y + 1) * (width + 1) + x + 1] = owner[y * width + x]
    order = np.empty(MAX_AREA, np.int16)
    seen = np.zeros(MAX_POINTS, np.bool_)
    for y in range(height):
        for first in range((y + 1) * (width + 1) + 1, (y + 2) * (width + 1)):
            if by_point[first] == EMPTY or seen[first]:
                continue
            end, in_seki = _gather_area(board, by_point, first, order, seen)
            for point in order[:end]:
                if in_seki and board["stones"][point] != by_point[first]:
                    x, row = point % (width + 1) - 1, point // (width + 1) - 1
                    owner[row * width + x] = EMPTY


@njit
def _gather_area(
    board: np.ndarray, by_point: np.ndarray, first: int, order: np.ndarray, seen: np.ndarray
) -> tuple[int, bool]:
    """Writes the connected area of `first` into order; the number of its points, and whether it is in seki."""
    stride = board["width"] + 1
    colour = by_point[first]
    order[0] = first
    seen[first] = True
    read, end = 0, 1
    in_seki = False
    while read < end:
        point = order[read]
        read += 1
        if board["stones"][point] == colour and in_atari(board, board["chain"][point]):
            in_seki = True
        for near in (point - stride, point - 1, point + 1, point + stride):
            if by_point[near] == EMPTY and board["stones"][near] == EMPTY:
                in_seki = True
            elif by_point[near] == colour and not seen[near]:
                seen[near] = True
                order[end] = near
                end += 1
    return end, in_seki
