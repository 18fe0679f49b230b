"""A game in a window: what is drawn where, Ctrl-C and Ctrl-D, and questions."""

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from piped_game import PLAY, QUICK, only_game
from pseudo_terminal import HOME, Terminal

from gtp_engine.go.sgf import read_sgf


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A game on 9x9 where the engine would think for ten minutes."""
    program = Terminal(*PLAY, "--seconds", "600", "--sgf-dir", str(tmp_path))
    yield program
    program.close()


def test_control_c_makes_the_engine_move_and_then_leaves(terminal: Terminal, tmp_path: Path) -> None:
    terminal.answer("E5", "white is thinking")
    time.sleep(1)
    terminal.send("\x03")
    terminal.expect("white plays")
    terminal.expect("black> ")
    for answer in ("press Ctrl-C again to save", "saved to"):
        time.sleep(0.5)  # readline shows its prompt before it looks for signals
        terminal.send("\x03")
        terminal.expect(answer)
    assert terminal.wait() == 130
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 2


def test_control_c_leaves_only_if_nothing_is_typed_after_the_first(terminal: Terminal) -> None:
    for typed in ("", "C3"):
        terminal.expect("black> ")
        time.sleep(0.5)  # readline shows its prompt before it looks for signals
        terminal.send(typed)
        time.sleep(0.5)
        terminal.send("\x03")
        terminal.expect("press Ctrl-C again")
    terminal.expect("black> ")
    time.sleep(0.5)
    terminal.send("\x03")
    assert terminal.wait() == 130


def test_a_killed_game_is_on_disk(terminal: Terminal, tmp_path: Path) -> None:
    terminal.answer("E5", "white is thinking")
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.wait()
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 1


def test_the_score_after_two_passes_is_the_count(tmp_path: Path) -> None:
    options = ("--colour", "both", "--komi", "2", "--board-size", "5", "--sgf-dir", str(tmp_path))
    program = Terminal(*PLAY, *options, "--seconds", "1")
    try:
        for vertex in ["C3", "C2", "B3", "B2", "D3", "D2", "A3", "A2", "E3", "E2", "pass", "pass"]:
            program.answer(vertex)
        program.expect(r"black wins by 3 points \(B\+3\)")
        program.answer("score", r"black wins by 3 points \(B\+3\)")
        assert "about" not in "\n".join(program.window())
        program.end_input()
        assert program.wait() == 0
        record = read_sgf(only_game(tmp_path))
        assert (record.result, record.komi) == ("B+3", 2)
    finally:
        program.close()


def test_a_counted_19x19_board_and_its_sums_are_in_a_window_of_80_by_24(tmp_path: Path) -> None:
    program = Terminal(*PLAY, "--colour", "both", "--board-size", "19", "--sgf-dir", str(tmp_path), rows=24)
    try:
        program.answer("K10")
        for _ in range(2):
            program.answer("pass")
        program.expect("(?=game over> )")
        shown = "\n".join(program.window()[-24:])  # a long name of a folder may scroll up the first rows
        for text in ("18  ■─■─", "Black 361, White 0 + 7", "black's points", "black wins by 353.5 points"):
            assert text in shown
    finally:
        program.close()


def test_what_is_typed_while_the_engine_thinks_waits_for_the_prompt(terminal: Terminal) -> None:
    terminal.answer("E5", "white is thinking")
    time.sleep(1)
    terminal.send("board\r\x04")
    time.sleep(0.5)
    assert "board" not in terminal.unread()
    terminal.send("\x03")
    terminal.expect("white plays")
    assert terminal.wait() == 0  # by Ctrl-D


def test_control_d_leaves(terminal: Terminal) -> None:
    terminal.expect("black> ")
    terminal.send("\x04")
    assert terminal.wait() == 0


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Terminal]:
    """A quick game on 19x19 in a window of 80 x 24."""
    options = ("--visits", "2", "--threads", "1", "--seed", "1", "--board-size", "19", "--sgf-dir", str(tmp_path))
    program = Terminal(*PLAY, *options, rows=24)
    yield program
    program.close()


def test_all_of_19x19_is_in_a_window_of_80_by_24(quick: Terminal) -> None:
    for move in ("T19", "A1", "R3"):
        quick.answer(move, "white plays")
        quick.expect("(?=black> )")
        window = quick.window()
        assert len(window) <= 24
        assert max(map(len, window)) <= 80
        letters = "A B C D E F G H J K L M N O P Q R S T"
        assert [window[0].strip(), window[20].strip()] == [letters] * 2
        for number, row in zip(range(19, 0, -1), window[1:20], strict=True):
            assert re.match(rf"{number:2} .[┌┬┐├┼┤└┴┘╋●○─()]{{37}}. {number}\b", row), row
        assert "white plays" in window[21]
        assert window[22].startswith("black> ")
    assert window[1][40] == "●"  # T19
    assert window[19][4] == "●"


def test_the_answers_to_a_command_are_below_the_board(quick: Terminal) -> None:
    answers = {"back": "you have no move to take back", "5,5": "type E5", "show score": "shown after each move: score"}
    for command, answer in answers.items():
        quick.answer(command, answer, "(?=black> )")
        assert quick.window()[1].startswith("19 ")
        assert answer in quick.window()[21]
    quick.answer("help", "save the game and exit")
    quick.answer("", "black> ")
    assert quick.window()[21].startswith("black> ")


def test_each_list_of_commands_is_in_a_window_of_80_by_24(tmp_path: Path) -> None:
    program = Terminal(*PLAY, "--sgf-dir", str(tmp_path), rows=24)
    try:
        program.answer("help", "help more .*", "(?=black> )")
        window = program.window()
        assert len(window) <= 24 and window[0].startswith("    A B C") and window[11].startswith("  D4  ")
        program.answer("help more", "first steps for somebody", "(?=black> )")
        shown = program.written.rpartition("help more")[2].splitlines()
        assert len(shown) <= 24 and "what if D4" in "".join(shown)
        program.answer("help rank", "  rank R     make the engine", "(?=black> )")
        assert "what if D4" not in "".join(program.window())
    finally:
        program.close()


def test_the_table_of_moves_is_next_to_a_board_that_fills_the_window(quick: Terminal) -> None:
    quick.answer("analyze", "visits, ", "black> ")
    window = quick.window()
    assert len(window) <= 24
    assert any(re.search("move +win rate +score +visits", row) for row in window[:20])
    assert any(re.search(r"1  [A-T]\d+ +\d+%", row) for row in window[:20])
    assert window[21].startswith("main line: ")


def test_resigning_asks_back_and_can_be_taken_back(quick: Terminal, tmp_path: Path) -> None:
    quick.answer("Q16", "white plays")
    for answer in ("", "n", "what"):
        quick.answer("resign", r"resign the game\? \[y/N\] ")
        quick.send(f"{answer}\r")
        quick.expect("the game continues")
    quick.answer("resign", r"\[y/N\] ")
    quick.send("y\r")
    for text in (r"white wins by resignation \(W\+R\)", "type review, new, undo or quit", "(?=game over> )"):
        quick.expect(text)
    assert read_sgf(only_game(tmp_path)).result == "W+R"
    quick.answer("D4", "the game is over; type review, new, undo or quit")
    quick.answer("n", "unknown command 'n'; type review, new, undo or quit")
    quick.answer("undo", "the resignation is taken back", "(?=black> )")
    assert read_sgf(only_game(tmp_path)).result == ""
    quick.answer("D4", "white plays")
    quick.end_input()
    assert quick.wait() == 0
    assert len(read_sgf(only_game(tmp_path)).moves) == 4


def resign_after_a_move(terminal: Terminal) -> None:
    """Plays a move, resigns, and waits for the prompt after the game."""
    terminal.answer("Q16", "white plays")
    terminal.answer("resign", r"\[y/N\] ")
    terminal.send("y\r")
    terminal.expect("(?=game over> )")


def test_a_move_that_is_taken_back_with_the_resignation_is_not_passed_over(quick: Terminal, tmp_path: Path) -> None:
    resign_after_a_move(quick)
    quick.answer("undo 2")
    quick.end_input()
    assert quick.wait() == 0
    assert "the resignation is taken back" not in quick.written
    assert read_sgf(only_game(tmp_path)).moves == []


@pytest.fixture
def short_review(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reviews have two visits a position, and not those that fit into ten seconds."""
    monkeypatch.setenv("GTP_ENGINE_VISITS", "2")


@pytest.mark.usefixtures("short_review")
def test_a_review_is_offered_after_the_game(quick: Terminal) -> None:
    resign_after_a_move(quick)
    texts = (
        r"Black - Engine, full strength, W\+R",
        "moves 1 to 2; ",
        "points lost per move",
        "type review, new, undo or quit",
    )
    quick.answer("review", *texts)
    assert "points lost per move" in "\n".join(quick.window())
    quick.answer("undo", "the resignation is taken back")
    quick.end_input()
    assert quick.wait() == 0


def test_a_new_game_after_the_last_one(quick: Terminal, tmp_path: Path) -> None:
    resign_after_a_move(quick)
    quick.answer("new")
    quick.answer("D4", "white plays")
    quick.answer("quit")
    assert quick.wait() == 0
    results = sorted(read_sgf(path).result for path in tmp_path.glob("*.sgf"))
    assert results == ["", "W+R"]


def test_without_redrawing_positions_scroll(tmp_path: Path) -> None:
    program = Terminal(*PLAY, *QUICK, "--sgf-dir", str(tmp_path), "--no-redraw")
    try:
        program.answer("C3", "white plays")
        program.end_input()
        assert program.wait() == 0
        assert HOME not in program.written
        assert program.written.count("komi ") == 2
    finally:
        program.close()
