"""Is this group alive? What pages ask for, and what they see."""

from pathlib import Path

import pytest
from web.conftest import Desk

from gtp_engine.clients.web import solving
from gtp_engine.engine.engine import Engine

# Straight three in a corner, and a stone that is not enclosed.
PROBLEM = "(;SZ[9]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab][gg];B[gc];W[cg])"
OPEN = "(;SZ[19]AB[dd]AW[pp];B[pd])"


def solve(desk: Desk, point: str) -> None:
    desk.send("solve", point=point, node=desk.session.node.number)
    desk.wait(lambda: desk.state["life"] is not None and desk.state["life"]["found"])


@pytest.fixture
def problem(pair: Desk) -> Desk:
    pair.send("open", sgf=PROBLEM)
    return pair


def test_the_lines_are_played_through_and_the_game_stays(problem: Desk) -> None:
    before = problem.vertices
    solve(problem, "D9")
    found = problem.state["life"]["found"]
    assert found["status"] == "unsettled" and found["stones"][0] == "D9"
    assert [answer["moves"] for answer in found["answers"] if answer["first"] == "black"] == [["B9"]]
    start = problem.send("lines", first="black", moves=[])
    assert start is not None and start["of"] == "lines black"
    assert {each["vertex"]: each["isBest"] for each in start["drawn"]["candidates"]} == {
        "B9": True,
        "A9": False,
        "C9": False,
    }
    assert start["drawn"]["marks"]["E9"] == "square" and start["drawn"]["marks"]["D9"] == "triangle"
    refuted = problem.send("lines", first="black", moves=["A9", "B9"])
    assert refuted is not None and refuted["stones"][0] == ".O.OX...."  # A9 was taken
    assert refuted["drawn"]["labels"] == {"A9": "1", "B9": "2"}
    unknown = problem.send("lines", first="white", moves=["J1"])
    assert unknown is not None and unknown["stones"] == problem.state["stones"]
    assert problem.vertices == before
    problem.send("leave-solve")
    assert problem.state["life"] is None


def test_it_is_dropped_when_other_stones_are_shown(problem: Desk) -> None:
    solve(problem, "D9")
    problem.send("go", step=-1)
    assert problem.state["life"] is None
    gone = problem.send("lines", first="black", moves=["B9"])
    assert gone is not None and gone["stones"] == problem.state["stones"]


def test_a_reading_is_stopped(pair: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "SECONDS", 600.0)
    pair.send("open", sgf=OPEN)
    pair.send("solve", point="D16", node=pair.session.node.number)
    pair.wait(lambda: pair.state["life"]["positions"] > 0)
    assert pair.state["life"]["found"] is None
    pair.send("stop-solve")
    pair.wait(lambda: pair.state["life"]["found"])
    assert pair.state["life"]["found"]["status"] == "unknown"


def test_what_is_no_group_is_refused(problem: Desk, engine: Engine, tmp_path: Path) -> None:
    node = problem.session.node.number
    problem.refuse("no stone at A9", "solve", point="A9", node=node)
    problem.refuse("invalid vertex", "solve", point="Z99", node=node)
    problem.refuse("moves", "lines", first="black", moves="B9")
    problem.refuse("colour", "lines", first="red", moves=[])
    problem.send("go", move=0)
    problem.refuse("another position is shown now", "solve", point="D9", node=node)
    problem.send("guess", colour="both")
    problem.refuse("stop guessing first", "solve", point="D9", node=problem.session.node.number)
