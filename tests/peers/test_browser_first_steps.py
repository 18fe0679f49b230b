"""The first steps in Chromium: all boards, and a game that the first capture ends."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import click, expect, opened, press, started, stones

from gtp_engine.study.first_steps import read_steps

pytestmark = pytest.mark.peer
STEPS = read_steps()
# On each board points with the text that answers a click there; the first is a wrong try or a forbidden point.
BOARDS = [
    [("A1", "wrong"), ("D3", "right")],
    [("B5", "refused"), ("B5", "refused"), ("A1", "wrong"), ("G4", "right")],
    [("C3", "refused"), ("A1", "task"), ("C3", "right")],
    [("A1", "wrong"), ("B1", "right")],
    [("A1", "wrong"), ("D4", "task"), ("pass", "right")],
]


@pytest.fixture(params=[("en", 390, 844), ("ar", 1280, 800)], ids=["phone", "arabic"])
def learning(
    request: pytest.FixtureRequest, chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A page on which somebody has said never to have played, with the name of its language."""
    language, width, height = request.param
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    with started("--sgf-dir", str(tmp_path / "games"), "--visits", "1") as address:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale=language)
        with opened(context, address) as page:
            press(page, "#learn")
            expect(page.locator("#first-steps h2")).to_be_visible()
            yield page, language
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_boards_and_a_game_are_clicked_through(learning: Any) -> None:
    page, language = learning
    said, after = page.locator("#first-steps .said"), page.locator("#step-next")
    for step, tries in zip(STEPS, BOARDS, strict=False):
        expect(page.locator("#first-steps h2")).to_have_text(step.texts[language]["title"])
        for point, name in tries:
            page.click("#step-pass") if point == "pass" else click(page, point, step.start.width)
            expect(said).to_contain_text(step.texts[language][name])
            expect(page.locator("#overlay .sent")).to_have_count(0)
        expect(page.locator("#step-next.primary")).to_be_visible()
        after.click()
    title = page.locator("#first-steps h2")
    expect(title).to_be_focused()
    points = itertools.cycle(f"{column}{row}" for row in (3, 2, 4, 1, 5) for column in "CDBEA")
    while said.get_attribute("data-state") == "asked":
        click(page, next(points), 5)  # which may be occupied
        page.wait_for_timeout(100)
        expect(page.locator("#board.yours, #step-again:visible").first).to_be_visible()
    expect(page.locator("#step-again")).to_be_visible()
    page.click("#step-again")
    expect(said).to_have_text(STEPS[5].texts[language]["task"])
    assert stones(page, "black") == 0


def test_steps_are_left_and_come_back_where_they_were(learning: Any) -> None:
    page, language = learning
    page.locator("#first-steps .numbers button").nth(2).click()
    expect(page.locator("#first-steps h2")).to_have_text(STEPS[2].texts[language]["title"])
    page.reload()
    expect(page.locator("#first-steps h2")).to_have_text(STEPS[2].texts[language]["title"])
    page.click("#step-leave")
    expect(page.locator("#first-steps")).to_be_hidden()
    expect(page.locator("#status")).to_be_visible()
    press(page, "#learn")
    expect(page.locator("#first-steps h2")).to_have_text(STEPS[2].texts[language]["title"])


def test_the_language_is_changed_in_the_middle_of_a_step(learning: Any) -> None:
    page, language = learning
    page.locator("#first-steps .numbers button").nth(4).click()
    expect(page.locator("#first-steps h2")).to_have_text(STEPS[4].texts[language]["title"])
    click(page, "D4", STEPS[4].start.width)
    expect(page.locator("#step-undo")).to_be_visible()
    before = page.locator("#drawing circle").count()
    for code in ("ja", language):
        page.select_option("#language", code)  # which nothing has to be opened for
        expect(page.locator("#first-steps h2")).to_have_text(STEPS[4].texts[code]["title"])
        expect(page.locator("#first-steps .said")).to_contain_text(STEPS[4].texts[code]["task"])
        expect(page.locator("#step-undo")).to_be_visible()
    assert page.locator("#drawing circle").count() == before
    assert page.locator("#rest > :visible").count() == 1


def test_the_task_and_the_buttons_are_in_sight_on_a_tablet(learning: Any) -> None:
    page, _ = learning
    page.set_viewport_size({"width": 768, "height": 1024})
    expect(page.locator("#step-next")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 375, "height": 553})
    page.locator("#first-steps .numbers button").nth(7).click()
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#step-begin")).to_be_in_viewport(ratio=1)


def test_the_task_and_the_buttons_of_each_step_are_in_sight_on_a_phone(learning: Any) -> None:
    page, language = learning
    buttons = ".choices:not(.numbers)"
    for height, parts in ((667, (".said", buttons)), (553, (buttons,))):
        page.set_viewport_size({"width": 375, "height": height})
        for code in (language, "es"):  # which has the longest texts
            page.select_option("#language", code)
            for number, step in enumerate(STEPS):
                page.locator("#first-steps .numbers button").nth(number).click()
                expect(page.locator("#first-steps h2")).to_have_text(step.texts[code]["title"])
                page.evaluate("scrollTo(0, 0)")
                for part in parts:
                    expect(page.locator(f"#first-steps {part}")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 360, "height": 740})


def test_no_button_covers_the_answer_on_a_phone(learning: Any) -> None:
    page, language = learning
    covered = """() => {
      const end = (name) => document.querySelector(`#first-steps ${name}`).getBoundingClientRect();
      return end(".said").bottom - end(".choices:not(.numbers)").top;
    }"""
    for height in (667, 553):
        page.set_viewport_size({"width": 375, "height": height})
        for code in (language, "es"):
            page.select_option("#language", code)
            for number in range(5):
                page.locator("#first-steps .numbers button").nth(number).click()
                expect(page.locator("#first-steps h2")).to_have_text(STEPS[number].texts[code]["title"])
                task = STEPS[number].texts[code]["task"]
                expect(page.locator("#first-steps .said")).to_have_text(task)
                page.click("#step-hint")
                expect(page.locator("#first-steps .said")).not_to_have_text(task)
                assert page.evaluate(covered) <= 0, (height, code, number)
    page.set_viewport_size({"width": 360, "height": 740})


def test_the_keyboard_is_enough(learning: Any) -> None:
    page, language = learning
    page.focus("#board")
    for key in ("ArrowRight", "ArrowRight", "Enter"):  # the first one only shows the cursor, in the middle
        page.keyboard.press(key)
    expect(page.locator("#first-steps .said")).to_have_text(STEPS[0].texts[language]["right"])
    expect(page.locator("#first-steps .said")).to_have_attribute("role", "status")
    page.focus("#step-next")
    page.keyboard.press("Enter")
    expect(page.locator("#first-steps h2")).to_be_focused()


def test_the_last_step_begins_a_game_with_marked_ataris(learning: Any) -> None:
    page, _ = learning
    page.locator("#first-steps .numbers button").nth(7).click()
    page.click("#step-begin")
    expect(page.locator("#step-unmark")).to_be_visible()
    expect(page.locator("#first-steps .said")).not_to_be_empty()
    expect(page.locator("#hint")).to_be_hidden()
    page.set_viewport_size({"width": 375, "height": 667})
    below = "(said) => said.getBoundingClientRect().bottom <= said.nextElementSibling.getBoundingClientRect().top"
    said = page.locator("#first-steps .said")
    said.evaluate("(said) => { said.textContent = 'Your 2 stones at G3 are in atari. '.repeat(9); }")
    assert said.evaluate(below)  # the button covers nothing of a long text
    page.click("#step-unmark")
    expect(page.locator("#first-steps")).to_be_hidden()
