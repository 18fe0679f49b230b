"""A pool of processes on this machine.

The processes end by themselves when the main process is gone, even if it was killed.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from .errors import ProcessLostError
from .pool import Pool, SharedFile, Worker
from .system import available_cpus, configure_process

# A terminal, torchrun and systemd send them to all processes; the main process decides what they do to the others.
TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOST = "it has crashed, or was killed by a user, or by the system because it was out of memory"
_worker: Worker  # of a worker's process


class Processes(Pool):
    """A pool of processes on this machine. Here a file that is shared is read from its path."""

    def __init__(self) -> None:
        super().__init__()
        self._executors: dict[int, ProcessPoolExecutor] = {}  # of one process each, by their workers
        self._futures: dict[Future[Any], int] = {}  # the calls under way, with their workers
        self._context = multiprocessing.get_context("spawn")
        self._other_end, self._lifeline = self._context.Pipe(duplex=False)

    def close(self) -> None:
        self._lifeline.close()
        for executor in self._executors.values():
            executor.shutdown(cancel_futures=True)
        self._executors = {}

    @property
    def size(self) -> int:
        return self._per_machine or available_cpus()

    def _fill(self) -> None:
        while len(self._executors) < self.size:
            number = next(self._worker_numbers)
            arguments = self._other_end, number
            self._executors[number] = ProcessPoolExecutor(1, self._context, _begin, arguments)

    def _ready(self) -> Iterable[int]:
        return list(self._executors)

    def _send(self, worker: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        paths = (str(item.path) if isinstance(item, SharedFile) else item for item in arguments)
        try:
            with signals_blocked():  # the first call starts the process
                future = self._executors[worker].submit(_work, function, *paths)
        except BrokenProcessPool as error:  # it was lost while it was idle
            future = Future()
            future.set_exception(error)
        self._futures[future] = worker

    def _receive(self, seconds: float) -> Iterator[tuple[int, Any]]:
        if not self._futures:
            time.sleep(seconds)
        for future in wait(self._futures, seconds, FIRST_COMPLETED).done:
            worker = self._futures.pop(future)
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                self._executors.pop(worker).shutdown(wait=False)
                error = ProcessLostError(_LOST)
            yield worker, error or future.result()


def own_unless(pool: Pool | None) -> contextlib.AbstractContextManager[Pool]:
    """Returns a pool for a `with` block: the given one, which stays open, or else one of this machine."""
    return contextlib.nullcontext(pool) if pool else Processes()


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Blocks termination signals while child processes start, until they can ignore them; restores them on exit."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # otherwise starting the first process would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINATION_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(lifeline: Connection, number: int) -> None:
    """Prepares a worker's process, which ends when the other end of `lifeline` is closed or its process gone."""
    global _worker
    for wish in TERMINATION_SIGNALS:
        signal.signal(wish, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    configure_process()
    _worker = Worker(number)


def _end_with(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(0)


def _work(function: Callable[..., Any], *arguments: Any) -> Any:
    """Answers a call in a worker's process."""
    return function(_worker, *arguments)
