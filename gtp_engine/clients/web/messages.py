"""What a page may send: small JSON objects with a `type`, each checked before anything is done with it."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from ...base.errors import UserError
from ...base.fields import Range, invalid, parse_number

# The page offers less; the bound only keeps a wrong message from starting a search of a week.
_VISITS = Range(1, 1_000_000, whole=True)


def parse_message(text: str | bytes) -> dict[str, Any]:
    """Returns the object that a page has sent.

    Raises:
        UserError: It is not a JSON object with a text as its `type`.
    """
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise UserError("invalid message: it is not JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise UserError("invalid message: expected an object with a type")
    return message


def text_of(message: Mapping[str, Any], name: str) -> str:
    """Returns a text of a message.

    Raises:
        UserError: It is missing, or something else.
    """
    value = message.get(name)
    if not isinstance(value, str):
        raise invalid(name, value, "text")
    return value


def bytes_of(message: Mapping[str, Any], name: str) -> bytes:
    """Returns the bytes that a message has as base64.

    Raises:
        UserError: They are missing, or something else.
    """
    value = text_of(message, name)
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        raise invalid(name, value, "base64") from None


def whole_number(message: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Returns a whole number of a message.

    Raises:
        UserError: It is missing, something else, or out of range.
    """
    return int(parse_number(name, message.get(name), Range(low, high, whole=True), from_text=False))


def visits_of(message: Mapping[str, Any]) -> int | None:
    """Returns the number of visits of a message; None if it has none.

    Raises:
        UserError: The number of visits is invalid.
    """
    value = message.get("visits")
    return None if value is None else int(parse_number("number of visits", value, _VISITS, from_text=False))
