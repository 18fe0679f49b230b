"""Ladders: which chains can be caught by a sequence of ataris.

The reading follows KataGo's (networks' input planes 14 to 17), rule for rule:

* A chain with one liberty is read with the defender to move. One with two is caught if the attacker has a *working
  move* on one of them.
* Defender to move: with two liberties it has escaped, and also if the attacker's move left a simple ko. Otherwise it
  captures a neighbouring chain in atari or extends on its last liberty.
* Attacker to move: one liberty left is a capture, three are an escape. Otherwise it tries both liberties, unless
  extending on the other one would give the defender three. Two kos as the last liberties are a capture if the defender
  cannot win by filling one of them and has nothing in atari.
* Suicide is illegal throughout; a ko from before the reading is open to the defender.

A reading is a depth-first search with an explicit stack. The position is copied once into a workspace in which every
write is journalled, so that moves are taken back by writing the old values in reverse: a move costs a few dozen writes,
a copy of a board some thousand.
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit
from .board import MAX_AREA, MAX_POINTS, Board
from .coords import EMPTY, PASS, WALL
from .points import index_of_point

MAX_MOVES = 25_000  # moves played in one reading, then the chain counts as escaped
_MAX_DEPTH = 3 * MAX_AREA // 2 + 1  # moves in one line, then it counts as caught
_MAX_CANDIDATES = 4 * _MAX_DEPTH + MAX_AREA
_MAX_WRITES = 1 << 16
# One move writes fewer cells than this: each stone taken updates four neighbours, and chains are joined.
_WRITES_OF_A_MOVE = 8 * MAX_AREA

# The board counts a chain's pseudo-liberties, with the sum and the sum of squares of their points. Here the three are
# packed into one integer, so that one write changes them all: there are at most 1,248, their sum is below 2^20, and
# that of their squares below 2^30.
_SUM_SHIFT, _COUNT_SHIFT = 31, 52
_SQUARES_MASK, _SUM_MASK = (1 << 31) - 1, (1 << 21) - 1

# All that a move changes lies in one array of cells, so that the journal is a list of (cell, old value) and taking back
# needs no branch. Its parts are indexed by point and begin at these cells: stones by colour; then, as in the board, the
# head of each stone's chain, the next stone of the chain's circle, and at heads the size and the packed liberties.
_STONES, _CHAIN, _NEXT, _SIZE, _LIBERTIES = (part * MAX_POINTS for part in range(5))
_KO = 5 * MAX_POINTS  # one cell: the point that may not be retaken
_WRITE = np.dtype([("cell", np.int64), ("value", np.int64)])  # the value is what the cell held before
_LEVEL = np.dtype(
    [
        ("next", np.int64),  # index of the next candidate to try
        ("end", np.int64),  # end of this level's candidates, where the next level's begin
        ("writes", np.int64),  # length of the journal before this level's move
    ]
)
WORKSPACE = np.dtype(
    [
        ("cells", np.int64, (_KO + 1,)),
        ("journal", _WRITE, (_MAX_WRITES,)),
        ("writes", np.int64),  # length of the journal
        ("stride", np.int64),
        ("max_depth", np.int64),  # as `_MAX_DEPTH`, for the board's size
        ("levels", _LEVEL, (_MAX_DEPTH + 2,)),  # the stack of the search
        ("candidates", np.int64, (_MAX_CANDIDATES,)),  # moves to try, one level after the other
    ],
    align=True,
)

Workspace: TypeAlias = Any
"""One record of a WORKSPACE array: like `Board`, a type that mypy cannot name."""

_UNKNOWN, _CAUGHT, _ESCAPED = 0, 1, 2


def new_workspace() -> np.ndarray:
    """Returns memory for `find_ladders`, a WORKSPACE array of shape (1,); one for each thread."""
    return np.zeros(1, WORKSPACE)


@njit
def _load(board: Board, w: Workspace) -> None:
    """Copies the position into the cells and empties the journal."""
    # int64 throughout: one journal for all cells, and no conversions in the hot loops.
    cells = w["cells"]
    stride = board["width"] + 1
    w["stride"] = stride
    w["writes"] = 0
    w["max_depth"] = 3 * board["width"] * board["height"] // 2 + 1
    cells[_KO] = board["ko_point"]
    for point in range((board["height"] + 2) * stride + 1):
        cells[_STONES + point] = board["stones"][point]
        cells[_CHAIN + point] = board["chain"][point]
        cells[_NEXT + point] = board["next_stone"][point]
        cells[_SIZE + point] = board["chain_size"][point]
        count, total = np.int64(board["liberties"][point]), np.int64(board["liberty_sum"][point])
        cells[_LIBERTIES + point] = (count << _COUNT_SHIFT) + (total << _SUM_SHIFT) + board["liberty_squares"][point]


@inline
def _set(w: Workspace, cell: int, value: int) -> None:
    """Writes a cell and journals what it held."""
    entry = w["journal"][w["writes"]]
    entry["cell"] = cell
    entry["value"] = w["cells"][cell]
    w["writes"] += 1
    w["cells"][cell] = value


@njit
def _take_back(w: Workspace, writes: int) -> None:
    """Undoes all but the first `writes` writes."""
    cells, journal = w["cells"], w["journal"]
    # Backwards: a cell that was written twice ends with its oldest value.
    for index in range(w["writes"] - 1, writes - 1, -1):
        cells[journal[index]["cell"]] = journal[index]["value"]
    w["writes"] = writes


@inline
def _liberty(point: int) -> int:
    """Returns one liberty in the packed form."""
    return (1 << _COUNT_SHIFT) + (point << _SUM_SHIFT) + point * point


@inline
def _in_atari(w: Workspace, head: int) -> bool:
    # As `board.in_atari`: count * squares equals the sum's square only if all counted liberties are one point.
    packed = w["cells"][_LIBERTIES + head]
    total = (packed >> _SUM_SHIFT) & _SUM_MASK
    return (packed >> _COUNT_SHIFT) * (packed & _SQUARES_MASK) == total * total


@inline
def _last_liberty(w: Workspace, head: int) -> int:
    """Returns the liberty of a chain in atari."""
    packed = w["cells"][_LIBERTIES + head]
    return ((packed >> _SUM_SHIFT) & _SUM_MASK) // (packed >> _COUNT_SHIFT)


@inline
def _only_liberty_is(w: Workspace, head: int, point: int) -> bool:
    # A chain that counts one point n times holds n times its packed form: a comparison of single integers.
    packed = w["cells"][_LIBERTIES + head]
    return packed == (packed >> _COUNT_SHIFT) * _liberty(point)


@njit
def _count_empty_neighbours(w: Workspace, point: int) -> int:
    stride = w["stride"]
    count = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        count += w["cells"][_STONES + near] == EMPTY
    return count


@njit
def _two_liberties(w: Workspace, head: int) -> tuple[int, int, int]:
    """Returns the number of liberties, counted no further than 3, and the first two."""
    cells, stride = w["cells"], w["stride"]
    first = second = PASS
    stone = head
    while True:
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if cells[_STONES + near] != EMPTY or near in (first, second):
                continue
            if first == PASS:
                first = near
            elif second == PASS:
                second = near
            else:
                return 3, first, second
        stone = cells[_NEXT + stone]
        if stone == head:
            return int(first != PASS) + int(second != PASS), first, second


@njit
def _runs_free(w: Workspace, head: int, point: int, filled: int) -> bool:
    """Whether a chain that extends on `point` surely has three liberties then.

    This is seen without playing a move, and most ladders that fail do so here. `point` is the chain's last liberty
    once an opponent's stone is on `filled`, unless that is PASS.
    """
    cells, stride = w["cells"], w["stride"]
    colour = cells[_STONES + head]
    # Liberties of the new stone, and of other own chains that it would join. Captures are ignored, so that the answer
    # is "surely", not "whether".
    first = second = PASS
    for near in (point - stride, point - 1, point + 1, point + stride):
        if cells[_STONES + near] == EMPTY:
            if near in (filled, first, second):
                continue
            if second != PASS:
                return True
            first, second = near, first
        elif cells[_STONES + near] == colour and cells[_CHAIN + near] != head:
            stone = near
            while True:
                for liberty in (stone - stride, stone - 1, stone + 1, stone + stride):
                    if cells[_STONES + liberty] != EMPTY or liberty in (point, filled, first, second):
                        continue
                    if second != PASS:
                        return True
                    first, second = liberty, first
                stone = cells[_NEXT + stone]
                if stone == near:
                    break
    return False


@njit
def _is_suicide(w: Workspace, point: int, colour: int) -> bool:
    cells, stride = w["cells"], w["stride"]
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = cells[_STONES + near]
        if stone == EMPTY:
            return False
        if stone != WALL and (stone == colour) != _only_liberty_is(w, cells[_CHAIN + near], point):
            return False
    return True


@njit
def _join(w: Workspace, first: int, second: int) -> None:
    """Merges two chains under the larger one's head, so that fewer stones change theirs."""
    cells = w["cells"]
    if cells[_SIZE + first] < cells[_SIZE + second]:
        first, second = second, first
    stone = second
    while True:
        _set(w, _CHAIN + stone, first)
        stone = cells[_NEXT + stone]
        if stone == second:
            break
    _set(w, _SIZE + first, cells[_SIZE + first] + cells[_SIZE + second])
    _set(w, _LIBERTIES + first, cells[_LIBERTIES + first] + cells[_LIBERTIES + second])
    # The joined stones follow the head, so that a walk meets the newest liberties first.
    after = cells[_NEXT + first]
    _set(w, _NEXT + first, cells[_NEXT + second])
    _set(w, _NEXT + second, after)


@njit
def _remove(w: Workspace, head: int) -> None:
    """Takes a chain without liberties off the board."""
    cells, stride = w["cells"], w["stride"]
    stone = head
    while True:
        _set(w, _STONES + stone, EMPTY)
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if cells[_STONES + near] != EMPTY and cells[_STONES + near] != WALL:
                cell = _LIBERTIES + cells[_CHAIN + near]
                _set(w, cell, cells[cell] + _liberty(stone))
        stone = cells[_NEXT + stone]
        if stone == head:
            return


@njit
def _place(w: Workspace, point: int, colour: int) -> None:
    """Plays a stone on an empty point with its captures and the ko; a suicide stays without liberties."""
    cells, stride = w["cells"], w["stride"]
    _set(w, _STONES + point, colour)
    _set(w, _CHAIN + point, point)
    _set(w, _NEXT + point, point)
    _set(w, _SIZE + point, 1)
    # All sums are updated before any chain is joined or taken, as in `board`.
    liberties = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = cells[_STONES + near]
        if stone == EMPTY:
            liberties += _liberty(near)
        elif stone != WALL:
            cell = _LIBERTIES + cells[_CHAIN + near]
            _set(w, cell, cells[cell] - _liberty(point))
    _set(w, _LIBERTIES + point, liberties)
    taken = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = cells[_STONES + near]
        head = cells[_CHAIN + near]
        if stone == colour and head != cells[_CHAIN + point]:
            _join(w, cells[_CHAIN + point], head)
        elif stone == 3 - colour and cells[_LIBERTIES + head] == 0:
            taken += cells[_SIZE + head]
            _remove(w, head)
    head = cells[_CHAIN + point]
    is_ko = taken == 1 and cells[_SIZE + head] == 1 and cells[_LIBERTIES + head] >> _COUNT_SHIFT == 1
    ko_point = _last_liberty(w, head) if is_ko else PASS
    if cells[_KO] != ko_point:
        _set(w, _KO, ko_point)


@njit
def _would_take_ko(w: Workspace, point: int, attacker: int) -> bool:
    """Whether the attacker's stone on a liberty that has no empty neighbour takes just one stone, itself alone."""
    cells, stride = w["cells"], w["stride"]
    taken = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = cells[_STONES + near]
        if stone == WALL:
            continue
        if stone != 3 - attacker:
            return False
        head = cells[_CHAIN + near]
        if _in_atari(w, head):
            if taken or cells[_SIZE + head] != 1:
                return False
            taken = 1
    return taken == 1


@njit
def _liberties_after(w: Workspace, point: int, colour: int) -> int:
    """Returns the liberties, counted to 3, of the chain that a stone on this point would belong to."""
    writes = w["writes"]
    _place(w, point, colour)
    count = _two_liberties(w, w["cells"][_CHAIN + point])[0]
    _take_back(w, writes)
    return count


@njit
def _add_captures(w: Workspace, head: int, begin: int, end: int) -> int:
    """Adds to the candidates `begin` to `end` the last liberties of opposing chains next to a chain.

    Returns the new end of the candidates.
    """
    cells, candidates, stride = w["cells"], w["candidates"], w["stride"]
    attacker = 3 - cells[_STONES + head]
    stone = head
    seen = PASS
    while True:
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if cells[_STONES + near] != attacker:
                continue
            opposing = cells[_CHAIN + near]
            # Neighbouring stones mostly touch the same chain: this skips most of the work again.
            if opposing == seen or not _in_atari(w, opposing):
                continue
            seen = opposing
            liberty = _last_liberty(w, opposing)
            known = False
            for index in range(begin, end):
                known = known or candidates[index] == liberty
            if not known:
                candidates[end] = liberty
                end += 1
        stone = cells[_NEXT + stone]
        if stone == head:
            return end


@njit
def _defend(w: Workspace, head: int, depth: int) -> int:
    """Returns the verdict on a node with the defender to move, or writes its candidates."""
    if not _in_atari(w, head) or w["cells"][_KO] != PASS:
        return _ESCAPED
    liberty = _last_liberty(w, head)
    if _runs_free(w, head, liberty, PASS):
        return _ESCAPED
    level = w["levels"][depth]
    begin = level["next"]
    w["candidates"][begin] = liberty
    level["end"] = _add_captures(w, head, begin, begin + 1)
    return _UNKNOWN


@njit
def _attack(w: Workspace, head: int, depth: int) -> int:
    """Returns the verdict on a node with the attacker to move, or writes its candidates."""
    if _in_atari(w, head):
        return _CAUGHT
    count, first, second = _two_liberties(w, head)
    if count > 2:
        return _ESCAPED
    defender = w["cells"][_STONES + head]
    level = w["levels"][depth]
    begin = level["next"]
    first_open, second_open = _count_empty_neighbours(w, first), _count_empty_neighbours(w, second)
    # In the order of their cost: the last tests play moves.
    if (
        first_open == 0
        and second_open == 0
        and _would_take_ko(w, first, 3 - defender)
        and _would_take_ko(w, second, 3 - defender)
        and _liberties_after(w, first, defender) <= 2
        and _liberties_after(w, second, defender) <= 2
        and _add_captures(w, head, begin, begin) == begin
    ):
        return _CAUGHT  # two kos, and the defender can fill only one of them
    end = begin
    for move, other in ((first, second), (second, first)):
        if not _runs_free(w, head, other, move):
            w["candidates"][end] = move
            end += 1
    level["end"] = end
    return _UNKNOWN


@njit
def _is_caught(w: Workspace, stone: int) -> bool:
    """Whether the chain at `stone`, its owner to move, is caught. Leaves the position as it was.

    A loop over an explicit stack, because numba compiles recursion badly. Even depths are the defender's, odd ones the
    attacker's.
    """
    cells, levels = w["cells"], w["levels"]
    colour = cells[_STONES + stone]
    start = w["writes"]
    # A ko from before the reading is open to the defender.
    _set(w, _KO, PASS)
    moves = depth = 0
    levels[0]["next"] = 0
    entering = True
    verdict = _UNKNOWN
    while moves < MAX_MOVES and w["writes"] < _MAX_WRITES - _WRITES_OF_A_MOVE:
        level = levels[depth]
        if entering:
            # The head is looked up at each node: chains that are joined may change it.
            head = cells[_CHAIN + stone]
            if depth >= w["max_depth"] or level["next"] > _MAX_CANDIDATES - MAX_AREA:
                verdict = _CAUGHT
            elif depth % 2 == 0:
                verdict = _defend(w, head, depth)
            else:
                verdict = _attack(w, head, depth)
            entering = False
        mover = colour if depth % 2 == 0 else 3 - colour
        # Tries the node's next legal candidate; if there is none left, its mover has failed.
        while verdict == _UNKNOWN and not entering:
            if level["next"] == level["end"]:
                verdict = _CAUGHT if mover == colour else _ESCAPED
                break
            point = w["candidates"][level["next"]]
            level["next"] += 1
            if point != cells[_KO] and not _is_suicide(w, point, mover):
                level["writes"] = w["writes"]
                levels[depth + 1]["next"] = level["end"]
                _place(w, point, mover)
                moves += 1
                depth += 1
                entering = True
        if entering:
            continue
        if depth == 0:
            break
        # Back to the parent: the verdict is its own if it is what its mover wanted, else it tries its next candidate.
        depth -= 1
        _take_back(w, levels[depth]["writes"])
        wanted = _ESCAPED if depth % 2 == 0 else _CAUGHT
        if verdict != wanted:
            verdict = _UNKNOWN
    _take_back(w, start)
    return verdict == _CAUGHT and depth == 0


@njit
def _attack_works(w: Workspace, head: int, move: int, other: int) -> bool:
    """Whether the attacker catches a chain that has the liberties `move` and `other` by playing `move`."""
    attacker = 3 - w["cells"][_STONES + head]
    # Tests that play no move come first; most attacks end there.
    if move == w["cells"][_KO] or _runs_free(w, head, other, move) or _is_suicide(w, move, attacker):
        return False
    writes = w["writes"]
    _place(w, move, attacker)
    works = _is_caught(w, head)
    _take_back(w, writes)
    return works


@njit
def find_ladders(board: Board, workspace: np.ndarray, caught: np.ndarray, working: np.ndarray) -> None:
    """Reads every chain with one or two liberties.

    Args:
        workspace: Memory from `new_workspace`.
        caught: bool [area] in move-index order, written: the stones of caught chains, regardless of the player to move.
        working: bool [area] in move-index order, written: the liberties on which the player to move, playing now,
            catches a chain that has two.
    """
    w = workspace[0]
    _load(board, w)
    width, height = board["width"], board["height"]
    stride = width + 1
    caught[: width * height] = False
    working[: width * height] = False
    for y in range(height):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if board["stones"][point] == EMPTY or board["chain"][point] != point:
                continue
            # One or two stones count no liberty twice, larger chains none more than four times.
            if board["liberties"][point] > (2 if board["chain_size"][point] <= 2 else 8):
                continue
            count, first, second = _two_liberties(w, point)
            is_caught = False
            if count == 1:
                is_caught = _is_caught(w, point)
            elif count == 2:
                own = board["stones"][point] == board["to_move"]
                for move, other in ((first, second), (second, first)):
                    # For own chains one working move is enough; for the opponent's both are marked.
                    if not (own and is_caught) and _attack_works(w, point, move, other):
                        is_caught = True
                        if not own:
                            working[index_of_point(move, width, height)] = True
            if is_caught:
                _mark_chain(board, point, caught)


@njit
def _mark_chain(board: Board, head: int, marks: np.ndarray) -> None:
    width, height = board["width"], board["height"]
    stone = head
    while True:
        marks[index_of_point(stone, width, height)] = True
        stone = board["next_stone"][stone]
        if stone == head:
            return
