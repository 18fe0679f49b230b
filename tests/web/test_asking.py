"""Why a mistake is one, and what another move would have brought: what pages ask, and what they see."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from web.conftest import Desk

from gtp_engine.base.languages.texts import Phrase, texts
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.study import questions


@pytest.fixture(autouse=True)
def few_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_VISITS", 6)


@pytest.fixture
def pupil(tmp_path: Path) -> Iterator[Desk]:
    """A game against the engine, whose moves are marked, on a board for which it has a network."""
    with Engine(EngineSettings("b6c64-19x19", threads=1, seed=1, visits=4, rank="20k"), width=7) as engine:
        desk = Desk(engine, tmp_path)
        desk.wait(engine.ready.done)
        desk.send("teach", on=True)
        desk.wait()
        desk.play_and_wait("D4")
        desk.play_and_wait("A1")
        yield desk


def ask(desk: Desk, kind: str, **values: Any) -> None:
    desk.send(kind, node=desk.session.node.number, **values)


def said(phrases: list[dict[str, Any]]) -> str:
    def phrase(value: Any) -> Any:
        return (
            Phrase(value["name"], {k: phrase(v) for k, v in value["values"].items()})
            if isinstance(value, dict)
            else value
        )

    return " ".join(texts().say(phrase(each)) for each in phrases)


def test_a_marked_mistake_is_explained_and_refuted(pupil: Desk) -> None:
    before = pupil.vertices
    assert pupil.state["why"] == {"canAsk": True, "asked": None}
    ask(pupil, "why")
    assert pupil.state["why"]["asked"] == {"isSearching": True} and pupil.state["task"]["kind"] == "why"
    pupil.wait()
    asked = pupil.state["why"]["asked"]
    assert said([asked["sentence"]]) and asked["lines"]["refutation"][0] == "A1" != asked["lines"]["better"][0]
    assert len(asked["lines"]["refutation"]) > 1, "what follows the mistake"
    start = pupil.send("why-line", line="refutation", moves=0)
    assert start is not None and start["of"] == "why refutation 0"
    assert start["stones"] == ["." * 7] * 3 + ["...X..."] + ["." * 7] * 3 or before[1] != "pass"
    played = pupil.send("why-line", line="refutation", moves=1)
    assert played is not None and played["drawn"]["labels"] == {"A1": "1"} and played["stones"][6][0] == "X"
    assert pupil.send("why-line", line="tried", moves=1) == {"type": "line", "of": "why tried 1"}
    assert pupil.vertices == before
    ask(pupil, "leave-why")
    assert pupil.state["why"]["asked"] is None


def test_the_figure_of_the_answer_is_the_one_that_the_page_shows(pupil: Desk) -> None:
    ask(pupil, "why")
    pupil.wait()
    part = next(part for part in pupil.session.parts if part.name == "asking")
    found = part._asked.answer.move  # type: ignore[attr-defined]
    assert pupil.state["loss"]["points"] == int(found.cost.lead + 0.5)
    assert pupil.state["loss"]["move"] == "A1" and found.cost.lead > 1.5


def test_another_move_is_compared_with_the_better_one(pupil: Desk) -> None:
    pupil.refuse("no mistake", "what-if", point="B2", node=pupil.session.node.number)
    ask(pupil, "why")
    pupil.wait()
    better = pupil.state["why"]["asked"]["lines"]["better"][0]
    ask(pupil, "what-if", point=better)
    assert pupil.state["why"]["asked"]["isSearching"] and pupil.state["why"]["asked"]["tried"] == []
    pupil.wait()
    asked = pupil.state["why"]["asked"]
    assert f"{better} is the best move that was found." in said(asked["tried"])
    assert asked["lines"]["tried"][0] == better and asked["lines"].keys() == {"refutation", "tried"}, "one line a move"
    ask(pupil, "what-if", point="A1")
    pupil.wait()
    assert pupil.state["why"]["asked"]["lines"].keys() == {"better", "tried"}
    ask(pupil, "what-if", point="G7")
    pupil.wait()
    worse = said(pupil.state["why"]["asked"]["tried"])
    assert worse.startswith("After G7, ") and "White's best answer is " in worse
    assert "G7 loses about " in worse and f"{better} is better." in worse
    pupil.refuse("occupied", "what-if", point="D4", node=pupil.session.node.number)
    pupil.play_and_wait("C3")
    assert pupil.state["why"]["asked"] is None


def test_a_search_for_an_answer_that_is_ended_leaves_nothing(pupil: Desk) -> None:
    ask(pupil, "why")
    pupil.send("analyse", visits=8)
    assert pupil.state["why"]["asked"] is None
    pupil.wait()
    pupil.send("analyse", visits=None)
    pupil.send("undo")
    pupil.refuse("no mistake", "why", node=pupil.session.node.number)


def test_a_mistake_of_a_review_is_explained_without_a_search(desk: Desk) -> None:
    desk.send("network", network="b6c64-19x19")
    desk.send("open", sgf="(;GM[1]SZ[9]KM[7];B[ee];W[cg];B[];W[gc])")  # Black passes with the third move
    desk.wait(desk.engine.ready.done)
    desk.send("review", visits=20)
    desk.wait(lambda: desk.state["review"]["stage"] == "done")
    assert not desk.state["why"]["canAsk"]
    mistake = desk.state["review"]["mistakes"][0]
    desk.send("go", node=mistake["node"])
    ask(desk, "why")
    asked = desk.state["why"]["asked"]
    assert asked["sentence"] == mistake["reasons"][0] and asked["lines"]["refutation"][0] == "pass"
    assert desk.session.task is None
    ask(desk, "what-if", point="A1")
    desk.wait(lambda: desk.state["why"]["asked"]["tried"])
    assert "A1 loses about " in said(desk.state["why"]["asked"]["tried"])
