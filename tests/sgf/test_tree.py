"""The tree of a record: nothing of a file is lost, its lines, and the positions of its nodes."""

import random
import time

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, EMPTY, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, SgfError, TreeNode, read_sgf

RECORD = b"""(;GM[1]FF[4]SZ[9]KM[5.5]PB[Ann]GN[A game]XX[kept];B[ee]C[first];W[cc]
(;B[gc]TR[ee];W[gg])
(;B[cg]LB[cg:A][ee:1]C[or here \\] so](;W[gg])(;W[ge]N[name])))"""


def tree() -> GameRecord:
    return read_sgf(RECORD)


def vertices(tree: GameRecord, nodes: list[TreeNode]) -> list[str]:
    game = Game(tree.width, tree.height)
    return [game.vertex(node.move.point) for node in nodes if node.move is not None]


def end(tree: GameRecord) -> TreeNode:
    return tree.main_line[-1]


def test_variations_and_unknown_properties_survive() -> None:
    first = tree()
    second = read_sgf(first.to_sgf().encode())
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
    read = read_sgf(b"(;SZ[9]LZ2[a\\]b];B[ee]LZOP2[B3[x\\]](;W[cc]x1[p][q])(;W[gg]X1[r]AddBlack[aa]))(;SZ[9])")
    assert vertices(read, read.main_line) == ["E5", "C7"] and not read.is_whole_file
    for again in (read, read_sgf(read.to_sgf().encode())):
        assert again.root.properties["LZ2"] == [b"a\\]b"]
        assert again.main_line[1].properties["LZOP2"] == [b"B3[x\\]"]
        assert again.main_line[2].properties["x1"] == [b"p", b"q"]
        assert again.main_line[1].children[1].properties == {"W": [b"gg"], "X1": [b"r"], "AB": [b"aa"]}


def test_positions_of_variations() -> None:
    read = tree()
    node = read.main_line[2].children[1]
    game = read.position(node)
    assert (game.stone_at("C3"), game.stone_at("G7"), game.to_move, game.komi) == (BLACK, EMPTY, WHITE, 5.5)


def test_an_illegal_variation_does_not_keep_the_rest_from_being_read() -> None:
    read = read_sgf(b"(;SZ[9];B[ee](;W[cc])(;W[ee]))")
    with pytest.raises(SgfError, match="E5 is occupied"):
        read.position(read.main_line[1].children[1])


def test_a_variation_that_cannot_be_read_is_kept_and_refused_only_itself() -> None:
    read = read_sgf(b"(;SZ[9];B[ee](;W[cc];B[gg])(;W[zz]C[off the board];B[aa])(;AB[aa]AW[aa]))")
    assert vertices(read, read.main_line) == ["E5", "C7", "G3"]
    _, bad, worse = read.main_line[1].children
    for node in (bad, bad.children[0], worse):
        with pytest.raises(UserError, match="after move 1: "):
            read.position(node)
    assert bad.comment == "off the board" and b"zz" in bad.properties["W"]
    assert read_sgf(read.to_sgf().encode()).to_sgf() == read.to_sgf()


def test_many_variations_are_read_in_linear_time() -> None:
    count = 40_000
    started = time.process_time()
    read = read_sgf(b"(;SZ[9]" + b"(;B[aa])" * count + b")")
    assert len(read.root.children) == count
    assert time.process_time() - started < 20


@pytest.mark.parametrize("sgf", [b"(;SZ[9];B[aa];W[bb];C[x]AB[zz])", b"(;SZ[9]B[aa];W[bb](;B[zz])(;B[cc]))"])
def test_the_error_of_the_main_line_says_after_which_move(sgf: bytes) -> None:
    with pytest.raises(SgfError) as error:
        read_sgf(sgf)
    assert str(error.value) == "SGF data: after move 2: invalid SGF point 'zz' on a 9x9 board"


def test_a_root_with_a_move_and_a_node_with_two() -> None:
    read = read_sgf(b"(;SZ[9]B[ee];W[cc]B[gg]C[both])")
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
    line = read_sgf(b"(;GM[1]SZ[9];C[the start];B[ee];;C[said]MN[1];AB[aa];TR[aa];PL[W];)").main_line
    assert [line.index(node.first_with_position) for node in line] == [0, 0, 2, 2, 2, 5, 5, 7, 7]


def test_marks_of_files() -> None:
    read = read_sgf(b"(;SZ[9]TR[aa:ba]MA[zz]LB[cc:a\\:b][xx:1])")
    game = Game(9)
    assert read.marks(read.root).shapes == {game.point("A9"): "triangle", game.point("B9"): "triangle"}
    assert read.marks(read.root).labels == {game.point("C7"): "a:b"}


def test_labels_have_no_control_characters() -> None:
    read = read_sgf(b"(;SZ[9]LB[cc:a\x01\x1bb])")
    assert read.marks(read.root).labels == {Game(9).point("C7"): "a??b"}


def test_positions_are_the_same_in_whatever_order_they_are_asked_for() -> None:
    data = (
        b"(;SZ[5]HA[2]AB[bb][dd];W[cc];B[bc];W[](;B[cb];W[dc]PL[W];W[cd];B[]C[x])"
        b"(;AE[cc]AB[ee]PL[B];B[ea];W[eb](;B[ec])(;W[];B[])))"
    )
    read, nodes = read_sgf(data), list(read_sgf(data))
    chooser = random.Random(1)
    for number in chooser.choices(range(len(nodes)), k=300):
        fresh = read_sgf(data)
        game, expected = read.position(read.node(number)), fresh.position(fresh.node(number))
        assert (
            game.board == expected.board
        ).all() and game.superko_history().tolist() == expected.superko_history().tolist()
        assert (game.moves, game.setup_stones, game.passes) == (expected.moves, expected.setup_stones, expected.passes)
    with pytest.raises(UserError, match="deleted"):
        read.node(len(nodes))


def test_a_copy_is_independent() -> None:
    read = tree()
    copy = read.copy()
    assert copy.to_sgf() == read.to_sgf()
    copy.root.comment, copy.black = "changed", "Bob"
    copy.add(end(copy), {"N": [b"more"]})
    assert read.to_sgf() == tree().to_sgf() != copy.to_sgf()
