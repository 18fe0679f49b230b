"""The decorators of the compiled core, the folder of its compiled code, and random numbers for it.

Compiled functions release the GIL, divide as C does and are cached on disk: one file for each function and signature,
with a checksum. numba's own cache trusts its files: after a power cut one that is cut short makes every later start
fail in pickle, a flipped bit is executed, and on a full disk the call that was compiled fails. Here a damaged file
counts as missing, and code that cannot be written is kept in memory only.

The cache lies in a folder of its own, named by a hash of all that decides what is compiled (the sources, numba, the
CPU): numba's own check looks at one file only and would leave a caller stale when a function that it calls changes in
another file. What depends on no source that has changed is taken from the folders of earlier versions. A wheel may
bring a folder for common processors (`target`), which is read first and never written.

`NUMBA_DISABLE_JIT=1` turns everything into plain Python, so that a debugger can step through.
"""

import contextlib
import functools
import hashlib
import logging
import os
import re
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.typed import List as List  # of one type each, for compiled code that accepts any number of objects

from . import folders, numba_internals, target
from .errors import UserError, error_text
from .files import is_device
from .numba_internals import dumps
from .target import Target

logger = logging.getLogger(__name__)

COMPLETE = "complete"  # the file that lists what a start needs
_SUFFIX = ".code"
_DIGEST_BYTES = hashlib.sha256().digest_size


class CodeFolder:
    """The folder with the compiled code of one version of the program.

    Args:
        path: The folder.
        is_kept: Whether it stays as it is: nothing is written, and damaged files stay.

    Attributes:
        problem: Why new code is not kept; empty if it is.
    """

    def __init__(self, path: Path, *, is_kept: bool = False) -> None:
        self.path = path
        self.problem = ""
        self._is_kept = is_kept
        self._found_damage = False

    @property
    def is_complete(self) -> bool:
        """Whether all the code that a start needs has been written, and none of it has been removed since."""
        try:
            needed = (self.path / COMPLETE).read_bytes().split()
            return bool(needed) and set(needed) <= set(self._names())
        except OSError:
            return False

    def mark_complete(self) -> None:
        """Records that the files that are here now are what a start needs, unless one could not be written."""
        if not self.problem:
            try:
                (self.path / COMPLETE).write_bytes(b"\n".join(self._names()))
            except OSError as error:
                self._give_up(error)

    def _names(self) -> list[bytes]:
        return [os.fsencode(name) for name in os.listdir(self.path) if name.endswith(_SUFFIX)]

    def has(self, function: str) -> bool:
        """Whether there is code of a function, by its full name."""
        return any(self.path.glob(f"{function}-*{_SUFFIX}"))

    def read(self, name: str) -> bytes | None:
        """Returns what was written under a name; None if there is nothing, or if it is damaged."""
        file = self.path / f"{name}{_SUFFIX}"
        try:
            content = memoryview(b"" if is_device(file) else file.read_bytes())  # opening a pipe would wait for ever
        except OSError:
            return None
        data = content[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() == content[:_DIGEST_BYTES]:
            return bytes(data)
        if not self._found_damage:
            self._found_damage = True
            logger.warning(f"compiled code in {self.path} is damaged: compiling it again, which takes up to a minute")
        if not self._is_kept:
            with contextlib.suppress(OSError):
                file.unlink()
        return None

    def write(self, name: str, data: bytes) -> None:
        """Writes data with its checksum, unless it is kept. The first failure is logged; it is the last attempt."""
        if self.problem or self._is_kept:
            return
        file = self.path / f"{name}{_SUFFIX}"
        temporary = file.with_suffix(f".{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hashlib.sha256(data).digest() + data)
            os.replace(temporary, file)
        except OSError as error:
            self._give_up(error)
            with contextlib.suppress(OSError):
                temporary.unlink()

    def _give_up(self, error: OSError) -> None:
        self.problem = f"{self.path}: {error.strerror or error_text(error)}"
        logger.warning(f"compiled code is kept in memory only ({self.problem}): the next start compiles again")


class CodeCache:
    """The compiled code of one function, as numba's dispatchers use a cache.

    There is a file for each signature, so that processes which compile a function for different types at the same time
    do not lose each other's code; its name tells what the code depends on. That of a function without a source file, as
    at a prompt, is not kept. The first folder that has a file is read, and all are written that may be; what is found
    in an earlier version's is written too.
    """

    def __init__(
        self, function: Callable[..., Any], folders: Sequence[CodeFolder], earlier: Sequence[CodeFolder] = ()
    ) -> None:
        self._function = function
        self._folders, self._earlier = folders, earlier
        code = function.__code__
        name = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}"
        self._name = re.sub(r"[^\w.-]", "", name)  # Windows does not allow "<locals>" in names

    @property
    def cache_path(self) -> str:
        """The folder that is written."""
        return str(self._folders[-1].path if self._folders else None)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Returns the compiled function for a signature, or None."""
        target_context.refresh()
        name = self._file_name(signature)
        for folder in (*self._folders, *self._earlier):
            if (data := folder.read(name)) is not None:
                if folder in self._earlier:
                    self._write(name, data)
                return numba_internals.from_bytes(data, target_context)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keeps the compiled function for a signature, if it can be used in another process."""
        data = numba_internals.to_bytes(compiled) if _source_hash(self._function.__code__.co_filename) else None
        if data is not None:
            self._write(self._file_name(signature), data)

    def _write(self, name: str, data: bytes) -> None:
        for folder in self._folders:
            folder.write(name, data)

    def _file_name(self, signature: Any) -> str:
        """Returns a name with a hash of what the code depends on, other versions' folders included."""
        code, closure = self._function.__code__, self._function.__closure__ or ()
        cells = dumps(tuple(cell.cell_contents for cell in closure))
        facts = (_source_hash(code.co_filename), str(signature), code.co_code, hashlib.sha256(cells).digest())
        return f"{self._name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}"


@functools.cache
def _source_hash(file: str) -> str | None:
    """Returns a hash of what code from a source file depends on, or None if it cannot be read."""
    path = Path(file)
    for folder in _PARTS:
        if path.parent == _PACKAGE / folder:
            return _hash_of(sources_of(folder))
    try:  # it may call all of this package
        return _hash_of(all_sources()) + hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


config: Any = numba.config  # its settings are made at run time, mypy sees none of them
F = TypeVar("F", bound=Callable[..., Any])

COMPILED = "compiled"  # the name of the folder, in the user's cache and in the packages of wheels
_PACKAGE = Path(__file__).parents[1]
# The folders with compiled code, and what else that is made of: all of another such folder, or single files.
_PARTS = {
    "go": ("go/coords.py", "go/symmetry.py"),
    "nets/kernels": ("nets/constants.py", "nets/stored.py"),
    "search/evaluate": ("go", "nets/constants.py", "nets/kernels/emit.py", "nets/kernels/scalars.py"),
    "search": ("search/evaluate",),
    "solver": ("go",),
    "training/data": ("search/evaluate", "training/data/samples.py"),
}
_COMPILES = re.compile(rb"base\.(jit|numba_internals) import")
_USUAL_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
_OPTIONS: dict[str, Any] = {
    **_USUAL_OPTIONS,
    "nopython": True,
    "no_cpython_wrapper": True,  # `numba_internals` makes them
    "no_cfunc_wrapper": True,
    "_nrt": True,  # numba's reference counts; named here, since a function would inherit `borrowing` from its caller
}
_HALF = 8  # letters of a folder's name: the first half is for the machine, the second for the sources
_KEPT_FOLDERS = 6  # this version's and the last five: other checkouts and installations have theirs


@functools.cache
def sources_of(folder: str) -> frozenset[Path]:
    """Returns the sources of the compiled code in a folder: a change of one of them compiles all of it again."""
    files = {file for file in (_PACKAGE / folder).glob("*.py") if _COMPILES.search(file.read_bytes())}
    files |= {Path(str(module.__file__)) for module in (sys.modules[__name__], target, numba_internals)}
    used = (sources_of(name) if name in _PARTS else {_PACKAGE / name} for name in _PARTS[folder])
    return frozenset(files).union(*used)


def all_sources() -> frozenset[Path]:
    """Returns the sources of all compiled code of the package."""
    return frozenset[Path]().union(*map(sources_of, _PARTS))


@functools.cache
def _hash_of(sources: frozenset[Path]) -> str:
    """Returns a hash of sources of the package. Its folder does not count: all copies share their code."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(f"{source.relative_to(_PACKAGE).as_posix()}\0".encode() + source.read_bytes() + b"\0")
    return digest.hexdigest()


def _fingerprint(processor: Target) -> str:
    """Names what the machine code depends on: versions and options of Python and numba, system, processor; sources.

    `python -O` has other bytecode. The sources are those of the code that a start may need: no start makes samples of
    games, whose files tell by their names what they depend on.
    """
    facts = (
        (numba.__version__, _OPTIONS, config.BOUNDSCHECK, config.USING_SVML),
        (EXTENSION_SUFFIXES[0], sys.flags.optimize),  # the suffix names the system, and the version and ABI of Python
        (processor.name, processor.features),
    )
    sources = frozenset[Path]().union(*(sources_of(part) for part in _PARTS if part != "training/data"))
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:_HALF] + _hash_of(sources)[:_HALF]


def _prepare_cache() -> tuple[list[CodeFolder], str]:
    """Makes this version's cache folder and removes the oldest others.

    Returns:
        This folder, and those that remain of other versions on this machine, the newest first; if it cannot be written,
        the folder alone if it is complete, as in the image of a container, otherwise none, and the reason.
    """
    try:
        parent = folders.cache_dir() / COMPILED
    except (OSError, UserError) as error:
        return [], error_text(error)
    folder = parent / _fingerprint(target.target())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "writable").touch()
        os.utime(folder)  # the least recently used ones are removed
    except OSError as error:
        prepared = CodeFolder(folder, is_kept=True)
        return [prepared] if prepared.is_complete else [], error_text(error)
    others = []
    with contextlib.suppress(OSError):  # another process may be removing them too
        others = [other for other in parent.iterdir() if other != folder]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for other in others[_KEPT_FOLDERS - 1 :]:
            shutil.rmtree(other, ignore_errors=True)
    same_machine = (other for other in others[: _KEPT_FOLDERS - 1] if other.name[:_HALF] == folder.name[:_HALF])
    return [CodeFolder(folder), *(CodeFolder(other, is_kept=True) for other in same_machine)], ""


def _find_wheel_code() -> CodeFolder | None:
    """Returns the folder with the code that came with the package, if it fits this processor, Python and numba."""
    parent = _PACKAGE / COMPILED
    if not parent.is_dir():
        return None
    # A wheel holds code for the targets that the machine which built it could execute.
    folders = (CodeFolder(parent / _fingerprint(processor), is_kept=True) for processor in target.wheel_targets())
    return next((folder for folder in folders if folder.is_complete), None)


_cached, _no_folder = _prepare_cache()
_folder, _earlier_folders = (_cached[0], _cached[1:]) if _cached else (None, [])
_wheel_folder = _find_wheel_code()
CODE_FOLDERS = [folder for folder in (_wheel_folder, _folder) if folder]
# Complete code was compiled with the same numba, which needs no trial.
if config.DISABLE_JIT:
    warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning)  # hashes wrap around
_is_known = config.DISABLE_JIT or any(folder.is_complete for folder in CODE_FOLDERS)
_problem = numba_internals.install({} if _is_known else _OPTIONS)
if _problem:
    _folder, CODE_FOLDERS = None, []
    _no_folder = f"numba {numba.__version__} does not fit this program: {_problem}"
CACHE_FOLDER = _folder.path if _folder else None


def _decorate(function: F, **options: Any) -> F:
    if config.DISABLE_JIT:
        return function
    if _problem:
        return numba.njit(function, **_USUAL_OPTIONS, forceinline="forceinline" in options)
    decorated: Any = numba_internals.Dispatcher(function, targetoptions={**_OPTIONS, **options})
    decorated._cache = CodeCache(function, CODE_FOLDERS, _earlier_folders)  # as `cache=True` with numba's own cache
    return decorated


def njit(function: F) -> F:
    """Compiles a function of the core at its first call and caches it on disk."""
    return _decorate(function)


def borrowing(function: F) -> F:
    """As `njit`, for a function that neither makes nor returns arrays: its caller holds all those it works on.

    References to them are not counted, which takes as long as the work of a function that has a dozen arrays.
    """
    return _decorate(function, _nrt=False)


def inline(function: F) -> F:
    """As `borrowing`, and inlines the function into its callers: a call that passes arrays costs 9 ns."""
    return _decorate(function, _nrt=False, forceinline=True)


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
