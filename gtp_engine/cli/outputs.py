"""Files and folders that a command writes, checked before the work begins."""

import os
import time
from pathlib import Path

import click

from .shared_options import Decorator


def output_option(*names: str, text: str, allow_dash: bool = False) -> Decorator:
    """Returns an option that names a file to write.

    Args:
        *names: The option's names.
        text: What is written.
        allow_dash: Whether `-` stands for standard output.
    """
    return click.option(*names, type=click.Path(dir_okay=False, allow_dash=allow_dash, path_type=Path), help=text)


def check_place(file: Path) -> None:
    """Raises OSError if the file's folder is missing or not writable, so that the work is not done in vain."""
    folder = file.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {file}: folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise PermissionError(f"cannot write {file}: folder {folder} is not writable")


def new_folder(parent: Path, kind: str) -> Path:
    """Creates a folder for one run, named after its kind and the time.

    Raises:
        OSError: The folder cannot be created.
    """
    name = f"{kind}-{time.strftime('%Y-%m-%d-%H%M%S')}"
    for number in range(1, 1000):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise OSError(f"cannot create folder {folder}: {error.strerror}") from error
        return folder
    raise OSError(f"cannot create a folder in {parent}: no free name")
