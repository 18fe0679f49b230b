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

A reading is a depth-first search with an explicit stack. The position is copied once to a board with a journal, by
which moves are taken back.
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import njit
from .board import (
    JOURNAL,
    LIBERTIES_SHIFT,
    MAX_AREA,
    MOST_NOTES,
    NOTES_OF_A_MOVE,
    Board,
    atari_liberty,
    copy_board,
    find_liberties,
    in_atari,
    is_suicide,
    place,
    points_beside,
    set_ko,
    take_back,
)
from .coords import EMPTY, PASS, WALL
from .points import index_of_point, point_of_index
from .regions import chain_at

MAX_MOVES = 25_000  # moves played in one reading, then the chain counts as escaped
_MAX_DEPTH = 3 * MAX_AREA // 2 + 1  # moves in one line, then it counts as caught
_MAX_CANDIDATES = 4 * _MAX_DEPTH + MAX_AREA

_LEVEL = np.dtype(
    [
        ("next", np.int64),  # index of the next candidate to try
        ("end", np.int64),  # end of this level's candidates, where the next level's begin
        ("notes", np.int64),  # in the journal before this level's move
    ]
)
WORKSPACE = np.dtype(
    [
        ("journal", JOURNAL),
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
def _runs_free(w: Workspace, head: int, point: int, filled: int) -> bool:
    """Whether a chain that extends on `point` surely has three liberties then.

    This is seen without playing a move, and most ladders that fail do so here. `point` is the chain's last liberty
    once an opponent's stone is on `filled`, unless that is PASS.
    """
    board = w["journal"]["board"]
    stones = board["stones"]
    colour = stones[head]
    # Liberties of the new stone, and of other own chains that it would join. Captures are ignored, so that the answer
    # is "surely", not "whether".
    first = second = PASS
    for near in points_beside(board, point):
        if stones[near] == EMPTY:
            if near in (filled, first, second):
                continue
            if second != PASS:
                return True
            first, second = near, first
        elif stones[near] == colour and board["chain"][near] != head:
            stone = near
            while True:
                for liberty in points_beside(board, stone):
                    if stones[liberty] != EMPTY or liberty in (point, filled, first, second):
                        continue
                    if second != PASS:
                        return True
                    first, second = liberty, first
                stone = board["next_stone"][stone]
                if stone == near:
                    break
    return False


@njit
def _play(w: Workspace, point: int, colour: int) -> None:
    """Plays a stone on an empty point with its captures and the ko; a suicide stays without liberties."""
    journal = w["journal"]
    set_ko(journal["board"], point, place(journal["board"], point, colour, journal), journal)


@njit
def _would_take_ko(w: Workspace, point: int, attacker: int) -> bool:
    """Whether the attacker's stone on a liberty takes just one stone and is alone, without an empty point beside it."""
    board = w["journal"]["board"]
    stones = board["stones"]
    taken = 0
    for near in points_beside(board, point):
        stone = stones[near]
        if stone == WALL:
            continue
        if stone != 3 - attacker:
            return False
        head = board["chain"][near]
        if in_atari(board, head):
            if taken or board["chain_size"][head] != 1:
                return False
            taken = 1
    return taken == 1


@njit
def _liberties_after(w: Workspace, point: int, colour: int) -> int:
    """Returns the liberties, counted to 3, of the chain that a stone on this point would belong to."""
    journal = w["journal"]
    notes = journal["notes"]
    _play(w, point, colour)
    count = find_liberties(journal["board"], point, 3)[0]
    take_back(journal, notes)
    return count


@njit
def _add_captures(w: Workspace, head: int, begin: int, end: int) -> int:
    """Adds to the candidates `begin` to `end` the last liberties of opposing chains next to a chain.

    Returns the new end of the candidates.
    """
    board, candidates = w["journal"]["board"], w["candidates"]
    stones = board["stones"]
    attacker = 3 - stones[head]
    stone = head
    seen = PASS
    while True:
        for near in points_beside(board, stone):
            if stones[near] != attacker:
                continue
            opposing = board["chain"][near]
            # Neighbouring stones mostly touch the same chain: this skips most of the work again.
            if opposing == seen or not in_atari(board, opposing):
                continue
            seen = opposing
            liberty = atari_liberty(board, opposing)
            known = False
            for index in range(begin, end):
                known = known or candidates[index] == liberty
            if not known:
                candidates[end] = liberty
                end += 1
        stone = board["next_stone"][stone]
        if stone == head:
            return end


@njit
def _defend(w: Workspace, head: int, depth: int) -> int:
    """Returns the verdict on a node with the defender to move, or writes its candidates."""
    board = w["journal"]["board"]
    if not in_atari(board, head) or board["ko_point"] != PASS:
        return _ESCAPED
    liberty = atari_liberty(board, head)
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
    board = w["journal"]["board"]
    if in_atari(board, head):
        return _CAUGHT
    count, first, second = find_liberties(board, head, 3)
    if count > 2:
        return _ESCAPED
    defender = board["stones"][head]
    level = w["levels"][depth]
    begin = level["next"]
    # In the order of their cost: the last tests play moves.
    if (
        _would_take_ko(w, first, 3 - defender)
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
    journal, levels = w["journal"], w["levels"]
    board = journal["board"]
    colour = board["stones"][stone]
    start, ko_point = journal["notes"], board["ko_point"]
    board["ko_point"] = PASS  # a ko from before the reading is open to the defender
    moves = depth = 0
    levels[0]["next"] = 0
    entering = True
    verdict = _UNKNOWN
    while moves < MAX_MOVES and journal["notes"] < MOST_NOTES - NOTES_OF_A_MOVE:
        level = levels[depth]
        if entering:
            # The head is looked up at each node: chains that are joined may change it.
            head = board["chain"][stone]
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
            board["to_move"] = mover
            if point != board["ko_point"] and not is_suicide(board, point):
                level["notes"] = journal["notes"]
                levels[depth + 1]["next"] = level["end"]
                _play(w, point, mover)
                moves += 1
                depth += 1
                entering = True
        if entering:
            continue
        if depth == 0:
            break
        # Back to the parent: the verdict is its own if it is what its mover wanted, else it tries its next candidate.
        depth -= 1
        take_back(journal, levels[depth]["notes"])
        wanted = _ESCAPED if depth % 2 == 0 else _CAUGHT
        if verdict != wanted:
            verdict = _UNKNOWN
    take_back(journal, start)
    board["ko_point"] = ko_point
    return verdict == _CAUGHT and depth == 0


@njit
def _attack_works(w: Workspace, head: int, move: int, other: int) -> bool:
    """Whether the attacker catches a chain that has the liberties `move` and `other` by playing `move`."""
    journal = w["journal"]
    board = journal["board"]
    attacker = 3 - board["stones"][head]
    board["to_move"] = attacker
    # Tests that play no move come first; most attacks end there.
    if move == board["ko_point"] or _runs_free(w, head, other, move) or is_suicide(board, move):
        return False
    notes = journal["notes"]
    _play(w, move, attacker)
    works = _is_caught(w, head)
    take_back(journal, notes)
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
    copy_board(w["journal"]["board"], board)
    w["journal"]["notes"] = 0
    w["max_depth"] = 3 * board["width"] * board["height"] // 2 + 1
    width, height = board["width"], board["height"]
    stride = width + 1
    caught[: width * height] = False
    working[: width * height] = False
    for y in range(height):
        for point in range((y + 1) * stride + 1, (y + 2) * stride):
            if board["stones"][point] == EMPTY or board["chain"][point] != point:
                continue
            # One or two stones count no liberty twice, larger chains none more than four times.
            if board["liberties"][point] >> LIBERTIES_SHIFT > (2 if board["chain_size"][point] <= 2 else 8):
                continue
            count, first, second = find_liberties(board, point, 3)
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


def caught_stones(board: Board, workspace: np.ndarray | None = None) -> frozenset[int]:
    """Returns the points of the stones that a ladder catches, as `find_ladders` finds them; it may be given memory."""
    width, height = int(board["width"]), int(board["height"])
    caught, working = (np.zeros(width * height, np.bool_) for _ in range(2))
    find_ladders(board, new_workspace() if workspace is None else workspace, caught, working)
    return frozenset(point_of_index(int(index), width, height) for index in np.flatnonzero(caught))


def is_safe(board: Board, stone: int, workspace: np.ndarray | None = None) -> bool:
    """Whether there is a stone whose chain has two liberties and is not caught in a ladder; it may be given memory."""
    chain = chain_at(board, stone)
    return chain is not None and len(chain.liberties) > 1 and stone not in caught_stones(board, workspace)
