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
    record = _from_data(data)
    if not isinstance(record, NetworkConfig):
        raise UserError(f"expected the description of a network, not of a {type(record).__name__}")
    return record


def _from_data(data: Any) -> Any:
    if not isinstance(data, Mapping) or data.get("record") not in _CLASSES:
        raise UserError(f"not a description of a network: {data!r:.80}")
    cls = _CLASSES[data["record"]]
    types_, parts = field_types(cls), _part_types(cls)
    values = {}
    for name, value in data.items():
        if name == "record":
            continue
        if name not in types_:
            raise UserError(f"{data['record']} has no {name!r}")
        values[name] = _value_from_data(value, types_[name], parts.get(name, ()), f"{data['record']}.{name}")
    try:
        return cls(**values)
    except TypeError as error:
        raise UserError(str(error)) from error


def _value_from_data(value: Any, accepted: tuple[type, ...], parts: tuple[type, ...], where: str) -> Any:
    """Returns a value of one of the accepted classes; if it is a tuple, each of its members is of one of `parts`."""
    if isinstance(value, Mapping):
        value = _from_data(value)
    elif isinstance(value, list | tuple):
        value = tuple(_from_data(part) for part in value)
        if not all(type(part) in parts for part in value):
            raise UserError(f"{where} cannot be {value!r:.80}")
    if type(value) is int and float in accepted:
        value = float(value)
    if type(value) not in accepted:
        raise UserError(f"{where} cannot be {value!r:.80}")
    return value


@cache
def field_types(cls: type) -> dict[str, tuple[type, ...]]:
    """Returns the classes that each field of a description can have; `tuple` for several, NoneType if optional."""
    hints = typing.get_type_hints(cls).items()
    return {name: (tuple,) if typing.get_origin(hint) is tuple else _classes(hint) for name, hint in hints}


@cache
def _part_types(cls: type) -> dict[str, tuple[type, ...]]:
    """Returns the classes that the members of each tuple of a description can have."""
    hints = typing.get_type_hints(cls).items()
    return {name: _classes(typing.get_args(hint)[0]) for name, hint in hints if typing.get_origin(hint) is tuple}


def _classes(hint: Any) -> tuple[type, ...]:
    """Returns the classes of a union, or the one class."""
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


_CLASSES: dict[str, type] = {
    name: cls for name, cls in vars(schema).items() if isinstance(cls, type) and is_dataclass(cls)
} | {"Multipliers": config.Multipliers, "NetworkConfig": NetworkConfig}
# Checkpoints of version 0.20 and earlier name these classes so.
_CLASSES |= {f"{name.removesuffix('Desc')}Record": cls for name, cls in _CLASSES.items() if name.endswith("Desc")}
