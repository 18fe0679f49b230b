"""A game at the prompt, in a process of its own: piped input, and a terminal with Ctrl-C."""

import codecs
import contextlib
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
from rich.text import Text

from gtp_engine.game.game import Game
from gtp_engine.sgf import read_sgf

PLAY = [sys.executable, "-m", "gtp_engine", "play", "--network", "none"]
QUICK = ["--visits", "8", "--threads", "1", "--seed", "1", "--board-size", "5"]
LEAD = r"((black|white) leads by about \d+\.\d points|the game is (about )?even( \([BW]\+\d\.\d\))?)"
LIMIT = 120  # seconds; the first start may compile the core


def run(lines: str, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [*PLAY, *QUICK, "--sgf-dir", str(folder), *options]
    return subprocess.run(command, input=lines.encode(), capture_output=True, timeout=LIMIT)


def play(lines: str, folder: Path, *options: str, status: int = 0) -> str:
    """What the program says to these lines."""
    ran = run(lines, folder, *options)
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
        "rank 11": "invalid rank '11': expected 25k to 5d, such as 12k, or max",
        "level 3": "there are no levels any more: type rank and 25k to 5d, such as rank 12k",
        "undo 0": "invalid number of moves '0': expected a whole number of 1 or more",
        "new 13 handicap": "missing value after handicap; type, for example, "
        "new 13 handicap 4 komi 0.5 rules japanese white",
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


def test_undo_takes_the_answer_back_too(tmp_path: Path) -> None:
    play("C3\nB2\nundo\n", tmp_path)
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 2


def test_comments_on_request_go_with_the_move_that_is_taken_back(tmp_path: Path) -> None:
    play("C3\nB2\nundo\n", tmp_path, "--comments")
    comments = [node.comment for node in read_sgf(only_game(tmp_path)).nodes if node.move]
    assert comments[0] == "" and comments[1].startswith("Black's win rate: ")
    assert len(comments) == 2


def test_the_engine_begins_where_you_are_white(tmp_path: Path) -> None:
    said = play("undo\n", tmp_path, "--colour", "white")
    assert "black plays" in said
    assert "you have no move to take back" in said


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
    assert re.search(r"hint: \S+ \(marked \*\); your win rate \d+%; (black|white|the game is)", said)
    assert " * " in said or "(*" in said or "*)" in said
    assert re.search(r"^1 +\S+ +\d+% +[+-]\d+\.\d +\d+ ", said, re.MULTILINE)
    assert re.search(rf"^{LEAD}, komi included$", said, re.MULTILINE)
    assert "b black's points, w white's points, x o dead stones" in said


def test_a_search_too_short_for_a_hint(tmp_path: Path) -> None:
    said = play("hint\nanalyze\nscore\nC3\n", tmp_path, "--visits", "1")
    assert "the search was too short for a hint" in said.splitlines()
    assert "white plays" in said


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


def test_a_game_that_cannot_be_saved_stays_on_the_board(tmp_path: Path) -> None:
    play("D4\n", tmp_path)
    other = only_game(tmp_path)
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = play(f"C3\nnew\nload {other}\nsave {tmp_path}/mine.sgf\nnew\n", blocked)
    assert said.count("this game would be lost: type save FILE first") == 2
    assert read_sgf(tmp_path / "mine.sgf").to_game().moves[0].point == Game(5).point("C3")


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


def test_the_name_of_the_file_tells_board_and_opponent(tmp_path: Path) -> None:
    for options, label in {
        (): "5x5-engine",
        ("--rank", "12k"): "5x5-engine-12k",
        ("--colour", "both"): "5x5-two-players",
    }.items():
        play("C3\n", tmp_path / label, *options)
        assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d-\d{{6}}-{label}\.sgf", only_game(tmp_path / label).name)


def test_the_last_game_goes_on_in_its_file(tmp_path: Path) -> None:
    options = ("--rules", "japanese", "--komi", "1.5", "--rank", "12k", "--colour", "white", "--comments")
    first = play("C3\n", tmp_path, *options)
    path = only_game(tmp_path)
    before = read_sgf(path)
    assert re.search(rf"to continue: \S+ -m gtp_engine play \S*{path.name}", first)
    said = play("undo\nB2\n", tmp_path, "--resume")
    assert f"continuing {path}" not in said  # only for a person
    record = read_sgf(only_game(tmp_path))
    assert (record.komi, record.rules, record.black, record.white) == (1.5, "Japanese", "gtp_engine 12k", "human")
    assert record.nodes[1].comment == before.nodes[1].comment != ""
    assert record.moves[0] == before.moves[0]
    assert [move.colour for move in record.moves] == [1, 2, 1]


def test_a_file_goes_on_by_its_name_in_the_folder(tmp_path: Path) -> None:
    play("C3\n", tmp_path)
    play("B2\n", tmp_path, only_game(tmp_path).stem)
    assert len(read_sgf(only_game(tmp_path)).moves) == 4


def test_an_earlier_move_of_a_finished_game_goes_on_in_a_new_file(tmp_path: Path) -> None:
    finished = tmp_path / "finished.sgf"
    finished.write_text("(;GM[1]SZ[5]KM[3.5]RE[B+R]AB[aa][ee]HA[2];W[cc];B[bb];W[dd])")
    before = finished.read_text()
    play("B3\n", tmp_path / "new", str(finished), "--move", "1")
    record = read_sgf(only_game(tmp_path / "new"))
    assert (record.komi, record.handicap, record.result, len(record.moves)) == (3.5, 2, "", 3)
    assert (record.black, record.white) == ("human", "gtp_engine")
    assert finished.read_text() == before


def test_nothing_is_saved_of_a_game_that_was_only_opened(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[5];B[cc];W[bb])")
    play("quit\n", tmp_path / "new", str(path))
    assert not (tmp_path / "new").exists()


def test_one_line_for_a_game_that_cannot_go_on(tmp_path: Path) -> None:
    finished, text = tmp_path / "finished.sgf", tmp_path / "text.sgf"
    finished.write_text("(;GM[1]SZ[9]RE[W+R];B[cc])")
    text.write_text("hello")
    for options, message in {
        (str(finished),): f"{finished}: the game is finished (W+R); to continue it after move N, 0 to 1, "
        "add --move N, or in a game type load FILE N; `gtp_engine review` finds the mistakes",
        (str(text),): f"{text}: no SGF game found",
        ("nowhere.sgf",): f"no saved game 'nowhere.sgf': no such file, and none in {tmp_path}",
        (str(finished), "--move", "1"): f"{finished}: the game is on 9x9, not on 5x5; leave out --board-size",
        (str(finished), "--move", "7"): f"{finished}: there is no move 7, the game has 1 move",
        ("--resume",): f"no unfinished game in {tmp_path}",
        ("--move", "3"): "--move needs a saved game: name its FILE, or add --resume",
        ("--resume", str(finished)): "name a FILE or use --resume, not both",
        ("--resume", "--handicap", "2"): "--handicap is for new games: a saved game has its own handicap",
    }.items():
        ran = run("", tmp_path, *options)
        assert ran.returncode in (1, 2)
        assert ran.stderr.decode().splitlines()[-1] == f"Error: {message}"


def test_other_games_from_within_a_game(tmp_path: Path) -> None:
    play("C3\n", tmp_path, "--rank", "24k")
    old = only_game(tmp_path)
    lines = f"resume\nrank\nA1\nresume\nnew\nD4\nload\nload {old.name}\neasier\neasier\nrank max\n"
    said = play(lines, tmp_path)
    assert "this is the latest unfinished game; type load to see the others" in said
    assert f"  {old.name}" in said.splitlines()
    assert f"continuing {old} after 2 moves" in said
    assert f"continuing {old} after 4 moves" in said
    for strength in ("at 24k", "at 25k", "at full strength"):
        assert f"the engine plays {strength} (ranks are 25k to 5d, and max is full strength)" in said
    assert "this is the lowest rank" in said
    assert len(read_sgf(old).moves) == 4
    (other,) = (path for path in tmp_path.glob("*.sgf") if path != old)
    assert len(read_sgf(other).moves) == 2


def test_a_game_that_is_loaded_tells_the_engines_limits(tmp_path: Path) -> None:
    play("C3\n", tmp_path, "--seconds", "7.5")
    name = only_game(tmp_path).name
    said = play(f"load {name}\n", tmp_path, "--visits", "3")
    assert "after 2 moves; the engine's limit is 7.5 s and 8 visits a move" in said
    assert "clocks" not in said
    path = tmp_path / name
    path.write_text(path.read_text().replace("GESEC[7.5]GEVIS[8]", "TM[600]OT[5x30 byo-yomi]"))
    said = play(f"load {name}\n", tmp_path, "--seconds", "2")
    assert "the engine's limit is 5 s a move; the clocks of the game stand still here" in said


def test_a_new_game_has_the_same_board_handicap_komi_and_rules(tmp_path: Path) -> None:
    said = play("new\nundo\nquit\n", tmp_path, "--board-size", "9", "--handicap", "3", "--rules", "aga")
    first, second = (read_sgf(path) for path in tmp_path.glob("*.sgf"))
    for record in (first, second):
        assert (record.handicap, record.komi, record.rules, len(record.moves)) == (3, 0.5, "AGA", 1)
    assert "you have no move to take back" in said


def test_a_new_game_can_be_another_one(tmp_path: Path) -> None:
    said = play("C3\nnew 9 handicap 2 rules japanese white\nD5\nnew 5x7\n", tmp_path)
    first, second = sorted((read_sgf(path) for path in tmp_path.glob("*.sgf")), key=lambda record: record.width)
    assert (first.width, len(first.moves)) == (5, 2)
    assert (second.width, second.handicap, second.komi, second.rules) == (9, 2, 0.5, "Japanese")
    assert (second.black, second.white) == ("gtp_engine", "human")
    assert "invalid number of stones: 2 (on 5x7: none)" in said


def test_several_moves_are_taken_back_at_once(tmp_path: Path) -> None:
    play("C3\nB2\nD4\nundo 2\n", tmp_path, "--colour", "both")
    assert len(read_sgf(only_game(tmp_path)).moves) == 1


def test_a_finished_game_is_loaded_at_a_move(tmp_path: Path) -> None:
    finished = tmp_path / "finished game.sgf"
    finished.write_text("(;GM[1]SZ[5]RE[B+R];B[cc];W[bb];B[dd])")
    said = play(f"load {finished}\nload {finished} 2\nload {finished} --move 1\n", tmp_path / "games")
    assert "type load FILE N" in said
    assert f"continuing {finished} after 2 moves; it will be saved as a new game" in said
    assert f"continuing {finished} after 1 move; it will be saved as a new game" in said


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
    assert "after each move the score is shown" in said
    assert re.search(rf"^white plays \S+  \(\d+\.\d s, {LEAD}\)$", said, re.MULTILINE)


def test_a_pipe_is_not_asked_back(tmp_path: Path) -> None:
    said = play("C3\nresign\nnew\n", tmp_path)
    assert "y/N" not in said and "game over>" not in said
    assert re.search(rf"to find the mistakes: \S+ -m gtp_engine review \S*{only_game(tmp_path).name}", said)


pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
termios = pytest.importorskip("termios", reason="no POSIX terminals on this system")
HOME = "\x1b[H"  # the cursor to the top left corner of the window


class Terminal:
    """The program on a pseudo-terminal of 80 columns."""

    def __init__(self, *command: str, rows: int = 40) -> None:
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color")
            for name in ("COLUMNS", "LINES", "NO_COLOR"):
                os.environ.pop(name, None)
            termios.tcsetwinsize(0, (rows, 80))
            os.execv(sys.executable, command)
        self.said = ""
        self._all = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def window(self) -> list[str]:
        """Returns the lines that were written since the board was last drawn, without colours."""
        drawn = self._all.rpartition(HOME)[2].replace("\r", "")
        return Text.from_ansi(drawn).plain.splitlines()

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def expect(self, pattern: str) -> None:
        """Reads on until the pattern appears in what was said since the last time."""
        end = time.monotonic() + LIMIT
        while not (match := re.search(pattern, self.said)):
            ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"no {pattern!r} within {LIMIT} s: {self.said}"
            try:
                self._read()
            except OSError as error:  # Linux says EIO when the program has ended
                raise AssertionError(f"ended without {pattern!r}: {self.said}") from error
        self.said = self.said[match.end() :]

    def unread(self) -> str:
        """Returns what has been said by now."""
        while select.select([self._master], [], [], 0)[0]:
            self._read()
        return self.said

    def _read(self) -> int:
        chunk = os.read(self._master, 65536)
        text = self._decoder.decode(chunk)
        self.said += text
        self._all += text
        return len(chunk)

    def wait(self) -> int:
        """The exit status, after reading what is left."""
        with contextlib.suppress(OSError):  # Linux says EIO when the program has ended
            while select.select([self._master], [], [], LIMIT)[0] and self._read():
                pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def end_input(self) -> None:
        """Presses Ctrl-D at the prompt."""
        self.expect("(black|white|over)> ")
        self.send("\x04")

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
    for answer in ("press Ctrl-C again to save", "saved to"):
        time.sleep(0.5)  # readline shows its prompt before it looks for signals
        terminal.send("\x03")
        terminal.expect(answer)
    assert terminal.wait() == 130
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 2


def test_a_killed_game_is_on_disk(terminal: Terminal, tmp_path: Path) -> None:
    terminal.expect("black> ")
    terminal.send("E5\r")
    terminal.expect("white is thinking")
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.wait()
    assert len(read_sgf(only_game(tmp_path)).to_game().moves) == 1


def test_the_score_after_two_passes_is_the_count(tmp_path: Path) -> None:
    options = ("--colour", "both", "--komi", "2", "--board-size", "5", "--sgf-dir", str(tmp_path))
    program = Terminal(*PLAY, *options, "--seconds", "1")
    try:
        for vertex in ["C3", "C2", "B3", "B2", "D3", "D2", "A3", "A2", "E3", "E2", "pass", "pass"]:
            program.expect("(black|white)> ")
            program.send(f"{vertex}\r")
        program.expect(r"black wins by 3 points \(B\+3\)")
        program.expect("game over> ")
        program.send("score\r")
        program.expect(r"black wins by 3 points \(B\+3\)")
        assert "about" not in "\n".join(program.window())
        program.end_input()
        assert program.wait() == 0
    finally:
        program.close()


def test_what_is_typed_while_the_engine_thinks_waits_for_the_prompt(terminal: Terminal) -> None:
    terminal.expect("black> ")
    terminal.send("E5\r")
    terminal.expect("white is thinking")
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
    quick.expect("black> ")
    for move in ("T19", "A1", "R3"):
        quick.send(f"{move}\r")
        quick.expect("white plays")
        quick.expect("black> ")
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
    quick.expect("black> ")
    answers = {"back": "you have no move to take back", "5,5": "type E5", "show score": "after each move the score"}
    for command, answer in answers.items():
        quick.send(f"{command}\r")
        quick.expect(answer)
        quick.expect("black> ")
        assert quick.window()[1].startswith("19 ")
        assert answer in quick.window()[21]
    quick.send("help\r")
    quick.expect("save the game and exit")
    quick.expect("black> ")
    quick.send("\r")
    quick.expect("black> ")
    assert quick.window()[21].startswith("black> ")


def test_the_table_of_moves_is_next_to_a_board_that_fills_the_window(quick: Terminal) -> None:
    quick.expect("black> ")
    quick.send("analyze\r")
    quick.expect("visits, ")
    quick.expect("black> ")
    window = quick.window()
    assert len(window) <= 24
    assert any(re.search("move +win rate +score +visits", row) for row in window[:20])
    assert any(re.search(r"1  [A-T]\d+ +\d+%", row) for row in window[:20])
    assert window[21].startswith("main line: ")


def test_resigning_asks_back_and_can_be_taken_back(quick: Terminal, tmp_path: Path) -> None:
    quick.expect("black> ")
    quick.send("Q16\r")
    quick.expect("white plays")
    for answer in ("", "n", "what"):
        quick.send("resign\r")
        quick.expect(r"resign the game\? \[y/N\] ")
        quick.send(f"{answer}\r")
        quick.expect("the game continues")
    quick.send("resign\r")
    quick.expect(r"\[y/N\] ")
    quick.send("y\r")
    quick.expect(r"white wins by resignation \(W\+R\)")
    quick.expect("type review, new, undo or quit")
    quick.expect("game over> ")
    assert read_sgf(only_game(tmp_path)).result == "W+R"
    quick.send("D4\r")
    quick.expect("the game is over; type review, new, undo or quit")
    quick.send("undo\r")
    quick.expect("the resignation is taken back")
    quick.expect("black> ")
    assert read_sgf(only_game(tmp_path)).result == ""
    quick.send("D4\r")
    quick.expect("white plays")
    quick.end_input()
    assert quick.wait() == 0
    assert len(read_sgf(only_game(tmp_path)).moves) == 4


def resign_after_a_move(terminal: Terminal) -> None:
    """Plays a move, resigns, and waits for the prompt after the game."""
    terminal.expect("black> ")
    terminal.send("Q16\r")
    terminal.expect("white plays")
    terminal.send("resign\r")
    terminal.expect(r"\[y/N\] ")
    terminal.send("y\r")
    terminal.expect("game over> ")


def test_a_review_is_offered_after_the_game(quick: Terminal) -> None:
    resign_after_a_move(quick)
    quick.send("review\r")
    quick.expect(r"human - gtp_engine, W\+R")
    quick.expect(r"moves 1 to 2; ")
    quick.expect("points lost per move")
    quick.expect("type review, new, undo or quit")
    assert "points lost per move" in "\n".join(quick.window())
    quick.send("undo\r")
    quick.expect("the resignation is taken back")
    quick.end_input()
    assert quick.wait() == 0


def test_a_new_game_after_the_last_one(quick: Terminal, tmp_path: Path) -> None:
    resign_after_a_move(quick)
    quick.send("new\r")
    quick.expect("black> ")
    quick.send("D4\r")
    quick.expect("white plays")
    quick.send("quit\r")
    assert quick.wait() == 0
    results = sorted(read_sgf(path).result for path in tmp_path.glob("*.sgf"))
    assert results == ["", "W+R"]


def test_without_redrawing_positions_scroll(tmp_path: Path) -> None:
    program = Terminal(*PLAY, *QUICK, "--sgf-dir", str(tmp_path), "--no-redraw")
    try:
        program.expect("black> ")
        program.send("C3\r")
        program.expect("white plays")
        program.end_input()
        assert program.wait() == 0
        assert HOME not in program._all
        assert program._all.count("komi ") == 2
    finally:
        program.close()
