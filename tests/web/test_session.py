"""The session of a game in the browser, without a server."""

import base64
import time
from dataclasses import replace
from pathlib import Path

import pytest
from web.conftest import Desk

from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK, WHITE
from gtp_engine.game.game import Game
from gtp_engine.play.engine import Engine, EngineSettings
from gtp_engine.play.loading import open_game, open_tree
from gtp_engine.play.recorded_clock import RecordedClock
from gtp_engine.sgf import read_sgf, read_tree
from gtp_engine.web.session import Session
from gtp_engine.web.values import JUDGED_VISITS, Value

NEW = {
    "width": 7,
    "height": 7,
    "colour": "white",
    "rank": "20k",
    "seconds": None,
    "visits": 4,
    "handicap": 0,
    "komi": None,
    "rules": "japanese",
}


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


def test_a_person_may_resign_while_the_engine_thinks(desk: Desk) -> None:
    desk.play("C3")
    desk.send("resign")
    assert desk.published[-1]["result"] == {"winner": "white", "by": "resignation", "points": 0.0}
    assert desk.session.task is None


def test_a_new_game_keeps_the_one_before(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    desk.wait()
    desk.send("new", **NEW)
    assert desk.published[-1]["task"]["kind"] == "move"  # the engine is Black
    desk.wait()
    state = desk.published[-1]
    assert (state["width"], state["rules"], state["rank"], state["komi"]) == (7, "japanese", "20k", 7.0)
    assert state["moves"] == 1 and state["humans"] == ["white"]
    assert len(list(tmp_path.glob("*.sgf"))) == 2


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


def test_a_saved_game_is_resumed_by_its_name(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    desk.wait()
    answer = desk.send("games")
    assert answer == {"type": "games", "games": []}  # the present one is not offered
    name = next(tmp_path.glob("*.sgf")).stem
    desk.send("new", **{**NEW, "colour": "black"})
    assert desk.send("games") == {"type": "games", "games": [name]}
    desk.send("resume", game=name)
    desk.wait()
    assert desk.vertices[0] == "C3" and desk.published[-1]["file"] == f"{name}.sgf"


def test_the_present_game_is_not_offered_by_whatever_path_it_was_opened(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.play("C3")
    desk.wait()
    (file,) = tmp_path.glob("*.sgf")
    monkeypatch.chdir(tmp_path)
    desk.played.load(open_game(Path(file.name)))
    assert desk.send("games") == {"type": "games", "games": []}


def test_a_resumed_game_has_its_times(desk: Desk, engine: Engine, tmp_path: Path) -> None:
    desk.send("new", **{**NEW, "colour": "black", "seconds": 7.5})
    desk.played.clock = RecordedClock(desk.played.tree, used={BLACK: 100.0, WHITE: 20.0})
    desk.play("C3")
    desk.wait()
    name = desk.published[-1]["file"].removesuffix(".sgf")
    # As after a crash: nothing but the file is left, and another program reads it.
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, seconds=3.0)
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    clock = again.session.state()["clock"]
    assert clock["used"] == {"black": 0.0, "white": 0.0} and clock["running"] is None
    again.send("resume", game=name)
    state = again.published[-1]
    used = state["clock"]["used"]
    assert 100 <= used["black"] < 110 and 20 <= used["white"] < 30
    assert (state["seconds"], state["visits"], state["rank"]) == (7.5, 4, "20k")
    again.send("new", **{**NEW, "colour": "black"})
    assert again.published[-1]["clock"]["used"]["white"] == 0.0


def test_a_resumed_game_has_the_engines_default_time(desk: Desk, engine: Engine, tmp_path: Path) -> None:
    desk.send("new", **{**NEW, "colour": "black", "rank": "max", "visits": None})
    desk.play("C3")
    desk.send("stop")
    desk.wait()
    name = desk.published[-1]["file"].removesuffix(".sgf")
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, seconds=60.0, visits=3)
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    again.send("resume", game=name)
    assert (again.published[-1]["seconds"], again.published[-1]["visits"]) == (5.0, None)


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


RECORD = "(;GM[1]SZ[9]KM[5.5]RU[Japanese]PB[Ann]PW[Ben]RE[W+R]C[the start];B[ee];W[cc]C[well played];B[gc])"


def test_a_record_is_opened_and_stepped_through(desk: Desk, tmp_path: Path) -> None:
    desk.send("open", sgf=RECORD)
    state = desk.published[-1]
    assert (state["width"], state["komi"], state["rules"], state["moves"]) == (9, 5.5, "japanese", 3)
    assert state["humans"] == ["black", "white"] and state["isYourTurn"] and state["result"] is None
    assert state["names"] == {"black": "Ann", "white": "Ben"}
    assert state["recordedResult"] == {"winner": "white", "by": "resignation", "points": 0.0}
    desk.send("go", move=2)
    assert desk.published[-1]["comment"] == "well played"
    assert list(tmp_path.iterdir()) == []  # opening saves nothing
    desk.send("go", move=3)
    desk.play("G3")
    (file,) = tmp_path.glob("*.sgf")
    assert len(read_sgf(file).moves) == 4


def test_the_page_says_that_a_file_has_other_games(desk: Desk, tmp_path: Path) -> None:
    desk.send("open", sgf=RECORD + RECORD)
    said = "only the first game in the file was opened"
    assert desk.published[-1]["notice"] == said
    desk.play("G3")
    assert desk.published[-1]["notice"] == said
    desk.send("open", sgf=RECORD)
    assert desk.published[-1]["notice"] is None
    path = tmp_path / "two.sgf"
    path.write_text(RECORD + RECORD)
    desk.played.load(open_tree(read_tree(path), path))
    assert Session(desk.played, desk.published.append, desk.calls.put).notice == said  # as `web FILE` begins


def test_a_record_leaves_the_engines_settings_alone(desk: Desk, engine: Engine) -> None:
    engine.settings = EngineSettings(network="uniform", threads=1, seed=1, visits=8, rank="25k")
    ours = "(;GM[1]SZ[5]AP[gtp_engine:1]PB[human]PW[gtp_engine]GESEC[60]GEVIS[7];B[cc];W[bb])"
    desk.send("open", sgf=ours)
    state = desk.published[-1]
    assert state["moves"] == 2 and (state["rank"], state["visits"], state["seconds"]) == ("25k", 8, None)
    desk.send("branch")
    assert desk.published[-1]["rank"] == "25k"


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("B+3.75", {"winner": "black", "by": "points", "points": 3.75}),
        ("W+F", {"winner": "white", "by": "forfeit", "points": 0.0}),
        ("B+", {"winner": "black", "by": "", "points": 0.0}),
        ("Draw", {"winner": None, "by": "draw", "points": 0.0}),
        ("Void", {"winner": None, "by": "void", "points": 0.0}),
        ("W+Illegal", {"winner": None, "by": "other", "points": 0.0, "text": "W+Illegal"}),
        ("", None),
    ],
)
def test_the_result_of_a_record_is_sent_in_parts(desk: Desk, written: str, parts: dict[str, object] | None) -> None:
    desk.send("open", sgf=f"(;GM[1]SZ[9]RE[{written}];B[ee])")
    assert desk.published[-1]["recordedResult"] == parts


@pytest.mark.parametrize(
    ("declared", "charset", "name"),
    [
        ("", "gb18030", "李昌镐九段"),
        ("", "cp932", "本因坊秀策のひらがな"),
        ("CA[GB2312]", "gb18030", "古力"),
        ("CA[UTF-8]", "gb18030", "古力九段执黑"),  # which is wrong
        ("", "utf-8", "José"),
    ],
)
def test_a_file_of_any_charset_is_opened_and_saved(
    desk: Desk, tmp_path: Path, declared: str, charset: str, name: str
) -> None:
    data = f"(;GM[1]SZ[9]{declared}PB[{name}]C[{name}];B[ee])".encode(charset)
    desk.send("open", file=base64.b64encode(data).decode())
    assert desk.published[-1]["names"]["black"] == name
    desk.send("go", move=0)
    assert desk.published[-1]["comment"] == name
    desk.play("C3")
    (file,) = tmp_path.glob("*.sgf")
    assert read_sgf(file).black == name and name in file.read_text("utf-8")


def test_the_charset_of_a_pasted_text_is_that_of_the_file_it_comes_from(desk: Desk) -> None:
    for declared, name in (("GB2312", "José é"), ("Shift_JIS", "古力"), ("ISO-8859-1", "本因坊")):
        desk.send("open", sgf=f"(;GM[1]SZ[9]CA[{declared}]PB[{name}];B[ee])")
        assert desk.published[-1]["names"]["black"] == name


@pytest.mark.parametrize("sgf", ["", "no game", "(;GM[1]SZ[9];B[zz])", "(;GM[2])", "(;SZ[99])"])
def test_what_is_no_record_is_refused(desk: Desk, sgf: str) -> None:
    before = desk.session.state()
    with pytest.raises(UserError):
        desk.send("open", sgf=sgf)
    with pytest.raises(UserError):
        desk.send("open", file=base64.b64encode(sgf.encode()).decode())
    with pytest.raises(UserError, match=r"invalid file .*: expected base64"):
        desk.send("open", file=f"({sgf}")
    assert desk.session.state() == before


def test_a_game_that_cannot_be_saved_gives_way_once_it_is_downloaded(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    desk = Desk(engine, tmp_path / "file" / "folder")
    desk.play("C3")
    desk.wait()
    assert "cannot save" in desk.published[-1]["problem"]
    with pytest.raises(UserError, match="download its SGF first"):
        desk.send("open", sgf=RECORD)
    assert len(read_sgf(desk.session.games.download().encode()).moves) == 2
    desk.send("open", sgf=RECORD)
    assert desk.published[-1]["moves"] == 3


def test_the_page_says_that_the_game_goes_on_in_another_file(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    desk.wait()
    assert desk.published[-1]["notice"] is None
    (file,) = tmp_path.glob("*.sgf")
    content = file.read_text() + "\n"
    file.write_text(content)
    desk.play("B2")
    desk.wait()  # the engine's move is saved too, to the new file
    desk.session.publish()
    state = desk.published[-1]
    assert state["notice"] == f"another program has changed {file}: this game is now saved to {desk.played.file.path}"
    assert state["file"] != file.name and file.read_text() == content
    assert desk.session.state()["notice"] == state["notice"]  # for a page that is opened later
    desk.send("new", **{**NEW, "colour": "black"})
    assert desk.published[-1]["notice"] is None


def test_a_game_that_gives_way_says_that_it_went_to_another_file(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    desk.wait()
    (file,) = tmp_path.glob("*.sgf")
    file.write_text(file.read_text() + "\n")
    desk.send("new", **{**NEW, "colour": "black"})
    assert desk.published[-1]["notice"].startswith(f"another program has changed {file}")


def test_a_game_that_gives_way_does_not_hide_that_a_file_has_other_games(desk: Desk, tmp_path: Path) -> None:
    desk.play("C3")
    desk.wait()
    (file,) = tmp_path.glob("*.sgf")
    file.write_text(file.read_text() + "\n")
    desk.send("open", sgf=RECORD + RECORD)
    first, second = desk.published[-1]["notice"].split("; ")
    assert first.startswith(f"another program has changed {file}")
    assert second == "only the first game in the file was opened"


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


def test_a_game_against_the_engine_from_any_position(desk: Desk, tmp_path: Path) -> None:
    desk.send("open", sgf=RECORD)
    desk.send("go", move=2)
    desk.send("branch")
    state = desk.published[-1]
    assert (state["moves"], state["humans"], state["task"]) == (2, ["black"], None)
    desk.play("G3")
    desk.wait()
    assert len(desk.vertices) == 4
    (file,) = tmp_path.glob("*.sgf")
    assert len(read_sgf(file).moves) == 4


def test_a_move_that_loses_points_is_marked(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.wait()
    assert desk.published[-1]["loss"] is None
    values = desk.session.values
    desk.play("A1")
    desk.wait()
    line = desk.session.line
    assert len(desk.vertices) == 2 and len(line) == 3 and all(values.get(node) for node in line)
    values.set(line[0], Value(BLACK, 0.5, 2.0, JUDGED_VISITS, "C3"))
    values.set(line[1], Value(WHITE, 0.4, -1.5, JUDGED_VISITS, "C3"))
    desk.session.publish()
    assert desk.published[-1]["loss"] == {"move": "A1", "points": 3.5, "best": "C3", "canUndo": True}
    assert '<g class="labels"' in desk.published[-1]["board"] and ">4</text></g>" in desk.published[-1]["board"]
    desk.send("teach", on=False)
    assert desk.published[-1]["loss"] is None


def test_a_move_that_is_played_at_once_is_judged_too(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.play("A1")
    task = desk.session.task
    assert task is not None and task.kind == "judgement"
    desk.wait()
    before, after, _ = desk.session.line
    assert desk.session.values.is_judged(before) and desk.session.values.is_judged(after)
    desk.play("B1")
    desk.send("go", move=0)  # which leaves the judgement alone
    desk.wait()
    assert all(desk.session.values.is_judged(node) for node in desk.played.node.path[2:4])


@pytest.mark.parametrize("asked", ["hint", "score"])
def test_a_hint_only_delays_the_judgement(desk: Desk, asked: str) -> None:
    desk.send("new", **NEW | {"colour": "both"})
    desk.send("teach", on=True)
    desk.play("A1")
    task = desk.session.task
    assert task is not None and task.kind == "preparation"
    desk.send(asked)
    desk.wait()
    before, after = desk.session.line
    assert desk.session.shown == asked
    assert desk.session.values.is_judged(before) and desk.session.values.is_judged(after)


def test_undo_is_named_only_where_it_takes_the_losing_move_back(desk: Desk) -> None:
    def loses(point: str, *, can_undo: bool) -> bool:
        session = desk.session
        session.cancel()
        node = session.last_own_move
        assert node.parent is not None
        after = -3.0 if node.move and node.move.colour == BLACK else 3.0
        for each, lead in ((node.parent, 0.0), (node, after)):
            session.values.set(each, Value(session.to_move(each), 0.5, lead, JUDGED_VISITS, "C4"))
        session.publish()
        loss = desk.published[-1]["loss"]
        return bool((loss["move"], loss["canUndo"]) == (point, can_undo))

    for point in ("A1", "B5"):
        desk.play(point)
        desk.wait()
    desk.send("teach", on=True)
    desk.wait()
    assert loses("B5", can_undo=True)
    desk.send("comment", text="mine")
    assert loses("B5", can_undo=False)
    desk.send("undo")
    desk.send("go", move=1)
    assert loses("A1", can_undo=False)
    desk.send("open", sgf=RECORD)
    assert loses("G7", can_undo=False)
    desk.play("G3")
    assert loses("G3", can_undo=True)
    desk.send("go", move=3)
    assert loses("G7", can_undo=False)


def test_a_judgement_that_is_cut_short_does_not_keep_the_engine_from_moving(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    desk.send("teach", on=True)
    desk.play("C3")
    desk.send("stop")
    desk.wait(lambda: len(desk.vertices) == 2)


def test_a_failed_search_is_shown_and_not_repeated(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.wait(desk.engine.ready.done)
    refused = desk.engine.raw_evaluations()  # this evaluator has none: a future with an error
    monkeypatch.setattr(desk.engine, "genmove", lambda: refused)
    desk.play("C3")
    desk.wait()
    assert desk.published[-1]["problem"] and desk.published[-1]["task"] is None
    desk.send("undo")
    assert desk.published[-1]["problem"] is None
