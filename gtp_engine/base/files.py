"""Files that are written completely or not at all, and files and folders that one program at a time works on."""

import contextlib
import errno
import glob
import io
import os
import select
import stat
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from . import interrupts
from .errors import UserError
from .system import WAIT_SECONDS

LOCK = "lock"  # the name of the file that `folder_lock` holds
_LONGEST_WRITE = 3600.0  # seconds; a temporary file that is older belongs to no program any more
_MEGABYTE = 1 << 20
_TEXT_MEGABYTES = 1  # the most that is read of a text that users write


def read_whole(path: Path, megabytes: int) -> bytes:
    """Returns the content of a file, or what a pipe gives until its writer closes it; a pipe can be read only once.

    A noted Ctrl-C ends the wait for a named pipe with KeyboardInterrupt. OSError is raised if the file cannot be read.

    Raises:
        UserError: It holds more megabytes than this: it is a file of another kind, or endless, as /dev/zero is. The
            message is to follow its name.
    """
    content = bytearray()
    # A named pipe is opened before anybody writes to it, on systems that have such pipes.
    flag = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | flag)) as file:
        while block := _next_block(file):
            content += block
            if len(content) > megabytes * _MEGABYTE:
                raise UserError(f"larger than {megabytes} MB, the most that is read of such a file")
    return bytes(content)


def read_text(path: Path) -> str:
    """Returns what users write, such as settings: UTF-8, which editors on Windows may begin with a byte order mark.

    Raises UserError if it is something else, as `read_whole` does of a larger file.
    """
    try:
        return read_whole(path, _TEXT_MEGABYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError("not a text file in UTF-8") from error


def _next_block(file: io.FileIO) -> bytes | None:
    """Returns the next bytes of a file; none at its end."""
    if hasattr(os, "O_NONBLOCK") and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        while not select.select([file], [], [], WAIT_SECONDS)[0]:
            interrupts.check()
    return file.read(_MEGABYTE)


def write_bytes(path: Path, content: bytes | memoryview, *, overwrite: bool = True, mode: int = 0o666) -> None:
    """Writes a file so that no reader sees half of it, and the file before it stays until the new one is complete.

    That holds after a power cut too: the new content is on the disk before it takes the name. A link remains a link;
    what is not a file, such as /dev/null or a pipe, is written itself. What standard output or error goes to, by any
    name such as /dev/stdout, gets the content there, after what was written before: it may be redirected to a file.

    Without `overwrite` an existing file is kept, whichever program has made it in the meantime: FileExistsError. The
    OSError of what cannot be written names `path`. `mode`: the rights to a new file, before those that umask takes; a
    file that is replaced is opened to nobody else.
    """
    try:
        if not overwrite and path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        if stream := standard_stream(path):
            stream.flush()
            with open(stream.fileno(), "wb", closefd=False) as file:
                file.write(content)
        elif is_device(path):
            path.write_bytes(content)
        else:
            _write_and_rename(Path(os.path.realpath(path)), content, overwrite, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write_and_rename(path: Path, content: bytes | memoryview, overwrite: bool, mode: int) -> None:
    temporary = path.with_name(_temporary_name(path, f"{os.getpid()}.{threading.get_ident()}"))
    with contextlib.suppress(OSError):  # it is a new file
        mode &= path.stat().st_mode | stat.S_IWUSR
    try:
        _write_new(temporary, content, mode)
        if overwrite:
            os.replace(temporary, path)
        else:
            _take_free_name(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: Path, content: bytes | memoryview, mode: int) -> None:
    """Writes a file to the disk. On Linux it has no name until it is complete: a killed program leaves none."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # there is no /proc, or the file system, such as NFS, has no such files
            number = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, mode)
            with open(number, "wb") as file:
                _write_to_disk(file, content)
                os.link(f"/proc/self/fd/{number}", path, src_dir_fd=number)  # or Python links the link in /proc
                return
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        _write_to_disk(file, content)


def _write_to_disk(file: BinaryIO, content: bytes | memoryview) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def _take_free_name(temporary: Path, path: Path) -> None:
    """Gives a complete file its name as well; FileExistsError if there is such a file."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # the file system, such as that of a memory card, may have no hard links
        path.touch(exist_ok=False)  # a program that is killed between these two leaves an empty file
        os.replace(temporary, path)


def standard_stream(path: Path) -> TextIO | None:
    """Returns standard output or error if it goes to this file, pipe or device, otherwise None."""
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError):  # there is no such file, or the stream is closed
            found = path.stat()  # on Windows the number of all devices is 0
            if stream is not None and found.st_ino and os.path.samestat(found, os.fstat(stream.fileno())):
                return stream
    return None


def is_device(path: Path) -> bool:
    """Whether it is a pipe or a device, such as /dev/null; False where nobody may look."""
    # Unlike Path's, these raise nothing in another user's folder.
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _temporary_name(path: Path, writer: str) -> str:
    return f".{path.stem}.{writer}.tmp{path.suffix}"


def remove_leftovers(folder: Path, suffix: str) -> None:
    """Removes temporary files from a folder whose programs were killed while they wrote files with this suffix."""
    for path in folder.glob(f".*.[0-9]*.tmp{suffix}"):
        with contextlib.suppress(OSError):  # another program has removed it, or it is not ours to remove
            if path.stat().st_mtime + _LONGEST_WRITE < time.time():
                path.unlink()


def files_with(suffixes: tuple[str, ...], folder: Path, *, subfolders: bool = False) -> list[Path]:
    """Returns the files in a folder whose names end in one of the suffixes, in either case, sorted.

    Hidden ones are left out: temporary files of a program that was killed, and the metadata that macOS stores beside
    files on other systems' disks. The suffixes are in lower case. A folder that does not exist has no files; OSError is
    raised if one cannot be read.
    """
    if not folder.is_dir():
        return []
    paths = folder.rglob("*") if subfolders else folder.iterdir()
    return sorted(path for path in paths if is_visible(path.name, suffixes) and path.is_file())


def is_visible(name: str, suffixes: tuple[str, ...]) -> bool:
    """Whether a file's name, without its folder, ends in one of the suffixes, in either case, and is not hidden."""
    return name.lower().endswith(suffixes) and not name.startswith(".")


def is_same_file(path: Path, other: Path) -> bool:
    """Returns whether two paths name one file; False if one of them is missing."""
    with contextlib.suppress(OSError):
        return path.samefile(other)
    return False


def write_arrays(path: Path, arrays: Mapping[str, Any], level: int = 6) -> None:
    """Writes arrays by name atomically, as a compressed archive of numpy (`.npz`), whatever the file's suffix.

    The `level` of compression is zlib's, from 1, the fastest, to 9.
    """
    import zipfile

    import numpy as np

    content = io.BytesIO()  # as np.savez_compressed writes it, which has no choice of a level
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    write_bytes(path, content.getbuffer())


def write_text(path: Path, text: str) -> None:
    """Writes a text atomically, in UTF-8 and with line feeds on every system."""
    write_bytes(path, text.encode())


@contextlib.contextmanager
def folder_lock(folder: Path, name: str = LOCK, seconds: float = 0.0) -> Iterator[None]:
    """Holds an existing folder for a `with` block; raises UserError if another program holds it for so many seconds.

    It is an OS file lock, which the system releases when the process ends, however it ends. Several names of the lock
    file let programs hold parts of a folder. OSError is raised if the lock file cannot be opened.
    """
    import filelock  # takes 40 ms

    lock = filelock.FileLock(folder / name, seconds)
    try:
        held = lock.acquire()
    except filelock.Timeout as error:
        raise UserError(f"{folder}: another program is using this folder; wait until it ends, or stop it") from error
    with held:
        yield


@contextlib.contextmanager
def claim(path: Path) -> Iterator[bool]:
    """Claims a missing file for a `with` block, so that only one program makes it: all that make it have to claim it.

    It yields whether to make the file, which is in an existing folder: False if it exists already or another program
    has claimed it. Programs that were killed leave no claims; temporary files that they left of the file are removed.
    The lock file is named after the file: `.19x19-00012.lock` for `19x19-00012.shard`.
    """
    lock, is_free = path.with_name(f".{path.stem}.lock"), True
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder_lock(path.parent, lock.name))
        except UserError:
            is_free = False
        is_missing = is_free and not path.exists()
        if is_missing:
            for left in path.parent.glob(_temporary_name(path.with_stem(glob.escape(path.stem)), "[0-9]*")):
                left.unlink(missing_ok=True)
        yield is_missing
    # Only now, because Windows does not remove a locked file; and only if the file is there, because a program may have
    # opened this lock file just before and lock it next, while another one makes a new lock file and locks that: both
    # find the file then. Where another program has it open, Windows refuses again, and the empty file stays.
    if is_free and path.exists():
        with contextlib.suppress(OSError):
            lock.unlink()
