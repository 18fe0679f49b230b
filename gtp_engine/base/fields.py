"""Checks of values that users write: numbers in a range, true or false, one of several words, board sizes, names.

Every check returns the value in its type, or raises a UserError such as
`invalid komi 'abc': expected a number from -150 to 150`.
"""

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, nan
from numbers import Integral, Real
from typing import Any

from .errors import UserError

TRUE_WORDS, FALSE_WORDS = ("true", "t", "yes", "on", "1"), ("false", "f", "no", "off", "0")
_SIZE = re.compile(r"(\d{1,9})(?:\s*[xX:]\s*(\d{1,9}))?", re.ASCII)
# Of two names, by difflib: a wrong letter leaves 0.75 of a word of four. With its own 0.6 `rules` is like `reset`.
_SIMILARITY = 0.7
_SHOWN = 60  # characters of a wrong value that a message quotes


@dataclass(frozen=True)
class Range:
    """The numbers that are accepted: finite ones from `low` to `high`, None for no bound."""

    low: float | None = None
    high: float | None = None
    whole: bool = False  # only whole numbers
    above: bool = False  # not `low` itself
    noun: str = "number"  # what messages call the number, "number of seconds" for example
    example: str = ""  # numbers that are accepted, for messages

    def __contains__(self, number: float) -> bool:
        if not -inf < number < inf or (self.whole and number != number // 1):
            return False
        above_low = self.low is None or number > self.low or (number == self.low and not self.above)
        return above_low and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        return self._bounds() + (f", such as {self.example}" if self.example else "")

    def _bounds(self) -> str:
        text = f"a whole {self.noun}" if self.whole else f"a {self.noun}"
        if self.low is None:
            return text if self.high is None else f"{text} of {self.high:g} or less"
        if self.high is None:
            return f"{text} above {self.low:g}" if self.above else f"{text} of {self.low:g} or more"
        if self.above:
            return f"{text} above {self.low:g}, up to {self.high:g}"
        high = self.high if self.whole else f"{self.high:g}"  # 2^62 and 1234567 as they are
        return f"{text} from {self.low:g} to {high}"

    def parse(self, name: str, value: object, *, from_text: bool = True) -> int | float:
        """Returns a number that is accepted, or a text that contains one: an int if only whole ones are, else a float.

        A bool is refused, and so is a text unless `from_text`: in JSON and TOML a text in quotes is not a number.
        Raises UserError, which gives the name and the value, if it is not a number or out of range.
        """
        number = _as_number(value) if from_text or isinstance(value, Real) else nan
        if number not in self:
            raise invalid(name, value, str(self))
        return int(number) if self.whole else float(number)


@dataclass(frozen=True)
class Words:
    """Some words, one at least."""

    words: Collection[str]

    def __str__(self) -> str:
        *others, last = self.words
        return f"{', '.join(others)} or {last}" if others else last

    def parse(self, name: str, value: object, *, from_text: bool = True) -> str:
        """Checks that a text is one of the words; UserError names the value and them."""
        word = _written(value).strip()
        if word not in self.words:
            raise invalid(name, value, str(self))
        return word


@dataclass(frozen=True)
class Flag:
    """True and false."""

    def __str__(self) -> str:
        return "true or false"

    def parse(self, name: str, value: object, *, from_text: bool = True) -> bool:
        """Checks a bool, or one of `TRUE_WORDS` and `FALSE_WORDS` in any case; without `from_text` a bool alone.

        Raises UserError if it is neither.
        """
        word = _written(value).strip().lower()
        if word not in TRUE_WORDS + FALSE_WORDS or not (from_text or isinstance(value, bool)):
            raise invalid(name, value, str(self))
        return word in TRUE_WORDS


@dataclass(frozen=True)
class Text:
    """A text."""

    # Returns what a value stands for, in the setting's type, or raises UserError; None to accept every text as it is.
    check: Callable[[Any], Any] | None = None
    noun: str = "text"  # what the text is, for the help
    names: Callable[[], Iterable[str]] | None = None  # those that a shell completes; None if there are none
    is_path: bool = False  # whether the text may be the name of a file

    def __str__(self) -> str:
        return f"a {self.noun} in quotes"

    def parse(self, name: str, value: Any, *, from_text: bool = True) -> Any:
        """Checks a text; raises UserError if it is none, or an invalid one."""
        if self.check is not None:
            return self.check(value)
        if not isinstance(value, str):
            raise invalid(name, value, str(self))
        return value


@dataclass(frozen=True)
class Instance:
    """An object of the Python API."""

    kind: Any  # its class, or a union of classes
    expected: str  # for messages
    make: Callable[[Any], Any] | None = None  # returns it in the setting's type; None if it has that

    def __str__(self) -> str:
        return self.expected

    def parse(self, name: str, value: Any, *, from_text: bool = True) -> Any:
        """Checks the class; raises UserError if it is another one."""
        if not isinstance(value, self.kind):
            raise invalid(name, value, self.expected)
        return self.make(value) if self.make else value


def _as_number(value: object) -> float:
    """Returns NaN for what is not a number, or too large for a float."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return nan
    with suppress(ValueError):  # a text such as 1e6
        if number.is_integer() and isinstance(value, Integral | str):
            return int(value)  # whole numbers above 2^53 stay exact
    return number


def _written(value: object, write: Callable[[object], str] = str) -> str:
    """Returns a value as a text, also a whole number of more than 4,300 digits, which Python refuses to write."""
    try:
        return write(value)
    except ValueError:
        return "a number of thousands of digits"


def parse_board_size(text: str, smallest: int, largest: int) -> tuple[int, int]:
    """Returns width and height of `9`, `13x9` or `13:9`, with sides from `smallest` to `largest`.

    Raises UserError if it is not a board size, or a side is out of range.
    """
    match = _SIZE.fullmatch(text.strip())
    width, height = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not smallest <= min(width, height) <= max(width, height) <= largest:
        raise invalid("board size", text, f"N or WIDTHxHEIGHT, each from {smallest} to {largest}")
    return width, height


def invalid(name: str, value: object, expected: str) -> UserError:
    """Returns the error for a value that is not accepted: `invalid NAME VALUE: expected ...`."""
    shown = _written(value, repr)
    return UserError(f"invalid {name} {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '...'}: expected {expected}")


def unknown(
    what: str, name: str, known: Iterable[str], *, where: str = "", accepted: Iterable[str] | None = None
) -> UserError:
    """Returns the error for an unknown name: `unknown WHAT NAME: did you mean ...?` with the nearest known names.

    `what` is the kind of thing that has the name, "parameter" for example, and `where` what the message adds to it,
    " in [games]" for example. If none is similar, the message lists the `accepted` names, by default the known ones.
    """
    known = list(known)
    expected = f"expected {', '.join(known if accepted is None else accepted)}"
    return UserError(f"unknown {what} {name!r}{where}: {did_you_mean(name, known) or expected}")


def check_keywords(function: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raises TypeError, as Python does, if one of the keywords that were given is none of a function's."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"expected {', '.join(known)}"
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}: {hint}")


def similar(name: str, known: Iterable[str]) -> list[str]:
    """Returns up to three of the known names that a typing error may have made into this one, the nearest first."""
    return get_close_matches(name, list(known), 3, _SIMILARITY)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns `did you mean 'a' or 'b'?` with the most similar names, or "" when none is similar."""
    near = similar(name, known)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else ""
