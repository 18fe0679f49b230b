"""How the page fits the screen, the paper and the finger, in Chromium."""

from typing import Any

import pytest
from peers.conftest import LIMIT, expect

pytestmark = pytest.mark.peer


@pytest.mark.parametrize("size", [(740, 360), (640, 400)])
def test_on_a_low_screen_the_board_is_as_high_as_the_screen(page: Any, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    board, players = (page.locator(name).bounding_box() for name in ("#board", "#players"))
    assert board["y"] == 0 and board["height"] == pytest.approx(height, abs=1)
    assert players["x"] >= board["width"] and players["y"] < height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 360, "height": 740})


def test_what_is_printed_has_no_buttons_and_tells_the_players_apart(page: Any) -> None:
    page.emulate_media(media="print")
    assert page.locator("button:visible, select:visible, summary:visible").count() == 0
    expect(page.locator("#drawing svg")).to_be_visible()
    colours = "[...document.querySelectorAll('.player .stone')].map((each) => getComputedStyle(each).printColorAdjust)"
    assert page.evaluate(colours) == ["exact", "exact"]
    page.emulate_media(media="screen", forced_colors="active")
    colours = "[...document.querySelectorAll('.player .stone')].map((each) => getComputedStyle(each).backgroundColor)"
    assert page.evaluate(colours) == ["rgb(27, 27, 27)", "rgb(247, 245, 240)"]
