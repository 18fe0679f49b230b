"""The server: who may talk to it, what it serves, and pages that come and go."""

import asyncio
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from gtp_engine.base.errors import UserError
from gtp_engine.base.web_page import content_hash
from gtp_engine.clients.web import opening
from gtp_engine.clients.web.guard import Guard
from gtp_engine.clients.web.server import Server, own_address
from gtp_engine.clients.web.server import _Socket as Socket
from gtp_engine.engine.engine import Decision, Engine
from gtp_engine.go.coords import BLACK
from gtp_engine.go.sgf import GameRecord
from gtp_engine.table.played_game import PlayedGame

LIMIT = 120  # seconds


class Browser:
    """What a browser does with a server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.root = f"http://127.0.0.1:{server.port}"
        self.cookie = ""

    async def get(self, path: str, **headers: str) -> tuple[int, Any]:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            headers["Cookie"] = self.cookie
        request = HTTPRequest(self.root + path, headers=headers, follow_redirects=False)
        try:
            answer = await AsyncHTTPClient().fetch(request)
        except HTTPClientError as error:
            answer = error.response
        return answer.code, answer

    async def log_in(self) -> None:
        _, answer = await self.get(self.server.guard.address.removeprefix(self.root))
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    async def socket(self, **headers: str) -> WebSocketClientConnection:
        headers = {"Cookie": self.cookie, "Origin": self.root, **headers}
        url = f"ws://127.0.0.1:{self.server.port}/socket"
        return await websocket_connect(HTTPRequest(url, headers={k: v for k, v in headers.items() if v}))


async def read(socket: Any, until: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Returns the next message, or state that the page shows after it, for which the condition holds."""
    while True:
        text = await asyncio.wait_for(socket.read_message(), LIMIT)
        assert text is not None, "the connection was closed"
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "state":  # what has changed
            message = socket.shown = getattr(socket, "shown", {"type": "state"})
            for changed in json.loads(text)["parts"].values():
                message |= changed
        if until(message):
            return message


Visit = Callable[[Browser], Awaitable[None]]
During = Callable[..., None]


def shown(browser: Browser) -> dict[str, Any]:
    """Returns what a page that is opened now would show."""
    return {name: value for part in browser.server.session.parts for name, value in part.document().items()}


def play(state: dict[str, Any], point: str) -> str:
    """Returns the message of a page that plays a move in the position that it shows."""
    tree = int(state["tree"].partition(".")[0])
    return json.dumps({"type": "play", "point": point, "node": state["node"], "tree": tree})


@pytest.fixture
def during(engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[During]:
    """Returns a decorator that runs a visit at once, with a browser that has the key; the server logs no warning."""

    def run(visit: Visit, host: str | None = None) -> None:
        async def serve() -> None:
            server = Server(0, host)
            played = PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path, has_clock=True)
            serving = asyncio.create_task(server.serve(played, lambda: None))
            await asyncio.sleep(0)
            try:
                browser = Browser(server)
                await browser.log_in()
                await visit(browser)
            finally:
                server.stop()
                await serving

        asyncio.run(serve())

    yield run
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_the_key_becomes_a_cookie(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        stranger = Browser(browser.server)
        assert (await stranger.get("/"))[0] == 403
        assert (await stranger.get("/?key=wrong"))[0] == 403
        assert (await stranger.get("/game.sgf"))[0] == 403
        code, answer = await stranger.get(browser.server.guard.address.removeprefix(browser.root))
        assert (code, answer.headers["Location"]) == (302, "/")
        assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Lax" in answer.headers["Set-Cookie"]
        code, answer = await browser.get("/")
        assert code == 200 and b"<!doctype html>" in answer.body


def test_a_move_is_sent_before_it_is_saved(during: During, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saving waits for the disk."""
    events = []
    send, save = Socket.write_message, PlayedGame.save

    def note_sent(socket: Any, text: str, binary: bool = False) -> Any:
        events.append(("sent", json.loads(text)["parts"].get("position", {}).get("moves")))
        return send(socket, text, binary)

    def note_saved(played: PlayedGame) -> bool:
        events.append(("saved", len(played.game.moves)))
        return save(played)

    @during
    async def visit(browser: Browser) -> None:
        socket = await browser.socket()
        state = await read(socket, lambda message: message.get("type") == "state" and message["isYourTurn"])
        monkeypatch.setattr(Socket, "write_message", note_sent)
        monkeypatch.setattr(PlayedGame, "save", note_saved)
        await socket.write_message(play(state, "E5"))
        await read(socket, lambda message: message.get("moves") == 2)
        assert events.index(("sent", 1)) < events.index(("saved", 1))


def test_only_files_of_the_page_are_served(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        for path in ("/page.js", "/first_steps.js", "/languages/en.json", "/icon.svg"):
            assert (await browser.get(path))[0] == 200
        for path in ("/index.html", "/../server.py", "/%2e%2e/server.py", "/languages/../../server.py", "//etc/passwd"):
            assert (await browser.get(path))[0] == 404, path


def test_the_page_contains_its_style_sheets_and_allows_no_others(during: During) -> None:
    sheets = [path.read_text("utf-8") for path in Path(opening.__file__).parent.glob("static/*.css")]

    @during
    async def visit(browser: Browser) -> None:
        _, answer = await browser.get("/")
        [style] = re.findall("<style>(.*?)</style>", answer.body.decode(), re.DOTALL)
        assert sheets and all(sheet in style for sheet in sheets)
        assert f"style-src {content_hash(style)} 'unsafe-hashes' 'sha256-" in answer.headers["Content-Security-Policy"]


def test_texts_are_sent_compressed(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        for path in ("/", "/page.js", "/first_steps.js", "/languages/en.json"):
            _, answer = await browser.get(path)  # which takes the compression off
            assert answer.headers["X-Consumed-Content-Encoding"] == "gzip", path
            assert answer.body == browser.server.files[path[1:]][1]


def test_headers_forbid_what_the_page_does_not_need(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        for path in ("/", "/page.js", "/missing"):
            _, answer = await browser.get(path)
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe-inline" not in policy
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert "Cross-Origin-Opener-Policy" not in answer.headers  # the first drawing would wait for a process
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_another_host_is_refused(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        assert (await browser.get("/", Host=f"evil.example:{browser.server.port}"))[0] == 403
        assert (await browser.get("/", Host="127.0.0.1:1"))[0] == 403
        assert (await browser.get("/", Host=f"localhost:{browser.server.port}"))[0] == 200


def test_browsers_leave_port_80_out() -> None:
    guard = Guard(80, "192.168.1.20")
    for host in ("127.0.0.1", "localhost", "192.168.1.20", "127.0.0.1:80"):
        assert guard.is_own_host(host) and guard.is_own_origin(f"http://{host}")
        assert f"ws://{host}" in guard.headers["Content-Security-Policy"].split()
    assert not guard.is_own_host("evil.example") and not guard.is_own_origin("http://evil.example")
    other = Guard(8019)
    assert not other.is_own_host("127.0.0.1") and not other.is_own_origin("http://127.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"Cookie": ""},
        {"Origin": ""},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "https://127.0.0.1:PORT"},
        {"Origin": "http://127.0.0.1:PORT@evil.example"},
        {"Origin": "http://["},
        {"Origin": "http://evil.example:PORT", "Host": "evil.example:PORT"},
    ],
)
def test_sockets_of_other_pages_are_refused(during: During, headers: dict[str, str]) -> None:
    @during
    async def visit(browser: Browser) -> None:
        port = str(browser.server.port)
        with pytest.raises(HTTPClientError, match="403"):
            await browser.socket(**{name: value.replace("PORT", port) for name, value in headers.items()})


def test_all_pages_show_the_same_game_and_a_new_connection_shows_it_again(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        one, other = await browser.socket(), await browser.socket()
        await one.write_message(play(shown(browser), "C3"))
        for page in (one, other):
            await read(page, lambda state: state["type"] == "state" and state["moves"] == 2)
        for _ in range(20):
            one.close()
            one = await browser.socket()
            state = await read(one, lambda state: state["type"] == "state")
            assert state["moves"] == 2 and state["stones"][2][2] == "X"


def test_an_error_goes_to_the_page_that_made_it(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        page = await browser.socket()
        for text, problem in (
            ("{", "it is not JSON"),
            ("[" * 100_000, "it is not JSON (brackets are nested more than 100 deep)"),
            ("[]", "expected an object"),
            (play(shown(browser), "Z9"), "invalid vertex"),
        ):
            await page.write_message(text)
            error = await read(page, lambda message: message["type"] == "error")
            assert problem in error["text"] and error["phrase"] is None
        await page.write_message(json.dumps({"type": "open", "sgf": "none"}))
        error = await read(page, lambda message: message["type"] == "error")
        assert error["text"] == "SGF data: no game record found"
        assert error["phrase"] == {
            "name": "error.at",
            "values": {
                "place": {"name": "error.sgfData", "values": {}},
                "problem": {"name": "error.noGame", "values": {}},
            },
        }


def test_a_page_is_told_when_another_one_replaces_its_game(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        page, other = await browser.socket(), await browser.socket()
        await page.write_message(play(shown(browser), "E5"))
        await read(other, lambda message: message["type"] == "state" and message["moves"] == 2)
        await other.write_message(json.dumps({"type": "open", "sgf": "(;SZ[9];B[ee])"}))
        error = await read(page, lambda message: message["type"] == "error")
        assert error["phrase"] == {"name": "error.replaced", "values": {}}


def test_other_pages_go_on_while_a_record_is_read(during: During, monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()
    read_sgf = opening.read_sgf

    def read_slowly(data: bytes, **limits: int) -> GameRecord:
        assert may_end.wait(LIMIT)
        return read_sgf(data, **limits)

    monkeypatch.setattr(opening, "read_sgf", read_slowly)
    record = json.dumps({"type": "open", "sgf": "(;SZ[9];B[ee])"})

    @during
    async def visit(browser: Browser) -> None:
        one, other = await browser.socket(), await browser.socket()
        before = await read(one, lambda message: message["type"] == "state")
        await one.write_message(record)
        await other.write_message(record)
        await other.write_message(play(before, "C3"))
        for page in (one, other):
            await read(page, lambda message: message["type"] == "state" and message["moves"] == 2)
        may_end.set()
        after = await read(one, lambda message: message["type"] == "state" and message["moves"] == 1)
        assert after["isStudy"] and len([*browser.server.session.played.folder.glob("*.sgf")]) == 1
        for name in ("error.replaced", "error.otherGame"):  # the game is that of the first page
            error = await read(other, lambda message: message["type"] == "error")
            assert error["phrase"]["name"] == name


def test_an_answer_to_a_page_that_is_gone_is_no_error(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        socket = await browser.socket()
        await read(socket, lambda message: message["type"] == "state")

        def receive(_: object) -> dict[str, Any]:
            for page in list(browser.server._pages):
                page.close()
            return {"type": "late"}

        browser.server.session.receive = receive  # type: ignore[method-assign]
        await socket.write_message('{"type": "games"}')
        while await asyncio.wait_for(socket.read_message(), LIMIT) is not None:
            pass


def test_a_search_may_end_after_the_server(during: During, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    search: Future[Decision] = Future()
    monkeypatch.setattr(engine, "genmove", lambda: search)
    servers = []

    @during
    async def visit(browser: Browser) -> None:
        servers.append(browser.server)
        page = await browser.socket()
        state = await read(page, lambda message: message["type"] == "state")
        await page.write_message(play(state, "C3"))
        await read(page, lambda message: message["task"] is not None)

    search.cancel()
    servers[0].stop()  # a second Ctrl-C


def test_a_message_that_is_too_long_closes_the_connection(during: During, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.web.server._LARGEST_MESSAGE", 2 << 20)

    @during
    async def visit(browser: Browser) -> None:
        page = await browser.socket()
        await page.write_message("x" * (3 << 20))
        while await asyncio.wait_for(page.read_message(), LIMIT) is not None:
            pass
        assert (await browser.get("/"))[0] == 200  # the server goes on


def test_a_connection_that_sends_nothing_is_closed(during: During, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.web.server._IDLE_SECONDS", 0.1)

    @during
    async def visit(browser: Browser) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", browser.server.port)
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()


def test_time_runs_out_between_messages_but_not_while_no_page_is_open(
    during: During, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("gtp_engine.table.game_clock.monotonic", lambda: now)

    @during
    async def visit(browser: Browser) -> None:
        nonlocal now
        session = browser.server.session
        assert not session.is_watched
        page = await browser.socket()
        await read(page, lambda state: state["type"] == "state")
        new = {"type": "new", "width": 5, "height": 5, "colour": "both", "rank": "max", "handicap": 0}
        await page.write_message(json.dumps({**new, "rules": "chinese", "time": "absolute 60"}))
        state = await read(page, lambda state: state["type"] == "state" and state["clock"]["system"] == "absolute")
        await page.write_message(play(state, "C3"))
        await read(page, lambda state: state.get("clock", {}).get("running") == "white")
        now += 10
        page.close()
        while session.is_watched:
            await asyncio.sleep(0.01)
        now += 1000
        page = await browser.socket()
        state = await read(page, lambda state: state["type"] == "state")
        assert state["clock"]["left"]["white"] == [50.0, 0] and state["result"] is None
        now += 51
        state = await read(page, lambda state: state["type"] == "state" and state["isOver"])
        assert state["result"] == {"winner": "black", "by": "time", "points": 0.0}


def test_the_record_can_be_downloaded_by_a_name_of_any_letters(during: During, tmp_path: Path) -> None:
    @during
    async def visit(browser: Browser) -> None:
        browser.server.session.played.file.path = tmp_path / '围棋 "1".sgf'
        code, answer = await browser.get("/game.sgf")
        assert code == 200 and answer.body.startswith(b"(;")
        name = answer.headers["Content-Disposition"]
        assert name == "attachment; filename*=UTF-8''%E5%9B%B4%E6%A3%8B%20%221%22.sgf"


def test_a_port_in_use_is_one_clear_line() -> None:
    server = Server(0)
    with pytest.raises(UserError, match=f"cannot use port {server.port} of 127.0.0.1: .*--port N"):
        Server(server.port)


# Other computers. 127.0.0.2 is an address of this computer that is not the usual one.
OTHER = "127.0.0.2"


def path_of(address: str) -> str:
    return "/" + address.partition("/?")[2].join(["?", ""])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only one address of themselves")
def test_the_key_of_another_computer_works_once(during: During) -> None:
    @partial(during, host=OTHER)
    async def visit(browser: Browser) -> None:
        server, shown = browser.server, list[str]()
        server.guard.on_admitted = lambda: shown.append(server.guard.network_address)
        first = server.guard.network_address
        assert first.startswith(f"http://{OTHER}:{server.port}/?key=") and first != server.guard.address
        phone = Browser(server)
        phone.root = f"http://{OTHER}:{server.port}"
        code, answer = await phone.get(path_of(first))
        assert code == 302
        phone.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        assert (await phone.get("/"))[0] == 200
        page = await phone.socket()
        assert (await read(page, lambda state: state["type"] == "state"))["moves"] == 0
        stranger = Browser(server)
        stranger.root = phone.root
        assert (await stranger.get(path_of(first)))[0] == 403  # it has been used
        assert shown == [server.guard.network_address] and shown != [first]
        assert (await stranger.get(path_of(shown[0])))[0] == 302
        await browser.log_in()  # this computer's own key stays
        await browser.log_in()
        assert (await browser.get("/"))[0] == 200 and browser.cookie != phone.cookie


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only one address of themselves")
def test_host_and_origin_follow_the_address(during: During) -> None:
    @partial(during, host=OTHER)
    async def visit(browser: Browser) -> None:
        port = browser.server.port
        assert (await browser.get("/", Host=f"{OTHER}:{port}"))[0] == 200
        assert (await browser.get("/", Host=f"127.0.0.3:{port}"))[0] == 403
        (await browser.socket(Origin=f"http://{OTHER}:{port}")).close()
        with pytest.raises(HTTPClientError, match="403"):
            await browser.socket(Origin=f"http://127.0.0.3:{port}")
        _, answer = await browser.get("/")
        assert f"ws://{OTHER}:{port}" in answer.headers["Content-Security-Policy"]


def test_a_program_that_is_started_again_knows_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "data" / "page-cookies"
    before = Guard(8019, "192.168.1.20", path)
    assert before.admit("x") is None
    own, phone = before.admit(before.key), before.admit(before.network_address.partition("=")[2])
    assert sys.platform == "win32" or path.stat().st_mode & 0o777 == 0o600
    after = Guard(8019, "192.168.1.20", path)
    assert [after.is_cookie(cookie) for cookie in (own, phone, before.key)] == [True, True, False]
    assert after.key != before.key and after.admit(after.key) == own and after.admit(before.key) is None
    for _ in range(10):
        last = after.admit(after.network_address.partition("=")[2])
    other = Guard(8020, "192.168.1.20", path)
    others = other.admit(other.network_address.partition("=")[2])
    newest = after.admit(after.network_address.partition("=")[2])
    again = Guard(8019, "", path)
    assert [again.is_cookie(cookie) for cookie in (others, newest)] == [True, True]
    assert [again.is_cookie(cookie) for cookie in (own, phone, last)] == [True, False, True]


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o644), lambda path: path.write_text("short"), Path.unlink])
def test_cookies_that_others_may_know_or_that_are_damaged_end(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    path = tmp_path / "page-cookies"
    cookie = Guard(8019, "", path)._cookies[0]
    assert Guard(8019, "", path).is_cookie(cookie)
    spoil(path)
    assert not Guard(8019, "", path).is_cookie(cookie)
    assert sys.platform == "win32" or path.stat().st_mode & 0o777 == 0o600


def test_a_page_is_served_where_cookies_cannot_be_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    guard = Guard(8019, "", tmp_path / "file" / "page-cookies")
    assert guard.is_cookie(guard.admit(guard.key))
    assert "pages will not go on after a restart" in caplog.text


def test_a_page_is_served_where_nobody_may_look_for_cookies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refuse)
        guard = Guard(8019, "", tmp_path / "page-cookies")
    assert guard.is_cookie(guard.admit(guard.key))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_the_cookies_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "page-cookies")
    guard = Guard(8019, "", tmp_path / "page-cookies")
    assert guard.is_cookie(guard.admit(guard.key)) and (tmp_path / "page-cookies").is_fifo()


def test_without_an_address_nobody_else_gets_in(during: During) -> None:
    @during
    async def visit(browser: Browser) -> None:
        assert browser.server.guard.network_address == ""
        assert {address[0] for address in (found.getsockname() for found in browser.server._sockets)} == {"127.0.0.1"}


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_another_computer_is_one_clear_line(host: str) -> None:
    with pytest.raises(UserError, match=f"cannot use the address {host}: .*--host takes an address of this computer"):
        Server(0, host)


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("0.0.0.0", "stands for all networks"),
        ("0", "stands for all networks"),
        ("::", "stands for all networks"),
        ("127.0.0.1", "only this computer reaches 127.0.0.1: leave out --host"),
        ("127.1", "only this computer reaches"),
        ("localhost", "only this computer reaches localhost"),
        ("::1", "only this computer reaches"),
        ("192.168..5", "unknown address '192.168..5'"),
        ("no.such.host.invalid", "unknown address"),
    ],
)
def test_an_address_that_others_cannot_use_is_one_clear_line(host: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        own_address(host)


def test_an_address_in_the_network_is_taken_as_it_is() -> None:
    assert own_address("192.168.1.20") == "192.168.1.20"
