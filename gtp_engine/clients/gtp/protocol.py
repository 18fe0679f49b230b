"""GTP version 2 at the level of lines: parsing commands and formatting responses (sections 2.1 to 2.6)."""

import codecs
from typing import NamedTuple

from ...base.errors import UserError
from ...base.messages import printable

MAX_ID = 2**31 - 1  # section 2.3: an unsigned integer that fits 31 bits
INTERRUPT = "# interrupt"  # GoGui's comment line that stops the running command

_CONTROL = bytes(code for code in [*range(32), 127] if code not in b"\t\n")


class GtpError(UserError):
    """A command failed and changed nothing. `str()` is the response; `detail` goes to stderr."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class Command(NamedTuple):
    """A command as sent; `name` is empty if the line contains only an id."""

    id: int | None
    name: str
    arguments: list[str]


def clean(line: bytes) -> str:
    """Returns the text of a line without control characters (TAB becomes a space); comments are kept.

    Bytes that are not UTF-8 are kept (surrogateescape), because a file name may contain them. The byte order mark with
    which Windows begins files and pipes is removed.
    """
    line = line.removeprefix(codecs.BOM_UTF8)
    return line.translate(None, _CONTROL).replace(b"\t", b" ").decode("utf-8", "surrogateescape").strip(" ")


def parse(text: str) -> Command | None:
    """Returns the command of a cleaned line; None for an empty line or a comment."""
    words = text.partition("#")[0].split(" ")
    words = [word for word in words if word]
    if not words:
        return None
    number = parse_id(words[0])
    if number is not None:
        words = words[1:]
    return Command(number, words[0] if words else "", words[1:])


def parse_id(word: str) -> int | None:
    """Returns the id that a word represents; None if it is not an id."""
    if not (word.isascii() and word.isdecimal()) or len(word.lstrip("0")) > len(str(MAX_ID)):
        return None
    number = int(word.lstrip("0") or "0")
    return number if number <= MAX_ID else None


def response(number: int | None, text: str = "", *, failed: bool = False) -> str:
    """Returns a whole response, including the empty line that ends it.

    Args:
        number: The command's id, if it has one.
        text: May have several lines; empty ones are left out, because the first of them would end the response. Text
            that begins with a line feed (a board) starts on the line below the sign.
        failed: Start with `?` instead of `=`.
    """
    first, *rest = text.split("\n")
    lines = [opening(number, failed=failed) + (f" {first.rstrip()}" if first.strip() else "")]
    lines += [line.rstrip() for line in rest if line.strip()]
    return printable("\n".join(lines)) + "\n\n"


def opening(number: int | None, *, failed: bool = False) -> str:
    """Returns the sign and the id that a response begins with."""
    return ("?" if failed else "=") + ("" if number is None else str(number))
