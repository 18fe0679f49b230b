"""Work beside the game: each piece on a thread of its own, whose result comes back as a future.

Threads are daemons: a program that ends waits for none of them longer than `CLOSING_SECONDS`.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

CLOSING_SECONDS = 5.0
_PUBLISH_SECONDS = 0.3
T = TypeVar("T")


def in_background(name: str, work: Callable[[], T]) -> Future[T]:
    """Begins some work on a thread with this name; the future has what it returns or raises."""
    future = Future[T]()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # which is raised, or shown, where the future ends
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


class Pace:
    """Tells whether pages are to see the progress of some work again; it may change far more often."""

    def __init__(self) -> None:
        self._published = 0.0

    def is_due(self) -> bool:
        """Whether the last time that this was so is long enough ago."""
        if time.monotonic() < self._published + _PUBLISH_SECONDS:
            return False
        self._published = time.monotonic()
        return True
