"""Work on a thread of its own."""

import contextlib
import os
import queue
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self, TypeAlias, TypeVar

from .errors import UserError

T = TypeVar("T")
_END: Any = object()
# Futures and what they wait for; None ends a thread.
_Jobs: TypeAlias = "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]"


class Closing(ABC):
    """Something that a `with` block closes at its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> object:
        """Ends its work, and releases what it holds."""


class NotCopied:
    """Something that threads of this process work for: it can neither be copied nor used by another process."""

    _process: int
    # What callers are told to do instead of a copy, and in a process that was forked.
    _not_copied, _not_forked = "make another {name}", "make another one"

    def __new__(cls, *arguments: object, **named: object) -> Self:
        made = super().__new__(cls)
        made._process = os.getpid()
        return made

    def _check_process(self) -> None:
        """Raises UserError in a process that was forked later: it has none of the threads, and would wait for ever."""
        check_process(type(self).__name__, self._process, self._not_forked)

    def __reduce_ex__(self, protocol: object) -> Any:
        name = type(self).__name__
        remedy = self._not_copied.format(name=name)
        raise TypeError(f"this {name} works with threads of this process: {remedy} instead of a copy")


def check_process(name: str, process: int, remedy: str = "make another one") -> None:
    """Raises UserError unless `process` is the number of this process; `name` is what works with its threads."""
    if os.getpid() != process:
        raise UserError(
            f"this {name} belongs to the process that made it, and this one was forked from it: {remedy} here, or "
            "start processes with multiprocessing.get_context('spawn')"
        )


def in_background(name: str, work: Callable[[], T]) -> Future[T]:
    """Begins some work on a daemon thread, for which a program that ends does not wait, and returns its future."""
    future = Future[T]()
    threading.Thread(target=_fulfil, args=(future, work), name=name, daemon=True).start()
    return future


def _fulfil(future: Future[T], work: Callable[[], T]) -> None:
    """Does the work; the future has what it returns or raises."""
    try:
        future.set_result(work())
    except BaseException as error:  # which is raised, or shown, where the future ends
        future.set_exception(error)


class Helpers:
    """Threads that share the work of the thread that owns them, which does some of it itself when it has to wait.

    So as many threads are busy as there are, and none of them only hands out work.
    """

    def __init__(self, count: int, name: str, prepare: Callable[[], object]) -> None:
        """Starts `count` threads with this name, which call `prepare` first. They end with this object."""
        self._jobs: _Jobs = queue.SimpleQueue()
        args = self._jobs, prepare  # not this object, which would live as long as the threads
        self._threads = [threading.Thread(target=_help, args=args, name=name, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()
        self._end = weakref.finalize(self, _end, self._jobs, count)

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Returns a future for some work, which is begun in the order of submission."""
        future = Future[T]()
        self._jobs.put((future, work))
        return future

    def result(self, future: Future[T]) -> T:
        """Waits for a future and returns its result; meanwhile this thread does what no other has begun."""
        with contextlib.suppress(queue.Empty):
            while not future.done():
                job = self._jobs.get_nowait()
                if job is None:
                    self._jobs.put(job)  # it is for another thread
                    break
                _fulfil(*job)
                error = job[0].exception()
                if error is not None and not isinstance(error, Exception):
                    raise error  # Ctrl-C in this thread, whatever it was doing
        return future.result()

    def close(self) -> None:
        """Ends the threads after the work that was submitted."""
        self._end()
        for thread in self._threads:
            thread.join()


def _help(jobs: _Jobs, prepare: Callable[[], object]) -> None:
    prepare()
    while (job := jobs.get()) is not None:
        _fulfil(*job)
        del job  # what it holds must not live on until the next one comes


def _end(jobs: _Jobs, count: int) -> None:
    for _ in range(count):
        jobs.put(None)


def on_own_thread(name: str, items: Generator[T, None, None], stop: Callable[[], object] = lambda: None) -> Iterator[T]:
    """Yields what a generator yields that runs on a thread of its own: torch's settings elsewhere stay as they are.

    The generator runs while the next item is awaited, and is closed at the end. `stop` makes it end soon; it is called
    when no more items are wanted, for example after Ctrl-C.
    """
    process = os.getpid()
    with ThreadPoolExecutor(1, name) as thread:
        try:
            while (item := thread.submit(next, items, _END).result()) is not _END:
                yield item
                check_process("iterator", process)
        finally:
            stop()
            try:
                if os.getpid() == process:
                    thread.submit(items.close).result()
            except RuntimeError:  # the program ends, and threads take no more work
                items.close()
