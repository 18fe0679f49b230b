"""Compiling the solver in another process, before anybody asks it something.

It takes half a minute, once on a machine, in which numba would keep this process from answering and from ending.
Programs that offer the solver begin it as soon as the engine is ready. The process ends with the program, and has its
priority, since on a busy machine a question would wait for minutes otherwise: the first one waits for it instead of
compiling the same again.
"""

import logging
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Future

logger = logging.getLogger(__name__)

_FIRST_CALLS = f"{__package__}.first_calls"
LAST = "gtp_engine.solver.verification.read"  # the function that is compiled after all others (`first_calls`)

_lock = threading.Lock()
_has_begun = False
_helper: "subprocess.Popen[bytes] | None" = None


def begin_when(ready: "Future[None]") -> None:
    """Begins to compile the solver once an engine is ready: what its first move needs is compiled before."""
    ready.add_done_callback(lambda done: None if done.cancelled() or done.exception() else begin())


def begin() -> None:
    """Begins to compile the solver, unless that is done, was begun in this process, or nothing can be kept."""
    global _has_begun, _helper
    from ..base import warm_up  # imports numba

    with _lock:
        if not (_has_begun or warm_up.is_kept(LAST)) and (_helper := warm_up.start_helper(_FIRST_CALLS)):
            # Nobody may ever ask whether it has ended, without which it stays in the list of processes.
            threading.Thread(target=_helper.wait, daemon=True).start()
        _has_begun = True


def is_compiling() -> bool:
    """Whether the other process is still compiling."""
    return _helper is not None and _helper.poll() is None


def wait_until_compiled(is_stopped: Callable[[], bool]) -> bool:
    """Begins to compile the solver, if nobody has, and waits for it; returns False if it was stopped meanwhile."""
    from ..base import warm_up

    begin()
    if _helper is not None and is_compiling():
        logger.warning("compiling the solver, which is done once on this machine")
        warm_up.wait_for_helper(_helper, "the solver", is_stopped)
        return not is_compiling()
    return True
