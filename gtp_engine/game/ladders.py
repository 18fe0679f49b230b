"""Ladders: which chains a capturing race of ataris catches.

The reading follows KataGo's (networks' input planes 14 to 17), rule for rule:

* A chain with one liberty is read with the defender to move. One with two is caught if the attacker has a *working
  move* on one of them.
* Defender to move: with two liberties it has escaped, and so it has where the attacker's move left a simple ko. Else it
  captures a neighbouring chain in atari or extends on its last liberty.
* Attacker to move: one liberty left is a capture, three are an escape; else it tries both liberties, unless extending
  on the other one would give the defender three. Two kos as the last liberties are a capture where the defender cannot
  win by filling one of them and has nothing in atari.
* Suicide is illegal throughout; a ko from before the reading is open to the defender.

A position is copied once into a workspace of numbers in which every write is recorded, so that moves are taken back by
writing the old values in reverse: a move costs a few dozen writes, a copy of a board some thousand.
"""

import numpy as np

from ..compiled import inline, njit
from .board import MAX_AREA, MAX_POINTS
from .coords import EMPTY, PASS, WALL

MAX_MOVES = 25_000  # played in one reading, then the chain counts as escaped
_DEPTH = 3 * MAX_AREA // 2 + 1  # moves in one line, then it counts as caught

# The board counts a chain's pseudo-liberties, with the sum and the sum of squares of their points. Here the three lie
# in one number, so that one write changes them all: at most 1,248 of them, their sum < 2^20, of squares < 2^30.
_SUM_SHIFT, _COUNT_SHIFT = 31, 52
_SQUARES_MASK, _SUM_MASK = (1 << 31) - 1, (1 << 21) - 1

# The workspace: one int64 array, its parts by offset. The first five are the board's, indexed by point.
_STONES = 0
_CHAIN = MAX_POINTS
_NEXT = 2 * MAX_POINTS
_SIZE = 3 * MAX_POINTS
_LIBERTIES = 4 * MAX_POINTS
_STRIDE = 5 * MAX_POINTS
_KO = _STRIDE + 1
_MAX_DEPTH = _KO + 1
_WRITES = _MAX_DEPTH + 1  # how many writes are recorded
_LEVELS = _WRITES + 1  # three numbers a level: its next candidate, their end, the writes before its move
_CANDIDATES = _LEVELS + 3 * (_DEPTH + 2)
_MAX_CANDIDATES = 4 * _DEPTH + MAX_AREA
_RECORD = _CANDIDATES + _MAX_CANDIDATES
_MAX_WRITES = 1 << 16
# One move writes fewer than this: each stone taken tells four neighbours, chains are joined.
_WRITES_A_MOVE = 8 * MAX_AREA
WORKSPACE_SIZE = _RECORD + 2 * _MAX_WRITES

_UNKNOWN, _CAUGHT, _ESCAPED = 0, 1, 2


def new_workspace() -> np.ndarray:
    """Memory for `find_ladders`; one for each thread."""
    return np.zeros(WORKSPACE_SIZE, np.int64)


@njit
def _load(board: np.ndarray, w: np.ndarray) -> None:
    stride = board["width"] + 1
    w[_STRIDE] = stride
    w[_KO] = board["ko_point"]
    w[_WRITES] = 0
    w[_MAX_DEPTH] = 3 * board["width"] * board["height"] // 2 + 1
    for point in range((board["height"] + 2) * stride + 1):
        w[_STONES + point] = board["stones"][point]
        w[_CHAIN + point] = board["chain"][point]
        w[_NEXT + point] = board["next_stone"][point]
        w[_SIZE + point] = board["chain_size"][point]
        count, total = np.int64(board["liberties"][point]), np.int64(board["liberty_sum"][point])
        w[_LIBERTIES + point] = (count << _COUNT_SHIFT) + (total << _SUM_SHIFT) + board["liberty_squares"][point]


@inline
def _set(w: np.ndarray, place: int, value: int) -> None:
    top = _RECORD + 2 * w[_WRITES]
    w[top] = place
    w[top + 1] = w[place]
    w[_WRITES] += 1
    w[place] = value


@njit
def _take_back(w: np.ndarray, writes: int) -> None:
    """Undoes all but the first `writes` writes."""
    top = _RECORD + 2 * w[_WRITES]
    bottom = _RECORD + 2 * writes
    while top > bottom:
        top -= 2
        w[w[top]] = w[top + 1]
    w[_WRITES] = writes


@inline
def _liberty(point: int) -> int:
    """One liberty in the packed form."""
    return (1 << _COUNT_SHIFT) + (point << _SUM_SHIFT) + point * point


@inline
def _in_atari(w: np.ndarray, head: int) -> bool:
    packed = w[_LIBERTIES + head]
    total = (packed >> _SUM_SHIFT) & _SUM_MASK
    return (packed >> _COUNT_SHIFT) * (packed & _SQUARES_MASK) == total * total


@inline
def _last_liberty(w: np.ndarray, head: int) -> int:
    """The liberty of a chain in atari."""
    packed = w[_LIBERTIES + head]
    return ((packed >> _SUM_SHIFT) & _SUM_MASK) // (packed >> _COUNT_SHIFT)


@inline
def _only_liberty_is(w: np.ndarray, head: int, point: int) -> bool:
    return w[_LIBERTIES + head] == (w[_LIBERTIES + head] >> _COUNT_SHIFT) * _liberty(point)


@njit
def _open_sides(w: np.ndarray, point: int) -> int:
    """Empty points next to a point."""
    stride = w[_STRIDE]
    count = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        count += w[_STONES + near] == EMPTY
    return count


@njit
def _two_liberties(w: np.ndarray, head: int) -> tuple[int, int, int]:
    """The number of liberties, counted no further than 3, and the first two."""
    stride = w[_STRIDE]
    first = second = PASS
    stone = head
    while True:
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if w[_STONES + near] != EMPTY or near in (first, second):
                continue
            if first == PASS:
                first = near
            elif second == PASS:
                second = near
            else:
                return 3, first, second
        stone = w[_NEXT + stone]
        if stone == head:
            return (first != PASS) + (second != PASS), first, second


@njit
def _runs_free(w: np.ndarray, head: int, point: int, filled: int) -> bool:
    """Whether a chain that extends on `point` has three liberties then for sure, were the opponent to stand on `filled`
    (PASS: nowhere) and `point` its last one. Seen without a move: most ladders that fail do so here.
    """
    stride = w[_STRIDE]
    colour = w[_STONES + head]
    first = second = PASS
    for near in (point - stride, point - 1, point + 1, point + stride):
        if w[_STONES + near] == EMPTY:
            if near in (filled, first, second):
                continue
            if second != PASS:
                return True
            first, second = near, first
        elif w[_STONES + near] == colour and w[_CHAIN + near] != head:
            stone = near
            while True:
                for liberty in (stone - stride, stone - 1, stone + 1, stone + stride):
                    if w[_STONES + liberty] != EMPTY or liberty in (point, filled, first, second):
                        continue
                    if second != PASS:
                        return True
                    first, second = liberty, first
                stone = w[_NEXT + stone]
                if stone == near:
                    break
    return False


@njit
def _is_suicide(w: np.ndarray, point: int, colour: int) -> bool:
    stride = w[_STRIDE]
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = w[_STONES + near]
        if stone == EMPTY:
            return False
        if stone != WALL and (stone == colour) != _only_liberty_is(w, w[_CHAIN + near], point):
            return False
    return True


@njit
def _join(w: np.ndarray, first: int, second: int) -> None:
    """Makes one chain of two, under the larger one's head."""
    if w[_SIZE + first] < w[_SIZE + second]:
        first, second = second, first
    stone = second
    while True:
        _set(w, _CHAIN + stone, first)
        stone = w[_NEXT + stone]
        if stone == second:
            break
    _set(w, _SIZE + first, w[_SIZE + first] + w[_SIZE + second])
    _set(w, _LIBERTIES + first, w[_LIBERTIES + first] + w[_LIBERTIES + second])
    # The joined stones follow the head, so that a walk meets the newest liberties first.
    after = w[_NEXT + first]
    _set(w, _NEXT + first, w[_NEXT + second])
    _set(w, _NEXT + second, after)


@njit
def _remove(w: np.ndarray, head: int) -> None:
    stride = w[_STRIDE]
    stone = head
    while True:
        _set(w, _STONES + stone, EMPTY)
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if w[_STONES + near] != EMPTY and w[_STONES + near] != WALL:
                place = _LIBERTIES + w[_CHAIN + near]
                _set(w, place, w[place] + _liberty(stone))
        stone = w[_NEXT + stone]
        if stone == head:
            return


@njit
def _place(w: np.ndarray, point: int, colour: int) -> None:
    """Puts a stone on an empty point and takes what it captures; a suicide stays without liberties."""
    stride = w[_STRIDE]
    _set(w, _STONES + point, colour)
    _set(w, _CHAIN + point, point)
    _set(w, _NEXT + point, point)
    _set(w, _SIZE + point, 1)
    liberties = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = w[_STONES + near]
        if stone == EMPTY:
            liberties += _liberty(near)
        elif stone != WALL:
            place = _LIBERTIES + w[_CHAIN + near]
            _set(w, place, w[place] - _liberty(point))
    _set(w, _LIBERTIES + point, liberties)
    taken = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = w[_STONES + near]
        head = w[_CHAIN + near]
        if stone == colour and head != w[_CHAIN + point]:
            _join(w, w[_CHAIN + point], head)
        elif stone == 3 - colour and w[_LIBERTIES + head] == 0:
            taken += w[_SIZE + head]
            _remove(w, head)
    head = w[_CHAIN + point]
    is_ko = taken == 1 and w[_SIZE + head] == 1 and w[_LIBERTIES + head] >> _COUNT_SHIFT == 1
    ko_point = _last_liberty(w, head) if is_ko else PASS
    if w[_KO] != ko_point:
        _set(w, _KO, ko_point)


@njit
def _would_take_ko(w: np.ndarray, point: int, attacker: int) -> bool:
    """Whether the attacker's stone on a liberty, with no empty point beside it, takes just one stone, alone."""
    stride = w[_STRIDE]
    taken = 0
    for near in (point - stride, point - 1, point + 1, point + stride):
        stone = w[_STONES + near]
        if stone == WALL:
            continue
        if stone != 3 - attacker:
            return False
        head = w[_CHAIN + near]
        if _in_atari(w, head):
            if taken or w[_SIZE + head] != 1:
                return False
            taken = 1
    return taken == 1


@njit
def _liberties_after(w: np.ndarray, point: int, colour: int) -> int:
    """The liberties, counted to 3, of the chain that a stone on this point would belong to."""
    writes = w[_WRITES]
    _place(w, point, colour)
    count = _two_liberties(w, w[_CHAIN + point])[0]
    _take_back(w, writes)
    return count


@njit
def _add_captures(w: np.ndarray, head: int, begin: int, end: int) -> int:
    """Adds to the candidates the last liberties of opposing chains next to a chain; the candidates' new end."""
    stride = w[_STRIDE]
    attacker = 3 - w[_STONES + head]
    stone = head
    seen = PASS
    while True:
        for near in (stone - stride, stone - 1, stone + 1, stone + stride):
            if w[_STONES + near] != attacker:
                continue
            opposing = w[_CHAIN + near]
            if opposing == seen or not _in_atari(w, opposing):
                continue
            seen = opposing
            liberty = _last_liberty(w, opposing)
            known = False
            for index in range(begin, end):
                known = known or w[_CANDIDATES + index] == liberty
            if not known:
                w[_CANDIDATES + end] = liberty
                end += 1
        stone = w[_NEXT + stone]
        if stone == head:
            return end


@njit
def _defend(w: np.ndarray, head: int, level: int) -> int:
    """The verdict on a node with the defender to move, or its candidates."""
    if not _in_atari(w, head) or w[_KO] != PASS:
        return _ESCAPED
    liberty = _last_liberty(w, head)
    if _runs_free(w, head, liberty, PASS):
        return _ESCAPED
    begin = w[level]
    w[_CANDIDATES + begin] = liberty
    w[level + 1] = _add_captures(w, head, begin, begin + 1)
    return _UNKNOWN


@njit
def _attack(w: np.ndarray, head: int, level: int) -> int:
    """The verdict on a node with the attacker to move, or its candidates."""
    if _in_atari(w, head):
        return _CAUGHT
    count, first, second = _two_liberties(w, head)
    if count > 2:
        return _ESCAPED
    defender = w[_STONES + head]
    begin = w[level]
    first_open, second_open = _open_sides(w, first), _open_sides(w, second)
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
            w[_CANDIDATES + end] = move
            end += 1
    w[level + 1] = end
    return _UNKNOWN


@njit
def _is_caught(w: np.ndarray, stone: int) -> bool:
    """Whether the chain at `stone`, its owner to move, is caught. The workspace is as before afterwards."""
    colour = w[_STONES + stone]
    start = w[_WRITES]
    _set(w, _KO, PASS)
    moves = depth = 0
    w[_LEVELS] = 0
    entering = True
    verdict = _UNKNOWN
    while moves < MAX_MOVES and w[_WRITES] < _MAX_WRITES - _WRITES_A_MOVE:
        level = _LEVELS + 3 * depth
        if entering:
            head = w[_CHAIN + stone]
            if depth >= w[_MAX_DEPTH] or w[level] > _MAX_CANDIDATES - MAX_AREA:
                verdict = _CAUGHT
            elif depth % 2 == 0:
                verdict = _defend(w, head, level)
            else:
                verdict = _attack(w, head, level)
            entering = False
        mover = colour if depth % 2 == 0 else 3 - colour
        while verdict == _UNKNOWN and not entering:
            if w[level] == w[level + 1]:
                verdict = _CAUGHT if mover == colour else _ESCAPED
                break
            point = w[_CANDIDATES + w[level]]
            w[level] += 1
            if point != w[_KO] and not _is_suicide(w, point, mover):
                w[level + 2] = w[_WRITES]
                w[level + 3] = w[level + 1]
                _place(w, point, mover)
                moves += 1
                depth += 1
                entering = True
        if entering:
            continue
        if depth == 0:
            break
        depth -= 1
        _take_back(w, w[_LEVELS + 3 * depth + 2])
        wanted = _ESCAPED if depth % 2 == 0 else _CAUGHT
        if verdict != wanted:
            verdict = _UNKNOWN
    _take_back(w, start)
    return verdict == _CAUGHT and depth == 0


@njit
def _attack_works(w: np.ndarray, head: int, move: int, other: int) -> bool:
    """Whether the attacker catches a chain with these two liberties by this move."""
    attacker = 3 - w[_STONES + head]
    if move == w[_KO] or _runs_free(w, head, other, move) or _is_suicide(w, move, attacker):
        return False
    writes = w[_WRITES]
    _place(w, move, attacker)
    works = _is_caught(w, head)
    _take_back(w, writes)
    return works


@njit
def find_ladders(board: np.ndarray, w: np.ndarray, caught: np.ndarray, working: np.ndarray) -> None:
    """Reads every chain with one or two liberties.

    w: from `new_workspace`. caught: bool [area] in move-index order, gets the stones of chains that are caught, whoever
    is to move. working: the same for the liberties where the player to move, playing now, catches a chain that has two.
    """
    _load(board, w)
    width, height = board["width"], board["height"]
    stride = width + 1
    caught[: width * height] = False
    working[: width * height] = False
    for y in range(height):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if board["stones"][point] == EMPTY or board["chain"][point] != point:
                continue
            # Up to two stones count no liberty twice, more stones none more than four times.
            if board["liberties"][point] > (2 if board["chain_size"][point] <= 2 else 8):
                continue
            count, first, second = _two_liberties(w, point)
            is_caught = False
            if count == 1:
                is_caught = _is_caught(w, point)
            elif count == 2:
                own = board["stones"][point] == board["to_move"]
                for move, other in ((first, second), (second, first)):
                    if not (own and is_caught) and _attack_works(w, point, move, other):
                        is_caught = True
                        if not own:
                            working[(move // stride - 1) * width + move % stride - 1] = True
            if is_caught:
                _mark_chain(board, point, caught)


@njit
def _mark_chain(board: np.ndarray, head: int, marks: np.ndarray) -> None:
    width = board["width"]
    stone = head
    while True:
        marks[(stone // (width + 1) - 1) * width + stone % (width + 1) - 1] = True
        stone = board["next_stone"][stone]
        if stone == head:
            return
