"""The address of this computer in its network, and how a phone reads it from the terminal."""

import io
import ipaddress
import socket

from ..base.errors import UserError

OWN = "auto"
# Nothing is sent to it: a UDP socket that is connected only chooses the interface for it (RFC 5737, documentation).
_SOMEWHERE = ("192.0.2.1", 9)


def own_address(host: str) -> str:
    """Returns the address that other computers reach this one by.

    Args:
        host: The address, or "auto" for that of the interface to the network.

    Raises:
        UserError: This computer is in no network, or `host` is not the address of one of its network interfaces.
    """
    if host != OWN:
        _check(host)
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as chosen:
        try:
            chosen.connect(_SOMEWHERE)
            return str(chosen.getsockname()[0])
        except OSError as error:
            raise UserError(
                f"no address in a network was found ({error.strerror}): connect to one, or use --host ADDRESS"
            ) from None


def _check(host: str) -> None:
    """Raises UserError for an address that other computers cannot reach this one by."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UserError(f"unknown address {host[:80]!r}: --host takes {OWN}, or an address of this computer") from None
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        if ip.is_unspecified:
            raise UserError(
                f"the address {host} stands for all networks: use --host {OWN}, or an address of this computer"
            )
        if ip.is_loopback:
            raise UserError(f"only this computer reaches {host}: leave out --host, or use --host {OWN}")


def qr_code(address: str) -> str:
    """Returns a QR code as text of half blocks, for a terminal."""
    import segno  # needed by those only who let others in

    text = io.StringIO()
    segno.make(address, micro=False).terminal(text, compact=True)
    return text.getvalue()
