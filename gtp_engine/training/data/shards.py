"""Shards: files of training games, `.shard`.

A shard is numpy's archive of arrays, `.npz`: the columns of a `GameSet` in their types on disk (`samples.COLUMNS`),
without those that the set lacks, and `about`, a JSON object as bytes with the `notes` of the program that wrote the
shard. The archive's checksums tell what is damaged.
"""

import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from ...base.errors import UserError
from ...base.files import files_with, write_arrays
from ...base.nesting import parse_json
from .samples import COLUMNS, GameSet, game_set

SUFFIX = ".shard"
_ABOUT = "about"
# Of compression. Shards of self-play are 6 % larger than with 6, the usual one, and are compressed 2.5 times as fast:
# that was most of the time of the process that collects games.
_LEVEL = 1
# What zipfile, numpy and JSON raise for damaged data.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, KeyError, TypeError)


class ShardError(UserError):
    """A file is damaged, cut short or not a shard; the message names it."""


def write_shard(games: GameSet, path: Path, notes: Mapping[str, Any] | None = None) -> None:
    """Writes a shard atomically, with plain data as notes; OSError if it cannot be written."""
    stored = {name: column.astype(COLUMNS[name].stored) for name, column in games.columns().items()}
    arrays: dict[str, Any] = {
        name: column for name, column in stored.items() if len(column) or COLUMNS[name].default is None
    }
    arrays[_ABOUT] = np.frombuffer(json.dumps({"notes": dict(notes or {})}).encode(), np.uint8)
    write_arrays(path, arrays, _LEVEL)


def read_shard(path: Path) -> GameSet:
    """Reads a shard; ShardError if it is damaged or none, or OSError."""
    with _opened(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name != _ABOUT}
        for name, column in arrays.items():
            if column.dtype != COLUMNS[name].stored:
                raise UserError(f"wrong type of the column {name}: {column.dtype}")
        games = game_set(**arrays)
        games.check()
    return games


def read_notes(path: Path) -> dict[str, Any]:
    """Reads only the notes of a shard; raises the same errors as `read_shard`, except for damage within the columns."""
    with _opened(path) as archive:
        return dict(parse_json(archive[_ABOUT].tobytes())["notes"])


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Opens a shard for a `with` block; raises ShardError if it is not a shard or is damaged."""
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise ShardError(f"{path}: not a shard, or cut short")
        try:
            with NpzFile(file) as archive:  # what np.load makes of a zip archive, but of nothing else
                if _ABOUT not in archive.files:
                    raise UserError("an archive of something else")
                yield archive
        except _DAMAGE as error:
            raise ShardError(f"{path}: a damaged shard ({error})") from error


def shard_files(folder: Path) -> list[Path]:
    """Returns the shards in a folder, sorted by name."""
    return files_with((SUFFIX,), folder)


def read_shards(paths: Iterable[Path], on_error: Callable[[ShardError], None]) -> Iterator[GameSet]:
    """Reads several shards; one that was removed since the files were listed is left out.

    `on_error` is called for each damaged file, which is skipped.
    """
    for path in paths:
        try:
            yield read_shard(path)
        except FileNotFoundError:
            continue
        except ShardError as error:
            on_error(error)
