"""Who may talk to the server: pages of its own that were opened with a key that the program has shown.

A server on 127.0.0.1 is reached by every page that any browser of this computer shows. Three things keep those out: a
random key in the first address, which becomes a cookie; the name in `Host`, which a page that has pointed its own name
at 127.0.0.1 cannot forge (DNS rebinding); and `Origin`, which names the page that opens a WebSocket.

The cookies are kept in a file, so that open pages go on when the program is started again. The first address is new
each time: others may see it while a browser is started.

Other computers get in only if the server has an address in their network. Their key opens one browser: it is replaced
as soon as it has been used, because it travels and is shown where others may see it.
"""

import hmac
import logging
import re
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

from ...base.files import is_device, write_bytes
from ...base.web_page import content_hash
from ...go.drawing import SVG_STYLE

_NAMES = ("127.0.0.1", "localhost")
_HTTP_PORT = 80
_MOST_COOKIES = 11  # that are kept: this computer's, and those of the last ten others
_OTHERS = 0o077  # the rights of other users to a file
_KEY = re.compile(r"[\w-]{32}", re.ASCII)
logger = logging.getLogger(__name__)


class Guard:
    """The keys of one server, and its checks."""

    def __init__(self, port: int, host: str = "", path: Path | None = None, style: str = "") -> None:
        """Begins with the cookies that a file keeps, if there is one; None for cookies that end with the program.

        `style` is the style sheet in the page.
        """
        self.key = _new_key()  # of this computer's pages
        self._path = path = None if path is not None and is_device(path) else path  # a pipe would be waited for
        self.cookie = f"gtp_engine_{port}"  # with the port, since the servers of one computer share their cookies
        self.host = f"[{host}]" if ":" in host else host  # in a URL; "" if only this computer reaches the server
        self._one_time_key = _new_key()
        self._cookies = _kept(path) or [_new_key()]  # the first one is this computer's
        self._keep()
        names = (*_NAMES, self.host) if host else _NAMES
        self._hosts = {f"{name}:{port}".lower() for name in names}
        if port == _HTTP_PORT:  # which browsers leave out
            self._hosts |= {name.lower() for name in names}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._port = port
        self.headers = _headers(self._hosts, style)  # of every answer: what its page may load, and who may read it
        # Called when another computer has used its key, and `network_address` is a new one.
        self.on_admitted: Callable[[], object] = lambda: None

    @property
    def address(self) -> str:
        """The first address, with the key."""
        return f"http://{_NAMES[0]}:{self._port}/?key={self.key}"

    @property
    def network_address(self) -> str:
        """The address for another computer, with a key that works once; "" if there is none."""
        return f"http://{self.host}:{self._port}/?key={self._one_time_key}" if self.host else ""

    def admit(self, given: str) -> str | None:
        """Returns the cookie for a page that is opened with a key; None if the key is wrong.

        A key of the network's address is used up by that.
        """
        if _same(given, self.key):
            return self._cookies[0]
        if not self.host or not _same(given, self._one_time_key):
            return None
        self._one_time_key, cookie = _new_key(), _new_key()
        self._keep(cookie)
        self._cookies.append(cookie)
        self.on_admitted()
        return cookie

    def is_cookie(self, given: str | None) -> bool:
        """Whether a page has been admitted."""
        return given is not None and any(_same(given, cookie) for cookie in self._cookies)

    def _keep(self, *new: str) -> None:
        """Keeps these cookies besides those of the file, to which servers on other ports may have added some."""
        if self._path is None:
            return
        first, *others = [*(_kept(self._path) or self._cookies), *new]
        text = "\n".join([first, *others[1 - _MOST_COOKIES :], ""])
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(self._path, text.encode(), mode=0o600)
        except OSError as error:
            logger.warning("%s; pages will not go on after a restart of the program", error)

    def is_own_host(self, host: str) -> bool:
        """Whether the `Host` of a request names this server."""
        return host.lower() in self._hosts

    def is_own_origin(self, origin: str) -> bool:
        """Whether a WebSocket is opened by a page of this server."""
        return origin.lower() in self._origins


def _kept(path: Path | None) -> list[str]:
    """Returns the cookies that a file keeps; none if it cannot be read, is damaged, or others may have read it."""
    try:
        if path is None or (sys.platform != "win32" and path.stat().st_mode & _OTHERS):
            return []
        cookies = path.read_text("ascii").split()
    except (OSError, ValueError):
        return []
    return cookies if all(map(_KEY.fullmatch, cookies)) else []


def _new_key() -> str:
    return secrets.token_urlsafe(24)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _headers(hosts: set[str], style: str) -> dict[str, str]:
    sockets = " ".join(f"ws://{host}" for host in sorted(hosts))
    policy = [
        "default-src 'none'",
        "script-src 'self'",
        # That of the page, and the one `style` attribute of our drawings.
        f"style-src {content_hash(style)} 'unsafe-hashes' {content_hash(SVG_STYLE)}",
        f"connect-src 'self' {sockets}",
        "img-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
    # No Cross-Origin-Opener-Policy: a browser begins another process for it before it draws anything. A page that has
    # opened ours could only close it or send it elsewhere: it may not look into it or frame it, and ours hears no
    # messages.
    return {
        "Content-Security-Policy": "; ".join(policy),
        "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
