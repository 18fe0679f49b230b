"""Texts by name in several languages: one file for each language, with the same names and the same values in all.

Names in braces are filled in. A text whose wording depends on a number has the plural forms of its language, by the
names of Unicode's rules (zero, one, two, few, many, other); the value `count` chooses. In the browser
`clients/web/static/words.js` reads the same files.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TypeAlias

# What a text is filled in with: a number is written with separators between thousands.
Value: TypeAlias = "str | int | Phrase"

# Around each value in a language written from right to left (first strong isolate, pop directional isolate): a vertex,
# a percentage or a player's name then neither changes the order of the words around it nor is changed by it.
_ISOLATED = "\u2068{\\1}\u2069"


def _one_or_other(number: int) -> str:
    return "one" if number == 1 else "other"


def _arabic(number: int) -> str:
    if number <= 2:
        return ("zero", "one", "two")[number]
    rest = number % 100
    return "few" if 3 <= rest <= 10 else "many" if rest >= 11 else "other"


# The plural rules are those of Unicode's CLDR (plurals.xml) for whole numbers below a million, which is all that is
# counted here: from a million on, Spanish has one more form. The first language is the default.
PLURAL_FORM: dict[str, Callable[[int], str]] = {
    "en": _one_or_other,
    "es": _one_or_other,
    "zh": lambda number: "other",
    "ar": _arabic,
}
LANGUAGES = tuple(PLURAL_FORM)
DEFAULT = LANGUAGES[0]


@dataclass(frozen=True)
class Phrase:
    """Something to say, in no language yet.

    Attributes:
        name: The name of the text.
        values: What is filled in.
    """

    name: str
    values: Mapping[str, Value] = field(default_factory=dict)


class Texts:
    """The texts of a language; `texts` returns them.

    Attributes:
        language: One of `LANGUAGES`.
        direction: "ltr" or "rtl".
    """

    def __init__(self, language: str) -> None:
        stored: dict[str, str | dict[str, str]] = json.loads(
            (files(__package__) / f"{language}.json").read_text(encoding="utf-8")
        )
        self.language = language
        self.direction = str(stored["direction"])
        self._texts = {name: self._prepared(text) for name, text in stored.items()}

    def __call__(self, name: str, **values: Value) -> str:
        """Returns a text with its values filled in."""
        text = self._texts[name]
        if isinstance(text, dict):
            count = values["count"]
            assert isinstance(count, int), f"{name} has plural forms"
            text = text[PLURAL_FORM[self.language](count)]
        return text.format(**{key: self._written(value) for key, value in values.items()})

    @property
    def names(self) -> frozenset[str]:
        """The names of all texts."""
        return frozenset(self._texts)

    def say(self, phrase: Phrase) -> str:
        """Returns a phrase in this language."""
        return self(phrase.name, **phrase.values)

    def lead(self, points: float, digits: int = 1) -> str:
        """Returns Black's lead in points as text, such as "W+3.5"; "even" if it rounds to zero."""
        margin = f"{abs(points):.{digits}f}"
        if not float(margin):
            return self("ahead.even")
        return self("ahead.black" if points > 0 else "ahead.white", points=margin)

    def template(self, name: str) -> str:
        """Returns a text without plural forms as it is, for a script that fills it in."""
        text = self._texts[name]
        assert isinstance(text, str), f"{name} has plural forms"
        return text

    def templates(self, prefix: str) -> dict[str, str]:
        """Returns the texts whose names begin with `prefix` as `template` does, without it in their names."""
        return {name.removeprefix(prefix): self.template(name) for name in self._texts if name.startswith(prefix)}

    def _prepared(self, text: str | dict[str, str]) -> str | dict[str, str]:
        if isinstance(text, dict):
            return {form: str(self._prepared(wording)) for form, wording in text.items()}
        return re.sub(r"\{(\w+)\}", _ISOLATED, text) if self.direction == "rtl" else text

    def _written(self, value: Value) -> str:
        if isinstance(value, Phrase):
            return self.say(value)
        return f"{value:,}" if isinstance(value, int) else value


@cache
def texts(language: str = DEFAULT) -> Texts:
    """Returns the texts of one of `LANGUAGES`."""
    return Texts(language)
