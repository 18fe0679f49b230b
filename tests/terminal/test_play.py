"""A game at the prompt, in a process of its own: piped input, and a terminal with Ctrl-C."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gtp_engine.sgf import read_sgf

PLAY = [sys.executable, "-m", "gtp_engine", "play", "--network", "none"]
QUICK = ["--visits", "8", "--threads", "1", "--seed", "1", "--board-size", "5"]
LIMIT = 120  # seconds; the first start may compile the core


def play(lines: str, folder: Path, *options: str, status: int = 0) -> str:
    """What the program says to these lines."""
    command = [*PLAY, *QUICK, "--sgf-dir", str(folder), *options]
    ran = subprocess.run(command, input=lines.encode(), capture_output=True, timeout=LIMIT)
    said = ran.stdout.decode()
    assert ran.returncode == status, said + ran.stderr.decode()
    assert "Traceback" not in ran.stderr.decode()
    assert "\x1b" not in said
    return said


def only_game(folder: Path) -> Path:
    (file,) = folder.glob("*.sgf")
    return file


def test_the_end_of_input_saves_and_leaves(tmp_path: Path) -> None:
    said = play("C3\n", tmp_path)
    assert re.search(r"white plays [A-E][1-5]  \(\d+\.\d s, your win rate \d+%\)", said)
    game = read_sgf(only_game(tmp_path)).to_game()
    assert len(game.moves) == 2
    assert f"saved to {only_game(tmp_path)}" in said


def test_one_clear_line_for_what_is_wrong(tmp_path: Path) -> None:
    answers = {
        "undp": "unknown command 'undp'; did you mean 'undo'? (a move is typed like D4)",
        "xyzzy": "unknown command 'xyzzy' (a move is typed like D4)",
        "K10": "invalid vertex 'K10': expected A1 to E5 (no I) or pass",
        "quit now": "'quit' takes nothing after it: 'now'",
        "undo": "there is no move of yours to take back",
        "save": "save where? save FILE, for example: save game.sgf",
        "save /nowhere/at/all.sgf": "cannot save to /nowhere/at/all.sgf: No such file or directory",
        "\x00\x1b[2J": "unknown command '[2J' (a move is typed like D4)",
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


def test_undo_takes_the_answer_back_too(tmp_path: Path) -> None:
    play("C3\nB2\nundo\n", tmp_path)
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 2


def test_comments_on_request_go_with_the_move_that_is_taken_back(tmp_path: Path) -> None:
    play("C3\nB2\nundo\n", tmp_path, "--comments")
    comments = [node.comment for node in read_sgf(only_game(tmp_path)).nodes if node.move]
    assert comments[0] == "" and comments[1].startswith("Win rate: ")
    assert len(comments) == 2


def test_the_engine_begins_where_you_are_white(tmp_path: Path) -> None:
    said = play("undo\n", tmp_path, "--colour", "white")
    assert "black plays" in said
    assert "there is no move of yours to take back" in said


def test_handicap(tmp_path: Path) -> None:
    said = play("quit\n", tmp_path, "--board-size", "9", "--handicap", "4")
    assert said.count("X") >= 4
    assert "komi 0.5" in said
    game = read_sgf(only_game(tmp_path)).to_game()
    assert (game.handicap, len(game.moves)) == (4, 1)
    command = [*PLAY, *QUICK, "--handicap", "2"]
    ran = subprocess.run(command, input=b"", capture_output=True, timeout=LIMIT)
    assert (ran.returncode, ran.stderr.decode()) == (1, "Error: invalid number of stones: 2 (on 5x5: none)\n")


def test_hint_analysis_and_score(tmp_path: Path) -> None:
    said = play("C3\nhint\nanalyze\nscore\n", tmp_path)
    assert re.search(r"hint: \S+ \(win rate \d+%, score [+-]\d+\.\d\)", said)
    assert re.search(r"^1 +\S+ +\d+% +[+-]\d+\.\d +\d+ ", said, re.MULTILINE)
    assert re.search(r"(black|white) is ahead by about \d+\.\d points", said)


def test_the_line_below_the_board_stays_one_line(tmp_path: Path) -> None:
    said = play("C3\npass\n", tmp_path, "--colour", "both", "--rules", "tromp-taylor").splitlines()
    assert "Black (X) to move; move 2: W pass; captured by B 0, by W 0; komi 7; tromp-taylor rules" in said


def test_two_passes_end_the_game_with_a_count(tmp_path: Path) -> None:
    lines = "C3\nC2\nB3\nB2\nD3\nD2\nA3\nA2\nE3\nE2\npass\npass\n"
    said = play(lines, tmp_path, "--colour", "both", "--komi", "2")
    assert "black wins by 3 points (B+3)" in said
    record = read_sgf(only_game(tmp_path))
    assert record.result == "B+3"
    assert record.komi == 2


def test_resigning(tmp_path: Path) -> None:
    assert "white wins by resignation (W+R)" in play("C3\nresign\n", tmp_path)
    assert read_sgf(only_game(tmp_path)).result == "W+R"


def test_save_to_a_file_of_your_own(tmp_path: Path) -> None:
    mine, taken = tmp_path / "mine.sgf", tmp_path / "taken.sgf"
    taken.write_text("precious")
    said = play(f"C3\nsave {taken}\nsave {mine}\nB2\n", tmp_path / "games")
    assert f"cannot save to {taken}: " in said
    assert taken.read_text() == "precious"
    assert len(read_sgf(mine).to_game().moves) == 4


def test_a_folder_that_cannot_be_written_loses_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = play("C3\nquit\nsave\nsave /nowhere/at.sgf\n" + f"save {tmp_path}/mine.sgf\n", blocked)
    assert said.count(f"cannot save to {blocked}: ") == 3
    assert len(read_sgf(tmp_path / "mine.sgf").to_game().moves) == 2


def test_the_record_is_printed_where_it_can_be_saved_nowhere(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = play("C3\n", blocked, status=1)
    record = said[said.index("(;") :].encode()
    assert len(read_sgf(record).to_game().moves) == 2


def test_the_same_seed_plays_the_same_game(tmp_path: Path) -> None:
    games = []
    for name in ("one", "two"):
        play("C3\nB4\nD2\n", tmp_path / name, "--colour", "random")
        games.append(read_sgf(only_game(tmp_path / name)).to_game().moves)
    assert games[0] == games[1]


pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")


class Terminal:
    """The program on a pseudo-terminal of 80 x 40."""

    def __init__(self, *command: str) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="40")
            os.execv(sys.executable, command)
        self.said = ""

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def expect(self, pattern: str) -> None:
        """Reads on until the pattern appears in what was said since the last time."""
        end = time.monotonic() + LIMIT
        while not (match := re.search(pattern, self.said)):
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {pattern!r} within {LIMIT} s: {self.said}"
            try:
                self.said += os.read(self._master, 65536).decode(errors="replace")
            except OSError as error:  # Linux says EIO when the program has ended
                raise AssertionError(f"ended without {pattern!r}: {self.said}") from error
        self.said = self.said[match.end() :]

    def wait(self) -> int:
        """The exit status, after reading what is left."""
        try:
            while chunk := os.read(self._master, 65536):
                self.said += chunk.decode(errors="replace")
        except OSError:
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A game on 9x9 where the engine would think for ten minutes."""
    program = Terminal(*PLAY, "--seconds", "600", "--sgf-dir", str(tmp_path))
    yield program
    program.close()


def test_control_c_makes_the_engine_move_and_then_leaves(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect("black> ")
    terminal.send("E5\r")
    terminal.expect("white is thinking")
    time.sleep(1)
    terminal.send("\x03")
    terminal.expect("white plays")
    terminal.expect("black> ")
    time.sleep(0.5)  # readline shows its prompt before it looks for signals
    terminal.send("\x03")
    terminal.expect("saved to")
    assert terminal.wait() == 130
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 2


def test_a_killed_game_is_on_disk(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect("black> ")
    terminal.send("E5\r")
    terminal.expect("white is thinking")
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.wait()
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 1


def test_control_d_leaves(terminal: Terminal) -> None:
    terminal.expect("black> ")
    terminal.send("\x04")
    assert terminal.wait() == 0
