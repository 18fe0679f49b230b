"""Drives searches: decides which run, which share a batch, and when each reports and ends.

A lone search fills a batch with its own leaves, selected under virtual loss. With many searches, each adds a few
leaves, so that every batch is full and the leaves are well chosen. Everything happens in the thread that calls, between
two batches.
"""

import bisect
import heapq
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..go.symmetry import ALL_SYMMETRIES
from .batches import (
    NO_SLOT,
    SLOT_STATUS,
    Batch,
    Survey,
    absorb,
    empty_state,
    new_batch,
    new_states,
    put_state,
    select_in_turn,
    survey,
)
from .evaluate.evaluator import Evaluator
from .report import SearchReport, make_report
from .request import SearchRequest
from .search import ActiveSearch, Search

# Positions that cannot share a batch wait for it to fill: for one batch of the others for each 8 positions that it
# holds, since a device takes as long for a few positions as for many.
_PATIENCE_PER = 8
# Seconds between two looks at a search whose tree is full and that waits to be stopped.
_PAUSE = 0.05


@dataclass(eq=False, slots=True)
class QueuedSearch:
    """A search in the queue or under way, ordered by priority and age. `Scheduler.cancel` ends it."""

    search: Search
    request: SearchRequest
    on_done: Callable[[SearchReport | None], None]
    on_error: Callable[[Exception], None]
    priority: int
    number: int
    active: ActiveSearch = field(init=False)  # while it has a slot
    slot: int = NO_SLOT
    started: float = 0.0
    is_cancelled: bool = False

    def __lt__(self, other: "QueuedSearch") -> bool:
        return (-self.priority, self.number) < (-other.priority, other.number)


class Scheduler:
    """Searches for one evaluator; they may be added and cancelled at any time, from their callbacks too.

    Attributes:
        evaluator: The evaluator of all batches.
        slots: How many searches are under way at once, besides cancelled ones that wait for their last leaves. When one
            of higher priority comes, the one of the lowest waits.
        batches: The number of batches submitted so far.
        positions: The number of positions in these.
    """

    def __init__(self, evaluator: Evaluator, slots: int | None = None, batch_size: int | None = None) -> None:
        """Makes a scheduler without searches.

        Args:
            evaluator: Evaluates the leaves.
            slots: How many searches are under way at once; None for as many as fill the batches that
                are evaluated side by side with a leaf each.
            batch_size: Positions evaluated together; None for the evaluator's own number.
        """
        self.evaluator = evaluator
        self.slots = slots or evaluator.batch_size * -(-evaluator.overlap // 2)
        self.batches = self.positions = 0
        self._batch_size = batch_size
        self._waiting: list[QueuedSearch] = []  # a heap
        self._running: list[QueuedSearch] = []  # sorted, the first in order first
        self._taken = np.zeros(0, np.int64)  # the slots of those
        self._stoppable: list[QueuedSearch] = []  # those of them that an event may end
        self._survey: Survey | None = None  # of the slots in `_taken`, until something changes
        self._numbers = itertools.count()
        self._has_cancelled = False
        self._pending: deque[Batch] = deque()  # the oldest first
        self._free: list[Batch] = []
        # By slot: the search in it; how it stands, SLOT_STATUS; its state, as of the last `_refresh`.
        self._searches: dict[int, ActiveSearch] = {}
        self._statuses = np.zeros(0, SLOT_STATUS)
        self._states: Any = None  # List[SearchState]
        self._changed: set[int] = set()  # slots whose search state has been replaced since

    def add(
        self,
        search: Search,
        request: SearchRequest,
        on_done: Callable[[SearchReport | None], None],
        on_error: Callable[[Exception], None],
        *,
        priority: int = 0,
    ) -> QueuedSearch:
        """Puts a search in the queue.

        Args:
            search: The tree to search. Nothing else may use it until the search ends; several requests for the same
                tree must not be under way together.
            request: What to search. A time counts from the moment when the search begins, and runs while others have
                their turn.
            on_done: Called with the report at the end; with None if the search was cancelled before the evaluator saw
                its position.
            on_error: Called instead with the error of this search, of its report, or of a batch that held its leaves.
            priority: Of the waiting searches, those with the highest priority come first, then the earliest.
        """
        queued = QueuedSearch(search, request, on_done, on_error, priority, next(self._numbers))
        heapq.heappush(self._waiting, queued)
        return queued

    def cancel(self, queued: QueuedSearch) -> None:
        """Ends a search with what it has found: `on_done` is called in a later step."""
        queued.is_cancelled = self._has_cancelled = True
        if queued.slot != NO_SLOT:
            self._end_soon(queued)

    def has_slot_for(self, priority: int) -> bool:
        """Returns whether a search that is added now would begin at once."""
        others = (queued for queued in (*self._running, *self._waiting) if not queued.is_cancelled)
        return sum(queued.priority >= priority for queued in others) < self.slots

    def change_evaluator(self, evaluator: Evaluator) -> None:
        """Continues with another evaluator of the same kind, in the searches under way too."""
        while self._pending:
            self._collect()
        self.evaluator = evaluator
        self._survey = None
        for queued in (*self._running, *self._waiting):
            queued.search.evaluator = evaluator

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self._running or self._waiting or self._pending)

    def run(self) -> None:
        """Works until all searches are done."""
        while not self.is_idle:
            self.step()

    def step(self) -> None:
        """Submits a batch or collects one, reports, and ends the searches that are done."""
        self._take_turns()
        self._end_stopped()
        submitted = self._submit()
        if self._pending and (not submitted or len(self._pending) >= self.evaluator.overlap):
            self._collect()
        elif not submitted and len(self._taken) and self._statuses["is_waiting"][self._taken].all():
            stop = self._running[0].request.stop
            assert stop is not None
            stop.wait(_PAUSE)
            self._survey = None  # reports become due meanwhile
        self._look_after()

    # Turns.

    def _take_turns(self) -> None:
        """Begins the searches that come next while there are slots, or searches of lower priority to put off."""
        begun = False
        if self._has_cancelled:
            self._end_waiting()
        while self._waiting and (len(going_on := self._going_on()) < self.slots or self._waiting[0] < going_on[-1]):
            queued = heapq.heappop(self._waiting)
            if queued.slot == NO_SLOT and not self._begin(queued):
                continue
            if len(going_on) >= self.slots:
                self._running.remove(going_on[-1])
                heapq.heappush(self._waiting, going_on[-1])
            bisect.insort(self._running, queued)
            begun = True
        if begun:
            self._note_running()

    def _going_on(self) -> list[QueuedSearch]:
        """Returns the searches that take up slots, sorted; those that are cancelled only wait for their last leaves."""
        return [queued for queued in self._running if not queued.is_cancelled]

    def _end_waiting(self) -> None:
        """Ends the cancelled searches that wait; those with leaves under way when these are back."""
        self._has_cancelled = False
        ending = [queued for queued in self._waiting if queued.is_cancelled]
        self._waiting = [queued for queued in self._waiting if not queued.is_cancelled]
        heapq.heapify(self._waiting)
        for queued in ending:
            if queued.slot == NO_SLOT:
                queued.on_done(None)
            else:
                bisect.insort(self._running, queued)
        self._note_running()

    def _begin(self, queued: QueuedSearch) -> bool:
        """Begins a search in a slot; returns False if that fails."""
        request = queued.request
        queued.started = time.perf_counter()
        try:
            active = queued.search.begin(request)
        except Exception as error:
            queued.on_error(error)
            return False
        queued.active, queued.slot = active, self._take_slot(active)
        status = self._statuses[queued.slot]
        status["root_kind"] = _kind_of(active, active.parameters.root_policy_optimism)
        status["tree_kind"] = _kind_of(active, active.parameters.policy_optimism)
        status["is_open"] = request.limits.is_endless and request.stop is not None
        status["served"] = self.batches
        status["is_ending"] = queued.is_cancelled  # the beginning of another one may have cancelled it
        status["started"], status["visits_before"] = queued.started, active.visits_before
        if request.limits.seconds is not None:
            status["ends"], status["may_settle"] = queued.started + request.limits.seconds, request.early_stop
        first = request.interval if request.first_report is None else request.first_report
        if request.on_report is not None and first is not None:
            status["next_report"] = queued.started + first
        return True

    def _take_slot(self, active: ActiveSearch) -> int:
        """Returns a free slot, which the search has from now on; meanwhile only this scheduler may change its tree."""
        slot = next(slot for slot in itertools.count() if slot not in self._searches)
        self._searches[slot] = active
        if slot == len(self._statuses):
            self._statuses = np.append(self._statuses, np.zeros(1, SLOT_STATUS))
        self._statuses[slot] = np.zeros((), SLOT_STATUS)
        self._statuses["ends"][slot] = self._statuses["next_report"][slot] = np.inf
        self._changed.add(slot)
        return slot

    def _note_running(self) -> None:
        """Must be called whenever other searches are under way than before."""
        self._taken = np.array([queued.slot for queued in self._running], np.int64)
        self._stoppable = [queued for queued in self._running if queued.request.stop is not None]
        self._survey = None

    def _look(self) -> Survey:
        """Returns a survey of the searches under way, a new one if anything has changed."""
        if self._survey is None:
            self._refresh()
            known = self._states, self._taken, time.perf_counter(), *self._share, self._statuses
            self._survey = Survey(*survey(*known)) if len(self._taken) else Survey(0, 0, 0, 0, 0)
        return self._survey

    def _refresh(self) -> None:
        """Copies the search states that have been replaced to compiled code; contents of arrays are shared."""
        for slot in sorted(self._changed):
            search = self._searches.get(slot)
            state = search.state() if search is not None else empty_state()
            if self._states is None:
                self._states = new_states(state)
            else:
                put_state(self._states, slot, state)
        self._changed.clear()

    @property
    def _share(self) -> tuple[int, int, int]:
        """The arguments of `survey` that the evaluator decides."""
        evaluator = self.evaluator
        return evaluator.batch_size, evaluator.portions if len(self._running) == 1 else 0, evaluator.early_leaves

    # Batches.

    def _submit(self) -> bool:
        """Fills a batch and hands it to the evaluator; returns False if there was nothing to evaluate."""
        found = self._look()
        if not found.asking:
            return False
        size = self._batch_size or self.evaluator.batch_size
        slots = self._taken
        if len(slots) > 1:
            slots = slots[self._statuses["is_asking"][slots]]
            leaves = int(self._statuses["quota"][slots].sum()) + sum(batch.count for batch in self._pending)
            # Few leaves are spread over the batches that are in flight.
            size = min(size, -(-leaves // self.evaluator.portions))
            slots = self._of_one_kind(slots, size)
        self._survey = None
        try:
            if found.full:
                for slot in slots[self._statuses["is_full"][slots]].tolist():
                    self._searches[slot].search.make_room(int(self._statuses["quota"][slot]))
                    self._changed.add(slot)
                self._refresh()
            batch = self._select(slots, size)
        except Exception as error:
            self._fail(slots, error)
            return False
        if batch is None:
            return False
        self.batches += 1
        self.positions += batch.count
        try:
            self._evaluate(batch)
        except Exception as error:
            self._give_up(batch, error)
        return True

    def _of_one_kind(self, slots: np.ndarray, size: int) -> np.ndarray:
        """Returns those of these slots that can share the next batch, the least recently served first."""
        statuses = self._statuses[slots]
        kinds = np.where(statuses["is_evaluated"], statuses["tree_kind"], statuses["root_kind"])
        chosen = slots[kinds == self._choose_kind(kinds, statuses["quota"], statuses["served"], size)]
        return chosen[np.argsort(self._statuses["served"][chosen], kind="stable")]

    def _choose_kind(self, kinds: np.ndarray, quotas: np.ndarray, served: np.ndarray, size: int) -> int:
        """Returns the kind that fills a batch best, or one that has waited too long."""
        each: list[int] = list(dict.fromkeys(kinds.tolist()))
        if len(each) == 1:
            return each[0]

        def waited(kind: int) -> int:
            return self.batches - int(served[kinds == kind].min())

        longest = max(each, key=waited)
        if waited(longest) > size // _PATIENCE_PER:
            return longest
        return max(each, key=lambda kind: min(size, int(quotas[kinds == kind].sum())))

    def _select(self, slots: np.ndarray, size: int) -> Batch | None:
        """Returns a batch of up to `size` leaves of these searches; None if they have none."""
        batch = self._free.pop() if self._free else new_batch(size)
        if len(batch.leaves.boards) < size:
            batch = new_batch(max(size, self.evaluator.batch_size))  # a lone search sometimes asks for more
        batch.count, batch.search_count = select_in_turn(
            self._states, slots, size, self.batches + 1, self._statuses, *batch.leaves[:5]
        )
        if batch.count:
            return batch
        self._free.append(batch)
        return None

    def _evaluate(self, batch: Batch) -> None:
        """Hands a batch to the evaluator. All of it has one board size, symmetry, optimism and profile."""
        leaves = batch.leaves
        parameters, symmetries = self._searches[leaves.slots[0]].parameters, None
        if parameters.symmetry == "average":
            symmetries = np.full(batch.count, ALL_SYMMETRIES)
        elif parameters.symmetry == "random":
            symmetries = leaves.symmetries[: batch.count]
        is_tree = self._statuses["is_evaluated"][leaves.slots[0]]
        optimism = parameters.policy_optimism if is_tree else parameters.root_policy_optimism
        rows, profile = np.arange(batch.count), parameters.profile
        batch.ticket = self.evaluator.submit(
            leaves.boards, rows, symmetries, leaves.ladders, optimism=optimism, profile=profile
        )
        self._pending.append(batch)

    def _collect(self) -> None:
        """Waits for the oldest batch and backs up its evaluations."""
        batch = self._pending.popleft()
        try:
            rows = self.evaluator.collect(batch.ticket)
            self._refresh()
            leaves = batch.leaves
            numbers = np.flatnonzero(leaves.slots[: batch.search_count] != NO_SLOT)
            roots = numbers[~self._statuses["is_evaluated"][leaves.slots[numbers]]]  # whose row is their root
            found = absorb(
                self._states,
                batch.search_count,
                rows,
                self._taken,
                time.perf_counter(),
                *self._share,
                self._statuses,
                *leaves[:4],
                leaves.ladders,
            )
            for number in roots:
                slot = int(leaves.slots[number])
                self._searches[slot].on_root_evaluated(rows[leaves.starts[number]])
                self._changed.add(slot)
        except Exception as error:
            self._give_up(batch, error)
            return
        self._free.append(batch)
        self._survey = None if self._changed else Survey(*found)

    # Ends.

    def _give_up(self, batch: Batch, error: Exception) -> None:
        """Drops a batch that the evaluator failed to evaluate."""
        slots = batch.leaves.slots[: batch.search_count]
        self._fail(slots[slots != NO_SLOT], error)
        self._free.append(batch)

    def _fail(self, slots: np.ndarray, error: Exception) -> None:
        """Ends the searches in these slots and clears their trees: leaves under way would never be backed up."""
        failed = [queued for queued in (*self._running, *self._waiting) if queued.slot in slots]
        self._running = [queued for queued in self._running if queued not in failed]
        self._waiting = [queued for queued in self._waiting if queued not in failed]
        heapq.heapify(self._waiting)
        self._note_running()
        for queued in failed:
            self._release(queued)
            queued.search.clear()
            queued.on_error(error)

    def _end_soon(self, queued: QueuedSearch) -> None:
        """Selects no more leaves for a search; it ends when those under way are back."""
        self._statuses["is_ending"][queued.slot] = True
        self._survey = None

    def _end_stopped(self) -> None:
        """Ends the searches that were stopped, once they have evaluated their roots."""
        for queued in self._stoppable:
            if queued.request.is_stopped and not self._statuses["is_ending"][queued.slot]:
                self._look()
                if self._statuses["is_evaluated"][queued.slot]:
                    self._end_soon(queued)

    def _look_after(self) -> None:
        """Reports on the searches that are due, and ends those that are done or settled."""
        survey = self._look()
        if not (survey.done or survey.due or survey.settled):
            return
        now = time.perf_counter()
        statuses = self._statuses[self._taken]
        reporting, ended, settled = (
            [self._running[number] for number in np.flatnonzero(statuses[name])]
            for name in ("is_due", "is_done", "is_settled")
        )
        for queued in reporting:
            self._report(queued, now)
        for queued in settled:
            self._end_if_chosen(queued)
        if survey.done:
            self._running = [queued for queued in self._running if queued not in ended]
            self._note_running()
            for queued in ended:
                self._end(queued, now)

    def _end_if_chosen(self, queued: QueuedSearch) -> None:
        """Ends a search in which no move can overtake the most visited one, if that is the move it would play.

        By its lower confidence bound another one may be better, which the visits that are left would show.
        """
        if queued.slot == NO_SLOT:
            return
        try:
            moves = make_report(queued.active, 0.0).moves
        except Exception as error:  # a bug: the other searches go on
            self._fail(np.array([queued.slot]), error)
            return
        if moves and moves[0].visits == max(move.visits for move in moves):
            self._end_soon(queued)

    def _report(self, queued: QueuedSearch, now: float) -> None:
        request, status = queued.request, self._statuses[queued.slot]
        assert request.on_report is not None
        interval = math.inf if request.interval is None else request.interval
        status["next_report"] = max(status["next_report"] + interval, now)
        try:
            report = make_report(queued.active, now - queued.started)
        except Exception as error:  # likewise
            self._fail(np.array([queued.slot]), error)
            return
        request.on_report(report)

    def _end(self, queued: QueuedSearch, now: float) -> None:
        active = self._release(queued)
        try:
            report = make_report(active, now - queued.started) if active.search.is_evaluated else None
        except Exception as error:  # likewise
            queued.search.clear()
            queued.on_error(error)
            return
        queued.on_done(report)

    def _release(self, queued: QueuedSearch) -> ActiveSearch:
        """Frees the slot of a search."""
        active = queued.active
        del queued.active, self._searches[queued.slot]
        self._changed.add(queued.slot)
        for batch in self._pending:  # its leaves that are still under way are dropped when they come back
            batch.leaves.slots[batch.leaves.slots == queued.slot] = NO_SLOT
        if not self._searches:
            self._refresh()  # it may be long until the next one
        queued.slot = NO_SLOT
        return active


def _kind_of(active: ActiveSearch, optimism: float) -> int:
    """Returns a number that is the same for positions that can share a batch."""
    game, parameters = active.search.game, active.parameters
    return hash((game.width, game.height, parameters.symmetry, optimism, parameters.profile))


def run_search(search: Search, request: SearchRequest) -> SearchReport:
    """Searches a tree alone until the request's limits, or until it is stopped.

    Raises:
        Exception: The error of the evaluator or of `on_report`; the tree is empty then.
    """
    parameters = request.parameters or search.parameters
    scheduler = Scheduler(search.evaluator, slots=1, batch_size=parameters.batch_size or None)
    try:
        (report,) = run_in_order(scheduler, [(search, request)])
    except BaseException:
        search.clear()  # the visits of leaves that are still under way would never be backed up
        raise
    return report


def run_in_order(
    scheduler: Scheduler,
    searches: Iterable[tuple[Search, SearchRequest]],
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[SearchReport]:
    """Runs searches, as many at once as the scheduler has slots, and yields their reports in order.

    The scheduler has no other searches. Each tree, with what to search in it, is taken when there is a slot for it.
    `is_stopped` is called between batches; once it returns True, there are no more reports.

    Raises:
        Exception: The error of a search or of its report.
    """
    waiting = iter(searches)
    under_way: deque[list[SearchReport | None]] = deque()  # for each search its report, once it is there
    errors: list[Exception] = []
    while not is_stopped():
        for search, request in itertools.islice(waiting, scheduler.slots - len(under_way)):
            under_way.append([])
            scheduler.add(search, request, under_way[-1].append, errors.append)
        if not under_way:
            return
        scheduler.step()
        if errors:
            raise errors[0]
        while under_way and under_way[0]:
            report = under_way.popleft()[0]
            assert report is not None  # nobody cancels it
            yield report
