"""Searches whose leaves share the batches of one evaluator.

A small network evaluates a batch in less time than Python needs for a few calls. So everything that each search needs
for each batch is done here, in a few calls of compiled code for all searches together: finding how many leaves each may
add, selecting these, and backing up their evaluations.
"""

import time
from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..base.jit import List, inline, njit, random_below
from ..go.board import BOARD
from ..go.symmetry import ALL_SYMMETRIES
from ..go.symmetry import COUNT as SYMMETRIES
from .averaging import Averaging
from .evaluate.evaluator import Evaluator
from .evaluate.features import LADDER_BYTES
from .gumbel import NO_HALVING
from .search import ActiveSearch
from .selection import Root, Rule
from .tree import NO_NODE, NODE, UNEVALUATED, Tree, add_ownership, no_ownership, write_ownership
from .utility import Utility
from .value_bias import new_biases
from .visits import SearchState, expand_and_back_up, select_leaves

# At most a quarter of the visits is in flight: leaves that are selected before earlier ones are backed up are poor.
_SHARE_IN_FLIGHT = 4
NO_SLOT = -1

# How a search stands in its slot.
SLOT_STATUS = np.dtype(
    [
        # Written by whoever drives the batcher.
        ("is_ending", np.bool_),  # no more leaves: it ends when those under way are back
        ("is_waiting", np.bool_),  # no more leaves, but the search stays open until it is stopped
        ("ends", np.float64),  # time by `time.perf_counter`, infinite for never; so is the next
        ("next_report", np.float64),
        ("served", np.int64),  # the number of the last batch that it was asked for leaves; written by `select` too
        # Written by `select`.
        ("is_stuck", np.bool_),  # whether it had no leaf to give, and none is under way
        # Written by `survey`.
        ("is_evaluated", np.bool_),  # whether the evaluator has seen the root
        ("is_full", np.bool_),  # whether the arena has no space for `quota` more leaves
        ("left", np.int64),  # visits to the limit, which counts the root's visits except those of banned moves
        ("in_flight", np.int64),  # leaves under way
        ("quota", np.int64),  # visits that may begin now; 0 or less for none
        ("is_asking", np.bool_),  # whether some are to begin
        ("is_done", np.bool_),  # whether it is to end now
        ("is_due", np.bool_),  # whether it is to report now
    ],
    align=True,
)


class Survey(NamedTuple):
    """How many searches are asking for leaves, done, to report, or have full arenas: see SLOT_STATUS."""

    asking: int
    done: int
    due: int
    full: int


@dataclass
class Batch:
    """Leaves under way, one per row; the search in slots[i] has the rows from starts[i] to before starts[i + 1].

    Attributes:
        boards: BOARD [size], the positions.
        leaves: int32 [size], their nodes.
        rows: int64 [size], the numbers from 0 on.
        symmetries: int [size], the symmetry of each evaluation if the parameters ask for random ones.
        ladders: uint8 [size, LADDER_BYTES], written by evaluators that read ladders.
        slots: int64 [size], the searches with leaves in the batch; NO_SLOT for one that has been removed since.
        starts: int64 [size + 1].
        roots: int64 [size], indices into `slots` of the searches whose row is their root.
        count: The number of rows in use.
        search_count: The number of `slots` in use.
        root_count: The number of `roots` in use.
        ticket: The evaluator's ticket for the batch.
    """

    boards: np.ndarray
    leaves: np.ndarray
    rows: np.ndarray
    symmetries: np.ndarray
    ladders: np.ndarray
    slots: np.ndarray
    starts: np.ndarray
    roots: np.ndarray
    count: int = 0
    search_count: int = 0
    root_count: int = 0
    ticket: Any = None


class LeafBatcher:
    """Selects, evaluates and backs up the leaves of many searches.

    A search has a slot between `add` and `remove`; meanwhile only the batcher may change its tree.

    Attributes:
        searches: The search in each slot, None if it is free.
        statuses: SLOT_STATUS of each slot; `survey` brings it up to date.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.searches: list[ActiveSearch | None] = []
        self.statuses = np.zeros(0, SLOT_STATUS)
        self.pending: deque[Batch] = deque()
        """The batches under way, the oldest first."""
        self._search_states: Any = None  # List[SearchState], as of the last `_refresh`
        self._changed: set[int] = set()  # slots whose search state has been replaced since
        self._full_arenas = 0  # how many arenas in the last survey were
        self._free: list[Batch] = []

    def add(self, search: ActiveSearch) -> int:
        """Returns the slot of a search that has begun (`Search.begin`)."""
        if None in self.searches:
            slot = self.searches.index(None)
            self.searches[slot] = search
        else:
            slot = len(self.searches)
            self.searches.append(search)
            self.statuses = np.append(self.statuses, np.zeros(1, SLOT_STATUS))
        self.statuses[slot] = np.zeros((), SLOT_STATUS)
        self.statuses["ends"][slot] = self.statuses["next_report"][slot] = np.inf
        self._changed.add(slot)
        return slot

    def remove(self, slot: int) -> None:
        """Frees a slot. The search's leaves that are still under way are dropped when they come back."""
        self.searches[slot] = None
        self._changed.add(slot)
        for batch in self.pending:
            batch.slots[batch.slots == slot] = NO_SLOT
        if not any(self.searches):
            self._refresh()  # it may be long until the next one

    def _refresh(self) -> None:
        """Copies the search states that have been replaced to compiled code; contents of arrays are shared."""
        if not self._changed:
            return
        for slot in sorted(self._changed):
            search = self.searches[slot]
            state = search.state() if search is not None else _EMPTY_STATE
            if self._search_states is None:
                self._search_states = _new_states(state)
            else:
                _put(self._search_states, slot, state)
        self._changed.clear()

    def survey(self, slots: np.ndarray, side_by_side: int = 0) -> Survey:
        """Brings `statuses` of these slots up to date.

        Args:
            slots: int64, taken slots.
            side_by_side: If a search has the evaluator to itself, the number of batches that the evaluator works on at
                once: each gets an equal share of the leaves that may be under way, and at least one.
        """
        self._refresh()
        if not len(slots):
            return Survey(0, 0, 0, 0)
        now, batch_size = time.perf_counter(), self.evaluator.batch_size
        return self._noted(_survey(self._search_states, slots, now, batch_size, side_by_side, self.statuses))

    def select(self, slots: np.ndarray, size: int, number: int) -> tuple[Batch, int]:
        """Selects leaves for a batch of up to `size`, from these searches in turn until it is full.

        Each search adds at most its share of the rows that are left, and at most its `quota` in the last `survey`.

        Args:
            slots: int64, the searches.
            size: The largest number of leaves.
            number: The number of the batch.

        Returns:
            The batch, and how many searches are stuck.
        """
        if self._full_arenas:
            self._grow_arenas(slots)
        batch = self._free.pop() if self._free else _new_batch(size)
        if len(batch.boards) < size:
            batch = _new_batch(max(size, self.evaluator.batch_size))  # a lone search sometimes asks for more
        batch.count, batch.search_count, batch.root_count, stuck = _select_in_turn(
            self._search_states,
            self.statuses,
            slots,
            size,
            number,
            batch.boards,
            batch.leaves,
            batch.symmetries,
            batch.slots,
            batch.starts,
            batch.roots,
        )
        return batch, stuck

    def _grow_arenas(self, slots: np.ndarray) -> None:
        """Lets the arenas of these searches grow, if they are full."""
        for slot in slots[self.statuses["is_full"][slots]].tolist():
            search = self.searches[slot]
            assert search is not None
            search.search.make_room(int(self.statuses["quota"][slot]), ownership=False)
            self._changed.add(slot)
        self._refresh()

    def submit(self, batch: Batch) -> None:
        """Hands a batch to the evaluator. All of it has one board size, symmetry, optimism and profile."""
        search = self.searches[batch.slots[0]]
        assert search is not None
        parameters, symmetries = search.parameters, None
        if parameters.symmetry == "average":
            symmetries = np.full(batch.count, ALL_SYMMETRIES)
        elif parameters.symmetry == "random":
            symmetries = batch.symmetries[: batch.count]
        is_root = batch.root_count > 0 and batch.roots[0] == 0
        optimism = parameters.root_policy_optimism if is_root else parameters.policy_optimism
        rows, profile = batch.rows[: batch.count], parameters.profile
        batch.ticket = self.evaluator.submit(
            batch.boards, rows, symmetries, batch.ladders, optimism=optimism, profile=profile
        )
        self.pending.append(batch)

    def collect(self, taken: np.ndarray, side_by_side: int = 0) -> Survey | None:
        """Waits for the oldest batch and backs up its evaluations, each search's in its own tree.

        Returns:
            The `survey` of the slots in `taken`, made in the same call of compiled code; None if roots were evaluated.
        """
        batch = self.pending.popleft()
        rows = self.evaluator.collect(batch.ticket)
        self._refresh()
        found = _absorb(
            self._search_states,
            batch.search_count,
            batch.slots,
            batch.starts,
            batch.boards,
            batch.leaves,
            rows,
            batch.ladders,
            taken,
            time.perf_counter(),
            self.evaluator.batch_size,
            side_by_side,
            self.statuses,
        )
        for number in batch.roots[: batch.root_count]:
            slot = int(batch.slots[number])
            if slot != NO_SLOT:
                search = self.searches[slot]
                assert search is not None
                search.on_root_evaluated(rows[batch.starts[number]])
                self._changed.add(slot)
        self.release(batch)
        return None if self._changed else self._noted(found)

    def _noted(self, found: tuple[int, int, int, int]) -> Survey:
        survey = Survey(*found)
        self._full_arenas = survey.full
        return survey

    def release(self, batch: Batch) -> None:
        """Takes back the memory of a batch that is done or was not submitted."""
        batch.ticket = None
        self._free.append(batch)


def _new_batch(size: int) -> Batch:
    boards, leaves, symmetries = np.zeros(size, BOARD), np.zeros(size, np.int32), np.zeros(size, np.intp)
    slots, roots = np.zeros((2, size), np.int64)
    starts = np.zeros(size + 1, np.int64)
    ladders = np.zeros((size, LADDER_BYTES), np.uint8)
    return Batch(boards, leaves, np.arange(size), symmetries, ladders, slots, starts, roots)


def _empty_state() -> SearchState:
    """Returns the state of a free slot, so that the arrays of its last search can be freed."""
    tree = Tree(
        np.zeros(1, NODE),
        np.zeros((1, 2), np.uint16),
        np.zeros((0, 1), np.int8),
        np.zeros((0, 1, 2), np.float32),
        np.zeros((0, 1), np.uint8),
        new_biases(0),
        np.zeros(1, np.int32),
    )
    banned = np.zeros((3, 2), np.int16)
    boards, history, priors = np.zeros(1, BOARD), np.zeros(1, np.uint64), np.zeros(2, np.float32)
    root = Root(0, boards, history, 0, priors, False, banned, False, NO_HALVING)
    rule = Rule(False, *(0.0,) * (len(Rule._fields) - 1))
    scale, averaging = Utility(0.0, 0.0, 0.0), Averaging(True, 0.0, 0.0, 0.0, 0.0)
    return SearchState(tree, root, rule, scale, averaging, no_ownership(0), False, 0, 0, np.zeros(1, np.uint64))


_EMPTY_STATE = _empty_state()


@njit
def _new_states(search: SearchState) -> Any:
    """Returns a typed list with one state, since numba takes the type of its items from the first."""
    searches = List()
    searches.append(search)
    return searches


@njit
def _put(searches: Any, slot: int, search: SearchState) -> None:
    if slot == len(searches):
        searches.append(search)
    else:
        searches[slot] = search


@njit
def _survey(
    searches: Any, slots: np.ndarray, now: float, batch_size: int, side_by_side: int, statuses: np.ndarray
) -> tuple[int, int, int, int]:
    """Does the work of `LeafBatcher.survey`."""
    asking = done = due = full = 0
    for slot in slots:
        search, status = searches[slot], statuses[slot]
        tree = search.tree
        node = tree.nodes[search.root.node]
        is_evaluated = node["state"] != UNEVALUATED
        visits = node["visits"] - _banned_visits(search) if search.banning else int(node["visits"])
        left = search.limit - visits
        in_flight = int(node["in_flight"])
        quota = 1 - in_flight
        if is_evaluated:
            quota = _quota(visits, left, in_flight, search.batch_size or batch_size, side_by_side)
        at_limit = is_evaluated and (left <= 0 or now >= status["ends"])
        is_asking = quota > 0 and not (at_limit or status["is_ending"] or status["is_waiting"])
        is_done = in_flight == 0 and (at_limit or status["is_ending"])
        is_due = is_evaluated and now >= status["next_report"] and not (is_done or status["is_ending"])
        status["is_evaluated"] = is_evaluated
        is_full = tree.size[0] + quota > len(tree.nodes)
        status["is_full"] = is_full
        status["left"] = left
        status["in_flight"] = in_flight
        status["quota"] = quota
        status["is_stuck"] = False
        status["is_asking"] = is_asking
        status["is_done"] = is_done
        status["is_due"] = is_due
        asking += is_asking
        done += is_done
        due += is_due
        full += is_full
    return asking, done, due, full


@njit
def _banned_visits(search: SearchState) -> int:
    """Returns the root's visits of moves that are banned now."""
    nodes, board = search.tree.nodes, search.root.boards[0]
    banned = search.root.banned_until[board["to_move"]]
    count = 0
    child = nodes[search.root.node]["first_child"]
    while child != NO_NODE:
        if banned[nodes[child]["move"]] > 0:
            count += nodes[child]["visits"]
        child = nodes[child]["next_sibling"]
    return count


@inline
def _quota(visits: int, left: int, in_flight: int, batch_size: int, side_by_side: int) -> int:
    """Returns how many visits may begin now, in addition to those whose leaves are under way; 0 or less for none.

    Of a search that has the evaluator to itself the leaves are selected in equal portions, one for each batch that the
    evaluator works on at once: a small batch in between would leave the evaluator idle while it is filled up.
    """
    most = max(1, side_by_side, visits // _SHARE_IN_FLIGHT)
    free = most - in_flight
    wanted = min(batch_size, free)
    if side_by_side > 0:
        share = min(batch_size, most // side_by_side)
        wanted = share if free >= share else 0
    return min(wanted, left - in_flight)


@njit
def _select_in_turn(
    searches: Any,
    statuses: np.ndarray,
    slots: np.ndarray,
    size: int,
    number: int,
    boards: np.ndarray,
    leaves: np.ndarray,
    symmetries: np.ndarray,
    giving: np.ndarray,
    starts: np.ndarray,
    roots: np.ndarray,
) -> tuple[int, int, int, int]:
    """Does the work of `LeafBatcher.select` by filling the arrays of a batch; `giving` is its `slots`.

    Returns:
        The batch's `count`, `search_count` and `root_count`, and how many searches are stuck.
    """
    count = given = root_count = stuck = 0
    starts[0] = 0
    for place in range(len(slots)):
        if count == size:
            break
        search, status = searches[slots[place]], statuses[slots[place]]
        status["served"] = number
        # An equal share, rounded up, of what the searches before it have left.
        wanted = min(status["quota"], -(-(size - count) // (len(slots) - place)))
        found, done = select_leaves(search, wanted, boards[count:], leaves[count:])
        if found == 0:
            # The tree is full, nothing is allowed at its root, or everything worth a visit is under way.
            status["is_stuck"] = done == 0 and status["in_flight"] == 0
            stuck += status["is_stuck"]
            continue
        for _ in range(found):
            symmetries[count] = random_below(search.random_symmetries, SYMMETRIES)
            count += 1
        if not status["is_evaluated"]:
            roots[root_count] = given
            root_count += 1
        giving[given] = slots[place]
        given += 1
        starts[given] = count
    return count, given, root_count, stuck


@njit
def _absorb(
    searches: Any,
    count: int,
    slots: np.ndarray,
    starts: np.ndarray,
    boards: np.ndarray,
    leaves: np.ndarray,
    rows: np.ndarray,
    ladders: np.ndarray,
    taken: np.ndarray,
    now: float,
    batch_size: int,
    side_by_side: int,
    statuses: np.ndarray,
) -> tuple[int, int, int, int]:
    """Backs up the evaluations of a batch of `count` searches, each search's in its own tree; surveys those in `taken`.

    Both in one call, since it takes Python longer to hand over the searches than compiled code to look at one.
    """
    for number in range(count):
        if slots[number] == NO_SLOT:
            continue  # the search has ended, and its tree may already serve another one
        search, start, stop = searches[slots[number]], starts[number], starts[number + 1]
        expand_and_back_up(search, boards, leaves, start, stop, rows, ladders)
        if len(search.tree.ownership):
            write_ownership(search.tree, leaves[start:stop], rows[start:stop])
            add_ownership(search.tree, search.root.node, leaves[start:stop], search.ownership)
    return _survey(searches, taken, now, batch_size, side_by_side, statuses)
