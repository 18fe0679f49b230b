"""Values as JSON, and back by their types: a dataclass is an object of its fields, a named tuple a list."""

import hashlib
import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from .nesting import parse_json


def as_json(value: Any) -> str:
    """Returns a value of dataclasses, tuples, mappings, sets, arrays, texts and numbers in JSON."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {entry.name: getattr(value, entry.name) for entry in fields(value)}
    if isinstance(value, AbstractSet):
        return sorted(value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes().hex()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def from_json(kind: Any, text: str | bytes) -> Any:
    """Returns the value of a type that `as_json` has written.

    Raises ValueError if the text is not such a value, or was written by another version.
    """
    try:
        return _read(kind, parse_json(text))
    except (LookupError, TypeError, AttributeError, SyntaxError) as error:  # the last from numpy, of a type of numbers
        raise ValueError(f"no {kind}: {error!r}") from error


def form_of(kind: Any) -> str:
    """Returns eight letters and digits that change with the fields of a type, and of the types of its fields."""
    known, waiting = dict[str, str](), [kind]
    while waiting:
        each = waiting.pop()
        if repr(each) not in known:  # a class may have fields of itself
            _, parts, types = _shape(each)
            known[repr(each)] = repr(types)
            waiting += [*parts, *types.values()]
    return hashlib.sha256(repr(sorted(known.items())).encode()).hexdigest()[:8]


@cache
def _shape(kind: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Returns what a generic type is one of, its parts, and the types of the fields of a class."""
    has_fields = is_dataclass(kind) or hasattr(kind, "_fields")
    return get_origin(kind), get_args(kind), get_type_hints(kind) if has_fields else {}


def _read(kind: Any, value: Any) -> Any:
    origin, parts, types = _shape(kind)
    if types and is_dataclass(kind):
        return kind(**{name: _read(types[name], each) for name, each in value.items()})  # type: ignore[operator]
    if types or (origin is tuple and ... not in parts):
        each = types.values() or parts
        return getattr(kind, "_make", tuple)(_read(*pair) for pair in zip(each, value, strict=True))
    if origin is None:
        if kind is np.ndarray:
            return np.frombuffer(bytes.fromhex(value[2]), value[0]).reshape(value[1])
        if type(value) is not kind and (kind, type(value)) != (float, int):
            raise ValueError(f"expected {kind.__name__} instead of {value!r:.60}")
        return value
    if origin in (Union, UnionType):
        return _read_any(parts, value)
    if origin is Mapping:
        return {parts[0](name): _read(parts[1], each) for name, each in value.items()}
    is_plain = set(map(type, value)) == {parts[0]}  # most are, and long
    return (frozenset if origin is frozenset else tuple)(
        value if is_plain else (_read(parts[0], each) for each in value)
    )


def _read_any(kinds: tuple[Any, ...], value: Any) -> Any:
    """Returns the value in the first of several types that it fits."""
    if value is None and NoneType in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not NoneType)
    for kind in others:
        with suppress(ValueError, AttributeError):
            return _read(kind, value)
    return _read(last, value)
