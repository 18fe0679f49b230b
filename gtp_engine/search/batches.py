"""Searches whose leaves share batches, for compiled code.

A small network evaluates a batch in less time than Python needs for a few calls. So everything that each search needs
for each batch is done here, in a few calls of compiled code for all searches together: finding how many leaves each may
add, selecting these, and backing up their evaluations.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..base.jit import List, borrowing, inline, njit, random_below
from ..go.board import BOARD
from ..go.coords import EMPTY
from ..go.symmetry import COUNT as SYMMETRIES
from .averaging import Averaging, Utility
from .evaluate.features import LADDER_BYTES
from .gumbel import NO_HALVING
from .selection import Root, Rule
from .tree import NO_NODE, PATH, UNEVALUATED, TreeLayout, new_tree, no_ownership
from .visits import SearchState, expand_and_back_up, select_leaves

# At most a quarter of the visits is in flight. More than `Evaluator.early_leaves` are at most a sixteenth of them, and
# a 200th of those that the search will have if their number is limited: leaves that are selected before earlier ones
# are backed up are poor. With b4c32-9x9 on 9x9 against up to 16 leaves in flight, up to 200 of 800 visits cost 132 Elo
# (160 games), up to 50 of 800 visits 70 (80 games) and up to 50 of 3,200 visits 58 (180 games).
_SHARE_IN_FLIGHT, _SHARE_OF_MANY, _SHARE_OF_ALL = 4, 16, 200
# With fewer new visits their rate does not predict the number of those to come.
_LEAST_VISITS_TO_SETTLE = 100
NO_SLOT = -1

# How a search stands in its slot.
SLOT_STATUS = np.dtype(
    [
        # Written by the scheduler.
        ("is_ending", np.bool_),  # no more leaves: it ends when those under way are back
        ("is_waiting", np.bool_),  # no more leaves, but it stays open until it is stopped; `select_in_turn` writes it
        ("is_open", np.bool_),  # whether only a stop ends it, so that it waits for one when it is stuck
        ("ends", np.float64),  # time by `time.perf_counter`, infinite for never; so is the next
        ("next_report", np.float64),
        ("started", np.float64),
        ("may_settle", np.bool_),  # whether it may end before `ends`
        ("visits_before", np.int64),  # the root's visits when it began
        ("root_kind", np.int64),  # hash of what positions of one batch have in common, for the root; for the tree
        ("tree_kind", np.int64),
        ("served", np.int64),  # number of the last batch that it was asked for leaves; `select_in_turn` writes it too
        # Written by `survey`.
        ("is_evaluated", np.bool_),  # whether the evaluator has seen the root
        ("is_full", np.bool_),  # whether the arena has no space for `quota` more leaves
        ("in_flight", np.int64),  # leaves under way
        ("quota", np.int64),  # visits that may begin now; 0 or less for none
        ("is_asking", np.bool_),  # whether some are to begin
        ("is_done", np.bool_),  # whether it is to end now
        ("is_due", np.bool_),  # whether it is to report now
        ("is_settled", np.bool_),  # whether it may settle, and no other move can become the most visited
    ],
    align=True,
)


class Survey(NamedTuple):
    """How many searches are asking for leaves, done, to report, settled, or have full arenas: see SLOT_STATUS."""

    asking: int
    done: int
    due: int
    settled: int
    full: int


class Leaves(NamedTuple):
    """Leaves, one per row; the search in slots[i] has the rows from starts[i] to before starts[i + 1].

    Compiled functions get the arrays one by one: as a tuple it would take longer to hand them over.
    """

    boards: np.ndarray  # BOARD [size]
    paths: np.ndarray  # PATH [size], the paths to them
    slots: np.ndarray  # int64 [size], the searches with leaves in the batch; NO_SLOT for one that was removed since
    starts: np.ndarray  # int64 [size + 1]
    symmetries: np.ndarray  # int [size], the symmetry of each evaluation if the parameters ask for random ones
    ladders: np.ndarray  # uint8 [size, LADDER_BYTES], written by evaluators that read ladders


@dataclass
class Batch:
    """Leaves under way, how many rows and slots of their memory are in use, and the evaluator's ticket."""

    leaves: Leaves
    count: int = 0
    search_count: int = 0
    ticket: Any = None


def new_batch(size: int) -> Batch:
    """Returns a batch with memory for this many leaves."""
    boards, paths, symmetries = np.zeros(size, BOARD), np.zeros(size, PATH), np.zeros(size, np.intp)
    slots, starts, ladders = (
        np.zeros(size, np.int64),
        np.zeros(size + 1, np.int64),
        np.zeros((size, LADDER_BYTES), np.uint8),
    )
    return Batch(Leaves(boards, paths, slots, starts, symmetries, ladders))


@cache
def empty_state() -> SearchState:
    """Returns the state of a free slot, so that the arrays of its last search can be freed."""
    tree, banned = new_tree(1, 1, TreeLayout()), np.zeros((3, 2), np.int16)
    boards, history, priors = np.zeros(1, BOARD), np.zeros(1, np.uint64), np.zeros(2, np.float32)
    dead, random = np.zeros(0, np.int16), np.zeros(1, np.uint64)
    root = Root(0, boards, history, 0, priors, False, banned, False, dead, priors, EMPTY, NO_HALVING, random)
    rule = Rule(False, *(0.0,) * (len(Rule._fields) - 1))
    scale, averaging = Utility(0.0, 0.0, 0.0), Averaging(True, 0.0, 0.0, 0.0, 0.0)
    return SearchState(tree, root, rule, scale, averaging, no_ownership(0), 0, 0, 0)


@njit
def new_states(search: SearchState) -> Any:
    """Returns a typed list with one state, since numba takes the type of its items from the first."""
    searches = List()
    searches.append(search)
    return searches


@njit
def put_state(searches: Any, slot: int, search: SearchState) -> None:
    if slot == len(searches):
        searches.append(search)
    else:
        searches[slot] = search


@njit
def survey(
    searches: Any,
    slots: np.ndarray,
    now: float,
    batch_size: int,
    portions: int,
    early_leaves: int,
    statuses: np.ndarray,
) -> tuple[int, int, int, int, int]:
    """Brings the statuses (SLOT_STATUS) of taken slots (int64) up to date; returns a `Survey`.

    Args:
        searches: List[SearchState]; like the statuses by slot.
        now: The time by `time.perf_counter`.
        batch_size: The evaluator's own.
        portions: If a search has the evaluator to itself, the number of batches that get equal shares of the leaves
            that may be in flight (`Evaluator.portions`), or else 0.
        early_leaves: The evaluator's.
    """
    asking = done = due = settled = full = 0
    for slot in slots:
        search, status = searches[slot], statuses[slot]
        tree = search.tree
        node = tree.nodes[search.root.node]
        is_evaluated = node["state"] != UNEVALUATED
        visits = int(node["visits"])
        left = search.limit - visits
        in_flight = int(node["in_flight"])
        quota = 1 - in_flight
        if is_evaluated:
            quota = _quota(visits, left, in_flight, search.batch_size or batch_size, portions, early_leaves)
        at_limit = is_evaluated and (left <= 0 or now >= status["ends"])
        status["is_evaluated"], status["in_flight"], status["quota"] = is_evaluated, in_flight, quota
        status["is_full"] = tree.size[0] + quota > len(tree.nodes)
        status["is_asking"] = quota > 0 and not (at_limit or status["is_ending"] or status["is_waiting"])
        status["is_done"] = in_flight == 0 and (at_limit or status["is_ending"])
        is_over = status["is_done"] or status["is_ending"]
        status["is_due"] = is_evaluated and now >= status["next_report"] and not is_over
        may_settle = status["may_settle"] and is_evaluated and not is_over
        status["is_settled"] = may_settle and _is_settled(search, left, now, status)
        asking += status["is_asking"]
        done += status["is_done"]
        due += status["is_due"]
        settled += status["is_settled"]
        full += status["is_full"]
    return asking, done, due, settled, full


@borrowing
def _is_settled(search: SearchState, left: int, now: float, status: np.ndarray) -> bool:
    """Returns whether no other move can overtake the most visited one in the visits left and the time."""
    nodes = search.tree.nodes
    new_visits = nodes[search.root.node]["visits"] - status["visits_before"]
    if new_visits < _LEAST_VISITS_TO_SETTLE:
        return False
    remaining = min(new_visits / (now - status["started"]) * (status["ends"] - now), float(left))
    most = second = 0
    child = nodes[search.root.node]["first_child"]
    while child != NO_NODE:
        second = max(second, min(most, int(nodes[child]["visits"])))
        most = max(most, int(nodes[child]["visits"]))
        child = nodes[child]["next_sibling"]
    return most > 0 and most - second > remaining


@inline
def _quota(visits: int, left: int, in_flight: int, batch_size: int, portions: int, early_leaves: int) -> int:
    """Returns how many visits may begin now, in addition to those whose leaves are under way; 0 or less for none.

    Of a search that has the evaluator to itself the leaves are selected in equal portions: a small batch in between
    would leave the evaluator idle while it is filled up. Half of the batches are evaluated side by side: so many leaves
    are in flight from the beginning.
    """
    many = min(visits // _SHARE_OF_MANY, (visits + left) // _SHARE_OF_ALL)
    share = min(visits // _SHARE_IN_FLIGHT, max(early_leaves, many))
    most = max(1, (portions + 1) // 2, share)
    free = most - in_flight
    wanted = min(batch_size, free)
    if portions > 0:
        portion = min(batch_size, max(1, most // portions))
        wanted = portion if free >= portion else 0
    return min(wanted, left - in_flight)


@njit
def select_in_turn(
    searches: Any,
    chosen: np.ndarray,
    size: int,
    number: int,
    statuses: np.ndarray,
    boards: np.ndarray,
    paths: np.ndarray,
    slots: np.ndarray,
    starts: np.ndarray,
    symmetries: np.ndarray,
) -> tuple[int, int]:
    """Fills the `Leaves` of the batch of a number from the searches in the chosen slots in turn, up to `size` of them.

    Each search adds at most its share of the rows that are left, and at most its `quota` in the last survey.

    Returns:
        The `count` and `search_count` of the `Batch`.
    """
    count = given = 0
    starts[0] = 0
    for place in range(len(chosen)):
        if count == size:
            break
        search, status = searches[chosen[place]], statuses[chosen[place]]
        status["served"] = number
        # An equal share, rounded up, of what the searches before it have left.
        wanted = min(status["quota"], -(-(size - count) // (len(chosen) - place)))
        found, done = select_leaves(search, wanted, boards[count:], paths[count:])
        if found == 0:
            if done == 0 and status["in_flight"] == 0:  # its tree is full, or it has no allowed move
                status["is_waiting"] = status["is_open"]
                status["is_ending"] = not status["is_open"]
            continue
        for _ in range(found):
            symmetries[count] = random_below(search.root.random, SYMMETRIES)
            count += 1
        slots[given] = chosen[place]
        given += 1
        starts[given] = count
    return count, given


@njit
def absorb(
    searches: Any,
    count: int,
    rows: np.ndarray,
    taken: np.ndarray,
    now: float,
    batch_size: int,
    portions: int,
    early_leaves: int,
    statuses: np.ndarray,
    boards: np.ndarray,
    paths: np.ndarray,
    slots: np.ndarray,
    starts: np.ndarray,
    ladders: np.ndarray,
) -> tuple[int, int, int, int, int]:
    """Backs up the evaluation rows of `count` searches, each search's in its own tree; surveys those in `taken`.

    Both in one call, since it takes Python longer to hand over the searches than compiled code to look at one.
    """
    for number in range(count):
        if slots[number] == NO_SLOT:
            continue  # the search has ended, and its tree may already serve another one
        search, start, stop = searches[slots[number]], starts[number], starts[number + 1]
        expand_and_back_up(search, boards, paths, start, stop, rows, ladders)
    return survey(searches, taken, now, batch_size, portions, early_leaves, statuses)
