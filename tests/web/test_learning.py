"""The first steps on the page: what it may ask for, and what it sees."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.conftest import NEW, Desk

from gtp_engine.clients.web.server import new_session
from gtp_engine.engine.engine import Decision, Engine
from gtp_engine.engine.ranks import WEAKEST, parse_rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import WHITE
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating
from gtp_engine.table.saved_games import open_game


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def at_nine(tmp_path: Path) -> Iterator[Desk]:
    """A first game, which asks for the person's rank."""
    with Engine(EngineSettings(threads=1, visits=2, resign=False, seed=1), width=9) as engine:
        engine.ready.result()
        desk = Desk(engine, tmp_path, rating=KeptRating(Database()))
        desk.wait()
        yield desk


def step(desk: Desk) -> dict[str, Any]:
    found: dict[str, Any] = desk.state["step"]
    return found


def test_who_has_never_played_begins_with_the_first_step(at_nine: Desk) -> None:
    at_nine.send("strength", rank="never")
    assert KeptRating(Database()).rating == first_rating(WEAKEST)
    assert at_nine.state["rank"] == str(WEAKEST) and at_nine.state["rating"]["counts"]
    assert (step(at_nine)["number"], step(at_nine)["said"], step(at_nine)["width"]) == (0, "task", 5)


def test_who_knows_the_rules_begins_against_25k(at_nine: Desk) -> None:
    at_nine.send("strength", rank="rules")
    assert KeptRating(Database()).rating == first_rating(parse_rank("25k"))
    assert at_nine.state["rank"] == "25k" and step(at_nine) is None


def test_the_opponent_answers_though_something_is_analysed(desk: Desk) -> None:
    desk.play_and_wait("C3")
    desk.send("analyse", visits=1_000_000)
    assert desk.state["task"]["kind"] == "analysis"
    desk.send("first-steps")
    assert desk.state["task"] is None and desk.state["analysisVisits"] is None
    desk.send("leave-steps")
    assert desk.state["task"] is None


def test_the_boards_are_played_beside_the_game(desk: Desk) -> None:
    desk.play_and_wait("C3")
    moves = desk.vertices
    desk.send("first-steps")
    assert desk.session.now()["clock"]["running"] is None
    assert step(desk)["texts"]["ja"]["title"] == "呼吸点と石を取ること"
    desk.send("step-play", point="A1")
    assert (step(desk)["state"], step(desk)["said"], step(desk)["canUndo"]) == ("wrong", "wrong", True)
    desk.send("step-again")
    desk.send("step-hint")
    assert step(desk)["remarks"] == [{"name": "steps.try", "values": {"move": "D3"}}]
    desk.send("step-play", point="D3")
    assert step(desk)["state"] == "right" and step(desk)["stones"][2] == ".X.X."
    desk.send("step", number=1)
    assert step(desk)["drawn"]["labels"] == {"B5": "A", "G4": "B"}
    assert sorted(step(desk)["drawn"]["marks"]) == ["F3", "F4", "F5", "G3", "G5"]
    desk.send("step", number=4)
    for point in ("D4", "pass"):
        desk.send("step-play", point=point)
    assert sum(step(desk)["drawn"]["ownership"]) == 3
    desk.refuse("number", "step", number=8)
    desk.send("leave-steps")
    assert step(desk) is None and desk.vertices == moves
    desk.send("first-steps")
    assert step(desk)["number"] == 4


def test_a_game_that_the_first_capture_ends(desk: Desk) -> None:
    desk.send("first-steps")
    desk.send("step", number=5)
    points = (f"{column}{row}" for row in (3, 2, 4, 1, 5) for column in "CDBEA")
    for point in [*points] * 3:
        if step(desk)["state"] != "asked":
            break
        desk.send("step-play", point=point)
        desk.wait(lambda: not step(desk)["isThinking"])
    assert step(desk)["state"] in ("right", "wrong")
    desk.send("step-again")
    assert step(desk)["state"] == "asked" and "X" not in "".join(step(desk)["stones"])


def test_a_reply_to_a_move_that_was_taken_back_is_dropped(desk: Desk) -> None:
    desk.send("first-steps")
    desk.send("step", number=5)
    desk.send("step-play", point="C3")
    assert step(desk)["isThinking"]
    desk.send("step-undo")
    desk.calls.get(timeout=120)()  # the reply
    assert set("".join(step(desk)["stones"])) == {"."}


def test_another_game_closes_the_steps(desk: Desk) -> None:
    desk.send("first-steps")
    desk.send("new", **NEW)
    assert step(desk) is None and not desk.state["helps"]


def test_ataris_are_marked_in_the_game_after_the_steps(desk: Desk) -> None:
    desk.send("first-steps")
    desk.send("step", number=7)
    desk.send("step-game")
    assert (desk.state["width"], desk.state["rank"], desk.state["komi"]) == (9, str(WEAKEST), 0)
    assert step(desk) is None and desk.state["helps"]
    assert [said["name"] for said in desk.state["ataris"]] == ["steps.noAtari"]
    desk.play("A1")
    desk.session.cancel()
    desk.played.commit(Decision(WHITE, desk.played.game.point("A2")))
    desk.session.changed()
    desk.session.save_changes()
    assert desk.state["ataris"] == [{"name": "steps.lost", "values": {"count": 1, "place": "A1", "move": "pass"}}]
    assert desk.state["drawn"]["marks"] == {"A1": "triangle"}
    saved = open_game(desk.saved())
    desk.send("resign")
    assert not desk.state["helps"] and desk.state["ataris"] == []
    desk.send("undo")
    assert desk.state["helps"]
    desk.send("no-marks")
    assert not desk.state["helps"] and desk.state["ataris"] == [] and desk.state["drawn"]["marks"] == {}
    # The game is left, and continued after a restart.
    desk.played.load(saved)
    again = new_session(desk.played, lambda documents: None, desk.calls.put)
    (document,) = (part.document() for part in again.parts if part.name == "steps")
    assert document["helps"] and [said["name"] for said in document["ataris"]] == ["steps.lost"]
