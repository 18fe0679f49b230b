"""Pass-alive chains and territory: David Benson, "Life in the game of Go" (Information Sciences 10, 1976).

For one colour, a *region* is a connected set of points that hold no stone of that colour. Chains that keep two vital
regions each cannot be captured even if their owner always passes. What such chains enclose is their owner's territory
if the opponent cannot live inside it.

The board is read as rows of bits (column x is the bit 2^x, row y has index y + 1), and connected sets are made of
*runs* of neighbouring bits in a row: a 19x19 board has some dozens of runs, and one operation serves all the points of
a run.
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit
from .board import NO_TAX, Board, in_atari
from .coords import BLACK, EMPTY, MAX_SIZE, WHITE
from .points import point_at

ROWS = MAX_SIZE + 2  # an empty row above and below the board's
_MAX_RUNS = MAX_SIZE * (MAX_SIZE + 1) // 2  # at most every second point begins one; nor are there more parts
_RUNS = np.dtype(
    [
        ("bits", np.int32, (_MAX_RUNS,)),
        ("row", np.int16, (_MAX_RUNS,)),
        ("part", np.int16, (_MAX_RUNS,)),  # the connected set that the run belongs to, counted from 0
        ("count", np.int32),
    ],
    align=True,
)
AREA_WORKSPACE = np.dtype(
    [
        ("stones", np.int32, (3, ROWS)),  # by colour
        ("area", np.int32, (3, ROWS)),  # by colour: the result
        ("mask", np.int32, (ROWS,)),
        ("near", np.int32, (ROWS,)),  # the points next to any point of the mask
        ("regions", _RUNS),
        ("chains", _RUNS),
        # By region:
        ("opposed", np.uint8, (_MAX_RUNS,)),  # an opponent's stone is inside
        ("interior", np.uint8, (_MAX_RUNS,)),  # its points that touch no stone of the colour, counted to 2
        ("small", np.uint8, (_MAX_RUNS,)),  # all of its relevant points touch the colour: it may be vital
        ("safe", np.uint8, (_MAX_RUNS,)),  # it touches only pass-alive chains
        # By chain:
        ("alive", np.uint8, (_MAX_RUNS,)),
        ("eyes", np.int16, (_MAX_RUNS,)),  # the number of its vital regions
        ("shore", np.int32, (ROWS, _MAX_RUNS)),  # by row and chain: the points next to the chain
        ("vital", np.uint8, (_MAX_RUNS, _MAX_RUNS)),  # by region and chain
        ("doomed", np.int32, (ROWS,)),  # the points next to chains that are not alive
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
    for colour in range(3):
        for row in (0, height + 1):
            w["stones"][colour, row] = 0
        for row in range(height + 2):
            w["area"][colour, row] = 0
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


@njit
def _connect(mask: np.ndarray, height: int, runs: np.ndarray) -> int:
    """Cuts the bits of `mask` into runs and numbers their connected parts; returns the number of parts.

    One pass from top to bottom with a union-find forest: runs of adjacent rows that overlap are united.
    """
    bits, part = runs["bits"], runs["part"]
    count = above = 0
    for row in range(1, height + 1):
        rest = np.int64(mask[row])
        first = count
        while rest:
            # Adding the lowest bit carries through the lowest run: the bits that become 0 are that run.
            low = rest & -rest
            run = rest & ~(rest + low)
            rest ^= run
            bits[count] = run
            runs["row"][count] = row
            part[count] = count  # until all are known, a part is a tree of runs that point to earlier ones
            # Runs of a row are in ascending order, so those above that end before this run are done with.
            while above < first and bits[above] < low:
                above += 1
            touching = above
            while touching < first and (bits[touching] & -bits[touching]) <= run:
                older, newer = _root(part, touching), _root(part, count)
                part[max(older, newer)] = min(older, newer)
                touching += 1
            count += 1
        above = first
    runs["count"] = count
    parts = 0
    # Roots are the earliest runs of their parts: when a run is reached, its parent already has the final number.
    for index in range(count):
        if part[index] == index:
            part[index] = parts
            parts += 1
        else:
            part[index] = part[part[index]]
    return parts


@inline
def _root(part: np.ndarray, run: int) -> int:
    """Returns the root of a run's tree, halving the path on the way."""
    while part[run] != run:
        part[run] = part[part[run]]
        run = part[run]
    return run


@njit
def _find_near(mask: np.ndarray, height: int, near: np.ndarray) -> None:
    """Writes the bits that have a neighbour in `mask`; bits beyond the board are among them."""
    for row in range(1, height + 1):
        near[row] = mask[row - 1] | mask[row + 1] | (mask[row] << 1) | (mask[row] >> 1)


@njit
def _find_shores(w: AreaWorkspace, own: np.ndarray, height: int) -> int:
    """Finds the chains and the points next to each; returns the number of chains."""
    chains = _connect(own, height, w["chains"])
    shore = w["shore"]
    # Only what this position uses is cleared: the whole matrix has some 9,000 cells.
    for row in range(height + 2):
        for chain in range(chains):
            shore[row, chain] = 0
    for run in range(w["chains"]["count"]):
        chain, row = w["chains"]["part"][run], w["chains"]["row"][run]
        bits = w["chains"]["bits"][run]
        shore[row - 1, chain] |= bits
        shore[row + 1, chain] |= bits
        shore[row, chain] |= (bits << 1) | (bits >> 1)
    return chains


@njit
def _find_vital(w: AreaWorkspace, other: np.ndarray, suicide: bool, chains: int, regions: int) -> None:
    """Writes which regions are vital for which chains: those with all points next to the chain.

    If suicide is illegal, the empty points are enough: the opponent cannot fill the last of them.
    """
    vital, shore = w["vital"], w["shore"]
    for region in range(regions):
        if w["small"][region]:
            for chain in range(chains):
                vital[region, chain] = True
    for run in range(w["regions"]["count"]):
        region, row = w["regions"]["part"][run], w["regions"]["row"][run]
        if w["small"][region]:
            needed = w["regions"]["bits"][run] & (-1 if suicide else ~other[row])
            # Chains are the inner index everywhere, so that LLVM makes vectors of these loops.
            for chain in range(chains):
                vital[region, chain] &= (needed & ~shore[row, chain]) == 0


@njit
def _find_alive(w: AreaWorkspace, chains: int, regions: int, height: int) -> bool:
    """Runs Benson's algorithm: writes which chains are alive, and which regions touch no other chain.

    Returns whether any chain is alive; if not, `safe` is left unfinished.
    """
    alive, safe, eyes, doomed = w["alive"], w["safe"], w["eyes"], w["doomed"]
    for chain in range(chains):
        alive[chain] = True
    for region in range(regions):
        safe[region] = True
    # Benson's fixed point: drop chains with fewer than two vital regions, then the regions that such chains border,
    # until nothing changes.
    while True:
        for chain in range(chains):
            eyes[chain] = 0
        for region in range(regions):
            if w["small"][region] and safe[region]:
                for chain in range(chains):
                    eyes[chain] += w["vital"][region, chain]
        before = after = 0
        for chain in range(chains):
            before += alive[chain]
            after += alive[chain] and eyes[chain] >= 2
        if after == 0 or after == before:
            return after > 0
        for row in range(height + 2):
            doomed[row] = 0
        for chain in range(chains):
            if alive[chain] and eyes[chain] < 2:
                alive[chain] = False
                for row in range(height + 2):
                    doomed[row] |= w["shore"][row, chain]
        # A region stays unsafe once it is, so that the shores of chains dropped earlier need not be kept.
        for run in range(w["regions"]["count"]):
            if w["regions"]["bits"][run] & doomed[w["regions"]["row"][run]]:
                safe[w["regions"]["part"][run]] = False


@njit
def _describe_regions(board: Board, colour: int, suicide: bool, w: AreaWorkspace) -> tuple[int, int]:
    """Finds the regions of a colour and what is in them; returns their number and that of the small ones."""
    height = board["height"]
    own, other = w["stones"][colour], w["stones"][3 - colour]
    full = _full_row(board)
    for row in range(1, height + 1):
        w["mask"][row] = full & ~own[row]
    regions = _connect(w["mask"], height, w["regions"])
    _find_near(own, height, w["near"])
    for region in range(regions):
        w["opposed"][region] = False
        w["interior"][region] = 0
        w["small"][region] = True
    for run in range(w["regions"]["count"]):
        region, row, bits = w["regions"]["part"][run], w["regions"]["row"][run], w["regions"]["bits"][run]
        if bits & other[row]:
            w["opposed"][region] = True
        inside = bits & ~w["near"][row]
        if inside:
            # More than one is all that counts: the opponent needs two such points to live there. A number with a
            # single bit set has none in common with its predecessor.
            w["interior"][region] = min(2, w["interior"][region] + (1 if inside & (inside - 1) == 0 else 2))
            if suicide or inside & ~other[row]:
                w["small"][region] = False
    small = 0
    for region in range(regions):
        small += w["small"][region]
    return regions, small


@inline
def _has_stones(rows: np.ndarray, height: int) -> bool:
    for row in range(1, height + 1):
        if rows[row]:
            return True
    return False


@njit
def _mark(board: Board, colour: int, suicide: bool, proven_only: bool, w: AreaWorkspace) -> None:
    """Adds to a colour's area its pass-alive chains and what they enclose.

    Unless `proven_only`, also adds regions without an opponent's stone, except for points of the opponent's area.
    """
    own, area, other_area = w["stones"][colour], w["area"][colour], w["area"][3 - colour]
    if not _has_stones(own, board["height"]):
        return  # without a stone nothing is enclosed
    regions, small = _describe_regions(board, colour, suicide, w)
    proving = False
    # Fewer than two regions that may be vital: no chain can be alive. Most positions of an opening end here.
    if small >= 2:
        chains = _find_shores(w, own, board["height"])
        _find_vital(w, w["stones"][3 - colour], suicide, chains, regions)
        proving = _find_alive(w, chains, regions, board["height"])
    if proving:
        for run in range(w["chains"]["count"]):
            if w["alive"][w["chains"]["part"][run]]:
                row = w["chains"]["row"][run]
                area[row] |= w["chains"]["bits"][run]
                other_area[row] &= ~w["chains"]["bits"][run]
    for run in range(w["regions"]["count"]):
        region, row, bits = w["regions"]["part"][run], w["regions"]["row"][run], w["regions"]["bits"][run]
        if proving and w["safe"][region] and (not w["opposed"][region] or w["interior"][region] <= 1):
            area[row] |= bits
            other_area[row] &= ~bits
        elif not proven_only and not w["opposed"][region]:
            area[row] |= bits & ~other_area[row]


@njit
def _drop_seki(board: Board, w: AreaWorkspace) -> None:
    """Takes the territory away from connected areas that touch a neutral point or hold an own stone in atari."""
    width, height = board["width"], board["height"]
    full = _full_row(board)
    # Fields whose contents are no longer needed: the mask, and the stones of EMPTY, which is not a colour.
    neutral, atari = w["mask"], w["stones"][EMPTY]
    for row in range(1, height + 1):
        neutral[row] = full & ~(w["area"][BLACK, row] | w["area"][WHITE, row])
        atari[row] = 0
        for x in range(width):
            point = point_at(x, row - 1, width)
            if board["stones"][point] != EMPTY and in_atari(board, board["chain"][point]):
                atari[row] |= 1 << x
    neutral[0] = neutral[height + 1] = 0
    _find_near(neutral, height, w["near"])
    for colour in (BLACK, WHITE):
        area, stones = w["area"][colour], w["stones"][colour]
        parts = _connect(area, height, w["regions"])
        in_seki = w["opposed"]  # by part; what it held is not read any more
        for part in range(parts):
            in_seki[part] = False
        for run in range(w["regions"]["count"]):
            row, bits = w["regions"]["row"][run], w["regions"]["bits"][run]
            if bits & (w["near"][row] | (atari[row] & stones[row])):
                in_seki[w["regions"]["part"][run]] = True
        for run in range(w["regions"]["count"]):
            if in_seki[w["regions"]["part"][run]]:
                row = w["regions"]["row"][run]
                area[row] &= ~w["regions"]["bits"][run] | stones[row]


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
