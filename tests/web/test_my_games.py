"""The user's games on the page: listed, opened with their reviews, practised, and given away."""

import re
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from reviews import own_review
from web.conftest import RECORD, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.clients.web.sharing import Sharing
from gtp_engine.engine.ranks import Rank
from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.stored_reviews import keep_review
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating


@pytest.fixture
def database(data: Path) -> Database:
    return Database(data / "gtp_engine.db")


def games(desk: Desk) -> dict[str, Any]:
    found = desk.send("games")
    assert found is not None
    return found


def sharing(desk: Desk) -> Sharing:
    (part,) = (part for part in desk.session.parts if isinstance(part, Sharing))
    return part


def test_a_finished_game_is_opened_with_its_review(desk: Desk, database: Database, tmp_path: Path) -> None:
    assert games(desk) | {"games": [], "curve": None, "problem": ""} == games(desk)
    review = own_review()
    (tmp_path / "mine.sgf").write_text(review.record.to_sgf())
    keep_review(database, review, is_lesson=False)
    found = games(desk)
    (game,) = found["games"]
    assert (game["name"], game["own"], game["opponent"], game["review"]) == ("mine", "black", "12k", "review")
    assert game["result"] == {"winner": "white", "by": "points", "points": 2.5} and not game["isUnfinished"]
    assert (found["losses"]["games"], found["losses"]["points"], found["losses"]["phases"]) == (1, 11.0, [])
    assert found["losses"]["kinds"] == [("wasted", 7.0, 1), ("cut", 4.0, 1)]
    desk.send("resume", game="mine")
    desk.wait(lambda: desk.state["review"] is not None)
    shown = desk.state["review"]
    assert shown["stage"] == "done" and [each["move"] for each in shown["mistakes"]] == ["F6", "E5"]
    assert desk.state["isRecord"] and desk.state["place"] == 0 and len(desk.state["curve"]) == 4
    black, white = shown["players"]
    assert (black["colour"], black["moves"], black["lost"]) == ("black", 2, 5.5)
    engine = {"name": "engineAt", "values": {"rank": {"name": "kyu", "values": {"number": 12}}}}
    names = {"black": {"name": "you", "values": {}}, "white": engine}
    assert {"black": black["name"], "white": white["name"]} == names == desk.state["names"]
    assert desk.state["ranks"] == {}
    assert black["phases"] == {}, "9x9 has no phases"
    desk.send("go", node=shown["mistakes"][0]["node"])
    assert desk.state["kept"] is False
    desk.send("keep")
    assert desk.state["coming"]["due"] == 1


def test_the_game_on_the_page_is_listed_when_it_is_over(desk: Desk) -> None:
    desk.play_and_wait("C3")
    assert games(desk)["games"] == []
    desk.send("resign")
    (game,) = games(desk)["games"]
    assert game["name"] == desk.saved().stem and game["result"]["winner"] == "white"


def test_a_review_that_has_ended_is_kept_and_shown_again(desk: Desk) -> None:
    desk.send("open", sgf=RECORD)
    desk.send("review", visits=4)
    desk.wait(lambda: desk.state["review"]["stage"] == "done")
    before = desk.state["review"]
    desk.session.tell("close")  # which waits until it is kept
    desk.send("open", sgf="(;SZ[9];B[ee])")
    assert desk.state["review"] is None
    (game,) = games(desk)["games"]
    assert (game["name"], game["players"], game["own"], game["review"]) == ("", ("Ann", "Ben"), None, "review")
    assert games(desk)["losses"]["games"] == 0  # nobody's here
    desk.send("reopen", key=game["key"])
    desk.wait(lambda: desk.state["review"] is not None)
    again = desk.state["review"]
    assert again["players"] == before["players"] and len(again["mistakes"]) == len(before["mistakes"])
    desk.send("go", move=1)
    desk.play("D4")
    desk.send("review", visits=4)
    desk.wait(lambda: desk.state["review"]["stage"] == "done")
    desk.refuse("no reviewed game 'x'", "reopen", key="x")


def test_a_review_that_cannot_be_kept_is_told(desk: Desk, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(_: str, work: Callable[[], Any]) -> Future[Any]:  # the desk compares what was sent with what is known
        done = Future[Any]()
        done.set_result(work())
        return done

    monkeypatch.setattr("gtp_engine.clients.web.reviewing.in_background", at_once)
    data.write_text("a file instead of a folder")
    desk.send("open", sgf=RECORD)
    desk.send("review", visits=4)
    desk.wait(lambda: desk.state["problem"])
    assert desk.state["problem"].startswith("results and reviews are not saved: ")
    assert desk.state["review"]["stage"] == "done" and len(games(desk)["games"]) == 1  # for now
    desk.play("D4")  # the game goes on


@pytest.mark.usefixtures("phases_on_9x9")
def test_the_losses_of_the_phases_are_told(desk: Desk, database: Database) -> None:
    keep_review(database, own_review(), is_lesson=False)
    (game,) = (found := games(desk))["games"]
    assert found["losses"]["phases"] == [("OPENING", "phase.opening", 11.0)]
    desk.send("reopen", key=game["key"])
    desk.wait(lambda: desk.state["review"] is not None)
    black, _ = desk.state["review"]["players"]
    assert black["phases"] == {"phase.opening": 5.5, "phase.middleGame": None, "phase.endgame": None}


def test_what_costs_points_is_practised(desk: Desk, database: Database) -> None:
    desk.refuse("there are no such mistakes", "drill", phase="OPENING", about="")
    keep_review(database, own_review(), is_lesson=False)
    desk.send("drill", phase="", about="")
    assert desk.state["problems"] == {"place": 0, "count": 2}
    exercise = desk.state["exercise"]
    assert exercise["missed"] == {"move": "F6", "points": 7}
    assert exercise["game"] == {"day": "2026-11-28", "number": 3}
    desk.send("solution")
    assert desk.state["exercise"]["result"] is False and desk.state["exercise"]["due"]  # it comes again
    desk.send("drill", phase="", about="cut")
    assert desk.state["problems"]["count"] == 1 and desk.state["exercise"]["missed"]["move"] == "E5"


def test_the_rank_after_each_game_is_drawn(desk: Desk, database: Database) -> None:
    kept = KeptRating(database)
    rating = first_rating(Rank(-11))
    for score in (1.0, 1.0, 0.0):
        rating = rating.after(Rank(-11), score)
        kept.keep(rating)
    curve = games(desk)["curve"]
    assert curve.startswith("<svg") and curve.count("L") == 2
    assert re.findall(r">(\w+)</text>", curve) == ["11k", "10k"]


def test_the_review_is_given_away_as_files(desk: Desk, database: Database) -> None:
    shared = sharing(desk)
    for kind, problem in (("review.html", "no finished review"), ("problems.sgf", "no problems are kept")):
        with pytest.raises(UserError, match=problem):
            shared.file(kind)
    review = own_review(black="Ann/Eva")
    keep_review(database, review, is_lesson=False)
    desk.send("open", sgf=review.record.to_sgf())
    desk.wait(lambda: desk.state["review"] is not None)
    page, record = shared.file("review.html", "es"), shared.file("review.sgf", "xx")
    assert page.name == "Ann-Eva - gtp_engine 12k 2026-11-28.html" and 'lang="es"' in page.content()
    assert record.name == "Ann-Eva - gtp_engine 12k 2026-11-28.sgf"
    root = read_sgf(record.content().encode()).root
    assert "F6, better G7 (7.0 points" in root.comment
    desk.refuse("there are no such mistakes", "drill", phase="", about="")  # of the user's own


def test_the_name_of_a_file_calls_the_players_as_pages_do(desk: Desk, database: Database) -> None:
    keep_review(database, own_review(), is_lesson=False)
    desk.send("open", sgf=own_review().record.to_sgf())
    desk.wait(lambda: desk.state["review"] is not None)
    names = {language: sharing(desk).file("review.sgf", language).name for language in ("en", "ar")}
    assert names["en"] == "Black - Engine, 12 kyu 2026-11-28.sgf"
    assert names["ar"] == "الأسود - المحرك، 12 كيو 2026-11-28.sgf"  # without marks of direction


def test_kept_problems_are_given_away(desk: Desk, database: Database) -> None:
    keep_review(database, own_review(), is_lesson=False)
    desk.send("drill", phase="", about="cut")
    assert not games(desk)["hasProblems"]  # a mistake that was only practised is not kept
    desk.send("solution")
    assert games(desk)["hasProblems"]
    text = sharing(desk).file("problems.sgf", "en").content()
    record = read_sgf(text.encode())
    assert record.root.comment == "Black to move · In the game E5 lost about 4 points: play better."
    assert [len(node.path) for node in record.root.children] == [2, 2]
