"""Shards: files of games to learn from, `.shard`.

A shard is, all numbers little-endian: MAGIC; the length of its header (uint32) and the header's CRC-32 (uint32); the
header, a JSON object; then the columns of a `GameSet` one after the other, each packed by zlib. The header:

    {"games": 1000, "sources": ["b6c96-12"], "notes": {...},
     "columns": [{"name": "moves", "type": "<u2", "shape": [61234], "size": 70213, "crc32": 2911430214}, ...]}

size and crc32 are those of the packed column; types are numpy's, records lists of [name, type]. Columns that a set does
not have are left out. notes: plain data of whoever wrote the shard.
"""

import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_whole
from .samples import GAME, GameSet

MAGIC = b"GTPENGINE SHARD1"
SUFFIX = ".shard"
COLUMNS: Mapping[str, np.dtype] = {
    "games": GAME,
    "setup": np.dtype("<u2"),
    "moves": np.dtype("<u2"),
    "ownership": np.dtype("i1"),
    "weights": np.dtype("<f2"),
    "target_counts": np.dtype("<u2"),
    "target_moves": np.dtype("<u2"),
    "target_shares": np.dtype("<u2"),
    "values": np.dtype("<f2"),
}
_START = len(MAGIC) + 8
# A column's shape in a damaged or hostile header is not believed beyond what zlib can make of its bytes.
_ZLIB_EXPANSION = 1032


class ShardError(ValueError):
    """A file that is no shard, or a damaged one; the message names it."""


def write_shard(games: GameSet, path: Path, notes: Mapping[str, Any] | None = None) -> None:
    """Writes the file whole or not at all; OSError with the path where that fails."""
    columns, blocks = [], []
    for name, dtype in COLUMNS.items():
        column = getattr(games, name)
        if column is None:
            continue
        block = zlib.compress(np.ascontiguousarray(column, dtype).tobytes(), 6)
        shape = list(column.shape)
        kind, checksum = _type_of(dtype), zlib.crc32(block)
        columns.append({"name": name, "type": kind, "shape": shape, "size": len(block), "crc32": checksum})
        blocks.append(block)
    facts = {"games": len(games), "sources": games.sources, "notes": dict(notes or {}), "columns": columns}
    header = json.dumps(facts).encode()
    start = MAGIC + len(header).to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little")
    write_whole(path, lambda temporary: temporary.write_bytes(start + header + b"".join(blocks)))


def read_shard(path: Path) -> GameSet:
    """Raises ShardError for a damaged file or one that is no shard, OSError where it cannot be read."""
    data = path.read_bytes()
    try:
        return _read(data)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
        raise ShardError(f"{path}: a damaged shard ({error})") from error


def read_notes(path: Path) -> dict[str, Any]:
    """The notes of a shard, without its games; errors as `read_shard`."""
    with open(path, "rb") as file:
        start = file.read(_START)
        size = int.from_bytes(start[len(MAGIC) : len(MAGIC) + 4], "little")
        data = start + file.read(size)
    try:
        notes = _header(data)[0]["notes"]
        return dict(notes)
    except (ValueError, KeyError, TypeError) as error:
        raise ShardError(f"{path}: a damaged shard ({error})") from error


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header, and where the columns begin."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin as a shard does")
    size, checksum = (int.from_bytes(data[at : at + 4], "little") for at in (len(MAGIC), len(MAGIC) + 4))
    header = data[_START : _START + size]
    if len(header) < size:
        raise ValueError("cut short")
    if zlib.crc32(header) != checksum:
        raise ValueError("its header has another checksum")
    return json.loads(header), _START + size


def _read(data: bytes) -> GameSet:
    header, position = _header(data)
    columns: dict[str, np.ndarray] = {}
    for entry in header["columns"]:
        name, size = entry["name"], entry["size"]
        block = data[position : position + size]
        position += size
        if len(block) < size:
            raise ValueError("cut short")
        if zlib.crc32(block) != entry["crc32"]:
            raise ValueError(f"the column {name} has another checksum")
        dtype, shape = COLUMNS[name], tuple(entry["shape"])
        if _type_of(dtype) != entry["type"]:
            raise ValueError(f"the column {name} is of another type, {entry['type']}")
        expected = math.prod(shape) * dtype.itemsize
        if expected > _ZLIB_EXPANSION * max(size, 1):
            raise ValueError(f"the column {name} promises more than it can hold")
        columns[name] = np.frombuffer(zlib.decompress(block, bufsize=max(expected, 1)), dtype).reshape(shape)
    games = GameSet(sources=tuple(map(str, header["sources"])), **columns)
    if len(games) and int(games.games["source"].max()) >= len(games.sources):
        raise ValueError("a game of an unnamed source")
    games.check()
    return games


def _type_of(dtype: np.dtype) -> Any:
    return dtype.str if dtype.names is None else [list(entry) for entry in dtype.descr]


def read_shards(paths: Iterable[Path], on_error: Callable[[ShardError], None]) -> Iterator[GameSet]:
    """The sets of many files; a damaged one is told to `on_error` and left out."""
    for path in paths:
        try:
            yield read_shard(path)
        except ShardError as error:
            on_error(error)
