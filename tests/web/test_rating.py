"""The question for a person's rank, and the games after it, in which the engine's rank follows the results."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from web.conftest import NEW, Desk

from gtp_engine.clients.web.rating import _HELP
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.ranks import parse_rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import WHITE
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating

Open = Callable[[], Desk]
ROW = [f"{column}{row}" for row in (3, 5) for column in "BCDEF"]
AUTO = NEW | {"width": 9, "height": 9, "rank": "auto", "colour": "black", "rules": "chinese"}


@pytest.fixture
def file(tmp_path: Path) -> KeptRating:
    return KeptRating(Database(tmp_path / "rating.db"))


@pytest.fixture
def open_desk(tmp_path: Path, file: KeptRating) -> Iterator[Open]:
    with Engine(EngineSettings(threads=1, visits=2, resign=False, seed=1), width=9) as engine:
        engine.ready.result()

        def opened() -> Desk:
            desk = Desk(engine, tmp_path, rating=file)
            desk.wait()
            return desk

        yield opened


def test_the_rank_is_asked_for_once_and_is_that_of_the_first_game(open_desk: Open, file: KeptRating) -> None:
    desk = open_desk()
    assert desk.state["rating"] == {
        "asks": True, "isKnown": False, "follows": False, "counts": False, "ends": [], "uncounted": "",
        "result": None,
    }  # fmt: skip
    desk.refuse("rank", "strength", rank="90k")
    desk.send("strength", rank="12k")
    assert file.rating == first_rating(parse_rank("12k"))
    assert desk.state["rank"] == "12k"
    assert desk.state["rating"] == {
        "asks": False, "isKnown": True, "follows": True, "counts": True, "ends": [*_HELP, "undo"], "uncounted": "",
        "result": None,
    }  # fmt: skip
    desk.refuse("another game", "strength", rank="5k")
    assert open_desk().state["rating"]["counts"]


@pytest.mark.parametrize(("answer", "rank", "is_known"), [("unknown", "15k", True), ("max", "max", False)])
def test_a_person_may_not_know_or_want_full_strength(
    open_desk: Open, file: KeptRating, answer: str, rank: str, is_known: bool
) -> None:
    desk = open_desk()
    desk.send("strength", rank=answer)
    assert (desk.state["rank"], desk.state["rating"]["isKnown"], file.is_asked) == (rank, is_known, True)
    assert not desk.state["rating"]["asks"]


def test_a_result_counts_and_the_next_opponent_follows(open_desk: Open, file: KeptRating) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    for _ in range(6):
        game = desk.played.game
        desk.play_and_wait(next(vertex for vertex in ROW if game.is_legal(vertex)))
    desk.send("resign")
    assert file.rating is not None and file.rating.games == 1
    result = {"rank": str(file.rating.rank), "within": file.rating.within, "games": 1}
    assert desk.state["rating"]["result"] == result
    desk.send("undo")  # the game continues, but its first result has counted
    assert desk.played.result is None and desk.state["rating"]["result"] == result
    desk.send("resign")
    assert file.rating.games == 1 and desk.state["rating"]["result"] == result
    desk.send("new", **AUTO)
    desk.wait()
    assert desk.state["rank"] == str(file.rating.opponent) != "12k"
    assert desk.state["rating"]["counts"] and desk.state["rating"]["result"] is None


@pytest.mark.parametrize("helped", ["hint", "score", "undo", "analyse", "review", "teach", "solve"])
def test_a_game_with_help_does_not_count(open_desk: Open, file: KeptRating, helped: str) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.play_and_wait("C3")
    assert desk.state["rating"]["counts"] and helped in desk.state["rating"]["ends"]
    values: dict[str, Any] = {"teach": {"on": True}, "solve": {"point": "C3", "node": desk.session.node.number}}.get(
        helped, {"visits": 2}
    )
    desk.send(helped, **values)
    assert not desk.state["rating"]["counts"] and desk.state["rating"]["follows"]
    assert desk.state["rating"]["ends"] == [] and desk.state["rating"]["uncounted"] == "uncounted.help"
    desk.send("stop-solve")
    desk.send("resign")
    assert desk.state["rating"]["result"] is None and file.rating is not None and file.rating.games == 0


def test_a_new_game_begins_without_help_and_counts(open_desk: Open, file: KeptRating) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.send("teach", on=True)
    assert not desk.state["rating"]["counts"]
    desk.send("new", **AUTO)
    assert desk.state["rating"]["counts"] and not desk.state["isTeaching"]
    desk.play_and_wait("C3")
    assert desk.state["rating"]["counts"]
    desk.send("teach", on=True)
    desk.send("new", **NEW | {"rank": "12k"})
    assert desk.state["isTeaching"]


def test_a_mark_that_is_taken_back_ends_nothing(open_desk: Open, file: KeptRating) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.play_and_wait("C3")
    desk.send("mark", point="D4", mark="triangle")
    assert "undo" not in desk.state["rating"]["ends"]
    desk.send("undo")
    assert desk.state["rating"]["counts"] and "undo" in desk.state["rating"]["ends"]


def test_a_game_at_a_chosen_rank_is_another_one(open_desk: Open, file: KeptRating) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.send("new", **NEW | {"rank": "12k"})
    assert not desk.state["rating"]["follows"] and desk.state["rating"]["isKnown"]
    assert desk.state["rating"]["uncounted"] == "uncounted.begun"
    desk.send("new", **AUTO | {"komi": 3.5})
    assert desk.state["rating"]["uncounted"] == "uncounted.begun"
    desk.send("new", **AUTO)
    assert desk.state["rating"]["uncounted"] == ""
    desk.play_and_wait("C3")
    desk.send("resign")
    assert desk.state["rating"]["uncounted"] == "uncounted.short"


@pytest.mark.parametrize("size", [15, 21])
def test_a_game_at_a_rank_that_was_not_measured_does_not_count(open_desk: Open, file: KeptRating, size: int) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.send("new", **AUTO | {"width": size, "height": size})
    assert desk.state["rating"]["follows"] and desk.state["rating"]["uncounted"] == "uncounted.unmeasured"
    assert not desk.state["rating"]["counts"]
    assert [note["name"] for note in desk.state["rankNotes"]] == ["rank.unmeasured"]


def test_a_file_that_cannot_be_read_is_reported(open_desk: Open, file: KeptRating) -> None:
    file._database.notice = "results and reviews are not saved: no access"
    assert open_desk().state["notice"] == file.notice


def test_who_plays_white_is_asked_while_the_engine_moves(tmp_path: Path, file: KeptRating) -> None:
    with Engine(EngineSettings(threads=1, visits=2, seed=1), width=9) as engine:
        engine.ready.result()
        desk = Desk(engine, tmp_path, humans=frozenset({WHITE}), rating=file)
        desk.wait()
        assert desk.played.game.moves and desk.state["rating"]["asks"]
        desk.send("strength", rank="12k")
        assert desk.state["rank"] == "12k" and desk.state["rating"]["counts"]


def test_a_game_that_another_network_goes_on_with_does_not_count(open_desk: Open, file: KeptRating) -> None:
    file.keep(first_rating(parse_rank("12k")))
    desk = open_desk()
    desk.play_and_wait("C3")
    assert "network" in desk.state["rating"]["ends"]
    desk.send("network", network="none")
    assert not desk.state["rating"]["counts"]
