"""KataGo's network files: `.bin.gz`, `.bin`, `.txt.gz`, `.txt`, versions 8 to 17; written as `.bin.gz`.

A file is a stream of words with blocks of floats in between: `@BIN@` and little-endian float32, or words as well.
`schema` defines its content and order; reader and writer walk over the fields of the descriptions there.
"""

import gzip
import math
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_origin

import numpy as np

from ..base.errors import UserError
from ..base.files import write_bytes
from .config import NEWEST, OLDEST, NetworkConfig, check_shapes
from .schema import BLOCK_KINDS, BatchNormDesc, Floats, Layer, classes_of, field_types
from .stored import StoredNetwork

MARKER = b"@BIN@"
GZIP_MAGIC = b"\x1f\x8b"
# Binary files expand 1.1 times, text files 4 times; anything beyond this limit is not a network.
LARGEST_EXPANSION, FREE_EXPANSION = 20, 64 << 20
_PIECE = 4 << 20  # bytes to expand at once
LONGEST_WORD = 1000
DEEPEST = 4  # blocks inside blocks; KataGo's have 2
# KataGo writes constant norms with 1e-20; a fresh network of ours has the same means and variances, and 1e-4.
_LEAST_MEASURED_EPSILON = 1e-10
_NO_HEADER = "not a KataGo network: it does not begin with a name and a version"
_WORD = re.compile(rb"\S+")
_SPACE = re.compile(rb"\s*")


class NetworkFileError(UserError):
    """A file is not a network, or not one that can be used; the message names the file and the reason."""


def read_katago_file(path: Path) -> StoredNetwork:
    """Reads a network; NetworkFileError if it is damaged, none, or of an unsupported version, or OSError."""
    data = _expand(path)
    try:
        network = _Reader(data).network()
        check_shapes(network.config)
    except UserError as error:
        raise NetworkFileError(f"{path}: {error}") from error
    return network


def _expand(path: Path) -> bytes:
    """Returns the file's content, decompressed if it is compressed."""
    with open(path, "rb", buffering=0) as file:  # with a buffer, reading it all would need twice the memory
        size = os.fstat(file.fileno()).st_size
        limit = FREE_EXPANSION + LARGEST_EXPANSION * size
        if file.read(2) != GZIP_MAGIC:
            file.seek(0)
            return file.read()
        file.seek(0)
        try:
            with gzip.GzipFile(fileobj=file) as unpacked:
                data = b"".join(_pieces(unpacked, limit + 1))
        except EOFError:
            raise NetworkFileError(f"{path}: the file is cut short; download it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise NetworkFileError(f"{path}: the file is damaged ({error}); download it again") from error
    if len(data) > limit:
        raise NetworkFileError(f"{path}: not a network: it expands to more than {limit >> 20} MB")
    return data


def _pieces(file: gzip.GzipFile, most: int) -> Iterator[bytes]:
    """Yields what is in a file, up to a number of bytes; read at once it would take memory for all of them."""
    while most > 0 and (piece := file.read(min(most, _PIECE))):
        most -= len(piece)
        yield piece


class _Reader:
    """Reads descriptions; `values` collects the floats of their layers, see `StoredNetwork`.

    `network_values` holds the fields of the network that are already read, on which later fields depend.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.network_values: dict[str, Any] = {}
        self.values: dict[str, np.ndarray] = {}

    def network(self) -> StoredNetwork:
        try:
            config: NetworkConfig = self.read_desc(NetworkConfig, "", self.network_values)
        except _End:
            has_version = "version" in self.network_values
            raise UserError("the file is cut short; download it again" if has_version else _NO_HEADER) from None
        rest = self.data[self.position :].strip()
        if rest:
            raise UserError(f"{len(rest)} bytes follow the end of the network, beginning with {rest[:20]!r}")
        return StoredNetwork(config, self.values)

    def read_desc(self, cls: type, path: str, values: dict[str, Any] | None = None) -> Any:
        values = {} if values is None else values
        types = field_types(cls)
        for entry in fields(cls):
            if not entry.metadata.get("in_file", True) or self._version < entry.metadata.get("since", 0):
                values[entry.name] = entry.default
                continue
            inner = f"{path}.{entry.name}" if path else entry.name
            if get_origin(types[entry.name]) is tuple:
                values[entry.name] = self._blocks(values["block_count"], inner)
            elif choose := entry.metadata.get("choose"):
                chosen = choose(values, self.network_values)
                values[entry.name] = chosen and self.read_desc(chosen, inner)
            else:
                values[entry.name] = self._value(classes_of(types[entry.name])[0], inner)
            since, zeros = entry.metadata.get("zeros") or (0, 0)
            for _ in range(zeros if self._version >= since else 0):
                if (word := self._word()) != b"0":
                    raise UserError(f"a reserved number after {inner} is {word[:20]!r}: a newer kind of network")
            if inner == "version":  # a file of another kind goes on in another way
                _check_version(values[inner])
        try:
            desc = cls(**values)
        except UserError as error:
            raise UserError(f"{path}: {error}" if path else str(error)) from error
        if isinstance(desc, Layer):
            for floats in desc.floats:
                name = f"{path}.{floats.name}"
                self.values[name] = self._floats(floats, name)
        if isinstance(desc, BatchNormDesc):
            means, variances = self.values[f"{path}.running_mean"], self.values[f"{path}.running_var"]
            if not (variances >= 0).all():
                raise UserError(f"{path}.running_var contains negative variances")
            is_constant = desc.epsilon < _LEAST_MEASURED_EPSILON and not means.any() and bool((variances == 1).all())
            desc = replace(desc, constant=is_constant)
        return desc

    @property
    def _version(self) -> int:
        return int(self.network_values.get("version", 0))

    def _blocks(self, count: int, path: str) -> tuple[Any, ...]:
        if path.count(".blocks") > DEEPEST:
            raise UserError(f"{path}: blocks are nested more than {DEEPEST} deep")
        blocks = []
        for number in range(count):
            kind = self._word().decode("utf-8", "replace")
            if kind not in BLOCK_KINDS:
                raise UserError(f"{path}.{number}: unknown kind of block {kind!r:.60}")
            blocks.append(self.read_desc(BLOCK_KINDS[kind], f"{path}.{number}"))
        return tuple(blocks)

    def _value(self, cls: type, path: str) -> Any:
        """Returns a word as a string, a number or a bool; or a description."""
        if cls not in (str, int, float, bool):
            return self.read_desc(cls, path)
        word = self._word()
        try:
            if cls is bool:
                return {b"0": False, b"1": True}[word]
            return word.decode("utf-8") if cls is str else cls(word)
        except (ValueError, KeyError):
            expected = {str: "a word", int: "a whole number", float: "a number", bool: "0 or 1"}[cls]
            if self._version == 0:
                raise UserError(_NO_HEADER) from None
            raise UserError(f"{path} is {word[:20]!r}; expected {expected}") from None

    def _word(self) -> bytes:
        start = _SPACE.match(self.data, self.position).end()  # type: ignore[union-attr]
        match = _WORD.match(self.data, start, start + LONGEST_WORD + 1)
        if not match or match.end() == len(self.data):  # a word without a space after it may be truncated
            raise _End
        if len(match[0]) > LONGEST_WORD:
            raise UserError("not a KataGo network, or a damaged one: a word has no end")
        self.position = match.end()
        return match[0]

    def _floats(self, floats: Floats, name: str) -> np.ndarray:
        """Returns a block of float32 in torch's axes. Memory is allocated only if the file is long enough."""
        start = _SPACE.match(self.data, self.position).end()  # type: ignore[union-attr]
        if self.data.startswith(MARKER, start):
            start += len(MARKER)
            self._check_rest(start, 4 * floats.size, name)
            values = np.frombuffer(self.data, "<f4", floats.size, start)
            self.position = start + 4 * floats.size
        else:
            self._check_rest(start, 2 * floats.size - 1, name)  # a digit and a space each
            words = (self._value(float, name) for _ in range(floats.size))
            with np.errstate(over="ignore"):  # what is too large becomes infinite
                values = np.fromiter(words, np.float32, floats.size)
        if not np.isfinite(values).all():
            raise UserError(f"{name} contains NaN or infinite values")
        return np.array(values.reshape(floats.shape).transpose(floats.axes), np.float32, order="C")

    def _check_rest(self, start: int, size: int, name: str) -> None:
        if size > len(self.data) - start:
            raise UserError(
                f"cut short: {name} takes {size} bytes, {max(len(self.data) - start, 0)} are left; download it again"
            )


def _check_version(version: int) -> None:
    if version < 1:
        raise UserError(f"not a KataGo network: its version would be {version}")
    if version < OLDEST:
        raise UserError(f"a network of version {version}, with older inputs; use version {OLDEST} to {NEWEST}")
    if version > NEWEST:
        raise UserError(f"a network of version {version}, newer than this program; it reads {OLDEST} to {NEWEST}")


class _End(Exception):
    """The data end before a word or within it."""


def write_katago_file(network: StoredNetwork, path: Path, level: int = 6) -> None:
    """Writes a network as `.bin.gz`, atomically; UserError if the format of its version cannot hold it, or OSError.

    level: how much time to spend on a small file, 1 to 9.
    """
    write_bytes(path, gzip.compress(katago_bytes(network), level, mtime=0))


def katago_bytes(network: StoredNetwork) -> bytes:
    """Returns the content of a network's file, before compression."""
    writer = _Writer(network)
    writer.write(network.config, "")
    return b"".join(writer.parts)


class _Writer:
    """Writes descriptions and the values of their layers, mirroring `_Reader`."""

    def __init__(self, network: StoredNetwork) -> None:
        self.config, self.values = network.config, network.values
        self.parts: list[bytes] = []

    def write(self, desc: Any, path: str) -> None:
        for entry in fields(desc):
            value = getattr(desc, entry.name)
            inner = f"{path}.{entry.name}" if path else entry.name
            if not entry.metadata.get("in_file", True):
                continue
            if self.config.version < entry.metadata.get("since", 0):
                if value != entry.default:
                    version = self.config.version
                    raise UserError(f"{inner} is {value!r:.60}; files of version {version} cannot represent it")
                continue
            self._value(value, inner)
            since, zeros = entry.metadata.get("zeros") or (0, 0)
            if self.config.version >= since:
                self.parts += [b"0\n"] * zeros
        if isinstance(desc, Layer):
            for floats in desc.floats:
                self._floats(floats, f"{path}.{floats.name}")

    def _value(self, value: Any, path: str) -> None:
        if isinstance(value, tuple):
            for number, block in enumerate(value):
                self._word(_BLOCK_NAMES[type(block)])
                self.write(block, f"{path}.{number}")
        elif isinstance(value, bool):
            self._word(str(int(value)))
        elif isinstance(value, str | int | float):
            self._word(str(value))
        elif value is not None:
            self.write(value, path)

    def _word(self, word: str) -> None:
        encoded = word.encode()
        if not _WORD.fullmatch(encoded) or len(encoded) > LONGEST_WORD:
            raise UserError(f"{word!r:.60} cannot be written to a KataGo file: names have no spaces")
        self.parts.append(encoded + b"\n")

    def _floats(self, floats: Floats, name: str) -> None:
        values = self.values[name]
        order = np.argsort(floats.axes)
        values = np.ascontiguousarray(values.transpose(order), "<f4")
        if values.shape != floats.shape:
            raise UserError(f"{name} has the shape {values.shape}, but the config says {floats.shape}")
        if not math.isfinite(float(np.abs(values).sum())):
            raise UserError(f"{name} contains NaN or infinite values")
        self.parts += [MARKER, values.tobytes(), b"\n"]


_BLOCK_NAMES = {cls: kind for kind, cls in BLOCK_KINDS.items()}
