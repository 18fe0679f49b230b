"""Is this group alive? What pages ask for, and what they see."""

from pathlib import Path

import pytest
from web.conftest import Desk

from gtp_engine.clients.web import solving
from gtp_engine.engine.engine import Engine

# Straight three in a corner, and a stone that is not enclosed.
GAME = "(;SZ[9];B[ea];W[da];B[eb];W[db];B[ec];W[cb];B[dc];W[bb];B[cc];W[ab];B[bc];W[gg];B[ac];W[cg])"
OPEN = "(;SZ[19]AB[dd]AW[pp];B[pd])"


def solve(desk: Desk, point: str) -> None:
    desk.send("solve", point=point, node=desk.session.node.number)
    desk.wait(lambda: desk.state["life"] is not None and desk.state["life"]["found"])


@pytest.fixture
def game(pair: Desk) -> Desk:
    pair.send("open", sgf=GAME)
    pair.send("go", move=pair.state["moves"])
    return pair


def test_the_lines_are_played_through_and_the_game_stays(game: Desk) -> None:
    before = game.vertices
    solve(game, "D9")
    found = game.state["life"]["found"]
    assert found["status"] == "unsettled" and found["stones"][0] == "D9"
    assert [answer["moves"] for answer in found["answers"] if answer["first"] == "black"] == [["B9"]]
    start = game.send("lines", first="black", moves=[])
    assert start is not None and start["of"] == "lines black"
    assert {each["vertex"]: each["isBest"] for each in start["drawn"]["candidates"]} == {
        "B9": True,
        "A9": False,
        "C9": False,
    }
    assert start["drawn"]["marks"]["E9"] == "square" and start["drawn"]["marks"]["D9"] == "triangle"
    refuted = game.send("lines", first="black", moves=["A9", "B9"])
    assert refuted is not None and refuted["stones"][0] == ".O.OX...."  # A9 was taken
    assert refuted["drawn"]["labels"] == {"B9": "2"}
    assert game.send("lines", first="white", moves=["J1"]) == {"type": "line", "of": "lines white J1"}
    assert game.vertices == before
    game.send("leave-solve")
    assert game.state["life"] is None


def test_it_is_dropped_when_other_stones_are_shown(game: Desk) -> None:
    solve(game, "D9")
    game.send("go", step=-1)
    assert game.state["life"] is None
    assert game.send("lines", first="black", moves=["B9"]) == {"type": "line", "of": "lines black B9"}


def test_a_reading_is_stopped(pair: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "SECONDS", 600.0)
    pair.send("open", sgf=OPEN)
    pair.send("solve", point="D16", node=pair.session.node.number)
    pair.wait(lambda: pair.state["life"]["positions"] > 0)
    assert pair.state["life"]["found"] is None
    pair.send("stop-solve")
    pair.wait(lambda: pair.state["life"]["found"])
    assert pair.state["life"]["found"]["status"] == "unknown"


def test_what_the_network_thinks_comes_before_the_reading_ends(pair: Desk) -> None:
    pair.send("network", network="b6c64-19x19")
    pair.send("open", sgf="(;SZ[9];B[ee])")
    pair.wait(pair.engine.ready.done)
    pair.send("go", move=1)
    pair.send("solve", point="E5", node=pair.session.node.number)
    assert pair.state["life"]["thought"] == [] and pair.state["task"]["kind"] == "life"
    pair.wait()
    life = pair.state["life"]
    assert life["found"] is None and life["thought"][0]["name"].startswith("view.")
    pair.send("stop-solve")
    pair.wait(lambda: pair.state["life"]["found"])
    assert pair.state["life"]["found"]["status"] == "unknown" and pair.state["life"]["thought"] == life["thought"]


def test_what_is_no_group_is_refused(game: Desk, engine: Engine, tmp_path: Path) -> None:
    node = game.session.node.number
    game.refuse("no stone at A9", "solve", point="A9", node=node)
    game.refuse("invalid vertex", "solve", point="Z99", node=node)
    game.refuse("moves", "lines", first="black", moves="B9")
    game.refuse("colour", "lines", first="red", moves=[])
    game.send("go", move=0)
    game.refuse("another position is shown now", "solve", point="D9", node=node)
