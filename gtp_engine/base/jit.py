"""The decorators of the compiled core, the folder of its compiled code, and random numbers for it.

Compiled functions release the GIL, divide as C does and are cached on disk (`code_cache`). The cache lies in a folder
of its own, named by a hash of all that decides what is compiled (the sources, numba, the CPU): numba's own check looks
at one file only and would leave a caller stale when a function that it calls changes in another file. A wheel may bring
such a folder for common processors (`target`), which is read first and never written.

`NUMBA_DISABLE_JIT=1` turns everything into plain Python, so that a debugger can step through.
"""

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config as numba_config
from numba.typed import List as List  # of one type each, for compiled code that accepts any number of objects

from . import code_cache, folders, target, whole_program
from .code_cache import CodeCache, CodeFolder
from .errors import UserError, error_text
from .target import Target

config: Any = numba_config  # its settings are made at run time, mypy sees none of them
F = TypeVar("F", bound=Callable[..., Any])

COMPILED = "compiled"  # the name of the folder, in the user's cache and in the packages of wheels
_PACKAGE = Path(__file__).parents[1]
_COMPILED_FOLDERS = ("go", "nets", "nets/kernels", "search", "search/evaluate")
_COMPILED_FILES = (
    "training/data/samples.py",
    "training/data/rows.py",
    "training/data/ownership.py",
)
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,  # `whole_program` makes them
    "no_cfunc_wrapper": True,
}
_KEPT_FOLDERS = 6  # this version's and the last five: other checkouts and installations have theirs


def fingerprinted_files() -> list[Path]:
    """Returns the sources that compiled code may come from: a change of one of them compiles all again."""
    folders_ = [file for folder in _COMPILED_FOLDERS for file in (_PACKAGE / folder).glob("*.py")]
    own = [Path(__file__), *(Path(str(module.__file__)) for module in (code_cache, target, whole_program))]
    return [*own, *(_PACKAGE / file for file in _COMPILED_FILES), *folders_]


def _fingerprint(processor: Target) -> str:
    """Names what the machine code depends on: sources, versions and options of Python and numba, system, processor.

    `python -O` has other bytecode. The folder of the sources does not count: all copies share their code.
    """
    digest = hashlib.sha256()
    for source in sorted(fingerprinted_files()):
        digest.update(f"{source.relative_to(_PACKAGE).as_posix()}\0".encode() + source.read_bytes() + b"\0")
    facts = (
        (numba.__version__, _OPTIONS, config.BOUNDSCHECK, config.USING_SVML),
        (EXTENSION_SUFFIXES[0], sys.flags.optimize),  # the suffix names the system, and the version and ABI of Python
        (processor.name, processor.features),
    )
    digest.update(repr(facts).encode())
    return digest.hexdigest()[:16]


def _prepare_cache() -> tuple[CodeFolder | None, str]:
    """Makes this version's cache folder and removes the oldest others; None and the reason if it cannot be written."""
    try:
        parent = folders.cache_dir() / COMPILED
        folder = parent / _fingerprint(target.target())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
        os.utime(folder)  # the least recently used ones are removed
    except (OSError, UserError) as error:
        return None, error_text(error)
    with contextlib.suppress(OSError):  # another process may be removing them too
        others = sorted((other for other in parent.iterdir() if other != folder), key=lambda path: path.stat().st_mtime)
        for other in others[: -(_KEPT_FOLDERS - 1)]:
            shutil.rmtree(other, ignore_errors=True)
    return CodeFolder(folder), ""


def _find_wheel_code() -> CodeFolder | None:
    """Returns the folder with the code that came with the package, if it fits this processor, Python and numba."""
    parent, processor = _PACKAGE / COMPILED, target.wheel_target()
    if processor is None or not parent.is_dir():
        return None
    folder = CodeFolder(parent / _fingerprint(processor), is_kept=True)
    return folder if folder.is_complete else None


whole_program.install()
_folder, _no_folder = _prepare_cache()
_wheel_folder = _find_wheel_code()
CACHE_FOLDER = _folder.path if _folder else None


def _decorate(function: F, **options: Any) -> F:
    if config.DISABLE_JIT:
        return function
    decorated: Any = whole_program.Dispatcher(function, targetoptions={**_OPTIONS, **options})
    if _folder is not None or _wheel_folder is not None:
        decorated._cache = CodeCache(function, _folder, _wheel_folder)  # as `cache=True` with numba's own cache
    return decorated


def njit(function: F) -> F:
    """Compiles a function of the core at its first call and caches it on disk."""
    return _decorate(function)


def inline(function: F) -> F:
    """As `njit`, and inlines the function into its callers: a call that passes arrays costs 9 ns."""
    return _decorate(function, forceinline=True)


def is_cold() -> bool:
    """Whether the core still has to be compiled on this machine, which takes up to a minute."""
    return not config.DISABLE_JIT and not any(folder and folder.is_complete for folder in (_wheel_folder, _folder))


def mark_complete() -> str:
    """Records that all that a start needs is compiled; returns why it is not kept, or nothing."""
    if _folder is None:
        return _no_folder
    _folder.mark_complete()
    return _folder.problem


@inline
def next_random(state: np.ndarray) -> np.uint64:
    """Returns the next 64 random bits of `state` (uint64 [1]; any value is a good start).

    splitmix64: Guy Steele, Doug Lea, Christine Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inline
def random_below(state: np.ndarray, limit: int) -> int:
    """Returns a random integer from 0 to `limit` - 1 (Daniel Lemire's multiplication instead of a division, 2019)."""
    return int(((next_random(state) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))
