"""A server of one network that misbehaves as the address says."""

import gzip
import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NETWORK = (Path(__file__).parents[1] / "data" / "networks" / "tiny.bin.gz").read_bytes()
SHA256 = hashlib.sha256(NETWORK).hexdigest()
PIECE = 1000  # bytes before a connection is cut or stalls


class Server(ThreadingHTTPServer):
    """Answers requests for `/KIND/NAME` as `KIND` says; keeps what was asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str]] = []  # paths and ranges
        self.cuts = 0  # connections that are still to be cut

    def url(self, kind: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{kind}/net.bin.gz"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.server.asked.append((self.path, asked))
        kind = self.path.rpartition("/")[0].rpartition("/")[2]
        getattr(self, f"send_{kind}")(int(asked[6:-1]) if asked else 0)

    def head(self, start: int, length: int | None, kind: str = "application/gzip") -> None:
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", kind)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(NETWORK) - 1}/{len(NETWORK)}")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def send_good(self, start: int) -> None:
        if start >= len(NETWORK):
            self.send_error(416)
            return
        self.head(start, len(NETWORK) - start)
        self.wfile.write(NETWORK[start:])

    def send_cut(self, start: int) -> None:
        self.head(start, len(NETWORK) - start)
        if self.server.cuts:
            self.server.cuts -= 1
            self.wfile.write(NETWORK[start : start + PIECE])
        else:
            self.wfile.write(NETWORK[start:])

    def send_slow(self, start: int) -> None:
        self.head(start, len(NETWORK) - start)
        self.wfile.write(NETWORK[start : start + PIECE])
        self.wfile.flush()
        if self.server.cuts:
            self.server.cuts -= 1
            time.sleep(1)
        self.wfile.write(NETWORK[start + PIECE :])

    def send_short(self, start: int) -> None:
        self.head(0, len(NETWORK) + 50)
        self.wfile.write(NETWORK)

    def send_endless(self, start: int) -> None:
        self.head(0, None)
        self.wfile.write(NETWORK + bytes(3_000_000))

    def send_damaged(self, start: int) -> None:
        self.head(0, len(NETWORK))
        self.wfile.write(NETWORK[:-500] + bytes(500))

    def send_page(self, start: int) -> None:
        page = b"\n<!doctype html><p>Log in first"
        self.head(0, len(page), "text/html; charset=utf-8")
        self.wfile.write(page)

    def send_gone(self, start: int) -> None:
        self.send_error(404)

    def send_huge(self, start: int) -> None:
        self.head(0, 1 << 40)

    def send_moved(self, start: int) -> None:
        self.send_response(302)
        self.send_header("Location", self.server.url("good"))
        self.end_headers()

    def send_astray(self, start: int) -> None:
        self.send_response(302)
        self.send_header("Location", "http://[31m/net.bin.gz")
        self.end_headers()

    def send_ftp(self, start: int) -> None:
        self.send_response(302)
        self.send_header("Location", "ftp://127.0.0.1/net.bin.gz")
        self.end_headers()

    def send_drops(self, start: int) -> None:
        self.head(0, len(NETWORK))
        for byte in NETWORK:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.02)

    def send_bomb(self, start: int) -> None:
        content = gzip.compress(bytes(30_000_000))
        self.head(0, len(content))
        self.wfile.write(content)

    def send_digits(self, start: int) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "9" * 5000)
        self.end_headers()
        self.wfile.write(NETWORK)

    def send_rest(self, start: int) -> None:
        self.send_error(416)

    def send_crumbs(self, start: int) -> None:
        self.head(start, len(NETWORK) - start)
        self.wfile.write(NETWORK[start : start + 1])

    def drip(self, begin: bytes) -> None:
        with suppress(OSError):  # the client has given up
            for piece in (begin, *[b"a"] * 100):
                self.wfile.write(piece)
                self.wfile.flush()
                time.sleep(0.05)

    def send_headers(self, start: int) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nX: ")

    def send_chunk(self, start: int) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")

    def send_prose(self, start: int) -> None:
        self.wfile.write(b"HELLO " + b"x" * 60_000 + b"\r\n")

    def send_elsewhere(self, start: int) -> None:
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:1/net.bin.gz")
        self.end_headers()

    def send_circle(self, start: int) -> None:
        self.send_response(302)
        self.send_header("Location", f"/circle/{time.monotonic()}/circle/net.bin.gz")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that answers within a `with` block."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield server
        server.shutdown()
