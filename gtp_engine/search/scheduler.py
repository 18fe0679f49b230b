"""Many searches side by side: their leaves are evaluated together, in batches of one evaluator.

A search that is alone fills a batch with its own leaves, chosen under virtual loss; of many each gives a few, so that
every batch is full and the leaves are well chosen. Everything happens in the thread that calls, between two batches.
"""

import bisect
import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..evaluate.interface import Evaluator
from .group import Batch, Group
from .report import SearchReport
from .search import Limits, RootMoves, Search
from .tree import NOBODY

# Positions that cannot share a batch wait for it to fill: so many batches of the others for each 8 that it holds, since
# a device takes as long for a few positions as for many.
_PATIENCE_PER = 8


@dataclass(eq=False, slots=True)
class Job:
    """A search to be done.

    start: gives the search, at its position; called when its turn comes. It belongs to the job until `on_done`.
    limits: where it ends. A time counts from the start, and runs while other searches have their turn. It is used up,
        unlike in `Search.run`: who asks for many positions wants their values, which still change when the choice of a
        move is settled.
    on_done: takes the report at the end; None where the job was cancelled before the evaluator saw its position.
    on_error: takes what went wrong instead, with this search or with a batch that held its leaves.
    on_report, interval: as in `Search.run`; root_moves, ownership, moves_ownership too.
    priority: of the jobs that wait those of the highest have their turn first, then the earliest.
    """

    start: Callable[[], Search]
    limits: Limits
    on_done: Callable[[SearchReport | None], None]
    on_error: Callable[[Exception], None]
    on_report: Callable[[SearchReport], None] | None = None
    interval: float | None = None
    root_moves: RootMoves | None = None
    ownership: bool = False
    moves_ownership: bool = False
    priority: int = 0
    _search: Search | None = field(default=None, init=False, repr=False)
    _place: int = field(default=NOBODY, init=False, repr=False)
    _is_cancelled: bool = field(default=False, init=False, repr=False)


# A job's search on its way: in the place of `Group.searches` that it has there.
_RUN = np.dtype(
    [
        ("started", np.float64),  # by the clock; so are the next two, infinite where there is none
        ("ends", np.float64),
        ("next_report", np.float64),
        ("served", np.int64),  # the number of the batch that last held leaves of it
        ("is_ending", np.bool_),
        ("root_kind", np.int64),  # of the batches that its root and the rest of its tree can share: see `_Kind`
        ("tree_kind", np.int64),
    ],
    align=True,
)


class _Kind(NamedTuple):
    """What positions of one batch have in common."""

    width: int
    height: int
    symmetry: str
    optimism: float
    profile: str


class Scheduler:
    """Jobs for one evaluator; jobs may be added and cancelled at any time, from their callbacks too.

    places: how many searches are under way at once. Where a job of higher priority comes, the one of the lowest waits.
    batch_size: positions evaluated together; None for the evaluator's own number.
    """

    def __init__(self, evaluator: Evaluator, places: int, batch_size: int | None = None) -> None:
        self.places = places
        self._batch_size = batch_size
        self._group = Group(evaluator)
        self._runs = np.zeros(0, _RUN)
        self._kinds: dict[_Kind, int] = {}
        self._waiting: list[tuple[int, int, Job]] = []  # a heap
        self._running: list[tuple[int, int, Job]] = []  # sorted, the first in order first
        self._numbers = itertools.count()
        self._cancelled = False
        self.batches = self.positions = 0
        """The batches submitted so far, and the positions in them."""

    @property
    def evaluator(self) -> Evaluator:
        return self._group.evaluator

    def add(self, job: Job) -> None:
        """Puts a new job in the queue."""
        heapq.heappush(self._waiting, (-job.priority, next(self._numbers), job))

    def cancel(self, job: Job) -> None:
        """Ends a job with what is known: `on_done` is called in a later step."""
        job._is_cancelled = self._cancelled = True
        if job._search is not None:
            self._runs["is_ending"][job._place] = True

    def has_place_for(self, priority: int) -> bool:
        """Whether a job that is added now would have its turn at once."""
        before = sum(-rank >= priority for rank, _, _ in (*self._running, *self._waiting))
        return before < self.places

    def change_evaluator(self, evaluator: Evaluator) -> None:
        """Goes on with another evaluator of the same kind, in the searches under way too."""
        while self._group.pending:
            self._collect()
        self._group.change_evaluator(evaluator)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self._running or self._waiting or self._group.pending)

    def run(self) -> None:
        """Works until all jobs are done."""
        while not self.is_idle:
            self.step()

    def step(self) -> None:
        """Submits a batch, or takes one back, and ends what is done."""
        self._take_turns()
        submitted = self._submit()
        pending = self._group.pending
        if pending and (not submitted or len(pending) >= self.evaluator.overlap):
            self._collect()
        self._look_after_jobs()

    def _take_turns(self) -> None:
        """Starts the jobs that come next while there are places, or jobs of lower priority to put off."""
        if self._cancelled:
            self._end_waiting()
        while self._waiting and (len(self._running) < self.places or self._waiting[0] < self._running[-1]):
            entry = heapq.heappop(self._waiting)
            if entry[2]._search is None and not self._start(entry[2]):
                continue
            if len(self._running) >= self.places:
                heapq.heappush(self._waiting, self._running.pop())
            bisect.insort(self._running, entry)

    def _end_waiting(self) -> None:
        """Ends the cancelled jobs that wait; those with leaves under way when these are back."""
        self._cancelled = False
        ending = [entry for entry in self._waiting if entry[2]._is_cancelled]
        self._waiting = [entry for entry in self._waiting if not entry[2]._is_cancelled]
        heapq.heapify(self._waiting)
        for entry in ending:
            if entry[2]._search is None:
                entry[2].on_done(None)
            else:
                bisect.insort(self._running, entry)

    def _start(self, job: Job) -> bool:
        """Begins a job's search; False where that fails."""
        now = time.perf_counter()
        try:
            search = job.start()
            search.begin(job.limits, job.root_moves, ownership=job.ownership or job.moves_ownership)
        except Exception as error:
            job.on_error(error)
            return False
        job._search, job._place = search, self._group.enter(search)
        if job._place == len(self._runs):
            self._runs = np.append(self._runs, np.zeros(1, _RUN))
        run = self._runs[job._place]
        # Another one's start may have cancelled it.
        run["started"], run["served"], run["is_ending"] = now, self.batches, job._is_cancelled
        run["ends"] = now + job.limits.seconds if job.limits.seconds is not None else np.inf
        run["next_report"] = now + job.interval if job.interval is not None and job.on_report else np.inf
        run["root_kind"] = self._kind_of(search, search.parameters.root_policy_optimism)
        run["tree_kind"] = self._kind_of(search, search.parameters.policy_optimism)
        return True

    def _kind_of(self, search: Search, optimism: float) -> int:
        game, parameters = search.tree.game, search.parameters
        kind = _Kind(game.width, game.height, parameters.symmetry, optimism, parameters.profile)
        return self._kinds.setdefault(kind, len(self._kinds))

    def _submit(self) -> bool:
        """Fills a batch and hands it to the evaluator; False where there was nothing to evaluate."""
        is_alone = len(self._running) == 1
        places, states, runs = self._look(self.evaluator.overlap - 1 if is_alone else 0)
        asking = (states["room"] > 0) & ~runs["is_ending"] & ~_is_over(states, runs, time.perf_counter())
        if not asking.any():
            return False
        places, states, runs = places[asking], states[asking], runs[asking]
        size = self._batch_size or self.evaluator.batch_size
        if not is_alone:  # few leaves are spread over the batches that are evaluated side by side
            leaves = int(states["room"].sum()) + sum(batch.count for batch in self._group.pending)
            size = min(size, -(-leaves // max(1, self.evaluator.overlap - 1)))
        kinds = np.where(states["is_evaluated"], runs["tree_kind"], runs["root_kind"])
        chosen = np.flatnonzero(kinds == self._choose(kinds, states["room"], runs["served"], size))
        chosen = chosen[np.argsort(runs["served"][chosen], kind="stable")]
        batch = self._fill(places[chosen], states[chosen], size)
        return batch is not None and self._evaluate(batch)

    def _look(self, side_by_side: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The places of the jobs under way, in order, with their `group.STATE` and _RUN."""
        places = np.array([job._place for _, _, job in self._running], np.int64)
        return places, self._group.states(side_by_side)[places], self._runs[places]

    def _choose(self, kinds: np.ndarray, rooms: np.ndarray, served: np.ndarray, size: int) -> int:
        """The kind that fills a batch best, or the one that has waited too long."""
        each: list[int] = list(dict.fromkeys(kinds.tolist()))
        if len(each) == 1:
            return each[0]

        def waited(kind: int) -> int:
            return self.batches - int(served[kinds == kind].min())

        longest = max(each, key=waited)
        if waited(longest) > size // _PATIENCE_PER:
            return longest
        return max(each, key=lambda kind: min(size, int(rooms[kinds == kind].sum())))

    def _fill(self, places: np.ndarray, states: np.ndarray, size: int) -> Batch | None:
        """A batch of the leaves of these searches, those first that were not served for the longest time; None where
        they have none.
        """
        try:
            batch, counts, done = self._group.select(places, size)
        except Exception as error:
            self._fail(places, error)
            return None
        self._runs["served"][places[counts >= 0]] = self.batches + 1
        # The tree is full, or nothing is allowed.
        stuck = (counts == 0) & (done == 0) & (states["in_flight"] == 0)
        self._runs["is_ending"][places[stuck]] = True
        if batch.count:
            return batch
        self._group.release(batch)
        return None

    def _evaluate(self, batch: Batch) -> bool:
        """Hands a batch to the evaluator; always True."""
        self.batches += 1
        self.positions += batch.count
        try:
            self._group.submit(batch)
        except Exception as error:
            self._give_up(batch, error)
        return True

    def _collect(self) -> None:
        """Waits for the oldest batch and gives each search its own."""
        batch = self._group.pending[0]
        try:
            self._group.collect()
        except Exception as error:
            self._give_up(batch, error)

    def _give_up(self, batch: Batch, error: Exception) -> None:
        """After a failure of the evaluator."""
        self._fail(batch.places[batch.places != NOBODY], error)
        self._group.release(batch)

    def _fail(self, places: np.ndarray, error: Exception) -> None:
        """Leaves of them that are still under way would wait for ever: these searches end at once and forget all."""
        failed = [entry for entry in (*self._running, *self._waiting) if entry[2]._place in places]
        self._running = [entry for entry in self._running if entry not in failed]
        self._waiting = [entry for entry in self._waiting if entry not in failed]
        heapq.heapify(self._waiting)
        for _, _, job in failed:
            search = self._take_search(job)
            search.clear()
            job.on_error(error)

    def _take_search(self, job: Job) -> Search:
        """A job's search, whose place is free then."""
        search, job._search = job._search, None
        assert search is not None
        self._group.leave(job._place)
        job._place = NOBODY
        return search

    def _look_after_jobs(self) -> None:
        """Reports on the jobs that are under way, and ends those that are done."""
        now = time.perf_counter()
        _, states, runs = self._look()
        is_ending = runs["is_ending"]
        done = (states["in_flight"] == 0) & (is_ending | _is_over(states, runs, now))
        due = (now >= runs["next_report"]) & states["is_evaluated"] & ~is_ending & ~done
        for number in np.flatnonzero(due):
            self._report(self._running[number][2], now)
        if done.any():
            over = [self._running[number][2] for number in np.flatnonzero(done)]
            self._running = [entry for entry, ended in zip(self._running, done, strict=True) if not ended]
            for job in over:
                self._end(job, now)

    def _report(self, job: Job, now: float) -> None:
        """On the way."""
        assert job.on_report is not None and job.interval is not None and job._search is not None
        run = self._runs[job._place]
        run["next_report"] = max(run["next_report"] + job.interval, now)
        job.on_report(_report_of(job, job._search, now - run["started"].item()))

    def _end(self, job: Job, now: float) -> None:
        seconds = now - self._runs["started"][job._place].item()
        search = self._take_search(job)
        job.on_done(_report_of(job, search, seconds) if search.tree.is_evaluated else None)


def _is_over(states: np.ndarray, runs: np.ndarray, now: float) -> np.ndarray:
    """Whether a limit is reached, bool."""
    return np.asarray(states["is_evaluated"] & ((states["left"] <= 0) | (now >= runs["ends"])))


def _report_of(job: Job, search: Search, seconds: float) -> SearchReport:
    ownership = job.ownership or job.moves_ownership
    return search.report(seconds, ownership=ownership, moves_ownership=job.moves_ownership)
