"""Games with time limits in the browser, by a clock that the tests move."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web import conftest
from web.conftest import FROM_HERE, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.engine.clock import NO_LIMIT, TimeSettings
from gtp_engine.engine.engine import Engine
from gtp_engine.go.coords import WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf, read_text
from gtp_engine.table.saved_games import open_game

NEW = {**conftest.NEW, "width": 5, "height": 5, "colour": "black", "rank": "max"}


class Hands:
    """The time by the clock on the wall."""

    now = 1000.0

    def move(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    hands = Hands()
    monkeypatch.setattr("gtp_engine.table.game_clock.monotonic", lambda: hands.now)
    return hands


def begin(desk: Desk, time: str | None, **choices: Any) -> None:
    desk.send("new", **{**NEW, "time": time, **choices})


def left(desk: Desk, colour: str = "black") -> Any:
    return desk.fresh()["clock"]["left"][colour]


def saved(folder: Path) -> list[dict[str, str]]:
    """The times in the nodes of the only file."""
    (file,) = folder.glob("*.sgf")
    names = ("TM", "OT", "BL", "OB", "WL", "OW")
    nodes = (node.properties for node in read_sgf(file).main_line)
    return [{name: read_text(node, name) for name in names if name in node} for node in nodes]


def test_the_clock_runs_from_the_first_move_on(desk: Desk, hands: Hands) -> None:
    begin(desk, "absolute 100")
    hands.move(50)
    assert left(desk) == left(desk, "white") == (100.0, 0)
    desk.play_and_wait("C3")
    assert desk.state["clock"]["running"] == "black"
    hands.move(30)
    assert left(desk) == (70.0, 0)
    desk.play_and_wait("B2")
    assert left(desk) == (70.0, 0) and left(desk, "white") == (100.0, 0)


def test_who_runs_out_of_time_loses(desk: Desk, hands: Hands) -> None:
    begin(desk, "absolute 100")
    desk.play_and_wait("C3")
    hands.move(99.9)
    desk.session.check_time()
    assert desk.state["result"] is None
    hands.move(0.2)
    desk.refuse("the game is over", "play", point="B2")  # a move that comes too late
    state = desk.state
    assert state["result"] == {"winner": "white", "by": "time", "points": 0.0} and len(desk.vertices) == 2
    assert state["isOver"] and not state["isYourTurn"] and state["clock"]["running"] is None
    file = desk.saved()
    assert read_sgf(file).result == "W+T"
    desk.send("undo")  # gives the turn again, with the time at its beginning
    assert desk.state["result"] is None and left(desk) == (100.0, 0) and len(desk.vertices) == 2
    assert desk.state["clock"]["running"] == "black" and read_sgf(file).result == ""


def test_the_engine_can_lose_on_time_too(desk: Desk, hands: Hands) -> None:
    begin(desk, "absolute 100")
    desk.play("C3")
    assert desk.session.task is not None and desk.state["clock"]["running"] == "white"
    hands.move(101)
    desk.wait()
    assert desk.state["result"] == {"winner": "black", "by": "time", "points": 0.0}
    assert desk.vertices == ["C3"]
    assert read_sgf(desk.saved()).result == "B+T"
    desk.send("undo")
    assert desk.vertices == [] and desk.state["result"] is None


def test_periods_go_by_while_nobody_moves(desk: Desk, hands: Hands) -> None:
    begin(desk, "byoyomi 10 30 2")
    desk.play_and_wait("C3")
    for seconds, periods in ((15, 2), (30, 1)):
        hands.move(seconds)
        desk.session.check_time()
        assert desk.state["clock"]["left"]["black"] == (25.0, periods)  # as all pages are told
    hands.move(1)
    published = desk.state
    desk.session.check_time()
    assert desk.state is published  # which is still true
    hands.move(25)
    desk.session.check_time()
    assert desk.state["result"]["by"] == "time"


def test_the_engine_knows_its_time(desk: Desk, hands: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[tuple[int, float, int]] = []
    begin(desk, "byoyomi 100 30 3")
    assert desk.engine.clock.settings == TimeSettings("byoyomi", 100.0, 30.0, 3)
    monkeypatch.setattr(desk.engine.clock, "time_left", lambda *report: reports.append(report))
    desk.play_and_wait("C3")
    desk.play("B2")
    hands.move(70)
    desk.wait()
    desk.play_and_wait("B4")
    assert reports == [(WHITE, 100.0, 0), (WHITE, 100.0, 0), (WHITE, 30.0, 0)]
    begin(desk, None)
    assert desk.engine.clock.settings == NO_LIMIT


@pytest.mark.parametrize(
    ("leave", "come_back"),
    [
        (lambda desk: desk.send("go", move=1), lambda desk: desk.send("go", move=2)),
        (lambda desk: desk.send("analyse", visits=50), lambda desk: desk.send("analyse", visits=None)),
        (lambda desk: desk.session.watch(False), lambda desk: desk.session.watch(True)),
    ],
)
def test_a_persons_clock_stands_while_nobody_plays(
    desk: Desk, hands: Hands, leave: Callable[[Desk], object], come_back: Callable[[Desk], object]
) -> None:
    begin(desk, "absolute 100")
    desk.play_and_wait("C3")
    hands.move(20)
    leave(desk)
    assert desk.state["clock"]["running"] is None
    hands.move(500)
    come_back(desk)
    assert desk.state["clock"]["running"] == "black" and left(desk) == (80.0, 0)
    hands.move(30)
    desk.play("B2")
    leave(desk)  # the engine's goes on
    assert left(desk) == (50.0, 0) and desk.state["clock"]["running"] == "white"


def test_the_clock_stands_during_a_review(desk: Desk, hands: Hands) -> None:
    begin(desk, "absolute 100")
    desk.play_and_wait("C3")
    desk.send("review", visits=2)
    assert desk.state["clock"]["running"] is None
    hands.move(500)
    desk.wait(lambda: desk.fresh()["review"]["stage"] == "done")
    desk.wait(lambda: desk.state["clock"]["running"] == "black")
    assert left(desk) == (100.0, 0)


def test_undo_gives_back_the_time_of_the_moves(desk: Desk, hands: Hands) -> None:
    begin(desk, "byoyomi 100 30 3")
    for point, seconds in (("C3", 0), ("B2", 20), ("B4", 110)):
        hands.move(seconds)
        desk.play_and_wait(point)
    assert left(desk) == (30.0, 2)
    desk.send("comment", text="mine")
    hands.move(10)
    desk.send("undo")
    assert left(desk) == (20.0, 2)  # a comment takes no time
    desk.send("undo")
    assert left(desk) == (80.0, 0)
    hands.move(10)
    desk.send("undo")
    assert left(desk) == (100.0, 0)
    desk.send("undo")
    assert desk.vertices == [] and left(desk) == (100.0, 0) and desk.state["clock"]["running"] is None


def play_into_byoyomi(desk: Desk, hands: Hands) -> None:
    """Plays three moves for Black; the main time runs out during the last one."""
    begin(desk, "byoyomi 100 30 3", visits=None, rank="20k")
    desk.play_and_wait("C3")
    for point, seconds in (("B2", 40), ("B4", 70)):
        hands.move(seconds)
        desk.play_and_wait(point)


def test_the_file_has_the_time_and_the_game_resumes_with_it(
    desk: Desk, engine: Engine, hands: Hands, tmp_path: Path
) -> None:
    play_into_byoyomi(desk, hands)
    hands.move(12)
    desk.session.close()  # in the middle of Black's turn
    engine_time, limits = {"WL": "100.00"}, {"TM": "100", "OT": "3x30 byo-yomi"}
    first = [limits, {"BL": "100.00"}, engine_time, {"BL": "60.00"}, engine_time]
    assert saved(tmp_path) == [*first, {"BL": "30.00", "OB": "3"}, {**engine_time, "BL": "18.00", "OB": "3"}]
    (file,) = tmp_path.glob("*.sgf")
    root = read_sgf(file).root.properties
    assert not {"GEBT", "GEWT", "GESEC", "GEVIS"} & set(root)
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    again.send("resume", game=file.stem)
    state = again.state
    assert (state["clock"]["system"], state["clock"]["running"]) == ("byoyomi", "black")
    assert left(again) == (18.0, 3) and left(again, "white") == (100.0, 0)
    assert engine.clock.settings == TimeSettings("byoyomi", 100.0, 30.0, 3)
    assert (engine.settings.seconds, engine.settings.visits) == (None, None)
    hands.move(8)
    again.play_and_wait("D4")
    assert saved(tmp_path)[6:8] == [engine_time, {"BL": "30.00", "OB": "3"}]
    again.send("undo")
    assert left(again) == (30.0, 3)  # the turn begins anew


@pytest.mark.parametrize(("move", "times"), [(2, ((100.0, 0), (100.0, 0))), (5, ((30.0, 3), (100.0, 0)))])
def test_a_game_that_continues_after_an_earlier_move_has_the_times_of_that_move(
    desk: Desk, engine: Engine, hands: Hands, tmp_path: Path, move: int, times: Any
) -> None:
    play_into_byoyomi(desk, hands)
    desk.session.close()
    (file,) = tmp_path.glob("*.sgf")
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    again.played.load(open_game(file, move=move))
    assert again.played.time == engine.clock.settings == TimeSettings("byoyomi", 100.0, 30.0, 3)
    assert (left(again), left(again, "white")) == times


@pytest.mark.parametrize(("times", "expected"), [("OT[5x0 byo-yomi]", None), ("OT[3x30 byo-yomi]", (20.0, 2))])
def test_odd_times_in_a_file_do_not_end_the_game(
    desk: Desk, hands: Hands, tmp_path: Path, times: str, expected: Any
) -> None:
    players = "AP[gtp_engine]PB[human]PW[gtp_engine]"
    (tmp_path / "odd.sgf").write_text(f"(;GM[1]SZ[5]{players}TM[600]{times};B[aa]BL[20]OB[2];W[bb]WL[590])")
    desk.send("resume", game="odd")
    hands.move(0.01)
    desk.session.check_time()
    assert desk.state["result"] is None
    assert left(desk) == (expected and (pytest.approx(expected[0] - 0.01), expected[1]))


def test_an_opened_record_has_no_clock_and_keeps_its_times(desk: Desk, hands: Hands, tmp_path: Path) -> None:
    begin(desk, "absolute 100")
    record = "(;GM[1]SZ[5]TM[600]OT[5x30 byo-yomi]PB[Ann]PW[Ben];B[aa]BL[590]WL[600];W[bb]WL[580])"
    desk.send("open", sgf=record)
    assert desk.state["clock"]["system"] == "none"
    desk.play("C3")
    hands.move(1000)
    desk.play("D4")
    limits = {"TM": "600", "OT": "5x30 byo-yomi"}
    assert saved(tmp_path)[:3] == [limits, {"BL": "590", "WL": "600"}, {"WL": "580"}]
    desk.send("branch", **FROM_HERE)
    assert desk.played.time == NO_LIMIT


def test_a_game_from_a_position_has_the_limits_that_are_chosen(desk: Desk, hands: Hands) -> None:
    begin(desk, "absolute 100")
    desk.play_and_wait("C3")
    hands.move(30)
    desk.play_and_wait("B2")
    desk.send("go", move=2)
    desk.send("branch", **FROM_HERE, time="absolute 100")
    assert left(desk) == (100.0, 0) and desk.state["clock"]["running"] == "black"


def test_variations_of_two_people_take_no_time(pair: Desk, hands: Hands) -> None:
    begin(pair, "absolute 100", colour="both")
    for point in ("C3", "B2", "D4"):
        hands.move(10)
        pair.play(point)
    assert (left(pair), left(pair, "white")) == ((90.0, 0), (90.0, 0))
    hands.move(5)
    pair.send("go", move=1)
    pair.play("A1")
    hands.move(500)
    assert pair.state["clock"]["running"] is None
    pair.send("variation", step=1)
    pair.send("go", move=3)
    assert (left(pair), left(pair, "white")) == ((90.0, 0), (85.0, 0))
    assert pair.state["clock"]["running"] == "white"


def test_undo_after_resume_leaves_a_variation_beside_the_game(pair: Desk, hands: Hands) -> None:
    begin(pair, "absolute 600", colour="both")
    for point in ("C3", "B4", "C4"):
        pair.play(point)
    pair.send("go", move=2)
    for point in ("D2", "D3"):
        pair.play(point)
    file = pair.saved()

    def resume() -> None:
        pair.send("open", sgf="(;GM[1]SZ[5])")
        pair.send("resume", game=file.stem)

    resume()
    pair.send("undo")
    for _ in range(2):  # likewise if the program ends here
        assert pair.vertices == ["C3", "B4"] and pair.state["clock"]["running"] == "black"
        resume()
    hands.move(10)
    pair.play("B3")
    hands.move(20)
    pair.play("A1")
    assert (left(pair), left(pair, "white")) == ((590.0, 0), (580.0, 0))
    resume()
    assert pair.vertices == ["C3", "B4", "B3", "A1"] and left(pair) == (590.0, 0)
    variation = read_sgf(file).main_line[2].children[1]
    assert len(variation.children) == 1  # D2 and D3


def test_time_lost_by_one_of_two_people_is_undone(pair: Desk, hands: Hands) -> None:
    begin(pair, "absolute 100", colour="both")
    for point in ("C3", "B2"):
        hands.move(10)
        pair.play(point)
    hands.move(60)
    pair.send("comment", text="it will be close")
    hands.move(60)
    pair.session.check_time()
    assert pair.state["result"]["winner"] == "white"
    pair.send("undo")
    assert pair.state["result"] is None and left(pair) == (100.0, 0)


@pytest.mark.parametrize(
    ("time", "problem"),
    [
        (5, "invalid time 5: expected text$"),
        ("", "invalid time system"),
        ("sundial 5", "invalid time system 'sundial': expected none, absolute, byoyomi, canadian or fischer$"),
        ("fischer-capped 5 5 5 5", "invalid time system"),
        ("absolute soon", "invalid time 'soon'"),
        ("fischer 0 10", "invalid time: the main time must be more than 0 if there is no overtime"),
        ("absolute 1e9", "invalid main time"),
        ("byoyomi 60 1e9 3", "invalid overtime period"),
        ("byoyomi 60 30 1e9", "invalid count of periods or stones"),
        ("fischer 60 1e9", "invalid increment"),
    ],
)
def test_invalid_limits_are_one_clear_line(desk: Desk, time: Any, problem: str) -> None:
    before = desk.fresh()
    with pytest.raises(UserError, match=problem) as error:
        begin(desk, time)
    assert "\n" not in str(error.value) and desk.fresh() == before
