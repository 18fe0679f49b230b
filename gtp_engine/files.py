"""Files that are written whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a temporary file beside `path`, with its suffix, and gives it that name: no reader sees half of
    it, and what was there before stays until then. Raises OSError with the path.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
