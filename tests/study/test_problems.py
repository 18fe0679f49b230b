"""Which group a problem is about, what is sought, and whether moves are right: proved, or by the record."""

import threading
from typing import Any

import pytest

from gtp_engine import Outcome
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.kept_problems import Missed
from gtp_engine.study.problems import find_goal, judge, judge_by_record, key_of, problem_of

# White's bulky five in a corner, as in tests/solver; and beside it a Black stone more on the vital point.
STONES = "SZ[7]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab]"


def goal(text: str, missed: Missed | None = None) -> Any:
    problem = problem_of(read_sgf(f"(;{text})".encode()), missed)
    return problem, find_goal(problem, 5.0, threading.Event(), lambda number, count: None)


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("", BLACK),
        ("PL[W]", WHITE),
        (";W[aa]", WHITE),
        ("C[White to live]", WHITE),
        ("C[白先活]", WHITE),
        ("PL[B]C[White to live]", BLACK),
        ("C[White plays well];B[aa]", BLACK),
    ],
)
def test_whose_turn_it_is(text: str, player: int) -> None:
    assert problem_of(read_sgf(f"(;{STONES}{text})".encode())).game.to_move == player


def test_the_group_whose_fate_depends_on_the_first_move_is_found() -> None:
    problem, kill = goal(STONES)
    assert kill.outcome is Outcome.DIES and problem.game.point("D7") in kill.solution.target
    _, live = goal(f"{STONES}PL[W]")
    assert live.outcome is Outcome.LIVES and live.solution.defender == WHITE
    assert goal(STONES.replace("AW", "AB[ba]AW"))[1] is None  # it is dead
    assert goal("SZ[7]")[1] is None and goal("SZ[19]AW[aa]")[1] is None


def test_what_the_record_marks_or_names_is_meant() -> None:
    named = STONES.replace("AW", "[gg]AW[gf]")  # with a stone of Black's in another corner
    for text, missed in (("TR[da]LB[aa:1]", None), ("C[Can D7 die?]", None), ("", Missed("A7", 9.0, ("B7",), "D7"))):
        assert goal(named + text, missed)[1].solution.defender == WHITE
    assert goal(named + "SQ[gg]PL[W]")[1] is None  # it is dead


def test_moves_are_right_if_they_lead_to_what_is_sought() -> None:
    problem, kill = goal(STONES)
    verdicts = {}
    for vertex in ("B7", "C7", "pass"):
        after = problem.game.copy()
        after.play(after.to_move, vertex)
        verdicts[vertex] = judge(after, kill, 5.0, threading.Event())
    assert verdicts["B7"].is_right and verdicts["B7"].outcome is Outcome.DIES
    assert not verdicts["C7"].is_right and verdicts["C7"].outcome is Outcome.LIVES
    assert not verdicts["pass"].is_right and problem.game.vertex(verdicts["pass"].reply) == "B7"
    after = problem.game.copy()
    for vertex in ("B7", "C7", "A7", "D4", "pass", "C7"):  # White fills its own eyes
        after.play(after.to_move, vertex)
    assert after.stone_at("D7") != WHITE and judge(after, kill, 5.0, threading.Event()).is_decided
    stopped = threading.Event()
    stopped.set()
    after = problem.game.copy()
    after.play(after.to_move, "A7")
    assert judge(after, kill, 5.0, stopped).is_right is None


def test_a_group_that_may_get_out_is_enclosed_if_the_record_says_so() -> None:
    text = "SZ[19]AB[ea][eb][cc][bc][ac]AW[da][db][cb][bb][ab]"  # White gets out on D17
    assert goal(text)[1] is None and goal(f"{text};B[dc]")[1] is None
    problem, kill = goal(f"{text};B[ba]")
    assert kill.outcome is Outcome.DIES and problem.game.point("D17") in kill.solution.within
    readings: list[tuple[int, int]] = []
    find_goal(problem, 1.0, threading.Event(), lambda *reading: readings.append(reading))
    groups = readings[0][1] // 2
    assert readings[: groups + 1] == [(number, 2 * groups) for number in range(1, groups + 2)]
    verdicts = {}
    for vertex in ("B19", "C19"):
        after = problem.game.copy()
        after.play(after.to_move, vertex)
        verdicts[vertex] = judge(after, kill, 5.0, threading.Event())
    assert verdicts["B19"].is_right and verdicts["B19"].is_conditional
    assert not verdicts["C19"].is_right and verdicts["C19"].outcome is Outcome.LIVES
    assert not verdicts["C19"].is_conditional  # it lives all the more if it may get out


def test_what_the_record_says() -> None:
    problem = problem_of(read_sgf(f"(;{STONES}(;B[ba];W[ca];B[aa])(;B[ca]))".encode()))
    named = {vertex: problem.game.point(vertex) for vertex in ("A7", "B7", "C7")}
    first = judge_by_record(problem, [named["B7"]])
    assert first.is_right and first.reply == named["C7"] and not first.is_decided
    assert judge_by_record(problem, [named["B7"], named["C7"], named["A7"]]).is_decided
    assert judge_by_record(problem, [named["C7"]]).is_right is None
    assert judge_by_record(problem, [named["A7"]]).is_right is False
    assert judge_by_record(problem_of(read_sgf(f"(;{STONES})".encode())), [named["B7"]]).is_right is None


def test_a_problem_is_the_same_in_every_file() -> None:
    one, same, other = (problem_of(read_sgf(f"(;{STONES}{text})".encode())) for text in ("", "C[x];B[ba]", "PL[W]"))
    assert key_of(one.game) == key_of(same.game) != key_of(other.game)
