"""Every state of the page, by the rules of axe-core: contrast, names, roles and the like."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import (
    NODE_MODULES,
    begin,
    click,
    expect,
    open_settings,
    opened,
    paste,
    press,
    started,
    wait_for_status,
)

pytestmark = pytest.mark.peer

SIZES = [(1280, 800), (375, 667)]
RUN = """async () => (await axe.run({resultTypes: ["violations"]})).violations.flatMap(({id, nodes}) =>
  nodes.map(({target, failureSummary}) => `${id}: ${target}: ${failureSummary}`))"""
Check = Callable[[str], None]


@pytest.fixture(scope="module")
def axe() -> str:
    script = NODE_MODULES / "axe-core" / "axe.min.js"
    if not script.is_file():
        pytest.skip(f"axe-core is not in {NODE_MODULES} (npm install --no-save axe-core@4.14.1)")
    return script.read_text(encoding="utf-8")


@pytest.fixture
def checked(axe: str, chromium: Any, tmp_path: Path) -> Iterator[tuple[Any, Check]]:
    """A page, and what checks the state that it is in on both screens, light and dark."""
    options = ("--network", "b6c64-19x19", "--board-size", "9", "--rank", "20k", "--sgf-dir", str(tmp_path))
    context = chromium.new_context(reduced_motion="reduce")
    found: list[str] = []
    with started(*options) as address, opened(context, address) as page:
        page.evaluate(axe)

        def check(state: str) -> None:
            for scheme in ("dark", "light"):
                page.emulate_media(color_scheme=scheme)
                for width, height in SIZES:
                    page.set_viewport_size({"width": width, "height": height})
                    found.extend(f"{state}, {width}, {scheme}: {each}" for each in page.evaluate(RUN))
            page.set_viewport_size({"width": 1280, "height": 800})

        yield page, check
    assert found == []


def test_a_game_and_its_lesson(checked: tuple[Any, Check]) -> None:
    page, check = checked
    check("start")
    page.evaluate("document.querySelector('#teach').click()")
    open_settings(page)
    check("settings")
    page.click("#more")
    for opener in ("#new", "#open"):
        press(page, opener)
        check(f"dialog of {opener}")
        page.keyboard.press("Escape")
    for vertex, move in (("E5", 2), ("A1", 4)):
        click(page, vertex)
        expect(page.locator("#facts")).to_contain_text(f"move {move}")
    expect(page.locator("#lost")).to_contain_text("A1 loses about")
    press(page, "#hint")
    expect(page.locator("#candidates tbody tr").first).to_be_visible()
    check("hint and loss")
    page.click("#why")
    expect(page.locator("#why-better")).to_be_visible()
    check("why")
    page.click("#what-if")
    check("choosing what if")
    click(page, "C3")
    wait_for_status(page, "After C3, ")
    check("what if")
    page.click("#why-leave")
    press(page, "#pass")
    expect(page.locator("#facts")).to_contain_text("move 6")
    check("after a pass")
    press(page, "#resign")
    check("dialog of #resign")
    page.click("#really-resign")
    expect(page.locator("#review-stage")).to_contain_text("mattered most")
    page.locator("#mistakes > li > button").first.click()
    expect(page.locator("#mistakes .reason").first).to_be_visible()
    check("lesson")
    press(page, "#myGames")
    expect(page.locator("#games button")).to_have_count(1)
    check("my games")


def test_a_record_and_its_review(checked: tuple[Any, Check]) -> None:
    page, check = checked
    paste(page, "(;GM[1]SZ[9]KM[7];B[ee];W[cg]C[well played];B[gc];W[cc](;B[aa];W[gg];B[];W[gd])(;B[gg]))")
    wait_for_status(page, "Before the first move")
    for _ in range(2):
        page.click("#next")
    wait_for_status(page, "move 2 of 8")
    press(page, "#edit summary")
    check("edited")
    page.click("#more")
    open_settings(page)
    page.select_option("#review-visits", "500")
    page.click("#more")
    press(page, "#review")
    expect(page.locator("#review-progress")).to_be_visible()
    check("review running")
    press(page, "#review")
    expect(page.locator("#review-stage")).to_have_text("The review was stopped")
    page.evaluate("document.querySelector('#review-visits').value = '50'")
    press(page, "#review")
    expect(page.locator("#review-stage")).to_have_text("The worst moves: choose one to see it")
    page.locator("#mistakes li > button", has_text="Black A9").first.click()
    wait_for_status(page, "A9 loses about")
    page.locator("#mistakes .reason").first.click()
    check("line of a mistake")


def test_a_counted_game_and_a_lost_connection(checked: tuple[Any, Check]) -> None:
    page, check = checked
    page.evaluate(
        "() => { const send = WebSocket.prototype.send; WebSocket.prototype.send = function (message) { "
        "window.socket = this; send.call(this, message); }; }"
    )
    begin(page, colour="both")
    for number, vertex in enumerate(("D2", "F2", "D4", "F4", "D6", "F6", "D8", "F8"), 1):
        click(page, vertex)
        expect(page.locator("#facts")).to_contain_text(f"move {number}")
    click(page, "F8")
    expect(page.locator("#problem")).to_be_visible()
    check("a refused move")
    press(page, "#pass")
    wait_for_status(page, "passed")
    press(page, "#pass")
    expect(page.locator("#count-help")).to_be_visible()
    check("counted")
    page.evaluate("() => { window.WebSocket = class extends EventTarget { readyState = 3; }; socket.close(); }")
    expect(page.locator("#connection")).to_be_visible()
    check("lost connection")


def test_problems_and_the_life_of_a_group(checked: tuple[Any, Check]) -> None:
    page, check = checked
    stones = "SZ[9]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]"
    paste(page, f"(;{stones})(;{stones}PL[W])")
    wait_for_status(page, "Kill the group")
    check("problem")
    click(page, "C9")
    wait_for_status(page, "C9 does not work")
    check("wrong try")
    press(page, "#problem-after")
    wait_for_status(page, "Save the group")
    click(page, "B9")
    wait_for_status(page, "Right! The group lives.")
    check("solved problem")
    paste(page, "(;SZ[9];B[ea];W[da];B[eb];W[db];B[ec];W[cb];B[dc];W[bb];B[cc];W[ab];B[bc];W[gg];B[ac];W[cg])")
    wait_for_status(page, "Before the first move")
    page.locator("body").press("End")
    press(page, "#life")
    click(page, "D8")
    wait_for_status(page, "unsettled")
    check("life of a group")


def test_the_first_steps(checked: tuple[Any, Check]) -> None:
    page, check = checked
    press(page, "#learn")
    for number in range(8):
        page.locator("#first-steps .numbers button").nth(number).click()
        expect(page.locator("#first-steps .numbers [aria-current]")).to_have_text(str(number + 1))
        check(f"step {number + 1}")
    page.locator("#first-steps .numbers button").first.click()
    for vertex, state in (("A1", "wrong"), ("D3", "right")):
        click(page, vertex, 5)
        expect(page.locator("#first-steps .said")).to_have_attribute("data-state", state)
        check(f"{state} try")
