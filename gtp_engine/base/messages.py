"""Wording that several parts of the program share."""


def printable(text: str) -> str:
    """Returns a text with `?` for characters that a terminal would interpret, such as those of an escape sequence."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


def plural(count: int, noun: str) -> str:
    """Returns `1 move` or `1,234 moves`; for nouns whose plural is an s."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
