"""Playing in the browser, with the page of `gtp_engine web` in Chromium."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import (
    NO_MOVE,
    begin,
    both_screens,
    choose_language,
    click,
    expect,
    open_settings,
    paste,
    play_first_move,
    press,
    started,
    stones,
    wait_for_status,
)

from gtp_engine.go.sgf import read_sgf

pytestmark = pytest.mark.peer


def test_a_click_is_answered_and_undone(page: Any, tmp_path: Path) -> None:
    play_first_move(page)
    wait_for_status(page, "your turn")
    assert (stones(page, "black"), stones(page, "white")) == (1, 1)
    (file,) = tmp_path.glob("*.sgf")
    assert len(read_sgf(file).moves) == 2
    expect(page.locator("#file")).to_contain_text(file.name)
    click(page, "E5")
    expect(page.locator("#problem")).to_have_text("Illegal move: E5 is occupied")
    press(page, "#undo")
    expect(page.locator("#facts")).to_have_text(NO_MOVE)
    assert stones(page, "black") + stones(page, "white") == 0


def test_a_click_is_shown_before_the_server_answers(page: Any) -> None:
    page.evaluate("WebSocket.prototype.send = () => {}")
    click(page, "C3")
    assert page.locator("#overlay .ghost.sent").count() == 1


def test_a_click_counts_although_the_board_is_drawn_anew_meanwhile(page: Any) -> None:
    click(page, "E5", button_is_held=True)
    page.evaluate("document.querySelector('#overlay .ghost').id = 'old'; document.querySelector('#teach').click()")
    page.locator("#old").wait_for(state="detached")
    page.mouse.up()
    expect(page.locator("#facts")).to_contain_text("move 2")


def test_the_keyboard_is_enough(page: Any) -> None:
    page.locator("#board").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#announcement")).to_have_text("D6, empty")
    page.keyboard.press("Enter")
    expect(page.locator("#facts")).to_contain_text("move 2")
    wait_for_status(page, "your turn")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "undo"


def test_controls_have_names(page: Any) -> None:
    open_settings(page)
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, a, select, input, [role=application]")].filter((element) =>
           element.checkVisibility() &&  // others are named when they are shown
           !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length)
        ).map((element) => element.outerHTML)"""
    )
    assert unnamed == []


def test_a_hint_shows_candidates_with_their_lines_and_the_score_ownership(page: Any) -> None:
    press(page, "#hint")
    button = page.locator("#candidates tbody button").first
    button.wait_for()
    before = page.locator("#drawing svg").inner_html()
    button.focus()
    page.wait_for_function("before => document.querySelector('#drawing svg').innerHTML !== before", arg=before)
    assert page.locator("#drawing .labels text").count() > 0
    press(page, "#score")
    page.locator("#drawing .ownership rect").first.wait_for(state="attached")
    expect(page.locator("#opinion")).to_contain_text("Estimate")


def test_an_analysis_is_live_and_can_be_stopped(page: Any) -> None:
    play_first_move(page)
    press(page, "#analyse")
    page.locator("#candidates tbody button").first.wait_for()
    assert page.get_attribute("#analyse", "aria-pressed") == "true"
    assert page.locator("#drawing .candidates circle").count() > 0
    page.locator("#graph .winrate").wait_for(state="attached")
    open_settings(page)
    page.select_option("#layer", "ownership")
    page.locator("#drawing .ownership rect").first.wait_for()
    page.select_option("#layer", "policy")
    page.locator("#drawing .candidates circle").first.wait_for()
    press(page, "#analyse")
    expect(page.locator("#candidates")).to_be_hidden()


def test_what_the_engine_thinks_in_a_game_is_shown_only_on_request_and_after_it(page: Any) -> None:
    def is_visible() -> list[bool]:
        return [page.locator(name).is_visible() for name in ("#report", "#curve")]

    play_first_move(page)
    wait_for_status(page, "your turn")
    click(page, "A1")  # where the engine has not just played
    expect(page.locator("#facts")).to_contain_text("move 4")
    assert is_visible() == [False, False]
    open_settings(page)
    page.check("#opinions")
    assert is_visible() == [True, True]
    expect(page.locator("#opinion")).to_contain_text("The engine's opinion")
    page.reload()
    page.locator("#report").wait_for()
    open_settings(page)
    page.uncheck("#opinions")
    assert is_visible() == [False, False]
    press(page, "#resign")
    page.click("#really-resign")
    wait_for_status(page, "White wins")
    assert is_visible() == [True, True]


def test_stepping_through_the_game(page: Any) -> None:
    play_first_move(page)
    wait_for_status(page, "your turn")
    page.locator("#place").press("ArrowLeft")  # the slider
    wait_for_status(page, "Position after move 1 of 2")
    page.click("#previous")
    wait_for_status(page, "Before the first move")
    page.click("#next")
    wait_for_status(page, "Position after move 1 of 2")
    assert (stones(page, "black"), stones(page, "white")) == (1, 0)
    first = "Before the first move"
    for key, said in (("ArrowLeft", first), ("ArrowRight", "Position after move 1 of 2"), ("Home", first)):
        page.keyboard.press(key)
        wait_for_status(page, said)
    page.keyboard.press("End")
    wait_for_status(page, "your turn")
    click(page, "A1")  # the keys step after a click on the board too
    expect(page.locator("#facts")).to_contain_text("move 4")
    page.keyboard.press("ArrowLeft")
    wait_for_status(page, "Position after move 3 of 4")


def test_keys_that_step_through_the_game_do_not_scroll_the_page(page: Any) -> None:
    press = """selector => document.querySelector(selector).dispatchEvent(
        new KeyboardEvent("keydown", {key: "End", bubbles: true, cancelable: true}))"""
    assert page.evaluate(press, "#board") is False and page.evaluate(press, "#analyse") is False
    assert page.evaluate(press, "#comment-text") is True


def test_home_and_end_step_from_the_board_whose_cursor_the_arrow_keys_move(page: Any) -> None:
    play_first_move(page)
    wait_for_status(page, "your turn")
    page.locator("#undo").focus()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "board"
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#announcement")).to_contain_text("D5, ")
    wait_for_status(page, "your turn")
    page.keyboard.press("Home")
    wait_for_status(page, "Before the first move")
    page.keyboard.press("End")
    wait_for_status(page, "your turn")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#announcement")).to_contain_text("D6, ")


def test_another_network_and_marked_mistakes(page: Any) -> None:
    open_settings(page)
    page.select_option("#network", "auto")
    page.check("#teach")
    play_first_move(page)
    wait_for_status(page, "your turn")
    page.select_option("#network", "none")
    expect(page.locator("#network")).to_have_value("none")


RECORD = "(;GM[1]SZ[9]KM[5.5]C[the start];B[ee];W[cc]C[well played];B[gc])"


def test_a_record_is_opened_by_drag_and_drop(page: Any) -> None:
    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "game.sgf"));
        document.querySelector("#board").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
    }"""
    page.evaluate(drop, RECORD)
    expect(page.locator("#facts")).to_contain_text("komi 5.5")
    page.locator("body").press("End")
    expect(page.locator("#facts")).to_contain_text("move 3")
    assert (stones(page, "black"), stones(page, "white")) == (2, 1)
    page.click("#previous")
    expect(page.locator("#comment")).to_have_text("well played")
    expect(page.locator("#facts")).to_contain_text("move 2")
    page.evaluate(drop, "(;SZ[9]RU[XY];B[ee])")
    told = "Unknown rules 'XY': judged by Chinese rules; the record has no komi: it is taken as 0"
    expect(page.locator("#notice")).to_have_text(told)


def test_what_cannot_be_opened_is_one_clear_line(page: Any, tmp_path: Path) -> None:
    def refused(problem: str) -> None:
        page.click("#open-now")
        expect(page.locator("#open-problem")).to_contain_text(problem)
        expect(page.locator("#problem")).to_be_hidden()

    press(page, "#open")
    for size, problem in ((1 << 20, ": no game record found"), ((2 << 20) + 1, "is too large for a game record")):
        page.set_input_files("#open-file", {"name": "game.sgf", "mimeType": "", "buffer": b"\xff" * size})
        refused(problem)
    path = tmp_path / "gone.sgf"
    path.write_text(RECORD)
    page.set_input_files("#open-file", path)
    path.unlink()
    refused("\u2068gone.sgf\u2069 cannot be read: choose a file that exists and that you may read, not a folder")
    page.fill("#open-text", f"(;GM[1]C[{'x' * (2 << 20)}])")
    refused("The pasted text is too large for a game record")
    page.fill("#open-text", "hello")
    refused("no game record found")
    expect(page.locator("#connection")).to_be_hidden()
    page.fill("#open-text", RECORD)
    page.click("#open-now")
    expect(page.locator("#open-dialog")).to_be_hidden()
    expect(page.locator("#facts")).to_contain_text("komi 5.5")


def test_the_dialog_stays_open_until_there_is_something_to_open(page: Any) -> None:
    problem = page.locator("#open-problem")
    for pasted in ("", " "):
        press(page, "#open")
        expect(problem).to_be_hidden()
        page.fill("#open-text", pasted)
        page.click("#open-now")
        expect(problem).to_have_text("There is nothing to open: choose a file or paste a record")
        expect(problem).to_be_visible()
        page.click("#open-dialog .cancel")
    paste(page, RECORD)
    expect(page.locator("#facts")).to_contain_text("komi 5.5")
    expect(page.locator("#open-dialog")).to_be_hidden()


def test_only_files_that_are_dragged_are_taken(page: Any) -> None:
    drag = """kind => {
        const data = new DataTransfer();
        if (kind === "text") data.setData("text/plain", "some text");
        else data.items.add(new File(["(;GM[1]SZ[9])"], "game.sgf"));
        const options = {dataTransfer: data, bubbles: true, cancelable: true};
        return ["dragover", "drop"].map((type) => document.body.dispatchEvent(new DragEvent(type, options)));
    }"""
    assert page.evaluate(drag, "text") == [True, True]  # the browser does what it does with text
    assert page.evaluate(drag, "file") == [False, False]


def test_a_record_is_pasted_and_played_on(page: Any) -> None:
    paste(page, RECORD)
    wait_for_status(page, "Before the first move")
    page.locator("body").press("End")
    wait_for_status(page, "White to move")
    page.click("#previous")
    wait_for_status(page, "Position after move 2 of 3")
    press(page, "#branch")
    dialog = page.locator("#new-dialog")
    expect(dialog.locator("h2")).to_have_text("Play from here", use_inner_text=True)
    expect(dialog.locator("[name=colour]")).to_have_value("black")
    assert [dialog.locator(f"[name={name}]").is_visible() for name in ("rank", "time", "size", "komi")] == [
        True,
        True,
        False,
        False,
    ]
    dialog.locator("[name=rank]").select_option("20k")
    page.click("#new-dialog [type=submit]")
    wait_for_status(page, "your turn (Black)")
    expect(page.locator("#players")).to_contain_text("Engine, 20 kyu")
    click(page, "G3")
    expect(page.locator("#facts")).to_contain_text("move 4")


@pytest.mark.parametrize("language", ["es", "zh", "ar"])
def test_other_languages(page: Any, language: str) -> None:
    play_first_move(page)
    choose_language(page, language)
    page.wait_for_function("code => document.documentElement.lang === code", arg=language)
    assert page.get_attribute("html", "dir") == ("rtl" if language == "ar" else "ltr")
    press(page, "#analyse")
    page.locator("#candidates tbody button").first.wait_for()
    page.reload()
    page.wait_for_function("code => document.documentElement.lang === code", arg=language)
    page.locator("#drawing .black circle").first.wait_for()  # the game is shown, and with it the buttons of its face
    press(page, "#analyse")
    click(page, "E5")
    refused = {"es": "E5 está ocupado", "zh": "E5 已有棋子", "ar": "\u2068E5\u2069 مشغولة"}
    expect(page.locator("#problem")).to_contain_text(refused[language])


def test_a_new_game(page: Any) -> None:
    begin(page, size="13", colour="both", handicap="4", rules="japanese", seconds="1")
    expect(page.locator("#facts")).to_have_text("Japanese rules, komi 0.5 · Handicap stones: 4")
    assert stones(page, "black") == 4
    wait_for_status(page, "White to move")


def test_boards_of_other_sizes(page: Any) -> None:
    begin(page, size="5", colour="both")
    expect(page.locator("#board")).to_have_attribute("aria-label", re.compile("5 . 5"))
    paste(page, "(;GM[1]SZ[7:5];B[aa])")
    expect(page.locator("#board")).to_have_attribute("aria-label", re.compile("7 . 5"))
    press(page, "#branch")
    page.click("#new-dialog [type=submit]")  # against the engine, so that the next dialog begins with this board
    wait_for_status(page, "your turn")
    press(page, "#new")
    expect(page.locator("#new-dialog [name=size]")).to_have_value("7x5")


@both_screens
def test_a_pass_does_not_squeeze_the_name_of_its_player(page: Any) -> None:
    paste(page, "(;GM[1]SZ[9]PB[Ann]PW[engine of a long name];B[ee];W[])")
    name, mark = page.locator("[data-colour=white] .name"), page.locator("[data-colour=white] .passed")
    expect(name).to_contain_text("engine of a long name")
    page.locator("body").press("End")
    expect(mark).to_be_visible()
    beside = name.evaluate("element => element.offsetHeight")
    page.click("#previous")
    expect(mark).to_be_hidden()
    assert name.evaluate("element => element.offsetHeight") == beside


def test_nobody_is_asked_to_pass_too_in_a_record(page: Any) -> None:
    paste(page, "(;GM[1]SZ[9];B[ee];W[])")
    wait_for_status(page, "Before the first move")
    page.locator("body").press("End")
    expect(page.locator("#status")).to_have_text("Black to move")
    expect(page.locator("#announcement")).to_have_text("White passes. Black to move")


def test_two_people_finish_a_game(page: Any) -> None:
    begin(page, size="9", colour="both")
    wait_for_status(page, "Black to move")
    for number, vertex in enumerate(("C5", "G5"), 1):
        click(page, vertex)
        expect(page.locator("#facts")).to_contain_text(f"move {number}")
    press(page, "#pass")
    wait_for_status(page, "Black passed. Pass too to end the game and count it.")
    assert [mark.is_visible() for mark in page.locator(".player .passed").all()] == [True, False]
    press(page, "#pass")
    wait_for_status(page, "wins by")
    before = page.inner_text("#status")
    expect(page.locator("#sums")).to_have_text(re.compile(r"Black \d+, White \d+ \+ 7"))
    expect(page.locator("#count-help")).to_contain_text("No stones count as dead.")
    expect(page.locator("#board-help")).to_be_hidden()
    click(page, "G5")
    page.wait_for_function("before => document.querySelector('#status').innerText !== before", arg=before)
    expect(page.locator("#count-help")).to_contain_text("Stones with a square")
    page.click("text=How would they be captured?")
    expect(page.locator("#captures li").first).to_have_text(re.compile(r"^[A-J]\d: "))
    press(page, "#undo")
    expect(page.locator("#sums")).to_be_hidden()
    expect(page.locator("#board-help")).to_contain_text("Click a point to play there.")


def test_who_runs_out_of_time_loses(page: Any, tmp_path: Path) -> None:
    open_settings(page)
    page.check("#sound")
    begin(page, size="9", colour="both", time="absolute", minutes="0.1")
    white = page.locator("[data-colour=white] .clock")
    expect(white).to_have_text("0:06")
    click(page, "E5")
    expect(page.locator("#facts")).to_contain_text("move 1")
    assert page.get_attribute("[data-colour=white] .clock", "role") == "timer"
    expect(white).to_have_attribute("aria-label", re.compile(r"White: 0:0[1-5] left"))
    expect(page.locator("#last-seconds")).to_have_text(re.compile("[56] seconds left"))
    wait_for_status(page, "Black wins on time")
    expect(white).to_have_text("0:00")
    assert int(page.get_attribute("html", "data-knocks")) >= 5  # the stone, and seconds that are heard
    (file,) = tmp_path.glob("*.sgf")
    assert read_sgf(file).result == "B+T"
    press(page, "#undo")
    wait_for_status(page, "White to move")


def test_byo_yomi_is_counted_and_stands_while_the_game_is_studied(page: Any) -> None:
    press(page, "#new")
    for time, shown in (("none", 1), ("absolute", 1), ("byoyomi", 3), ("canadian", 3), ("fischer", 2)):
        page.select_option("#new-dialog [name=time]", time)
        expect(page.locator("#new-dialog [data-systems]:visible")).to_have_count(shown)
    page.keyboard.press("Escape")
    begin(page, size="9", rank="20k", time="byoyomi", minutes="0", period="300", periods="3")
    black = page.locator("[data-colour=black] .clock")
    expect(black).to_have_text("5:00 (3)")
    play_first_move(page)
    expect(black).to_have_text(re.compile(r"4:5[0-8] \(3\)"))
    expect(black).to_have_attribute("aria-label", re.compile("Black: 4:5[0-8] left · 3 periods left"))
    click(page, "J1")  # a weak opponent never plays on the empty edge, so it is free
    expect(page.locator("#facts")).to_contain_text("move 4")
    page.locator("body").press("ArrowLeft")
    wait_for_status(page, "Position after move 3")
    before = black.inner_text()
    page.wait_for_timeout(1500)
    assert black.inner_text() == before
    page.click("#next")
    expect(black).not_to_have_text(before)


def test_resigning_asks_back(page: Any) -> None:
    play_first_move(page)
    press(page, "#resign")
    page.keyboard.press("Enter")
    expect(page.locator("#resign-dialog")).to_be_hidden()
    wait_for_status(page, "your turn")
    press(page, "#resign")
    page.click("#really-resign")
    wait_for_status(page, "White wins by resignation")


def test_a_game_is_shown_by_all_tabs_downloaded_and_resumed(page: Any) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("#drawing svg")
    play_first_move(page)
    expect(other.locator("#facts")).to_contain_text("move 2")
    other.close()
    page.reload()
    expect(page.locator("#facts")).to_contain_text("move 2")
    assert "key=" not in page.url
    with page.expect_download() as download:
        press(page, "#save")
    assert Path(download.value.path()).read_text().startswith("(;")
    begin(page, size="9", colour="black")
    expect(page.locator("#facts")).to_have_text(NO_MOVE)
    press(page, "#myGames")
    game = page.locator("#games button").first
    expect(game).to_contain_text(re.compile("^engine, full strength · unfinished9 . 9 · After move 2 · "))
    colours = "button => [button, button.querySelector('small')].map((each) => getComputedStyle(each).color)"
    assert len({*game.evaluate(colours)}) == 1, "both lines of a row of another colour are read"
    game.click()
    expect(page.locator("#facts")).to_contain_text("move 2")


def test_a_refusal_stays_while_an_analysis_runs(page: Any) -> None:
    play_first_move(page)
    press(page, "#analyse")
    expect(page.locator("#opinion")).to_contain_text("Analysis")
    page.locator("#board").focus()
    page.keyboard.press("Enter")  # the cursor is where the last click was
    expect(page.locator("#problem")).to_contain_text("E5 is occupied")
    page.wait_for_timeout(700)  # some reports
    expect(page.locator("#problem")).to_be_visible()
    press(page, "#undo")
    expect(page.locator("#facts")).to_have_text(NO_MOVE)
    expect(page.locator("#problem")).to_be_hidden()


def test_a_page_goes_on_after_a_restart_unless_the_program_does_not_know_it(
    chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    @contextmanager
    def program() -> Iterator[str]:
        options = ["--visits", "4", "--sgf-dir", str(tmp_path / "games"), "--port", port, "--resume"]
        with started(*(options if any(tmp_path.glob("games/*")) else options[:-1])) as address:
            yield address

    page = chromium.new_context().new_page()
    lost = page.locator("#connection")
    with program() as address:
        page.goto(address)
        play_first_move(page)
    expect(lost).to_contain_text("no connection")
    with program() as other:
        assert other != address
        expect(lost).to_be_hidden()
        click(page, "A1")
        expect(page.locator("#facts")).to_contain_text("move 4")
        page.reload()
        expect(page.locator("#facts")).to_contain_text("move 4")
    (tmp_path / "page-cookies").unlink()
    with program():
        expect(lost).to_contain_text("does not know this page")
    page.context.close()
