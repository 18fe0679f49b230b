"""What the program notes for itself in the file of a game."""

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.table.saved_games import Notes, read_notes


def test_notes_survive_a_file() -> None:
    tree = read_sgf(b"(;GM[1]SZ[9]PB[human]KGSDE[x];B[ee])")
    notes = Notes({BLACK: 83.25, WHITE: 4.0}, seconds=2.5, visits=100, is_edited=True)
    tree.root.properties = notes.added_to(tree.root.properties)
    root = read_sgf(tree.to_sgf().encode()).root.properties
    assert root["KGSDE"] == [b"x"] and root["PB"] == [b"human"]
    assert read_notes(root) == Notes({BLACK: 83.2, WHITE: 4.0}, 2.5, 100, is_edited=True)


def test_no_notes_leave_nothing() -> None:
    before = read_sgf(b"(;GM[1]SZ[9]GEBT[1]GEWT[2]GESEC[3]GEVIS[4]GEDIT[1])").root.properties
    assert not any(name.startswith("GE") for name in Notes().added_to(before))


def test_invalid_notes_are_left_out() -> None:
    root = read_sgf(b"(;GM[1]SZ[9]GEBT[-3]GEWT[soon]GESEC[0]GEVIS[nan])").root.properties
    assert read_notes(root) == Notes({BLACK: 0.0, WHITE: 0.0})
    for visits in (b"0.5", b"12.7", b"-1", b"1e999"):
        root = read_sgf(b"(;GM[1]SZ[9]GEBT[inf]GEWT[1e999]GESEC[inf]GEVIS[" + visits + b"])").root.properties
        assert read_notes(root) == Notes({BLACK: 0.0, WHITE: 0.0})
