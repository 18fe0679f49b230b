"""The thread on which an engine searches.

torch is fast on one thread only, and compiling takes a while. So the worker is made and used on this thread, and the
thread that talks to a user stays free. Importing this module imports neither numba nor torch.
"""

import functools
import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from ..base.errors import UserError
from ..base.threads import NotCopied

if TYPE_CHECKING:
    from .worker import SearchWorker

logger = logging.getLogger(__name__)
T = TypeVar("T")
_UNNOTICED = 10.0  # seconds that a search without limits is waited for before a warning, by judgement


class SearchFuture(NotCopied, Future[T]):
    """A future whose job ends early once it is cancelled: so does a search that an asyncio task no longer awaits."""

    _not_copied, _not_forked = "pass on its result()", "make an Engine and ask it"

    def __init__(self, thread: threading.Thread, stop: threading.Event | None, *, is_endless: bool) -> None:
        """Makes a future of a job of a thread, with an event that ends it."""
        super().__init__()
        self._thread, self._stop, self.is_endless = thread, stop, is_endless
        self.before: list[threading.Event] = []  # the events of the endless searches before the job

    def result(self, timeout: float | None = None) -> T:
        """Returns the result. A wait without a timeout ends endless searches before the job: it would never end.

        Raises:
            UserError: Nobody would ever answer: this is the thread that does the jobs, or a process that was forked.
        """
        self._begin_wait(timeout)
        if timeout is None and self.is_endless:
            with suppress(TimeoutError):
                return super().result(_UNNOTICED)
            logger.warning("waiting for a search without limits, which ends when Engine.stop is called")
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Returns the error, None if there is none; waits, and raises UserError, as `result` does."""
        self._begin_wait(timeout)
        return super().exception(timeout)

    def add_done_callback(self, function: "Callable[[Future[T]], object]") -> None:
        """Calls a function with the future once it is done, as `await` does; ends the same searches as `result`.

        Raises:
            UserError: It never would be called: this is a process that was forked.
        """
        self._check_process()
        self._end_those_before()
        super().add_done_callback(function)

    def _begin_wait(self, timeout: float | None) -> None:
        self._check_process()
        if threading.current_thread() is self._thread and not self.done():
            raise UserError("a function that the search calls, such as on_report, cannot wait for a search")
        if timeout is None:
            self._end_those_before()

    def _end_those_before(self) -> None:
        for stop in self.before if not self.done() else ():
            stop.set()

    def cancel(self) -> bool:
        """Cancels a job that waits. One that runs is told to end, and keeps its result; returns False then."""
        is_cancelled = super().cancel()
        if self._stop is not None and self.running():
            self._stop.set()
        return is_cancelled


_Job: TypeAlias = "Callable[[Callable[[], SearchWorker]], None]"


class SearchThread:
    """Runs jobs one after the other in a daemon thread: an endless search must not keep a program running.

    Any thread may stop searches.

    Attributes:
        pondering_stop: Ends pondering that is requested now; set whenever anything else is requested.
        is_closed: Whether `close` was called.
    """

    def __init__(self, make_worker: "Callable[[], SearchWorker]") -> None:
        """Starts the thread. It calls `make_worker` before its first job, and closes the worker after the last one."""
        self.pondering_stop = threading.Event()
        self._requested: WeakSet[threading.Event] = WeakSet()  # the events of `new_stop`
        # The events of the jobs that have not ended. The keys are weak: who asked for a result keeps it, nobody else.
        self._stops: WeakKeyDictionary[SearchFuture[Any], threading.Event] = WeakKeyDictionary()
        # An event is set and forgotten in one step: a search whose event nobody can set any more would never end.
        # Nor is a job queued after the end marker, since it would never run, and its caller would wait forever.
        self._lock = threading.Lock()
        self.is_closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        # Not a bound method: the thread must not keep this object, and so its engine, alive.
        self._thread = threading.Thread(target=_work, args=(self._jobs, make_worker), name="search", daemon=True)
        self._thread.start()

    def new_stop(self) -> threading.Event:
        """Returns an event for a search that is requested now, which `stop` and `close` set."""
        with self._lock:
            event = threading.Event()
            self._requested.add(event)
            return event

    def submit(
        self,
        function: "Callable[[SearchWorker], T]",
        stop: threading.Event | None = None,
        *,
        is_endless: bool = False,
    ) -> "Future[T]":
        """Calls `function` with the worker, after all that was submitted before.

        `stop`, `close`, and `cancel` of the future while it runs set its event; so does a wait for a later one, or a
        callback of it, if the job is endless.

        Raises:
            UserError: The thread is closed.
        """
        future = SearchFuture[T](self._thread, stop, is_endless=is_endless)

        def job(worker: "Callable[[], SearchWorker]") -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(worker()))
            except BaseException as error:
                future.set_exception(error)

        with self._lock:
            if self.is_closed:
                raise UserError("the engine is closed")
            running = ((earlier, event) for earlier, event in self._stops.items() if not earlier.done())
            future.before += [event for earlier, event in running if earlier.is_endless]
            if stop is not None:
                self._stops[future] = stop
            self._jobs.put(job)
        return future

    def stop(self) -> None:
        """Ends all searches requested so far, those that wait as soon as they have begun."""
        with self._lock:
            for event in self._requested:
                event.set()
            self._requested.clear()
            for future, stop in self._stops.items():
                if not future.done():
                    stop.set()
        self.stop_pondering()

    def stop_pondering(self) -> None:
        """Ends all pondering requested so far."""
        with self._lock:
            self.pondering_stop.set()
            self.pondering_stop = threading.Event()

    def close(self, timeout: float | None = None) -> bool:
        """Ends the thread after the jobs that wait; returns whether it has ended after at most `timeout` seconds.

        Any thread may call it. A job, which cannot wait for its own end, gets False at once.
        """
        with self._lock:
            if not self.is_closed:
                self.is_closed = True
                self._jobs.put(None)
        self.stop()
        if threading.current_thread() is self._thread:
            return False
        self._thread.join(timeout)
        return not self._thread.is_alive()


def _work(jobs: "queue.SimpleQueue[_Job | None]", make_worker: "Callable[[], SearchWorker]") -> None:
    worker = functools.cache(make_worker)
    while (job := jobs.get()) is not None:
        job(worker)
        del job  # what it holds must not live on until the next one comes
    if worker.cache_info().currsize:  # otherwise none was made
        worker().close()
