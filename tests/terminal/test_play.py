"""A game at the prompt, with piped input."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from piped_game import LIMIT, PLAY, QUICK, only_game, play, run

from gtp_engine.clients.terminal.screen import Screen
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.sgf import read_sgf

LEAD = r"((black|white) leads by about \d+\.\d points|the game is (about )?even( \([BW]\+\d\.\d\))?)"


def test_one_clear_line_for_what_is_wrong(tmp_path: Path) -> None:
    answers = {
        "undp": "unknown command 'undp'; did you mean 'undo'?",
        "xyzzy": "unknown command 'xyzzy'; type a move such as D4, or help",
        "K10": "there is no point K10: columns A to E, rows 1 to 5",
        "quit now": "'quit' accepts no argument: 'now'",
        "undo": "you have no move to take back",
        "3,2": "columns are letters: type C2 for column 3, row 2 from the bottom",
        "review": "the game is not over: resign or pass first; `gtp_engine review FILE` reviews any game",
        "load nowhere": f"no saved game 'nowhere': no such file, and none in {tmp_path}",
        "load": f"no unfinished game in {tmp_path}; for another file, type load FILE",
        "resume": f"no unfinished game in {tmp_path}",
        "rank auto": "rank auto is for the start, as in `gtp_engine play --rank auto`; "
        "here type a rank, as in rank 15k",
        "rank 11": "invalid rank '11': expected 25k to 5d, such as 11k, or max",
        "undo 0": "invalid number of moves '0': expected a whole number of 1 or more",
        "undo 1e3": "invalid number of moves '1e3': expected a whole number of 1 or more",
        "new 13 handicap": "missing value after handicap; type, for example, "
        "new 13 handicap 4 komi 0.5 rules japanese white rank 12k",
        "new rank 11": "invalid rank '11': expected 25k to 5d, such as 11k, or max",
        "new 30": "invalid board size '30': expected N or WIDTHxHEIGHT, each from 2 to 25",
        "show": "missing value: type show winrate, show score or show nothing",
        "show all": "'all' cannot be shown: type show winrate, show score or show nothing",
        "save": "missing file name: type, for example, save game.sgf",
        "save /nowhere/at/all.sgf": "cannot save to /nowhere/at/all.sgf: No such file or directory",
        "save ~nobody-has-this-name/a.sgf": "cannot save to ~nobody-has-this-name/a.sgf: "
        "Could not determine home directory.",
        "\x00\x1b[2J": "unknown command '[2J'; type a move such as D4, or help",
    }
    said = play("\n".join(answers), tmp_path).splitlines()
    assert [line for line in said if line in answers.values()] == list(answers.values())
    assert not list(tmp_path.iterdir())  # no move, no file


def test_illegal_moves(tmp_path: Path) -> None:
    moves = "A2 B2 B2 A1 B1 A2 A1 A2"  # the last one makes the position after the first move again
    options = ("--board-size", "2", "--colour", "both", "--rules", "tromp-taylor")
    said = play(moves.replace(" ", "\n"), tmp_path, *options).splitlines()
    assert "illegal move: B2 is occupied" in said
    assert "illegal move: A2 repeats an earlier position" in said


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    command = [*PLAY, *QUICK, "--sgf-dir", str(tmp_path)]
    lines = b"\xff\xfe\n" + b"x" * 100_000 + b"\nquit\n"
    ran = subprocess.run(command, input=lines, capture_output=True, timeout=LIMIT)
    assert ran.returncode == 0
    assert ran.stdout.count(b"unknown command") == 2


def test_piped_control_characters_are_spaces_and_wide_spaces_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\ufeffsave 山田\u3000太郎\t\x1b.sgf\r\n"))
    assert Screen().ask("> ") == "save 山田\u3000太郎  .sgf"


def test_comments_on_request_go_with_the_move_that_is_taken_back(tmp_path: Path) -> None:
    play("C3\nB2\nundo\n", tmp_path, "--comments")
    comments = [node.comment for node in read_sgf(only_game(tmp_path)).main_line if node.move]
    assert comments[0] == "" and comments[1].startswith("Black's win rate: ")
    assert len(comments) == 2


def test_handicap(tmp_path: Path) -> None:
    said = play("quit\n", tmp_path, "--board-size", "9", "--handicap", "4")
    assert said.count("X") >= 4
    assert "komi 0.5" in said
    game = read_sgf(only_game(tmp_path)).to_game()
    assert (game.handicap, len(game.moves)) == (4, 1)
    ran = run("", tmp_path, "--handicap", "2")
    assert (ran.exit_code, ran.stderr) == (1, "Error: invalid number of stones: 2 (on 5x5: none)\n")


def test_hint_analysis_and_score(tmp_path: Path) -> None:
    said = play("C3\nhint\nanalyze\nscore\n", tmp_path)
    assert re.search(r"hint: \S+ \(marked \*\); your win rate \d+%; (black|white|the game is)", said)
    assert " * " in said or "(*" in said or "*)" in said
    assert re.search(r"^1 +\S+ +\d+% +[+-]\d+\.\d +\d+ ", said, re.MULTILINE)
    assert re.search(rf"^{LEAD}, komi included$", said, re.MULTILINE)
    assert "b black's points, w white's points, x o dead stones" in said


def test_both_sums_and_the_dead_stones_of_a_count(tmp_path: Path) -> None:
    moves = "B3 D3 B2 D2 B4 D4 B1 D1 B5 D5 E3 pass pass"
    lines = "\n".join(["dead", *moves.split()])
    said = play(lines, tmp_path, "--colour", "both", "--rules", "tromp-taylor").splitlines()
    assert said.index("Black 11, White 5 + 7") < said.index("white wins by 1 point (W+1)")
    assert any(line.startswith("the game has not been counted: ") for line in said)


def test_a_search_too_short_for_a_hint(tmp_path: Path) -> None:
    said = play("hint\nanalyze\nscore\nC3\n", tmp_path, "--visits", "1")
    assert "the search was too short for a hint" in said.splitlines()
    assert "white plays" in said


def test_the_line_below_the_board_stays_one_line(tmp_path: Path) -> None:
    said = play("C3\npass\n", tmp_path, "--colour", "both", "--rules", "tromp-taylor").splitlines()
    assert "Black (X) to move; move 2: W pass; captured by B 0, by W 0; Tromp-Taylor rules, komi 7" in said


def test_the_same_seed_plays_the_same_game(tmp_path: Path) -> None:
    games = []
    for name in ("one", "two"):
        play("C3\nB4\nD2\n", tmp_path / name, "--colour", "random")
        games.append(read_sgf(only_game(tmp_path / name)).to_game().moves)
    assert games[0] == games[1]


def test_a_new_game_has_the_same_board_handicap_komi_and_rules(tmp_path: Path) -> None:
    said = play("new\nundo\nquit\n", tmp_path, "--board-size", "9", "--handicap", "3", "--rules", "aga")
    first, second = (read_sgf(path) for path in tmp_path.glob("*.sgf"))
    for record in (first, second):
        assert (record.handicap, record.komi, record.rules, len(record.moves)) == (3, 0.5, "AGA", 1)
    assert "you have no move to take back" in said


def test_a_new_game_can_be_another_one(tmp_path: Path) -> None:
    said = play("C3\nnew 9 handicap 2 rules japanese white rank 20k\nD5\nnew 5x7\n", tmp_path)
    first, second = sorted((read_sgf(path) for path in tmp_path.glob("*.sgf")), key=lambda record: record.width)
    assert (first.width, len(first.moves)) == (5, 2)
    assert (second.width, second.handicap, second.komi, second.rules) == (9, 2, 0.5, "Japanese")
    assert (second.black, second.black_rank, second.white) == ("gtp_engine 20k", "20k", "human")
    assert "invalid number of stones: 2 (on 5x7: none)" in said


def test_several_moves_are_taken_back_at_once(tmp_path: Path) -> None:
    play("C3\nB2\nD4\nundo 2\n", tmp_path, "--colour", "both")
    assert len(read_sgf(only_game(tmp_path)).moves) == 1
    play("undo 99999999999\nE5\n", tmp_path, "--resume")
    assert [move.point for move in read_sgf(only_game(tmp_path)).to_game().moves] == [parse_vertex("E5", 5, 5)]


def test_the_network_for_large_boards_counts_handicap_stones_as_a_lead(tmp_path: Path) -> None:
    said = play("C11\nscore\n", tmp_path, "--network", "auto", "--board-size", "13", "--handicap", "4")
    winrate = re.search(r"your win rate (\d+)%", said)
    assert winrate and int(winrate[1]) > 90
    assert re.search(r"black leads by about [2-6]\d\.\d points", said)


def test_win_rates_can_be_silenced(tmp_path: Path) -> None:
    said = play("C3\nhint\nshow score\nB2\nhint\n", tmp_path, "--show", "nothing")
    assert "win rate" not in said
    assert re.search(r"^white plays \S+$", said, re.MULTILINE)
    assert re.search(r"^hint: \S+ \(marked \*\)(; then [^;]+)?$", said, re.MULTILINE)
    assert "shown after each move: score" in said
    assert re.search(rf"^white plays \S+  \(\d+\.\d s, {LEAD}\)$", said, re.MULTILINE)


def test_a_pipe_is_not_asked_back(tmp_path: Path) -> None:
    said = play("C3\nresign\nnew\n", tmp_path)
    assert "y/N" not in said and "game over>" not in said
    assert re.search(rf"to find the mistakes: \S+ -m gtp_engine review \S*{only_game(tmp_path).name}", said)


@pytest.mark.skipif(sys.platform == "win32", reason="no such names of files")
def test_the_name_of_a_saved_game_reaches_the_terminal_without_escape_sequences(tmp_path: Path) -> None:
    play("C3\nquit", tmp_path)
    saved = only_game(tmp_path).rename(tmp_path / "2026-01-06-000000-\x1b[31m.sgf")
    assert "saved to" in play("C2\nsave\nreview\nload\nresign\n", tmp_path, "--resume")  # which looks for ESC
    assert only_game(tmp_path) == saved


BEGINNING = """
import os, signal, sys
import gtp_engine.table.played_game as module
from gtp_engine.clients.cli import main
def begin(*arguments, **options):
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, flush=True)
    os._exit(0)
module.PlayedGame = begin
main(["play", "--network", "none", "--sgf-dir", sys.argv[1]])
"""


def test_ctrl_c_raises_nothing_before_the_first_prompt(tmp_path: Path) -> None:
    """This thread loads compiled code until then, where an exception is lost."""
    done = subprocess.run(
        [sys.executable, "-c", BEGINNING, str(tmp_path)], capture_output=True, text=True, timeout=LIMIT
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
