"""The web service in `examples/` answers, queues, gives up in time, and ends searches that nobody waits for."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPResponse
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port

from gtp_engine import Engine, EngineSettings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SGF = b"(;SZ[5];B[cc];W[cb])"
ENDLESS = 10**9
PATIENCE = 250.0  # seconds; the first search may compile the core


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs a test's coroutine function with a service, and with a function that posts to it."""
    monkeypatch.syspath_prepend(EXAMPLES)
    import service as example

    def run(use: Callable[..., Awaitable[None]], **limits: float) -> None:
        async def serve() -> None:
            socket, port = bind_unused_port()
            with Engine(EngineSettings(network="none", threads=1, seed=1), width=5) as engine:
                await asyncio.wrap_future(engine.analyze(engine.request()))  # compiled from here on
                service = example.Service(engine, **({"seconds": PATIENCE} | limits))
                server = HTTPServer(example.application(service))
                server.add_socket(socket)

                async def post(body: bytes, visits: object = 20) -> HTTPResponse:
                    url = f"http://127.0.0.1:{port}/?visits={visits}"
                    fetch = AsyncHTTPClient().fetch(
                        url, method="POST", body=body, raise_error=False, request_timeout=PATIENCE
                    )
                    return await fetch

                await use(service, post, port)
                server.stop()
                await server.close_all_connections()

        asyncio.run(serve())

    return run


def error(response: HTTPResponse) -> tuple[int, str]:
    return response.code, json.loads(response.body)["error"]


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happens():
            await asyncio.sleep(0.01)


def test_it_answers_in_turn_and_names_mistakes(serving: Callable[..., None]) -> None:
    async def use(service: object, post: Callable[..., Awaitable[HTTPResponse]], port: int) -> None:
        first, second = await asyncio.gather(post(SGF, 30), post(b"(;SZ[4])", 20))
        assert [(response.code, json.loads(response.body)["visits"]) for response in (first, second)] == [
            (200, 30),
            (200, 20),
        ]
        assert {"move", "visits", "pv"} < set(json.loads(first.body)["moves"][0])
        assert error(await post(b"hello")) == (400, "SGF data: no game record found")
        assert error(await post(SGF, "many")) == (400, "visits: expected a whole number")
        assert error(await post(SGF, -1))[1].startswith("invalid number of visits -1")

    serving(use)


def test_a_client_that_disconnects_ends_its_search(serving: Callable[..., None]) -> None:
    async def use(service: object, post: Callable[..., Awaitable[HTTPResponse]], port: int) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /?visits={ENDLESS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(SGF)}\r\n\r\n"
        writer.write(head.encode() + SGF)
        await until(lambda: service.waiting == 1)  # type: ignore[attr-defined]
        waiting = asyncio.create_task(post(SGF))
        await until(lambda: service.waiting == 2)  # type: ignore[attr-defined]
        writer.close()
        assert (await waiting).code == 200

    serving(use)


def test_whoever_asks_too_much_or_comes_too_many_is_refused(serving: Callable[..., None]) -> None:
    async def use(service: object, post: Callable[..., Awaitable[HTTPResponse]], port: int) -> None:
        slow = asyncio.create_task(post(SGF, ENDLESS))
        await until(lambda: service.waiting == 1)  # type: ignore[attr-defined]
        assert error(await post(SGF)) == (503, "too many requests are waiting, try again later")
        assert error(await slow) == (504, "no answer within 3 s: ask for fewer visits")
        service.seconds = PATIENCE  # type: ignore[attr-defined]
        assert (await post(SGF)).code == 200

    serving(use, seconds=3, most=1)
