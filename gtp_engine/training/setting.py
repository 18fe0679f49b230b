"""Settings: dataclass fields with a meaning and accepted values."""

from dataclasses import Field, field, fields
from typing import Any

_UNLIMITED = 2**31  # a bound that is out of reach


def setting(default: Any, meaning: str, low: float | None = None, high: float | None = None, **more: Any) -> Any:
    """Returns a dataclass field with metadata.

    Args:
        default: The default; a dict or list is copied.
        meaning: What it does and in which unit, for settings files and the reference. It has to be
            understood by itself, because its neighbours may be out of sight.
        low: The lowest accepted number; None for no bound.
        high: The highest accepted number; None for no bound.
        **more: Further metadata, such as `accepted`, the words that are accepted, or `command`, the only one whose runs
            the setting has an effect on.
    """
    metadata = {"meaning": meaning, "low": low, "high": high, **more}
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def comment_of(item: "Field[Any]") -> str:
    """Returns what a settings file says about a setting: its meaning, and which values it accepts."""
    low, high, words = (item.metadata.get(name) for name in ("low", "high", "accepted"))
    accepted = ""
    if words:
        accepted = f" Accepted: {', '.join(words)}."
    elif high is not None and high < _UNLIMITED:
        accepted = f" Range: {low:g} to {high:g}."
    elif low is not None:
        accepted = f" Range: {low:g} or more."
    return f"{item.metadata['meaning']}{accepted}"


def settings_of(section: Any, command: str | None = None) -> "dict[str, Field[Any]]":
    """Returns the settings of a section, by their names; other fields are left out.

    Args:
        section: A dataclass or an instance.
        command: Only settings that have an effect on the runs of this command, `learn` or `train`; None for all.
    """
    found = {item.name: item for item in fields(section) if "meaning" in item.metadata}
    return {name: item for name, item in found.items() if command in (None, item.metadata.get("command", command))}
