"""How the page fits the screen, the paper and the finger, in Chromium."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from peers.conftest import (
    IN_SIGHT,
    NO_MOVE,
    ROWS,
    begin,
    both_screens,
    choose_language,
    click,
    expect,
    open_settings,
    opened,
    paste,
    play_first_move,
    press,
    wait_for_status,
)

from gtp_engine.base.languages.texts import LANGUAGES

pytestmark = pytest.mark.peer


@pytest.mark.parametrize("size", [(740, 360), (640, 400)])
def test_on_a_low_screen_the_board_is_as_high_as_the_screen(page: Any, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    board, players = (page.locator(name).bounding_box() for name in ("#board", "#players"))
    assert board["y"] == 0 and board["height"] == pytest.approx(height, abs=1)
    assert players["x"] >= board["width"] and players["y"] < height
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    choose_language(page, "ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert page.locator("#players").bounding_box()["x"] == 8  # pixels from the edge
    page.set_viewport_size({"width": 360, "height": 740})


@pytest.mark.parametrize("size", [(820, 1180), (1024, 1366)])
def test_on_an_upright_tablet_the_board_is_as_wide_as_the_screen(page: Any, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})
    board, actions = (page.locator(name).bounding_box() for name in ("#board", "#actions"))
    assert board["width"] == pytest.approx(width - 16, abs=1)
    assert board["y"] + board["height"] <= actions["y"] < actions["y"] + actions["height"] <= height
    press(page, "#learn")
    expect(page.locator("#first-steps .said")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 360, "height": 740})


# The names of the lists whose texts are wider than they are: each is compared with one that is as wide as it likes. The
# names of networks may have any length.
CUT = """(lists) => {
  return [...document.querySelectorAll(lists)].filter((list) => {
    const free = list.cloneNode(true), width = list.offsetWidth;
    free.style.width = "max-content";
    list.after(free);
    const isCut = free.offsetWidth > width;
    free.remove();
    return isCut;
  }).map((list) => list.id || list.name);
}"""


@both_screens
def test_each_face_has_at_most_five_buttons_in_sight(page: Any) -> None:
    def face() -> tuple[str, list[str]]:
        return page.get_attribute("body", "data-face"), page.evaluate(IN_SIGHT)

    is_wide = page.viewport_size["width"] > 600  # pixels
    assert face() == ("play", ["new", "open", "myGames", "learn"][: 4 if is_wide else 3])
    play_first_move(page)
    wait_for_status(page, "your turn")
    assert face() == ("play", ["undo", "hint", "pass"])
    page.locator("body").press("ArrowLeft")
    wait_for_status(page, "Position after")
    assert face() == ("play", ["branch", "previous", "next"])
    page.locator("body").press("End")
    press(page, "#resign")
    page.click("#really-resign")
    wait_for_status(page, "White wins")
    page.wait_for_function("() => document.body.dataset.face === 'review'")
    name, buttons = face()
    assert name == "review" and len(buttons) <= 5 and {"analyse", "review", "new", "previous"} <= {*buttons}
    paste(page, "(;SZ[9]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab])(;SZ[9]AB[ee]AW[cc])")
    wait_for_status(page, "Kill the group at D9.")
    assert face() == ("problem", ["problem-after", "solution"])
    paste(page, "(;SZ[9];B[ee](;W[cc])(;W[gg]))")
    wait_for_status(page, "Before the first move")
    name, buttons = face()
    assert name == "review" and 4 <= len(buttons) <= 5
    assert len({page.locator(button).bounding_box()["y"] for button in ("#analyse", "#more")}) == 1, "one row"


def test_before_the_first_move_one_row_has_the_buttons_that_fit_in_it(page: Any) -> None:
    for language in LANGUAGES:
        choose_language(page, language)
        for width, height in ((1024, 768), (375, 553), (375, 667), (768, 1024)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function(f"() => innerWidth === {width} && {ROWS} === 1")
            buttons = page.evaluate(IN_SIGHT)
            assert buttons[:2] == ["new", "open"] and len(buttons) <= 4, (language, width)
        page.wait_for_function("() => document.querySelectorAll('#actions > *').length === 5")  # all
    page.set_viewport_size({"width": 360, "height": 740})


def test_more_stands_alone_in_no_row(page: Any) -> None:
    alone = (
        "() => document.querySelector('#more').offsetTop > document.querySelector('#more').previousSibling.offsetTop"
    )
    stones = "SZ[9]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]"
    for name, sgf in (("review", "(;SZ[9];B[ee];W[cc])"), ("problem", f"(;{stones})(;{stones}PL[W])")):
        paste(page, sgf)
        expect(page.locator("body")).to_have_attribute("data-face", name)
        for language in LANGUAGES:
            choose_language(page, language)
            for width, height in ((375, 553), (768, 1024), (1024, 768), (1280, 800)):
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_function(f"() => innerWidth === {width} && !({alone})()")
    page.set_viewport_size({"width": 360, "height": 740})


def test_the_page_is_as_high_as_the_window_and_no_wider_than_what_a_scroll_bar_leaves(page: Any) -> None:
    beyond = """() => {
        const {scrollWidth, clientWidth, scrollHeight, clientHeight} = document.documentElement;
        return [scrollWidth - clientWidth, scrollHeight - clientHeight];
    }"""
    page.set_viewport_size({"width": 1280, "height": 800})
    assert page.evaluate(beyond) == [0, 0]
    page.set_viewport_size({"width": 500, "height": 900})
    page.evaluate("document.documentElement.style.width = '485px'")  # as wide as beside a scroll bar
    assert page.locator("#board").bounding_box()["width"] == 485 - 16
    assert page.evaluate(beyond)[0] == 0
    page.evaluate("document.documentElement.style.width = ''")
    page.set_viewport_size({"width": 360, "height": 740})


def test_the_buttons_of_a_new_game_are_in_sight_on_a_small_phone(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 553})
    page.click("#new")
    expect(page.locator("#new-dialog .cancel")).to_be_in_viewport(ratio=1)


@both_screens
def test_no_text_of_a_list_is_cut_off(page: Any) -> None:
    open_settings(page)
    for language in LANGUAGES:
        choose_language(page, language)
        page.click("#new")
        assert page.evaluate(CUT, "#rest select:not(#network), #new-dialog select") == [], language
        page.keyboard.press("Escape")


# The words of visible texts that are in two lines.
BROKEN = """() => {
  const found = [], part = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.checkVisibility()) continue;
    for (const word of text.data.matchAll(/[^\\s-]+/g)) {
      part.setStart(text, word.index);
      part.setEnd(text, word.index + word[0].length);
      if (new Set([...part.getClientRects()].map((box) => box.top)).size > 1) found.push(word[0]);
    }
  }
  return found;
}"""


@both_screens
def test_lines_end_between_words(page: Any) -> None:
    open_settings(page)
    choose_language(page, "ko")
    assert page.evaluate(BROKEN) == []
    choose_language(page, "ja")
    assert page.evaluate("getComputedStyle(document.querySelector('#board-help')).wordBreak") == "auto-phrase"


@both_screens
def test_the_label_of_a_check_box_has_its_row(page: Any) -> None:
    open_settings(page)
    width = page.locator("#rest").bounding_box()["width"]
    labels = page.locator("label:has([type=checkbox]) span").all()
    assert all(label.bounding_box()["width"] > 0.8 * width for label in labels) and len(labels) == 5


def test_what_is_printed_has_no_buttons_and_tells_the_players_apart(page: Any) -> None:
    page.emulate_media(media="print")
    assert page.locator("button:visible, select:visible, summary:visible").count() == 0
    expect(page.locator("#drawing svg")).to_be_visible()
    colours = "[...document.querySelectorAll('.player .stone')].map((each) => getComputedStyle(each).printColorAdjust)"
    assert page.evaluate(colours) == ["exact", "exact"]
    prisoner = "getComputedStyle(document.querySelector('[data-colour=%s] .captures'), '::before').backgroundColor"
    assert page.evaluate(prisoner % "black") == "rgb(247, 245, 240)"  # which Black has taken
    assert page.evaluate(prisoner % "white") == "rgb(27, 27, 27)"
    expect(page.locator("[data-colour=black] .captures")).to_have_text("prisoners: 0")
    page.emulate_media(media="screen", forced_colors="active")
    colours = "[...document.querySelectorAll('.player .stone')].map((each) => getComputedStyle(each).backgroundColor)"
    assert page.evaluate(colours) == ["rgb(27, 27, 27)", "rgb(247, 245, 240)"]


@pytest.fixture
def phone(chromium: Any, address: str) -> Iterator[Any]:
    """The page on a screen for fingers."""
    context = chromium.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    with opened(context, address) as page:
        yield page


def test_a_finger_first_shows_the_move_of_a_list_and_then_plays_it(phone: Any) -> None:
    press(phone, "#hint")
    entry = phone.locator("#candidates tbody button").first
    entry.tap()
    expect(phone.locator("#play")).to_have_text(f"Play {entry.inner_text()}")
    expect(phone.locator("#drawing .labels text").first).to_have_text("1")
    expect(phone.locator("#facts")).to_have_text(NO_MOVE)
    entry.tap()
    expect(phone.locator("#facts")).to_contain_text("move 2")
    expect(phone.locator("#play")).to_be_hidden()


def test_the_board_of_a_phone_stays_in_sight_while_its_page_is_scrolled(phone: Any) -> None:
    open_settings(phone)
    phone.locator("#network").scroll_into_view_if_needed()
    assert phone.evaluate("scrollY") > 0
    stage, board = (phone.locator(name).bounding_box() for name in ("#stage", "#board"))
    assert stage["y"] == 0 and board["height"] < 360
    phone.locator("#language").focus()
    assert phone.locator("#language").bounding_box()["y"] >= stage["height"]


def test_the_board_of_a_phone_stays_where_it_is_however_long_the_status_is(phone: Any) -> None:
    board, status = phone.locator("#board"), phone.locator("#status")
    before, below = board.bounding_box(), status.bounding_box()["y"]
    assert before["y"] + before["height"] + 4 < below
    status.evaluate("(status) => { status.textContent = 'After C3, White leads by a point. '.repeat(4); }")
    assert status.bounding_box()["height"] > 80, "four lines"
    expect(status).to_be_in_viewport(ratio=1)
    assert board.bounding_box() == before and status.bounding_box()["y"] == below


def test_a_move_is_confirmed_where_the_lines_are_close_to_each_other(phone: Any) -> None:
    expect(phone.locator("#careful")).not_to_be_checked()  # 9x9
    begin(phone, size="19", colour="both")
    expect(phone.locator("#careful")).to_be_checked()
    box = phone.locator("#board").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    phone.touchscreen.tap(x, y)
    expect(phone.locator("#overlay .ghost.black")).to_have_count(1)
    expect(phone.locator("#play")).to_have_text("Play K10")
    phone.touchscreen.tap(x, y - 17)
    expect(phone.locator("#play")).to_have_text("Play K11")
    expect(phone.locator("#facts")).to_have_text(NO_MOVE)
    phone.tap("#play")
    expect(phone.locator("#facts")).to_contain_text("move 1")
    for _ in range(2):
        phone.touchscreen.tap(x, y)
    expect(phone.locator("#facts")).to_contain_text("move 2")
    open_settings(phone)
    phone.uncheck("#careful")
    phone.reload()
    phone.wait_for_selector("#drawing svg")
    phone.touchscreen.tap(x, y + 34)
    expect(phone.locator("#facts")).to_contain_text("move 3")


@both_screens
def test_the_graph_has_scales_and_tells_the_values_of_a_position(page: Any) -> None:
    paste(page, "(;SZ[9]KM[7];B[ee];W[ce];B[gc];W[gg])")
    wait_for_status(page, "Before the first move")
    page.locator("body").press("End")
    press(page, "#review")
    page.wait_for_function("() => document.querySelector('#graph .winrate')?.getAttribute('d').split('L').length === 5")
    assert page.locator("#plot .scale.winrate span").all_inner_texts() == ["100%", "50%", "0%"]
    top, middle, bottom = page.locator("#plot .scale.lead span").all_inner_texts()
    assert top[:2] == "B+" and middle == "even" and bottom == top.replace("B", "W")
    for language in ("ar", "es", "en"):  # the longest labels stay beside the graph and on the page
        choose_language(page, language)
        left, graph, right = (page.locator(name).bounding_box() for name in (".scale.winrate", "#graph", ".scale.lead"))
        assert left["x"] >= 0 and left["x"] + left["width"] <= graph["x"]
        assert graph["x"] + graph["width"] <= right["x"]
        assert right["x"] + right["width"] <= page.viewport_size["width"]
    expect(page.locator("#graph-at")).to_have_text(re.compile(r"Position 4: \d+%, ([BW]\+[\d.]+|even)"))
    box = page.locator("#graph").bounding_box()
    page.locator("#graph").hover(position={"x": box["width"] / 4, "y": 20})
    expect(page.locator("#graph-at")).to_contain_text("Position 1: ")
    page.mouse.move(1, 1)
    expect(page.locator("#graph-at")).to_contain_text("Position 4: ")


def test_coordinates_and_move_numbers_are_chosen_and_remembered(page: Any) -> None:
    paste(page, "(;SZ[5]KM[7]AB[ee];B[ab];W[aa];B[ba];W[cc];B[aa])")  # the first White stone is captured
    expect(page.locator("#board")).to_have_attribute("aria-label", re.compile("5 . 5"))
    page.locator("body").press("End")
    expect(page.locator("#facts")).to_contain_text("move 5")
    expect(page.locator("#drawing .coordinates")).to_be_visible()
    expect(page.locator("#drawing .labels text")).to_have_count(0)
    open_settings(page)
    page.uncheck("#coordinates")
    page.select_option("#on-stones", "numbers")
    page.reload()
    expect(page.locator("#drawing .coordinates")).to_be_hidden()
    page.locator("#drawing .labels text").nth(3).wait_for(state="attached")
    assert sorted(page.locator("#drawing .labels text").all_text_contents()) == ["1", "3", "4", "5"]
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#facts")).to_contain_text("move 4")
    assert sorted(page.locator("#drawing .labels text").all_text_contents()) == ["1", "3", "4"]


def test_the_colours_of_the_page_are_chosen_and_remembered(page: Any) -> None:
    back = "getComputedStyle(document.documentElement).backgroundColor"
    of_system, colours = page.evaluate(back), {"light": "rgb(246, 244, 239)", "dark": "rgb(25, 24, 22)"}
    open_settings(page)
    for theme, colour in colours.items():
        page.select_option("#theme", theme)
        assert page.evaluate(back) == colour
    page.reload()
    expect(page.locator("#theme")).to_have_value("dark")
    assert page.evaluate(back) == colours["dark"]
    open_settings(page)
    page.select_option("#theme", "system")
    assert page.evaluate(back) == of_system


# The visible buttons that lie over one of these, and those of these that are not whole in the window.
REACHABLE = """(names) => {
  const of = (element) => element.getBoundingClientRect();
  const shown = [...document.querySelectorAll("main button")].filter((each) => each.checkVisibility());
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  return names.flatMap((name) => {
    const element = document.querySelector(name), box = of(element);
    const covering = shown.filter((each) => each !== element && over(of(each), box)).map((each) => each.id);
    const isOut = box.height === 0 || box.top < 0 || box.bottom > innerHeight || box.left < 0 || box.right > innerWidth;
    return [...covering, ...(isOut ? [name] : [])];
  });
}"""


@both_screens
def test_the_main_actions_are_reached_without_scrolling(page: Any) -> None:
    begin(page, size="9", colour="both")
    open_settings(page)
    page.check("#careful")
    for _ in range(2):
        click(page, "E5")
    expect(page.locator("#facts")).to_contain_text("move 1")
    own_size = page.viewport_size
    for number, language in enumerate(LANGUAGES, 1):
        choose_language(page, language)
        page.keyboard.press("Home")
        click(page, f"C{number}")
        expect(page.locator("#play")).to_be_visible()
        expect(page.locator("#play")).to_contain_text(f"C{number}")
        page.evaluate("scrollTo(0, 0)")
        for size in (own_size, {"width": 740, "height": 360}, {"width": 640, "height": 400}):
            page.set_viewport_size(size)
            assert page.evaluate(REACHABLE, ["#play", "#undo", "#branch", "#more"]) == [], (language, size)
        page.set_viewport_size(own_size)
    page.set_viewport_size({"width": 360, "height": 740})


@both_screens
def test_no_button_moves_when_a_point_is_chosen_or_a_move_refused(page: Any) -> None:
    buttons = "[...document.querySelectorAll('#actions button, #steps button')].map((each) => each.offsetTop)"
    play_first_move(page)
    wait_for_status(page, "your turn")
    before = page.evaluate(buttons)
    click(page, "E5")
    expect(page.locator("#problem")).to_have_text("Illegal move: E5 is occupied")
    assert page.evaluate(buttons) == before
    assert page.locator("#status").evaluate("each => getComputedStyle(each).visibility") == "hidden"
    open_settings(page)
    page.check("#careful")
    expect(page.locator("#play")).to_be_hidden()
    before = page.evaluate(buttons)
    click(page, "A9")
    expect(page.locator("#play")).to_have_text("Play A9")
    assert page.evaluate(buttons) == before
    page.click("#play")
    expect(page.locator("#facts")).to_contain_text("move 4")
    expect(page.locator("#status")).to_be_visible()


def test_a_title_tells_whose_turn_it_is(page: Any) -> None:
    expect(page).to_have_title("It is your turn (Black) · Go")


def test_the_page_has_what_a_home_screen_needs(phone: Any) -> None:
    session = phone.context.new_cdp_session(phone)
    found = session.send("Page.getAppManifest")
    assert found["errors"] == [] and found["url"].endswith("/manifest.webmanifest")
    manifest = json.loads(found["data"])
    assert manifest["display"] == "standalone" and manifest["start_url"] == "/"
    for icon in manifest["icons"]:
        answer = phone.request.get(found["url"].replace("manifest.webmanifest", icon["src"]))
        assert answer.status == 200 and answer.headers["content-type"] == icon["type"]
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [error["errorId"] for error in errors] == ["in-incognito"]  # as all pages of tests are
