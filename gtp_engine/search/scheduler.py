"""Many searches side by side: their leaves are evaluated together, in batches of one evaluator.

A search that is alone fills a batch with its own leaves, chosen under virtual loss; of many each gives a few, so that
every batch is full and the leaves are well chosen. Everything happens in the thread that calls, between two batches.
"""

import bisect
import heapq
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..evaluate.interface import Evaluator
from ..game.board import BOARD
from .report import SearchReport
from .search import Limits, RootMoves, Search

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
    _run: "_Run | None" = field(default=None, init=False, repr=False)
    _ending: bool = field(default=False, init=False, repr=False)
    _error: Exception | None = field(default=None, init=False, repr=False)


@dataclass(eq=False, slots=True)
class _Run:
    """A job's search on its way. served: the number of the batch that last held leaves of it."""

    search: Search
    started: float
    next_report: float
    served: int
    in_flight: int = 0

    def report(self, job: Job, now: float) -> SearchReport:
        ownership = job.ownership or job.moves_ownership
        return self.search.report(now - self.started, ownership=ownership, moves_ownership=job.moves_ownership)


class _Kind(NamedTuple):
    """What positions of one batch have in common."""

    width: int
    height: int
    symmetry: str
    optimism: float
    profile: str


class _Part(NamedTuple):
    """The leaves of one search in a batch: rows `start` to `stop`."""

    job: Job
    start: int
    stop: int


@dataclass
class _Batch:
    """Leaves under way: positions, nodes, whose they are, and the evaluator's ticket."""

    boards: np.ndarray
    leaves: np.ndarray
    parts: list[_Part] = field(default_factory=list)
    ticket: Any = None

    @property
    def count(self) -> int:
        return self.parts[-1].stop if self.parts else 0


class Scheduler:
    """Jobs for one evaluator; jobs may be added and cancelled at any time, from their callbacks too.

    places: how many searches are under way at once. Where a job of higher priority comes, the one of the lowest waits.
    batch_size: positions evaluated together; None for the evaluator's own number.
    """

    def __init__(self, evaluator: Evaluator, places: int, batch_size: int | None = None) -> None:
        self.evaluator = evaluator
        self.places = places
        self._batch_size = batch_size
        self._waiting: list[tuple[int, int, Job]] = []  # a heap
        self._running: list[tuple[int, int, Job]] = []  # sorted, the first in order first
        self._numbers = itertools.count()
        self._pending: deque[_Batch] = deque()  # submitted, the oldest first
        self._free: list[_Batch] = []
        self._cancelled = False
        self.batches = self.positions = 0
        """The batches submitted so far, and the positions in them."""

    def add(self, job: Job) -> None:
        """Puts a new job in the queue."""
        heapq.heappush(self._waiting, (-job.priority, next(self._numbers), job))

    def cancel(self, job: Job) -> None:
        """Ends a job with what is known: `on_done` is called in a later step."""
        job._ending = True
        self._cancelled = True

    def has_place_for(self, priority: int) -> bool:
        """Whether a job that is added now would have its turn at once."""
        before = sum(-rank >= priority for rank, _, _ in (*self._running, *self._waiting))
        return before < self.places

    def change_evaluator(self, evaluator: Evaluator) -> None:
        """Goes on with another evaluator of the same kind, in the searches under way too."""
        while self._pending:
            self._collect()
        self.evaluator = evaluator
        for _, _, job in (*self._running, *self._waiting):
            if job._run is not None:
                job._run.search.evaluator = evaluator

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self._running or self._waiting or self._pending)

    def run(self) -> None:
        """Works until all jobs are done."""
        while not self.is_idle:
            self.step()

    def step(self) -> None:
        """Submits a batch, or takes one back, and ends what is done."""
        self._take_turns()
        submitted = self._submit()
        if self._pending and (not submitted or len(self._pending) >= self.evaluator.overlap):
            self._collect()
        self._look_after_jobs()

    def _take_turns(self) -> None:
        """Starts the jobs that come next while there are places, or jobs of lower priority to put off."""
        if self._cancelled:
            self._end_waiting()
        while self._waiting and (len(self._running) < self.places or self._waiting[0] < self._running[-1]):
            entry = heapq.heappop(self._waiting)
            if entry[2]._run is None and not self._start(entry[2]):
                continue
            if len(self._running) >= self.places:
                heapq.heappush(self._waiting, self._running.pop())
            bisect.insort(self._running, entry)

    def _end_waiting(self) -> None:
        """Ends the cancelled jobs that wait; those with leaves under way when these are back."""
        self._cancelled = False
        ending = [entry for entry in self._waiting if entry[2]._ending]
        self._waiting = [entry for entry in self._waiting if not entry[2]._ending]
        heapq.heapify(self._waiting)
        for entry in ending:
            if entry[2]._run is None:
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
        next_report = now + job.interval if job.interval is not None and job.on_report else float("inf")
        job._run = _Run(search, now, next_report, self.batches)
        return True

    def _submit(self) -> bool:
        """Fills a batch and hands it to the evaluator; False where there was nothing to evaluate."""
        kinds: dict[_Kind, list[tuple[int, Job, int]]] = {}
        for number, (_, _, job) in enumerate(self._running):
            room = self._room(job)
            if room > 0:
                assert job._run is not None
                kinds.setdefault(_kind_of(job._run.search), []).append((number, job, room))
        if not kinds:
            return False
        size = self._batch_size or self.evaluator.batch_size
        if len(self._running) > 1:  # few leaves are spread over the batches that are evaluated side by side
            leaves = sum(room for asking in kinds.values() for _, _, room in asking)
            leaves += sum(batch.count for batch in self._pending)
            size = min(size, -(-leaves // max(1, self.evaluator.overlap - 1)))
        asking = self._choose(list(kinds.values()), size)
        batch = self._fill(asking, size)
        if not batch.parts:
            self._free.append(batch)
            return False
        self._evaluate(batch)
        return True

    def _room(self, job: Job) -> int:
        run = job._run
        assert run is not None
        if job._ending or self._is_over(job, time.perf_counter()):
            return 0
        side_by_side = self.evaluator.overlap - 1 if len(self._running) == 1 else 0
        return run.search.room(job.limits, run.in_flight, side_by_side)

    def _choose(self, kinds: list[list[tuple[int, Job, int]]], size: int) -> list[tuple[int, Job, int]]:
        """The kind that fills a batch best, or the one that has waited too long."""

        def waited(asking: list[tuple[int, Job, int]]) -> int:
            return self.batches - min(job._run.served for _, job, _ in asking if job._run is not None)

        longest = max(kinds, key=waited)
        if waited(longest) > size // _PATIENCE_PER:
            return longest
        return max(kinds, key=lambda asking: min(size, sum(room for _, _, room in asking)))

    def _fill(self, asking: list[tuple[int, Job, int]], size: int) -> _Batch:
        """A batch of the leaves of these jobs, those first that were not served for the longest time."""
        batch = self._free.pop() if self._free else _Batch(np.zeros(0, BOARD), np.zeros(0, np.int32))
        if len(batch.boards) < size:
            batch.boards, batch.leaves = np.zeros(size, BOARD), np.zeros(size, np.int32)
        asking.sort(key=lambda entry: (entry[1]._run.served if entry[1]._run else 0, entry[0]))
        count = 0
        for number, (_, job, room) in enumerate(asking):
            if count == size:
                break
            run = job._run
            assert run is not None
            share = -(-(size - count) // (len(asking) - number))
            try:
                found, done = run.search.select(min(room, share), batch.boards[count:], batch.leaves[count:])
            except Exception as error:
                self._fail(job, error)
                continue
            run.served = self.batches + 1
            if found:
                batch.parts.append(_Part(job, count, count + found))
                run.in_flight += found
                count += found
            elif not done and not run.in_flight:
                job._ending = True  # the tree is full, or nothing is allowed
        return batch

    def _evaluate(self, batch: _Batch) -> None:
        searches = [part.job._run.search for part in batch.parts if part.job._run is not None]
        counts = [part.stop - part.start for part in batch.parts]
        chosen = [search.symmetries(count) for search, count in zip(searches, counts, strict=True)]
        symmetries = np.concatenate([turns for turns in chosen if turns is not None]) if chosen[0] is not None else None
        self.batches += 1
        self.positions += batch.count
        try:
            batch.ticket = self.evaluator.submit(
                batch.boards,
                np.arange(batch.count),
                symmetries,
                ownership=any(search.keeps_ownership for search in searches),
                optimism=searches[0].optimism,
                profile=searches[0].parameters.profile,
            )
        except Exception as error:
            self._give_up(batch, error)
            return
        self._pending.append(batch)

    def _collect(self) -> None:
        """Waits for the oldest batch and gives each search its own."""
        batch = self._pending.popleft()
        try:
            outputs = self.evaluator.collect(batch.ticket)
        except Exception as error:
            self._give_up(batch, error)
            return
        for job, start, stop in batch.parts:
            run = job._run
            assert run is not None
            run.in_flight -= stop - start
            if job._error is not None:
                continue
            try:
                run.search.absorb(batch.boards[start:stop], batch.leaves[start:stop], outputs.rows(start, stop))
            except Exception as error:
                self._fail(job, error)
        self._release(batch)

    def _give_up(self, batch: _Batch, error: Exception) -> None:
        """After a failure of the evaluator."""
        for job, start, stop in batch.parts:
            assert job._run is not None
            job._run.in_flight -= stop - start
            self._fail(job, error)
        self._release(batch)

    def _release(self, batch: _Batch) -> None:
        batch.parts, batch.ticket = [], None
        self._free.append(batch)

    def _fail(self, job: Job, error: Exception) -> None:
        """Leaves of it that are still under way would wait for ever: its search forgets all."""
        job._error = job._error or error
        job._ending = True
        assert job._run is not None
        job._run.search.clear()

    def _is_over(self, job: Job, now: float) -> bool:
        """Whether a limit is reached."""
        run, limits = job._run, job.limits
        assert run is not None
        if not run.search.tree.is_evaluated:
            return False
        if limits.visits is not None and run.search.allowed_visits() >= limits.visits:
            return True
        return limits.seconds is not None and now - run.started >= limits.seconds

    def _look_after_jobs(self) -> None:
        """Reports on the jobs that are under way, and ends those that are done."""
        now = time.perf_counter()
        ended = set()
        for _, number, job in self._running:
            run = job._run
            assert run is not None
            if not run.in_flight and (job._ending or self._is_over(job, now)):
                ended.add(number)
            elif now >= run.next_report and run.search.tree.is_evaluated and not job._ending:
                assert job.on_report is not None and job.interval is not None
                run.next_report = max(run.next_report + job.interval, now)
                job.on_report(run.report(job, now))
        if ended:
            over = [job for _, number, job in self._running if number in ended]
            self._running = [entry for entry in self._running if entry[1] not in ended]
            for job in over:
                self._end(job, now)

    def _end(self, job: Job, now: float) -> None:
        run, job._run = job._run, None
        assert run is not None
        if job._error is not None:
            job.on_error(job._error)
        else:
            job.on_done(run.report(job, now) if run.search.tree.is_evaluated else None)


def _kind_of(search: Search) -> _Kind:
    game, parameters = search.tree.game, search.parameters
    return _Kind(game.width, game.height, parameters.symmetry, search.optimism, parameters.profile)
