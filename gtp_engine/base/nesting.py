"""JSON and TOML from outside the program, whose nesting is checked before it is parsed.

Python's parsers call themselves for every bracket within a bracket, to the end of the stack. There, RecursionError may
be raised anywhere, in a finalizer of another object too.
"""

import json
import re
import tomllib
from typing import Any

from .errors import UserError

# Brackets within brackets. The formats that the program reads need 5; a level takes up to 3 of the 1,000 calls within
# calls that Python allows (a table in braces in `tomllib`).
DEEPEST = 100
# Strings of JSON and TOML, comments of TOML, opening (group 1) and closing (group 2) brackets. If the text has what is
# in neither language, or only in the other one, its parser stops there.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|([\[{])|([\]}])",
    re.DOTALL,
)


def check_nesting(text: str) -> None:
    """Raises UserError if the brackets of a text in JSON or TOML are nested more than DEEPEST deep."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {1: 1, 2: -1}.get(token.lastindex or 0, 0)
        if depth > DEEPEST:
            raise UserError(f"brackets are nested more than {DEEPEST} deep")


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Returns the value of a text in JSON, in UTF-8 if it is bytes; `options` are those of `json.loads`.

    Raises ValueError if it is not JSON, a UserError if it is nested too deep.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig", "surrogatepass")  # as `json.loads` does
    check_nesting(text)
    return json.loads(text, **options)


def parse_toml(text: str) -> dict[str, Any]:
    """Returns the table of a text in TOML.

    Raises tomllib.TOMLDecodeError if it is not TOML; UserError if it is nested too deep or a number is too long.
    """
    check_nesting(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # Python reads up to 4,300 digits
        raise UserError("a number has too many digits") from error
