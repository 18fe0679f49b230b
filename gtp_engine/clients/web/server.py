"""The server: the page and its files, and a WebSocket for each page that is open.

Everything that is served is read from the package once, so no name that a client sends reaches the file system.
"""

import asyncio
import contextlib
import errno
import ipaddress
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ...base import languages
from ...base.errors import EXPECTED, UserError, answer_text
from ...base.languages.texts import LANGUAGES, Phrase, texts
from ...base.nesting import parse_json
from ...base.threads import in_background
from ...go.drawing import drawing_script
from ...study.first_steps import Step
from ...table.database import Database
from ...table.played_game import PlayedGame
from ...table.rated_games import RatedGames
from .asking import Asking
from .graph import Graph
from .guard import Guard
from .learning import Learning
from .my_games import MyGames
from .opening import Opening
from .playing import Editing, Playing
from .position import Position
from .problems import Problems
from .rating import Rating
from .reviewing import Reviewing
from .session import Answer, Document, Reading, Session, phrase_parts
from .sharing import Sharing
from .solving import Solving
from .studying import Searches

PORT = 8019  # an arbitrary one; if it is in use, the next free one is taken
_PORTS_TRIED = 20
_LARGEST_MESSAGE = 12 << 20  # bytes; files of 8 MB in base64
_LARGEST_REQUEST = 1 << 16  # bytes; pages send no bodies
_IDLE_SECONDS = 30.0  # of a connection between requests; open pages, which are WebSockets, have their pings
_BODY_SECONDS = 10.0
_MOST_PAGES = 50
_PING_SECONDS = 20
_CLOCK_MILLISECONDS = 100  # between looks at the players' time
_OWN = "auto"
# Nothing is sent to it: a UDP socket that is connected only chooses the interface for it (RFC 5737, documentation).
_SOMEWHERE = ("192.0.2.1", 9)
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
logger = logging.getLogger(__name__)


def new_session(
    played: PlayedGame,
    publish: Callable[[Document], None],
    call: Callable[[Callable[[], object]], object],
    rated: RatedGames | None = None,
    steps: Sequence[Step] | None = None,
) -> Session:
    """Begins a session with all that pages may ask for.

    The arguments are those of `Session`, the games in which the engine's rank follows the person's results, and
    first steps to show instead of the program's own.
    """
    database = Database()
    if rated is not None and rated.file.rating is not None:
        rated.begin(played.game, played.humans)
    session = Session(played, publish, call)
    Position(session)
    searches = Searches(session)
    Playing(session, searches)
    opening = Opening(session, rated)
    if rated is not None:
        Rating(session, searches, opening, rated)
    reviewing = Reviewing(session, opening, database)
    Graph(session, reviewing)
    Asking(session, searches, reviewing)
    solving = Solving(session)
    Editing(session)
    problems = Problems(session, searches, reviewing, solving, opening, database)
    Learning(session, opening, database, steps)
    MyGames(session, opening, database)
    Sharing(session, reviewing, database)
    session.watch_engine()
    session.touch(*session.parts)
    session.go_on()
    problems.open_first()
    return session


class Server:
    """A server for one session."""

    def __init__(self, port: int | None = None, host: str | None = None, cookies: Path | None = None) -> None:
        """Reserves a port, 0 for any free one; None for the usual one, or the next one that is free.

        `host` is this computer's address in a network whose computers may open the page too, None for no other ones;
        `cookies` the file that keeps the cookies of open pages (`Guard`), None for none.

        Raises UserError if the port is in use, or may not be used, or the address is not this computer's.
        """
        self._sockets, self.port = _bind(port, host)
        style = _page_style()
        self.guard = Guard(self.port, host or "", cookies, style)
        self._pages: set[_Socket] = set()
        self.files = _read_files(style)
        self._stopped = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._published: Document = {}
        self._one_reading = asyncio.Lock()
        self.session: Session

    async def serve(
        self,
        played: PlayedGame,
        opened: Callable[[], object],
        rated: RatedGames | None = None,
        steps: Sequence[Step] | None = None,
    ) -> None:
        """Serves the game until `stop` is called; calls `opened` once pages can be opened.

        `rated` and `steps` are those of `new_session`.
        """
        self._loop = asyncio.get_running_loop()
        self.session = new_session(played, self.publish, self._call, rated, steps)
        routes: list[Any] = [
            (r"/socket", _Socket),
            (r"/((?:game|review|problems)\.sgf|review\.html)", _Shared),
            (r"/(.*)", _File),
        ]
        application = Application(
            routes,
            server=self,
            compress_response=True,
            websocket_max_message_size=_LARGEST_MESSAGE,
            websocket_ping_interval=_PING_SECONDS,
            log_function=lambda handler: logger.debug("%s %s", handler.request.method, handler.request.path),
        )
        server = HTTPServer(
            application,
            max_body_size=_LARGEST_REQUEST,
            max_header_size=_LARGEST_REQUEST,
            idle_connection_timeout=_IDLE_SECONDS,
            body_timeout=_BODY_SECONDS,
        )
        server.add_sockets(self._sockets)
        self.session.watch(False)
        clock = PeriodicCallback(self.session.check_time, _CLOCK_MILLISECONDS)
        clock.start()
        opened()
        try:
            await self._stopped.wait()
        finally:
            clock.stop()
            self.session.close()
            server.stop()
            for page in list(self._pages):
                page.close(1001, "the program has ended")
            await asyncio.sleep(0)

    def stop(self) -> None:
        """Ends `serve`; any thread may call it, and a handler of signals."""
        if self._loop is None:
            self._stopped.set()
        else:
            self._call(self._stopped.set)

    def _call(self, function: Callable[[], object]) -> None:
        """Calls a function soon in the server's loop; not at all once the loop is closed. Any thread may call it."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # a search may end, or a second Ctrl-C come, after the loop
            self._loop.call_soon_threadsafe(function)

    def publish(self, documents: Document) -> None:
        """Sends all pages what has changed in these documents."""
        before, self._published = self._published, self._published | documents
        changed = {name: _changed(before.get(name, {}), document) for name, document in documents.items()}
        for page in list(self._pages):
            page.send(changed)

    def join(self, page: "_Socket") -> bool:
        """Shows the session on one more page; returns whether there is room."""
        if len(self._pages) >= _MOST_PAGES:
            return False
        self.session.watch(True)
        self.session.publish(*self.session.parts)  # the other pages know what this one gets
        self._pages.add(page)
        page.send(self._published)
        return True

    async def tell_replaced(self, by: "_Socket") -> None:
        """Says on all pages but one that this one has replaced the game that was being played."""
        for page in self._pages - {by}:
            await page.give(_refusal(UserError(Phrase("error.replaced"))))

    async def read(self, reading: Reading) -> "asyncio.Future[Any]":
        """Reads what a message needs, beside the loop and after what others have asked for; returns it or its error."""
        async with self._one_reading:
            read = asyncio.wrap_future(in_background("reading", reading.read))
            await asyncio.wait([read])
        return read

    def leave(self, page: "_Socket") -> None:
        """Forgets a page that is closed."""
        self._pages.discard(page)
        self.session.watch(bool(self._pages))


def own_address(host: str) -> str:
    """Returns the address that other computers reach this one by; "auto" stands for that of the network interface.

    Raises UserError if this computer is in no network, or `host` is not the address of one of its interfaces.
    """
    if host == _OWN:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as chosen:
            try:
                chosen.connect(_SOMEWHERE)
                return str(chosen.getsockname()[0])
            except OSError as error:
                raise UserError(
                    f"no address in a network was found ({error.strerror}): connect to one, or use --host ADDRESS"
                ) from None
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UserError(f"unknown address {host[:80]!r}: --host takes {_OWN}, or an address of this computer") from None
    for *_, address in found:
        ip = ipaddress.ip_address(str(address[0]).partition("%")[0])
        if ip.is_unspecified:
            raise UserError(
                f"the address {host} stands for all networks: use --host {_OWN}, or an address of this computer"
            )
        if ip.is_loopback:
            raise UserError(f"only this computer reaches {host}: leave out --host, or use --host {_OWN}")
    return host


def _bind(port: int | None, host: str | None) -> tuple[list[Any], int]:
    problem: str | None = None
    for candidate in [port] if port is not None else range(PORT, PORT + _PORTS_TRIED):
        sockets: list[Any] = []
        try:
            sockets += bind_sockets(candidate, "127.0.0.1")
            number = sockets[0].getsockname()[1]
            if host:
                sockets += bind_sockets(number, host)
            return sockets, number
        except OSError as error:
            problem = error.strerror
            for opened in sockets:
                opened.close()
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                reason = f"{problem}; --host takes an address of this computer"
                raise UserError(f"cannot use the address {host}: {reason}") from None
    tried = f"port {port}" if port is not None else f"the ports {PORT} to {PORT + _PORTS_TRIED - 1}"
    where = f"127.0.0.1 and {host}" if host else "127.0.0.1"
    raise UserError(f"cannot use {tried} of {where}: {problem}; choose another one with --port N")


def _page_style() -> str:
    """Returns the style sheets, which are part of the page: a browser draws nothing before it has them."""
    static = resources.files(__package__) / "static"
    return "".join((static / name).read_text("utf-8") for name in ("page.css", "first_steps.css"))


def _read_files(style: str) -> dict[str, tuple[str, bytes]]:
    """Returns the files of the page by their names in addresses."""
    files: dict[str, tuple[str, bytes]] = {}
    for prefix, folder in (("", resources.files(__package__) / "static"), ("languages/", resources.files(languages))):
        for entry in folder.iterdir():
            if (suffix := "." + entry.name.rpartition(".")[2]) in _TYPES:
                files[prefix + entry.name] = _TYPES[suffix], entry.read_bytes()
    files["drawing.js"] = _TYPES[".js"], drawing_script().encode()
    files["languages.json"] = _TYPES[".json"], json.dumps({code: texts(code).name for code in LANGUAGES}).encode()
    kind, page = files.pop("index.html")
    files[""] = kind, page.replace(b"<style></style>", f"<style>{style}</style>".encode())
    return files


def _refusal(error: BaseException) -> Document:
    """Returns what tells a page about an error."""
    phrase = error.phrase if isinstance(error, UserError) else None
    return {"type": "error", "text": answer_text(error), "phrase": phrase and phrase_parts(phrase)}


class _Handler(RequestHandler):
    """A request that has to come from one of our pages."""

    def set_default_headers(self) -> None:  # which Tornado calls before `initialize`
        self.server: Server = self.application.settings["server"]
        self.guard = self.server.guard
        self.clear_header("Server")
        for name, value in self.guard.headers.items():
            self.set_header(name, value)

    def prepare(self) -> Awaitable[None] | None:
        if not self.guard.is_own_host(self.request.host):
            raise HTTPError(403, "another host")
        if not self.guard.is_cookie(self.get_cookie(self.guard.cookie)):
            self.refuse()
        return None

    def refuse(self) -> None:
        """Answers a request without the key."""
        raise HTTPError(403, "no key")

    def log_exception(self, *error: Any) -> None:
        """Logs what went wrong; refused requests only for debugging: other pages may send any number of them."""
        if isinstance(error[1], HTTPError):
            logger.debug("%s %s: %s", self.request.method, self.request.path, error[1])
        else:
            super().log_exception(*error)

    def write_error(self, status_code: int, **_: Any) -> None:
        remedy = "This page needs the address that `gtp_engine web` has printed, with its key."
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{remedy if status_code == 403 else status_code}\n")


class _File(_Handler):
    """The page and its files."""

    def refuse(self) -> None:
        if self.request.path != "/" or not self.get_query_arguments("key"):  # which `get` checks
            super().refuse()

    def get(self, name: str) -> None:
        if not name and self.get_query_arguments("key"):
            cookie = self.guard.admit(self.get_query_argument("key"))
            if cookie is None:
                super().refuse()
                return
            # The address with the key stays neither in the history nor in bookmarks.
            # "Lax": with "Strict" the page after the redirect would not get it if a terminal in a browser had the link.
            self.set_cookie(self.guard.cookie, cookie, httponly=True, samesite="Lax")
            self.redirect("/")
            return
        found = self.server.files.get(name)
        if found is None:
            raise HTTPError(404)
        self.set_header("Content-Type", found[0])
        self.finish(found[1])


class _Shared(_Handler):
    """The game, its review or problems as a file to download."""

    async def get(self, kind: str) -> None:
        (sharing,) = (part for part in self.server.session.parts if isinstance(part, Sharing))
        try:
            file = sharing.file(kind, self.get_query_argument("language", ""))
            content = (await self.server.read(Reading(file.content, lambda _: None))).result()
        except UserError as error:
            raise HTTPError(404, str(error)) from error
        self.set_header(
            "Content-Type",
            "text/html; charset=utf-8" if kind.endswith("html") else "application/x-go-sgf; charset=utf-8",
        )
        name = quote(file.name, safe="", errors="replace")
        self.set_header("Content-Disposition", f"attachment; filename*=UTF-8''{name}")
        self.finish(content)


class _Socket(_Handler, WebSocketHandler):
    """The connection of one page."""

    def initialize(self) -> None:
        self._sending: asyncio.Future[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._waiting: Document = {}

    def check_origin(self, origin: str) -> bool:
        return self.guard.is_own_origin(origin)

    def prepare(self) -> Awaitable[None] | None:
        # Here and not only in `check_origin`, which Tornado does not ask about an origin that names the same host with
        # another scheme. No browser leaves the origin out.
        if not self.guard.is_own_origin(self.request.headers.get("Origin", "")):
            raise HTTPError(403, "another origin")
        return super().prepare()

    def open(self, *_: str, **__: str) -> None:
        if not self.server.join(self):
            self.close(1013, "too many pages")

    async def on_message(self, message: str | bytes) -> None:
        answer = await self._answer(lambda: self.server.session.receive(_parsed(message)))
        if not isinstance(answer, Reading):
            await self.give(answer)
            return
        if self._reading is not None:  # or a page could have any number of files read
            await asyncio.wait([self._reading])
        self._reading = asyncio.create_task(self._read(answer))

    async def _read(self, reading: Reading) -> None:
        read = await self.server.read(reading)
        await self.give(await self._answer(lambda: reading.then(read.result())))

    async def _answer(self, answer: Callable[[], Answer]) -> Answer:
        """Returns an answer to a message, or what tells the page why there is none.

        The other pages are told if another game has taken the place of one that was being played.
        """
        session = self.server.session
        number, is_going_on = session.tree_number, session.is_going_on
        try:
            return answer()
        except Exception as error:
            if not isinstance(error, EXPECTED):
                logger.exception("a message could not be handled")
            return _refusal(error)
        finally:
            if is_going_on and session.tree_number != number:
                await self.server.tell_replaced(self)

    async def give(self, answer: Answer) -> None:
        """Sends an answer to this page alone."""
        if answer is not None:
            with contextlib.suppress(WebSocketClosedError):  # the page may be gone by now
                await self.write_message(json.dumps(answer, allow_nan=False))

    def on_close(self) -> None:
        self.server.leave(self)

    def send(self, changed: Document) -> None:
        """Sends parts of documents at once, or as soon as those before are on their way; newer values replace them."""
        for name, values in changed.items():
            if values:
                self._waiting.setdefault(name, {}).update(values)
        if self._sending is None or self._sending.done():
            self._send()

    def _send(self, sent: "asyncio.Future[None] | None" = None) -> None:
        is_open = sent is None or not (sent.cancelled() or sent.exception())
        if is_open and self._waiting:
            text = json.dumps({"type": "state", "parts": self._waiting}, allow_nan=False, separators=(",", ":"))
            self._waiting = {}
            try:
                self._sending = self.write_message(text)
                self._sending.add_done_callback(self._send)
            except WebSocketClosedError:
                is_open = False
        if not is_open:
            self.server.leave(self)


def _changed(before: Document, after: Document) -> Document:
    """Returns what is new in a document."""
    return {name: value for name, value in after.items() if name not in before or before[name] != value}


def _parsed(text: str | bytes) -> Document:
    """Returns the object that a page has sent; it has a text as its `type`."""
    try:
        message = parse_json(text)
    except ValueError as error:
        raise UserError(f"invalid message: it is not JSON ({error})") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise UserError("invalid message: expected an object with a type")
    return message
