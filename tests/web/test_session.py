"""The session of a game in the browser, without a server: moves, undo, hints, analysis, and moves that lose points."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from web.conftest import NEW, RECORD, Desk

from gtp_engine.base.errors import UserError
from gtp_engine.clients.web.position import line_shown
from gtp_engine.clients.web.values import JUDGED_VISITS, Value
from gtp_engine.engine.engine import Engine
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf


def test_the_engine_answers_a_move_and_both_are_on_disk(desk: Desk) -> None:
    desk.play("C3")
    assert desk.state["task"]["kind"] == "move" and not desk.state["isYourTurn"]
    desk.refuse("it is the engine's turn", "play", point="B2")
    desk.wait()
    assert desk.state["moves"] == 2 and desk.state["isYourTurn"] and desk.state["lastMove"]["colour"] == "white"
    assert desk.state["stones"][2][2] == "X" and sum(row.count("O") for row in desk.state["stones"]) == 1
    assert len(read_sgf(desk.saved()).moves) == 2 and desk.state["file"] == desk.saved().name
    desk.refuse("C3 is occupied", "play", point="C3")
    assert desk.state["board"].startswith("<svg ")


def test_a_move_makes_only_those_documents_anew_that_follow_the_position(desk: Desk) -> None:
    desk.made.clear()
    desk.play("C3")
    of_position = {"position", "search", "play", "graph", "asking", "now"}
    assert desk.made == [of_position, {"now"}]  # the other one is for the file


def test_a_program_that_was_started_again_numbers_its_games_differently(engine: Engine, tmp_path: Path) -> None:
    one, other = Desk(engine, tmp_path), Desk(engine, tmp_path)
    number = one.session.tree_number
    assert number != other.session.tree_number
    other.refuse("another game is shown now", "comment", tree=number, text="mine")
    one.send("open", sgf=RECORD)
    assert one.session.tree_number == number + 1


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"type": "play", "point": "C3"}, "invalid tree"),
        ({"type": "undo"}, "you have no move to take back"),
        ({"type": "line"}, "invalid move"),
        ({"type": "resume", "game": "../../etc/passwd"}, "no saved game"),
        ({"type": "nonsense"}, "unknown type 'nonsense'"),
        ({"type": "network", "network": "/etc/passwd"}, "invalid network"),
        ({"type": "new", **NEW, "width": 99}, "invalid width"),
        ({"type": "new", **NEW, "rules": "chess"}, "invalid rules"),
        ({"type": "new", **NEW, "komi": 1e308}, "invalid komi"),
        ({"type": "new", **NEW, "rank": "11"}, "invalid rank"),
        ({"type": "new", **NEW, "visits": 10**9}, "invalid number of visits"),
        ({"type": "new", **NEW, "seconds": "1"}, "invalid time"),
        ({"type": "new", **NEW, "handicap": 9}, "invalid number of stones"),
        ({"type": "new"}, "invalid width"),
    ],
)
def test_what_cannot_be_done_changes_nothing(desk: Desk, message: dict[str, object], problem: str) -> None:
    before = desk.fresh()
    with pytest.raises(UserError, match=problem):
        desk.receive(message)
    assert desk.fresh() == before


def test_moves_are_for_the_position_that_the_page_showed(desk: Desk) -> None:
    desk.refuse("invalid vertex 'K9'", "play", point="K9")
    desk.refuse("invalid point", "play", point=7)
    old, tree = desk.session.node.number, desk.session.tree_number
    desk.play_and_wait("C3")
    for kind in ("play", "branch"):
        desk.refuse("another position is shown now", kind, point="B2", node=old)
    # As many moves as before, but others: with the depth alone a move for one position was played in another.
    node = desk.session.node.number
    desk.send("undo")
    desk.play_and_wait("D4")
    desk.refuse("has been deleted", "play", point="B2", node=node)
    desk.send("resign", node=0)  # the engine has moved while the user was asked
    assert desk.state["result"] == {"winner": "white", "by": "resignation", "points": 0.0}
    desk.send("open", sgf=RECORD)
    before = desk.fresh()
    for kind in ("play", "resign", "branch", "go"):
        desk.refuse("another game is shown now", kind, point="B2", node=0, tree=tree)
    assert desk.fresh() == before


def test_undo_while_the_engine_thinks_drops_its_answer(desk: Desk) -> None:
    desk.begin_to_think("C3")
    begun = time.monotonic()
    desk.send("undo")
    desk.play("B2")
    desk.send("stop")
    desk.wait()
    assert time.monotonic() - begun < 30  # neither search has used its minute
    assert desk.vertices[0] == "B2" and len(desk.vertices) == 2


def test_the_engines_opinion_of_a_move_goes_with_the_move(desk: Desk) -> None:
    for _ in range(2):
        desk.play_and_wait("C3")
        assert desk.values.opinion is not None
        found, shown = desk.values.opinion[0], desk.state["opinion"]
        assert found.vertex == desk.vertices[-1]  # not the position before it
        assert (shown["toMove"], shown["winrate"]) == ("white", round(found.winrate, 4))
        desk.send("undo")
        assert desk.state["opinion"] is None


def test_undo_of_a_comment_lets_the_engine_think_on(desk: Desk) -> None:
    desk.begin_to_think("C3")
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
    assert desk.state["canUndo"]
    desk.send("undo")
    assert (desk.state["comment"], desk.state["place"], desk.state["canUndo"]) == ("", 0, False)
    desk.send("go", move=1)
    desk.send("comment", text="of the move")
    desk.send("go", move=2)
    desk.send("undo")  # shows the position whose comment it was
    assert (desk.state["place"], desk.state["comment"]) == (1, "") and len(desk.vertices) == 2
    desk.send("go", move=2)
    desk.send("undo")
    assert desk.vertices == []


def test_a_hint_has_lines_and_a_move_ends_it(desk: Desk) -> None:
    desk.send("hint")
    desk.wait()
    report = desk.state["report"]
    assert report["kind"] == "hint" and report["moves"]
    best = report["moves"][0]
    answer = desk.send("line", move=best["move"])
    assert answer is not None and answer["stones"] != desk.state["stones"] and "1" in answer["drawn"]["labels"].values()
    desk.send("hint")
    desk.play("C3")
    assert desk.state["report"] is None and desk.state["task"]["kind"] == "move"
    # The page may ask for the line before it sees the move: no error of the user's.
    assert desk.send("line", move=best["move"]) == {"type": "line", "of": best["move"]}
    desk.wait()
    assert desk.state["report"] is None


def test_the_score_shows_ownership_and_ends_an_analysis(desk: Desk) -> None:
    desk.send("analyse", visits=100_000)
    desk.send("score")
    desk.wait()
    assert len(desk.state["drawn"]["ownership"]) == 25
    assert desk.state["analysisVisits"] is None and desk.state["task"] is None
    report = desk.state["report"]
    assert report["kind"] == "score" and report["moves"] == []  # the moves are what a hint is for
    assert desk.session.report is not None
    vertex = desk.session.report.moves[0].vertex
    assert desk.send("line", move=vertex) == {"type": "line", "of": vertex}


def test_two_passes_are_counted(engine: Engine, pair: Desk) -> None:
    engine.set_rules("tromp-taylor")  # under which no stones are dead until somebody says so
    pair.session.touch(*pair.session.parts)
    for point in ("B3", "D3", "B2", "D2", "B4", "D4", "B1", "D1", "B5", "D5", "C3", "pass", "pass"):
        pair.play(point)
    assert pair.state["task"]["kind"] == "count"
    pair.wait()
    result = pair.state["result"]
    assert result["by"] == "points" and result["winner"] == "white"  # 11 against 10 points and komi
    file = pair.saved()
    assert read_sgf(file).result == f"W+{result['points']:g}"
    pair.refuse("the game is over", "play", point="A1")
    assert pair.state["dead"] == []
    assert pair.state["count"] == {"black": 11, "white": 10, "komi": 7, "captures": None}
    pair.refuse("there are no dead stones", "captures")
    pair.send("dead", point="D1")  # White's only chain; then the whole board is Black's
    assert pair.state["result"] == {"winner": "black", "by": "points", "points": 18.0} and len(pair.state["dead"]) == 5
    assert read_sgf(file).result == "B+18"
    assert pair.state["count"] == {"black": 25, "white": 0, "komi": 7, "captures": None}
    pair.send("analyse", visits=1_000_000)
    pair.send("captures")
    pair.wait(lambda: bool(pair.state["count"]["captures"]))
    assert pair.state["task"]["kind"] == "analysis"
    pair.send("analyse")
    (line,) = pair.state["count"]["captures"]
    assert line["stones"] == ["D1", "D2", "D3", "D4", "D5"]
    assert all(colour == "black" for colour, _ in line["moves"][:1])
    pair.send("dead", point="D5")
    assert pair.state["result"] == result and pair.state["count"]["captures"] is None
    pair.refuse("there is no stone", "dead", point="A1")
    pair.send("undo")
    assert pair.state["result"] is None and len(pair.vertices) == 12


def test_pages_know_that_one_more_pass_ends_the_game_and_that_a_move_followed_one(pair: Desk) -> None:
    said = []
    for point in ("C3", "pass", "B2", "pass", "pass"):
        pair.play(point)
        said.append((pair.state["passes"], pair.state["followsPass"]))
    assert said == [(0, False), (1, False), (0, True), (1, False), (2, False)]


def test_a_resignation_before_the_count_stays_one(pair: Desk) -> None:
    for point in ("C3", "pass", "pass"):
        pair.play(point)
    pair.send("resign")
    assert pair.state["isOver"] and not pair.state["isCounted"] and not pair.state["drawn"]["ownership"]
    pair.refuse("the game has not been counted", "dead", point="C3")
    assert pair.played.result == "B+R"  # White was to move
    pair.send("undo")
    pair.wait()
    assert pair.state["isCounted"] and pair.state["result"]["by"] == "points"


def test_a_rank_that_is_not_reached_is_said(desk: Desk) -> None:
    def notes(**choices: str) -> list[dict[str, object]]:
        desk.send("new", **{**NEW, "width": 9, "height": 9, "colour": "black", **choices})
        found: list[dict[str, object]] = desk.state["rankNotes"]
        return found

    assert desk.fresh()["rankNotes"] == []
    desk.send("network", network="b4c32-9x9")
    values = {"rank": {"name": "dan", "values": {"number": 5}}, "size": "9x9"}
    (note,) = notes(rank="5d")
    assert note["name"] == "rank.notReached" and values.items() <= note["values"].items()  # type: ignore[attr-defined]
    assert notes(rank="4d") == notes(rank="5d", colour="both") == []  # the engine does not play
    desk.send("network", network="none")
    assert "rank.unmeasured" in [note["name"] for note in notes(rank="4d")]


def test_what_came_after_a_resignation_is_undone_before_it(desk: Desk) -> None:
    desk.play_and_wait("C3")
    desk.send("comment", text="before")
    desk.send("resign")
    desk.send("comment", text="after")
    desk.send("mark", point="C3", mark="square")
    for comment, is_over in (("after", True), ("before", True), ("before", False), ("", False)):
        desk.send("undo")
        assert (desk.state["comment"], desk.state["isOver"], desk.state["moves"]) == (comment, is_over, 2)
    desk.send("undo")
    assert desk.vertices == [] and not desk.state["canUndo"]


def test_a_resignation_while_the_engine_thinks_is_undone_alone(desk: Desk) -> None:
    desk.begin_to_think("C3")
    desk.send("resign")
    assert desk.state["result"] == {"winner": "white", "by": "resignation", "points": 0.0}
    assert desk.session.task is None
    desk.send("undo")
    assert desk.state["task"]["kind"] == "move" and not desk.state["isOver"]
    desk.send("stop")
    desk.wait()
    assert desk.vertices[0] == "C3" and len(desk.vertices) == 2


def test_handicap_stones_are_on_the_board(desk: Desk) -> None:
    desk.send("new", **{**NEW, "colour": "both", "handicap": 2})
    state = desk.state
    assert state["handicap"] == 2 and state["komi"] == 0.5 and state["toMove"] == "white" and state["isUsualKomi"]
    desk.send("new", **{**NEW, "colour": "both", "komi": 0.5})
    assert not desk.state["isUsualKomi"] and not desk.state["isRecord"]
    desk.send("open", sgf=RECORD)
    assert desk.state["isRecord"]


def test_an_analysis_is_shown_while_it_runs_and_follows_the_game(desk: Desk) -> None:
    desk.send("analyse", visits=1_000_000)
    desk.wait(lambda: desk.session.report is not None)
    assert desk.state["task"]["kind"] == "analysis" and desk.state["report"]["moves"] and desk.state["isYourTurn"]
    desk.play("C3")
    desk.wait(lambda: desk.session.task is not None and desk.session.task.kind == "analysis")
    desk.wait(lambda: desk.session.report is not None)
    assert len(desk.vertices) == 2
    assert [place for place, *_ in desk.state["curve"]] == [0, 1, 2]
    desk.send("analyse", visits=None)
    assert desk.session.task is None and desk.state["report"] is None


def test_an_analysis_ends_after_its_visits_and_its_layers_change_the_board(desk: Desk) -> None:
    desk.send("analyse", visits=50)
    desk.wait()
    assert desk.state["report"]["visits"] == 50
    layers = (("candidates", [2], False), ("losses", [1], False), ("ownership", [], True), ("policy", [1], False))
    for layer, texts, has_owners in layers:
        desk.send("layer", layer=layer)
        drawn = desk.state["drawn"]
        assert [len(each["text"]) for each in drawn["candidates"][:1]] == texts
        assert bool(drawn["ownership"]) == has_owners
    desk.send("layer", layer="losses")
    leads = {each["move"]: each["lead"] for each in desk.state["report"]["moves"]}
    best = desk.state["report"]["moves"][0]["lead"]
    for each in desk.state["drawn"]["candidates"]:
        if each["vertex"] in leads:
            assert float(each["text"][0]) == pytest.approx(best - leads[each["vertex"]], abs=0.11)


def test_earlier_positions_are_shown_and_analysed_but_not_played_on(desk: Desk) -> None:
    desk.play("C3")
    desk.send("go", move=0)  # leaves the engine thinking
    assert desk.session.task is not None and desk.session.task.kind == "move"
    desk.wait()
    assert len(desk.vertices) == 2 and desk.state["place"] == 2
    desk.send("go", move=1)
    assert (desk.state["place"], desk.state["moves"], desk.state["isYourTurn"]) == (1, 2, False)
    assert sum(row.count("O") for row in desk.state["stones"]) == 0
    desk.refuse("an earlier position is shown", "play", point="B2")
    desk.send("analyse", visits=30)
    desk.wait()
    assert desk.state["report"]["toMove"] == "white"
    desk.refuse("invalid move", "go", move=3)
    desk.send("undo")
    assert desk.state["place"] == 0


def test_another_network_leaves_the_position_that_is_shown(desk: Desk) -> None:
    desk.play_and_wait("C3")
    desk.send("go", move=1)
    desk.send("score")
    desk.wait()
    desk.send("network", network="none")
    state = desk.state
    assert (state["place"], state["moves"], state["clock"]["running"], state["report"]) == (1, 2, None, None)
    assert state["network"] == "none"


def test_a_board_too_large_for_the_network_is_refused_if_strict(desk: Desk, engine: Engine) -> None:
    engine.settings = replace(engine.settings, network="auto", strict=True)
    desk.session.touch(*desk.session.parts)
    desk.play("C3")
    settings, too_large = engine.settings, "unacceptable size 21x21: the network plays on boards up to 19x19; choose"
    desk.refuse(too_large, "new", **NEW | {"width": 21, "height": 21, "rank": "12k"})
    desk.refuse(too_large, "open", sgf="(;GM[1]SZ[21];B[cc])")
    assert engine.settings == settings
    desk.wait()  # the engine's answer was not dropped
    assert desk.state["moves"] == 2


def test_undo_is_offered_only_if_a_person_has_moved(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path, frozenset((WHITE,)))
    desk.wait(lambda: desk.vertices)
    assert not desk.state["canUndo"]
    desk.refuse("no move to take back", "undo")
    desk.send("resign")
    assert desk.state["canUndo"]
    desk.send("undo")
    assert len(desk.vertices) == 1 and desk.state["result"] is None


def test_a_search_that_failed_is_shown_and_another_position_is_searched(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = desk.engine.raw_evaluations()  # this evaluator has none: a future with an error
    with monkeypatch.context() as patched:
        patched.setattr(desk.engine, "genmove", lambda: refused)
        desk.play_and_wait("C3")
    assert desk.state["problem"] and desk.state["task"] is None  # it is not repeated
    desk.send("undo")
    assert desk.state["problem"] is None
    desk.play_and_wait("C3")
    with monkeypatch.context() as patched:
        patched.setattr(desk.engine, "analyze", lambda _: refused)
        desk.send("analyse", visits=50)
        desk.wait()
    assert desk.state["problem"] and desk.state["task"] is None
    desk.send("go", move=1)
    assert desk.state["problem"] is None and desk.state["task"]["kind"] == "analysis"


def test_a_move_that_loses_points_is_marked(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.wait()
    assert desk.published[-1]["loss"] is None
    values = desk.values
    desk.play_and_wait("A1")
    line = desk.session.line
    assert len(desk.vertices) == 2 and len(line) == 3 and all(values.get(node) for node in line)
    values.set(line[0], Value(BLACK, 0.5, 2.0, JUDGED_VISITS, "C3"))
    values.set(line[1], Value(WHITE, 0.4, -1.5, JUDGED_VISITS, "C3"))
    desk.session.show()
    assert desk.published[-1]["loss"] == {"move": "A1", "points": 4, "best": "C3", "canUndo": True}
    assert desk.published[-1]["drawn"]["labels"] == {"A1": "\u22124"}
    values.set(line[1], Value(WHITE, 0.4, -0.46, JUDGED_VISITS, "C3"))
    desk.session.show()
    assert desk.published[-1]["loss"]["points"] == 3 and desk.published[-1]["drawn"]["labels"] == {"A1": "\u22123"}
    desk.send("teach", on=False)
    assert desk.published[-1]["loss"] is None


def test_a_move_that_is_played_at_once_is_judged_too(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.play("A1")
    task = desk.session.task
    assert task is not None and task.kind == "judgement"
    desk.wait()
    before, after, _ = desk.session.line
    assert desk.values.is_judged(before) and desk.values.is_judged(after)
    desk.play("B1")
    desk.send("go", move=0)  # which leaves the judgement alone
    desk.wait()
    assert all(desk.values.is_judged(node) for node in desk.played.node.path[2:4])


def test_a_move_before_an_empty_node_is_judged(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];W[cc];)")  # undo leaves such a node beside a variation
    desk.send("go", move=3)
    desk.send("teach", on=True)
    desk.wait()
    _, before, move, empty = desk.session.line
    assert desk.session.node is empty and all(desk.values.is_judged(node) for node in (before, move, empty))


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
    assert desk.values.is_judged(before) and desk.values.is_judged(after)


def test_undo_is_named_only_where_it_takes_the_losing_move_back(desk: Desk) -> None:
    def loses(point: str, *, can_undo: bool) -> bool:
        session = desk.session
        session.cancel()
        node = desk.searches.last_own_move
        assert node.parent is not None
        after = -3.0 if node.move and node.move.colour == BLACK else 3.0
        for each, lead in ((node.parent, 0.0), (node, after)):
            desk.values.set(each, Value(session.to_move(each), 0.5, lead, JUDGED_VISITS, "C4"))
        session.show()
        loss = desk.published[-1]["loss"]
        return bool((loss["move"], loss["canUndo"]) == (point, can_undo))

    for point in ("A1", "B5"):
        desk.play_and_wait(point)
    desk.send("teach", on=True)
    desk.wait()
    assert loses("B5", can_undo=True)
    desk.send("comment", text="mine")
    assert loses("B5", can_undo=False)
    desk.send("undo")
    desk.send("go", move=1)
    assert loses("A1", can_undo=False)
    desk.send("open", sgf=RECORD)
    desk.send("go", move=3)
    assert loses("G7", can_undo=False)
    desk.play("G3")
    assert loses("G3", can_undo=True)
    desk.send("go", move=3)
    assert loses("G7", can_undo=False)


def test_a_judgement_that_is_cut_short_does_not_keep_the_engine_from_moving(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.play("C3")
    desk.send("stop")
    desk.wait(lambda: len(desk.vertices) == 2)


def test_the_numbers_of_a_line_are_those_of_the_stones_that_it_leaves() -> None:
    game = Game(5)
    captured = line_shown(game, [game.point(vertex) for vertex in ("A1", "A2", "E5", "B1")])
    assert captured["stones"][4] == ".O..." and captured["drawn"]["labels"] == {"A2": "2", "E5": "3", "B1": "4"}
    played_again = line_shown(game, [game.point(vertex) for vertex in ("A1", "A2", "E5", "B1", "E4", "A1")])
    assert played_again["drawn"]["labels"] == {"A2": "2", "E5": "3", "B1": "4", "E4": "5", "A1": "6"}
