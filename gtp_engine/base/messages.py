"""Wording that several parts of the program share."""

import unicodedata


def printable(text: str) -> str:
    """Returns a text with `?` for characters that a terminal would interpret, such as those of an escape sequence.

    Line feeds stay; unusual line separators do not.
    """
    if text.replace("\n", "").isprintable():  # most are, and the lines of an analysis are long
        return text
    return "".join(letter if letter == "\n" or is_printable(letter) else "?" for letter in text)


def is_printable(letter: str) -> bool:
    """Whether a character can be printed. So can all spaces, such as the wide one in East Asian names."""
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def sentence(text: str) -> str:
    """Returns a text that begins with a capital letter, as a sentence does: it may begin with a pass."""
    return text[0].upper() + text[1:]


def plural(count: int, noun: str) -> str:
    """Returns `1 move` or `1,234 moves`; for nouns whose plural is an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size_text(count: int) -> str:
    """Returns a number of bytes as `97.9 MB`, or `33 kB` below 0.1 MB."""
    return f"{count / 1e6:,.1f} MB" if count >= 1e5 else f"{count / 1e3:.0f} kB"


def duration_text(seconds: float) -> str:
    """Returns a duration in words with about two digits: `45 seconds`, `2.5 minutes`, `11 hours`."""
    for unit, length in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{count:.1f} {unit}s".replace(".0 ", " ") if count < 10 else f"{count:,.0f} {unit}s"
    return plural(round(seconds), "second")
