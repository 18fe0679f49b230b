"""Editing records: every change can be undone."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.game import Game, Move
from gtp_engine.go.sgf import Editor, GameRecord, read_sgf

RECORD = b"""(;GM[1]FF[4]SZ[9]KM[5.5]PB[Ann];B[ee]C[first];W[cc]
(;B[gc]TR[ee];W[gg])
(;B[cg]LB[cg:A][ee:1](;W[gg])(;W[ge])))"""


def edited(data: bytes) -> tuple[GameRecord, Editor]:
    record = read_sgf(data)
    return record, Editor(record)


def test_every_change_is_undone_in_turn() -> None:
    read, editor = edited(RECORD)
    states = [read.to_sgf()]
    changes = [
        lambda: editor.add(read.main_line[1], {}, move=Move(WHITE, PASS)),
        lambda: editor.add(read.main_line[1], {}, move=Move(WHITE, Game(9).point("A1")), first=True),
        lambda: editor.remove(read.main_line[1].children[1]),
        lambda: editor.promote(read.main_line[1].children[1]),
        lambda: editor.set_comment(read.root, "a [b] c\\"),
        lambda: editor.set_comment(read.main_line[1], ""),
        lambda: editor.mark(read.root, Game(9).point("C3"), "square"),
        lambda: editor.set_stone(read.main_line[-1], Game(9).point("J9"), WHITE),
        lambda: editor.change_turn(read.main_line[-1], BLACK),
    ]
    for change in changes:
        version = editor.version
        change()
        assert editor.version > version
        states.append(read.to_sgf())
        read_sgf(states[-1].encode())  # it can be read again
    assert len(set(states)) == len(states)
    while editor.edits:
        assert read.to_sgf() == states.pop()
        editor.undo()
    assert [read.to_sgf()] == states
    with pytest.raises(UserError, match="nothing to undo"):
        editor.undo()


def test_the_start_cannot_be_deleted() -> None:
    read, editor = edited(RECORD)
    with pytest.raises(UserError, match="start of the game"):
        editor.remove(read.root)


def test_comments_have_any_characters() -> None:
    read, editor = edited(RECORD)
    editor.set_comment(read.root, "好 ] \\ :")
    assert read_sgf(read.to_sgf().encode()).root.comment == "好 ] \\ :"


def test_marks_replace_each_other() -> None:
    read, editor = edited(RECORD)
    point, other = Game(9).point("C3"), Game(9).point("D3")
    kinds = []
    for kind in ("triangle", "circle", "circle", "letter", "number"):
        editor.mark(read.root, point, kind)
        marks = read.marks(read.root)
        kinds.append(marks.shapes.get(point) or marks.labels.get(point))
    editor.mark(read.root, other, "letter")
    editor.mark(read.root, Game(9).point("E3"), "number")
    assert kinds == ["triangle", "circle", None, "A", "1"]
    assert sorted(read.marks(read.root).labels.values()) == ["1", "2", "A"]
    assert read.root.properties["LB"][0] == b"cg:1"
    with pytest.raises(UserError, match="invalid mark 'star'"):
        editor.mark(read.root, point, "star")
    with pytest.raises(UserError, match="needs a point"):
        editor.mark(read.root, PASS, "circle")


def test_marks_that_cannot_be_read_stay_when_others_are_edited() -> None:
    read, editor = edited(b"(;SZ[9]TR[ee][zz][aa:ba]LB[cc:a][xx:1][gg])")
    game = Game(9)
    assert read.marks(read.root).shapes == dict.fromkeys(map(game.point, ("E5", "A9", "B9")), "triangle")
    editor.mark(read.root, game.point("A9"), "triangle")
    editor.mark(read.root, game.point("C7"), "number")
    assert read.root.properties["TR"] == [b"ee", b"zz", b"ba"]
    assert read.root.properties["LB"] == [b"xx:1", b"gg", b"cc:1"]


def test_marks_that_name_the_board_again_and_again_are_left_out() -> None:
    read, editor = edited(b"(;SZ[9]TR" + b"[aa:ah]" * 81 + b"[ii])")
    assert Game(9).point("J1") not in read.marks(read.root).shapes
    editor.mark(read.root, Game(9).point("J1"), "circle")
    assert len(read.root.properties["TR"]) == 82


def test_stones_are_set_up_at_an_empty_start_and_taken_off_again() -> None:
    read, editor = edited(b"(;SZ[5])")
    for name, colour in (("C3", BLACK), ("D3", WHITE), ("C3", WHITE), ("D3", WHITE)):
        assert editor.set_stone(read.root, Game(5).point(name), colour) is read.root
    game = read.position(read.root)
    assert [game.stone_at(name) for name in ("C3", "D3")] == [WHITE, EMPTY]
    assert read.root.properties["AW"] == [b"cc"] and "AB" not in read.root.properties


def test_stones_after_a_move_begin_a_variation() -> None:
    read, editor = edited(RECORD)
    node = editor.set_stone(read.main_line[2], Game(9).point("A1"), BLACK)
    assert node.parent is read.main_line[2] and len(read.main_line[2].children) == 3
    node = editor.set_stone(node, Game(9).point("E5"), BLACK)  # takes the stone off
    game = read.position(node)
    assert (game.stone_at("A1"), game.stone_at("E5"), game.stone_at("C7")) == (BLACK, EMPTY, WHITE)
    assert node.properties["AE"] == [b"ee"]


def test_a_chain_without_liberties_cannot_be_set_up() -> None:
    read, editor = edited(b"(;SZ[5]AB[ab][ba])")
    before = read.to_sgf()
    with pytest.raises(UserError, match="no liberty"):
        editor.set_stone(read.root, Game(5).point("A5"), WHITE)
    assert read.to_sgf() == before and editor.edits == []


def test_a_long_game_with_many_variations() -> None:
    read, editor = edited(b"(;)")
    node = read.root
    for number in range(2000):
        editor.add(node, {}, move=Move(BLACK, PASS))
        node = editor.add(node, {}, move=Move(number % 2 + 1, PASS), first=True)
    again = read_sgf(read.to_sgf().encode())
    assert sum(1 for _ in again) == 4001 and len(again.main_line) == 2001
