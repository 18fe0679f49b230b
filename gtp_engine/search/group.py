"""Searches whose leaves share the batches of one evaluator.

Small networks answer in less time than Python takes for a few calls. So all that is done for each search at each batch
is done here, in a few calls of compiled code for all of them: how many leaves each may give, selecting these, and
backing up what the evaluator says of them.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..compiled import List, inline, njit
from ..evaluate.interface import ALL_SYMMETRIES, Evaluator, Outputs
from ..evaluate.playout import random_below
from ..game.board import BOARD
from .averaging import Averaging
from .game_tree import GameTree
from .gumbel import NO_HALVING
from .ownership import add_ownership, no_ownership, write_ownership
from .parameters import SearchParameters
from .selection import Root, Rule
from .tree import NOBODY, NODE, UNEVALUATED, Tree
from .utility import Utility
from .value_bias import new_biases
from .visits import Said, View, expand_and_back_up, select_leaves

# Leaves chosen before the tree knows much are chosen blindly: at most a quarter of the visits is in flight.
_SHARE_IN_FLIGHT = 4
_NO_FIRST_PLAYS = np.zeros((0, 2, 2, 1), np.float32)
_NO_OUTLOOK = np.zeros((0, 3), np.float32)
_NO_OWNERSHIP = np.zeros((0, 1), np.float32)

STATE = np.dtype(
    [
        ("is_evaluated", np.bool_),  # whether the evaluator has seen the root
        ("is_full", np.bool_),  # whether the arena has no place for `room` leaves more
        ("keeps_ownership", np.bool_),
        ("left", np.int64),  # to the limit, which counts the root's visits but those of moves that are banned now
        ("in_flight", np.int64),  # leaves under way
        ("room", np.int64),  # visits that may begin now; 0 or less for none
    ],
    align=True,
)


@dataclass
class Batch:
    """Leaves under way, in rows: positions, nodes, symmetries; those of places[i] in the rows starts[i] to starts[i+1].

    places: NOBODY where the search has left. roots: which of them gave their root. ticket: the evaluator's.
    """

    boards: np.ndarray
    leaves: np.ndarray
    turns: np.ndarray
    places: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    starts: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    roots: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    keeps_ownership: bool = False
    ticket: Any = None

    @property
    def count(self) -> int:
        return int(self.starts[-1])


class Member(Protocol):
    """What a group needs of a search (`search.Search`)."""

    evaluator: Evaluator
    parameters: SearchParameters
    tree: GameTree

    def view(self) -> View:
        """The search as compiled code sees it."""

    def meet_root(self, outputs: Outputs, row: int) -> None:
        """Goes on once its root was evaluated, in that row of the outputs, and backed up."""


class Group:
    """Each search has a place, from `enter` to `leave`, and its tree is not to be changed in between but from here."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.searches: list[Member | None] = []
        self.pending: deque[Batch] = deque()
        """The batches under way, the oldest first."""
        self._views: Any = None  # List[View], as of the last `_refresh`
        self._changed: set[int] = set()  # places whose view is another one since
        self._states = np.zeros(0, STATE)
        self._free: list[Batch] = []

    def enter(self, search: Member) -> int:
        """Gives a search a place, once it has begun (`Search.begin`)."""
        if None in self.searches:
            place = self.searches.index(None)
            self.searches[place] = search
        else:
            place = len(self.searches)
            self.searches.append(search)
            self._states = np.zeros(place + 1, STATE)
        self._changed.add(place)
        return place

    def leave(self, place: int) -> None:
        """Frees a place. Leaves of it that are under way are not waited for."""
        self.searches[place] = None
        self._changed.add(place)
        for batch in self.pending:
            batch.places[batch.places == place] = NOBODY
        if not any(self.searches):
            self._refresh()  # it may be long until the next one

    def _refresh(self) -> None:
        """Writes the views anew that have changed by more than the contents of arrays."""
        for place in sorted(self._changed):
            search = self.searches[place]
            view = search.view() if search is not None else _NOBODYS_VIEW
            if self._views is None:
                self._views = _new_views(view)
            else:
                _put(self._views, place, view)
        self._changed.clear()

    def change_evaluator(self, evaluator: Evaluator) -> None:
        """Goes on with another one of the same kind; nothing may be under way."""
        assert not self.pending
        self.evaluator = evaluator
        for search in self.searches:
            if search is not None:
                search.evaluator = evaluator

    def states(self, side_by_side: int = 0) -> np.ndarray:
        """STATE [places], valid until the next call.

        side_by_side: where a search has the evaluator for itself, how many batches that evaluates at once. Each gets an
        equal portion of the leaves that may be under way, and there is at least one for each.
        """
        self._refresh()
        if self.searches:
            _write_states(self._views, self.evaluator.batch_size, side_by_side, self._states)
        return self._states

    def select(self, places: np.ndarray, size: int) -> tuple[Batch, np.ndarray, np.ndarray]:
        """Begins visits of these searches in turn, for each up to its share of what is left of a batch of `size`, and
        to its room as `states` told it last. Also how many positions each has in the batch, and how many visits needed
        none and are done; -1 where the batch was full before. Both are 0 where a tree is full, nothing is allowed at
        its root, or all that is worth a visit is under way.
        """
        states = self._states[places]
        for place, room in zip(places[states["is_full"]], states["room"][states["is_full"]], strict=True):
            search = self.searches[place]
            assert search is not None
            search.tree.make_room(int(room), ownership=False)
            self._changed.add(int(place))
        self._refresh()
        batch = self._free.pop() if self._free else _new_batch(size)
        if len(batch.boards) < size:
            batch = _new_batch(max(size, self.evaluator.batch_size))  # a search alone asks for more from time to time
        counts, done = np.full((2, len(places)), -1)
        _select_in_turn(self._views, self._states, places, size, batch.boards, batch.leaves, batch.turns, counts, done)
        giving = np.flatnonzero(counts > 0)
        batch.places = places[giving]
        batch.starts = np.zeros(len(giving) + 1, np.int64)
        np.cumsum(counts[giving], out=batch.starts[1:])
        batch.roots = np.flatnonzero(~states["is_evaluated"][giving])
        batch.keeps_ownership = bool(states["keeps_ownership"][giving].any())
        return batch, counts, done

    def submit(self, batch: Batch) -> None:
        """Hands a batch to the evaluator. All of it is of one board's size, symmetry, optimism and profile."""
        search = self.searches[batch.places[0]]
        assert search is not None
        symmetries = None
        if search.parameters.symmetry == "average":
            symmetries = np.full(batch.count, ALL_SYMMETRIES)
        elif search.parameters.symmetry == "random":
            symmetries = batch.turns[: batch.count]
        batch.ticket = self.evaluator.submit(
            batch.boards,
            np.arange(batch.count),
            symmetries,
            ownership=batch.keeps_ownership,
            optimism=search.parameters.root_policy_optimism if 0 in batch.roots else search.parameters.policy_optimism,
            profile=search.parameters.profile,
        )
        self.pending.append(batch)

    def collect(self) -> None:
        """Waits for the oldest batch and gives each search its own."""
        batch = self.pending.popleft()
        outputs = self.evaluator.collect(batch.ticket)
        self._refresh()
        _absorb(self._views, batch.places, batch.starts, batch.boards, batch.leaves, _said_in(outputs))
        for number in batch.roots:
            place = int(batch.places[number])
            if place != NOBODY:
                search = self.searches[place]
                assert search is not None
                search.meet_root(outputs, batch.starts[number])
                self._changed.add(place)
        self.release(batch)

    def release(self, batch: Batch) -> None:
        """A batch that is done, or has come to nothing."""
        batch.ticket = None
        self._free.append(batch)


def _new_batch(size: int) -> Batch:
    return Batch(np.zeros(size, BOARD), np.zeros(size, np.int32), np.zeros(size, np.intp))


def _said_in(outputs: Outputs) -> Said:
    """An evaluator's answers for compiled code."""
    return Said(
        outputs.policy,
        outputs.value,
        outputs.lead,
        outputs.score_mean,
        outputs.score_stdev,
        outputs.ownership if outputs.ownership is not None else _NO_OWNERSHIP,
        outputs.outlook if outputs.outlook is not None else _NO_OUTLOOK,
        outputs.first_plays if outputs.first_plays is not None else _NO_FIRST_PLAYS,
    )


def _view_of_nobody() -> View:
    """What stands in a free place, so that the arrays of who had it can go."""
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
    root = Root(0, np.zeros(1, BOARD), np.zeros(1, np.uint64), 0, np.zeros(2, np.float32), False, banned, NO_HALVING)
    rule = Rule(False, *(0.0,) * (len(Rule._fields) - 1))
    scale, averaging = Utility(0.0, 0.0, 0.0), Averaging(True, 0.0, 0.0, 0.0, 0.0)
    return View(tree, root, rule, scale, averaging, no_ownership(0), False, 0, 0, np.zeros(1, np.uint64))


_NOBODYS_VIEW = _view_of_nobody()


@njit
def _new_views(view: View) -> Any:
    views = List()
    views.append(view)
    return views


@njit
def _put(views: Any, place: int, view: View) -> None:
    if place == len(views):
        views.append(view)
    else:
        views[place] = view


@njit
def _write_states(views: Any, batch_size: int, side_by_side: int, states: np.ndarray) -> None:
    for place in range(len(views)):
        view = views[place]
        tree, state = view.tree, states[place]
        node = tree.nodes[view.root.node]
        visits = node["visits"] - _banned_visits(view) if view.banning else int(node["visits"])
        in_flight = int(node["in_flight"])
        room = 1 - in_flight
        if node["state"] != UNEVALUATED:
            room = _room(visits, view.limit - visits, in_flight, view.batch_size or batch_size, side_by_side)
        state["is_evaluated"] = node["state"] != UNEVALUATED
        state["is_full"] = tree.size[0] + room > len(tree.nodes)
        state["keeps_ownership"] = len(tree.ownership) > 0
        state["left"] = view.limit - visits
        state["in_flight"] = in_flight
        state["room"] = room


@njit
def _banned_visits(view: View) -> int:
    nodes, board = view.tree.nodes, view.root.boards[0]
    banned = view.root.banned_until[board["to_move"]]
    count = 0
    child = nodes[view.root.node]["first_child"]
    while child != NOBODY:
        if banned[nodes[child]["move"]] > 0:
            count += nodes[child]["visits"]
        child = nodes[child]["next_sibling"]
    return count


@inline
def _room(visits: int, left: int, in_flight: int, batch_size: int, side_by_side: int) -> int:
    """How many visits may begin now, beside those whose leaves are under way; 0 or less for none."""
    share = max(1, side_by_side, visits // _SHARE_IN_FLIGHT)
    free = share - in_flight
    wanted = min(batch_size, free)
    if side_by_side > 0:
        portion = min(batch_size, share // side_by_side)
        wanted = portion if free >= portion else 0
    return min(wanted, left - in_flight)


@njit
def _select_in_turn(
    views: Any,
    states: np.ndarray,
    places: np.ndarray,
    size: int,
    boards: np.ndarray,
    leaves: np.ndarray,
    turns: np.ndarray,
    counts: np.ndarray,
    done: np.ndarray,
) -> None:
    """`Group.select`."""
    count = 0
    for number in range(len(places)):
        if count == size:
            return
        view, room = views[places[number]], states[places[number]]["room"]
        share = -(-(size - count) // (len(places) - number))
        counts[number], done[number] = select_leaves(view, min(room, share), boards[count:], leaves[count:])
        for _ in range(counts[number]):
            turns[count] = random_below(view.turns, ALL_SYMMETRIES)
            count += 1


@njit
def _absorb(
    views: Any, places: np.ndarray, starts: np.ndarray, boards: np.ndarray, leaves: np.ndarray, said: Said
) -> None:
    """Gives each search what the evaluator said of its leaves."""
    for number in range(len(places)):
        if places[number] == NOBODY:
            continue
        view, start, stop = views[places[number]], starts[number], starts[number + 1]
        expand_and_back_up(view, boards, leaves, start, stop, said)
        if len(view.tree.ownership) and len(said.ownership):
            write_ownership(view.tree, leaves[start:stop], stop - start, said.ownership[start:stop])
            add_ownership(view.tree, view.root.node, leaves[start:stop], view.owned)
