"""Numbers of points in the words of servers: 3目半, 2又3/4子, 6집반."""

import re
import unicodedata
from fractions import Fraction

_LONGEST = 100  # characters of a text that are read
_FRACTIONS = {ord("¼"): "又1/4", ord("½"): "又1/2", ord("¾"): "又3/4"}
# 2又3/4子, 3目半, 3집반, 半目, 1.5: zi (子) are two points each. "4分之3" is 3/4, with its numbers the other way round.
_AMOUNT = re.compile(
    r"(?P<whole>\d{1,3}(?:\.\d{1,3})?(?![\d/分]))?(?:又|と)?(?:(?P<over>\d)/(?P<under>\d)|(?P<parts>\d)分之(?P<of>\d))?"
    r"(?P<unit>子|目|집)?(?P<half>半|반)?",
    re.ASCII,
)


def plain_words(text: str) -> str:
    """Returns the beginning of a text in the letters that amounts are read in: small ones, ASCII digits, no spaces."""
    text = unicodedata.normalize("NFKC", text[:_LONGEST].translate(_FRACTIONS)).lower()
    return "".join(_digit(letter) for letter in text if not letter.isspace())


def points_in_words(words: str, *, with_unit: bool = False) -> float | None:
    """Returns the first number of points in `plain_words`, or the first that has its unit; None if there is none."""
    found = (match for match in _AMOUNT.finditer(words) if match["unit"] or not with_unit)
    points = next(filter(None, map(_points, found)), None)
    return None if points is None else float(points)


def _digit(letter: str) -> str:
    """Returns the digit that a Chinese numeral up to nine means; other letters as they are."""
    value = unicodedata.numeric(letter, 0.0)
    return str(int(value)) if 0 < value < 10 and value.is_integer() else letter


def _points(amount: re.Match[str]) -> Fraction | None:
    """Returns a margin in points; None if the match names none."""
    whole, unit = amount["whole"], amount["unit"]
    over, under = (amount["over"], amount["under"]) if amount["over"] else (amount["of"], amount["parts"])
    if not whole and not over and not amount["half"]:
        return None
    if over and (unit != "子" or under == "0"):  # a fraction of what?
        return None
    count = Fraction(whole or 0) + (Fraction(int(over), int(under)) if over else 0) + Fraction(bool(amount["half"]), 2)
    return count * (2 if unit == "子" else 1)
