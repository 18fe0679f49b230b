"""My games, their reviews and what is given away, in Chromium."""

import re
from pathlib import Path
from typing import Any

import pytest
from peers.conftest import choose_language, expect, paste, press, wait_for_status
from reviews import own_review

from gtp_engine.base.languages.texts import LANGUAGES
from gtp_engine.engine.ranks import Rank
from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.stored_reviews import keep_review
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating

pytestmark = pytest.mark.peer


@pytest.fixture
def database(data: Path, tmp_path: Path) -> Database:
    """A game that was played and reviewed, and the rank after three."""
    database, review, rating = Database(data / "gtp_engine.db"), own_review(), first_rating(Rank(-11))
    (tmp_path / "mine.sgf").write_text(review.record.to_sgf())
    keep_review(database, review, is_lesson=False)
    for score in (1.0, 1.0, 0.0):
        rating = rating.after(Rank(-11), score)
        KeptRating(database).keep(rating)
    return database


def test_a_game_is_opened_with_its_review_and_the_review_is_shared(database: Database, page: Any) -> None:
    press(page, "#myGames")
    expect(page.locator("#rank-curve > svg")).to_be_visible()
    game = page.locator("#games button")
    expect(game).to_contain_text("engine, 12 kyu · White wins by 2.5 points")
    expect(game).to_contain_text("9 · reviewed")
    expect(game).to_contain_text(re.compile(r"\d, \d+:\d\d [AP]M$"))
    game.click()
    expect(page.locator("#mistakes li")).to_have_count(2)
    expect(page.locator("#summary")).to_contain_text("Points lost per move5.50")
    expect(page.locator("#summary")).to_contain_text("White · engine, 12 kyu")
    assert page.locator("#players .name").all_inner_texts() == ["You", "Engine, 12 kyu"]
    names = set()
    for kind in ("html", "sgf"):
        with page.expect_download() as download:
            press(page, f"#share a[href^='review.{kind}']")
        names.add(download.value.suggested_filename)
        text = Path(download.value.path()).read_text()
        assert "<svg" in text if kind == "html" else "better G7" in read_sgf(text.encode()).root.comment
    assert names == {f"Black - Engine, 12 kyu 2026-11-28.{kind}" for kind in ("html", "sgf")}


@pytest.mark.parametrize("width", [1280])
def test_beside_a_wide_board_the_links_of_a_review_stand_in_one_row(database: Database, page: Any) -> None:
    press(page, "#myGames")
    page.click("#games button")
    page.click("#more")
    expect(page.locator("#share")).to_be_visible()
    for language in LANGUAGES:
        choose_language(page, language)
        tops = "new Set([...document.querySelectorAll('#share a')].map((each) => each.offsetTop)).size"
        assert page.evaluate(tops) == 1, language


def test_what_costs_most_is_practised_and_given_away(database: Database, page: Any) -> None:
    press(page, "#myGames")
    every, kinds = page.locator("#lost-all button"), page.locator("#lost-kinds")
    expect(every).to_have_text(["All mistakes: 11.0 points"])
    expect(page.locator("#lost-phases > *")).to_have_count(0)  # 9x9 has no phases
    most = "Of the mistakes with a known reason, these cost you most: moves without value."
    expect(kinds.locator("p").first).to_have_text(most)
    assert kinds.locator("button").all_inner_texts() == ["Moves without value: 7.0 points", "Cuts: 4.0 points"]
    every.click()
    wait_for_status(page, "In the game F6 lost about 7")
    page.evaluate("document.querySelector('#myGames').click()")
    kinds.locator("button:has-text('cuts')").click()
    wait_for_status(page, "In the game E5 lost about 4")
    press(page, "#solution")
    page.evaluate("document.querySelector('#myGames').click()")
    with page.expect_download() as download:
        page.click("#my-games a[download]")
    assert "In the game E5 lost" in Path(download.value.path()).read_text()
    page.keyboard.press("Escape")
    expect(page.locator("#my-games")).to_be_hidden()


def test_without_games_the_page_says_so(page: Any) -> None:
    press(page, "#myGames")
    expect(page.locator("#my-games")).to_contain_text("You have not played or reviewed a game yet.")
    expect(page.locator("#my-games a[download]")).to_be_hidden()
    page.click("#my-games button")
    paste(page, "(;SZ[9];B[ee])")
    expect(page.locator("#share")).to_be_hidden()
