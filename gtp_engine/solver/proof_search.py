"""Depth-first proof-number search (df-pn; Nagai 2002) on a part of a board.

One player, the *seeker*, wants to reach a goal: the attacker to capture a stone of the target, or the defender to make
the target pass-alive. Whatever does not lead there in finitely many moves fails, endless repetitions too. So a position
has one value that does not depend on how it came about, and positions can be looked up:

- A win of the seeker rests on a finite tree. What repeats a position of the line that is being read counts as a failure
  in that line, which never makes a win.
- A failure is a win of the other player. It may rest on a finite tree, too, and then holds like one of the seeker's.
- Or it rests on such repetitions, and may turn out wrong when the repeated position is won in the end. So each such
  failure of the root has to be verified (`verification`).

The seeker passes only where a ko forbids it a move; elsewhere that gains nothing. The other player may always pass;
then the seeker moves again. A ko may not be retaken at once, except by the ko master, who has more threats than
anybody needs.

Proof and disproof numbers are kept for the player to move: phi is what is left to show that it succeeds, delta that it
does not. Sums of numbers count a position several times that is reached in several ways; the largest one plus half of
the number of the others does so less (as in weak proof numbers; Ueda et al. 2008).
"""

from typing import Any, NamedTuple

import numpy as np

from ..base.jit import inline, njit
from .local_board import Local, add
from .moves import FAILED, MOVE, PASS_CELL, REACHED, UNKNOWN, write_moves
from .transpositions import LOST, Entry, Search, find_entry, find_or_add
from .zones import add_goal, add_illegal, add_move, close_zone

_OFF_ZONE = 3  # of a move that the win after another one refutes
_DEPTH = 400  # moves in one line
_MOVES = 129

_LINE = np.dtype(
    [
        ("stones", np.uint64, (4,)),
        ("zone", np.uint64, (2,)),  # of the wins after moves off it, which refute others
        ("has_zone", np.bool_),
        ("slot", np.int64),
        ("ko", np.int64),
        ("mover", np.int64),
        ("most_phi", np.int64),
        ("most_delta", np.int64),
        ("first", np.int64),  # of its moves among all
        ("count", np.int64),
        ("last", np.int64),  # the move that was read last, -1 before the first
        ("began", np.int64),  # the number of positions read when it was reached
    ],
    align=True,
)


class Question(NamedTuple):
    """What the solver has to decide about a part of the board, and the memory that it reads in."""

    local: Local
    # The goal and its limits. The search stops when `nodes` reaches `most_nodes`; another call resumes it from the
    # table.
    search: Search
    table: np.ndarray  # from `new_table`
    line: np.ndarray  # the positions of the line that is being read; this and the next are from `new_line`
    moves: np.ndarray  # the moves of all these positions


def new_line() -> tuple[np.ndarray, np.ndarray]:
    """Returns memory for one line of moves and all moves beside it."""
    return np.zeros(_DEPTH, _LINE), np.zeros(_DEPTH * _MOVES, MOVE)


@inline
def _numbers(table: np.ndarray, search: Search, move: Any, mover: int) -> tuple[int, int]:
    """Returns phi and delta of the position after a move, for the player who then moves."""
    value = move["value"]
    if value == UNKNOWN:
        slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
        if slot < 0:
            return move["phi"], move["delta"]
        if not table[slot]["on_line"]:
            return table[slot]["phi"], table[slot]["delta"]
        value = FAILED
    if value != _OFF_ZONE and (value == REACHED) == (search["seeker"] == mover):
        return LOST, 0
    return 0, LOST


@njit
def _leave(table: np.ndarray, line: np.ndarray, depth: int) -> int:
    """Gives up a line of moves."""
    for index in range(depth + 1):
        table[line[index]["slot"]]["on_line"] = False
    return UNKNOWN


@njit
def read_position(question: Question, stones: np.ndarray, ko: int, mover: int) -> int:
    """Reads a position until its value is known, or too many positions were read; the value may need verification."""
    search, table, line, moves = question.search, question.table, question.line, question.moves
    _begin(question, line[0], stones, ko, mover, 0)
    line[0]["most_phi"] = line[0]["most_delta"] = LOST
    depth = 0
    while True:
        at = line[depth]
        mover = at["mover"]
        phi, delta, best, second, others = _weigh(question, at)
        entry = table[at["slot"]]
        entry["phi"], entry["delta"] = phi, delta
        entry["work"] = min(entry["work"] + 1 + (search["nodes"] - at["began"]), 1 << 31)
        if phi >= at["most_phi"] or delta >= at["most_delta"]:
            entry["on_line"] = False
            if phi == 0 or delta == 0:
                _write_zone(question, at, entry, phi == 0)
            if depth == 0:
                return REACHED if (phi == 0) == (mover == search["seeker"]) else FAILED
            depth -= 1
            continue
        if search["nodes"] >= search["most_nodes"] or depth + 1 == _DEPTH:
            return _leave(table, line, depth)
        search["nodes"] += 1
        move, under = moves[best], line[depth + 1]
        after = at["first"] + at["count"]
        if not _begin(question, under, move["stones"], move["ko"], 1 - mover, after):
            return _leave(table, line, depth)
        under["most_phi"] = at["most_delta"] - others
        under["most_delta"] = min(at["most_phi"], second + 1 + second // 4)
        at["last"] = best
        depth += 1


@inline
def put(at: Any, stones: np.ndarray, mover: int, first: int, count: int) -> None:
    """Puts a position, which has no zone yet, with its moves into a place of the line."""
    for index in range(4):
        at["stones"][index] = stones[index]
    at["mover"], at["first"], at["count"] = mover, first, count
    at["has_zone"] = False
    at["zone"][0] = at["zone"][1] = 0


@njit
def _begin(question: Question, at: Any, stones: np.ndarray, ko: int, mover: int, first: int) -> bool:
    """Puts a position on the line, with its moves from `first` on; returns whether the table had room."""
    search, table = question.search, question.table
    put(at, stones, mover, first, 0)
    at["ko"], at["last"], at["began"] = ko, -1, search["nodes"]
    at["slot"] = find_or_add(table, search, stones, ko, mover)
    if at["slot"] < 0:
        return False
    table[at["slot"]]["on_line"] = True
    table[at["slot"]]["is_finite"] = False  # what comes back to it while it is read again rests on a repetition
    at["count"] = write_moves(question.local, search, at["stones"], ko, mover, question.moves, first)
    return True


@njit
def _use_refutation(question: Question, at: Any, index: int) -> None:
    """Leaves out the moves that the win after one of them refutes as well, if that one is off the zone of the win."""
    table, moves = question.table, question.moves
    first, count, mover, move = at["first"], at["count"], at["mover"], moves[index]
    slot = find_entry(table, question.search, move["stones"], move["ko"], 1 - mover)
    if slot < 0 or not table[slot]["is_finite"]:
        return
    zone = np.empty(2, np.uint64)
    zone[0], zone[1] = table[slot]["zone"][0], table[slot]["zone"][1]
    if not _is_off(at["stones"], move, zone):
        return
    close_zone(question.local, 1 - mover, at["stones"], zone)
    if not _is_off(at["stones"], move, zone):
        return
    add(at["zone"], zone[0], zone[1])
    at["has_zone"] = True
    move["value"] = _OFF_ZONE
    for other in range(first, first + count):
        if moves[other]["value"] == UNKNOWN and _is_off(at["stones"], moves[other], zone):
            moves[other]["value"] = _OFF_ZONE


@njit
def leave_out_refuted(question: Question, at: Any, first: int, end: int) -> None:
    """Leaves out the moves that wins after some of these moves refute."""
    search, table, moves = question.search, question.table, question.moves
    for index in range(first, end):
        if moves[index]["value"] == UNKNOWN and _numbers(table, search, moves[index], at["mover"])[0] == 0:
            _use_refutation(question, at, index)


@njit
def _weigh(question: Question, at: Any) -> tuple[int, int, int, int, int]:
    """Returns a position's phi and delta, its best move, the delta after the second best, and the moves unsolved.

    Of the moves far from the target, a pass among them, most are alike, and one that is refuted refutes the others. So
    each counts as harder than the one before it until it is read, that they are not read side by side.
    """
    search, table, moves = question.search, question.table, question.moves
    mover, first, count = at["mover"], at["first"], at["count"]
    checked, end = at["last"], at["last"] + 1
    if checked < 0:
        checked, end = first, first + count
    leave_out_refuted(question, at, checked, end)
    phi, second, best = LOST, LOST, -1
    largest, unsolved = 0, 0
    far_phi, far_delta = 0, 0
    for index in range(first, first + count):
        its_phi, its_delta = _numbers(table, search, moves[index], mover)
        if moves[index]["is_far"] and its_phi > 0 and its_delta > 0:
            its_phi, its_delta = max(its_phi, far_phi), max(its_delta, far_delta + 1)
            far_phi, far_delta = its_phi, its_delta
        if its_delta < phi:
            second, phi, best = phi, its_delta, index
        elif its_delta < second:
            second = its_delta
        if its_phi > 0:
            unsolved += 1
            largest = max(largest, its_phi)
        if its_delta == 0:
            return 0, LOST, best, second, 1
    if unsolved == 0:
        return LOST, 0, best, second, 0
    others = (unsolved - 1) // 2
    return phi, min(largest + others, LOST - 1), best, second, others


@inline
def _is_off(stones: np.ndarray, move: Any, zone: np.ndarray) -> bool:
    """Whether a move changes nothing on a zone."""
    changed_low = (stones[0] ^ move["stones"][0]) | (stones[2] ^ move["stones"][2])
    changed_high = (stones[1] ^ move["stones"][1]) | (stones[3] ^ move["stones"][3])
    return (changed_low & zone[0]) == 0 and (changed_high & zone[1]) == 0


@inline
def _rests_on_no_repetition(table: np.ndarray, search: Search, move: Any, mover: int) -> bool:
    """Whether the value of the position after a move, which is known, holds in every line."""
    if move["value"] != UNKNOWN:
        return True
    slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
    return slot >= 0 and table[slot]["is_finite"]


@njit
def _finite_win(question: Question, first: int, end: int, mover: int) -> int:
    """Returns a move that wins by a finite tree, -1 if there is none."""
    search, table, moves = question.search, question.table, question.moves
    for index in range(first, end):
        wins = _numbers(table, search, moves[index], mover)[1] == 0
        if wins and _rests_on_no_repetition(table, search, moves[index], mover):
            return index
    return -1


@njit
def _write_zone(question: Question, at: Any, entry: Entry, mover_wins: bool) -> None:
    """Writes the zone of the win in a position, if it is finite."""
    local, search, table, moves = question.local, question.search, question.table, question.moves
    mover, stones, zone = at["mover"], at["stones"], entry["zone"]
    first, end = at["first"], at["first"] + at["count"]
    entry["is_finite"] = False
    zone[0] = zone[1] = 0
    if mover_wins:
        first = _finite_win(question, first, end, mover)
        if first < 0:
            return
        end = first + 1
    else:
        if not at["has_zone"]:
            return  # nothing shows that the other player may play elsewhere
        for index in range(first, end):
            if not _rests_on_no_repetition(table, search, moves[index], mover):
                return
        zone[0], zone[1] = at["zone"][0], at["zone"][1]
        add_illegal(local, stones, mover, zone, np.empty(4, np.uint64))
    winner, depth = mover if mover_wins else 1 - mover, 0
    for index in range(first, end):
        move = moves[index]
        if move["value"] == _OFF_ZONE:
            continue
        if move["cell"] != PASS_CELL:
            add_move(local, stones, mover, move, zone)
        if move["value"] != UNKNOWN:
            add_goal(local, winner, move, zone)
        else:
            slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
            add(zone, table[slot]["zone"][0], table[slot]["zone"][1])
            depth = max(depth, table[slot]["depth"])
    entry["is_finite"], entry["depth"] = True, min(depth + 1, 0xFFFF)
