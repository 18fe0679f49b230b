"""Opened records in the browser: variations and editing, without a server."""

from dataclasses import replace
from pathlib import Path

import pytest
from reviews import report
from web.conftest import FROM_HERE, NEW, Desk

from gtp_engine.clients.web.values import JUDGED_VISITS, Value, Values
from gtp_engine.engine.engine import Engine
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import TreeNode, read_sgf
from gtp_engine.table.game_index import unfinished_games
from gtp_engine.table.played_game import Mode, PlayedGame
from gtp_engine.table.saved_games import open_tree

RECORD = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Ben]RE[W+R];B[ee];W[cc]C[well played](;B[gc];W[gg])(;B[cg]TR[cc];W[ge]))"


@pytest.fixture
def study(desk: Desk) -> Desk:
    """A record, at its end."""
    desk.send("open", sgf=RECORD)
    desk.send("go", move=4)
    return desk


def test_the_tree_is_sent_when_a_page_asks_for_it(study: Desk) -> None:
    tree = study.send("tree")
    assert tree is not None and tree["version"] == study.state["tree"]
    assert tree["nodes"][0] == [0, -1, "other", False]
    kinds = [kind for _, _, kind, _ in tree["nodes"]]
    assert kinds == ["other", "black", "white", "black", "white", "black", "white"]
    assert [has_comment for *_, has_comment in tree["nodes"]] == [False, False, True, False, False, False, False]
    study.play("A1")
    assert study.state["tree"] != tree["version"]


def test_walking_through_variations(study: Desk) -> None:
    study.send("go", move=3)
    assert study.state["lastMove"]["vertex"] == "G7" and study.state["variation"] == {"number": 1, "of": 2}
    study.send("variation", step=1)
    assert (study.state["lastMove"]["vertex"], study.state["place"]) == ("C3", 3)
    assert study.state["drawn"]["marks"] == {"C7": "triangle"}
    study.send("go", move=4)
    assert study.state["lastMove"]["vertex"] == "G5"  # of this variation
    number = study.session.node.number
    study.send("variation", step=-1)
    assert study.state["lastMove"]["vertex"] == "G3"
    study.send("go", node=number)
    assert study.state["lastMove"]["vertex"] == "G5"
    study.refuse("has been deleted", "go", node=99)
    # Steps are counted from where the game is, and end at its end.
    for step, place in ((-1, 3), (-1, 2), (1, 3), (1, 4), (1, 4)):
        study.send("go", step=step)
        assert study.state["place"] == place


def test_another_move_is_a_variation_and_all_of_it_is_saved(study: Desk, tmp_path: Path) -> None:
    study.send("go", move=2)
    assert list(tmp_path.iterdir()) == [] and study.state["isYourTurn"]
    study.play("D4")
    file = study.saved()
    read = read_sgf(file)
    assert len(read.main_line) == 5 and len(read.main_line[2].children) == 3
    assert read.main_line[2].comment == "well played" and read_sgf(file).black == "Ann"
    assert read_sgf(file).result == "W+R"
    del read.root.properties["GEDIT"]  # it is for the file in the folder alone
    assert read_sgf(study.session.download().encode()).to_sgf() == read.to_sgf()
    study.send("go", move=2)
    study.play("G7")  # the move of the game: nothing is added
    assert len(read_sgf(file).main_line[2].children) == 3 and study.state["place"] == 3


def test_a_resignation_that_is_taken_back_changes_no_record(study: Desk, tmp_path: Path) -> None:
    study.send("resign")
    assert study.state["result"]["by"] == "resignation"
    study.send("undo")
    assert study.state["result"] is None and study.state["file"] is None and list(tmp_path.iterdir()) == []
    study.play("A1")
    study.send("resign")
    study.send("undo")
    assert len(list(tmp_path.iterdir())) == 1


def test_an_edited_record_is_resumed_in_its_file(study: Desk, engine: Engine, tmp_path: Path) -> None:
    assert (study.send("games") or {})["games"] == []
    assert "GEDIT" not in study.session.download()
    study.send("go", move=2)
    study.play("D4")
    file = study.saved()
    assert file.stem.endswith("-9x9-edited")
    # As after a crash: nothing but the file is left.
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    (game,) = (again.send("games") or {})["games"]
    assert (game["name"], game["players"], game["isEdited"]) == (file.stem, ("Ann", "Ben"), True)
    again.send("resume", game=file.stem)
    assert again.state["isStudy"] and again.state["file"] == file.name
    assert again.state["recordedResult"]["by"] == "resignation"
    assert again.state["names"] == {"black": "Ann", "white": "Ben"}
    again.send("comment", text="mine")
    (same,) = tmp_path.glob("*.sgf")  # no second file
    read = read_sgf(same)
    assert len(read.main_line[2].children) == 3 and read.main_line[-1].comment == "mine"
    assert read_sgf(same).result == "W+R"
    assert list(unfinished_games(tmp_path)) == []  # the terminal, which does not edit, does not offer it
    again.send("new", **NEW)
    assert [game["name"] for game in (again.send("games") or {})["games"]] == [file.stem]


def test_a_file_outside_the_folder_is_never_overwritten(study: Desk, engine: Engine, tmp_path: Path) -> None:
    study.send("comment", text="mine")
    file = study.saved()
    text = study.session.download()
    assert "GEDIT" in file.read_text() and "GEDIT" not in text and "mine" in text
    assert study.played.save() and "GEDIT" in file.read_text()
    folder, content = tmp_path / "games", file.read_bytes()  # a copy of an edited file has the note
    saved = open_tree(read_sgf(file), file).as_record()
    assert saved.is_edited
    engine.load(saved.game)
    played = PlayedGame(engine, humans=saved.humans, folder=folder, saved=saved)
    played.play("A1")
    assert file.read_bytes() == content and played.file.path is not None and played.file.path.parent == folder


def test_undo_takes_back_changes_and_loses_nothing(study: Desk) -> None:
    tree = study.played.tree
    tree.root.properties = tree.root.properties | {"GEDIT": [b"1"]}  # which stays
    before = tree.to_sgf()
    assert not study.state["canUndo"]
    study.play("A1")
    study.send("comment", text="mine")
    study.send("go", move=3)
    study.send("delete")
    assert study.state["place"] == 2
    for place in (3, 5, 4):
        assert study.state["canUndo"]
        study.send("undo")
        assert study.state["place"] == place
    assert tree.to_sgf() == before
    study.refuse("nothing to undo", "undo")


def test_comments_and_marks_are_saved(study: Desk) -> None:
    study.send("comment", text=" why not [G3]? ")
    study.send("mark", point="C3", mark="square")
    study.send("mark", point="D3", mark="letter")
    assert study.state["comment"] == "why not [G3]?"
    drawn = study.state["drawn"]
    assert (drawn["marks"], drawn["labels"]) == ({"C3": "square"}, {"D3": "A"})
    last = read_sgf(study.saved()).main_line[-1]
    assert last.comment == "why not [G3]?" and last.properties["SQ"] == [b"cg"]


def test_stones_are_set_up_and_played_on(study: Desk) -> None:
    study.send("stone", point="A1", colour="black")
    assert study.state["stones"][8][0] == "X" and study.state["place"] == 5
    study.send("stone", point="A2", colour="white")
    assert study.state["place"] == 5 and study.state["toMove"] == "black"
    study.send("turn")
    assert study.state["toMove"] == "white"
    study.play("B1")
    assert study.state["stones"][8][:2] == ".O"  # captured
    for _ in range(4):
        study.send("undo")
    assert (study.state["place"], study.state["stones"][8][0]) == (4, ".")


def test_a_variation_becomes_the_main_line(study: Desk) -> None:
    study.send("go", move=3)
    study.send("variation", step=1)
    study.send("promote")
    assert [move.point for move in read_sgf(study.saved()).moves][2] == study.played.game.point("C3")


def test_a_game_against_the_engine_is_not_rewritten_but_commented(desk: Desk) -> None:
    desk.play_and_wait("C3")
    for kind in ("delete", "turn", "stone"):
        desk.refuse("a game against the engine", kind, point="A1", colour="black")
    desk.send("comment", text="mine")
    assert desk.state["comment"] == "mine"
    desk.send("undo")
    assert desk.state["comment"] == "" and len(desk.vertices) == 2
    desk.send("undo")
    assert desk.vertices == []


def test_an_illegal_variation_is_refused_and_nothing_changes(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee](;W[cc])(;W[ee]))")
    desk.send("go", move=2)
    desk.refuse("E5 is occupied", "variation", step=1)
    assert desk.fresh()["place"] == 2 and desk.vertices == ["E5", "C7"]


def test_edits_are_for_the_position_that_the_page_showed(study: Desk) -> None:
    node, tree = study.session.node.number, study.session.tree_number
    study.send("go", move=2)
    answer = study.send("comment", node=node, text="mine ")  # the page is told when the program has its comment
    assert answer == {"type": "comment", "node": node, "tree": tree, "text": "mine "}
    assert (study.played.tree.main_line[-1].comment, study.state["comment"]) == ("mine", "well played")
    before = study.played.tree.to_sgf()
    for kind in ("mark", "stone", "turn", "delete", "promote", "play"):
        study.refuse("another position is shown now", kind, node=node, point="A1", mark="circle", colour="black")
    assert study.played.tree.to_sgf() == before
    study.send("open", sgf=RECORD)
    study.refuse("another game is shown now", "delete", tree=tree)
    problem = "another game is shown now; your comment stays in its field: copy it"
    study.refuse(problem, "comment", node=node, tree=tree, text="mine too")
    answer = study.send("comment", node=node, tree=tree, text="")  # nothing is lost
    assert answer == {"type": "comment", "node": node, "tree": tree, "text": ""}
    assert study.session.node.comment == "" and study.state["tree"].startswith(f"{study.session.tree_number}.")


def test_a_line_that_cannot_be_read_never_becomes_the_main_line(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee](;W[cc])(;W[ge](;B[zz])(;B[aa])))")
    before = desk.played.tree.to_sgf()
    desk.refuse("move 3: invalid SGF point", "go", node=4)
    desk.send("go", move=2)
    desk.refuse("move 3: invalid SGF point", "delete")
    desk.send("go", node=3)
    desk.refuse("move 3: invalid SGF point", "promote")
    assert desk.played.tree.to_sgf() == before and desk.played.editor.edits == []


def test_the_turn_that_was_changed_stays_in_a_game_from_there(study: Desk) -> None:
    study.send("turn")
    study.values.set(study.played.node, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.values.set(study.played.tree.root, Value(BLACK, 0.4, -1.0, JUDGED_VISITS, "E5"))
    assert study.state["toMove"] == "white"
    study.send("branch", **FROM_HERE | {"colour": "white"})
    played = study.played
    assert study.state["toMove"] == "white" and played.humans == {WHITE}
    assert played.tree.position(played.node).to_move == WHITE
    assert [place for place, *_ in study.values.curve(study.session.line)] == [0, 5]
    study.play_and_wait("A1")
    file = study.played.file.path
    assert file is not None and read_sgf(file).to_game().stone_at("A1") == WHITE


def test_what_was_found_before_a_stone_was_set_up_is_forgotten(study: Desk) -> None:
    study.send("stone", point="A1", colour="black")
    study.send("stone", point="A2", colour="black")
    study.values.set(study.session.node, Value(BLACK, 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.send("undo")
    assert study.state["stones"][7][0] == "." and study.values.get(study.session.node) is None


def test_deleting_a_variation_keeps_what_was_found_about_the_rest(study: Desk) -> None:
    values, line = study.values, study.session.line
    for node in line:
        values.set(node, Value(study.session.to_move(node), 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.send("go", move=3)
    study.send("delete")
    assert study.state["place"] == 2 and [place for place, *_ in study.state["curve"]] == [0, 1, 2]
    study.send("undo")
    assert [place for place, *_ in study.state["curve"]] == [0, 1, 2, 3, 4]


def test_deleting_a_move_out_of_turn_and_its_undo_forget_the_position_before_it(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];B[cc])")
    desk.send("go", move=2)
    before = desk.session.line[1]
    for node in desk.session.line:
        desk.values.set(node, Value(desk.session.to_move(node), 0.5, 0.0, JUDGED_VISITS, "E5"))
    desk.send("delete")
    assert desk.state["toMove"] == "white" and desk.values.get(before) is None
    desk.values.set(before, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "E5"))
    desk.send("undo")
    desk.send("go", move=1)
    assert desk.state["toMove"] == "black" and desk.values.get(before) is None


def test_the_passes_that_end_a_game_are_no_mistakes(desk: Desk) -> None:
    """Whatever the searches say; a pass after which somebody plays on is judged like any move."""
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];W[];B[gg];W[];B[])")
    desk.send("teach", on=True)
    desk.session.cancel()
    line = desk.session.line
    for node in line:
        lead = 0.0 if node is line[0] else -9.0 if node.move.colour == BLACK else 9.0
        to_move = desk.session.to_move(node)
        desk.values.set(node, Value(to_move, 0.5, lead, JUDGED_VISITS, "C3"))
    assert [desk.values.loss(node, 9, 9) is None for node in line[1:]] == [False, False, False, True, True]


OUT_OF_TURN = "(;GM[1]SZ[9];B[ee](;W[dd])(;B[cc]))"  # after E5 it is White's turn, or Black's


def test_a_move_is_not_judged_by_a_search_for_the_other_player(desk: Desk) -> None:
    desk.send("open", sgf=OUT_OF_TURN)
    desk.send("go", move=2)
    session, (_, before, white) = desk.session, desk.session.line
    black = before.children[1]
    desk.send("teach", on=True)
    session.cancel()
    desk.values.set(before, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "G3"))
    desk.values.set(white, Value(BLACK, 0.5, 4.0, JUDGED_VISITS, "G3"))
    desk.values.set(black, Value(WHITE, 0.5, -4.0, JUDGED_VISITS, "G3"))
    session.show()
    assert desk.state["loss"]["move"] == "D6" and [place for place, *_ in desk.state["curve"]] == [1, 2]
    desk.send("variation", step=1)
    assert desk.state["loss"] is None and [place for place, *_ in desk.state["curve"]] == [2]
    desk.send("variation", step=1)
    assert desk.state["loss"]["move"] == "D6"  # it counts again


def test_a_position_is_judged_for_the_player_to_move(desk: Desk) -> None:
    desk.send("open", sgf=OUT_OF_TURN)
    desk.send("teach", on=True)
    before, white = desk.session.line[1:]
    black = before.children[1]
    for node in (before, white, black, before, white, before):
        desk.send("go", node=node.number)
        desk.wait()
        value = desk.values.get(node)
        assert value is not None and value.to_move == desk.played.game.to_move


def test_a_search_replaces_only_a_value_that_does_not_count() -> None:
    turn, node = BLACK, TreeNode(0, {})
    values = Values(lambda _: turn)
    values.note(report(WHITE, PASS, 0.5, 3.0), node)
    assert values.get(node) is None
    values.note(replace(report(BLACK, PASS, 0.5, 1.0), visits=10), node)
    values.note(report(WHITE, PASS, 0.5, 3.0), node)
    found = values.get(node)
    assert found is not None and (found.to_move, found.lead, found.visits) == (BLACK, 1.0, 10)
    turn = WHITE
    assert values.get(node) is None


@pytest.mark.parametrize(("best", "lost"), [("E5", 0.0), ("C3", 5.0)])
def test_the_best_move_has_lost_nothing_though_the_value_fell(desk: Desk, best: str, lost: float) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee])")
    *_, node = desk.played.tree
    values = Values(lambda each: WHITE if each is node else BLACK)
    assert node.parent is not None
    values.set(node.parent, Value(BLACK, 0.6, 5.0, JUDGED_VISITS, best))
    values.set(node, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "C3"))
    assert values.lost(node, 9, 9) == lost
    game = Game(9)
    game.play(BLACK, "E5")
    assert values.on_stones(game, [node]) == ({"E5": "\u22125"} if lost else {})


@pytest.mark.parametrize(
    "sgf",
    [
        OUT_OF_TURN,
        "(;GM[1]SZ[9]HA[2]AB[cc][gg];C[comment](;AW[ee];C[comment])(;W[ee];PL[W];C[comment]))",
        "(;GM[1]SZ[9]PL[W];B[ee]PL[B];C[comment];B[cc]AW[aa]PL[B])",
        "(;GM[1]SZ[9]B[ee]W[cc];AE[ee](;AB[aa]PL[B])(;W[]))",
    ],
)
def test_the_turn_is_that_of_the_position(desk: Desk, sgf: str) -> None:
    desk.send("open", sgf=sgf)
    tree = desk.played.tree
    for shown in tree:
        desk.send("go", node=shown.number)
        for node in tree:
            assert desk.session.to_move(node) == tree.position(node).to_move


def test_undoing_a_comment_keeps_the_result(pair: Desk) -> None:
    def saved() -> str:
        return read_sgf(pair.saved()).result

    for point in ("C3", "pass", "pass"):
        pair.play(point)
    pair.wait(lambda: pair.played.result)
    before = saved()
    pair.send("comment", text="mine")
    pair.send("undo")
    assert pair.played.result == saved() == before != "" and pair.session.task is None
    pair.send("go", move=1)  # a result in a variation is not the game's
    for point in ("B2", "A1"):
        pair.play(point)
    pair.send("resign")
    assert (pair.played.result, saved()) == ("B+R", before)
    pair.send("undo")
    assert (pair.played.result, saved()) == (None, before)
    pair.send("go", move=1)
    pair.send("variation", step=1)
    assert saved() == before


def test_undo_against_the_engine_stays_in_the_game(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[5]PB[human]PW[gtp_engine]AP[gtp_engine:1](;B[cc];W[bb])(;B[dd];W[db];B[bd]))")
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    desk.send("resume", game="game")
    assert desk.played.game.moves[-1].point == desk.played.game.point("B4") and desk.played.mode is Mode.GAME
    desk.send("comment", text="mine")
    desk.send("undo")
    assert desk.vertices == ["C3", "B4"]
    desk.send("undo")
    assert desk.vertices == [] and read_sgf(path).moves == [] and desk.published[-1]["clock"]["running"] is None
    desk.play("D2")  # the move of the other variation begins the main line
    desk.wait()
    assert desk.vertices[0] == "D2" and len(desk.vertices) == 2 and len(read_sgf(path).root.children) == 2
    assert [move.point for move in read_sgf(path).moves] == [move.point for move in desk.played.game.moves]


def test_the_handicap_is_that_of_the_start(pair: Desk, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[9]HA[2]AB[cc][gg]PB[human]PW[human]AP[gtp_engine:1];W[ee])")
    pair.send("resume", game="game")
    for point in ("A1", "B2", "C3"):
        pair.send("stone", point=point, colour="white")
    assert read_sgf(path).handicap == 2


def test_only_games_with_moves_are_reviewed(desk: Desk) -> None:
    desk.refuse("no moves to review", "review", visits=10)
