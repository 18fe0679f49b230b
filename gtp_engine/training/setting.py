"""Settings: dataclass fields with a meaning and accepted values."""

from dataclasses import Field, field, fields
from typing import Any


def setting(default: Any, meaning: str, low: float | None = None, high: float | None = None, **more: Any) -> Any:
    """Returns a dataclass field with metadata.

    Args:
        default: The default; a dict or list is copied.
        meaning: One sentence, which settings files and the reference show.
        low: The lowest accepted number; None for no bound.
        high: The highest accepted number; None for no bound.
        **more: Further metadata, such as `accepted`, the words that are accepted.
    """
    metadata = {"meaning": meaning, "low": low, "high": high, **more}
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def settings_of(section: Any) -> "dict[str, Field[Any]]":
    """Returns the settings of a section (a dataclass or an instance), by their names; other fields are left out."""
    return {item.name: item for item in fields(section) if "meaning" in item.metadata}
