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
    types_ = field_types(cls)
    values = {}
    for name, value in data.items():
        if name == "record":
            continue
        if name not in types_:
            raise UserError(f"{data['record']} has no {name!r}")
        values[name] = _value_from_data(value, types_[name], f"{data['record']}.{name}")
    try:
        return cls(**values)
    except TypeError as error:
        raise UserError(str(error)) from error


def _value_from_data(value: Any, accepted: tuple[type, ...], where: str) -> Any:
    if isinstance(value, Mapping):
        value = _from_data(value)
    elif isinstance(value, list | tuple):
        value = tuple(_from_data(part) for part in value)
        if not all(type(part) in schema.BLOCK_KINDS.values() for part in value):
            raise UserError(f"{where} cannot be {value!r:.80}")
    if type(value) is int and float in accepted:
        value = float(value)
    if type(value) not in accepted:
        raise UserError(f"{where} cannot be {value!r:.80}")
    return value


@cache
def field_types(cls: type) -> dict[str, tuple[type, ...]]:
    """Returns the classes that each field of a description can have; `tuple` for blocks, NoneType if optional."""
    found: dict[str, tuple[type, ...]] = {}
    for name, hint in typing.get_type_hints(cls).items():
        origin = typing.get_origin(hint)
        if origin is tuple:
            found[name] = (tuple,)
        else:
            found[name] = typing.get_args(hint) if origin in (typing.Union, types.UnionType) else (hint,)
    return found


_CLASSES: dict[str, type] = {
    name: cls for name, cls in vars(schema).items() if isinstance(cls, type) and is_dataclass(cls)
} | {"Multipliers": config.Multipliers, "NetworkConfig": NetworkConfig}
# Checkpoints of version 0.20 and earlier name these classes so.
_CLASSES |= {f"{name.removesuffix('Desc')}Record": cls for name, cls in _CLASSES.items() if name.endswith("Desc")}
