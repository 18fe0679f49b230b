"""`gtp_engine web` as a process: its address, Ctrl-C, and the game on disk."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from tornado.httpclient import HTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.first_game import close_engine
from gtp_engine.clients.web.server import Server
from gtp_engine.go.sgf import read_sgf
from gtp_engine.table.played_game import Mode, PlayedGame
from gtp_engine.table.rated_games import RatedGames

LIMIT = 120  # seconds; the first start may compile the core
WEB = [sys.executable, "-m", "gtp_engine", "web", "--no-browser", "--port", "0"]
QUICK = ["--network", "none", "--visits", "8", "--threads", "1", "--board-size", "5"]


async def play(address: str) -> None:
    """Opens the page of an address and plays the first move."""
    root = address.partition("/?")[0]
    login = HTTPRequest(address, follow_redirects=False)
    answer = await asyncio.to_thread(lambda: HTTPClient().fetch(login, raise_error=False))
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    headers = {"Cookie": cookie, "Origin": root}
    page = await websocket_connect(HTTPRequest(f"{root.replace('http', 'ws')}/socket", headers=headers))
    position = json.loads(await page.read_message() or "")["parts"]["position"]
    tree = int(position["tree"].partition(".")[0])
    await page.write_message(json.dumps({"type": "play", "point": "C3", "node": position["node"], "tree": tree}))
    while '"moves":2' not in str(await page.read_message()):
        pass


@pytest.mark.parametrize(("error", "ends"), [(OSError("Too many open files"), False), (KeyboardInterrupt(), True)])
def test_an_error_while_the_engine_compiles_is_shown(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, ends: bool
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    engine = SimpleNamespace(ready=Future(), close=lambda: None)
    with pytest.raises(type(error)):
        try:
            raise error
        finally:
            close_engine(engine, 130)  # type: ignore[arg-type]
    assert ended == [130] * ends


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_control_c_ends_it_and_the_game_is_saved(tmp_path: Path) -> None:
    command = [*WEB, *QUICK, "--sgf-dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/\?key=\S+", program.stdout.readline())
            assert found
            asyncio.run(asyncio.wait_for(play(found[0]), LIMIT))
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=LIMIT)
        finally:
            program.kill()
    assert (program.returncode, errors) == (130, "")
    (file,) = tmp_path.glob("*.sgf")
    assert len(read_sgf(file).moves) == 2


def test_a_record_is_shown_and_with_a_move_it_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, found = tmp_path / "record.sgf", []
    file.write_text("(;GM[1]SZ[5]PB[Ann]PW[Ben];B[ba];W[bb];B[cc])")

    async def serve(_: Server, played: PlayedGame, *__: object) -> None:
        played.engine.ready.result()
        found.append((played.mode, len(played.game.moves)))

    monkeypatch.setattr(Server, "serve", serve)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for options in ([], ["--move", "2", "--colour", "both"]):
        assert CliRunner().invoke(main, ["web", str(file), "--port", "0", "--network", "none", *options]).exit_code == 0
    assert found == [(Mode.RECORD, 3), (Mode.PAIR, 2)]


@pytest.mark.parametrize(
    ("options", "is_said"), [(["--visits", "8"], True), (["--visits", "8", "--rank", "9k"], False), ([], False)]
)
def test_who_is_not_asked_for_a_rank_is_told_how_strongly_the_engine_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], is_said: bool
) -> None:
    async def serve(
        _: Server, played: PlayedGame, opened: Callable[[], object], rated: RatedGames | None, *__: object
    ) -> None:
        played.engine.ready.result()
        opened()
        assert (rated is None) == bool(options)

    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path))
    monkeypatch.setattr(Server, "serve", serve)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    done = CliRunner().invoke(main, ["web", "--port", "0", "--no-browser", "--threads", "1", *options])
    assert done.exit_code == 0, done.output
    assert ("The engine plays at full strength" in done.stdout) == is_said
