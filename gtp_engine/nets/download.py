"""Downloads of networks: resumed after an interruption, checked, and given their name only when they are complete.

A download stays in `NAME.part` until then. If a resumed one is not the network, the server had another file before: it
is loaded again, as a whole. Proxies are those of the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY, certificates the
system's or those of SSL_CERT_FILE.
"""

import gzip
import hashlib
import http.client
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import quote, unquote, urlsplit

from ..base import VERSION
from ..base.errors import UserError, error_text
from ..base.files import claim, write_bytes
from ..base.messages import size_text
from ..base.threads import in_background
from .katago_file import NetworkFileError, read_katago_file
from .library import SUFFIXES

LARGEST = 2 << 30  # bytes of a network that the list does not have; KataGo's largest have half of it
_SLACK = 1.05  # of a listed size, which is rounded
_SILENCE = 30.0  # seconds without a byte, after which the connection counts as lost
# Seconds for all headers of a server and of those that it leads to, and for what comes before each piece, such as the
# size of a chunk. All that may come byte by byte, without the server ever being silent.
_PATIENCE = 60.0
_ATTEMPTS = 5  # in a row that bring less than `_LEAST_BYTES`
_FIRST_ATTEMPTS = 2  # if nothing has come at all: then the address or the connection is wrong, rather than disturbed
_WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds between them
_PIECE = 1 << 17
# A download that brings fewer bytes than this in so many seconds is given up: it would take weeks.
_LEAST_BYTES, _SPAN = 10_000, 60.0
_MOST_SAID = 200  # characters of what a server says that are shown: its first line may have 65,536
_LARGEST_RATIO = 20  # of a content to its compressed file: weights hardly shrink, and a bomb does a thousandfold
_LASTING = (408, 429, 500, 502, 503, 504)  # statuses that may pass: timeout, too many requests, the server's errors
_KEPT = "%/:=&?~#+!$,;'@()*[]"  # what an address may have besides letters and digits
# Called with the bytes that there are and those that there will be, None if the server does not say; it may raise.
Watch: TypeAlias = Callable[[int, int | None], object]


@dataclass(frozen=True)
class Source:
    """What is to be downloaded."""

    url: str  # where it is, http or https
    sha256: str = ""  # the checksum of the file or of its content; empty if it is not known
    largest: int = LARGEST  # the most bytes that are accepted

    def __post_init__(self) -> None:
        if not _is_address(self.url):
            raise UserError(f"{self.url[:200]!r} is not an address: expected https://SERVER/.../NAME.bin.gz")


def _is_address(url: str) -> bool:
    """Whether a URL names a file that can be had by http or https."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def listed_size(megabytes: float) -> int:
    """Returns the most bytes of a file whose rounded size is known."""
    return round(megabytes * 1e6 * _SLACK)


def file_name_of(url: str) -> str:
    """Returns the name of the file that an address names; UserError if it is not that of a network's file."""
    return check_file_name(unquote(urlsplit(url).path.rpartition("/")[2]), url)


def check_file_name(name: str, source: str) -> str:
    """Returns the name of the file that a source ends in; UserError if it is not that of a network's file."""
    if not re.fullmatch(r"\w[\w.+-]{0,200}", name) or not name.lower().endswith(SUFFIXES[:-1]):
        raise UserError(f"{source[:200]}: it does not end in the name of a network's file, such as NAME.bin.gz")
    return name


def download(source: Source, path: Path, watch: Watch = lambda done, total: None) -> None:
    """Downloads a network. What an earlier attempt has left of it is not loaded again.

    Args:
        source: Where it is, and what is known of it.
        path: The file to make; its folder is made too.
        watch: Called after every piece. An exception that it raises ends the download, which can be resumed.

    Raises:
        UserError: It cannot be had, or is not what it should be; the message says what to do.
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with claim(path) as is_free:
        if not is_free:
            if path.exists():
                return
            raise UserError(f"{path.name} is being downloaded by another program: wait until it has ended")
        part = path.with_name(f"{path.name}.part")
        if not _can_resume(source, part):
            part.unlink(missing_ok=True)
        while True:
            is_resumed = part.exists()
            try:
                _fetch(source, part, watch)
                check(part, source.sha256)
                break
            except NetworkFileError as error:
                part.unlink()
                if not is_resumed:
                    raise UserError(f"{source.url}: {str(error).removeprefix(f'{part}: ')}") from error
        part.replace(path)


def kept_text(source: Source, part: Path) -> str:
    """Returns what to do after an interruption: whether the download resumes, and where."""
    if not (size := _size(part)) or not _can_resume(source, part):
        return "run the same command again"
    return f"run the same command again to resume after {size_text(size)}"


def _can_resume(source: Source, part: Path) -> bool:
    """Whether a checksum, the list's or gzip's own, tells that the pieces of a file fit together."""
    return bool(source.sha256) or part.stem.lower().endswith(".gz")


def take(file: Path, path: Path, sha256: str = "") -> None:
    """Copies a network that is here already, once `check` has accepted it; raises the same errors."""
    check(file, sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, file.read_bytes())


def check(path: Path, sha256: str = "") -> None:
    """Reads a network as for play; NetworkFileError if its checksum is another one or it cannot be used, or OSError."""
    if sha256 and sha256 not in (found := _checksums(path)):
        raise NetworkFileError(
            f"{path}: the checksum is {found[0]} instead of {sha256}: it is damaged, or another file"
        )
    read_katago_file(path)


def _checksums(path: Path) -> list[str]:
    """Returns the SHA-256 of a file, and of its content if it is compressed."""
    with open(path, "rb") as file:
        found = [hashlib.file_digest(file, "sha256").hexdigest()]
    digest, most = hashlib.sha256(), _LARGEST_RATIO * path.stat().st_size
    with suppress(OSError, EOFError, zlib.error), gzip.open(path) as content:
        while (piece := content.read(_PIECE)) and content.tell() <= most:
            digest.update(piece)
        found.append(digest.hexdigest())
    return found


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _fetch(source: Source, part: Path, watch: Watch) -> None:
    """Brings the whole part here, with as many connections as it takes."""
    failures, begun = 0, _size(part)
    while True:
        before, redirects = _size(part), _Redirects(source.url)
        try:
            return _fetch_once(urllib.request.build_opener(redirects), source, part, watch)
        except (OSError, http.client.HTTPException, _Cut) as error:
            if isinstance(error, OSError) and error.filename and not isinstance(error, urllib.error.URLError):
                raise  # of the disk
            failures = failures + 1 if _size(part) < before + _LEAST_BYTES else 0
            most = _ATTEMPTS if _size(part) > begun else _FIRST_ATTEMPTS
            if failures >= most or not _may_pass(error):
                raise UserError(_explained(source, redirects.latest, part, error)) from error
        end = time.monotonic() + _WAITS[min(failures, len(_WAITS) - 1)]
        while time.monotonic() < end:
            watch(_size(part), None)
            time.sleep(0.1)


class _Cut(Exception):
    """A connection ended too early."""


def _fetch_once(opener: urllib.request.OpenerDirector, source: Source, part: Path, watch: Watch) -> None:
    start = _size(part)
    headers = {"User-Agent": f"gtp_engine/{VERSION}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        # A name may have letters that the request may not have.
        request = urllib.request.Request(quote(source.url, _KEPT), headers=headers)
        answer = in_background("download", lambda: opener.open(request, timeout=_SILENCE)).result(_PATIENCE)
    except UserError:
        raise
    except UnicodeError as error:
        problem = f"the name of the server, or of the proxy, is invalid ({str(error)[:_MOST_SAID]})"
        raise UserError(f"{source.url}: {problem}") from error
    except ValueError as error:  # of urllib, about where it is led
        raise UserError(f"{source.url}: the server leads to an invalid address ({str(error)[:_MOST_SAID]})") from error
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # nothing is left to send: the part is complete, or belongs to another file
            return
        raise
    with answer:
        is_rest = answer.status == 206
        start = start if is_rest else 0
        length = re.fullmatch("[0-9]{1,18}", answer.headers.get("Content-Length", ""))
        total = start + int(length[0]) if length else None
        with open(part, "ab" if is_rest else "wb") as file:
            _copy(answer, file, source, start, total, watch)


def _copy(answer: Any, file: IO[bytes], source: Source, done: int, total: int | None, watch: Watch) -> None:
    """Appends what comes to the part."""
    since, before = time.monotonic(), done
    while True:
        if time.monotonic() >= since + _SPAN:
            if done < before + _LEAST_BYTES:
                problem = f"the server sent {done - before:,} bytes in {_SPAN:.0f} seconds"
                raise UserError(f"{source.url}: {problem}; {kept_text(source, Path(file.name))}")
            since, before = time.monotonic(), done
        if max(done, total or 0) > source.largest:
            raise NetworkFileError(f"it has more than {size_text(source.largest)}: this is not the network")
        watch(done, total)
        if not (piece := _next_piece(answer)):
            break
        if not done and piece.lstrip()[:1] in (b"<", b"{"):
            kind = answer.headers.get_content_type()
            raise NetworkFileError(
                f"a page came instead of a file ({kind}), as from a network that wants a login first"
            )
        try:
            file.write(piece)
            file.flush()
        except OSError as error:
            with suppress(OSError):
                file.close()  # what its buffer holds cannot be written either
            reason = error_text(OSError(error.errno, error.strerror))
            kept = kept_text(source, Path(file.name))
            raise UserError(f"{file.name}: {reason}; make room, then {kept}") from error
        done += len(piece)
    if total is not None and done < total:
        raise _Cut


def _next_piece(answer: Any) -> bytes:
    """Returns the next bytes of an answer; none at its end. Raises TimeoutError after `_PATIENCE`."""
    try:
        return in_background("download", lambda: bytes(answer.read1(_PIECE))).result(_PATIENCE)
    except TimeoutError:
        # The answer may have ended, and closed its connection, in this very moment.
        stream = socket.AF_INET, socket.SOCK_STREAM
        with suppress(OSError, ValueError, AttributeError), socket.fromfd(answer.fileno(), *stream) as connection:
            connection.shutdown(socket.SHUT_RDWR)  # which ends the reading too
        raise


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirections, but none from https to http: anybody on the way could change the file."""

    max_redirections = 5

    def __init__(self, url: str) -> None:
        self.latest = url  # the address that was asked last

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not _is_address(newurl):
            raise UserError(f"{req.full_url}: the server leads to {newurl[:_MOST_SAID]!r}, which is not an address")
        if urlsplit(newurl).scheme != "https" and urlsplit(req.full_url).scheme == "https":
            raise UserError(f"{req.full_url}: the server leads to an address without encryption, {newurl[:_MOST_SAID]}")
        self.latest = newurl
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _may_pass(error: Exception) -> bool:
    """Whether another attempt may succeed."""
    if isinstance(error, urllib.error.HTTPError):
        return error.code in _LASTING
    reason = getattr(error, "reason", error)
    return not isinstance(reason, ssl.SSLCertVerificationError)


def _explained(source: Source, latest: str, part: Path, error: Exception) -> str:
    """Returns what has gone wrong, and what to do, in one line; the server may have led to `latest`."""
    host = urlsplit(latest).netloc[:_MOST_SAID]
    if isinstance(error, urllib.error.HTTPError):
        gone = error.code in (401, 403, 404, 410)
        leads = "it does not lead to a file" if error.code < 400 else "try again later"
        remedy = "the network is no longer there: choose another one" if gone else leads
        return f"{source.url}: the server answers {error.code} {http.client.responses.get(error.code, '')}; {remedy}"
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        problem = f"the certificate of {host} is not trusted ({reason.verify_message})"
        return f"{problem}; SSL_CERT_FILE can name a file with certificates to trust"
    is_short = isinstance(reason, http.client.IncompleteRead)  # whose text is for programmers
    said = "" if is_short else error_text(reason) if isinstance(reason, BaseException) else str(reason)
    remedy = "HTTPS_PROXY can name a proxy, and --from takes a file that you have"
    if _size(part):
        remedy = kept_text(source, part)
    return f"{source.url}: the connection to {host} failed: {said[:_MOST_SAID] or 'it was cut'}; {remedy}"
