"""KataGo's network files: `.bin.gz`, `.bin`, `.txt.gz`, `.txt`, versions 8 to 17; written as `.bin.gz`.

A file is a stream of words with blocks of numbers in between: `@BIN@` and little-endian float32, or words as well. What
it holds in which order is told by `records`; reader and writer walk over their fields.
"""

import gzip
import math
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ..files import write_whole
from .config import KATAGO_INPUTS, NEWEST, OLDEST, PLANES, SCALARS, NetworkConfig
from .model import Model
from .plain import field_types
from .records import BLOCK_KINDS, Floats, Layer

MARKER = b"@BIN@"
GZIP_MAGIC = b"\x1f\x8b"
# A file expands 1.1 times where it is binary, 4 times where it is text; beyond this it is none of ours.
LARGEST_EXPANSION, FREE_EXPANSION = 20, 64 << 20
LONGEST_WORD = 1000
DEEPEST = 4  # blocks inside blocks; KataGo's have 2
_WORD = re.compile(rb"\S+")
_SPACE = re.compile(rb"\s*")


class NetworkFileError(ValueError):
    """A file that is no network, or none that can be used; the message names it and says what is wrong."""


def read_katago_file(path: Path) -> Model:
    """The network of a file, in evaluation mode. Raises NetworkFileError, or OSError where it cannot be read."""
    data = _expand(path)
    try:
        config, tensors = _Reader(data).network()
        model = Model(config)
        model.load_state_dict(tensors, strict=True)
        check_shapes(model.eval())
    except RecursionError:
        raise NetworkFileError(f"{path}: blocks within blocks without end") from None
    except ValueError as error:
        raise NetworkFileError(f"{path}: {error}") from error
    return model


def _expand(path: Path) -> bytes:
    """The file's content, unpacked where it is packed."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        limit = FREE_EXPANSION + LARGEST_EXPANSION * size
        if file.read(2) != GZIP_MAGIC:
            file.seek(0)
            return file.read()
        file.seek(0)
        try:
            with gzip.GzipFile(fileobj=file) as unpacked:
                data = unpacked.read(limit + 1)
        except EOFError:
            raise NetworkFileError(f"{path}: the file is cut short; download it again") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise NetworkFileError(f"{path}: the file is damaged ({error}); download it again") from error
    if len(data) > limit:
        raise NetworkFileError(f"{path}: no network: it expands to more than {limit >> 20} MB")
    return data


def check_shapes(model: Model) -> None:
    """Raises ValueError where a network's layers do not fit each other: runs it on a board of 2x2.

    The layers are no larger than the file, so that this takes little. Tensors without numbers ("meta") would take
    nothing, but a second to begin with: torch imports its tracer for them.
    """
    config = model.config
    metadata = torch.zeros(1, config.trunk.metadata.inputs) if config.trunk.metadata else None
    try:
        with torch.inference_mode():
            raw = model(torch.ones(1, config.planes, 2, 2), torch.zeros(1, config.scalars), metadata)
    except RuntimeError as error:
        raise ValueError(f"its layers do not fit each other ({str(error).splitlines()[0]})") from error
    scores = 4 if config.version == 8 else 6
    channels = 1 if config.version < 12 else 2 if config.version < 16 else 4 if config.version == 16 else None
    if channels is None:
        channels = config.policy.declared_channels
    expected = [(1, channels, 5), (1, 3), (1, scores), (1, 4)]
    found = [tuple(output.shape) for output in raw[: len(expected)]]  # heads that are only learned come after them
    if found != expected:
        raise ValueError(f"its outputs have the shapes {found}; version {config.version} has {expected}")


class _Reader:
    """Reads records; `tensors` collects their numbers, in torch's axes, by their paths."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0
        self.network_values: dict[str, Any] = {}
        self.tensors: dict[str, torch.Tensor] = {}

    def network(self) -> tuple[NetworkConfig, dict[str, torch.Tensor]]:
        try:
            config = self.record(NetworkConfig, "", self.network_values)
        except _End:
            raise ValueError(self._too_short()) from None
        assert isinstance(config, NetworkConfig)
        rest = self.data[self.position :].strip()
        if rest:
            raise ValueError(f"{len(rest)} bytes follow the end of the network, from {rest[:20]!r} on")
        return config, self.tensors

    def _too_short(self) -> str:
        if "version" not in self.network_values:
            return "no KataGo network: it does not begin with a name and a version"
        return "the file is cut short; download it again"

    def record(self, cls: type, path: str, values: dict[str, Any] | None = None) -> Any:
        values = {} if values is None else values
        types = field_types(cls)
        for entry in fields(cls):
            if not entry.metadata.get("in_file", True) or self._version < entry.metadata.get("since", 0):
                values[entry.name] = entry.default
                continue
            accepted = types[entry.name]
            inner = f"{path}.{entry.name}" if path else entry.name
            if tuple in accepted:
                values[entry.name] = self._blocks(values["block_count"], inner)
            elif choose := entry.metadata.get("choose"):
                chosen = choose(values, self.network_values)
                values[entry.name] = chosen and self.record(chosen, inner)
            else:
                values[entry.name] = self._value(accepted[0], inner)
            self._skip_zeros(entry.metadata, inner)
            if inner in ("version", "planes", "scalars"):
                self._check_header(inner)
        try:
            record = cls(**values)
        except ValueError as error:
            raise ValueError(f"{path}: {error}" if path else str(error)) from error
        if isinstance(record, Layer):
            for floats in record.floats:
                name = f"{path}.{floats.name}"
                self.tensors[name] = torch.from_numpy(self._numbers(floats, name))
        return record

    @property
    def _version(self) -> int:
        return int(self.network_values.get("version", 0))

    def _check_header(self, name: str) -> None:
        """Says at once what a file of another kind is."""
        value = self.network_values[name]
        if name == "version" and 1 <= value < OLDEST:
            raise ValueError(f"a network of version {value}, of older inputs; take one of version {OLDEST} to {NEWEST}")
        if name == "version" and value > NEWEST:
            raise ValueError(f"a network of version {value}, newer than this program; it reads {OLDEST} to {NEWEST}")
        if name == "version" and value < 1:
            raise ValueError(f"no KataGo network: its version would be {value}")
        expected = {"planes": PLANES, "scalars": SCALARS}.get(name, value)
        if value != expected:
            raise ValueError(f"the network takes {value} {name}; this program has {expected}")

    def _blocks(self, count: int, path: str) -> tuple[Any, ...]:
        if path.count(".blocks") > DEEPEST:
            raise ValueError(f"{path}: blocks within blocks, more than {DEEPEST} deep")
        blocks = []
        for number in range(count):
            kind = self._word().decode("utf-8", "replace")
            if kind not in BLOCK_KINDS:
                raise ValueError(f"{path}.{number}: unknown kind of block {kind!r:.60}")
            blocks.append(self.record(BLOCK_KINDS[kind], f"{path}.{number}"))
        return tuple(blocks)

    def _value(self, cls: type, path: str) -> Any:
        """A word as a string, a number or a truth value; or a record."""
        if cls not in (str, int, float, bool):
            return self.record(cls, path)
        word = self._word()
        try:
            if cls is bool:
                return {b"0": False, b"1": True}[word]
            return word.decode("utf-8") if cls is str else cls(word)
        except (ValueError, KeyError):
            expected = {str: "a word", int: "a whole number", float: "a number", bool: "0 or 1"}[cls]
            if self._version == 0:
                raise ValueError("no KataGo network: it does not begin with a name and a version") from None
            raise ValueError(f"{path} is {word[:20]!r}; expected {expected}") from None

    def _skip_zeros(self, metadata: Mapping[str, Any], path: str) -> None:
        since, count = metadata.get("zeros") or (NEWEST + 1, 0)
        if self._version < since:
            return
        for _ in range(count):
            word = self._word()
            if word != b"0":
                raise ValueError(f"a reserved number after {path} is {word[:20]!r}: a newer kind of network")

    def _word(self) -> bytes:
        start = _SPACE.match(self.data, self.position).end()  # type: ignore[union-attr]
        match = _WORD.match(self.data, start, start + LONGEST_WORD + 1)
        if not match or match.end() == len(self.data):  # a word without a space after it may be the half of one
            raise _End
        if len(match[0]) > LONGEST_WORD:
            raise ValueError("no KataGo network, or a damaged one: a word has no end")
        self.position = match.end()
        return match[0]

    def _numbers(self, floats: Floats, name: str) -> np.ndarray:
        """float32 in torch's axes. Nothing is allocated before the file is known to be long enough."""
        start = _SPACE.match(self.data, self.position).end()  # type: ignore[union-attr]
        if self.data.startswith(MARKER, start):
            start += len(MARKER)
            self._check_rest(start, 4 * floats.numbers, name)
            numbers = np.frombuffer(self.data, "<f4", floats.numbers, start)
            self.position = start + 4 * floats.numbers
        else:
            self._check_rest(start, 2 * floats.numbers - 1, name)
            words = (self._value(float, name) for _ in range(floats.numbers))
            numbers = np.fromiter(words, np.float32, floats.numbers)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} holds numbers that are none (NaN or infinite)")
        return np.array(numbers.reshape(floats.shape).transpose(floats.axes), np.float32, order="C")

    def _check_rest(self, start: int, size: int, name: str) -> None:
        if size > len(self.data) - start:
            raise ValueError(
                f"cut short: {name} takes {size} bytes, and {max(len(self.data) - start, 0)} follow; download it again"
            )


class _End(Exception):
    """The data ended before a word, or in it."""


def write_katago_file(model: Model, path: Path) -> None:
    """Writes a network as `.bin.gz`, whole or not at all. ValueError where its version of the format cannot hold it."""
    data = katago_bytes(model)
    write_whole(path, lambda temporary: temporary.write_bytes(gzip.compress(data, 6, mtime=0)))


def katago_bytes(model: Model) -> bytes:
    """The content of a model's file, before it is packed."""
    if model.config.inputs_version != KATAGO_INPUTS:
        raise ValueError(f"inputs of version {model.config.inputs_version} cannot be written to a KataGo file")
    return _Writer(model).content()


class _Writer:
    def __init__(self, model: Model) -> None:
        self.config = model.config
        self.tensors = model.state_dict()
        self.parts: list[bytes] = []

    def content(self) -> bytes:
        self._record(self.config, "")
        return b"".join(self.parts)

    def _record(self, record: Any, path: str) -> None:
        for entry in fields(record):
            value = getattr(record, entry.name)
            inner = f"{path}.{entry.name}" if path else entry.name
            if not entry.metadata.get("in_file", True):
                continue
            if self.config.version < entry.metadata.get("since", 0):
                if value != entry.default:
                    raise ValueError(f"{inner} is {value!r:.60}; files of version {self.config.version} cannot say so")
                continue
            self._value(value, inner)
            since, zeros = entry.metadata.get("zeros") or (0, 0)
            if self.config.version >= since:
                self.parts += [b"0\n"] * zeros
        if isinstance(record, Layer):
            for floats in record.floats:
                self._numbers(floats, f"{path}.{floats.name}")

    def _value(self, value: Any, path: str) -> None:
        if isinstance(value, tuple):
            for number, block in enumerate(value):
                self._word(_KIND_OF[type(block)])
                self._record(block, f"{path}.{number}")
        elif isinstance(value, bool):
            self._word(str(int(value)))
        elif isinstance(value, str | int | float):
            self._word(str(value))
        elif value is not None:
            self._record(value, path)

    def _word(self, word: str) -> None:
        encoded = word.encode()
        if not _WORD.fullmatch(encoded) or len(encoded) > LONGEST_WORD:
            raise ValueError(f"{word!r:.60} cannot be written to a KataGo file: names have no spaces")
        self.parts.append(encoded + b"\n")

    def _numbers(self, floats: Floats, name: str) -> None:
        if name not in self.tensors:
            raise ValueError(f"{name} is missing: a network that was prepared for inference cannot be written")
        numbers = self.tensors[name].detach().float().cpu().numpy()
        order = np.argsort(floats.axes)
        numbers = np.ascontiguousarray(numbers.transpose(order), "<f4")
        if numbers.shape != floats.shape or not math.isfinite(float(np.abs(numbers).sum())):
            raise ValueError(f"{name} holds numbers that are none (NaN or infinite)")
        self.parts += [MARKER, numbers.tobytes(), b"\n"]


_KIND_OF = {cls: kind for kind, cls in BLOCK_KINDS.items()}
