"""Texts by name in several languages: one file for each language, with the same names and the same values in all.

A file is all that a language needs. Under "about" it says what the language is called, how browsers write numbers in it
(a locale of theirs), its direction, and when a plural form is used. Names in braces are filled in. A text whose wording
depends on a number has the plural forms of its language, by the names of Unicode's rules (zero, one, two, few, many,
other); the value `count` chooses. In the browser `clients/web/static/words.js` reads the same files.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TypeAlias

# What a text is filled in with: a number is written with separators between thousands.
Value: TypeAlias = "str | int | Phrase"

# Around each value in a language written from right to left (first strong isolate, pop directional isolate): a vertex,
# a percentage or a player's name then neither changes the order of the words around it nor is changed by it.
_ISOLATED = "\u2068{\\1}\u2069"
ISOLATES = str.maketrans("", "", "\u2068\u2069")  # takes them away, for a terminal or the name of a file


# A condition for a plural form, as in Unicode's CLDR (plurals.xml): "n = 1", "n % 100 = 3..10". The files have those
# for whole numbers below a million, which is all that is counted here: from a million on, Spanish has one more form.
_CONDITION = re.compile(r"n(?: % (?P<modulus>\d+))? = (?P<low>\d+)(?:\.\.(?P<high>\d+))?")

DEFAULT = "en"
_FOUND = sorted(path.name.removesuffix(".json") for path in files(__package__).iterdir() if path.name.endswith(".json"))
LANGUAGES = (DEFAULT, *(code for code in _FOUND if code != DEFAULT))


@dataclass(frozen=True)
class Phrase:
    """Something to say, in no language yet."""

    name: str  # of the text
    values: Mapping[str, Value] = field(default_factory=dict)  # that are filled in


class Texts:
    """The texts of a language; `texts` returns them."""

    def __init__(self, language: str) -> None:
        stored = json.loads((files(__package__) / f"{language}.json").read_text(encoding="utf-8"))
        about = stored.pop("about")
        self.language = language  # one of `LANGUAGES`
        self.name: str = about["name"]  # in the language itself
        self.direction: str = about["direction"]  # "ltr" or "rtl"
        self._plurals: dict[str, str] = about["plurals"]
        self._texts = {name: self._prepared(text) for name, text in stored.items()}

    def __call__(self, name: str, **values: Value) -> str:
        """Returns a text with its values filled in."""
        text = self._texts[name]
        if isinstance(text, dict):
            count = values["count"]
            assert isinstance(count, int), f"{name} has plural forms"
            text = text[self.plural_form(count)]
        return text.format(**{key: self.say(value) for key, value in values.items()})

    def plural_form(self, number: int) -> str:
        """Returns the name of the plural form for a number, 0 or more."""
        for form, condition in self._plurals.items():
            found = _CONDITION.fullmatch(condition)
            assert found is not None, f"{self.language}: {condition}"
            rest = number % int(found["modulus"]) if found["modulus"] else number
            if int(found["low"]) <= rest <= int(found["high"] or found["low"]):
                return form
        return "other"

    @property
    def names(self) -> frozenset[str]:
        """The names of all texts."""
        return frozenset(self._texts)

    def say(self, value: Value) -> str:
        """Returns a phrase in this language; a text stays as it is, and a number gets separators."""
        if isinstance(value, Phrase):
            return self(value.name, **value.values)
        return f"{value:,}" if isinstance(value, int) else value

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


@cache
def texts(language: str = DEFAULT) -> Texts:
    """Returns the texts of one of `LANGUAGES`."""
    return Texts(language)
