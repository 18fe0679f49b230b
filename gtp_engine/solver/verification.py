"""What the search finds, with proof that a failure which rests on repetitions is one.

There has to be a set of positions in which every move of the seeker, and one of the other player's, leads to a position
of the set or to a finite failure: nobody ever leaves it to the goal. Where that does not hold, the wrong failure is
forgotten and read again. This takes the place of solutions of the graph-history problem (Kishimoto and Müller 2004).
"""

from typing import Any

import numpy as np

from ..base.jit import inline, njit
from .local_board import ATTACKER, DEFENDER, is_captured, is_pass_alive, needs_outside
from .moves import FAILED, REACHED, UNKNOWN, write_moves
from .proof_search import Question, leave_out_refuted, put, read_position
from .transpositions import LOST, Search, find_entry

_REPAIRS = 1000  # how often wrong failures are read again


@njit
def _verify(question: Question, stones: np.ndarray, ko: int, mover: int) -> int:
    """Returns FAILED if a set of positions proves that the seeker fails, UNKNOWN if what was wrong is forgotten now.

    It walks from the position to all moves of the seeker and to one of the other player's, the best one of the table,
    and no further than to finite failures.
    """
    search, table, moves = question.search, question.table, question.moves
    search["verification"] += 1
    stack = [(stones[0], stones[1], stones[2], stones[3], ko, mover)]
    position = np.empty(4, np.uint64)
    # Where each position of the walk came from, so that all who rest on a wrong one are forgotten with it.
    parents = [-1]
    slots = [find_entry(table, search, stones, ko, mover)]
    at = 0
    while at < len(stack):
        position[0], position[1], position[2], position[3], ko, mover = stack[at]
        slot = find_entry(table, search, position, ko, mover)
        if slot < 0:
            value = read_position(question, position, ko, mover)
            slot = find_entry(table, search, position, ko, mover)
            if value == UNKNOWN or slot < 0:
                return _forget(table, slots, parents, at)
        entry = table[slot]
        slots[at] = slot
        if not _fails(search, entry["phi"], mover):
            return _forget(table, slots, parents, at)
        if entry["verified"] != search["verification"] and not entry["is_finite"]:
            entry["verified"] = search["verification"]
            search["nodes"] += 1
            count = write_moves(question.local, search, position, ko, mover, moves, 0)
            first, end = 0, count
            if mover == search["seeker"]:
                at_root = question.line[0]  # which is not in use now
                put(at_root, position, mover, 0, count)
                leave_out_refuted(question, at_root, 0, count)
            else:
                first = _refutation(question, count, mover)
                end = first + 1
                if first < 0:
                    return _forget(table, slots, parents, at)
            for index in range(first, end):
                move = moves[index]
                if move["value"] == REACHED:
                    return _forget(table, slots, parents, at)
                if move["value"] == UNKNOWN:
                    after = move["stones"]
                    stack.append((after[0], after[1], after[2], after[3], move["ko"], 1 - mover))
                    parents.append(at)
                    slots.append(-1)
        at += 1
    return FAILED


@njit
def _refutation(question: Question, count: int, mover: int) -> int:
    """Returns a move after which the seeker fails, a finite failure if possible or a verified one; -1 for none."""
    search, table, moves = question.search, question.table, question.moves
    chosen = -1
    for index in range(count):
        move = moves[index]
        if move["value"] == FAILED:
            return index
        if move["value"] == UNKNOWN:
            slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
            if slot >= 0 and _fails(search, table[slot]["phi"], 1 - mover):
                if table[slot]["is_finite"]:
                    return index
                if chosen < 0 or table[slot]["verified"] == search["verification"]:
                    chosen = index
    return chosen


@inline
def _fails(search: Search, phi: int, mover: int) -> bool:
    """Whether the number of a position says that the seeker fails."""
    return phi == LOST if mover == search["seeker"] else phi == 0


@njit
def _forget(table: np.ndarray, slots: Any, parents: Any, at: int) -> int:
    """Forgets a wrong failure and those on which the walk to it rests."""
    while at >= 0:
        if slots[at] >= 0 and (table[slots[at]]["phi"] == 0 or table[slots[at]]["delta"] == 0):
            table[slots[at]]["phi"] = table[slots[at]]["delta"] = 1
        at = parents[at]
    return UNKNOWN


@njit
def read(question: Question, stones: np.ndarray, ko: int, mover: int) -> int:
    """Reads whether the seeker reaches its goal.

    Args:
        stones: uint64 [4], the defender's stones, then the attacker's.
        ko: The cell that a ko forbids, or NO_KO.

    Returns:
        REACHED, FAILED or UNKNOWN.
    """
    local, search = question.local, question.search
    if needs_outside(local, stones, search["seeker"]):
        return FAILED
    if is_captured(local, stones):
        return REACHED if search["seeker"] == ATTACKER else FAILED
    if is_pass_alive(local, stones):
        return REACHED if search["seeker"] == DEFENDER else FAILED
    for _ in range(_REPAIRS):
        value = read_position(question, stones, ko, mover)
        if value != FAILED:
            return value
        if _verify(question, stones, ko, mover) == FAILED:
            return FAILED
        if search["nodes"] >= search["most_nodes"]:
            return UNKNOWN
    return UNKNOWN
