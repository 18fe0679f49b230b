"""Problems on the page: solved, failed, repeated, and made of mistakes."""

import base64
import datetime
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from studies import OPEN, corner, region
from web.conftest import RECORD, Desk

from gtp_engine.clients.web.values import JUDGED_VISITS, Value
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import SearchRequest
from gtp_engine.study.kept_problems import Card, KeptProblems, Missed
from gtp_engine.study.problem_sgf import collection
from gtp_engine.study.problems import problem_of
from gtp_engine.study.reasons.explain import find_facts
from gtp_engine.study.reasons.variation import Study
from gtp_engine.study.stored_reviews import group_in
from gtp_engine.table.database import Change, Database

BULKY_FIVE = "(;SZ[7]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]C[Kill.];B[ba])"
STRAIGHT_THREE = "(;SZ[7]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]AE[ad]PL[W])"
TO_A_KO = "(;SZ[9]AW[ab][bb][cb][db][ea]AB[ac][bc][cc][dc][ec][eb][fa][fb]PL[W])"
FAR = 10**6  # visits: nothing is searched any more


def open_files(desk: Desk, *texts: str) -> None:
    files = [[f"{number}.sgf", base64.b64encode(text.encode()).decode()] for number, text in enumerate(texts, 1)]
    desk.send("open", files=files)
    desk.wait()


def database(data: Path) -> Database:
    return Database(data / "gtp_engine.db")


def cards(data: Path) -> list[Card]:
    return KeptProblems(database(data))._cards("")


def make_due(data: Path) -> None:
    """Lets some days pass."""
    database(data).change(Change("UPDATE problems SET due = '2020-01-01' WHERE due != ''"))


def tomorrow(days: int = 1) -> str:
    return (datetime.date.today() + datetime.timedelta(days)).isoformat()


def test_a_wrong_move_is_refuted_and_the_problem_comes_again(desk: Desk, data: Path, tmp_path: Path) -> None:
    open_files(desk, f"(;C[a title]){BULKY_FIVE}{STRAIGHT_THREE}")
    exercise = desk.state["exercise"]
    assert desk.state["problems"] == {"place": 1, "count": 3} and desk.state["comment"] == "Kill."
    assert (exercise["name"], exercise["toMove"], exercise["goal"]) == ("1 2", "black", "dies")
    desk.play_and_wait("C7")
    verdict = desk.state["exercise"]["verdict"]
    assert (verdict["isRight"], verdict["by"], verdict["outcome"]) == (False, "solver", "lives")
    assert desk.vertices == ["C7", "B7"] and desk.state["exercise"]["due"] == tomorrow()
    desk.send("undo")
    assert desk.vertices == [] and desk.state["exercise"]["verdict"] is None
    desk.play_and_wait("C7")  # it is known
    desk.wait(lambda: len(desk.vertices) == 2)
    desk.send("undo")
    desk.play_and_wait("B7")
    assert desk.state["exercise"]["verdict"]["isRight"] and desk.state["exercise"]["result"] is False
    (card,) = cards(data)
    assert (card.days, card.failed, card.solved) == (1, 1, 0) and desk.state["coming"]["due"] == 0
    make_due(data)
    desk.send("problem", place=2)
    assert desk.state["coming"] == {"due": 1, "problem": ""}
    desk.send("practise")
    desk.wait()
    desk.play_and_wait("B7")
    assert desk.state["exercise"]["due"] == tomorrow(2) and desk.state["exercise"]["result"] is True
    desk.send("forget")
    desk.send("solution")  # which would have it come again
    assert cards(data) == []
    assert list(tmp_path.glob("*.sgf")) == []  # what was tried is no game


def test_a_ko_that_is_there_solves_a_problem_that_asks_for_one(desk: Desk) -> None:
    open_files(desk, TO_A_KO)
    assert desk.state["exercise"]["goal"] == "ko"
    desk.play_and_wait("C9")
    verdict = desk.state["exercise"]["verdict"]
    assert (verdict["isRight"], verdict["outcome"], verdict["isDecided"]) == (True, "ko", True)
    desk.play("D9")  # White's answer
    desk.play_and_wait("A9")  # no threat
    assert desk.state["exercise"]["result"] is True


def test_the_solution_is_shown_with_its_lines(desk: Desk, data: Path) -> None:
    open_files(desk, BULKY_FIVE)
    desk.send("solution")
    assert desk.state["exercise"]["given"] == "solver" and desk.state["life"]["found"]["status"] == "unsettled"
    assert desk.send("lines", first="black", moves=["B7"])["stones"][0] == ".X.OX.."  # type: ignore[index]
    desk.send("problem", place=0)
    desk.wait()
    desk.play_and_wait("B7")
    (card,) = cards(data)
    assert (card.days, card.failed, card.solved) == (1, 1, 1)
    desk.send("problem-record")
    assert desk.state["exercise"] is None and desk.state["moves"] == 1 and desk.state["problems"]["count"] == 1


def test_what_the_solver_does_not_find_the_record_tells(desk: Desk) -> None:
    open_files(desk, "(;SZ[19]AW[aa];B[cq];W[cr])", "(;SZ[19]AW[aa])(;nonsense[", RECORD)
    assert desk.state["problems"]["count"] == 3 and desk.state["exercise"]["goal"] is None
    assert desk.state["notice"] == "no problems in 3.sgf"
    desk.play_and_wait("C3")
    verdict = desk.state["exercise"]["verdict"]
    assert (verdict["by"], verdict["isRight"]) == ("record", True) and desk.vertices == ["C3", "C2"]
    desk.play("D2")  # after the end of the record
    desk.play_and_wait("A1")
    assert desk.state["exercise"]["result"] is True
    desk.send("solution")
    assert desk.state["exercise"]["given"] == "record" and desk.state["place"] == 0
    desk.send("problem", place=1)
    desk.wait()
    desk.play_and_wait("C3")
    assert desk.state["exercise"]["verdict"]["isRight"] is None and desk.state["exercise"]["result"] is None
    desk.refuse("no solution is known", "solution")
    desk.refuse("problem 3: ", "problem", place=2)
    assert desk.state["problems"] == {"place": 2, "count": 3} and desk.state["exercise"] is None
    assert "X" not in "".join(desk.state["stones"]) and desk.vertices == []  # nothing of the one before is left
    desk.refuse("number", "problem", place=3)
    desk.send("problem", place=1)
    assert desk.state["exercise"]["name"] == "2 1"


def test_files_without_problems_are_records(desk: Desk) -> None:
    open_files(desk, RECORD)
    assert desk.state["exercise"] is None and desk.state["moves"] == 3 and desk.state["problems"]["count"] == 0
    desk.refuse("no problems are open", "problem", place=0)
    desk.refuse("no problem is due", "practise")
    for kind in ("solution", "forget", "problem-record"):
        desk.refuse("no problem is shown", kind)
    desk.refuse("no problems in these files", "open", files=[["a", ""], ["b", ""]])
    desk.refuse("file", "open", files=[["a", "*"]])
    desk.refuse("file", "open", files="x")


def test_a_mistake_becomes_a_problem(desk: Desk, data: Path) -> None:
    desk.refuse("no mistake is shown", "keep")
    desk.send("teach", on=True)
    desk.send("open", sgf=RECORD)
    line = desk.session.line
    for node, lead in zip(line, (0.0, -9.0, -9.0, -9.0), strict=False):
        to_move = desk.session.to_move(node)
        desk.values.set(node, Value(to_move, 0.5, lead, JUDGED_VISITS, "C3"))
    desk.send("go", node=line[1].number)
    assert desk.state["loss"]["points"] == 9 and desk.state["kept"] is False
    desk.send("keep")
    assert desk.state["kept"] is True and desk.state["coming"]["due"] == 1
    (card,) = cards(data)
    assert card.name == "Ann - Ben, 1" and card.missed is not None and card.missed.played == "E5"
    desk.send("practise")
    desk.wait(lambda: desk.state["exercise"]["isRead"] and desk.session.task is None)
    exercise = desk.state["exercise"]
    assert exercise["missed"] == {"move": "E5", "points": 9} and exercise["toMove"] == "black"
    root = desk.session.node
    desk.values.set(root, Value(BLACK, 0.5, 0.0, FAR, "C3"))
    tries = ("A1", -5.4, 5, False), ("C3", -2.0, 0, True), ("D4", 0.04, 0, True), ("F6", -1.4, 1, True)
    for vertex, lead, points, is_right in tries:
        desk.play(vertex)
        desk.values.set(desk.session.node, Value(WHITE, 0.5, lead, FAR, "C3"))
        desk.session.cancel()
        desk.session.touch()
        desk.session.go_on()
        verdict = desk.state["exercise"]["verdict"]
        assert (verdict["by"], verdict["isRight"], verdict["points"]) == ("search", is_right, points)
        assert verdict["best"] == "C3"
        desk.send("undo")
    assert desk.state["exercise"]["due"] == tomorrow()  # the first try counts


def test_a_mistake_of_an_own_game_is_called_after_its_day(desk: Desk, data: Path) -> None:
    desk.send("teach", on=True)
    desk.play_and_wait("C3")
    for node, colour, lead in zip(desk.session.line, (BLACK, WHITE), (0.0, -9.0), strict=False):
        desk.values.set(node, Value(colour, 0.5, lead, FAR, "B2"))
    desk.session.show()
    desk.send("keep")
    desk.send("practise")
    assert desk.state["exercise"]["game"] == {"day": datetime.date.today().isoformat(), "number": 1}


def test_a_review_is_there_again_after_the_problems_that_are_due(desk: Desk) -> None:
    desk.send("open", sgf=RECORD)
    desk.send("review", visits=4)
    desk.wait(lambda: desk.state["review"]["stage"] == "done")
    desk.send("teach", on=True)
    line = desk.session.line
    for node, lead in zip(line[:2], (0.0, -9.0), strict=True):
        desk.values.set(node, Value(desk.session.to_move(node), 0.5, lead, JUDGED_VISITS, "C3"))
    desk.values.reviewed.clear()
    desk.send("go", move=1)
    desk.send("keep")
    review = desk.state["review"]
    desk.send("practise")
    assert desk.state["exercise"] and desk.state["review"] is None and desk.state["hasAside"]
    desk.send("back")
    assert desk.state["exercise"] is None and desk.state["problems"]["count"] == 0
    assert desk.state["review"] == review and desk.state["place"] == 1


@pytest.mark.parametrize(
    ("about", "group"),
    [
        (corner(-0.9, 0.0, answer="F5", diagram=OPEN), "C2"),  # may live
        (corner(0.0, 0.9, WHITE, "F5", OPEN), "C2"),
        (region("D2", owned=(0.0, 1.0)), ""),
    ],
)
def test_the_reasons_for_a_mistake_name_the_group_of_its_problem(about: Study, group: str) -> None:
    assert group_in(about.reason(fact) for fact in find_facts(about)) == group


def test_a_mistake_about_life_and_death_is_judged_by_the_solver(desk: Desk, data: Path) -> None:
    missed = Missed("A7", 12.0, ("B7",), "D7")
    game = BULKY_FIVE.replace(";B[ba]", ";B[ad];W[dd]")
    KeptProblems(database(data)).keep("key", Card("a game", game, missed, 1, "2020-01-01"))
    desk.send("practise")
    desk.play("C7")  # before the solver has found what is sought
    desk.wait()
    exercise = desk.state["exercise"]
    assert exercise["goal"] == "dies" and exercise["missed"]["move"] == "A7"
    assert (exercise["verdict"]["by"], exercise["verdict"]["isRight"]) == ("solver", False)
    desk.send("undo")
    desk.play("A7")
    desk.send("undo")  # while it is judged
    desk.wait()
    assert desk.state["exercise"]["verdict"] is None
    desk.play("A7")
    desk.send("stop")
    desk.wait()
    assert desk.vertices[-1] in ("A7", "B7")


@pytest.mark.parametrize("game", ["AB[cc]AW[ee];B[ce];W[ec]", "", ";B[cc]"])
def test_saved_mistakes_that_are_opened_again_ask_for_a_better_move(desk: Desk, game: str) -> None:
    card = Card("", f"(;SZ[7]{game})", Missed("A7", 2.5, ("D4",)))
    open_files(desk, collection([card], "en"))
    exercise = desk.state["exercise"]
    assert exercise["isRead"] and exercise["missed"] == {"move": "A7", "points": 3} and not exercise["game"]
    assert desk.state["comment"] == ""  # which says the same
    desk.play_and_wait("D4")
    verdict = desk.state["exercise"]["verdict"]
    assert (verdict["by"], verdict["isRight"]) == ("search", True)
    desk.send("solution")
    assert desk.state["exercise"]["given"] == "search"


def test_an_answer_is_measured_against_the_better_move_that_was_found(desk: Desk, monkeypatch: Any) -> None:
    card, searched, analyze = Card("", "(;SZ[7]AB[cc]AW[ee])", Missed("A7", 7.0, ("D4",))), [], desk.engine.analyze

    def noted(request: SearchRequest) -> "Future[SearchReport]":
        searched.append([request.game.vertex(move) for move in request.game.moves])
        return analyze(request)

    monkeypatch.setattr(desk.engine, "analyze", noted)
    open_files(desk, collection([card], "en"))
    desk.play_and_wait("B2")
    assert searched == [["D4"], ["B2"]]
    value = desk.values.get(desk.session.node.path[0])
    assert value is not None and value.best == "D4"


def test_a_step_forward_after_a_wrong_answer_shows_the_solution(desk: Desk) -> None:
    card = Card("", "(;SZ[7]AB[cc]AW[ee];B[ce];W[ec])", Missed("A7", 2.5, ("D4", "D3")))
    open_files(desk, collection([card], "en"))
    desk.play_and_wait("A7")
    desk.send("solution")
    line, place = desk.session.line, desk.session.line.index(desk.session.node)
    moves = [desk.session.position().vertex(node.move) for node in line[place + 1 :] if node.move is not None]
    assert moves == ["D4", "D3"]


@pytest.mark.parametrize("moves", ["(;B[cd])(;B[aa]LOST[-5])", "(;B[cd])(;B[aa]LOST[1e308])", "(;B[cd])"])
def test_a_record_that_tells_no_mistake_makes_none(moves: str) -> None:
    assert problem_of(read_sgf(f"(;SZ[7]AB[cc]AW[ee]{moves})".encode())).missed is None


def test_a_mistake_is_told_by_its_variation_wherever_it_stands() -> None:
    for moves in ("(;B[cd];W[aa])(;B[ga]LOST[5])", "(;B[ga]LOST[5])(;B[cd];W[aa])"):
        missed = problem_of(read_sgf(f"(;SZ[7]AB[cc]AW[ee]{moves})".encode())).missed
        assert missed == Missed("G7", 5.0, ("C4", "A7"))


def test_results_that_cannot_be_saved_are_told(desk: Desk, data: Path) -> None:
    data.write_text("a file instead of a folder")
    open_files(desk, BULKY_FIVE)
    desk.play_and_wait("B7")
    assert "not saved: " in desk.state["coming"]["problem"] and desk.state["exercise"]["result"] is True
    data.unlink()
    desk.send("problem", place=0)
    desk.wait()
    desk.play_and_wait("B7")  # which is saved with what was not
    assert desk.state["coming"]["problem"] == "" and len(cards(data)) == 1
