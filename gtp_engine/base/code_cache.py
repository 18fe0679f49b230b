"""Compiled code on disk: one file for each function and signature, with a checksum.

numba's own cache trusts its files: after a power cut one that is cut short makes every later start fail in pickle, a
flipped bit is executed, and on a full disk the call that was compiled fails. Here a damaged file counts as missing, and
code that cannot be written is kept in memory only.
"""

import contextlib
import functools
import hashlib
import logging
import os
import pickle
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from .errors import error_text

logger = logging.getLogger(__name__)

COMPLETE = "complete"  # the file that lists what a start needs
_SUFFIX = ".code"
_DIGEST_BYTES = hashlib.sha256().digest_size


class CodeFolder:
    """The folder with the compiled code of one version of the program.

    Args:
        path: The folder.
        is_kept: Whether damaged files stay: the folder belongs to a package.

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

    def read(self, name: str) -> bytes | None:
        """Returns what was written under a name; None if there is nothing, or if it is damaged."""
        file = self.path / f"{name}{_SUFFIX}"
        try:
            content = memoryview(file.read_bytes())
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
        """Writes data with its checksum. The first failure is logged; after it nothing more is written."""
        if self.problem:
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

    def remove(self, pattern: str) -> None:
        """Removes what was written under names that match a pattern of `Path.glob`."""
        for file in self.path.glob(f"{pattern}{_SUFFIX}"):
            with contextlib.suppress(OSError):
                file.unlink()

    def _give_up(self, error: OSError) -> None:
        self.problem = f"{self.path}: {error.strerror or error_text(error)}"
        logger.warning(f"compiled code is kept in memory only ({self.problem}): the next start compiles again")


class CodeCache:
    """The compiled code of one function, as numba's dispatchers use a cache (`numba.core.caching.Cache`).

    There is a file for each signature, so that processes which compile a function for different types at the same time
    do not lose each other's code. It holds what the code depends on, and the code.

    Args:
        function: The Python function. Without a source file, as at a prompt, its code is not kept.
        folder: Where the files are; None if nothing can be kept.
        wheel_folder: A folder that is looked at first and never written; None if there is none.
    """

    def __init__(
        self, function: Callable[..., Any], folder: CodeFolder | None, wheel_folder: CodeFolder | None = None
    ) -> None:
        self._function = function
        self._folder = folder
        self._wheel_folder = wheel_folder
        code = function.__code__
        name = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}"
        self._name = re.sub(r"[^\w.-]", "", name)  # Windows does not allow "<locals>" in names

    @property
    def cache_path(self) -> str:
        """The folder that is written."""
        return str(self._folder.path if self._folder else None)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Returns the compiled function for a signature, or None."""
        target_context.refresh()
        for folder in (self._wheel_folder, self._folder):
            data = None if folder is None else folder.read(self._file_name(signature))
            if data is not None:
                known, code = pickle.loads(data)
                if known == self._key(signature):
                    return CompileResult._rebuild(target_context, *pickle.loads(code))
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keeps the compiled function for a signature, if it can be used in another process."""
        if self._folder is None or _source_hash(self._function.__code__.co_filename) is None:
            return
        if compiled.library.has_dynamic_globals or not all(lifted.can_cache for lifted in compiled.lifted):
            return
        code = dumps(compiled._replace(type_annotation="")._reduce())  # the annotation would name the source's folder
        self._folder.write(self._file_name(signature), dumps((self._key(signature), code)))

    def flush(self) -> None:
        """Forgets all signatures."""
        if self._folder is not None:
            self._folder.remove(f"{self._name}-*")

    def _key(self, signature: Any) -> tuple[Any, ...]:
        """Returns what the code depends on in addition to the folder."""
        code = self._function.__code__
        return _source_hash(code.co_filename), signature, code.co_code, self._cells()

    def _file_name(self, signature: Any) -> str:
        return f"{self._name}-{hashlib.sha256(str(signature).encode() + self._cells()).hexdigest()[:16]}"

    def _cells(self) -> bytes:
        """Returns a hash of the variables in the function's closure."""
        closure = self._function.__closure__
        cells = b"" if closure is None else dumps(tuple(cell.cell_contents for cell in closure))
        return hashlib.sha256(cells).digest()


@functools.cache
def _source_hash(file: str) -> bytes | None:
    """Returns a hash of a source file, or None if it cannot be read."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).digest()
    except OSError:
        return None
