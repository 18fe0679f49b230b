"""Compiling the solver in another process, before anybody asks it something.

It takes half a minute, in which numba would keep this process from answering and from ending, and again that long after
each change of the program, Python or numba. Programs that offer the solver begin it as soon as the engine is ready. The
process ends with the program, and has its priority, since on a busy machine a question would wait for minutes
otherwise: the first one waits for it instead of compiling the same again (`prepare`). Moves and counts never wait: they
do without the solver until it `is_ready`.
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
_is_loaded = False
_helper: "subprocess.Popen[bytes] | None" = None


def begin_when(ready: "Future[None]") -> None:
    """Begins to compile the solver once an engine is ready: what its first move needs is compiled before."""
    ready.add_done_callback(lambda done: None if done.cancelled() or done.exception() else begin())


def begin() -> None:
    """Begins to compile the solver, unless that is done, was begun in this process, or nothing can be kept."""
    global _has_begun, _helper
    from ..base import warm_up  # imports numba

    with _lock:
        if not (_has_begun or is_ready()) and (_helper := warm_up.start_helper(_FIRST_CALLS)):
            # Nobody may ever ask whether it has ended, without which it stays in the list of processes.
            threading.Thread(target=_helper.wait, daemon=True).start()
        _has_begun = True


def is_ready() -> bool:
    """Whether the solver answers without compiling anything: it is kept on this machine, or `prepare` has loaded it."""
    from ..base import warm_up

    return _is_loaded or warm_up.is_kept(LAST)


def is_compiling() -> bool:
    """Whether the other process is still compiling."""
    return _helper is not None and _helper.poll() is None


def prepare(is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Begins to compile the solver, if nobody has, waits for it and loads it, as the first `solve` does otherwise.

    Once `is_stopped` returns True, nothing is loaded.
    """
    global _is_loaded
    from ..base import warm_up
    from . import first_calls

    begin()
    if _helper is not None and is_compiling():
        logger.warning("compiling the solver; its code is kept until the program, Python or numba changes")
        warm_up.wait_for_helper(_helper, "the solver", is_stopped)
    if not (_is_loaded or is_compiling()):
        first_calls.main()
        _is_loaded = True
