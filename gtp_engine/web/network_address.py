"""The address of this computer in its network, and how a phone reads it from the terminal."""

import io
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
        UserError: There is no network, or it is an address that names no single interface.
    """
    if host in ("0.0.0.0", "::"):
        raise UserError(f"the address {host} stands for all networks: use --host {OWN}, or an address of this computer")
    if host != OWN:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as chosen:
        try:
            chosen.connect(_SOMEWHERE)
            return str(chosen.getsockname()[0])
        except OSError as error:
            raise UserError(
                f"no address in a network was found ({error.strerror}): connect to one, or use --host ADDRESS"
            ) from None


def qr_code(address: str) -> str:
    """Returns a QR code as text of half blocks, for a terminal."""
    import segno  # needed by those only who let others in

    text = io.StringIO()
    segno.make(address, micro=False).terminal(text, compact=True)
    return text.getvalue()
