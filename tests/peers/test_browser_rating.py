"""The question before a game stops counting for the rank, in Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import (
    NO_MOVE,
    begin,
    click,
    expect,
    open_settings,
    opened,
    play_first_move,
    press,
    started,
    wait_for_status,
)

pytestmark = [pytest.mark.peer, pytest.mark.slow]  # the program searches with a network


@pytest.fixture
def asked(chromium: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A page on a phone that asks a new user how strong they are."""
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    with started("--network", "auto", "--sgf-dir", str(tmp_path / "games")) as address:
        context = chromium.new_context(viewport={"width": 360, "height": 740})
        with opened(context, address) as page:
            expect(page.locator("#strength-dialog [name=rank]")).to_have_value("")
            yield page


@pytest.fixture
def rated(asked: Any) -> Any:
    """A page with a game that counts after its first moves."""
    asked.click("#strength-dialog [type=submit]")  # which the browser refuses without an answer
    expect(asked.locator("#strength-dialog")).to_be_visible()
    asked.select_option("#strength-dialog [name=rank]", "15k")
    asked.click("#strength-dialog [type=submit]")
    expect(asked.locator("#strength-dialog")).to_be_hidden()
    wait_for_status(asked, "your turn")  # in the game against an opponent of that rank
    click(asked, "E5")
    expect(asked.locator("#facts")).to_contain_text("move 2")
    wait_for_status(asked, "your turn")
    return asked


def test_who_is_asked_for_a_rank_can_choose_the_language_first(asked: Any) -> None:
    dialog = asked.locator("#strength-dialog")
    expect(dialog.locator("[name=rank]")).to_be_focused()
    expect(dialog.locator("[name=language]")).to_have_value("en")
    dialog.locator("[name=rank]").select_option("15k")
    dialog.locator("[name=language]").select_option("es")
    expect(asked.locator("#strength-title")).to_have_text("¿Qué nivel tienes?")
    expect(dialog.locator("[name=rank]")).to_have_value("15k")
    asked.click("#strength-dialog [type=submit]")
    asked.click("#more")
    expect(asked.locator("#language")).to_have_value("es")
    asked.reload()
    expect(asked.locator("html")).to_have_attribute("lang", "es")
    expect(dialog).to_be_hidden()


def test_a_game_that_counts_is_ended_only_after_a_question(rated: Any) -> None:
    question, note = rated.locator("#counting-dialog"), rated.locator("#rank-note")
    open_settings(rated)
    for asked in ("#hint", "#undo", "#analyse", "#teach"):
        press(rated, asked)
        expect(question).to_be_visible()
        rated.keyboard.press("Enter")  # the focus is on the answer that changes nothing
        expect(question).to_be_hidden()
    expect(note).to_have_text("The engine's rank follows your results.")
    expect(rated.locator("#teach")).not_to_be_checked()
    expect(rated.locator("#facts")).to_contain_text("move 2")
    press(rated, "#undo")
    rated.click("#end-counting")
    expect(rated.locator("#facts")).to_have_text(NO_MOVE)
    expect(note).to_contain_text("This game does not count for your rank: the engine helped")
    press(rated, "#score")  # nothing is asked twice
    expect(rated.locator("#opinion")).to_contain_text("Estimate")
    expect(question).to_be_hidden()


def test_the_question_closes_when_another_page_answers_it(rated: Any) -> None:
    question = rated.locator("#counting-dialog")
    press(rated, "#hint")
    expect(question).to_be_visible()
    other = rated.context.new_page()
    other.goto(rated.url)
    press(other, "#undo")
    other.click("#end-counting")
    expect(question).to_be_hidden()
    expect(rated.locator("#facts")).to_have_text(NO_MOVE)


def test_the_end_of_a_game_at_a_chosen_rank_says_why_it_does_not_count(rated: Any) -> None:
    begin(rated, size="9", rank="15k")
    expect(rated.locator("#facts")).to_have_text(NO_MOVE)  # of the new game: the one before had moves
    play_first_move(rated)
    expect(rated.locator("#rank-note")).to_be_hidden()
    press(rated, "#resign")
    rated.click("#really-resign")
    why = (
        "This game does not count for your rank: only games against the rank “by your results” do, from the start and "
        "with its handicap and komi."
    )
    expect(rated.locator("#rank-note")).to_have_text(why)
