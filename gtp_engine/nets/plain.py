"""Configs as plain data (dictionaries, lists, strings, numbers), for checkpoints and JSON, and back."""

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from ..base.errors import UserError
from . import config, schema
from .config import NetworkConfig


def to_data(record: Any) -> dict[str, Any]:
    """Converts a config, or a part of one, to plain dictionaries, lists, strings and numbers, as in JSON."""
    data: dict[str, Any] = {"record": type(record).__name__}
    for entry in fields(record):
        value = getattr(record, entry.name)
        if isinstance(value, tuple):
            data[entry.name] = [to_data(part) for part in value]
        else:
            data[entry.name] = to_data(value) if is_dataclass(value) else value
    return data


def config_from_data(data: Any) -> NetworkConfig:
    """The inverse of `to_data`.

    Raises:
        UserError: The data do not describe a network.
    """
    record = _record(data)
    if not isinstance(record, NetworkConfig):
        raise UserError(f"expected the description of a network, not of a {type(record).__name__}")
    return record


def _record(data: Any) -> Any:
    if not isinstance(data, Mapping) or data.get("record") not in _CLASSES:
        raise UserError(f"not a description of a network: {data!r:.80}")
    cls = _CLASSES[data["record"]]
    hints, values = field_types(cls), {}
    for name, value in data.items():
        if name == "record":
            continue
        if name not in hints:
            raise UserError(f"{data['record']} has no {name!r}")
        values[name] = _value(value, hints[name], f"{data['record']}.{name}")
    try:
        return cls(**values)
    except TypeError as error:
        raise UserError(str(error)) from error


def _value(data: Any, hint: Any, where: str) -> Any:
    """Returns a value of the type of a field."""
    if typing.get_origin(hint) is tuple:
        return tuple(_value(part, typing.get_args(hint)[0], where) for part in data)
    value, accepted = _record(data) if isinstance(data, Mapping) else data, classes_of(hint)
    if type(value) is int and float in accepted:
        value = float(value)
    if type(value) not in accepted:
        raise UserError(f"{where} cannot be {value!r:.80}")
    return value


@cache
def field_types(cls: type) -> dict[str, Any]:
    """Returns the types of a description's fields."""
    return typing.get_type_hints(cls)


def classes_of(hint: Any) -> tuple[type, ...]:
    """Returns the classes of a union, or the one class."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


_CLASSES: dict[str, type] = {
    name: cls for name, cls in vars(schema).items() if isinstance(cls, type) and is_dataclass(cls)
} | {"Multipliers": config.Multipliers, "NetworkConfig": NetworkConfig}
