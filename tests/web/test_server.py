"""The server: who may talk to it, what it serves, and pages that come and go."""

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK
from gtp_engine.play.engine import Decision, Engine
from gtp_engine.play.played_game import PlayedGame
from gtp_engine.web.guard import Guard
from gtp_engine.web.server import Server, own_address

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
        _, answer = await self.get(self.server.address.removeprefix(self.root))
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    async def socket(self, **headers: str) -> WebSocketClientConnection:
        headers = {"Cookie": self.cookie, "Origin": self.root, **headers}
        url = f"ws://127.0.0.1:{self.server.port}/socket"
        return await websocket_connect(HTTPRequest(url, headers={k: v for k, v in headers.items() if v}))


async def read(socket: WebSocketClientConnection, until: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    while True:
        text = await asyncio.wait_for(socket.read_message(), LIMIT)
        assert text is not None, "the connection was closed"
        message: dict[str, Any] = json.loads(text)
        if until(message):
            return message


def play(state: dict[str, Any], point: str) -> str:
    """Returns the message of a page that plays a move in the position that it shows."""
    tree = int(state["tree"].partition(".")[0])
    return json.dumps({"type": "play", "point": point, "node": state["node"], "tree": tree})


def with_server(
    engine: Engine, folder: Path, visit: Callable[[Browser], Awaitable[None]], host: str | None = None
) -> None:
    async def run() -> None:
        server = Server(0, host)
        played = PlayedGame(engine, humans=frozenset((BLACK,)), folder=folder, has_clock=True)
        serving = asyncio.create_task(server.serve(played, lambda: None))
        await asyncio.sleep(0)
        try:
            await visit(Browser(server))
        finally:
            server.stop()
            await serving

    asyncio.run(run())


def test_the_key_becomes_a_cookie(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        assert (await browser.get("/"))[0] == 403
        assert (await browser.get("/?key=wrong"))[0] == 403
        code, answer = await browser.get(browser.server.address.removeprefix(browser.root))
        assert (code, answer.headers["Location"]) == (302, "/")
        assert "HttpOnly" in answer.headers["Set-Cookie"] and "SameSite=Lax" in answer.headers["Set-Cookie"]
        await browser.log_in()
        code, answer = await browser.get("/")
        assert code == 200 and b"<!doctype html>" in answer.body

    with_server(engine, tmp_path, visit)


def test_only_files_of_the_page_are_served(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        for path in ("/page.js", "/page.css", "/languages/en.json", "/icon.svg"):
            assert (await browser.get(path))[0] == 200
        for path in ("/index.html", "/../server.py", "/%2e%2e/server.py", "/languages/../../server.py", "//etc/passwd"):
            assert (await browser.get(path))[0] == 404, path

    with_server(engine, tmp_path, visit)


def test_headers_forbid_what_the_page_does_not_need(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        for path in ("/", "/page.js", "/missing"):
            _, answer = await browser.get(path)
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe-inline" not in policy
            assert "Access-Control-Allow-Origin" not in answer.headers
            assert answer.headers["X-Content-Type-Options"] == "nosniff"

    with_server(engine, tmp_path, visit)


def test_another_host_is_refused(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        assert (await browser.get("/", Host=f"evil.example:{browser.server.port}"))[0] == 403
        assert (await browser.get("/", Host="127.0.0.1:1"))[0] == 403
        assert (await browser.get("/", Host=f"localhost:{browser.server.port}"))[0] == 200

    with_server(engine, tmp_path, visit)


def test_browsers_leave_port_80_out() -> None:
    guard = Guard(80, "192.168.1.20")
    for host in ("127.0.0.1", "localhost", "192.168.1.20", "127.0.0.1:80"):
        assert guard.is_own_host(host) and guard.is_own_origin(f"http://{host}")
        assert f"ws://{host}" in guard.headers()["Content-Security-Policy"].split()
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
def test_sockets_of_other_pages_are_refused(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture, headers: dict[str, str]
) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        port = str(browser.server.port)
        with pytest.raises(HTTPClientError, match="403"):
            await browser.socket(**{name: value.replace("PORT", port) for name, value in headers.items()})

    with_server(engine, tmp_path, visit)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_all_pages_show_the_same_game_and_a_new_connection_shows_it_again(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        one, other = await browser.socket(), await browser.socket()
        await one.write_message(play(browser.server.session.state(), "C3"))
        for page in (one, other):
            await read(page, lambda state: state["type"] == "state" and state["moves"] == 2)
        for _ in range(20):
            one.close()
            one = await browser.socket()
            state = await read(one, lambda state: state["type"] == "state")
            assert state["moves"] == 2 and state["stones"][2][2] == "X"

    with_server(engine, tmp_path, visit)


def test_an_error_goes_to_the_page_that_made_it(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        page = await browser.socket()
        for text, problem in (
            ("{", "it is not JSON"),
            ("[]", "expected an object"),
            (play(browser.server.session.state(), "Z9"), "invalid vertex"),
        ):
            await page.write_message(text)
            error = await read(page, lambda message: message["type"] == "error")
            assert problem in error["text"]

    with_server(engine, tmp_path, visit)


def test_an_answer_to_a_page_that_is_gone_is_no_error(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
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

    with_server(engine, tmp_path, visit)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_search_may_end_after_the_server(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    search: Future[Decision] = Future()
    monkeypatch.setattr(engine, "genmove", lambda: search)
    servers = []

    async def visit(browser: Browser) -> None:
        servers.append(browser.server)
        await browser.log_in()
        page = await browser.socket()
        state = await read(page, lambda message: message["type"] == "state")
        await page.write_message(play(state, "C3"))
        await read(page, lambda message: message["task"] is not None)

    with_server(engine, tmp_path, visit)
    search.cancel()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    servers[0].stop()  # a second Ctrl-C


def test_a_message_that_is_too_long_closes_the_connection(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        page = await browser.socket()
        await page.write_message("x" * (3 << 20))
        while await asyncio.wait_for(page.read_message(), LIMIT) is not None:
            pass
        assert (await browser.get("/"))[0] == 200  # the server goes on

    with_server(engine, tmp_path, visit)


def test_a_connection_that_sends_nothing_is_closed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtp_engine.web.server._IDLE_SECONDS", 0.1)

    async def visit(browser: Browser) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", browser.server.port)
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()

    with_server(engine, tmp_path, visit)


def test_time_runs_out_between_messages_but_not_while_no_page_is_open(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("gtp_engine.play.game_clock.monotonic", lambda: now)

    async def visit(browser: Browser) -> None:
        nonlocal now
        await browser.log_in()
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

    with_server(engine, tmp_path, visit)


def test_the_record_can_be_downloaded(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        assert (await browser.get("/game.sgf"))[0] == 403
        await browser.log_in()
        _, answer = await browser.get("/game.sgf")
        assert answer.body.startswith(b"(;") and "attachment" in answer.headers["Content-Disposition"]

    with_server(engine, tmp_path, visit)


def test_the_name_of_the_download_may_have_any_letters(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        browser.server.session.played.file.path = tmp_path / '围棋 "1".sgf'
        code, answer = await browser.get("/game.sgf")
        name = answer.headers["Content-Disposition"]
        assert (code, name) == (200, "attachment; filename*=UTF-8''%E5%9B%B4%E6%A3%8B%20%221%22.sgf")

    with_server(engine, tmp_path, visit)


def test_a_port_in_use_is_one_clear_line(engine: Engine) -> None:
    server = Server(0)
    with pytest.raises(UserError, match=f"cannot use port {server.port} of 127.0.0.1: .*--port N"):
        Server(server.port)


# Other computers. 127.0.0.2 is an address of this computer that is not the usual one.
OTHER = "127.0.0.2"


def path_of(address: str) -> str:
    return "/" + address.partition("/?")[2].join(["?", ""])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only one address of themselves")
def test_the_key_of_another_computer_works_once(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        server, shown = browser.server, list[str]()
        server.on_admitted = lambda: shown.append(server.network_address)
        first = server.network_address
        assert first.startswith(f"http://{OTHER}:{server.port}/?key=") and first != server.address
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
        assert shown == [server.network_address] and shown != [first]
        assert (await stranger.get(path_of(shown[0])))[0] == 302
        await browser.log_in()  # this computer's own key stays
        await browser.log_in()
        assert (await browser.get("/"))[0] == 200 and browser.cookie != phone.cookie

    with_server(engine, tmp_path, visit, OTHER)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have only one address of themselves")
def test_host_and_origin_follow_the_address(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        await browser.log_in()
        port = browser.server.port
        assert (await browser.get("/", Host=f"{OTHER}:{port}"))[0] == 200
        assert (await browser.get("/", Host=f"127.0.0.3:{port}"))[0] == 403
        (await browser.socket(Origin=f"http://{OTHER}:{port}")).close()
        with pytest.raises(HTTPClientError, match="403"):
            await browser.socket(Origin=f"http://127.0.0.3:{port}")
        _, answer = await browser.get("/")
        assert f"ws://{OTHER}:{port}" in answer.headers["Content-Security-Policy"]

    with_server(engine, tmp_path, visit, OTHER)


def test_without_an_address_nobody_else_gets_in(engine: Engine, tmp_path: Path) -> None:
    async def visit(browser: Browser) -> None:
        assert browser.server.network_address == ""
        assert {address[0] for address in (found.getsockname() for found in browser.server._sockets)} == {"127.0.0.1"}

    with_server(engine, tmp_path, visit)


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid"])
def test_an_address_of_another_computer_is_one_clear_line(host: str) -> None:
    with pytest.raises(UserError, match=f"cannot use the address {host}: .*--host takes an address of this computer"):
        Server(0, host)


def test_the_address_in_the_network_is_found_or_asked_for() -> None:
    assert own_address("192.168.1.20") == "192.168.1.20"
    for host in ("0.0.0.0", "0"):
        with pytest.raises(UserError, match="stands for all networks"):
            own_address(host)
    for host in ("127.0.0.1", "127.1", "localhost"):
        with pytest.raises(UserError, match=f"only this computer reaches {host}: leave out --host"):
            own_address(host)
    for host in ("192.168..5", "no.such.host.invalid"):
        with pytest.raises(UserError, match=f"unknown address '{host}'"):
            own_address(host)


@pytest.mark.parametrize(("host", "problem"), [("::", "stands for all networks"), ("::1", "only this computer")])
def test_addresses_of_ipv6_are_checked_too(host: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        own_address(host)
