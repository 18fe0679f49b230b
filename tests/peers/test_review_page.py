"""The page of a review in Chromium: every way to step through it, on a desktop's screen and on a phone's."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers.conftest import LIMIT, both_screens
from reviews import reason

from gtp_engine import EngineSettings
from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.study.game_review import GameReview
from gtp_engine.study.page.page import review_page
from gtp_engine.study.reviewer import review

pytestmark = pytest.mark.peer

ROOT = Path(__file__).resolve().parents[2]
# Screens of a laptop and of a small phone.
SCREENS = {1280: (1280, 900), 360: (360, 740)}
SCREENSHOTS = os.environ.get("GTP_ENGINE_SCREENSHOTS")  # a folder that keeps them, to be looked at


@dataclass
class Screen:
    """A page in the chromium, and what went wrong in it."""

    page: Any
    errors: list[str]

    def stones(self, section: str = "") -> np.ndarray:
        """Returns the stones on the board, read from the drawing."""
        board = self.page.locator(f"{section} .viewer .board svg").first
        coordinates = board.locator(".coordinates text").all_text_contents()
        width, height = (sum(map(kind, coordinates)) // 2 for kind in (str.isalpha, str.isdigit))
        stones = np.zeros((height, width), np.int8)
        for colour, name in ((BLACK, "black"), (WHITE, "white")):
            centres = board.locator(f".{name} circle").evaluate_all(
                "circles => circles.map(circle => [circle.cx.baseVal.value, circle.cy.baseVal.value])"
            )
            for x, y in centres:
                stones[round((y - 27) / 20), round((x - 27) / 20)] = colour
        return stones

    def text(self, name: str) -> str:
        return str(self.page.locator(f".viewer:visible .{name}").inner_text())

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def shoot(self, name: str) -> None:
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            width = self.page.viewport_size["width"]
            self.page.screenshot(path=str(Path(SCREENSHOTS) / f"{name}-{width}.png"))


@pytest.fixture(scope="module")
def reviewed() -> GameReview:
    """A whole game with captures, reviewed with few visits, with a reason for its first mistake."""
    found = review(ROOT / "sgf" / "samples" / "9x9.sgf", EngineSettings("b6c64-19x19", visits=30, seed=1, threads=1))
    worst = found.mistakes[0].worst
    object.__setattr__(found, "reasons", {worst.number: [reason(worst.better_line)]})
    return found


@pytest.fixture
def size(width: int) -> tuple[int, int]:
    return SCREENS[width]


def opened(chromium: Any, file: Path, html: str, size: tuple[int, int], anchor: str = "", **options: Any) -> Screen:
    file.write_text(html, encoding="utf-8")
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]}, **options)
    page.set_default_timeout(LIMIT * 1000)
    screen = Screen(page, [])
    page.on("console", lambda message: screen.errors.append(message.text))
    page.on("pageerror", lambda error: screen.errors.append(str(error)))
    page.on("request", lambda request: screen.errors.extend([request.url] * request.url.startswith("http")))
    page.goto(f"{file.as_uri()}{anchor}")
    return screen


@pytest.fixture
def screen(chromium: Any, reviewed: GameReview, size: tuple[int, int], tmp_path: Path) -> Iterator[Screen]:
    screen = opened(chromium, tmp_path / "review.html", review_page([reviewed]), size)
    yield screen
    screen.page.close()
    assert screen.errors == [], "nothing is refused by the policy, nothing fails, nothing is loaded"


def test_the_board_shows_every_position_of_the_game(screen: Screen, reviewed: GameReview) -> None:
    screen.page.locator(".viewer .first").click()
    record: GameRecord = reviewed.record
    for number in range(len(reviewed.moves) + 1):
        assert np.array_equal(screen.stones(), record.to_game(number).stones()), f"after move {number}"
        screen.press("ArrowRight")
    assert screen.text("place").startswith(f"Move {len(reviewed.moves)}:")
    screen.shoot("end")


def test_it_begins_at_the_most_costly_mistake(screen: Screen, reviewed: GameReview) -> None:
    worst = reviewed.mistakes[0].worst
    assert screen.text("place").startswith(f"Move {worst.number}:")
    assert f"{worst.vertex(worst.best)} is better" in screen.text("verdict")
    assert screen.page.locator(".viewer .candidates circle").count() > 0
    screen.shoot("begin")


def test_keys_and_buttons(screen: Screen, reviewed: GameReview) -> None:
    count = len(reviewed.moves)
    screen.page.locator(".viewer .first").click()
    assert screen.text("place") == "Start"
    screen.press("ArrowLeft")
    assert screen.text("place") == "Start", "there is nothing before it"
    screen.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert screen.text("place").startswith("Move 1:")
    screen.press("End")
    assert screen.text("place").startswith(f"Move {count}:")
    screen.press("Home")
    places = sorted(mistake.worst.number for mistake in reviewed.mistakes)
    for number in places[:3]:
        screen.press("n")
        assert screen.text("place").startswith(f"Move {number}:")
    screen.press("p")
    assert screen.text("place").startswith(f"Move {places[min(len(places), 3) - 2]}:")
    for name, text in (("last", f"Move {count}:"), ("back", f"Move {count - 1}:"), ("forward", f"Move {count}:")):
        screen.page.locator(f".viewer .{name}").click()
        assert screen.text("place").startswith(text)
    screen.page.locator(".viewer .previous-mistake").click()
    assert screen.text("place").startswith(f"Move {places[-1]}:")


def test_the_keyboard_alone_reaches_everything(screen: Screen) -> None:
    reached = set()
    for _ in range(60):
        screen.press("Tab")
        reached.add(
            screen.page.evaluate("(document.activeElement.className.baseVal ?? document.activeElement.className)")
        )
    wanted = {"first", "back", "forward", "last", "previous-mistake wordy", "next-mistake wordy", "slider", "play"}
    assert wanted | {"button"} <= reached
    assert any("mark" in name for name in reached)


def test_slider(screen: Screen) -> None:
    slider = screen.page.locator(".viewer .slider")
    slider.fill("7")
    assert screen.text("place").startswith("Move 7:")
    slider.focus()
    screen.press("ArrowRight")
    assert screen.text("place").startswith("Move 8:"), "one move, not two"
    assert slider.get_attribute("aria-valuetext").startswith("Move 8:")


def test_clicks_on_the_graph_and_on_its_marks(screen: Screen, reviewed: GameReview) -> None:
    count = len(reviewed.moves)
    for name in ("lead", "winrate"):
        graph = screen.page.locator(f"svg.graph.{name}")
        box = graph.bounding_box()
        graph.click(position={"x": box["width"] * 0.1, "y": box["height"] - 4})
        assert screen.text("place").startswith(f"Move {round(0.1 * count)}:")
    label = screen.page.locator("svg.graph.lead a.mark:has(text)").first
    label.locator("circle").nth(1).click()
    assert screen.text("place").startswith(f"Move {label.get_attribute('data-move')}:")
    assert screen.page.locator("svg.graph.lead .cursor").get_attribute("x1").endswith("%")


def test_lines_are_played_out_and_left(screen: Screen, reviewed: GameReview) -> None:
    worst = reviewed.mistakes[0].worst
    line = worst.before.moves[0].pv
    record: GameRecord = reviewed.record
    value = screen.page.locator(".viewer .worth")
    assert value.is_visible()
    screen.page.locator(".lines button.play").first.click()
    assert not value.is_visible(), "it is that of the game's move"
    game = record.to_game(worst.number - 1)
    for number, point in enumerate(line[:12], start=1):
        game.play(game.to_move, point)
        assert np.array_equal(screen.stones(), game.stones()), f"after move {number} of the line"
        assert screen.text("place").startswith(f"Line instead of move {worst.number}, move {number} of")
        screen.press("ArrowRight")
    screen.shoot("line")
    assert screen.page.locator(".viewer .labels text").count() > 0
    assert screen.page.locator("button.play[aria-pressed=true]").count() >= 1
    screen.press("Escape")
    assert screen.text("place").startswith(f"Move {worst.number}:") and value.is_visible()
    screen.press("1", "ArrowLeft")
    assert screen.text("place").startswith(f"Move {worst.number}:"), "back before the first move of the line"
    screen.press("1")
    screen.page.locator(".viewer .leave").click()
    assert screen.text("place").startswith(f"Move {worst.number}:")


def test_a_candidate_on_the_board_and_a_reason_are_played_by_a_click(screen: Screen, reviewed: GameReview) -> None:
    worst = reviewed.mistakes[0].worst
    screen.page.locator(".viewer .candidate").first.click()
    assert screen.text("place").startswith(f"Line instead of move {worst.number}, move 1 of")
    screen.press("Escape")
    assert "D4 is a neutral point" in screen.text("reasons")
    screen.page.locator(".said .reasons button.play").click()
    assert screen.text("place").startswith(f"Line instead of move {worst.number}, move 1 of")


def test_turning_points_lead_to_the_board(screen: Screen) -> None:
    article = screen.page.locator(".turning article").nth(1)
    link = article.locator("a.button").first
    link.click()
    assert screen.text("place").startswith(f"Move {link.get_attribute('data-move')}:")
    assert screen.page.locator(".viewer .place").is_visible()
    article.locator("a.button").nth(1).click()
    assert screen.text("place").startswith("Line instead of move")


@both_screens
def test_nothing_is_wider_than_the_screen(screen: Screen, size: tuple[int, int]) -> None:
    screen.page.locator("details.mistakes summary").click()
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    fonts = screen.page.evaluate(
        "[...document.querySelectorAll('p, td, th, li, button, figcaption')]"
        ".filter(element => element.offsetParent && element.innerText.trim())"
        ".map(element => parseFloat(getComputedStyle(element).fontSize))"
    )
    assert min(fonts) >= 12
    for button in screen.page.locator(".buttons button").all():
        assert button.bounding_box()["height"] >= 40


def test_dark_and_light(chromium: Any, reviewed: GameReview, size: tuple[int, int], tmp_path: Path) -> None:
    sums = {}
    for scheme in ("light", "dark"):
        screen = opened(chromium, tmp_path / "review.html", review_page([reviewed]), size, color_scheme=scheme)
        colour = screen.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        sums[scheme] = sum(map(int, re.findall(r"\d+", colour)))
        screen.shoot(scheme)
        screen.page.close()
    assert sums["light"] > 700 and sums["dark"] < 120


def test_without_script_everything_but_the_stepping_is_there(
    chromium: Any, reviewed: GameReview, size: tuple[int, int], tmp_path: Path
) -> None:
    html = review_page([reviewed, reviewed])
    screen = opened(chromium, tmp_path / "review.html", html, size, java_script_enabled=False)
    assert screen.page.get_by_text("needs JavaScript").first.is_visible()
    assert screen.page.locator(".turning article .board svg").first.is_visible()
    assert not screen.page.locator(".controls").first.is_visible()
    screen.page.close()


def test_on_paper(chromium: Any, reviewed: GameReview, tmp_path: Path) -> None:
    screen = opened(chromium, tmp_path / "review.html", review_page([reviewed]), SCREENS[1280], color_scheme="dark")
    paper = screen.page.pdf(prefer_css_page_size=True, path=str(tmp_path / "review.pdf"))
    width, height = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", paper)[0]
    assert (round(float(width)), round(float(height))) == (595, 842), "A4 in points"
    screen.page.emulate_media(media="print", color_scheme="dark")
    assert not screen.page.locator(".controls").is_visible()
    colour = screen.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert screen.page.locator(".turning article .board svg").first.is_visible()
    screen.page.close()


@both_screens
def test_an_index_leads_to_the_games_and_back(
    chromium: Any, reviewed: GameReview, size: tuple[int, int], tmp_path: Path
) -> None:
    second = GameReview(read_sgf(ROOT / "sgf" / "samples" / "9x9.sgf"), reviewed.conditions, reviewed.moves[:20])
    screen = opened(chromium, tmp_path / "review.html", review_page([reviewed, second]), size)
    page = screen.page
    assert page.locator("#index").is_visible() and not page.locator("#game-1").is_visible()
    screen.shoot("index")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.locator("table.games a[href='#game-2']").first.click()
    page.locator("#game-2").wait_for()  # the page follows its address a moment later
    assert not page.locator("#index").is_visible()
    screen.press("End")
    page.locator("#game-2 .viewer .last").click()
    assert screen.text("place").startswith("Move 20:")
    assert np.array_equal(screen.stones("#game-2"), second.record.to_game(20).stones())
    page.go_back()
    page.locator("#index").wait_for()
    link = page.locator("#index ol a").first
    number, game = link.get_attribute("data-move"), link.get_attribute("href")
    link.click()
    page.locator(game).wait_for()
    assert screen.text("place").startswith(f"Move {number}:")
    page.locator(f"{game} .back a").click()
    page.locator("#index").wait_for()
    page.close()
    assert screen.errors == []


def test_an_address_names_a_game_and_a_turning_point(chromium: Any, reviewed: GameReview, tmp_path: Path) -> None:
    html = review_page([reviewed, reviewed])
    screen = opened(chromium, tmp_path / "review.html", html, SCREENS[1280], "#game-2-point-2")
    assert screen.page.locator("#game-2").is_visible()
    assert screen.page.locator("#game-2-point-2").evaluate("point => point.getBoundingClientRect().top") < 900
    screen.page.close()


@both_screens
@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_other_languages(
    chromium: Any, reviewed: GameReview, size: tuple[int, int], tmp_path: Path, language: str
) -> None:
    """In Arabic, too, the page reads from right to left, and the board and the controls run from left to right."""
    text = texts(language)
    screen = opened(chromium, tmp_path / "review.html", review_page([reviewed], language), size)
    page = screen.page
    assert page.evaluate("getComputedStyle(document.body).direction") == text.direction
    word_break = {"ko": "keep-all", "ja": "auto-phrase"}.get(language, "normal")
    assert page.evaluate("getComputedStyle(document.body).wordBreak") == word_break
    assert text("black") in screen.text("place") or text("white") in screen.text("place")
    screen.shoot(f"begin-{language}")
    # The reason is in the language, and its line can be played out.
    (reason,) = reviewed.reasons[reviewed.mistakes[0].worst.number]
    assert reason.text_in(language) in screen.text("reasons")
    page.locator(".said .reasons button.play").click()
    assert screen.text("place").startswith(text.template("script.inLine").split("{")[0])
    screen.press("Escape")
    # Coordinates, moves and controls from left to right.
    letters = page.locator(".viewer .board text", has_text=re.compile(r"^[AC]$"))
    places = {letter.text_content(): letter.bounding_box()["x"] for letter in letters.all()}
    assert places["A"] < places["C"]
    boxes = [page.locator(f".viewer .{name}").bounding_box() for name in ("back", "forward")]
    assert boxes[0]["x"] < boxes[1]["x"]
    before = int(page.locator(".viewer .slider").input_value())
    page.locator(".viewer .slider").focus()
    screen.press("ArrowRight")
    assert int(page.locator(".viewer .slider").input_value()) == before + 1
    assert page.locator(".lines button.play").first.evaluate("line => getComputedStyle(line).direction") == "ltr"
    # Nothing is wider than the screen, and no label of the graph is cut off.
    page.locator("details.mistakes summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    graph = page.locator("svg.graph.lead").bounding_box()
    for label in page.locator("svg.graph.lead text.value").all():
        box = label.bounding_box()
        assert graph["x"] - 1 <= box["x"] and box["x"] + box["width"] <= graph["x"] + graph["width"] + 1
    screen.shoot(f"mistakes-{language}")
    if SCREENSHOTS:
        page.screenshot(path=str(Path(SCREENSHOTS) / f"whole-{language}-{size[0]}.png"), full_page=True)
    page.close()
    many = opened(chromium, tmp_path / "index.html", review_page([reviewed, reviewed], language), size)
    assert many.page.locator("#index h1").inner_text() == text("index.title", count=2)
    assert many.page.evaluate("document.documentElement.scrollWidth") <= size[0]
    many.shoot(f"index-{language}")
    many.page.close()
    assert screen.errors == [] == many.errors


def test_hostile_names_run_nothing(chromium: Any, reviewed: GameReview, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
    record = read_sgf(ROOT / "sgf" / "samples" / "9x9.sgf")
    record.black, record.result, record.source = hostile, hostile, hostile
    screen = opened(
        chromium,
        tmp_path / "review.html",
        review_page([GameReview(record, reviewed.conditions, reviewed.moves[:8])]),
        SCREENS[1280],
    )
    assert hostile in screen.page.locator("h1").inner_text()
    assert screen.page.title().startswith("Review: </script>")
    screen.page.close()
    assert screen.errors == []
