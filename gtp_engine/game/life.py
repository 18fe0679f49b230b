"""Pass-alive chains and territory: David Benson, "Life in the game of Go" (Information Sciences 10, 1976).

For one colour, a *region* is a connected set of points that hold no stone of that colour. Chains that keep two vital
regions each cannot be captured even if their owner always passes; what such chains enclose is theirs where the opponent
cannot live inside it.

The board is taken as rows of bits (column x is the bit 2^x, row y has index y + 1) and what is connected as *runs* of
neighbouring bits in a row: a 19x19 board has some dozens of them, and one operation serves all the points of a run.
"""

import numpy as np

from ..compiled import inline, njit
from .board import NO_TAX, Board, in_atari
from .coords import BLACK, EMPTY, MAX_SIZE, WHITE

ROWS = MAX_SIZE + 2  # an empty row above and below the board's
_MAX_RUNS = MAX_SIZE * (MAX_SIZE + 1) // 2  # at most every second point begins one; nor are there more parts
_RUNS = np.dtype(
    [
        ("bits", np.int32, (_MAX_RUNS,)),
        ("row", np.int16, (_MAX_RUNS,)),
        ("part", np.int16, (_MAX_RUNS,)),  # which connected set the run belongs to, counted from 0
        ("count", np.int32),
    ],
    align=True,
)
LIFE = np.dtype(
    [
        ("stones", np.int32, (3, ROWS)),  # by colour
        ("owned", np.int32, (3, ROWS)),  # by colour: the result
        ("mask", np.int32, (ROWS,)),
        ("near", np.int32, (ROWS,)),  # the points next to some of the mask's
        ("regions", _RUNS),
        ("chains", _RUNS),
        ("opposed", np.uint8, (_MAX_RUNS,)),  # this and the next three by region: an opponent's stone is inside
        ("room", np.uint8, (_MAX_RUNS,)),  # its points that touch no stone of the colour, counted to 2
        ("small", np.uint8, (_MAX_RUNS,)),  # all the points that count touch the colour: it may be vital
        ("safe", np.uint8, (_MAX_RUNS,)),  # it touches no chain but pass-alive ones
        ("alive", np.uint8, (_MAX_RUNS,)),  # by chain
        ("eyes", np.int16, (_MAX_RUNS,)),  # by chain: its vital regions
        ("shore", np.int32, (ROWS, _MAX_RUNS)),  # by row and chain: the points next to the chain
        ("vital", np.uint8, (_MAX_RUNS, _MAX_RUNS)),  # by region and chain
        ("doomed", np.int32, (ROWS,)),  # the points next to chains that are not alive
    ],
    align=True,
)
"""Memory for the functions here, a record of an array for each thread. Compiled code has to hold the array: the record
alone does not keep it."""


@njit
def _read_stones(board: Board, w: np.ndarray) -> None:
    """Writes the stones as rows of bits, and that nobody owns anything."""
    width, height = board["width"], board["height"]
    stones = board["stones"]
    for colour in range(3):
        for row in (0, height + 1):
            w["stones"][colour, row] = 0
        for row in range(height + 2):
            w["owned"][colour, row] = 0
    for row in range(1, height + 1):
        start = row * (width + 1) + 1
        black = white = 0
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
    """Cuts the bits of `mask` into runs and numbers their connected parts; the number of parts."""
    bits, part = runs["bits"], runs["part"]
    count = above = 0
    for row in range(1, height + 1):
        rest = np.int64(mask[row])
        first = count
        while rest:
            low = rest & -rest
            run = rest & ~(rest + low)
            rest ^= run
            bits[count] = run
            runs["row"][count] = row
            part[count] = count  # until all are known, a part is a tree of runs that point to earlier ones
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
    for index in range(count):
        if part[index] == index:
            part[index] = parts
            parts += 1
        else:
            part[index] = part[part[index]]
    return parts


@inline
def _root(part: np.ndarray, run: int) -> int:
    while part[run] != run:
        part[run] = part[part[run]]
        run = part[run]
    return run


@njit
def _find_near(mask: np.ndarray, height: int, near: np.ndarray) -> None:
    """Writes the bits that have a neighbour in `mask`; bits beyond the board among them."""
    for row in range(1, height + 1):
        near[row] = mask[row - 1] | mask[row + 1] | (mask[row] << 1) | (mask[row] >> 1)


@njit
def _find_shores(w: np.ndarray, own: np.ndarray, height: int) -> int:
    """Finds the chains and the points next to each; the number of chains."""
    chains = _connect(own, height, w["chains"])
    shore = w["shore"]
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
def _find_vital(w: np.ndarray, other: np.ndarray, suicide: bool, chains: int, regions: int) -> None:
    """Writes which regions are vital for which chains: those whose points all touch the chain.

    Where suicide is illegal the empty points are enough: the opponent cannot fill the last of them.
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
            for chain in range(chains):
                vital[region, chain] &= (needed & ~shore[row, chain]) == 0


@njit
def _find_alive(w: np.ndarray, chains: int, regions: int, height: int) -> bool:
    """Benson's algorithm: writes which chains are alive, and which regions touch no other chain.

    Where no chain is alive the result is False and the regions are not looked at.
    """
    alive, safe, eyes, doomed = w["alive"], w["safe"], w["eyes"], w["doomed"]
    for chain in range(chains):
        alive[chain] = True
    for region in range(regions):
        safe[region] = True
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
        for run in range(w["regions"]["count"]):
            if w["regions"]["bits"][run] & doomed[w["regions"]["row"][run]]:
                safe[w["regions"]["part"][run]] = False


@njit
def _describe_regions(board: Board, colour: int, suicide: bool, w: np.ndarray) -> tuple[int, int]:
    """Finds the regions of a colour and what is in them; their number, and that of those that may be vital."""
    height = board["height"]
    own, other = w["stones"][colour], w["stones"][3 - colour]
    full = _full_row(board)
    for row in range(1, height + 1):
        w["mask"][row] = full & ~own[row]
    regions = _connect(w["mask"], height, w["regions"])
    _find_near(own, height, w["near"])
    for region in range(regions):
        w["opposed"][region] = False
        w["room"][region] = 0
        w["small"][region] = True
    for run in range(w["regions"]["count"]):
        region, row, bits = w["regions"]["part"][run], w["regions"]["row"][run], w["regions"]["bits"][run]
        if bits & other[row]:
            w["opposed"][region] = True
        inside = bits & ~w["near"][row]
        if inside:
            # The opponent needs two points to live there.
            w["room"][region] = min(2, w["room"][region] + (1 if inside & (inside - 1) == 0 else 2))
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
def _mark(board: Board, colour: int, suicide: bool, proven_only: bool, w: np.ndarray) -> None:
    """Gives a colour its pass-alive chains and what they enclose, and other regions without an opponent's stone where
    nobody owns anything yet, unless `proven_only`.
    """
    own, owned, others = w["stones"][colour], w["owned"][colour], w["owned"][3 - colour]
    if not _has_stones(own, board["height"]):
        return  # without a stone nothing is enclosed
    regions, small = _describe_regions(board, colour, suicide, w)
    proving = False
    if small >= 2:  # else no chain can be alive
        chains = _find_shores(w, own, board["height"])
        _find_vital(w, w["stones"][3 - colour], suicide, chains, regions)
        proving = _find_alive(w, chains, regions, board["height"])
    if proving:
        for run in range(w["chains"]["count"]):
            if w["alive"][w["chains"]["part"][run]]:
                row = w["chains"]["row"][run]
                owned[row] |= w["chains"]["bits"][run]
                others[row] &= ~w["chains"]["bits"][run]
    for run in range(w["regions"]["count"]):
        region, row, bits = w["regions"]["part"][run], w["regions"]["row"][run], w["regions"]["bits"][run]
        if proving and w["safe"][region] and (not w["opposed"][region] or w["room"][region] <= 1):
            owned[row] |= bits
            others[row] &= ~bits
        elif not proven_only and not w["opposed"][region]:
            owned[row] |= bits & ~others[row]


@njit
def _drop_seki(board: Board, w: np.ndarray) -> None:
    """Takes the territory away from connected areas that touch a neutral point or hold an own stone in atari."""
    width, height = board["width"], board["height"]
    full = _full_row(board)
    neutral, atari = w["mask"], w["stones"][EMPTY]
    for row in range(1, height + 1):
        neutral[row] = full & ~(w["owned"][BLACK, row] | w["owned"][WHITE, row])
        atari[row] = 0
        for x in range(width):
            point = row * (width + 1) + 1 + x
            if board["stones"][point] != EMPTY and in_atari(board, board["chain"][point]):
                atari[row] |= 1 << x
    neutral[0] = neutral[height + 1] = 0
    _find_near(neutral, height, w["near"])
    for colour in (BLACK, WHITE):
        owned, stones = w["owned"][colour], w["stones"][colour]
        areas = _connect(owned, height, w["regions"])
        in_seki = w["opposed"]
        for area in range(areas):
            in_seki[area] = False
        for run in range(w["regions"]["count"]):
            row, bits = w["regions"]["row"][run], w["regions"]["bits"][run]
            if bits & (w["near"][row] | (atari[row] & stones[row])):
                in_seki[w["regions"]["part"][run]] = True
        for run in range(w["regions"]["count"]):
            if in_seki[w["regions"]["part"][run]]:
                row = w["regions"]["row"][run]
                owned[row] &= ~w["regions"]["bits"][run] | stones[row]


@njit
def read_area(board: Board, suicide: bool, w: np.ndarray) -> None:
    """Writes the area under the board's tax rule into w["owned"] (a LIFE record), rows of bits by colour.

    Without a tax: pass-alive territory with all in it, else stones and what one colour encloses. Under a tax: the same
    less the territory in seki. These are KataGo's areas (networks' input planes 18 and 19). suicide: whether the
    analysis counts on suicide of several stones being legal.
    """
    _read_stones(board, w)
    _mark(board, BLACK, suicide, False, w)
    _mark(board, WHITE, suicide, False, w)
    for row in range(1, board["height"] + 1):
        w["owned"][BLACK, row] |= w["stones"][BLACK, row] & ~w["owned"][WHITE, row]
        w["owned"][WHITE, row] |= w["stones"][WHITE, row] & ~w["owned"][BLACK, row]
    if board["tax"] != NO_TAX:
        _drop_seki(board, w)


@njit
def find_pass_alive(board: Board, suicide: bool, owner: np.ndarray) -> None:
    """Writes who owns each point for certain: pass-alive chains and the territory that they prove.

    suicide: as of `read_area`. owner: int8 [area] in move-index order, gets 0, 1 or 2.
    """
    _write_pass_alive(board, suicide, np.zeros(1, LIFE), owner)


@njit
def _write_pass_alive(board: Board, suicide: bool, memory: np.ndarray, owner: np.ndarray) -> None:
    """`find_pass_alive` in memory (LIFE [1]) that the caller holds: a record does not keep it from being freed."""
    w = memory[0]
    _read_stones(board, w)
    _mark(board, BLACK, suicide, True, w)
    _mark(board, WHITE, suicide, True, w)
    write_owner(board, w, owner)


@njit
def write_owner(board: Board, w: np.ndarray, owner: np.ndarray) -> None:
    """Writes the result in a LIFE record into owner: int8 [area] in move-index order, 0, 1 or 2."""
    width = board["width"]
    for y in range(board["height"]):
        for x in range(width):
            black, white = w["owned"][BLACK, y + 1] >> x & 1, w["owned"][WHITE, y + 1] >> x & 1
            owner[y * width + x] = BLACK if black else (WHITE if white else EMPTY)
