"""The game records that commands read: files, folders, collections, and standard input."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...base.errors import UserError, error_text
from ...base.files import files_with
from ...base.messages import plural, printable
from ...base.settings import setting

if TYPE_CHECKING:
    from ...go.sgf import GameRecord

_MOST_ERRORS = 10  # that are shown of one file
STANDARD = Path("-")  # standard input or output in place of a file


def records() -> Any:
    """Returns the field of the game records that a command reads."""
    kind = click.Path(exists=True, allow_dash=True, path_type=Path)
    return setting((), accepts=kind, argument=True, metavar="FILE...", nargs=-1, required=True)


def read_records(files: Sequence[Path]) -> "tuple[list[GameRecord], list[str]]":
    """Returns the games of all files, and the errors of those that cannot be read."""
    from rich.console import Console

    from ...go.sgf import RECORD_SUFFIXES

    records: list[GameRecord] = []
    errors: list[str] = []
    with Console(stderr=True).status("reading the games"):  # shown on terminals only
        for place in files:
            try:
                if not (found := _records_in(place)):
                    raise UserError(f"{place}: there are no {' or '.join(RECORD_SUFFIXES)} files in this folder")
                for file in found:
                    records += _games_of(file, errors)
            except (UserError, OSError) as error:
                errors.append(error_text(error))
    return records, errors


def are_read(file: Path, places: Sequence[Path]) -> bool:
    """Whether a file is one of those that `read_records` reads."""
    if not file.exists():
        return False
    read = (one for place in places if place != STANDARD for one in _records_in(place))
    return any(os.path.samefile(file, one) for one in read)


def show_errors(errors: Sequence[str]) -> None:
    """Prints errors, which may quote what a record says, without its escape sequences."""
    for error in errors:
        click.echo(f"Error: {printable(error)}", err=True)


def _records_in(place: Path) -> list[Path]:
    """Returns the records in a folder, by name; a file as it is."""
    if not place.is_dir():
        return [place]
    from ...go.sgf import RECORD_SUFFIXES

    return files_with(RECORD_SUFFIXES, place)


def _games_of(file: Path, errors: list[str]) -> "list[GameRecord]":
    """Returns the games of a file; its errors, or those of single games, are added to `errors`."""
    try:
        return _read_games(file, errors)
    except (UserError, OSError) as error:
        errors.append(error_text(error))
        return []


def _read_games(file: Path, errors: list[str]) -> "list[GameRecord]":
    """Does the work of `_games_of`; raises SgfError or OSError if the file or its only game cannot be read."""
    from ...go.sgf import LINES_SUFFIX, read_sgf, read_sgf_games

    # The outputs, in UTF-8, contain the name, which may have bytes of another encoding.
    name = "standard input" if file == STANDARD else str(file).encode(errors="replace").decode()
    data = sys.stdin.buffer.read() if file == STANDARD else file.read_bytes()
    found: list[str] = []
    records = list(read_sgf_games(data, name=name, on_error=lambda error: found.append(str(error))))
    if name.lower().endswith(LINES_SUFFIX) and not records and len(found) > 1:
        raise UserError(f"{name}: expected one game per line; if a game has several lines, rename the file to .sgf")
    if len(records) + len(found) > 1:
        errors += found[:_MOST_ERRORS]
        if len(found) > _MOST_ERRORS:
            errors.append(f"{name}: {plural(len(found) - _MOST_ERRORS, 'more game')} cannot be read")
        return records
    record = read_sgf(data if file == STANDARD else file)
    record.source = name  # without the number of the game
    return [record]
