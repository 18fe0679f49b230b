"""The first calls of the compiled core, which compile it or load it from the cache.

A cold start is a computation of 15 to 30 s in Python and LLVM, of which one thread can do one thing at a time: numba
has a lock. So another process compiles a part of it into the cache meanwhile.
"""

import gc
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from . import jit
from .system import available_cpus

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """Calls of some of the core.

    Attributes:
        name: What is compiled, for the log.
        run: Makes the calls.
        module: A module that makes the same calls when it is run as a program, in another process; empty for none.
    """

    name: str
    run: Callable[[], object]
    module: str = ""


def warm_up(steps: list[Step]) -> None:
    """Runs each step so that the core is compiled or loaded from the cache.

    While the cache is cold each step is logged, as a warning, since the program does not respond meanwhile.
    """
    cold = jit.is_cold()
    start = time.perf_counter()
    helpers = _start_helpers(steps) if cold else {}
    for number, step in enumerate(steps, 1):
        if not cold:
            step.run()
            continue
        logger.warning(f"compiling {number}/{len(steps)}: {step.name}")
        if step.module in helpers:
            helpers.pop(step.module).communicate()
        with without_garbage_collection():
            step.run()
    if cold:
        problem = jit.mark_complete()
        seconds = time.perf_counter() - start
        logger.warning(f"compiled in {seconds:.0f} s{f' (not kept: {problem})' if problem else ''}")


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Leaves out the search for garbage, which takes a quarter of the time of a compilation and finds little."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
            gc.collect()


def end_with_parent() -> None:
    """Lets the helper process end when the process that started it does, which closes its end of the pipe."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _start_helpers(steps: list[Step]) -> dict[str, subprocess.Popen[bytes]]:
    """Starts the processes that compile the steps' modules, if there are cores for them and a folder to meet in."""
    helpers: dict[str, subprocess.Popen[bytes]] = {}
    modules = dict.fromkeys(step.module for step in steps if step.module)
    if jit.CACHE_FOLDER is None or not sys.executable:
        return helpers
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    optimised = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    quiet = subprocess.DEVNULL
    for module in list(modules)[: available_cpus() - 1]:
        command = [sys.executable, *optimised, "-m", module]
        with suppress(OSError):  # then this process compiles it
            helpers[module] = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet
            )
    return helpers
