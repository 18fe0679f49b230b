"""Game trees: nothing of a file is lost, and every change can be undone."""

import time

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.game.coords import BLACK, EMPTY, PASS, WHITE
from gtp_engine.game.game import Game, Move
from gtp_engine.sgf import GameRecord, RecordTree, SgfError, TreeNode, read_sgf, read_tree

RECORD = b"""(;GM[1]FF[4]SZ[9]KM[5.5]PB[Ann]GN[A game]XX[kept];B[ee]C[first];W[cc]
(;B[gc]TR[ee];W[gg])
(;B[cg]LB[cg:A][ee:1]C[or here \\] so](;W[gg])(;W[ge]N[name])))"""


def tree() -> RecordTree:
    return read_tree(RECORD)


def vertices(tree: RecordTree, nodes: list[TreeNode]) -> list[str]:
    game = Game(tree.width, tree.height)
    return [game.vertex(node.move.point) for node in nodes if node.move is not None]


def end(tree: RecordTree) -> TreeNode:
    return tree.main_line[-1]


def test_variations_and_unknown_properties_survive() -> None:
    first = tree()
    second = read_tree(first.to_sgf().encode())
    for read in (first, second):
        assert sum(1 for _ in read) == 8
        assert read.root.properties["XX"] == [b"kept"] and read.root.properties["GN"] == [b"A game"]
        assert vertices(read, read.main_line) == ["E5", "C7", "G7", "G3"]
        other = read.main_line[2].children[1]
        assert other.comment == "or here ] so"
        assert [child.properties.get("N") for child in other.children] == [None, [b"name"]]
    assert first.to_sgf() == second.to_sgf()
    assert [node.properties for node in first][1:] == [node.properties for node in second][1:]


def test_names_with_digits_survive_as_they_are() -> None:
    read = read_tree(b"(;SZ[9]LZ2[a\\]b];B[ee]LZOP2[B3[x\\]](;W[cc]x1[p][q])(;W[gg]X1[r]AddBlack[aa]))(;SZ[9])")
    assert vertices(read, read.main_line) == ["E5", "C7"] and not read.is_whole_file
    for again in (read, read_tree(read.to_sgf().encode())):
        assert again.root.properties["LZ2"] == [b"a\\]b"]
        assert again.main_line[1].properties["LZOP2"] == [b"B3[x\\]"]
        assert again.main_line[2].properties["x1"] == [b"p", b"q"]
        assert again.main_line[1].children[1].properties == {"W": [b"gg"], "X1": [b"r"], "AB": [b"aa"]}


def test_the_main_line_is_the_one_that_read_sgf_reads() -> None:
    assert tree().record(end(tree())).moves == read_sgf(RECORD).moves
    assert tree().record(end(tree())).black == "Ann"


def test_positions_of_variations() -> None:
    read = tree()
    node = read.main_line[2].children[1]
    game = read.position(node)
    assert (game.stone_at("C3"), game.stone_at("G7"), game.to_move, game.komi) == (BLACK, EMPTY, WHITE, 5.5)


def test_an_illegal_variation_does_not_keep_the_rest_from_being_read() -> None:
    read = read_tree(b"(;SZ[9];B[ee](;W[cc])(;W[ee]))")
    with pytest.raises(SgfError, match="E5 is occupied"):
        read.position(read.main_line[1].children[1])


def test_a_variation_that_cannot_be_read_is_kept_and_refused_only_itself() -> None:
    read = read_tree(b"(;SZ[9];B[ee](;W[cc];B[gg])(;W[zz]C[off the board];B[aa])(;AB[aa]AW[aa]))")
    assert vertices(read, read.main_line) == ["E5", "C7", "G3"]
    _, bad, worse = read.main_line[1].children
    for node in (bad, bad.children[0], worse):
        with pytest.raises(UserError, match="after move 1: "):
            read.position(node)
    assert bad.comment == "off the board" and b"zz" in bad.properties["W"]
    assert read_tree(read.to_sgf().encode()).to_sgf() == read.to_sgf()


def test_many_variations_are_read_in_linear_time() -> None:
    count = 40_000
    started = time.process_time()
    read = read_tree(b"(;SZ[9]" + b"(;B[aa])" * count + b")")
    assert len(read.root.children) == count
    assert time.process_time() - started < 20


@pytest.mark.parametrize("sgf", [b"", b"(;SZ[9];B[zz])", b"(;SZ[9](;B[zz])(;B[aa]))", b"(;GM[2];B[aa])"])
def test_what_is_no_game_is_refused(sgf: bytes) -> None:
    with pytest.raises(SgfError):
        read_tree(sgf)


@pytest.mark.parametrize("sgf", [b"(;SZ[9];B[aa];W[bb];C[x]AB[zz])", b"(;SZ[9]B[aa];W[bb](;B[zz])(;B[cc]))"])
def test_the_error_of_the_main_line_says_after_which_move(sgf: bytes) -> None:
    with pytest.raises(SgfError) as error:
        read_tree(sgf)
    assert str(error.value) == "SGF data: after move 2: invalid SGF point 'zz' on a 9x9 board"


def test_a_root_with_a_move_and_a_node_with_two() -> None:
    read = read_tree(b"(;SZ[9]B[ee];W[cc]B[gg]C[both])")
    assert vertices(read, read.main_line) == ["E5", "C7", "G3"]
    assert [node.comment for node in read.main_line] == ["", "", "", "both"]


def test_siblings_are_beside_each_other_at_the_same_depth() -> None:
    read = tree()
    first = end(read)
    second = read.beside(first, 1)
    assert vertices(read, second.path) == ["E5", "C7", "C3", "G3"]
    read.follow(second)
    third = read.beside(second, 1)
    assert vertices(read, third.path)[-1] == "G5"
    assert read.beside(read.main_line[1], 1) is read.main_line[1]  # nothing branches before it


def test_the_line_follows_what_was_looked_at() -> None:
    read = tree()
    other = read.main_line[2].children[1]
    read.follow(other)
    assert vertices(read, read.line(read.root)) == ["E5", "C7", "C3", "G3"]
    assert vertices(read, read.main_line) == ["E5", "C7", "G7", "G3"]


def test_a_position_is_led_to_by_a_move_or_set_up_stones_or_a_turn() -> None:
    line = read_tree(b"(;GM[1]SZ[9];C[the start];B[ee];;C[said]MN[1];AB[aa];TR[aa];PL[W];)").main_line
    assert [line.index(node.first_with_position) for node in line] == [0, 0, 2, 2, 2, 5, 5, 7, 7]


def test_every_change_is_undone_in_turn() -> None:
    read = tree()
    states = [read.to_sgf()]
    changes = [
        lambda: read.add(read.main_line[1], {}, move=Move(WHITE, PASS)),
        lambda: read.add(read.main_line[1], {}, move=Move(WHITE, Game(9).point("A1")), first=True),
        lambda: read.remove(read.main_line[1].children[1]),
        lambda: read.promote(read.main_line[1].children[1]),
        lambda: read.set_comment(read.root, "a [b] c\\"),
        lambda: read.set_comment(read.main_line[1], ""),
        lambda: read.mark(read.root, Game(9).point("C3"), "square"),
        lambda: read.set_stone(end(read), Game(9).point("J9"), WHITE),
        lambda: read.change_turn(end(read), BLACK),
    ]
    for change in changes:
        version = read.version
        change()
        assert read.version > version
        states.append(read.to_sgf())
        read_tree(states[-1].encode())  # it can be read again
    assert len(set(states)) == len(states)
    while read.edits:
        assert read.to_sgf() == states.pop()
        read.undo()
    assert [read.to_sgf()] == states
    with pytest.raises(UserError, match="nothing to undo"):
        read.undo()


def test_the_start_cannot_be_deleted() -> None:
    with pytest.raises(UserError, match="start of the game"):
        tree().remove(tree().root)


def test_comments_have_any_characters() -> None:
    read = tree()
    read.set_comment(read.root, "好 ] \\ :")
    assert read_tree(read.to_sgf().encode()).root.comment == "好 ] \\ :"


def test_marks_replace_each_other() -> None:
    read, point, other = tree(), Game(9).point("C3"), Game(9).point("D3")
    kinds = []
    for kind in ("triangle", "circle", "circle", "letter", "number"):
        read.mark(read.root, point, kind)
        marks = read.marks(read.root)
        kinds.append(marks.shapes.get(point) or marks.labels.get(point))
    read.mark(read.root, other, "letter")
    read.mark(read.root, Game(9).point("E3"), "number")
    assert kinds == ["triangle", "circle", None, "A", "1"]
    assert sorted(read.marks(read.root).labels.values()) == ["1", "2", "A"]
    assert read.root.properties["LB"][0] == b"cg:1"
    with pytest.raises(UserError, match="invalid mark 'star'"):
        read.mark(read.root, point, "star")
    with pytest.raises(UserError, match="needs a point"):
        read.mark(read.root, PASS, "circle")


def test_marks_of_files() -> None:
    read = read_tree(b"(;SZ[9]TR[aa:ba]MA[zz]LB[cc:a\\:b][xx:1])")
    game = Game(9)
    assert read.marks(read.root).shapes == {game.point("A9"): "triangle", game.point("B9"): "triangle"}
    assert read.marks(read.root).labels == {game.point("C7"): "a:b"}


def test_marks_that_cannot_be_read_stay_when_others_are_edited() -> None:
    read, game = read_tree(b"(;SZ[9]TR[ee][zz][aa:ba]LB[cc:a][xx:1][gg])"), Game(9)
    assert read.marks(read.root).shapes == dict.fromkeys(map(game.point, ("E5", "A9", "B9")), "triangle")
    read.mark(read.root, game.point("A9"), "triangle")
    read.mark(read.root, game.point("C7"), "number")
    assert read.root.properties["TR"] == [b"ee", b"zz", b"ba"]
    assert read.root.properties["LB"] == [b"xx:1", b"gg", b"cc:1"]


def test_marks_that_name_the_board_again_and_again_are_left_out() -> None:
    read = read_tree(b"(;SZ[9]TR" + b"[aa:ah]" * 81 + b"[ii])")
    assert Game(9).point("J1") not in read.marks(read.root).shapes
    read.mark(read.root, Game(9).point("J1"), "circle")
    assert len(read.root.properties["TR"]) == 82


def test_labels_have_no_control_characters() -> None:
    read = read_tree(b"(;SZ[9]LB[cc:a\x01\x1bb])")
    assert read.marks(read.root).labels == {Game(9).point("C7"): "a??b"}


def test_stones_are_set_up_at_an_empty_start_and_taken_off_again() -> None:
    read = read_tree(b"(;SZ[5])")
    for name, colour in (("C3", BLACK), ("D3", WHITE), ("C3", WHITE), ("D3", WHITE)):
        assert read.set_stone(read.root, Game(5).point(name), colour) is read.root
    game = read.position(read.root)
    assert [game.stone_at(name) for name in ("C3", "D3")] == [WHITE, EMPTY]
    assert read.root.properties["AW"] == [b"cc"] and "AB" not in read.root.properties


def test_stones_after_a_move_begin_a_variation() -> None:
    read = tree()
    node = read.set_stone(read.main_line[2], Game(9).point("A1"), BLACK)
    assert node.parent is read.main_line[2] and len(read.main_line[2].children) == 3
    node = read.set_stone(node, Game(9).point("E5"), BLACK)  # takes the stone off
    game = read.position(node)
    assert (game.stone_at("A1"), game.stone_at("E5"), game.stone_at("C7")) == (BLACK, EMPTY, WHITE)
    assert node.properties["AE"] == [b"ee"]


def test_a_chain_without_liberties_cannot_be_set_up() -> None:
    read = read_tree(b"(;SZ[5]AB[ab][ba])")
    before = read.to_sgf()
    with pytest.raises(UserError, match="no liberty"):
        read.set_stone(read.root, Game(5).point("A5"), WHITE)
    assert read.to_sgf() == before and read.edits == []


def test_a_long_game_with_many_variations() -> None:
    read = RecordTree.of_game(Game(19))
    node = read.root
    for number in range(2000):
        read.add(node, {}, move=Move(BLACK, PASS))
        node = read.add(node, {}, move=Move(number % 2 + 1, PASS), first=True)
    again = read_tree(read.to_sgf().encode())
    assert sum(1 for _ in again) == 4001 and len(again.main_line) == 2001


def test_the_tree_of_a_game() -> None:
    game = Game(9, komi=0.5)
    game.place_handicap(["C3", "G7"])
    game.play(WHITE, "E5")
    read = RecordTree.of_game(game, {1: "well played"})
    assert read.position(end(read)).stones().tolist() == game.stones().tolist()
    assert end(read).comment == "well played"
    read.set_info(GameRecord.from_game(game, black="Ann", result="B+R"))
    assert b"Ann" in read.root.properties["PB"] and read.root.properties["RE"] == [b"B+R"]
    read.set_info(GameRecord.from_game(game))
    assert "PB" not in read.root.properties and "RE" not in read.root.properties
