"""Files and folders that a command writes: whether it can, said before the work."""

import os
import time
from pathlib import Path


def check_place(file: Path) -> None:
    """Says before the work that a file could not be saved after it: OSError where its folder is missing or closed."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{file}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"{file}: the folder {folder} is not writable")


def new_folder(parent: Path, kind: str) -> Path:
    """Makes a folder of its own for one run, named by its kind and the time; OSError where that is not possible."""
    name = f"{kind}-{time.strftime('%Y-%m-%d-%H%M%S')}"
    for number in range(1, 1000):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise OSError(f"cannot make the folder {folder}: {error.strerror}") from error
        return folder
    raise OSError(f"no free name for a folder in {parent}")
