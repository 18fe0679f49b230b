"""Files and folders that a command writes, checked before the work begins."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click

from ...base.errors import UserError, error_text
from ...base.files import is_device, standard_stream, write_text
from ...base.messages import printable

STANDARD = Path("-")  # standard input or output in place of a file


def check_place(file: Path) -> None:
    """Raises OSError if a file could not be written, so that the work is not done in vain.

    A pipe or a device has to be writable itself; the folder of another file has to exist and be writable. What standard
    output or error goes to is open already.
    """
    if standard_stream(file) is not None:
        return
    if is_device(file):
        if not os.access(file, os.W_OK):
            raise PermissionError(f"cannot write {file}: it is not writable")
        return
    folder = file.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {file}: folder {folder} does not exist")
    check_folder(folder)


def check_folder(folder: Path) -> None:
    """Raises OSError if nothing could be written to a folder, or where it would be made if it is missing."""
    places = (folder.absolute(), *folder.absolute().parents)
    existing = next((path for path in places if path.exists()), places[-1])  # on Windows a drive may be missing
    if not os.access(existing, os.W_OK):
        raise PermissionError(f"cannot write to {folder}: folder {existing} is not writable")


def check_outputs(outputs: Iterable[Path], inputs: Sequence[Path], *, force: bool) -> None:
    """Checks the files that a command writes about game records before the work begins.

    What is written without replacing it, such as a pipe or a device, holds nothing that could be lost. The inputs are
    never overwritten, other existing files only with `force`; `STANDARD` is standard output or input.

    Raises UserError if a file is one of the inputs, and OSError if it exists, or could not be written.
    """
    for path in outputs:
        if path == STANDARD:
            continue
        if standard_stream(path) is None and not is_device(path):
            if path.exists() and any(one != STANDARD and os.path.samefile(path, one) for one in inputs):
                raise UserError(f"{path} is one of the files to read; choose another name")
            if path.exists() and not force:
                raise FileExistsError(f"{path} already exists; choose another name or add --force")
        check_place(path)


def report_written(file: Path, *, is_page: bool = False, err: bool = False) -> None:
    """Tells that a file, which may be a page for the browser, was written; on standard error if `err`."""
    click.echo(f"wrote {printable(str(file))}{'; open it in a browser' if is_page else ''}", err=err)


class Outputs:
    """The files that a command writes about what it has found: options that are a path each, or None."""

    kinds: ClassVar[Sequence[str]]  # the names of these options

    def text(self, kind: str, found: Any) -> str:
        """Returns the text of the file of this kind."""
        raise NotImplementedError

    @property
    def wanted(self) -> dict[str, Path]:
        """The files that are wanted, by kind; `STANDARD` for standard output."""
        return {kind: path for kind in self.kinds if (path := getattr(self, kind)) is not None}

    @property
    def uses_standard(self) -> bool:
        """Whether one of the files is standard output."""
        return STANDARD in self.wanted.values()

    def check(self, inputs: Sequence[Path], *, force: bool) -> None:
        """Raises UsageError if two outputs would go to one file, and the errors of `check_outputs`."""
        paths = [*self.wanted.values()]
        resolved = [path.resolve() for path in paths]  # also spelt differently, or through links
        for path, place in zip(paths, resolved, strict=True):
            if resolved.count(place) > 1:
                name = "standard output" if path == STANDARD else path
                raise click.UsageError(f"only one output can go to {name}")
        check_outputs(paths, inputs, force=force)

    def save(self, found: Any) -> dict[str, str]:
        """Writes the files, each of them even if another one fails; not what goes to standard output.

        Returns the error of each file by its kind, "" if it was written.
        """
        results = {}
        for kind, path in self.wanted.items():
            if path != STANDARD:
                results[kind] = ""
                try:
                    write_text(path, self.text(kind, found))
                except OSError as error:
                    results[kind] = f"cannot save {error_text(error)}"
        return results

    def finish(self, found: Any) -> list[str]:
        """Writes all that is wanted, in UTF-8, and tells which files were written; returns the errors of the others."""
        results = self.save(found)
        for kind, path in self.wanted.items():
            if path == STANDARD:
                click.echo(self.text(kind, found).encode(), nl=False)
            elif not results[kind]:
                report_written(path, is_page=kind == "html", err=self.uses_standard)
        return [*filter(None, results.values())]


def new_folder(parent: Path, kind: str) -> Path:
    """Creates a folder for one run, named after its kind and the time; raises OSError if it cannot."""
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
