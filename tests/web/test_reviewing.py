"""The review on the page: the main line, the lesson at the end of a game, and the way back to both."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from web.conftest import FROM_HERE, LIMIT, NEW, RECORD, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.clients.web.values import JUDGED_VISITS, Value
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.reviewer import Reviewer, ReviewTask


@pytest.fixture
def study(desk: Desk) -> Desk:
    """A record, at its end."""
    desk.send("open", sgf=RECORD)
    desk.send("go", move=3)
    return desk


@pytest.fixture
def pupil(tmp_path: Path) -> Iterator[Desk]:
    """A game against the engine on a board for which it has a network, whose judgement a lesson rests on."""
    with Engine(EngineSettings("b6c64-19x19", threads=1, seed=1, visits=4), width=7) as engine:
        desk = Desk(engine, tmp_path)
        desk.wait(engine.ready.done)
        yield desk


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[ReviewTask]:
    """The tasks of the reviews that begin."""
    found, steps = list[ReviewTask](), Reviewer.steps

    def note(reviewer: Reviewer, task: ReviewTask) -> object:
        found.append(task)
        return steps(reviewer, task)

    monkeypatch.setattr(Reviewer, "steps", note)
    return found


def review(desk: Desk) -> None:
    desk.send("review", visits=20)
    desk.wait(lambda: desk.state["review"]["stage"] in ("done", "stopped"))


def test_a_review_judges_the_moves_of_one_player_if_that_is_wanted(desk: Desk) -> None:
    desk.send("network", network="b6c64-19x19")
    desk.send("open", sgf="(;GM[1]SZ[9]KM[7];B[ee];W[aa];B[ai];W[gc])")
    desk.wait(desk.engine.ready.done)
    desk.refuse("invalid colour 'grey'", "review", visits=20, colour="grey")
    for chosen, listed in (("both", {"black", "white"}), ("white", {"white"}), ("black", {"black"})):
        desk.send("review", visits=20, colour=chosen)
        desk.wait(lambda: desk.state["review"]["stage"] == "done")
        assert {mistake["colour"] for mistake in desk.state["review"]["mistakes"]} == listed
        assert not desk.state["review"]["isLesson"]


def test_a_review_fills_the_graph_and_lists_mistakes_with_reasons(desk: Desk) -> None:
    desk.send("network", network="b6c64-19x19")
    desk.send("open", sgf="(;GM[1]SZ[9]KM[7];B[ee];W[cg];B[];W[gc])")  # Black passes with the third move
    desk.wait(desk.engine.ready.done)
    desk.send("review", visits=40)
    assert desk.state["review"]["stage"] == "moves"
    desk.refuse("the review is running", "review", visits=100)
    desk.send("go", move=2)  # the game can be looked at meanwhile
    desk.wait(lambda: desk.state["review"]["stage"] == "done")
    found = desk.state
    assert found["place"] == 2 and [place for place, *_ in found["curve"]] == [0, 1, 2, 3, 4]
    mistakes = found["review"]["mistakes"]
    assert (mistakes[0]["number"], mistakes[0]["move"]) == (3, "pass") and mistakes[0]["reasons"]
    assert found["curve"][2][2] - found["curve"][3][2] == pytest.approx(mistakes[0]["points"], abs=0.61)
    assert found["review"]["praised"] == []
    desk.send("go", node=mistakes[0]["node"])
    assert desk.state["place"] == mistakes[0]["number"]
    line = desk.send("reason", number=0)
    assert line is not None and line["of"] == "reason 0" and "1" in line["drawn"]["labels"].values()
    number = len(mistakes[0]["reasons"]) + 1
    # Of a review that has been begun again meanwhile.
    assert desk.send("reason", number=number) == {"type": "line", "of": f"reason {number}"}
    assert 'class="mistakes"' in desk.state["graph"] and desk.state["kept"] is False
    desk.send("go", move=2)
    # Asked for before the page saw the step.
    assert desk.send("reason", number=0) == {"type": "line", "of": "reason 0"}
    desk.play("C7")  # another variation, in which the third move is not a mistake
    assert desk.state["place"] == 3 and desk.state["review"]["mistakes"] and "mistakes" not in desk.state["graph"]


def test_a_review_that_waits_for_the_solver_says_so(study: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    is_ready = threading.Event()
    monkeypatch.setattr("gtp_engine.study.reviewer.is_compiling", lambda: True)
    monkeypatch.setattr("gtp_engine.study.reviewer.prepare_solver", lambda is_stopped: is_ready.wait(LIMIT))
    study.send("review", visits=2)
    study.wait(lambda: study.state["review"]["stage"] == "compiling")
    is_ready.set()
    study.wait(lambda: study.state["review"]["stage"] == "done")


def test_a_review_finds_values_for_moves_before_nodes_that_change_nothing(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];C[the start];B[ee];;W[cg];AB[aa];B[cc];C[the end])")
    review(desk)
    assert [place for place, *_ in desk.state["curve"]] == [0, 1, 2, 3, 5, 6, 7]  # not before the stone is set up


def test_the_graph_of_a_review_goes_to_the_count_of_a_game_that_two_passes_end(desk: Desk) -> None:
    desk.send("network", network="b6c64-19x19")
    desk.send("open", sgf="(;GM[1]SZ[9]KM[7];B[ee];W[];B[])")
    desk.wait(desk.engine.ready.done)
    review(desk)
    assert desk.state["curve"][-1] == (3, 1.0, 74.0)


def test_a_review_can_be_stopped(study: Desk) -> None:
    study.send("review", visits=100_000)
    study.send("stop-review")
    study.wait(lambda: study.state["review"]["stage"] == "stopped")
    study.send("review", visits=10)
    study.wait(lambda: study.state["review"]["stage"] == "done")
    study.send("review", visits=100_000)
    study.send("open", sgf=RECORD)
    assert study.state["review"] is None
    study.session.close()


def test_a_review_that_fails_leaves_the_engine_to_the_game(study: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UserError("the network cannot be read")

    monkeypatch.setattr(Reviewer, "steps", fail)
    review(study)
    assert study.state["review"]["stage"] == "stopped" and study.state["problem"] == "the network cannot be read"
    study.send("analyse", visits=20)
    assert study.state["task"]["kind"] == "analysis"
    study.wait()
    assert study.state["report"]["visits"] == 20 and study.state["problem"]
    study.play("A1")
    assert study.state["problem"] is None and study.state["review"]["stage"] == "stopped"
    review(study)
    assert study.state["problem"]
    study.send("open", sgf=RECORD)
    assert study.state["problem"] is None


# The lesson.


def lose(desk: Desk) -> None:
    """Plays a game with at least one bad move, and resigns."""
    for _ in range(5):
        desk.play_and_wait(free_points(desk)[0])
    desk.send("resign")


def free_points(desk: Desk) -> list[str]:
    game, points = desk.played.game, ("C3", "A1", "A5", "E1", "E5", "B2", "D4", "B4", "D2")
    return [point for point in points if game.is_legal(game.point(point))]


def end_of_lesson(desk: Desk) -> None:
    desk.wait(lambda: desk.state["review"] and desk.state["review"]["stage"] in ("done", "stopped"))


def test_a_game_against_the_engine_ends_with_a_lesson(pupil: Desk, tasks: list[ReviewTask]) -> None:
    desk = pupil
    lose(desk)
    assert desk.state["review"]["isLesson"] and desk.state["review"]["stage"] == "moves"
    end_of_lesson(desk)
    (task,) = tasks
    assert (task.player, task.listed) == (1, 5)
    mistakes = desk.state["review"]["mistakes"]
    assert 0 < len(mistakes) <= 5 and {mistake["colour"] for mistake in mistakes} == {"black"}
    desk.send("go", node=mistakes[0]["node"])  # and nothing of this begins a second one
    desk.send("go", move=desk.state["moves"])
    assert len(tasks) == 1
    file = desk.saved()
    assert read_sgf(file).result == "W+R"


@pytest.mark.parametrize("way", ["retry", "undo"])
def test_a_mistake_that_was_told_costs_the_same_when_the_game_goes_on(pupil: Desk, way: str) -> None:
    def told() -> dict[int, tuple[object, ...]]:
        end_of_lesson(pupil)
        mistakes = pupil.state["review"]["mistakes"]
        return {each["number"]: (each["points"], each["best"], each["reasons"]) for each in mistakes}

    lose(pupil)
    before = told()
    last = max(before)
    if way == "undo":
        pupil.send("undo")
    else:
        pupil.send("retry", node=pupil.session.line[last].number)
        pupil.play_and_wait(free_points(pupil)[0])
    pupil.send("resign")
    after = told()
    same = (before.keys() & after.keys()) - {last}
    assert same and [after[number] for number in same] == [before[number] for number in same]


def test_a_lesson_after_a_record_judges_only_what_was_played_here(pupil: Desk, tasks: list[ReviewTask]) -> None:
    pupil.send("open", sgf="(;SZ[7];B[aa];W[dd];B[ga];W[cd])")
    pupil.send("go", move=4)
    pupil.send("branch", **FROM_HERE)
    pupil.send("resign")
    assert pupil.state["review"] is None and not tasks  # the person has played nothing
    pupil.send("undo")
    pupil.play_and_wait("C3")
    pupil.send("resign")
    end_of_lesson(pupil)
    (task,) = tasks
    assert task.numbers == range(5, pupil.state["moves"] + 1)
    assert {mistake["number"] for mistake in pupil.state["review"]["mistakes"]} <= {5, 7}


def test_without_a_network_there_is_no_lesson(desk: Desk, tasks: list[ReviewTask]) -> None:
    lose(desk)
    assert desk.state["isOver"] and desk.state["review"] is None and not tasks


def test_a_game_that_goes_on_has_no_lesson(pupil: Desk) -> None:
    desk = pupil
    lose(desk)
    assert desk.state["review"]["isLesson"]
    desk.send("undo")
    assert desk.state["review"] is None and desk.state["isYourTurn"]
    desk.send("new", **NEW)
    desk.wait()
    desk.send("resign")
    assert desk.state["review"] is None  # there was nothing to learn from


def test_a_mistake_is_tried_again_and_the_lesson_is_there_again(pupil: Desk, tmp_path: Path) -> None:
    desk = pupil
    lose(desk)
    end_of_lesson(desk)
    finished, moves = desk.saved(), desk.vertices
    review, rank = desk.state["review"], desk.engine.settings.rank
    node = desk.session.line[3]  # Black's second move
    desk.send("go", node=node.number)
    desk.send("retry", node=node.number)
    assert desk.vertices == moves[:2] and desk.state["humans"] == ["black"] and desk.state["isYourTurn"]
    assert desk.state["review"] is None and desk.state["hasAside"] and desk.engine.settings.rank == rank
    desk.play_and_wait(free_points(desk)[0])
    assert len([*tmp_path.glob("*.sgf")]) == 2 and read_sgf(finished).result == "W+R"
    desk.send("back")
    assert desk.vertices[:3] == moves[:3] and desk.state["place"] == 3 and desk.state["isStudy"]
    assert desk.state["review"] == review and not desk.state["hasAside"]
    desk.send("retry", node=node.number)
    assert desk.state["humans"] == ["black"] and desk.state["hasAside"]
    desk.refuse("no move to try again", "retry", node=0)
    desk.send("new", **NEW)
    assert not desk.state["hasAside"]
    desk.refuse("no reviewed game", "back")


def test_a_game_that_is_not_over_goes_on_after_a_look_aside(desk: Desk) -> None:
    desk.play_and_wait("C3")
    review(desk)
    file = desk.saved()
    desk.send("retry", node=1)
    desk.send("back")
    assert not desk.state["isStudy"] and desk.state["isYourTurn"] and len(desk.vertices) == 2
    desk.play_and_wait(free_points(desk)[0])
    assert desk.saved() == file and len(read_sgf(file).moves) == 4


def test_what_another_program_has_saved_stays_after_a_look_aside(desk: Desk, tmp_path: Path) -> None:
    desk.play_and_wait("C3")
    review(desk)
    file = desk.saved()
    desk.send("retry", node=1)
    content = file.read_text().rstrip().removesuffix(")") + ";B[aa])"
    file.write_text(content)
    desk.send("back")
    desk.play_and_wait(free_points(desk)[0])
    assert file.read_text() == content and desk.played.file.path != file
    assert f"another program has changed {file}" in str(desk.state["notice"])


def test_an_edited_record_that_another_program_has_changed_stays(desk: Desk) -> None:
    desk.send("open", sgf=RECORD)
    desk.send("go", step=1)
    desk.play("A1")
    file = desk.saved()
    review(desk)
    desk.send("retry", node=1)
    content = file.read_text() + "\n"
    file.write_text(content)
    desk.send("back")
    desk.play("B1")
    assert file.read_text() == content and desk.played.file.path != file


def test_points_lost_are_known_for_stones_that_were_judged(study: Desk) -> None:
    assert study.state["losses"] == {}
    line = study.session.line
    for node, lead in zip(line, (0.0, -9.4, -9.0, -9.2), strict=True):
        study.values.set(node, Value(study.session.to_move(node), 0.5, lead, JUDGED_VISITS, "C3"))
    study.session.show()
    assert study.state["losses"] == {"E5": "\u22129"}  # not what is less than half a point, nor a gain
    study.values.reviewed[line[3]] = 2.6
    study.session.show()
    assert study.state["losses"] == {"E5": "\u22129", "G7": "\u22123"}
    study.send("go", move=0)
    assert study.state["losses"] == {}
