"""Questions about a position in Chromium: why a move is a mistake, what another one would have brought, and life."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import SIZES, click, expect, opened, paste, press, started, wait_for_status

pytestmark = pytest.mark.peer


@pytest.fixture
def taught(width: int, chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """The page of a game against a network at a rank, in which moves are marked."""
    options = ("--network", "b6c64-19x19", "--board-size", "9", "--rank", "20k", "--sgf-dir", str(tmp_path))
    size = {"width": width, "height": SIZES[width]}
    with started(*options) as address, opened(chromium.new_context(viewport=size), address) as page:
        page.evaluate("document.querySelector('#teach').click()")
        expect(page.locator("#teach")).to_be_checked()
        yield page


def numbers(page: Any) -> list[str]:
    """The numbers of the stones of a line."""
    return sorted(page.locator("#drawing .labels text").all_text_contents())


def test_a_mistake_is_refuted_on_the_board_and_another_move_is_tried(taught: Any) -> None:
    page = taught
    click(page, "E5")
    expect(page.locator("#facts")).to_contain_text("move 2")
    expect(page.locator("#why")).to_be_hidden()
    click(page, "A1")
    expect(page.locator("#facts")).to_contain_text("move 4")
    expect(page.locator("#lost")).to_contain_text("A1 loses about")
    page.click("#why")
    expect(page.locator("#status")).to_be_in_viewport(ratio=1)
    expect(page.locator("#why-better")).to_be_visible()
    expect(page.locator("#why-refutation")).to_be_hidden()  # the board shows it
    expect(page.locator("#status")).to_contain_text(".")  # a sentence
    expect(page.locator("#drawing .labels text").nth(1)).to_be_visible()  # it is played out
    expect(page.locator("#next")).to_be_disabled()
    before = numbers(page)
    page.click("#previous")
    expect(page.locator("#drawing .labels text")).to_have_count(len(before) - 1)
    page.click("#what-if")
    expect(page.locator("#status")).to_have_text("Click the point where you would have played.")
    expect(page.locator("#drawing .labels text")).to_have_count(0)
    click(page, "E5")
    expect(page.locator("#problem")).to_contain_text("E5 is occupied")
    page.keyboard.press("Shift")
    expect(page.locator("#problem")).to_be_hidden()  # it goes with whatever is done next
    expect(page.locator("#status")).to_have_text("Click the point where you would have played.")
    click(page, "E5")
    expect(page.locator("#problem")).to_be_visible()
    click(page, "C3")
    expect(page.locator("#status")).to_contain_text("After C3, ")
    expect(page.locator("#status")).to_contain_text("White's best answer is ")
    expect(page.locator("#status")).to_be_in_viewport()
    expect(page.locator("#announcement")).to_contain_text("After C3, ")
    expect(page.locator("#drawing .labels text").nth(1)).to_be_visible()
    tops = "new Set([...document.querySelectorAll('#actions > *')].map((each) => each.offsetTop)).size"
    assert page.evaluate(tops) == 1
    expect(page.locator("#next")).to_be_disabled()
    page.locator("#place").fill("1")
    expect(page.locator("#drawing .labels text")).to_have_count(1)
    page.locator("#actions button", has_text="After A1").click()
    expect(page.locator("#status")).not_to_contain_text("After C3, ")
    page.locator("body").press("Escape")
    expect(page.locator("#status")).to_have_text("It is your turn (Black)")
    expect(page.locator("#why-leave")).to_be_hidden()
    press(page, "#undo")  # the game is as it was
    expect(page.locator("#facts")).to_contain_text("move 2")
    expect(page.locator("#why")).to_be_hidden()


def test_the_network_says_what_it_thinks_of_a_group_that_is_not_solved(taught: Any) -> None:
    page = taught
    paste(page, "(;GM[1]SZ[9]KM[7];B[ee];W[cg];B[gc];W[cc])")
    wait_for_status(page, "Before the first move")
    page.locator("body").press("End")
    press(page, "#life")
    expect(page.locator("#status")).to_contain_text("Choose a stone")
    expect(page.locator("#status")).to_be_in_viewport()  # on a phone, too
    click(page, "E5")
    expect(page.locator("#status")).to_contain_text("The network ")
    expect(page.locator("#status")).to_be_in_viewport()
    expect(page.locator("#life-stop")).to_be_visible()  # it is still being read
    page.click("#life-stop")
    expect(page.locator("#status")).to_contain_text("The status of the group at E5 is not proved. The network ")
