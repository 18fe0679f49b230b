"""The first calls of the compiled core, which compile it or load it from the cache.

A cold start takes 15 to 30 s of computing in Python and LLVM, and threads cannot share it, because numba
has a lock. So another process compiles a part of it into the cache meanwhile: this module as a program, with the name
of the one that makes the first calls.
"""

import functools
import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from . import jit, numba_internals
from .files import folder_lock
from .system import available_cpus

logger = logging.getLogger(__name__)

# Seconds for which a helper is waited for, many times what it takes also beside a dozen busy processes: in a program
# that embeds Python, `sys.executable` may be that program, which never ends.
_PATIENCE = 600.0
_STEP = 0.05  # seconds between looks at a helper

_under_way = ""


@dataclass(frozen=True)
class Step:
    """Calls of some of the core."""

    name: str  # what is compiled, for the log
    run: Callable[[], object]  # makes the calls
    module: str = ""  # whose `main` makes the same calls, in another process; empty for none


def is_cold() -> bool:
    """Whether the core still has to be compiled on this machine, which takes up to a minute."""
    return not jit.config.DISABLE_JIT and not any(folder.is_complete for folder in jit.CODE_FOLDERS)


def is_kept(function: str) -> bool:
    """Whether a function, by its full name, has been compiled on this machine, or nothing is compiled at all."""
    return jit.config.DISABLE_JIT or any(folder.has(function) for folder in jit.CODE_FOLDERS)


def step_under_way() -> str:
    """Returns the step that is being compiled in this process, such as `2/4: the search`; "" if nothing is."""
    return _under_way


def warm_up(steps: list[Step]) -> None:
    """Runs each step so that the core is compiled or loaded from the cache.

    Each step that compiles is logged, as a warning, since the engine does not answer meanwhile: all of them while the
    cache is cold, later those of a kind of evaluator that is new on this machine.
    """
    global _under_way
    if not is_cold():
        for step in steps:
            run_step(step)
        return
    start = time.perf_counter()
    try:
        with _helpers(steps) as helpers:
            for number, step in enumerate(steps, 1):
                _under_way = f"{number}/{len(steps)}: {step.name}"
                logger.warning(f"compiling {_under_way}")
                if step.module in helpers:
                    wait_for_helper(helpers[step.module], step.name)
                with without_garbage_collection():
                    step.run()
    finally:
        _under_way = ""
    kept = f" (not kept: {problem})" if (problem := jit.mark_complete()) else ""
    logger.warning(f"compiled in {time.perf_counter() - start:.0f} s{kept}")


def run_step(step: Step) -> None:
    """Runs a step; if that compiles something, it is logged: to load code from the cache is fast."""
    numba_internals.before_compiling = functools.cache(lambda: logger.warning(f"compiling {step.name}"))
    try:
        step.run()
    finally:
        numba_internals.before_compiling = bool


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
    """Lets the helper process end when the process that started it does, which closes its end of the pipe.

    Ctrl-C reaches both of them: what it ends is up to the other one.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait() -> None:
        # Not from `sys.stdin`: Python aborts if a thread is reading it when the process ends by itself.
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _helpers(steps: list[Step]) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Within a `with` block the steps' modules compile into the cache; the end of the block ends them.

    There is a process for each module, by its name, if there are cores for them.
    """
    modules = list(dict.fromkeys(step.module for step in steps if step.module))[: available_cpus() - 1]
    helpers = {module: helper for module in modules if (helper := start_helper(module))}
    try:
        yield helpers
    finally:
        for helper in helpers.values():
            helper.kill()  # if it has not ended yet: a step failed
            helper.communicate()


def wait_for_helper(helper: subprocess.Popen[bytes], name: str, is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Waits for a helper, unless it is stopped; one that fails costs time only."""
    until = time.monotonic() + _PATIENCE
    while helper.poll() is None and not is_stopped():
        if time.monotonic() > until:
            helper.kill()
        time.sleep(_STEP)
    if helper.returncode:
        logger.info(f"the process that compiles {name} ended with status {helper.returncode}: compiling it here")


def start_helper(module: str) -> subprocess.Popen[bytes] | None:
    """Runs a module's `main` in a process that finds the same packages; None if it cannot start, or share its code."""
    if jit.CACHE_FOLDER is None or not sys.executable:
        return None
    folders = os.pathsep.join(folder for folder in sys.path if isinstance(folder, str))
    optimised = ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    # -P: no module is imported from the working folder, unless it is one of these folders.
    command = [sys.executable, "-P", *optimised, "-m", __name__, module]
    quiet, environment = subprocess.DEVNULL, {**os.environ, "PYTHONPATH": folders}
    window: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # Windows would open one under a program without any
    try:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, creationflags=window
        )
    except OSError:
        return None


def main(module: str) -> None:
    """Runs a module's `main` in a helper process, after others that do the same: then the code is there."""
    end_with_parent()
    if jit.CACHE_FOLDER is not None:
        with folder_lock(jit.CACHE_FOLDER, f"{module}.lock", _PATIENCE), without_garbage_collection():
            import_module(module).main()


if __name__ == "__main__":
    main(sys.argv[1])
