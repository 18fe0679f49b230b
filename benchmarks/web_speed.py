"""How fast the page of `gtp_engine web` is, in Chromium: first board, clicks, answers, memory, reconnections.

- board: seconds from the start of the program, with warm caches, until its address is printed, and until a browser that
  runs already shows the board.
- click: milliseconds from the pointer's press until the stone is painted, and from the engine's decision until its move
  is painted. The decision is the moment at which the session is told of it.
- memory: two people play random legal moves on 9x9 while every position is analysed live; resident memory of the
  program and the page's heap, after a collection, on the way.
- reconnect: the program cuts the connection of the page right after each click; the game on the page, in the program
  and in the file has to be the same in the end. Gives the seconds until the page is connected again.

Needs Playwright and Chromium: `pip install -e '.[browser]'`, `apt install chromium`.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from gtp_engine.clients.web.playing import Playing
from gtp_engine.clients.web.server import Server
from gtp_engine.engine.engine import Decision, Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE, all_points
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf
from gtp_engine.table.played_game import PlayedGame

SIZE = 9
LIMIT_MS = 60_000
CHECKPOINTS = (100, 500, 1000)
MARGIN, CELL = 27, 20  # of the drawing, as the tests of the page have them

# Notes when a clicked stone, and the board after each number of moves, have been painted: a task after a frame.
WATCH = r"""() => {
  const now = () => performance.timeOrigin + performance.now();
  const painted = (note) => requestAnimationFrame(() => setTimeout(note));
  window.seen = {drawn: {}};
  addEventListener("pointerdown", () => { seen.pressed = now(); }, true);
  new MutationObserver(() => {
    if (document.querySelector("#overlay .ghost.sent")) painted(() => { seen.clicked ??= now(); });
  }).observe(document.querySelector("#overlay"), {childList: true});
  new MutationObserver(() => {
    const moves = /move ([\d,]+)/.exec(document.querySelector("#facts").textContent)[1].replaceAll(",", "");
    painted(() => { seen.drawn[moves] ??= now(); });
  }).observe(document.querySelector("#drawing"), {childList: true, subtree: true});
}"""
MOVES = "moves => document.querySelector('#facts').textContent.replaceAll(',', '').endsWith(`move ${moves}`)"
# An analysis of 100 visits, the least that the page offers, is done; the tree of the moves before may have more.
SEARCHED = (
    rf"moves => ({MOVES})(moves) && /· \d[\d,][\d,]+ visits/.test(document.querySelector('#opinion').textContent)"
)


def _serve(pipe: Connection, folder: str, humans: frozenset[int], visits: int) -> None:
    """Runs the program in a process of its own: tells its address and each decision, and cuts connections on demand."""
    with Engine(EngineSettings(visits=visits, threads=1, seed=1, resign=False), width=SIZE) as engine:
        engine.ready.result()
        server = Server(port=0)

        def opened() -> None:
            (playing,) = (part for part in server.session.parts if isinstance(part, Playing))
            decided = playing._decided

            def note(decision: Decision) -> None:
                pipe.send(time.time())
                decided(decision)

            playing._decided = note  # type: ignore[method-assign]
            asyncio.get_running_loop().add_reader(pipe.fileno(), lambda: obey(pipe.recv()))
            pipe.send(server.guard.address)

        def obey(word: str) -> None:
            if word == "stop":
                server.stop()
            else:
                for page in list(server._pages):
                    page.close()

        asyncio.run(server.serve(PlayedGame(engine, humans=humans, folder=Path(folder)), opened))


@dataclass(frozen=True)
class Program:
    """The program with a page that shows it.

    Attributes:
        pipe: Tells decisions; "cut" cuts connections.
        process: The process.
        page: The page.
        folder: The folder of saved games.
    """

    pipe: Connection
    process: Any
    page: Any
    folder: Path

    def game(self) -> Game:
        """Returns the game in the file."""
        files = list(self.folder.glob("*.sgf"))
        return read_sgf(files[0]).to_game() if files else Game(SIZE, SIZE)

    def resident(self) -> float:
        """Returns the resident memory of the program, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return round(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1000, 1)


@contextmanager
def program(browser: Any, *, humans: frozenset[int], visits: int) -> Iterator[Program]:
    """Starts the program, and shows it in a page."""
    spawn = multiprocessing.get_context("spawn")
    pipe, other = spawn.Pipe()
    with tempfile.TemporaryDirectory() as folder:
        process = spawn.Process(target=_serve, args=(other, folder, humans, visits))
        process.start()
        page = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en").new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto(pipe.recv())
        page.wait_for_selector("#drawing svg")
        try:
            yield Program(pipe, process, page, Path(folder))
        finally:
            page.context.close()
            pipe.send("stop")
            process.join()


def click(page: Any, vertex: str) -> None:
    """Clicks a point of the board, or the button for a pass."""
    if vertex == "pass":
        press(page, "#pass")
        return
    box = page.locator("#overlay").bounding_box()
    left, top, width, _ = map(float, page.get_attribute("#overlay", "viewBox").split())
    unit = box["width"] / width
    column, row = "ABCDEFGHJ".index(vertex[0]), SIZE - int(vertex[1:])
    x, y = MARGIN + CELL * column - left, MARGIN + CELL * row - top
    page.mouse.click(box["x"] + unit * x, box["y"] + unit * y)


def press(page: Any, button: str) -> None:
    """Presses a button, which may be behind More."""
    page.locator(button).evaluate("(button) => button.click()")


def wait_until(page: Any, expression: str, value: Any = None) -> None:
    """Waits for a condition in the page, whose policy forbids Playwright's own way."""
    end = time.monotonic() + LIMIT_MS / 1000
    while not page.evaluate(expression, value):
        if time.monotonic() > end:
            raise TimeoutError(f"{expression} with {value}; the page says {page.inner_text('aside')!r}")
        page.wait_for_timeout(2)


def spread(values: list[float]) -> dict[str, float]:
    """Returns median, least and largest."""
    return {
        "median": round(statistics.median(values), 3),
        "least": round(min(values), 3),
        "most": round(max(values), 3),
    }


def measure_board(browser: Any, count: int) -> dict[str, Any]:
    """Starts the command again and again."""
    address, board = [], []
    for _ in range(count):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "gtp_engine", "web", "--no-browser", "--port", "0", "--sgf-dir", folder]
            started = time.perf_counter()
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
                assert running.stdout is not None
                found = re.search(r"http\S+", running.stdout.readline())
                assert found
                address.append(time.perf_counter() - started)
                page.goto(found[0])
                page.wait_for_selector("#drawing svg")
                board.append(time.perf_counter() - started)
                running.terminate()
        page.context.close()
    return {"address s": spread(address), "board s": spread(board)}


def measure_clicks(browser: Any, count: int) -> dict[str, Any]:
    """Plays random moves against the engine."""
    shown, answered = [], []
    with program(browser, humans=frozenset((BLACK,)), visits=50) as running:
        page = running.page
        page.evaluate(WATCH)
        for number in range(1, count + 1):
            page.evaluate("() => { delete seen.clicked; }")
            click(page, random_move(running.game()))
            decided = running.pipe.recv()
            wait_until(page, "moves => seen.clicked && seen.drawn[moves]", 2 * number)
            seen = page.evaluate("seen")
            shown.append(seen["clicked"] - seen["pressed"])
            answered.append(seen["drawn"][str(2 * number)] - 1000 * decided)
    return {"clicks": count, "shown ms": spread(shown), "answered ms after the decision": spread(answered)}


def measure_memory(browser: Any, moves: int) -> dict[str, Any]:
    """Plays random moves for both players while every position is analysed."""
    found: dict[str, Any] = {}
    drawn = random.Random(1)
    game = Game(SIZE, SIZE)
    with program(browser, humans=frozenset((BLACK, WHITE)), visits=50) as running:
        page = running.page
        devtools = page.context.new_cdp_session(page)
        page.evaluate("() => document.querySelector('#analysis-visits').selectedIndex = 0")
        press(page, "#analyse")
        for number in range(1, moves + 1):
            vertex = random_move(game, drawn)
            game.play(game.to_move, vertex)
            click(page, vertex)
            wait_until(page, SEARCHED, number)
            if number in CHECKPOINTS or number == moves:
                devtools.send("HeapProfiler.collectGarbage")
                heap = devtools.send("Runtime.getHeapUsage")["usedSize"]
                found[f"{number} moves"] = {"program MB": running.resident(), "page's heap MB": round(heap / 1e6, 2)}
    return found


def measure_reconnections(browser: Any, count: int) -> dict[str, Any]:
    """Cuts the connection after each click."""
    times = []
    with program(browser, humans=frozenset((BLACK,)), visits=50) as running:
        page = running.page
        for number in range(1, count + 1):
            click(page, random_move(running.game()))
            running.pipe.recv()  # the engine has decided: the click has arrived
            cut = time.monotonic()
            running.pipe.send("cut")
            page.locator("#connection").wait_for()
            page.locator("#connection").wait_for(state="hidden")
            times.append(time.monotonic() - cut)
            wait_until(page, MOVES, 2 * number)
        stones = running.game().stones()
        expected = [int((stones == colour).sum()) for colour in (BLACK, WHITE)]
        shown = [page.locator(f"#drawing .{name} circle").count() for name in ("black", "white")]
        kept = expected == shown and len(running.game().moves) == 2 * count
    return {"reconnections": count, "seconds": spread(times), "nothing is lost": kept}


def random_move(game: Game, drawn: random.Random | None = None) -> str:
    """Returns a random legal move; a pass only if there is no other."""
    legal = [point for point in all_points(game.width, game.height) if game.is_legal(point)]
    return game.vertex((drawn or random).choice(legal)) if legal else "pass"


def main() -> None:
    """Prints one line of JSON for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measurements: dict[str, tuple[Callable[[Any, int], dict[str, Any]], int]] = {
        "board": (measure_board, 5),
        "click": (measure_clicks, 25),
        "memory": (measure_memory, 1000),
        "reconnect": (measure_reconnections, 20),
    }
    parser.add_argument("what", nargs="*", choices=[*measurements, []], help="which; all of them if none is named")
    parser.add_argument("--count", type=int, help="how often: starts, clicks, moves, reconnections")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in options.what or measurements:
            measure, usual = measurements[name]
            before = os.getloadavg()[0]
            found = measure(browser, options.count or usual)
            load = [round(value, 1) for value in (before, os.getloadavg()[0])]
            print(json.dumps({"what": name, **found, "load": load}), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
