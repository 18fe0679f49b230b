"""The thread on which an engine searches.

torch is fast on one thread only, and compiling takes a while. So the worker is made and used on this thread, and the
thread that talks to a user stays free. Importing this module imports neither numba nor torch.
"""

import functools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from ..base.errors import UserError

if TYPE_CHECKING:
    from .worker import SearchWorker

T = TypeVar("T")
_Job: TypeAlias = "Callable[[Callable[[], SearchWorker]], None]"


class SearchThread:
    """Runs jobs one after the other in a daemon thread: an endless search must not keep a program running.

    A search gets one of two events when it is requested: `stop_event`, or `pondering_stop`, which is set whenever
    anything else is requested. It may have an event of its caller's instead. Any thread may stop searches.
    """

    def __init__(self, make_worker: "Callable[[], SearchWorker]") -> None:
        """Starts the thread. It calls `make_worker` before its first job, and closes the worker after the last one."""
        self._stop_event = threading.Event()
        self._pondering_stop = threading.Event()
        # An event is set and replaced in one step: a search whose event nobody can set any more would never end.
        self._events = threading.Lock()
        # The events of the jobs that have not ended. The keys are weak: who asked for a result keeps it, nobody else.
        self._stops: WeakKeyDictionary[Future[Any], threading.Event] = WeakKeyDictionary()
        # A job queued after the end marker would never run, and its caller would wait forever.
        self._closing = threading.Lock()
        self.is_closed = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        # Not a bound method: the thread must not keep this object, and so its engine, alive.
        self._thread = threading.Thread(target=_work, args=(self._jobs, make_worker), name="search", daemon=True)
        self._thread.start()

    def submit(self, function: "Callable[[SearchWorker], T]", stop: threading.Event | None = None) -> "Future[T]":
        """Calls `function` with the worker, after everything that was submitted before.

        Args:
            function: What to do.
            stop: The event that ends it, which `stop` and `close` then set.

        Raises:
            UserError: The thread is closed.
        """
        future: Future[T] = Future()

        def job(worker: "Callable[[], SearchWorker]") -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function(worker()))
            except BaseException as error:
                future.set_exception(error)

        with self._closing:
            if self.is_closed:
                raise UserError("the engine is closed")
            if stop is not None:
                with self._events:
                    self._stops[future] = stop
            self._jobs.put(job)
        return future

    @property
    def stop_event(self) -> threading.Event:
        """The event that ends a search requested now."""
        with self._events:
            return self._stop_event

    @property
    def pondering_stop(self) -> threading.Event:
        """The event that ends pondering requested now."""
        with self._events:
            return self._pondering_stop

    def stop(self) -> None:
        """Ends all searches requested so far, those that wait as soon as they have begun."""
        with self._events:
            self._stop_event.set()
            self._stop_event = threading.Event()
            for future, stop in self._stops.items():
                if not future.done():
                    stop.set()
        self.stop_pondering()

    def stop_pondering(self) -> None:
        """Ends all pondering requested so far."""
        with self._events:
            self._pondering_stop.set()
            self._pondering_stop = threading.Event()

    def close(self, timeout: float | None = None) -> bool:
        """Ends the thread after the jobs that wait; returns whether it has ended after at most `timeout` seconds.

        Any thread may call it. A job, which cannot wait for its own end, gets False at once.
        """
        with self._closing:
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
