"""Pass-alive chains and territory: David Benson, "Life in the game of Go" (Information Sciences 10, 1976).

For one colour, a *region* is a connected set of points that hold no stone of that colour. Chains that keep two vital
regions each cannot be captured even if their owner always passes. What such chains enclose is their owner's territory
if the opponent cannot live inside it.

The board is read as rows of bits (column x is the bit 2^x, row y has index y + 1), so that one operation serves a row.
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit
from .board import MAX_POINTS, NO_TAX, Board, in_atari
from .coords import BLACK, EMPTY, MAX_SIZE, PASS, WHITE
from .points import point_at

ROWS = MAX_SIZE + 2  # an empty row above and below the board's
_MAX_PARTS = MAX_SIZE * (MAX_SIZE + 1) // 2  # at most every second point begins one
_PART = np.dtype(  # of a set of points, connected
    [
        ("rows", np.int32, (ROWS,)),
        ("top", np.int64),  # its first row and its last one
        ("bottom", np.int64),
        # Of a region:
        ("opposed", np.bool_),  # an opponent's stone is inside
        ("safe", np.bool_),  # it touches only pass-alive chains
        ("interior", np.int64),  # its points that touch no stone of the colour, counted to 2
        ("vital", np.int64, (4,)),  # the heads of the chains for which it is vital, and PASS
    ],
    align=True,
)
AREA_WORKSPACE = np.dtype(
    [
        ("stones", np.int32, (3, ROWS)),  # by colour
        ("area", np.int32, (3, ROWS)),  # by colour: the result
        ("mask", np.int32, (ROWS,)),
        ("near", np.int32, (ROWS,)),  # the points next to any point of a set
        ("living", np.int32, (ROWS,)),  # the stones of pass-alive chains
        ("parts", _PART, (_MAX_PARTS,)),
        ("eyes", np.int64, (MAX_POINTS,)),  # by the head of a chain: the number of its vital regions
    ],
    align=True,
)
"""Memory for the functions here: allocate an array of one record for each thread.

Compiled code has to hold the array, because a record alone does not keep its memory from being freed.
"""

AreaWorkspace: TypeAlias = Any
"""One record of an AREA_WORKSPACE array: like `Board`, a type that mypy cannot name."""


@njit
def _read_stones(board: Board, w: AreaWorkspace) -> None:
    """Writes the stones as rows of bits and empties the area."""
    width, height = board["width"], board["height"]
    stones = board["stones"]
    w["stones"][:] = 0
    w["area"][:] = 0
    for row in range(1, height + 1):
        start = point_at(0, row - 1, width)
        black = white = 0
        # No branches: stones lie as if by chance, so that half of the branches would be mispredicted.
        for x in range(width):
            black |= (stones[start + x] == BLACK) << x
            white |= (stones[start + x] == WHITE) << x
        w["stones"][BLACK, row] = black
        w["stones"][WHITE, row] = white


@inline
def _full_row(board: Board) -> int:
    return (1 << int(board["width"])) - 1


@inline
def _spread(rows: np.ndarray, mask: np.ndarray, row: int) -> bool:
    """Adds to a row of a set what is connected to the set in this row of a mask; returns whether that is anything."""
    before = found = np.int64(rows[row])
    wider = (before | rows[row - 1] | rows[row + 1] | before << 1 | before >> 1) & mask[row]
    while wider != found:
        found = wider
        wider = (found | found << 1 | found >> 1) & mask[row]
    rows[row] = found
    return found != before


@njit
def _take_part(mask: np.ndarray, height: int, top: int, part: np.ndarray) -> None:
    """Moves a connected part from a mask to `part`: that of the first point in `top`, the first row that has any."""
    rows = part["rows"]
    rows[:] = 0
    rows[top] = mask[top] & -mask[top]
    bottom, growing = top, True
    while growing:
        growing = False
        for row in range(top, height + 1):
            if _spread(rows, mask, row):
                bottom, growing = max(bottom, row), True
            elif row > bottom:
                break
        for row in range(bottom - 1, top - 1, -1):
            growing |= _spread(rows, mask, row)
    for row in range(top, bottom + 1):
        mask[row] ^= rows[row]
    part["top"], part["bottom"] = top, bottom


@njit
def _cut(mask: np.ndarray, height: int, parts: np.ndarray) -> int:
    """Cuts a mask, which is empty then, into its connected parts; returns their number."""
    count = 0
    for top in range(1, height + 1):
        while mask[top]:
            _take_part(mask, height, top, parts[count])
            count += 1
    return count


@njit
def _find_near(mask: np.ndarray, height: int, near: np.ndarray) -> None:
    """Writes the bits that have a neighbour in `mask`; bits beyond the board are among them."""
    for row in range(1, height + 1):
        near[row] = mask[row - 1] | mask[row + 1] | (mask[row] << 1) | (mask[row] >> 1)


@inline
def _chain_at(board: Board, point: int, colour: int) -> int:
    """Returns the head of the chain of a colour at a point; PASS if there is none."""
    return int(board["chain"][point]) if board["stones"][point] == colour else PASS


@njit
def _find_vital(board: Board, colour: int, suicide: bool, w: AreaWorkspace, region: np.ndarray) -> None:
    """Writes for which chains a region is vital: those that all of its points touch.

    If suicide is illegal, the empty points are enough: the opponent cannot fill the last of them.
    """
    stride, vital, is_first = board["width"] + 1, region["vital"], True
    vital[:] = PASS
    for row in range(region["top"], region["bottom"] + 1):
        needed = region["rows"][row] & (-1 if suicide else ~w["stones"][3 - colour, row])
        if needed & ~w["near"][row]:
            vital[:] = PASS
            return
        for x in range(board["width"]):
            if needed >> x & 1 == 0:
                continue
            point = point_at(x, row - 1, board["width"])
            up, left = _chain_at(board, point - stride, colour), _chain_at(board, point - 1, colour)
            right, down = _chain_at(board, point + 1, colour), _chain_at(board, point + stride, colour)
            if is_first:  # each chain counts once
                vital[0], vital[1] = up, left if left != up else PASS
                vital[2] = right if right not in (up, left) else PASS
                vital[3] = down if down not in (up, left, right) else PASS
                is_first = False
            for index in range(4):
                if vital[index] not in (up, left, right, down):
                    vital[index] = PASS


@njit
def _describe(board: Board, colour: int, suicide: bool, w: AreaWorkspace, region: np.ndarray) -> None:
    """Writes what is in a region of a colour, for which `near` has the points next to that colour's stones."""
    region["safe"], region["opposed"], region["interior"] = True, False, 0
    for row in range(region["top"], region["bottom"] + 1):
        bits = region["rows"][row]
        if bits & w["stones"][3 - colour, row]:
            region["opposed"] = True
        inside = bits & ~w["near"][row]
        if inside:
            # More than one is all that counts: the opponent needs two such points to live there. A number with a
            # single bit set has none in common with its predecessor.
            region["interior"] = min(2, region["interior"] + (1 if inside & (inside - 1) == 0 else 2))
    _find_vital(board, colour, suicide, w, region)


@njit
def _find_living(board: Board, colour: int, w: AreaWorkspace, regions: int) -> bool:
    """Runs Benson's algorithm: writes the stones of living chains, and which regions touch no other chain.

    Returns whether any chain lives; if not, `safe` is left unfinished.
    """
    height, parts, eyes, living = board["height"], w["parts"], w["eyes"], w["living"]
    before = 0
    # Benson's fixed point: drop chains with fewer than two vital regions, then the regions that such chains border,
    # until nothing changes.
    while True:
        for region in range(regions):
            for head in parts[region]["vital"]:
                eyes[head] = 0
        for region in range(regions):
            if parts[region]["safe"]:
                for head in parts[region]["vital"]:
                    eyes[head] += 1
        living[:] = 0
        stones = 0
        for region in range(regions):
            for head in parts[region]["vital"]:
                if head != PASS and eyes[head] >= 2:
                    eyes[head] = 0  # it is added once
                    stones += _add_chain(board, head, living)
        if stones in (0, before):
            return stones > 0
        before = stones
        for row in range(height + 2):
            w["mask"][row] = w["stones"][colour, row] & ~living[row]
        _find_near(w["mask"], height, w["near"])
        for region in range(regions):
            part = parts[region]
            for row in range(part["top"], part["bottom"] + 1):
                if part["rows"][row] & w["near"][row]:
                    part["safe"] = False


@njit
def _add_chain(board: Board, head: int, rows: np.ndarray) -> int:
    """Adds a chain to a set; returns the number of its stones."""
    stride = board["width"] + 1
    stone = head
    while True:
        rows[stone // stride] |= np.int64(1) << (stone % stride - 1)  # without the JIT a stone is an int16
        stone = board["next_stone"][stone]
        if stone == head:
            return int(board["chain_size"][head])


@njit
def _mark(board: Board, colour: int, suicide: bool, proven_only: bool, w: AreaWorkspace) -> None:
    """Adds to a colour's area its pass-alive chains and what they enclose.

    Unless `proven_only`, also adds regions without an opponent's stone, except for points of the opponent's area.
    """
    height, mask, living = board["height"], w["mask"], w["living"]
    own, area, other_area = w["stones"][colour], w["area"][colour], w["area"][3 - colour]
    if not own[: height + 1].any():
        return  # without a stone nothing is enclosed
    for row in range(1, height + 1):
        mask[row] = _full_row(board) & ~own[row]
    mask[0] = mask[height + 1] = 0
    regions = _cut(mask, height, w["parts"])
    _find_near(own, height, w["near"])
    for region in range(regions):
        _describe(board, colour, suicide, w, w["parts"][region])
    proving = _find_living(board, colour, w, regions)
    for row in range(1, height + 1):
        area[row] |= living[row]
        other_area[row] &= ~living[row]
    for region in range(regions):
        part = w["parts"][region]
        is_proven = proving and part["safe"] and (not part["opposed"] or part["interior"] <= 1)
        if is_proven or not (proven_only or part["opposed"]):
            for row in range(part["top"], part["bottom"] + 1):
                if is_proven:
                    other_area[row] &= ~part["rows"][row]
                area[row] |= part["rows"][row] & ~other_area[row]


@njit
def _drop_seki(board: Board, w: AreaWorkspace) -> None:
    """Takes the territory away from connected areas that touch a neutral point or hold an own stone in atari."""
    width, height = board["width"], board["height"]
    # Fields whose contents are no longer needed.
    neutral, atari = w["living"], w["stones"][EMPTY]
    for row in range(1, height + 1):
        neutral[row] = _full_row(board) & ~(w["area"][BLACK, row] | w["area"][WHITE, row])
        atari[row] = 0
        for x in range(width):
            point = point_at(x, row - 1, width)
            if board["stones"][point] != EMPTY and in_atari(board, board["chain"][point]):
                atari[row] |= 1 << x
    neutral[0] = neutral[height + 1] = 0
    _find_near(neutral, height, w["near"])
    for colour in (BLACK, WHITE):
        area, stones = w["area"][colour], w["stones"][colour]
        for row in range(height + 2):
            w["mask"][row] = area[row]
        for index in range(_cut(w["mask"], height, w["parts"])):
            part = w["parts"][index]
            in_seki = False
            for row in range(part["top"], part["bottom"] + 1):
                in_seki |= (part["rows"][row] & (w["near"][row] | (atari[row] & stones[row]))) != 0
            if in_seki:
                for row in range(part["top"], part["bottom"] + 1):
                    area[row] &= ~part["rows"][row] | stones[row]


@njit
def read_area(board: Board, suicide: bool, w: AreaWorkspace) -> None:
    """Computes each colour's area under the board's tax rule, as KataGo does for the networks' planes 18 and 19.

    Without a tax this is pass-alive territory with everything in it, and elsewhere stones and what one colour alone
    encloses. Under a tax it is the same without territory in seki.

    Args:
        suicide: Whether the analysis counts on suicide of several stones being legal.
        w: One record of an AREA_WORKSPACE array. Its field "area" gets the result, rows of bits by colour.
    """
    _read_stones(board, w)
    _mark(board, BLACK, suicide, False, w)
    _mark(board, WHITE, suicide, False, w)
    for row in range(1, board["height"] + 1):
        w["area"][BLACK, row] |= w["stones"][BLACK, row] & ~w["area"][WHITE, row]
        w["area"][WHITE, row] |= w["stones"][WHITE, row] & ~w["area"][BLACK, row]
    if board["tax"] != NO_TAX:
        _drop_seki(board, w)


@njit
def find_pass_alive(board: Board, suicide: bool, owner: np.ndarray) -> None:
    """Finds the certain owner of each point: pass-alive chains and the territory that they prove.

    Args:
        suicide: Whether the analysis counts on suicide of several stones being legal.
        owner: int8 [area] in move-index order, gets EMPTY, BLACK or WHITE.
    """
    # The array is this function's, and a call that gets it as an argument works in it: numba may free an array after
    # its last mention, and a record taken from it does not count as one.
    _write_pass_alive(board, suicide, np.zeros(1, AREA_WORKSPACE), owner)


@njit
def _write_pass_alive(board: Board, suicide: bool, memory: np.ndarray, owner: np.ndarray) -> None:
    """`find_pass_alive` in memory (AREA_WORKSPACE [1]) that the caller holds."""
    w = memory[0]
    _read_stones(board, w)
    _mark(board, BLACK, suicide, True, w)
    _mark(board, WHITE, suicide, True, w)
    write_owner(board, w, owner)


@njit
def write_owner(board: Board, w: AreaWorkspace, owner: np.ndarray) -> None:
    """Writes the area of a workspace into `owner`, int8 [area] in move-index order: EMPTY, BLACK or WHITE."""
    width = board["width"]
    for y in range(board["height"]):
        for x in range(width):
            black, white = w["area"][BLACK, y + 1] >> x & 1, w["area"][WHITE, y + 1] >> x & 1
            owner[y * width + x] = BLACK if black else (WHITE if white else EMPTY)
