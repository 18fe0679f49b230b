"""Work on a thread of its own."""

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()


def in_background(name: str, work: Callable[[], T]) -> Future[T]:
    """Begins some work on a thread with this name; the future has what it returns or raises.

    The thread is a daemon: a program that ends does not wait for it.
    """
    future = Future[T]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # which is raised, or shown, where the future ends
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def on_own_thread(name: str, items: Generator[T, None, None], stop: Callable[[], object] = lambda: None) -> Iterator[T]:
    """Yields what a generator yields that runs on a thread of its own: torch's settings elsewhere stay as they are.

    Args:
        name: The name of the thread.
        items: The generator; it runs while the next item is awaited, and is closed at the end.
        stop: Makes the generator end soon; called when no more items are wanted, for example after Ctrl-C.
    """
    with ThreadPoolExecutor(1, name) as thread:
        try:
            while (item := thread.submit(next, items, _END).result()) is not _END:
                yield item
        finally:
            stop()
            try:
                thread.submit(items.close).result()
            except RuntimeError:  # the program ends, and threads take no more work
                items.close()
