"""Looking at records in the browser: variations, editing and the review, in Chromium."""

import re
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import IN_SIGHT, ROWS, begin, click, expect, open_settings, opened, paste, press, wait_for_status

from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.lesson import MISTAKES

pytestmark = pytest.mark.peer

RECORD = "(;GM[1]SZ[9]KM[5.5]PB[Ann];B[ee];W[cc]C[well played](;B[gc];W[gg])(;B[cg]TR[cc];W[ge]))"


@pytest.fixture
def record(page: Any) -> Any:
    """A page with an opened record, after its second move."""
    paste(page, RECORD)
    page.locator("#tree circle").first.wait_for()
    wait_for_status(page, "Before the first move")  # where reading begins
    page.click("#next")
    page.click("#next")
    wait_for_status(page, "move 2 of 4")
    return page


def test_arrow_keys_walk_through_the_tree(record: Any) -> None:
    page = record
    assert page.locator("#tree circle").count() == 7
    page.locator("body").press("ArrowRight")
    wait_for_status(page, "move 3 of 4")
    expect(page.locator("#variation-place")).to_have_text("Variation 1 of 2")
    page.locator("body").press("ArrowDown")
    expect(page.locator("#variation-place")).to_have_text("Variation 2 of 2")
    expect(page.locator("#drawing .marks .triangle")).to_have_count(1)
    page.locator("body").press("ArrowRight")
    wait_for_status(page, "Black to move")
    page.locator("body").press("ArrowUp")
    expect(page.locator("#variation-place")).to_have_text("Variation 1 of 2")
    press(page, "#variation-after")
    expect(page.locator("#variation-place")).to_have_text("Variation 2 of 2")


def test_the_focus_stays_among_the_steps_at_both_ends(record: Any) -> None:
    for pressed, way_back, steps in (("#next", "#previous", 2), ("#previous", "#next", 4)):
        for _ in range(steps):
            record.locator(pressed).press("Enter")
        expect(record.locator(pressed)).to_be_hidden()
        expect(record.locator(way_back)).to_be_focused()


def test_a_click_in_the_tree_goes_to_its_position(record: Any) -> None:
    record.locator("#tree").scroll_into_view_if_needed()
    box = record.locator("#tree svg").bounding_box()
    record.mouse.click(box["x"] + 18 * 4 + 9, box["y"] + 18 + 9)  # the end of the second line
    expect(record.locator("#variation-place")).to_have_text("Variation 2 of 2")
    expect(record.locator("#announcement")).to_contain_text("White plays G5")


def test_variations_comments_marks_and_stones(record: Any, tmp_path: Path) -> None:
    page = record
    click(page, "D4")
    expect(page.locator("#variation-place")).to_have_text("Variation 3 of 3")
    press(page, "#undo")
    expect(page.locator("#tree circle")).to_have_count(7)
    press(page, "#edit summary")
    page.fill("#comment-text", "look: [here]")
    page.select_option("#tool", "letter")
    click(page, "C3")
    expect(page.locator("#drawing .labels text")).to_have_text("A")
    page.select_option("#tool", "square")
    click(page, "E5")
    expect(page.locator("#drawing .marks .square")).to_have_count(1)
    page.select_option("#tool", "black")
    click(page, "A1")
    expect(page.locator("#drawing .black circle")).to_have_count(2)
    page.click("#turn")
    wait_for_status(page, "White to move")
    (file,) = tmp_path.glob("[!.]*.sgf")  # without one that is being written
    read = read_sgf(file)
    node = read.main_line[2]
    assert node.comment == "look: [here]" and node.properties["LB"] == [b"cg:A"] and node.properties["SQ"] == [b"ee"]
    assert node.children[2].properties["AB"] == [b"ai"]
    page.click("#delete")
    expect(page.locator("#tree circle")).to_have_count(7)
    press(page, "#undo")
    expect(page.locator("#tree circle")).to_have_count(8)


def test_a_refusal_stays_when_another_page_changes_the_tree(record: Any) -> None:
    page = record
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#drawing svg")
    page.bring_to_front()
    click(page, "E5")
    expect(page.locator("#problem")).to_contain_text("E5 is occupied")
    other.bring_to_front()
    click(other, "D4")
    page.bring_to_front()
    expect(page.locator("#tree circle")).to_have_count(8)
    expect(page.locator("#problem")).to_contain_text("E5 is occupied")
    other.close()


def test_a_review_lists_the_worst_moves_with_reasons(page: Any) -> None:
    open_settings(page)
    page.select_option("#network", "auto")
    page.select_option("#review-visits", "50")
    page.select_option("#review-colour", "black")
    page.click("#more")
    paste(page, "(;GM[1]SZ[9]KM[7];B[ee];W[cg];B[gc];W[cc];B[aa];W[gg];B[];W[gd])")
    page.locator("#tree circle").first.wait_for()
    expect(page.locator("#review")).to_be_enabled()
    press(page, "#review")
    expect(page.locator("#review")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#review-stage")).to_have_text("The worst moves: choose one to see it")
    assert page.locator("#graph .lead").get_attribute("d").count("L") == 8
    expect(page.locator("#mistakes li > button", has_text="White")).to_have_count(0)
    page.locator("#mistakes li > button", has_text=re.compile(r"^5\b.*A9")).first.click()
    wait_for_status(page, "A9 loses about")  # the sentence about the mistake comes first
    expect(page.locator("#drawing .candidates circle")).to_have_count(1)
    before = page.locator("#drawing svg").inner_html()
    page.locator("#mistakes .reason").first.focus()
    page.wait_for_function("before => document.querySelector('#drawing svg').innerHTML !== before", arg=before)
    page.locator("#mistakes [aria-current]").focus()
    page.wait_for_function("before => document.querySelector('#drawing svg').innerHTML === before", arg=before)
    value = page.locator("#graph-at")
    expect(value).to_contain_text("Position 5")
    press(page, "#why")
    expect(page.locator("#next")).to_be_disabled()  # the line has been played out
    expect(value).to_be_hidden()  # the board shows no position of the game
    expect(page.locator("#graph .cursor")).to_be_hidden()
    page.locator("body").press("Escape")
    expect(value).to_be_visible()
    press(page, "#keep")
    expect(page.locator("#keep")).to_have_text("Kept as a problem")
    page.click("#more")  # which is open until then
    for width, height in ((1280, 800), (768, 1024), (375, 667)):
        page.set_viewport_size({"width": width, "height": height})
        check_the_buttons_of_a_mistake(page, is_wide=width > height)
    page.set_viewport_size({"width": 360, "height": 740})


def check_the_buttons_of_a_mistake(page: Any, *, is_wide: bool) -> None:
    """In each state at most five buttons are in sight, in one row that stays in sight with the board."""

    def check(*wanted: str) -> None:
        expect(page.locator("#board")).to_be_in_viewport(ratio=1)
        for name in wanted:
            expect(page.locator(name)).to_be_in_viewport(ratio=1)
        assert len(buttons := page.evaluate(IN_SIGHT)) <= 5, buttons
        assert page.evaluate(ROWS) == 1 and page.locator("#steps button:disabled:visible").count() == 0

    page.locator("body").press("End")
    wait_for_status(page, "Black to move")
    check("#analyse", "#branch")
    entry = page.locator("#mistakes li > button", has_text=re.compile(r"^5\b.*A9")).first
    before = entry.bounding_box()
    entry.click()
    wait_for_status(page, "A9 loses about")
    check("#why", "#mistakes [aria-current]")
    assert entry.bounding_box() == before or not is_wide, "the list does not move below the pointer"
    page.click("#why")
    expect(page.locator("#next")).to_be_disabled()
    check("#why-leave", "#what-if", "#why-better")
    page.click("#what-if")
    wait_for_status(page, "Click the point")
    check("#why-leave", "#what-if")
    click(page, "C4")
    wait_for_status(page, "After C4")
    check("#why-leave", "#what-if")
    page.click("#why-leave")
    wait_for_status(page, "A9 loses about")


def test_a_review_is_stopped(page: Any) -> None:
    open_settings(page)
    page.select_option("#review-visits", "500")
    paste(page, "(;GM[1]SZ[19];B[dd];W[pp];B[pd];W[dp];B[qn];W[nq])")
    expect(page.locator("#review")).to_be_enabled()
    press(page, "#review")
    expect(page.locator("#review-progress")).to_be_visible()
    press(page, "#review")
    expect(page.locator("#review-stage")).to_have_text("The review was stopped")
    expect(page.locator("#review-progress")).to_be_hidden()


def test_the_life_of_a_group_is_read_and_played_through(page: Any) -> None:
    paste(page, "(;SZ[9];B[ea];W[da];B[eb];W[db];B[ec];W[cb];B[dc];W[bb];B[cc];W[ab];B[bc];W[gg];B[ac];W[cg])")
    expect(page.locator("#tree circle")).to_have_count(15)
    page.locator("body").press("End")
    press(page, "#life")
    expect(page.locator("#announcement")).to_contain_text("Choose a stone")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft"):  # to E5, and to D8
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("The group at D8 is unsettled: who moves first decides.")
    expect(page.locator("#announcement")).to_contain_text("unsettled")
    expect(page.locator("#life-moves button").first).to_have_text("B9: dies")
    expect(page.locator("#drawing .candidates circle")).to_have_count(3)
    click(page, "A9")  # which is wrong
    expect(page.locator("#life-line")).to_have_text("1 A9")
    page.locator("#life-moves button").click()
    expect(page.locator("#life-end")).to_have_text("The line ends here.")
    page.locator("body").press("ArrowLeft")
    click(page, "J1")
    expect(page.locator("#announcement")).to_contain_text("J1 is not in the lines")
    page.locator("#life-answers button", has_text="White first").click()
    expect(page.locator("#life-line")).to_be_empty()
    page.locator("body").press("Escape")
    expect(page.locator("#solved")).to_be_hidden()
    expect(page.locator("#drawing .candidates circle")).to_have_count(0)
    expect(page.locator("#tree circle")).to_have_count(15)  # the game is as it was


WATCH = """() => {
    window.told = [];
    const watcher = new MutationObserver((changes) => window.told.push(...changes.map(({target}) => target.id)));
    for (const region of document.querySelectorAll("[role=status], [role=alert], [aria-live]")) {
        watcher.observe(region, {childList: true, characterData: true, subtree: true});
    }
}"""


def test_a_screen_reader_is_told_only_what_is_new_and_once(record: Any) -> None:
    page = record
    press(page, "#review")
    expect(page.locator("#review-stage")).to_have_text(re.compile("The review has found|The worst moves"))
    page.click("#next")
    expect(page.locator("#variation-place")).to_have_text("Variation 1 of 2")
    open_settings(page)
    page.select_option("#analysis-visits", "50000")  # so that it is not over before its visits are read
    page.evaluate(WATCH)
    press(page, "#analyse")
    visits = page.locator("#candidates tbody td").nth(3)
    visits.wait_for()
    before = visits.inner_text()
    expect(visits).not_to_have_text(before)
    assert page.evaluate("told") == []
    page.click("#previous")
    wait_for_status(page, "move 2 of 4")
    expect(page.locator("#announcement")).to_have_text("White plays C7. Position after move 2 of 4")
    assert sorted(set(page.evaluate("told"))) == ["announcement", "variation-place"]


# The socket, the last state that came through it, and the types of what was sent.
KEEP = """() => {
    const send = WebSocket.prototype.send;
    window.asked = [];
    WebSocket.prototype.send = function (message) {
        asked.push(JSON.parse(message).type);
        if (!window.socket) {
            window.socket = this;
            this.addEventListener("message", ({data}) => {
                if (JSON.parse(data).type === "state") window.sent = data;
            });
        }
        send.call(this, message);
    };
}"""
LOSE = """canUndo => {
    const loss = {move: "E5", points: 4, best: "C3", canUndo};
    socket.dispatchEvent(new MessageEvent("message", {data: JSON.stringify({type: "state", parts: {search: {loss}}})}));
}"""


LESSON = """stage => {
    const mistake = {node: 1, number: 1, colour: "black", move: "A9", points: 12, best: "B2", reasons: []};
    const mistakes = stage === "done" ? [mistake] : [];
    const job = stage && {isLesson: true, stage, done: 1, total: 4, progress: .1, mistakes, praised: []};
    const count = {black: 40, white: 41, komi: 7};
    const parts = {review: {job, hasAside: false}, play: {isOver: true, count}};
    socket.dispatchEvent(new MessageEvent("message", {data: JSON.stringify({type: "state", parts})}));
}"""


REVIEWED = """mistakes => {
    const job = {isLesson: true, stage: "done", done: 0, total: 0, progress: 1, mistakes, praised: []};
    const parts = {review: {job, hasAside: false}};
    socket.dispatchEvent(new MessageEvent("message", {data: JSON.stringify({type: "state", parts})}));
}"""


@pytest.mark.parametrize("size", [(768, 1024), (375, 553)])
def test_the_board_and_the_reasons_are_in_sight_when_a_mistake_is_chosen(
    chromium: Any, address: str, size: tuple[int, int]
) -> None:
    width, height = size
    points = [column + row for row in "acegi" for column in "acegi"]
    reasons = [{"name": "reason.point", "values": {"better": "B2", "side": "here"}}] * 2
    numbered = enumerate(points, 1)
    mistakes: list[dict[str, Any]]
    mistakes = [{"node": number, "number": number, "move": "A9", "points": 12} for number, _ in numbered]
    mistakes = [{**each, "colour": "black", "best": f"B{each['number']}", "reasons": reasons} for each in mistakes]
    context = chromium.new_context(viewport={"width": width, "height": height}, has_touch=True)
    with opened(context, address) as page:
        page.evaluate(KEEP)
        paste(page, "(;SZ[9]" + "".join(f";{'BW'[number % 2]}[{point}]" for number, point in enumerate(points)) + ")")
        page.wait_for_function("() => window.sent")
        wait_for_status(page, "Before the first move")
        page.evaluate(REVIEWED, mistakes)
        expect(page.locator("#mistakes > li").first).to_be_in_viewport(ratio=1)
        page.locator("#mistakes > li > button").nth(17).tap()
        wait_for_status(page, "B18 is better")
        board, last = page.locator("#board"), page.locator("#mistakes .reason").last
        expect(last).to_be_in_viewport(ratio=1)
        expect(board).to_be_in_viewport(ratio=1)
        below = board.bounding_box()["y"] + board.bounding_box()["height"]
        assert page.locator("#mistakes .reason").first.bounding_box()["y"] >= below
        page.locator("#mistakes > li > button:not(.reason, .primary)").nth(20).click()
        wait_for_status(page, "B21 is better")
        assert "reason" not in page.evaluate("asked")  # the pointer rests where the list has moved
        page.locator("#mistakes > li > button[aria-current]").tap()
        page.evaluate(REVIEWED, [])  # of another review, which has found nothing yet
        expect(page.locator("#mistakes li")).to_have_count(0)


def test_the_buttons_stand_in_one_row_while_a_lesson_is_prepared_and_after_it(record: Any) -> None:
    page = record
    page.evaluate(KEEP)
    page.locator("body").press("End")
    page.wait_for_function("() => window.sent")
    wait_for_status(page, "to move")
    for width, height in ((375, 553), (375, 667), (768, 1024), (1024, 768), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(LESSON, None)
        boards = [page.locator("#board").bounding_box()]
        for stage, last in (("moves", "review"), ("done", "branch")):
            page.evaluate(LESSON, stage)
            expect(page.locator(f"#actions #{last}")).to_be_visible()
            assert page.evaluate(ROWS) == 1, (width, stage)
            expect(page.locator("#review-stage")).to_be_in_viewport(ratio=1)
            boards.append(page.locator("#board").bounding_box())
        assert boards[0] == boards[1] == boards[2], "the board keeps its width"
    page.set_viewport_size({"width": 360, "height": 740})


def test_a_cross_is_drawn_as_thin_as_the_other_marks(page: Any) -> None:
    paste(page, "(;SZ[9]AB[ee]MA[ee]TR[cc])")
    page.locator("#drawing .marks .cross").wait_for(state="attached")
    looks = [
        page.locator(f"#drawing .marks .{name}").evaluate(
            "mark => { const {strokeWidth, opacity} = getComputedStyle(mark); return [strokeWidth, opacity]; }"
        )
        for name in ("cross", "triangle")
    ]
    assert looks[0] == looks[1] and page.locator("#drawing .cross").get_attribute("stroke") == "#f7f5f0"


def test_a_mistake_is_told_once_whether_or_not_undo_takes_it_back(record: Any) -> None:
    page = record
    page.evaluate(KEEP)
    page.click("#next")
    page.wait_for_function("() => window.sent")
    lost, undo = "E5 loses about 4 points; C3 is better.", "Undo takes it back."
    page.evaluate(LOSE, True)
    expect(page.locator("#loss")).to_have_text(f"{lost} {undo}", use_inner_text=True)
    page.evaluate(WATCH)
    for can_undo in (False, True):
        page.evaluate(LOSE, can_undo)
        expect(page.locator("#loss")).to_have_text(f"{lost} {undo}" if can_undo else lost, use_inner_text=True)
    assert page.evaluate("told") == []


def test_a_game_ends_with_a_lesson_and_a_mistake_is_tried_again(page: Any) -> None:
    open_settings(page)
    page.select_option("#network", "auto")
    page.select_option("#on-stones", "losses")
    page.click("#more")
    begin(page, size="7", colour="black", rank="5d")
    for number, vertex in enumerate(("A7", "A1", "G1", "G7", "A4"), 1):
        wait_for_status(page, "your turn")
        click(page, vertex, 7)
        expect(page.locator("#facts")).to_contain_text(re.compile(f"move {2 * number}$"))
    press(page, "#resign")
    page.click("#really-resign")
    expect(page.locator("#review-stage")).to_contain_text("mattered most")
    listed = page.locator("#mistakes > li > button").all_inner_texts()
    assert 1 <= len(listed) <= MISTAKES
    assert all(re.match(r"(\d*[13579], )*\d*[13579]\. Black ", each) for each in listed)
    page.locator("#mistakes > li > button").first.click()
    expect(page.locator("#drawing .labels text").first).to_have_text(re.compile(r"\u2212\d+"))
    page.locator("#mistakes button", has_text="Try again from here").click()
    wait_for_status(page, "your turn (Black)")
    expect(page.locator("#players")).to_contain_text("Engine, 5 dan")
    expect(page.locator("#reviewed")).to_be_hidden()
    press(page, "#back")
    expect(page.locator("#review-stage")).to_contain_text("mattered most")
    expect(page.locator("#mistakes [aria-current]")).to_have_count(1)
    expect(page.locator("#back")).to_be_hidden()


def test_what_is_clicked_in_vain_says_why(page: Any) -> None:
    page.evaluate(KEEP)
    begin(page, size="9", colour="both")
    click(page, "E5")
    expect(page.locator("#facts")).to_contain_text("move 1")
    press(page, "#resign")
    page.click("#really-resign")
    wait_for_status(page, "wins by resignation")
    click(page, "C3")
    expect(page.locator("#problem")).to_have_text("The game is over")
    page.evaluate("() => { window.WebSocket = class extends EventTarget { readyState = 3; }; socket.close(); }")
    expect(page.locator("#connection")).to_be_visible()
    press(page, "#undo")
    expect(page.locator("#problem")).to_have_text("This was not done: there is no connection to the program.")
