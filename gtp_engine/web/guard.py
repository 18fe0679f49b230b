"""Who may talk to the server: this computer's own pages, opened with the key that the program has shown.

A server on 127.0.0.1 is reached by every page that any browser of this computer shows. Three things keep those out: a
random key in the first address, which becomes a cookie; the name in `Host`, which a page that has pointed its own name
at 127.0.0.1 cannot forge (DNS rebinding); and `Origin`, which names the page that opens a WebSocket.
"""

import base64
import hashlib
import hmac
import secrets

from ..game.drawing import BoardDrawing

_NAMES = ("127.0.0.1", "localhost")


class Guard:
    """The key of one server, and its checks.

    Attributes:
        key: The key in the first address.
        cookie: The name of the cookie. Cookies of one computer's servers share their names, so it has the port.
    """

    def __init__(self, port: int) -> None:
        self.key = secrets.token_urlsafe(24)
        self.cookie = f"gtp_engine_{port}"
        self._hosts = {f"{name}:{port}" for name in _NAMES}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._port = port
        self._headers = _headers(self._hosts)

    @property
    def address(self) -> str:
        """The first address, with the key."""
        return f"http://{_NAMES[0]}:{self._port}/?key={self.key}"

    def is_key(self, given: str | None) -> bool:
        """Whether a key is the right one."""
        return given is not None and hmac.compare_digest(given.encode(), self.key.encode())

    def is_own_host(self, host: str) -> bool:
        """Whether the `Host` of a request names this server."""
        return host.lower() in self._hosts

    def is_own_origin(self, origin: str) -> bool:
        """Whether a WebSocket is opened by a page of this server."""
        return origin.lower() in self._origins

    def headers(self) -> dict[str, str]:
        """Returns the headers of every answer: what its page may load, and who may read it."""
        return self._headers


def _headers(hosts: set[str]) -> dict[str, str]:
    sockets = " ".join(f"ws://{host}" for host in sorted(hosts))
    policy = [
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' 'unsafe-hashes' {_style_hash()}",
        f"connect-src 'self' {sockets}",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }


def _style_hash() -> str:
    """Returns the hash of the one `style` attribute of our drawings, which lets them shrink."""
    svg = BoardDrawing([[0, 0], [0, 0]]).to_svg()  # type: ignore[arg-type]
    style = svg.partition('style="')[2].partition('"')[0]
    return f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
