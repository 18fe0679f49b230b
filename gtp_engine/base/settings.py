"""Settings: fields of dataclasses that say once what they mean and which values they accept.

The declaration is all there is about a setting. The checks of the Python API (`check`), the options of the command line
(`cli.options`), settings files, `--set`, `kata-set-param`, the rules of a run that resumes and docs/reference.md follow
from it.
"""

import inspect
import re
from dataclasses import Field, field, fields
from typing import Any

from .fields import Flag, Range, Text, Words

UNLIMITED = 2**31  # a bound that is out of reach


def setting(
    default: Any, low: float | None = None, high: float | None = None, *, accepts: Any = None, **more: Any
) -> Any:
    """Returns a dataclass field that is a setting; its meaning stands in the docstring of the class (`meanings`).

    Args:
        default: The default, or a function that returns it; a dict or list is copied. With None, None is accepted.
        low: The lowest accepted number; None for no bound.
        high: The highest accepted number; None for no bound.
        accepts: The words in a tuple, or what has the `parse` of `fields.Range` and a text for "expected ...". By
            default it is what the default is: numbers within the bounds, true and false, or any text.
        **more: Further metadata: `katago`, KataGo's name of a search parameter; `command`, the only one whose runs the
            setting has an effect on; `changeable`, whether a run that resumes may have another value; and those of
            `cli.options`.
    """
    if accepts is None:
        kinds = {bool: Flag(), str: Text(), int: Range(low, high, whole=True), float: Range(low, high)}
        accepts = kinds[type(default)]
    elif isinstance(accepts, tuple):
        accepts = Words(accepts)
    metadata = {"accepts": accepts, **more}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def like(section: Any, name: str, **changes: Any) -> Any:
    """Returns a field that is declared as one of another class; `changes` are the default or metadata that differ."""
    item = settings_of(section)[name]
    about = meanings(section).get(name) or item.metadata.get("help", "")
    metadata = {**item.metadata, "help": about, **changes}
    return field(default=metadata.pop("default", item.default), metadata=metadata)


def settings_of(section: Any, command: str | None = None) -> "dict[str, Field[Any]]":
    """Returns the settings of a dataclass or an instance, by their names; other fields are left out.

    With a command, `learn` or `train`, they are those that have an effect on its runs.
    """
    found = {item.name: item for item in fields(section) if "accepts" in item.metadata}
    return {name: item for name, item in found.items() if command in (None, item.metadata.get("command", command))}


def accepted(item: "Field[Any]", value: Any, *, from_text: bool = False) -> Any:
    """Returns a value, which may be written as a text if `from_text`, in a setting's type.

    Messages call it by the `what` of the setting, or by its name. None is accepted if it is the default. Raises
    UserError if the value is not accepted.
    """
    if value is None and item.default is None:
        return None
    return item.metadata["accepts"].parse(item.metadata.get("what", item.name), value, from_text=from_text)


def check(section: Any) -> None:
    """Puts the values of a frozen dataclass into the types of its settings; raises UserError if one is not accepted."""
    for name, item in settings_of(section).items():
        value = getattr(section, name)
        if value is not item.default:  # most are, and need no check
            object.__setattr__(section, name, accepted(item, value))


def meanings(section: Any) -> dict[str, str]:
    """Returns what the fields of a dataclass mean, by their names: the entries below "Attributes:" in the docstrings.

    A meaning has to be understood by itself, because a settings file and the help show it without its neighbours.
    Without docstrings, with `python -OO`, there are none.
    """
    found: dict[str, str] = {}
    kind = section if isinstance(section, type) else type(section)
    for base in reversed(kind.__mro__):
        _, _, entries = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes:\n")
        text = entries.partition("\n\n")[0]
        for entry in re.split(r"\n(?=    \w)", "\n" + text)[1:]:
            names, _, meaning = " ".join(entry.split()).partition(": ")
            found |= dict.fromkeys(names.split(", "), meaning)
    return found


def comment_of(section: Any, name: str) -> str:
    """Returns what a settings file says about a setting: its meaning, and which values it accepts."""
    accepts = settings_of(section)[name].metadata["accepts"]
    text = ""
    if isinstance(accepts, Words):
        text = f" Accepted: {', '.join(accepts.words)}."
    elif (high := getattr(accepts, "high", None)) is not None and high < UNLIMITED:
        text = f" Range: {accepts.low:g} to {high:g}."
    elif (low := getattr(accepts, "low", None)) is not None:
        text = f" Range: {low:g} or more."
    return f"{meanings(section).get(name, '')}{text}".strip()
