"""Problems in the browser: solved by proof, failed and repeated, in Chromium."""

from pathlib import Path
from typing import Any

import pytest
from peers.conftest import click, expect, paste, press, wait_for_status

from gtp_engine.study.kept_problems import Card, Missed
from gtp_engine.study.problem_sgf import collection
from gtp_engine.table.database import Change, Database

pytestmark = pytest.mark.peer

STONES = "SZ[9]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]"


def test_a_problem_is_failed_and_comes_again(page: Any, tmp_path: Path, data: Path) -> None:
    file = tmp_path / "corner.sgf"
    file.write_text(f"(;{STONES})(;{STONES}PL[W])")
    press(page, "#open")
    page.set_input_files("#open-file", [str(file)])
    page.click("#open-now")
    wait_for_status(page, "Black to move · Kill the group at D9.")
    expect(page.locator("#practise")).to_be_hidden()
    click(page, "C9")
    wait_for_status(page, "C9 does not work: the group lives.")
    expect(page.locator("#verdict")).to_contain_text("Black to move · Kill the group at D9.")  # what is sought stays
    expect(page.locator("#verdict")).to_contain_text("Again tomorrow.")
    expect(page.locator("#actions .primary")).to_have_id("problem-again")
    expect(page.locator("#announcement")).to_contain_text("White plays B9")
    press(page, "#undo")
    expect(page.locator("#drawing .black circle")).to_have_count(7)
    press(page, "#solution")
    expect(page.locator("#life-moves")).to_contain_text("B9: dies")
    expect(page.locator("#actions .primary")).to_have_id("problem-after")
    page.locator("#problem-after").press("Enter")
    wait_for_status(page, "White to move · Save the group at D9.")
    expect(page.locator("#heading")).to_have_text("\u2068corner 2\u2069")
    expect(page.locator("#problem-after")).to_be_hidden()
    expect(page.locator("#practise")).to_be_hidden()  # nothing is due before tomorrow
    Database(data / "gtp_engine.db").change(Change("UPDATE problems SET due = '2026-01-01'"))
    press(page, "#problem-before")
    expect(page.locator("#practise")).to_have_text("Problems due today: 1")
    press(page, "#practise")
    expect(page.locator("#problem-count")).to_have_text("of 1")
    wait_for_status(page, "Kill the group")
    for key in ("ArrowLeft", "Enter"):  # from C9
        page.locator("#board").press(key)
    wait_for_status(page, "Right! The group dies.")
    expect(page.locator("#verdict")).to_contain_text("Again in 2 days.")


def test_a_problem_that_was_pasted_is_called_by_its_number_and_says_its_task_once(page: Any) -> None:
    card = Card("", "(;SZ[7]AB[cc]AW[ee];B[ce];W[ec])", Missed("A7", 2.5, ("D4",)))
    paste(page, collection([card], "en"))
    wait_for_status(page, "Black to move · In the game A7 lost about 3 points: play better.")
    expect(page.locator("#heading")).to_have_text("Problem 1")
    expect(page.locator("#comment")).to_be_hidden()
    expect(page.locator("#problem-again")).to_be_hidden()  # nothing has been tried


@pytest.mark.parametrize(
    ("points", "is_right", "said"),
    [(0, True, "Right!"), (1, True, "Playable, but G3 is better."), (7, False, "Not yet: H5 loses about 7 points.")],
)
def test_an_answer_is_right_only_if_it_loses_less_than_a_mistake(
    page: Any, points: int, is_right: bool, said: str
) -> None:
    verdict = {"move": "H5", "by": "search", "isRight": is_right, "points": points, "best": "G3"}
    told = "async (verdict) => (await import('./problems.js')).problemText({verdict})"
    assert page.evaluate(told, verdict) == said
