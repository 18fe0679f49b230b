"""Shards: files of training games, `.shard`.

A shard consists of MAGIC, the length of its header (uint32), the header's CRC-32 (uint32), the header (a JSON object),
and the columns of a `GameSet`, each compressed by zlib. All numbers are little-endian. The header:

    {"games": 1000, "sources": ["b6c96-12"], "notes": {...},
     "columns": [{"name": "moves", "type": "<u2", "shape": [61234], "size": 70213, "crc32": 2911430214}, ...]}

`size` and `crc32` are those of the compressed column. Types are numpy's (`samples.COLUMNS`); that of records is a list
of [name, type]. Columns that a set lacks are left out. `notes` are plain data of the program that wrote the shard.
"""

import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...base.files import files_with, write_atomically
from .samples import COLUMNS, GameSet, game_set

MAGIC = b"GTPENGINE SHARD1"
SUFFIX = ".shard"
# The field kept its first name in files; then 1 was the only unit.
_WRITTEN_NAMES = {"ownership_unit": "has_ownership"}
_START = len(MAGIC) + 8
# The most that zlib can expand data: larger shapes in a damaged or hostile header are refused.
_ZLIB_EXPANSION = 1032


class ShardError(UserError):
    """A file is damaged or not a shard; the message names it."""


def write_shard(games: GameSet, path: Path, notes: Mapping[str, Any] | None = None) -> None:
    """Writes a shard atomically.

    Args:
        games: The games.
        path: The file.
        notes: Plain data to store with the games.

    Raises:
        OSError: It cannot be written.
    """
    columns, blocks = [], []
    for name, column in games.columns().items():
        dtype, default = COLUMNS[name].stored, COLUMNS[name].default
        if default is not None and not len(column):
            continue
        block = zlib.compress(np.ascontiguousarray(column, dtype).tobytes(), 6)
        shape = list(column.shape)
        kind, checksum = _type_of(dtype), zlib.crc32(block)
        columns.append({"name": name, "type": kind, "shape": shape, "size": len(block), "crc32": checksum})
        blocks.append(block)
    facts = {"games": games.game_count, "sources": games.sources, "notes": dict(notes or {}), "columns": columns}
    header = json.dumps(facts).encode()
    start = MAGIC + len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little")
    write_atomically(path, lambda temporary: temporary.write_bytes(start + header + b"".join(blocks)))


def read_shard(path: Path) -> GameSet:
    """Reads a shard.

    Raises:
        ShardError: The file is damaged or not a shard.
        OSError: It cannot be read.
    """
    data = path.read_bytes()
    try:
        return _read(data)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ShardError(f"{path}: a damaged shard ({error})") from error


def read_notes(path: Path) -> dict[str, Any]:
    """Reads only the notes of a shard; raises the same errors as `read_shard`, except for damage within the columns."""
    with open(path, "rb") as file:
        start = file.read(_START)
        size = int.from_bytes(start[len(MAGIC) : len(MAGIC) + 4], "little")
        data = start + file.read(size)
        length = file.seek(0, os.SEEK_END)
    try:
        header, columns = _header(data)
        if length < columns + sum(entry["size"] for entry in header["columns"]):
            raise UserError("cut short")
        return dict(header["notes"])
    except (ValueError, KeyError, TypeError) as error:
        raise ShardError(f"{path}: a damaged shard ({error})") from error


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """Returns the header, and the offset of the columns."""
    if data[: len(MAGIC)] != MAGIC:
        raise UserError("wrong file type")
    size, checksum = (int.from_bytes(data[at : at + 4], "little") for at in (len(MAGIC), len(MAGIC) + 4))
    header = data[_START : _START + size]
    if len(header) < size:
        raise UserError("cut short")
    if zlib.crc32(header) != checksum:
        raise UserError("wrong checksum of the header")
    return json.loads(header), _START + size


def _read(data: bytes) -> GameSet:
    header, position = _header(data)
    columns: dict[str, np.ndarray] = {}
    for entry in header["columns"]:
        name, size = entry["name"], entry["size"]
        block = data[position : position + size]
        position += size
        if len(block) < size:
            raise UserError("cut short")
        if zlib.crc32(block) != entry["crc32"]:
            raise UserError(f"wrong checksum of the column {name}")
        dtype, shape = COLUMNS[name].stored, tuple(entry["shape"])
        if _type_of(dtype) != entry["type"]:
            raise UserError(f"wrong type of the column {name}: {entry['type']}")
        expected = math.prod(shape) * dtype.itemsize
        if expected > _ZLIB_EXPANSION * max(size, 1):
            raise UserError(f"impossible shape of the column {name}")
        columns[name] = np.frombuffer(zlib.decompress(block, bufsize=max(expected, 1)), dtype).reshape(shape)
    games = game_set(tuple(map(str, header["sources"])), **columns)
    if games.game_count and int(games.games["source"].max()) >= len(games.sources):
        raise UserError("a game has an unknown source")
    games.check()
    return games


def _type_of(dtype: np.dtype) -> Any:
    if dtype.names is None:
        return dtype.str
    return [[_WRITTEN_NAMES.get(entry[0], entry[0]), entry[1]] for entry in dtype.descr]


def shard_files(folder: Path) -> list[Path]:
    """Returns the shards in a folder, sorted by name."""
    return files_with((SUFFIX,), folder)


def read_shards(paths: Iterable[Path], on_error: Callable[[ShardError], None]) -> Iterator[GameSet]:
    """Reads several shards; one that was removed since the files were listed is left out.

    Args:
        paths: The files.
        on_error: Called for each damaged file, which is skipped.
    """
    for path in paths:
        try:
            yield read_shard(path)
        except FileNotFoundError:
            continue
        except ShardError as error:
            on_error(error)
