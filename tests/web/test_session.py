"""The session of a game in the browser, without a server: moves, undo, hints and analysis."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from web.conftest import NEW, RECORD, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK, WHITE
from gtp_engine.play.engine import Engine, EngineSettings
from gtp_engine.sgf import read_sgf


def test_the_engine_answers_a_move_and_both_are_on_disk(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    assert desk.published[-1]["task"]["kind"] == "move" and not desk.published[-1]["isYourTurn"]
    desk.wait()
    state = desk.published[-1]
    assert state["moves"] == 2 and state["isYourTurn"] and state["lastMove"]["colour"] == "white"
    assert state["stones"][2][2] == "X" and sum(row.count("O") for row in state["stones"]) == 1
    (file,) = tmp_path.glob("*.sgf")
    assert len(read_sgf(file).moves) == 2 and state["file"] == file.name


def test_a_program_that_was_started_again_numbers_its_games_differently(engine: Engine, tmp_path: Path) -> None:
    one, other = Desk(engine, tmp_path), Desk(engine, tmp_path)
    assert one.session.tree_number != other.session.tree_number
    with pytest.raises(UserError, match="another game is shown now"):
        other.send("comment", tree=one.session.tree_number, text="mine")
    number = one.session.tree_number
    one.send("open", sgf=RECORD)
    assert one.session.tree_number == number + 1


def test_every_state_is_the_whole_one(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    assert {**desk.published[-1], "clock": None} == {**desk.session.state(), "clock": None}
    assert desk.published[-1]["board"].startswith("<svg ")


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"type": "play", "point": "C3"}, "invalid tree"),
        ({"type": "undo"}, "you have no move to take back"),
        ({"type": "line"}, "invalid move"),
        ({"type": "resume", "game": "../../etc/passwd"}, "no unfinished game"),
        ({"type": "nonsense"}, "unknown type 'nonsense'"),
        ({"type": "new", **NEW, "width": 99}, "invalid width"),
        ({"type": "new", **NEW, "rules": "chess"}, "invalid rules"),
        ({"type": "new", **NEW, "rank": "11"}, "invalid rank"),
        ({"type": "new", **NEW, "visits": 10**9}, "invalid number of visits"),
        ({"type": "new", **NEW, "seconds": "1"}, "invalid time"),
        ({"type": "new", **NEW, "handicap": 9}, "invalid number of stones"),
        ({"type": "new"}, "invalid width"),
    ],
)
def test_what_cannot_be_done_changes_nothing(desk: Desk, message: dict[str, object], problem: str) -> None:
    before = desk.session.state()
    with pytest.raises(UserError, match=problem):
        desk.session.receive(message)
    assert desk.session.state() == before


def test_illegal_moves_are_refused(desk: Desk) -> None:
    desk.play("C3")
    with pytest.raises(UserError, match="it is the engine's turn"):
        desk.play("B2")
    desk.wait()
    with pytest.raises(UserError, match="C3 is occupied"):
        desk.play("C3")


def test_moves_are_for_the_position_that_the_page_showed(desk: Desk) -> None:
    with pytest.raises(UserError, match="invalid vertex 'K9'"):
        desk.play("K9")
    with pytest.raises(UserError, match="invalid point"):
        desk.send("play", point=7)
    old, tree = desk.session.node.number, desk.session.tree_number
    desk.play("C3")
    desk.wait()
    with pytest.raises(UserError, match="another position is shown now"):
        desk.send("play", point="B2", node=old)
    # As many moves as before, but others: with the depth alone a move for one position was played in another.
    node = desk.session.node.number
    desk.send("undo")
    desk.play("D4")
    desk.wait()
    with pytest.raises(UserError, match="has been deleted"):
        desk.send("play", point="B2", node=node)
    desk.send("new", **NEW)
    with pytest.raises(UserError, match="another game is shown now"):
        desk.send("play", point="B2", node=0, tree=tree)


def test_nothing_is_done_to_a_game_that_the_page_did_not_show(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    old = {"node": desk.session.node.number, "tree": desk.session.tree_number}
    with pytest.raises(UserError, match="another position is shown now"):
        desk.send("branch", node=0)
    desk.send("resign", node=0)  # the engine has moved while the user was asked
    assert desk.published[-1]["result"] == {"winner": "white", "by": "resignation", "points": 0.0}
    desk.send("open", sgf=RECORD)
    before = desk.session.state()
    for kind in ("resign", "branch", "go"):
        with pytest.raises(UserError, match="another game is shown now"):
            desk.send(kind, **old)
    assert desk.session.state() == before


def test_undo_while_the_engine_thinks_drops_its_answer(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    engine.settings = EngineSettings(network="uniform", threads=1, seconds=60.0)
    desk.play("C3")
    begun = time.monotonic()
    desk.send("undo")
    desk.play("B2")
    desk.send("stop")
    desk.wait()
    assert time.monotonic() - begun < 30  # neither search has used its minute
    assert desk.vertices[0] == "B2" and len(desk.vertices) == 2


def test_the_engines_opinion_of_a_move_goes_with_the_move(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    assert desk.published[-1]["opinion"]["toMove"] == "white"
    desk.send("undo")
    assert desk.published[-1]["opinion"] is None
    desk.play("C3")
    desk.wait()
    assert desk.published[-1]["opinion"] is not None


def test_undo_of_a_comment_lets_the_engine_think_on(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    engine.settings = EngineSettings(network="uniform", threads=1, seconds=60.0)
    desk.play("C3")
    task = desk.session.task
    assert task is not None and task.kind == "move"
    desk.send("comment", text="mine")
    desk.send("undo")
    assert desk.session.task is task and desk.session.node.comment == ""
    desk.send("comment", text="mine again")
    desk.send("stop")
    desk.wait()
    answer = desk.vertices[1]
    desk.send("undo")  # the comment is older than the engine's move, which stays
    assert desk.vertices == ["C3", answer] and desk.session.task is None
    assert all(node.comment == "" for node in desk.played.tree)
    desk.send("go", move=0)
    desk.send("comment", text="of the start")
    assert desk.published[-1]["canUndo"]
    desk.send("undo")
    assert desk.published[-1]["comment"] == "" and desk.published[-1]["place"] == 0
    assert not desk.published[-1]["canUndo"]
    desk.send("go", move=2)
    desk.send("undo")
    assert desk.vertices == []


def test_a_hint_has_lines_and_a_move_ends_it(desk: Desk) -> None:
    desk.send("hint")
    desk.wait()
    report = desk.published[-1]["report"]
    assert report["kind"] == "hint" and report["moves"]
    best = report["moves"][0]
    answer = desk.send("line", move=best["vertex"])
    assert answer is not None and answer["board"] != desk.published[-1]["board"]
    desk.send("hint")
    desk.play("C3")
    assert desk.published[-1]["report"] is None and desk.published[-1]["task"]["kind"] == "move"
    # The page may ask for the line before it sees the move: no error of the user's.
    board = desk.published[-1]["board"]
    assert desk.send("line", move=best["vertex"]) == {"type": "line", "of": best["vertex"], "board": board}
    desk.wait()
    assert desk.published[-1]["report"] is None


def test_the_score_shows_ownership(desk: Desk) -> None:
    desk.send("score")
    desk.wait()
    assert 'class="ownership"' in desk.published[-1]["board"]
    report = desk.published[-1]["report"]
    assert report["kind"] == "score" and report["moves"] == []  # the moves are what a hint is for
    assert desk.session.report is not None
    answer = desk.send("line", move=desk.session.report.moves[0].vertex)
    assert answer is not None and answer["board"] == desk.published[-1]["board"]


def test_two_passes_are_counted(engine: Engine, tmp_path: Path) -> None:
    engine.set_rules("tromp-taylor")  # under which no stones are dead until somebody says so
    desk = Desk(engine, tmp_path, frozenset((BLACK, WHITE)))
    for point in ("B3", "D3", "B2", "D2", "B4", "D4", "B1", "D1", "B5", "D5", "C3", "pass", "pass"):
        desk.play(point)
    assert desk.published[-1]["task"]["kind"] == "count"
    desk.wait()
    result = desk.published[-1]["result"]
    assert result["by"] == "points" and result["winner"] == "white"  # 11 against 10 points and komi
    (file,) = tmp_path.glob("*.sgf")
    assert read_sgf(file).result == f"W+{result['points']:g}"
    with pytest.raises(UserError, match="the game is over"):
        desk.play("A1")
    assert desk.published[-1]["dead"] == []
    desk.send("dead", point="D1")  # White's only chain; then the whole board is Black's
    state = desk.published[-1]
    assert state["result"] == {"winner": "black", "by": "points", "points": 18.0} and len(state["dead"]) == 5
    assert read_sgf(file).result == "B+18"
    desk.send("dead", point="D5")
    assert desk.published[-1]["result"] == result
    with pytest.raises(UserError, match="there is no stone"):
        desk.send("dead", point="A1")
    desk.send("undo")
    assert desk.published[-1]["result"] is None and len(desk.vertices) == 12


def test_a_resignation_before_the_count_stays_one(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path, frozenset((BLACK, WHITE)))
    for point in ("C3", "pass", "pass"):
        desk.play(point)
    assert desk.published[-1]["task"]["kind"] == "count"
    desk.send("resign")
    state = desk.published[-1]
    assert state["isOver"] and not state["isCounted"] and 'class="ownership"' not in state["board"]
    with pytest.raises(UserError, match="the game has not been counted"):
        desk.send("dead", point="C3")
    assert desk.played.result == "B+R"  # White was to move
    desk.send("undo")
    desk.wait()
    assert desk.published[-1]["isCounted"] and desk.published[-1]["result"]["by"] == "points"


def test_a_person_may_resign_while_the_engine_thinks(desk: Desk) -> None:
    desk.play("C3")
    desk.send("resign")
    assert desk.published[-1]["result"] == {"winner": "white", "by": "resignation", "points": 0.0}
    assert desk.session.task is None


def test_a_rank_that_is_not_reached_is_said(desk: Desk) -> None:
    assert desk.session.state()["rankNotes"] == []
    desk.send("network", network="b4c32-9x9")
    new = {**NEW, "width": 9, "height": 9, "colour": "black"}
    desk.send("new", **{**new, "rank": "5d"})
    (note,) = desk.published[-1]["rankNotes"]
    assert note["name"] == "rank.notReached" and note["values"]["size"] == "9x9"
    assert note["values"]["rank"] == {"name": "dan", "values": {"number": 5}}
    desk.send("new", **{**new, "rank": "4d"})
    assert desk.published[-1]["rankNotes"] == []
    desk.send("new", **{**new, "rank": "5d", "colour": "both"})
    assert desk.published[-1]["rankNotes"] == []  # the engine does not play
    desk.send("network", network="none")
    desk.send("new", **{**new, "rank": "4d"})
    assert "rank.unmeasured" in [note["name"] for note in desk.published[-1]["rankNotes"]]


def test_undo_of_a_comment_shows_its_position(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    desk.send("go", move=1)
    desk.send("comment", text="mine")
    desk.send("go", move=2)
    desk.send("undo")
    assert (desk.published[-1]["place"], desk.published[-1]["comment"]) == (1, "") and len(desk.vertices) == 2
    desk.send("go", move=2)
    desk.send("undo")
    assert desk.vertices == []


def test_what_came_after_a_resignation_is_undone_before_it(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    desk.send("comment", text="before")
    desk.send("resign")
    desk.send("comment", text="after")
    desk.send("mark", point="C3", mark="square")
    for comment, is_over in (("after", True), ("before", True), ("before", False), ("", False)):
        desk.send("undo")
        state = desk.published[-1]
        assert (state["comment"], state["isOver"], state["moves"]) == (comment, is_over, 2)
    desk.send("undo")
    assert desk.vertices == [] and not desk.published[-1]["canUndo"]


def test_a_resignation_while_the_engine_thinks_is_undone_alone(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    engine.settings = EngineSettings(network="uniform", threads=1, seconds=60.0)
    desk.play("C3")
    desk.send("resign")
    desk.send("undo")
    assert desk.published[-1]["task"]["kind"] == "move" and not desk.published[-1]["isOver"]
    desk.send("stop")
    desk.wait()
    assert desk.vertices[0] == "C3" and len(desk.vertices) == 2


def test_handicap_stones_are_on_the_board(desk: Desk) -> None:
    desk.send("new", **{**NEW, "colour": "both", "handicap": 2})
    state = desk.published[-1]
    assert state["handicap"] == 2 and state["komi"] == 0.5 and state["toMove"] == "white" and state["isUsualKomi"]
    desk.send("new", **{**NEW, "colour": "both", "komi": 0.5})
    assert not desk.published[-1]["isUsualKomi"] and not desk.published[-1]["isRecord"]
    desk.send("open", sgf=RECORD)
    assert desk.published[-1]["isRecord"]


def test_an_analysis_is_shown_while_it_runs_and_follows_the_game(desk: Desk) -> None:
    desk.send("analyse", visits=100_000)
    desk.wait(lambda: desk.session.report is not None)
    state = desk.published[-1]
    assert state["task"]["kind"] == "analysis" and state["report"]["moves"] and state["isYourTurn"]
    desk.play("C3")
    desk.wait(lambda: desk.session.task is not None and desk.session.task.kind == "analysis")
    desk.wait(lambda: desk.session.report is not None)
    assert len(desk.vertices) == 2
    assert [place for place, *_ in desk.published[-1]["curve"]] == [0, 1, 2]
    desk.send("analyse", visits=None)
    assert desk.session.task is None and desk.published[-1]["report"] is None


@pytest.mark.parametrize("asked", ["hint", "score"])
def test_a_hint_switches_an_analysis_off(desk: Desk, asked: str) -> None:
    desk.send("analyse", visits=100_000)
    desk.send(asked)
    desk.wait()
    state = desk.published[-1]
    assert (state["report"]["kind"], state["analysisVisits"], state["task"]) == (asked, None, None)


def test_an_analysis_ends_after_its_visits(desk: Desk) -> None:
    desk.send("analyse", visits=50)
    desk.wait()
    assert desk.published[-1]["report"]["visits"] == 50


def test_layers_change_the_board(desk: Desk) -> None:
    desk.send("analyse", visits=50)
    desk.wait()
    boards = {}
    for layer in ("candidates", "ownership", "policy"):
        desk.send("layer", layer=layer)
        boards[layer] = desk.published[-1]["board"]
    assert len(set(boards.values())) == 3
    assert 'class="ownership"' in boards["ownership"]


def test_earlier_positions_are_shown_and_analysed_but_not_played_on(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    desk.send("go", move=1)
    state = desk.published[-1]
    assert (state["place"], state["moves"], state["isYourTurn"]) == (1, 2, False)
    assert sum(row.count("O") for row in state["stones"]) == 0
    with pytest.raises(UserError, match="an earlier position is shown"):
        desk.play("B2")
    desk.send("analyse", visits=30)
    desk.wait()
    assert desk.published[-1]["report"]["toMove"] == "white"
    with pytest.raises(UserError, match="invalid move"):
        desk.send("go", move=3)
    desk.send("undo")
    assert desk.published[-1]["place"] == 0


def test_looking_back_leaves_the_engine_thinking(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    desk.play("C3")
    desk.send("go", move=0)
    assert desk.session.task is not None and desk.session.task.kind == "move"
    desk.wait()
    assert len(desk.vertices) == 2 and desk.published[-1]["place"] == 2


def test_only_networks_that_are_offered_can_be_chosen(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    with pytest.raises(UserError, match="invalid network"):
        desk.send("network", network="/etc/passwd")
    desk.send("network", network="none")
    desk.wait(desk.engine.ready.done)
    state = desk.published[-1]
    assert state["network"] == "none" and state["moves"] == 2


def test_another_network_leaves_the_position_that_is_shown(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    desk.send("go", move=1)
    desk.send("score")
    desk.wait()
    desk.send("network", network="none")
    state = desk.published[-1]
    assert (state["place"], state["clock"]["running"], state["report"]) == (1, None, None)


def test_a_board_too_large_for_the_network_is_refused_if_strict(desk: Desk, engine: Engine) -> None:
    engine.settings = replace(engine.settings, network="auto", strict=True)
    desk.play("C3")
    settings, too_large = engine.settings, "unacceptable size 21x21: the network plays on boards up to 19x19; choose"
    for kind, values in {
        "new": NEW | {"width": 21, "height": 21, "rank": "12k"},
        "open": {"sgf": "(;GM[1]SZ[21];B[cc])"},
    }.items():
        with pytest.raises(UserError, match=too_large):
            desk.send(kind, **values)
    assert engine.settings == settings
    desk.wait()  # the engine's answer was not dropped
    assert desk.published[-1]["moves"] == 2


def test_undo_is_offered_only_if_a_person_has_moved(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path, frozenset((WHITE,)))
    desk.wait(lambda: desk.vertices)
    assert not desk.published[-1]["canUndo"]
    with pytest.raises(UserError, match="no move to take back"):
        desk.send("undo")
    desk.send("resign")
    assert desk.published[-1]["canUndo"]
    desk.send("undo")
    assert len(desk.vertices) == 1 and desk.published[-1]["result"] is None


def test_a_failed_search_is_shown_and_not_repeated(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.wait(desk.engine.ready.done)
    refused = desk.engine.raw_evaluations()  # this evaluator has none: a future with an error
    monkeypatch.setattr(desk.engine, "genmove", lambda: refused)
    desk.play("C3")
    desk.wait()
    assert desk.published[-1]["problem"] and desk.published[-1]["task"] is None
    desk.send("undo")
    assert desk.published[-1]["problem"] is None


def test_another_position_is_searched_after_a_search_that_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.play("C3")
    desk.wait()
    refused = desk.engine.raw_evaluations()
    with monkeypatch.context() as patched:
        patched.setattr(desk.engine, "analyze", lambda _: refused)
        desk.send("analyse", visits=50)
        desk.wait()
    assert desk.published[-1]["problem"] and desk.published[-1]["task"] is None
    desk.send("go", move=1)
    assert desk.published[-1]["problem"] is None and desk.published[-1]["task"]["kind"] == "analysis"
