"""One program at a time in a folder: the system's lock on a file, which goes with the process, however that ends."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

LOCK = "lock"


@contextlib.contextmanager
def only_one_in(folder: Path) -> Iterator[None]:
    """Holds the folder, which is there, for a `with` block; ValueError where somebody else does."""
    with open(folder / LOCK, "ab") as file:
        try:
            _lock(file)
        except (BlockingIOError, PermissionError) as error:
            raise ValueError(f"{folder}: another program is at work there; wait for its end or stop it") from error
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
