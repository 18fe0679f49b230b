"""Addresses of Ray clusters; apart from `base.cluster`, which takes longer to import."""

from .errors import UserError

LOCAL, AUTO = "local", "auto"


def parse_address(text: str) -> str:
    """Returns an address of a cluster; UserError if it is not one of auto, local or HOST:PORT."""
    host, _, port = text.rpartition(":")
    if text not in (LOCAL, AUTO) and not (host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise UserError(f"invalid address {text!r}: expected auto, local or HOST:PORT, such as 10.0.0.1:6379")
    return text
