"""The one place that imports numba: the decorators of the compiled core and its cache folder.

Compiled functions release the GIL, divide as C does and are cached on disk. The cache lies in a folder of its own,
named by a hash of all that decides what is compiled (the sources, numba, the processor): numba's own check looks at one
file only and would leave a caller stale when a function that it calls changes in another file. Our folder holds for our
decorations alone, so that the functions of a program that imports this package keep their own cache.

`NUMBA_DISABLE_JIT=1` turns everything into plain Python, so that a debugger can step through.
"""

import contextlib
import hashlib
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
from numba.core import config as numba_config
from numba.typed import List as List  # of one type each, for compiled code that takes many alike

from . import paths

config: Any = numba_config  # its settings are made at run time, mypy sees none of them
F = TypeVar("F", bound=Callable[..., Any])

_COMPILED_FOLDERS = ("game", "network", "evaluate", "search")
_COMPILED_FILES = ("training/samples.py", "training/rows.py", "training/ownership.py")
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_KEPT_FOLDERS = 6  # this version's and the last five: other checkouts and installations have theirs
_COMPLETE = "complete"


def _fingerprint() -> str:
    """Names what the machine code depends on: sources, numba's version and options, processor.

    Place and time of the files are part of it because numba's own check compiles again where they differ.
    """
    digest = hashlib.sha256()
    package = Path(__file__).parent
    sources = [Path(__file__), *(package / file for file in _COMPILED_FILES)]
    sources += [file for folder in _COMPILED_FOLDERS for file in (package / folder).glob("*.py")]
    for source in sorted(sources):
        digest.update(f"{source}\0{source.stat().st_mtime_ns}\0".encode() + source.read_bytes() + b"\0")
    processor = llvmlite.binding.get_host_cpu_name()
    facts = (numba.__version__, _OPTIONS, config.BOUNDSCHECK, processor, sys.version_info[:2])
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:16]


def _prepare_cache() -> Path | None:
    """Makes this version's cache folder and removes the oldest others; None where nothing can be written."""
    parent = paths.cache_dir() / "compiled"
    folder = parent / _fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # another process may be removing them too
        others = sorted((other for other in parent.iterdir() if other != folder), key=lambda path: path.stat().st_mtime)
        for other in others[: -(_KEPT_FOLDERS - 1)]:
            shutil.rmtree(other, ignore_errors=True)
    return folder


CACHE_FOLDER = _prepare_cache()


def _decorate(function: F, **options: Any) -> F:
    if CACHE_FOLDER is None:
        return numba.njit(**_OPTIONS, **options)(function)
    users_folder = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        return numba.njit(cache=True, **_OPTIONS, **options)(function)
    finally:
        config.CACHE_DIR = users_folder


def njit(function: F) -> F:
    """Compiles a function of the core at its first call and caches it on disk."""
    return _decorate(function)


def inline(function: F) -> F:
    """As `njit`, and puts the function's code into its callers: a call that passes arrays costs 9 ns."""
    return _decorate(function, forceinline=True)


def is_cold() -> bool:
    """Whether the core still has to be compiled on this machine, which takes up to a minute."""
    return not config.DISABLE_JIT and (CACHE_FOLDER is None or not (CACHE_FOLDER / _COMPLETE).exists())


def warm_up(steps: list[tuple[str, Callable[[], object]]]) -> None:
    """Calls each named step so that it is compiled or loaded from the cache.

    While the cache is cold a line on stderr says what is going on: somebody is looking at a program that does not
    answer yet.
    """
    cold = is_cold()
    start = time.perf_counter()
    for number, (name, step) in enumerate(steps, 1):
        if cold:
            print(f"gtp_engine: compiling {number}/{len(steps)}: {name}", file=sys.stderr, flush=True)
        step()
    if cold:
        seconds = time.perf_counter() - start
        note = "" if CACHE_FOLDER else f" (not kept: {paths.cache_dir()} is not writable)"
        print(f"gtp_engine: compiled in {seconds:.0f} s{note}", file=sys.stderr, flush=True)
        if CACHE_FOLDER:
            (CACHE_FOLDER / _COMPLETE).touch()
