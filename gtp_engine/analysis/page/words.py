"""The words of the page, which are data, so that a translation is one more file."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("en",)


@cache
def words(language: str = "en") -> dict[str, Any]:
    """Returns the words of a language in sections, as `words.en.toml` explains them.

    Args:
        language: One of `LANGUAGES`.
    """
    return tomllib.loads((files(__package__) / f"words.{language}.toml").read_text(encoding="utf-8"))
