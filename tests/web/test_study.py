"""Opened records in the browser: variations, editing, guessing and the review, without a server."""

from dataclasses import replace
from pathlib import Path

import pytest
from reviews import report
from web.conftest import Desk
from web.test_session import NEW

from gtp_engine.analysis.reviewer import Reviewer
from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK, PASS, WHITE
from gtp_engine.game.game import Game
from gtp_engine.play.engine import Engine
from gtp_engine.play.loading import open_tree, unfinished_games
from gtp_engine.play.played_game import PlayedGame
from gtp_engine.sgf import TreeNode, read_sgf, read_tree
from gtp_engine.web.values import JUDGED_VISITS, Value, Values

RECORD = "(;GM[1]SZ[9]KM[5.5]PB[Ann]PW[Ben]RE[W+R];B[ee];W[cc]C[well played](;B[gc];W[gg])(;B[cg]TR[cc];W[ge]))"


@pytest.fixture
def study(desk: Desk) -> Desk:
    desk.send("open", sgf=RECORD)
    return desk


def state(desk: Desk) -> dict:
    return desk.published[-1]


def test_the_tree_is_sent_when_a_page_asks_for_it(study: Desk) -> None:
    tree = study.send("tree")
    assert tree is not None and tree["version"] == state(study)["tree"]
    assert tree["nodes"][0] == [0, -1, "other", False]
    kinds = [kind for _, _, kind, _ in tree["nodes"]]
    assert kinds == ["other", "black", "white", "black", "white", "black", "white"]
    assert [has_comment for *_, has_comment in tree["nodes"]] == [False, False, True, False, False, False, False]
    study.play("A1")
    assert state(study)["tree"] != tree["version"]


def test_up_and_down_switch_the_variation(study: Desk) -> None:
    study.send("go", move=3)
    assert state(study)["lastMove"]["vertex"] == "G7" and state(study)["variation"] == {"number": 1, "of": 2}
    study.send("variation", step=1)
    assert (state(study)["lastMove"]["vertex"], state(study)["place"]) == ("C3", 3)
    assert 'class="triangle"' in state(study)["board"]
    study.send("go", move=4)
    assert state(study)["lastMove"]["vertex"] == "G5"  # of this variation
    study.send("variation", step=-1)
    assert state(study)["lastMove"]["vertex"] == "G3"


def test_a_node_is_shown_by_its_number(study: Desk) -> None:
    tree = study.send("tree")
    assert tree is not None
    study.send("go", node=tree["nodes"][-1][0])
    assert state(study)["lastMove"]["vertex"] == "G5"
    with pytest.raises(UserError, match="has been deleted"):
        study.send("go", node=99)


def test_steps_are_counted_from_where_the_game_is(study: Desk) -> None:
    for _ in range(2):
        study.send("go", step=-1)
    assert state(study)["place"] == 2
    for place in (3, 4, 4):  # and stays at the end
        study.send("go", step=1)
        assert state(study)["place"] == place


def test_another_move_is_a_variation_and_all_of_it_is_saved(study: Desk, tmp_path: Path) -> None:
    study.send("go", move=2)
    assert list(tmp_path.iterdir()) == [] and state(study)["isYourTurn"]
    study.play("D4")
    (file,) = tmp_path.glob("*.sgf")
    read = read_tree(file)
    assert len(read.main_line) == 5 and len(read.main_line[2].children) == 3
    assert read.main_line[2].comment == "well played" and read_sgf(file).black == "Ann"
    assert read_sgf(file).result == "W+R"
    del read.root.properties["GEDIT"]  # it is for the file in the folder alone
    assert read_tree(study.session.download().encode()).to_sgf() == read.to_sgf()
    study.send("go", move=2)
    study.play("G7")  # the move of the game: nothing is added
    assert len(read_tree(file).main_line[2].children) == 3 and state(study)["place"] == 3


def test_a_resignation_that_is_taken_back_changes_no_record(study: Desk, tmp_path: Path) -> None:
    study.send("resign")
    assert state(study)["result"]["by"] == "resignation"
    study.send("undo")
    assert state(study)["result"] is None and state(study)["file"] is None and list(tmp_path.iterdir()) == []
    study.play("A1")
    study.send("resign")
    study.send("undo")
    assert len(list(tmp_path.iterdir())) == 1


def test_an_edited_record_is_resumed_in_its_file(study: Desk, engine: Engine, tmp_path: Path) -> None:
    assert study.send("games") == {"type": "games", "games": []}
    assert "GEDIT" not in study.session.download()
    study.send("go", move=2)
    study.play("D4")
    (file,) = tmp_path.glob("*.sgf")
    assert file.stem.endswith("-9x9-edited")
    # As after a crash: nothing but the file is left.
    engine.load(Game(5, 5))
    again = Desk(engine, tmp_path)
    assert again.send("games") == {"type": "games", "games": [file.stem]}
    again.send("resume", game=file.stem)
    assert state(again)["isStudy"] and state(again)["file"] == file.name
    assert state(again)["recordedResult"]["by"] == "resignation"
    assert state(again)["names"] == {"black": "Ann", "white": "Ben"}
    again.send("comment", text="mine")
    (same,) = tmp_path.glob("*.sgf")  # no second file
    read = read_tree(same)
    assert len(read.main_line[2].children) == 3 and read.main_line[-1].comment == "mine"
    assert read_sgf(same).result == "W+R"
    assert list(unfinished_games(tmp_path)) == []  # the terminal, which does not edit, does not offer it
    again.send("new", **NEW)
    assert again.send("games") == {"type": "games", "games": [file.stem]}


def test_a_file_outside_the_folder_is_never_overwritten(study: Desk, engine: Engine, tmp_path: Path) -> None:
    study.send("comment", text="mine")
    (file,) = tmp_path.glob("*.sgf")
    text = study.session.download()
    assert "GEDIT" in file.read_text() and "GEDIT" not in text and "mine" in text
    assert study.played.save() and "GEDIT" in file.read_text()
    folder, content = tmp_path / "games", file.read_bytes()  # a copy of an edited file has the note
    saved = replace(open_tree(read_tree(file), file), humans=frozenset((BLACK, WHITE)))
    assert saved.is_edited
    engine.load(saved.game)
    played = PlayedGame(engine, humans=saved.humans, folder=folder, saved=saved, as_record=True)
    played.play("A1")
    assert file.read_bytes() == content and played.file.path is not None and played.file.path.parent == folder


def test_undo_takes_back_changes_and_loses_nothing(study: Desk) -> None:
    tree = study.played.tree
    tree.root.properties = tree.root.properties | {"GEDIT": [b"1"]}  # which stays
    before = tree.to_sgf()
    assert not state(study)["canUndo"]
    study.play("A1")
    study.send("comment", text="mine")
    study.send("go", move=3)
    study.send("delete")
    assert state(study)["place"] == 2
    for place in (3, 5, 4):
        assert state(study)["canUndo"]
        study.send("undo")
        assert state(study)["place"] == place
    assert tree.to_sgf() == before
    with pytest.raises(UserError, match="nothing to undo"):
        study.send("undo")


def test_comments_and_marks_are_saved(study: Desk, tmp_path: Path) -> None:
    study.send("comment", text=" why not [G3]? ")
    study.send("mark", point="C3", mark="square")
    study.send("mark", point="D3", mark="letter")
    assert state(study)["comment"] == "why not [G3]?"
    assert 'class="square"' in state(study)["board"] and ">A</text>" in state(study)["board"].partition('"labels"')[2]
    (file,) = tmp_path.glob("*.sgf")
    read = read_tree(file)
    assert read.main_line[-1].comment == "why not [G3]?" and read.main_line[-1].properties["SQ"] == [b"cg"]


def test_stones_are_set_up_and_played_on(study: Desk) -> None:
    study.send("stone", point="A1", colour="black")
    assert state(study)["stones"][8][0] == "X" and state(study)["place"] == 5
    study.send("stone", point="A2", colour="white")
    assert state(study)["place"] == 5 and state(study)["toMove"] == "black"
    study.send("turn")
    assert state(study)["toMove"] == "white"
    study.play("B1")
    assert state(study)["stones"][8][:2] == ".O"  # captured
    for _ in range(4):
        study.send("undo")
    assert (state(study)["place"], state(study)["stones"][8][0]) == (4, ".")


def test_a_variation_becomes_the_main_line(study: Desk, tmp_path: Path) -> None:
    study.send("go", move=3)
    study.send("variation", step=1)
    study.send("promote")
    (file,) = tmp_path.glob("*.sgf")
    assert [move.point for move in read_sgf(file).moves][2] == study.played.game.point("C3")


def test_a_game_against_the_engine_is_not_rewritten_but_commented(desk: Desk) -> None:
    desk.play("C3")
    desk.wait()
    for kind in ("delete", "turn", "stone"):
        with pytest.raises(UserError, match="a game against the engine"):
            desk.send(kind, point="A1", colour="black")
    desk.send("comment", text="mine")
    assert state(desk)["comment"] == "mine"
    desk.send("undo")
    assert state(desk)["comment"] == "" and len(desk.vertices) == 2
    desk.send("undo")
    assert desk.vertices == []


def test_an_illegal_variation_is_refused_and_nothing_changes(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee](;W[cc])(;W[ee]))")
    with pytest.raises(UserError, match="E5 is occupied"):
        desk.send("variation", step=1)
    assert desk.session.state()["place"] == 2 and desk.vertices == ["E5", "C7"]


def test_edits_are_for_the_position_that_the_page_showed(study: Desk) -> None:
    node, tree = study.session.node, study.session.tree_number
    study.send("go", move=2)
    study.send("comment", node=node.number, text="typed before")
    assert (node.comment, state(study)["comment"]) == ("typed before", "well played")
    before = study.played.tree.to_sgf()
    for kind in ("mark", "stone", "turn", "delete", "promote"):
        with pytest.raises(UserError, match="another position is shown now"):
            study.send(kind, node=node.number, point="A1", mark="circle", colour="black")
    assert study.played.tree.to_sgf() == before
    with pytest.raises(UserError, match="another position is shown now"):
        study.send("play", node=study.played.tree.main_line[-1].number, point="A1")
    study.send("open", sgf=RECORD)
    for kind in ("comment", "delete"):
        with pytest.raises(UserError, match="another game is shown now"):
            study.send(kind, tree=tree, text="mine")
    assert state(study)["tree"].startswith(f"{study.session.tree_number}.") and study.session.node.comment == ""


def test_a_page_is_told_when_the_program_has_its_comment(study: Desk) -> None:
    node, tree = study.session.node.number, study.session.tree_number
    study.send("go", move=2)
    answer = study.send("comment", node=node, text="mine ")
    assert answer == {"type": "comment", "node": node, "tree": tree, "text": "mine "}
    study.send("open", sgf=RECORD)
    with pytest.raises(UserError, match="another game is shown now; your comment stays in its field: copy it"):
        study.send("comment", node=node, tree=tree, text="mine too")
    answer = study.send("comment", node=node, tree=tree, text="")  # nothing is lost
    assert answer == {"type": "comment", "node": node, "tree": tree, "text": ""}


def test_a_line_that_cannot_be_read_never_becomes_the_main_line(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee](;W[cc])(;W[ge](;B[zz])(;B[aa])))")
    before = desk.played.tree.to_sgf()
    with pytest.raises(UserError, match="after move 2: invalid SGF point"):
        desk.send("go", node=4)
    desk.send("go", move=2)
    with pytest.raises(UserError, match="after move 2: invalid SGF point"):
        desk.send("delete")
    desk.send("go", node=3)
    with pytest.raises(UserError, match="after move 2: invalid SGF point"):
        desk.send("promote")
    assert desk.played.tree.to_sgf() == before and desk.played.tree.edits == []


def test_the_turn_that_was_changed_stays_in_a_game_from_there(study: Desk) -> None:
    study.send("turn")
    study.session.values.set(study.played.node, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.session.values.set(study.played.tree.root, Value(BLACK, 0.4, -1.0, JUDGED_VISITS, "E5"))
    assert state(study)["toMove"] == "white"
    study.send("branch")
    played = study.played
    assert state(study)["toMove"] == "white" and played.humans == {WHITE}
    assert played.tree.position(played.node).to_move == WHITE
    assert [place for place, *_ in study.session.values.curve(study.session.line)] == [0, 5]
    study.play("A1")
    study.wait()
    file = study.played.file.path
    assert file is not None and read_sgf(file).to_game().stone_at("A1") == WHITE


def test_what_was_found_before_a_stone_was_set_up_is_forgotten(study: Desk) -> None:
    study.send("stone", point="A1", colour="black")
    study.send("stone", point="A2", colour="black")
    study.session.values.set(study.session.node, Value(BLACK, 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.send("undo")
    assert state(study)["stones"][7][0] == "." and study.session.values.get(study.session.node) is None


def test_deleting_a_variation_keeps_what_was_found_about_the_rest(study: Desk) -> None:
    values, line = study.session.values, study.session.line
    for node in line:
        values.set(node, Value(study.session.to_move(node), 0.5, 0.0, JUDGED_VISITS, "E5"))
    study.send("go", move=3)
    study.send("delete")
    assert state(study)["place"] == 2 and [place for place, *_ in state(study)["curve"]] == [0, 1, 2]
    study.send("undo")
    assert [place for place, *_ in state(study)["curve"]] == [0, 1, 2, 3, 4]


def test_deleting_a_move_out_of_turn_and_its_undo_forget_the_position_before_it(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];B[cc])")
    before = desk.session.line[1]
    for node in desk.session.line:
        desk.session.values.set(node, Value(desk.session.to_move(node), 0.5, 0.0, JUDGED_VISITS, "E5"))
    desk.send("delete")
    assert state(desk)["toMove"] == "white" and desk.session.values.get(before) is None
    desk.session.values.set(before, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "E5"))
    desk.send("undo")
    desk.send("go", move=1)
    assert state(desk)["toMove"] == "black" and desk.session.values.get(before) is None


OUT_OF_TURN = "(;GM[1]SZ[9];B[ee](;W[dd])(;B[cc]))"  # after E5 it is White's turn, or Black's


def test_a_move_is_not_judged_by_a_search_for_the_other_player(desk: Desk) -> None:
    desk.send("open", sgf=OUT_OF_TURN)
    session, (_, before, white) = desk.session, desk.session.line
    black = before.children[1]
    desk.send("teach", on=True)
    session.cancel()
    session.values.set(before, Value(WHITE, 0.5, 0.0, JUDGED_VISITS, "G3"))
    session.values.set(white, Value(BLACK, 0.5, 4.0, JUDGED_VISITS, "G3"))
    session.values.set(black, Value(WHITE, 0.5, -4.0, JUDGED_VISITS, "G3"))
    session.publish()
    assert state(desk)["loss"]["move"] == "D6" and [place for place, *_ in state(desk)["curve"]] == [1, 2]
    desk.send("variation", step=1)
    assert state(desk)["loss"] is None and [place for place, *_ in state(desk)["curve"]] == [2]
    desk.send("variation", step=1)
    assert state(desk)["loss"]["move"] == "D6"  # it counts again


def test_a_position_is_judged_for_the_player_to_move(desk: Desk) -> None:
    desk.send("open", sgf=OUT_OF_TURN)
    desk.send("teach", on=True)
    before, white = desk.session.line[1:]
    black = before.children[1]
    for node in (before, white, black, before, white, before):
        desk.send("go", node=node.number)
        desk.wait()
        value = desk.session.values.get(node)
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


def result_in(folder: Path) -> str:
    (file,) = folder.glob("*.sgf")
    return read_sgf(file).result


def test_undoing_a_comment_keeps_the_result(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path, frozenset((BLACK, WHITE)))
    for point in ("C3", "pass", "pass"):
        desk.play(point)
    desk.wait(lambda: desk.played.result)
    before = result_in(tmp_path)
    desk.send("comment", text="mine")
    desk.send("undo")
    assert desk.played.result == result_in(tmp_path) == before != "" and desk.session.task is None
    desk.send("go", move=1)  # a result in a variation is not the game's
    for point in ("B2", "A1"):
        desk.play(point)
    desk.send("resign")
    assert (desk.played.result, result_in(tmp_path)) == ("B+R", before)
    desk.send("undo")
    assert (desk.played.result, result_in(tmp_path)) == (None, before)
    desk.send("go", move=1)
    desk.send("variation", step=1)
    assert result_in(tmp_path) == before


def test_undo_against_the_engine_stays_in_the_game(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[5]PB[human]PW[gtp_engine]AP[gtp_engine:1](;B[cc];W[bb])(;B[dd];W[db];B[bd]))")
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    desk.send("resume", game="game")
    assert desk.played.game.moves[-1].point == desk.played.game.point("B4") and not desk.played.is_study
    desk.send("comment", text="mine")
    desk.send("undo")
    assert desk.vertices == ["C3", "B4"]
    desk.send("undo")
    assert desk.vertices == [] and read_sgf(path).moves == [] and desk.published[-1]["clock"]["running"] is None
    desk.play("D2")  # the move of the other variation begins the main line
    desk.wait()
    assert desk.vertices[0] == "D2" and len(desk.vertices) == 2 and len(read_tree(path).root.children) == 2
    assert [move.point for move in read_sgf(path).moves] == [move.point for move in desk.played.game.moves]


def test_the_handicap_is_that_of_the_start(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[9]HA[2]AB[cc][gg]PB[human]PW[human]AP[gtp_engine:1];W[ee])")
    desk = Desk(engine, tmp_path, frozenset((BLACK, WHITE)))
    desk.send("resume", game="game")
    for point in ("A1", "B2", "C3"):
        desk.send("stone", point=point, colour="white")
    assert read_sgf(path).handicap == 2


# Guessing.


def test_guesses_are_compared_with_the_game(study: Desk) -> None:
    study.send("go", move=0)
    study.send("guess", colour="both")
    session = study.session
    session.values.set(session.node, Value(BLACK, 0.5, 0.0, JUDGED_VISITS, "E5", {"E5": 0.0, "C3": 2.0}))
    study.play("C3")
    guess = state(study)["guess"]
    assert guess["last"] == {"guessed": "C3", "played": "E5", "lost": 2.0, "playedLost": 0.0}
    assert (guess["tried"], guess["right"], guess["judged"], guess["lost"]) == (1, 0, 1, 2.0)
    assert state(study)["place"] == 1 and len(session.line) == 5  # nothing has been added
    session.cancel()
    session.values.forget()
    study.play("C7")
    assert (state(study)["guess"]["tried"], state(study)["guess"]["right"]) == (2, 1)
    assert state(study)["guess"]["last"]["lost"] is None  # not judged
    study.send("guess", colour=None)
    assert state(study)["guess"]["colour"] is None and state(study)["guess"]["tried"] == 2
    study.play("A1")
    assert len(session.line) == 4
    study.send("open", sgf=RECORD)
    assert state(study)["guess"] is None


def test_the_other_players_moves_are_shown(study: Desk) -> None:
    study.send("go", move=0)
    study.send("guess", colour="white")
    assert state(study)["place"] == 1
    study.play("A1")
    assert state(study)["place"] == 3
    study.play("A1")
    assert state(study)["place"] == 4


def test_a_move_of_the_other_player_is_not_guessed(study: Desk) -> None:
    study.send("go", move=0)
    study.send("guess", colour="black")
    study.send("go", step=1)
    with pytest.raises(
        UserError, match="the next move is White's, but you are guessing those of Black: go to the next"
    ):
        study.play("C7")
    assert study.session.state()["guess"]["tried"] == 0
    study.send("go", step=1)
    study.play("G7")
    assert (state(study)["guess"]["tried"], state(study)["guess"]["right"]) == (1, 1)


def test_a_move_after_a_comment_is_guessed_but_none_after_set_up_stones(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];C[well];;W[cc];AB[aa];B[gc];AW[ii])")
    desk.send("go", move=0)
    desk.send("guess", colour="both")
    desk.play("E5")
    assert state(desk)["place"] == 3
    desk.send("go", move=1)
    desk.play("C7")
    assert (state(desk)["place"], state(desk)["guess"]["right"]) == (5, 2)
    desk.send("go", move=4)
    with pytest.raises(UserError, match="the position changes before the next move: go to the next position"):
        desk.play("G7")
    desk.send("go", move=6)
    with pytest.raises(UserError, match="the game ends here"):
        desk.play("G7")
    assert state(desk)["guess"]["tried"] == 2


def test_guessing_ends_after_the_last_move(study: Desk) -> None:
    study.send("go", move=1)
    study.send("guess", colour="black")
    assert state(study)["place"] == 2
    study.play("G7")
    guess = state(study)["guess"]
    assert (guess["colour"], guess["tried"], guess["right"], guess["last"]["played"]) == (None, 1, 1, "G7")
    assert state(study)["place"] == 4
    study.send("go", move=3)
    study.send("guess", colour="both")
    study.send("go", move=4)  # on one's own
    with pytest.raises(UserError, match="there is no move to guess"):
        study.play("A1")


def test_guessing_begins_only_where_there_is_a_move_to_guess(study: Desk) -> None:
    for colour, place, problem in (("both", 4, "no move follows"), ("black", 3, "no move of Black follows")):
        study.send("go", move=place)
        with pytest.raises(UserError, match=f"{problem} here: go to an earlier position"):
            study.send("guess", colour=colour)
        assert state(study)["guess"] is None and state(study)["place"] == place
    study.send("go", move=2)
    study.send("guess", colour="white")
    assert state(study)["place"] == 3


def test_guessing_does_not_begin_behind_an_illegal_move(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];W[dd](;B[cc])(;B[gg];W[gg];B[aa]))")
    desk.send("go", node=4)
    with pytest.raises(UserError, match="G3 is occupied"):
        desk.send("guess", colour="black")
    assert desk.session.state()["guess"] is None and desk.session.node.number == 4


def test_a_last_guess_before_an_illegal_move_changes_nothing(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];W[dd](;B[cc])(;B[gg];W[gg]))")
    desk.send("go", node=4)
    desk.send("guess", colour="both")
    before = desk.played.tree.to_sgf()
    for point in ("C3", "C4"):
        with pytest.raises(UserError, match="G3 is occupied"):
            desk.play(point)
        guess = desk.session.state()["guess"]
        assert (guess["colour"], guess["tried"], guess["last"]) == ("both", 0, None)
    assert desk.played.tree.to_sgf() == before


def test_while_guessing_nothing_shows_the_move(study: Desk) -> None:
    study.send("analyse", visits=50)
    study.send("go", move=1)
    study.send("guess", colour="both")
    study.wait()
    assert state(study)["report"] is None and state(study)["analysisVisits"] is None
    for message in ({"type": "hint"}, {"type": "analyse", "visits": 50}):
        with pytest.raises(UserError, match="stop guessing first"):
            study.session.receive(message)
    value = study.session.values.get(study.session.node)
    assert value is not None and value.visits >= JUDGED_VISITS  # the engine judges meanwhile
    with pytest.raises(UserError, match="E5 is occupied"):
        study.play("E5")


def test_only_opened_games_are_guessed(desk: Desk) -> None:
    with pytest.raises(UserError, match="open a game"):
        desk.send("guess", colour="both")


# The review.


def review(desk: Desk) -> None:
    desk.send("review", visits=20)
    desk.wait(lambda: state(desk)["review"]["stage"] in ("done", "stopped"))


def test_a_review_fills_the_graph_and_lists_mistakes_with_reasons(desk: Desk) -> None:
    desk.send("network", network="auto")
    desk.send("open", sgf="(;GM[1]SZ[9]KM[7];B[ee];W[cg];B[];W[gc])")  # Black passes with the third move
    desk.wait(desk.engine.ready.done)
    desk.send("review", visits=40)
    assert state(desk)["review"]["stage"] == "moves"
    with pytest.raises(UserError, match="the review is running"):
        desk.send("review", visits=100)
    desk.send("go", move=2)  # the game can be looked at meanwhile
    desk.wait(lambda: state(desk)["review"]["stage"] == "done")
    found = state(desk)
    assert found["place"] == 2 and [place for place, *_ in found["curve"]] == [0, 1, 2, 3, 4]
    mistakes = found["review"]["mistakes"]
    assert (mistakes[0]["number"], mistakes[0]["move"]) == (3, "pass") and mistakes[0]["reasons"]
    assert mistakes == sorted(mistakes, key=lambda mistake: -mistake["points"])
    desk.send("go", node=mistakes[0]["node"])
    assert state(desk)["place"] == mistakes[0]["number"]
    line = desk.send("reason", number=0)
    assert line is not None and line["of"] == "reason 0" and line["board"] != state(desk)["board"]
    number = len(mistakes[0]["reasons"]) + 1
    nothing = {"type": "line", "of": f"reason {number}", "board": state(desk)["board"]}
    assert desk.send("reason", number=number) == nothing  # of a review that has been begun again meanwhile
    assert mistakes[0]["place"] == 3
    desk.send("go", move=2)
    answer = desk.send("reason", number=0)  # asked for before the page saw the step
    assert answer is not None and answer["board"] == state(desk)["board"]
    desk.play("C7")  # another variation, in which the third move is not a mistake
    assert state(desk)["place"] == 3 and state(desk)["review"]["mistakes"][0]["place"] is None


def test_a_review_finds_values_for_moves_before_nodes_that_change_nothing(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];C[the start];B[ee];;W[cg];AB[aa];B[cc];C[the end])")
    review(desk)
    assert [place for place, *_ in state(desk)["curve"]] == [0, 1, 2, 3, 5, 6, 7]  # not before the stone is set up


def test_a_review_can_be_stopped(study: Desk) -> None:
    study.send("review", visits=100_000)
    study.send("stop-review")
    study.wait(lambda: state(study)["review"]["stage"] == "stopped")
    study.send("review", visits=10)
    study.wait(lambda: state(study)["review"]["stage"] == "done")


def test_a_review_that_fails_leaves_the_engine_to_the_game(study: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UserError("the network cannot be read")

    monkeypatch.setattr(Reviewer, "steps", fail)
    review(study)
    assert state(study)["review"]["stage"] == "stopped" and state(study)["problem"] == "the network cannot be read"
    study.send("analyse", visits=20)
    assert state(study)["task"]["kind"] == "analysis"
    study.wait()
    assert state(study)["report"]["visits"] == 20 and state(study)["problem"]
    study.play("A1")
    assert state(study)["problem"] is None and state(study)["review"]["stage"] == "stopped"
    review(study)
    assert state(study)["problem"]
    study.send("open", sgf=RECORD)
    assert state(study)["problem"] is None


def test_another_game_ends_the_review(study: Desk) -> None:
    study.send("review", visits=100_000)
    study.send("open", sgf=RECORD)
    assert state(study)["review"] is None
    study.session.close()


def test_a_game_without_moves_is_not_reviewed(desk: Desk) -> None:
    with pytest.raises(UserError, match="no moves to review"):
        desk.send("review", visits=10)


# Clocks.


def test_the_clock_of_the_player_to_move_runs_in_a_game_only(desk: Desk) -> None:
    assert state(desk)["clock"]["used"] == {"black": 0.0, "white": 0.0} and state(desk)["clock"]["running"] is None
    desk.play("C3")
    assert state(desk)["clock"]["running"] == "white"
    desk.wait()
    assert state(desk)["clock"]["running"] == "black" and state(desk)["clock"]["used"]["white"] > 0
    desk.send("resign")
    assert state(desk)["clock"]["running"] is None
    desk.send("open", sgf=RECORD)
    assert state(desk)["clock"]["used"] == {"black": 0.0, "white": 0.0} and state(desk)["clock"]["running"] is None
