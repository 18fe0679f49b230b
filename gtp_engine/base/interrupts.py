"""Ctrl-C in commands: handlers that raise nothing, because an exception can be lost.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a callback of C code (numba has some while
compiled code is loaded, imports have others) it is printed and forgotten, and while numba converts an argument or a
result it becomes a SystemError. So Ctrl-C ends the process at once while a command starts, and in commands that have
nothing to save. A command that has finished work to keep calls `note`: from then on Ctrl-C sets a flag, and the loops
of the command look at it between their steps (`check`). Only a prompt needs the exception (`raise_again`). Where the
program was started to ignore Ctrl-C, as a shell script starts its background jobs, it does so.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol, TypeAlias

from .system import EXIT_INTERRUPTED

_SHOW_CURSOR = b"\033[?25h"  # a display that is redrawn hides it
# Seconds for which the main thread may take to end the process, before the watcher does.
_PATIENCE = 0.5

_noted = False


@contextlib.contextmanager
def end_at_once() -> Iterator[None]:
    """Within a `with` block Ctrl-C ends the process, until `note` or another handler is set.

    Only the main thread may set handlers; in other threads nothing changes.
    """
    global _noted
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _noted = False
    before = signal.getsignal(signal.SIGINT)
    _set_handler(_end)
    try:
        with _watched():
            yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        _noted = False  # what follows in this process was not interrupted


@contextlib.contextmanager
def _watched() -> Iterator[None]:
    """Within a `with` block a thread waits for Ctrl-C as well.

    The main thread alone runs handlers, between two steps of Python: the compiler may keep it for half a minute. But
    the number of a signal is written into a pipe at once.
    """
    reader, writer = os.pipe()
    with contextlib.suppress(AttributeError, OSError):  # Windows before Python 3.12
        os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    over = threading.Event()
    threading.Thread(target=_watch, args=(reader, over), name="interrupts", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writer)  # which ends the thread


def _watch(reader: int, over: threading.Event) -> None:
    """Ends the process for a main thread that cannot, unless the block to which the signal belongs is over."""
    while numbers := os.read(reader, 64):
        if signal.SIGINT in numbers and signal.getsignal(signal.SIGINT) is _end:
            time.sleep(_PATIENCE)
            if not over.is_set():
                os._exit(EXIT_INTERRUPTED)
    os.close(reader)


Handler: TypeAlias = Callable[[int, FrameType | None], object]


def is_ignored() -> bool:
    """Returns whether Ctrl-C is ignored, which the main process never asks for itself."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def _set_handler(handler: Handler) -> None:
    if not is_ignored():
        signal.signal(signal.SIGINT, handler)


def note(stop: Callable[[], object] = lambda: None) -> Handler:
    """From now on the first Ctrl-C sets the flag, for `check`; a second one raises KeyboardInterrupt.

    The first one calls `stop` as well, which must only set a flag. Returns the handler, for signals that mean the same.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        global _noted
        _noted = True
        raise_again()
        stop()

    _set_handler(handle)
    return handle


class Stoppable(Protocol):
    """Work that ends soon after `stopped` is set, and keeps what is finished."""

    stopped: bool


def end_on_signals(work: Stoppable) -> None:
    """Stops the work at the first Ctrl-C or SIGTERM; a second Ctrl-C ends it at once."""

    def stop() -> None:
        work.stopped = True

    note(stop)
    signal.signal(signal.SIGTERM, lambda number, frame: stop())


def raise_again() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, as it does in Python: for a command that waits at a prompt."""
    _set_handler(signal.default_int_handler)


def check() -> None:
    """Raises KeyboardInterrupt if Ctrl-C has been noted: for loops, between two steps."""
    if _noted:
        raise KeyboardInterrupt


def _end(number: int, frame: object) -> None:
    """Ends the process without cleaning up: nothing that a command has begun is worth waiting for yet."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or interrupted in the middle of a write
            stream.flush()
            if stream.isatty():
                os.write(stream.fileno(), _SHOW_CURSOR)
    os._exit(EXIT_INTERRUPTED)
