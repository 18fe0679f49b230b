"""Takes the documentation's pictures of the two pages in Chromium, and of a reviewed game: `python docs/draw_pages.py`.

The engine really plays and reviews; only the moves are given. Needs Chromium, and Playwright and Pillow
from `pip install -e '.[browser]' pillow`.
"""

import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, expect, sync_playwright

FOLDER = Path(__file__).parent / "pictures"
RECORD = Path(__file__).parents[1] / "sgf" / "samples" / "ear-reddening-1846.sgf"
PROGRAM = [sys.executable, "-m", "gtp_engine"]
MOVES = ("E5", "C3", "G7", "G3", "A9")  # the last one is a mistake
LIMIT = 300_000  # milliseconds
COLOURS = 256  # of a picture, so that its file stays small


def main() -> None:
    """Plays and reviews, and takes the pictures."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take_game(browser, folder)
        take_review(browser, Path(folder) / "review.html")
        browser.close()


def take_game(browser: Browser, folder: str) -> None:
    """Takes a picture of a game with a marked mistake and an analysis."""
    options = ["--no-browser", "--port", "0", "--rank", "15k", "--seed", "1", "--sgf-dir", folder]
    with (
        subprocess.Popen([*PROGRAM, "web", *options], stdout=subprocess.PIPE, text=True) as program,
        ExitStack() as last,
    ):
        last.callback(program.terminate)
        assert program.stdout is not None
        address = re.search(r"http\S+", program.stdout.readline())
        assert address is not None
        page = opened(browser, address[0], 960, 600)
        page.click("#more")
        page.locator("#rest details").evaluate_all("(all) => all.forEach((each) => { each.open = true; })")
        page.check("#teach")
        page.check("#opinions")
        page.select_option("#layer", "losses")
        page.click("#more")
        expect(page.locator("#status")).to_contain_text("your turn")
        for number, vertex in enumerate(MOVES, 1):
            click(page, vertex)
            expect(page.locator("#facts")).to_contain_text(f"move {2 * number}")
        expect(page.locator("#lost")).to_contain_text(MOVES[-1])
        page.click("#more")
        page.click("#analyse")
        expect(page.locator("#opinion")).to_contain_text(re.compile("500 visits$"))
        save(page, "web.png")


def take_review(browser: Browser, file: Path) -> None:
    """Takes a picture of the page of a review, at its worst mistake; the review draws its own of the game, too."""
    outputs = ["--html", str(file), "--plot", str(FOLDER / "review.svg")]
    subprocess.run([*PROGRAM, "review", str(RECORD), *outputs, "--force", "--quiet"], check=True)
    page = opened(browser, file.as_uri(), 1180, 830)
    expect(page.locator(".reasons li").first).to_be_visible()
    save(page, "review-page.png")


def opened(browser: Browser, address: str, width: int, height: int) -> Any:
    """Returns a page in a window of this size, in pixels."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(LIMIT)
    expect.set_options(timeout=LIMIT)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(".board svg, #drawing svg")
    return page


def click(page: Any, vertex: str) -> None:
    """Clicks a point of a 9x9 board; the distances are those of the drawing."""
    box = page.locator("#overlay").bounding_box()
    left, top, width, _ = map(float, page.get_attribute("#overlay", "viewBox").split())
    unit = box["width"] / width
    column, row = "ABCDEFGHJ".index(vertex[0]), 9 - int(vertex[1:])
    page.mouse.click(box["x"] + unit * (27 + 20 * column - left), box["y"] + unit * (27 + 20 * row - top))


def save(page: Any, name: str) -> None:
    """Saves what the window shows."""
    page.mouse.move(1, 1)
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    page.screenshot(path=FOLDER / name)
    image = Image.open(FOLDER / name).convert("RGB")  # with a palette the file is smaller
    image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(FOLDER / name, optimize=True)


if __name__ == "__main__":
    main()
