"""Depth-first proof-number search (df-pn; Nagai 2002) on a part of a board.

One player, the *seeker*, wants to reach a goal: the attacker to capture a stone of the target, or the defender to make
the target pass-alive. Whatever does not lead there in finitely many moves fails, endless repetitions too. So a position
has one value that does not depend on how it came about, and positions can be looked up:

- A win of the seeker rests on a finite tree. What repeats a position of the line that is being read counts as a failure
  in that line, which never makes a win.
- A failure is a win of the other player. It may rest on a finite tree, too, and then holds like one of the seeker's.
- Or it rests on such repetitions, and may turn out wrong when the repeated position is won in the end. So each such
  failure of the root is verified: there has to be a set of positions in which every move of the seeker, and one of the
  other player's, leads to a position of the set or to a finite failure. Nobody ever leaves it to the goal. Where that
  does not hold, the wrong failure is forgotten and read again. This takes the place of solutions of the graph-history
  problem (Kishimoto and Müller 2004).

The seeker passes only where a ko forbids it a move; elsewhere that gains nothing. The other player may always pass;
then the seeker moves again. A ko may not be retaken at once, except by the ko master, who has more threats than
anybody needs.

Proof and disproof numbers are kept for the player to move: phi is what is left to show that it succeeds, delta that it
does not. Sums of numbers count a position several times that is reached in several ways; the largest one plus half of
the number of the others does so less (as in weak proof numbers; Ueda et al. 2008).
"""

from typing import Any, TypeAlias

import numpy as np

from ..base.jit import inline, njit
from .local_board import (
    ATTACKER,
    DEFENDER,
    NO_KO,
    Local,
    bit_of,
    cell_of,
    fewest_liberties,
    flood,
    is_captured,
    is_pass_alive,
    lowest,
    mixed,
    near,
    needs_outside,
    play,
)
from .zones import add_goal, add_illegal, add_move, close_zone

LOST = 1 << 30  # of phi: the player to move does not succeed; of delta: it does
PASS_CELL = -1
UNKNOWN, REACHED, FAILED = 0, 1, 2
_OFF_ZONE = 3  # of a move that the win after another one refutes
_DEPTH = 400  # moves in one line
_MOVES = 129
_PROBES = 8
_NEAR = 2  # steps from the chains of the target within which moves are not far
_REPAIRS = 1000  # how often wrong failures are read again

ENTRY = np.dtype(
    [
        ("stones", np.uint64, (4,)),
        ("zone", np.uint64, (2,)),  # of a finite win: the cells on which it rests
        ("phi", np.uint32),
        ("delta", np.uint32),
        ("work", np.uint32),  # positions read below it
        ("series", np.uint32),  # the search that wrote it; others count as empty
        ("verified", np.uint32),  # the verification that has seen it
        ("depth", np.uint16),  # of a finite win: moves to its end if the loser resists longest
        ("ko", np.int16),
        ("mover", np.int8),
        ("on_line", np.bool_),
        ("is_finite", np.bool_),  # of a position whose value is known: whether it rests on no repetition
    ],
    align=True,
)
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
_MOVE = np.dtype(
    [
        ("stones", np.uint64, (4,)),
        ("ko", np.int64),
        ("cell", np.int64),
        ("value", np.int64),  # UNKNOWN, REACHED or FAILED, if the rules decide
        ("is_far", np.bool_),  # from the target; a pass, too
        ("phi", np.int64),  # until the position after it was read
        ("delta", np.int64),
    ],
    align=True,
)
SEARCH = np.dtype(
    [
        ("seeker", np.int64),
        ("ko_master", np.int64),  # DEFENDER, ATTACKER, or -1 for nobody
        ("series", np.int64),
        ("verification", np.int64),
        ("nodes", np.int64),  # positions read so far
        ("most_nodes", np.int64),
    ],
    align=True,
)

Search: TypeAlias = Any
"""One record of SEARCH: what is sought, and how much was read."""
Entry: TypeAlias = Any


def new_table(megabytes: float) -> np.ndarray:
    """Returns a table for positions, ENTRY [n]: an empty one of a power of two that fits into these megabytes."""
    return np.zeros(1 << int(np.log2(max(1024, megabytes * 1e6 / ENTRY.itemsize))), ENTRY)


def new_line() -> tuple[np.ndarray, np.ndarray]:
    """Returns memory for one line of moves and all moves beside it."""
    return np.zeros(_DEPTH, _LINE), np.zeros(_DEPTH * _MOVES, _MOVE)


@inline
def _same(entry: Entry, stones: np.ndarray, ko: int, mover: int) -> bool:
    return (
        entry["stones"][0] == stones[0]
        and entry["stones"][1] == stones[1]
        and entry["stones"][2] == stones[2]
        and entry["stones"][3] == stones[3]
        and entry["ko"] == ko
        and entry["mover"] == mover
    )


@njit
def find_entry(table: np.ndarray, search: Search, stones: np.ndarray, ko: int, mover: int) -> int:
    """Returns the slot of a position in the table, -1 if it is not there."""
    mask = len(table) - 1
    start = int(mixed(stones, 2 * (ko + 1) + mover + 512 * search["series"]) >> np.uint64(1)) & mask
    for probe in range(_PROBES):
        slot = (start + probe) & mask
        if table[slot]["series"] == search["series"] and _same(table[slot], stones, ko, mover):
            return slot
    return -1


@njit
def _find_or_add(table: np.ndarray, search: Search, stones: np.ndarray, ko: int, mover: int) -> int:
    """Returns the slot of a position; it takes the place of the one near it that cost the least."""
    slot = find_entry(table, search, stones, ko, mover)
    if slot >= 0:
        return slot
    mask = len(table) - 1
    start = int(mixed(stones, 2 * (ko + 1) + mover + 512 * search["series"]) >> np.uint64(1)) & mask
    chosen, least = -1, 1 << 40
    for probe in range(_PROBES):
        slot = (start + probe) & mask
        entry = table[slot]
        if entry["series"] != search["series"]:
            chosen = slot
            break
        if not entry["on_line"] and entry["work"] < least:
            chosen, least = slot, entry["work"]
    if chosen < 0:
        return -1  # all of them are on the line
    entry = table[chosen]
    for index in range(4):
        entry["stones"][index] = stones[index]
    entry["ko"], entry["mover"] = ko, mover
    entry["series"] = search["series"]
    entry["phi"] = entry["delta"] = 1
    entry["work"] = entry["verified"] = 0
    entry["on_line"] = entry["is_finite"] = False
    return chosen


@njit
def _value_of(local: Local, search: Search, before: np.ndarray, stones: np.ndarray, moved: int) -> int:
    """Returns what the rules alone tell of a position after a move."""
    own = 2 * search["seeker"]
    lost_low, lost_high = before[own] & ~stones[own], before[own + 1] & ~stones[own + 1]
    if (lost_low & local["open"][0]) or (lost_high & local["open"][1]):
        return FAILED  # they may have liberties outside: what follows here would not be what follows on the board
    if is_captured(local, stones):
        return REACHED if search["seeker"] == ATTACKER else FAILED
    if moved == DEFENDER and is_pass_alive(local, stones):
        return REACHED if search["seeker"] == DEFENDER else FAILED
    return UNKNOWN


@njit
def _estimate(local: Local, search: Search, stones: np.ndarray, mover: int, move: Any) -> None:
    """Writes the first numbers of the position after a move."""
    liberties = fewest_liberties(local, move["stones"], 9)
    if search["seeker"] == ATTACKER:
        proof, disproof = liberties, max(1, 6 - liberties)
    else:
        proof, disproof = max(1, 6 - liberties), liberties
    bit_low, bit_high = bit_of(move["cell"])
    around_low, around_high = near(bit_low, bit_high, local["stride"])
    around_low |= around_low << np.uint64(1) | around_low >> np.uint64(1)
    around_high |= around_high << np.uint64(1) | around_high >> np.uint64(1)
    if not (around_low & stones[0]) and not (around_high & stones[1]):  # far from the defender's stones
        if mover == search["seeker"]:
            proof += 3
        else:
            disproof += 3
    if mover == search["seeker"]:
        move["phi"], move["delta"] = disproof, proof
    else:
        move["phi"], move["delta"] = proof, disproof


@njit
def write_moves(
    local: Local, search: Search, stones: np.ndarray, ko: int, mover: int, moves: np.ndarray, first: int
) -> int:
    """Writes all moves of a position and what they lead to; returns their number."""
    count = 0
    is_seeker = mover == search["seeker"]
    if not is_seeker or ko != NO_KO:
        move = moves[first]
        for index in range(4):
            move["stones"][index] = stones[index]
        move["ko"], move["cell"], move["value"] = NO_KO, PASS_CELL, UNKNOWN
        move["phi"], move["delta"] = 1, 9 if is_seeker else 1  # as the seeker's least promising moves
        move["is_far"] = True
        count = 1
    low = local["cells"][0] & ~(stones[0] | stones[2])
    high = local["cells"][1] & ~(stones[1] | stones[3])
    close_low, close_high = flood(local["target"][0], local["target"][1], stones[0], stones[1], local["stride"])
    for _ in range(_NEAR):
        around_low, around_high = near(close_low, close_high, local["stride"])
        close_low, close_high = close_low | around_low, close_high | around_high
    while low or high:
        bit_low, bit_high = lowest(low, high)
        low, high = low & ~bit_low, high & ~bit_high
        cell = cell_of(bit_low, bit_high)
        if cell == ko:
            continue
        move = moves[first + count]
        opened = play(local, stones, mover, cell, move["stones"])
        if opened < NO_KO:
            continue
        move["ko"] = NO_KO if search["ko_master"] == 1 - mover else opened
        move["cell"] = cell
        move["is_far"] = (bit_low & close_low) == 0 and (bit_high & close_high) == 0
        move["value"] = _value_of(local, search, stones, move["stones"], mover)
        if move["value"] == UNKNOWN:
            _estimate(local, search, stones, mover, move)
        count += 1
    return count


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
def _read(
    local: Local,
    search: Search,
    table: np.ndarray,
    line: np.ndarray,
    moves: np.ndarray,
    stones: np.ndarray,
    ko: int,
    mover: int,
) -> int:
    """Reads a position until its value is known, or too many positions were read; the value may need verification."""
    _begin(local, search, table, line[0], moves, stones, ko, mover, 0)
    line[0]["most_phi"] = line[0]["most_delta"] = LOST
    depth = 0
    while True:
        at = line[depth]
        mover = at["mover"]
        phi, delta, best, second, others = _weigh(local, search, table, at, moves)
        entry = table[at["slot"]]
        entry["phi"], entry["delta"] = phi, delta
        entry["work"] = min(entry["work"] + 1 + (search["nodes"] - at["began"]), 1 << 31)
        if phi >= at["most_phi"] or delta >= at["most_delta"]:
            entry["on_line"] = False
            if phi == 0 or delta == 0:
                _write_zone(local, search, table, at, moves, entry, phi == 0)
            if depth == 0:
                return REACHED if (phi == 0) == (mover == search["seeker"]) else FAILED
            depth -= 1
            continue
        if search["nodes"] >= search["most_nodes"] or depth + 1 == _DEPTH:
            return _leave(table, line, depth)
        search["nodes"] += 1
        move, under = moves[best], line[depth + 1]
        after = at["first"] + at["count"]
        if not _begin(local, search, table, under, moves, move["stones"], move["ko"], 1 - mover, after):
            return _leave(table, line, depth)
        under["most_phi"] = at["most_delta"] - others
        under["most_delta"] = min(at["most_phi"], second + 1 + second // 4)
        at["last"] = best
        depth += 1


@inline
def _put(at: Any, stones: np.ndarray, mover: int, first: int, count: int) -> None:
    """Puts a position, which has no zone yet, with its moves into a place of the line."""
    for index in range(4):
        at["stones"][index] = stones[index]
    at["mover"], at["first"], at["count"] = mover, first, count
    at["has_zone"] = False
    at["zone"][0] = at["zone"][1] = 0


@njit
def _begin(
    local: Local,
    search: Search,
    table: np.ndarray,
    at: Any,
    moves: np.ndarray,
    stones: np.ndarray,
    ko: int,
    mover: int,
    first: int,
) -> bool:
    """Puts a position on the line, with its moves from `first` on; returns whether the table had room."""
    _put(at, stones, mover, first, 0)
    at["ko"], at["last"], at["began"] = ko, -1, search["nodes"]
    at["slot"] = _find_or_add(table, search, stones, ko, mover)
    if at["slot"] < 0:
        return False
    table[at["slot"]]["on_line"] = True
    table[at["slot"]]["is_finite"] = False  # what comes back to it while it is read again rests on a repetition
    at["count"] = write_moves(local, search, at["stones"], ko, mover, moves, first)
    return True


@njit
def _use_refutation(local: Local, search: Search, table: np.ndarray, at: Any, moves: np.ndarray, index: int) -> None:
    """Leaves out the moves that the win after one of them refutes as well, if that one is off the zone of the win."""
    first, count, mover, move = at["first"], at["count"], at["mover"], moves[index]
    slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
    if slot < 0 or not table[slot]["is_finite"]:
        return
    zone = np.empty(2, np.uint64)
    zone[0], zone[1] = table[slot]["zone"][0], table[slot]["zone"][1]
    if not _is_off(at["stones"], move, zone):
        return
    close_zone(local, 1 - mover, at["stones"], zone)
    if not _is_off(at["stones"], move, zone):
        return
    at["zone"][0] |= zone[0]
    at["zone"][1] |= zone[1]
    at["has_zone"] = True
    move["value"] = _OFF_ZONE
    for other in range(first, first + count):
        if moves[other]["value"] == UNKNOWN and _is_off(at["stones"], moves[other], zone):
            moves[other]["value"] = _OFF_ZONE


@njit
def _leave_out_refuted(
    local: Local, search: Search, table: np.ndarray, at: Any, moves: np.ndarray, first: int, end: int
) -> None:
    """Leaves out the moves that wins after some of these moves refute."""
    for index in range(first, end):
        if moves[index]["value"] == UNKNOWN and _numbers(table, search, moves[index], at["mover"])[0] == 0:
            _use_refutation(local, search, table, at, moves, index)


@njit
def _weigh(
    local: Local, search: Search, table: np.ndarray, at: Any, moves: np.ndarray
) -> tuple[int, int, int, int, int]:
    """Returns a position's phi and delta, its best move, the delta after the second best, and the moves unsolved.

    Of the moves far from the target, a pass among them, most are alike, and one that is refuted refutes the others. So
    each counts as harder than the one before it until it is read, that they are not read side by side.
    """
    mover, first, count = at["mover"], at["first"], at["count"]
    checked, end = at["last"], at["last"] + 1
    if checked < 0:
        checked, end = first, first + count
    _leave_out_refuted(local, search, table, at, moves, checked, end)
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
def _finite_win(search: Search, table: np.ndarray, moves: np.ndarray, first: int, end: int, mover: int) -> int:
    """Returns a move that wins by a finite tree, -1 if there is none."""
    for index in range(first, end):
        wins = _numbers(table, search, moves[index], mover)[1] == 0
        if wins and _rests_on_no_repetition(table, search, moves[index], mover):
            return index
    return -1


@njit
def _write_zone(
    local: Local, search: Search, table: np.ndarray, at: Any, moves: np.ndarray, entry: Entry, mover_wins: bool
) -> None:
    """Writes the zone of the win in a position, if it is finite."""
    mover, stones, zone = at["mover"], at["stones"], entry["zone"]
    first, end = at["first"], at["first"] + at["count"]
    entry["is_finite"] = False
    zone[0] = zone[1] = 0
    if mover_wins:
        first = _finite_win(search, table, moves, first, end, mover)
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
            zone[0] |= table[slot]["zone"][0]
            zone[1] |= table[slot]["zone"][1]
            depth = max(depth, table[slot]["depth"])
    entry["is_finite"], entry["depth"] = True, min(depth + 1, 0xFFFF)


@njit
def _verify(
    local: Local,
    search: Search,
    table: np.ndarray,
    line: np.ndarray,
    moves: np.ndarray,
    stones: np.ndarray,
    ko: int,
    mover: int,
) -> int:
    """Returns FAILED if a set of positions proves that the seeker fails, UNKNOWN if what was wrong is forgotten now.

    It walks from the position to all moves of the seeker and to one of the other player's, the best one of the table,
    and no further than to finite failures.
    """
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
            value = _read(local, search, table, line, moves, position, ko, mover)
            slot = find_entry(table, search, position, ko, mover)
            if value == UNKNOWN or slot < 0:
                return _forget(table, slots, parents, at)
        entry = table[slot]
        slots[at] = slot
        if not _fails(search, entry["phi"], entry["delta"], mover):
            return _forget(table, slots, parents, at)
        if entry["verified"] != search["verification"] and not entry["is_finite"]:
            entry["verified"] = search["verification"]
            search["nodes"] += 1
            count = write_moves(local, search, position, ko, mover, moves, 0)
            first, end = 0, count
            if mover == search["seeker"]:
                _put(line[0], position, mover, 0, count)  # which is not in use now
                _leave_out_refuted(local, search, table, line[0], moves, 0, count)
            else:
                first = _refutation(search, table, moves, count, mover)
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
def _refutation(search: Search, table: np.ndarray, moves: np.ndarray, count: int, mover: int) -> int:
    """Returns a move after which the seeker fails, a finite failure if possible or a verified one; -1 for none."""
    chosen = -1
    for index in range(count):
        move = moves[index]
        if move["value"] == FAILED:
            return index
        if move["value"] == UNKNOWN:
            slot = find_entry(table, search, move["stones"], move["ko"], 1 - mover)
            if slot >= 0 and _fails(search, table[slot]["phi"], table[slot]["delta"], 1 - mover):
                if table[slot]["is_finite"]:
                    return index
                if chosen < 0 or table[slot]["verified"] == search["verification"]:
                    chosen = index
    return chosen


@inline
def _fails(search: Search, phi: int, delta: int, mover: int) -> bool:
    """Whether numbers say that the seeker fails."""
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
def read(
    local: Local,
    search: Search,
    table: np.ndarray,
    line: np.ndarray,
    moves: np.ndarray,
    stones: np.ndarray,
    ko: int,
    mover: int,
) -> int:
    """Reads whether the seeker reaches its goal.

    Args:
        local: The problem.
        search: What is sought. It stops when `nodes` reaches `most_nodes`; a further call goes on with the table.
        table: From `new_table`.
        line, moves: From `new_line`.
        stones: uint64 [4], the defender's stones, then the attacker's.
        ko: The cell that a ko forbids, or NO_KO.
        mover: The player to move.

    Returns:
        REACHED, FAILED or UNKNOWN.
    """
    if needs_outside(local, stones, search["seeker"]):
        return FAILED
    if is_captured(local, stones):
        return REACHED if search["seeker"] == ATTACKER else FAILED
    if is_pass_alive(local, stones):
        return REACHED if search["seeker"] == DEFENDER else FAILED
    for _ in range(_REPAIRS):
        value = _read(local, search, table, line, moves, stones, ko, mover)
        if value != FAILED:
            return value
        if _verify(local, search, table, line, moves, stones, ko, mover) == FAILED:
            return FAILED
        if search["nodes"] >= search["most_nodes"]:
            return UNKNOWN
    return UNKNOWN
