"""The page of `gtp_engine web` in Chromium, on a wide or on a narrow screen, by the name of the test, or on both.

Pictures of the pages are kept in the folder that GTP_ENGINE_SCREENSHOTS names, if it names one.
"""

import os
import re
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cases import ALL

NODE_MODULES = Path(
    os.environ.get("GTP_ENGINE_NODE_MODULES", Path(__file__).resolve().parents[2] / "node_modules")
).absolute()
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LIMIT = 120  # seconds; the first start may compile the core, and a slow processor reviews a game
WEB = [sys.executable, "-m", "gtp_engine", "web", "--no-browser", "--port", "0", "--network", "none", "--threads", "1"]
SIZES = {1280: 800, 360: 740}
both_screens = pytest.mark.parametrize("width", SIZES)  # for tests of what depends on the width
NO_MOVE = re.compile(r"rules, komi [\d.]+$")  # what the facts say before the first move
LISTS = ("size", "colour", "rank", "time", "handicap", "rules")  # of the dialog of a new game; the rest are numbers

# The visible buttons, without lists of moves and what More has opened.
IN_SIGHT = """() => [...document.querySelectorAll("button, a, summary")].filter((each) => {
  const lists = "#rest, #mistakes, #candidates, #life-answers, #life-moves, dialog";
  const isContent = each.closest(lists) && !each.matches(".primary");
  return !isContent && each.id !== "more" && each.checkVisibility({visibilityProperty: true});
}).map((each) => each.id || each.textContent)"""
# How many rows they stand in, with More.
ROWS = "new Set([...document.querySelectorAll('#actions > *')].map((each) => each.offsetTop)).size"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives a test the width of one screen, unless it is to run on both.

    Its name decides, not its turn: a test that is run alone, or once more, has to run on the same screen.
    """
    chosen = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "width" in metafunc.fixturenames and "width" not in chosen:
        of_name = zlib.crc32(metafunc.function.__name__.encode()) % len(SIZES)
        metafunc.parametrize("width", SIZES if ALL else [list(SIZES)[of_name]])


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install -e '.[browser]'")
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    playwright.expect.set_options(timeout=LIMIT * 1000)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def started(*options: str) -> Iterator[str]:
    """The address of a page that the program serves."""
    with subprocess.Popen([*WEB, *options], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        found = re.search(r"http\S+", program.stdout.readline())
        assert found
        yield found[0]
        program.terminate()


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder."""
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def address(tmp_path: Path, data: Path) -> Iterator[str]:
    with started("--visits", "30", "--sgf-dir", str(tmp_path)) as found:
        yield found


@contextmanager
def opened(context: Any, address: str) -> Iterator[Any]:
    """The open page; whatever its console reports fails the test."""
    context.set_default_timeout(LIMIT * 1000)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(address)
    page.wait_for_selector("#drawing svg")
    yield page
    context.close()
    assert problems == []


@pytest.fixture
def page(request: pytest.FixtureRequest, chromium: Any, address: str, width: int) -> Iterator[Any]:
    """The open page, wide or narrow."""
    scheme = "light" if width > 600 else "dark"
    context = chromium.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme)
    with opened(context, address) as page:
        yield page
        if folder := os.environ.get("GTP_ENGINE_SCREENSHOTS"):
            name = request.node.name.removeprefix("test_").replace("[", "-").rstrip("]")
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def expect(locator: Any) -> Any:
    from playwright.sync_api import expect

    return expect(locator)


def click(page: Any, vertex: str, size: int = 9, *, button_is_held: bool = False) -> None:
    """Clicks a point of the board, or only presses there; the distances are those of the drawing."""
    page.locator("#overlay").scroll_into_view_if_needed()
    box = page.locator("#overlay").bounding_box()
    left, top, width, _ = map(float, page.get_attribute("#overlay", "viewBox").split())
    unit = box["width"] / width
    column, row = "ABCDEFGHJKLMNOPQRST".index(vertex[0]), size - int(vertex[1:])
    page.mouse.move(box["x"] + unit * (27 + 20 * column - left), box["y"] + unit * (27 + 20 * row - top))
    page.mouse.down()
    if not button_is_held:
        page.mouse.up()


def press(page: Any, button: str) -> None:
    """Clicks a button, which may be behind More."""
    if not page.locator(button).is_visible():
        page.click("#more")
    page.click(button)


def choose_language(page: Any, code: str) -> None:
    """Chooses the page's language, which can be done behind More, and waits for its texts."""
    is_open = page.locator("#language").is_visible()
    if not is_open:
        page.click("#more")
    page.select_option("#language", code)
    expect(page.locator("html")).to_have_attribute("lang", code)
    if not is_open:
        page.click("#more")


def open_settings(page: Any) -> None:
    """Opens what is behind More, with all settings."""
    page.click("#more")
    page.evaluate("document.querySelectorAll('#rest details:not(#edit)').forEach((each) => { each.open = true; })")


def play_first_move(page: Any) -> None:
    """Plays a move, and waits for the engine's answer."""
    click(page, "E5")
    expect(page.locator("#facts")).to_contain_text("move 2")


def stones(page: Any, colour: str) -> int:
    return int(page.locator(f"#drawing .{colour} circle").count())


def wait_for_status(page: Any, text: str) -> None:
    expect(page.locator("#status")).to_contain_text(text)


def begin(page: Any, **choices: str) -> None:
    press(page, "#new")
    for name, value in choices.items():
        field = page.locator(f"#new-dialog [name={name}]")
        field.select_option(value) if name in LISTS else field.fill(value)
    page.click("#new-dialog [type=submit]")


def paste(page: Any, sgf: str) -> None:
    press(page, "#open")
    page.fill("#open-text", sgf)
    page.click("#open-now")
