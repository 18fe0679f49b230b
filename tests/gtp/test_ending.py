"""How the program starts, stops thinking, and ends."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conversation import PATIENCE, Conversation, environment

Starter = Callable[..., Conversation]

LONG = ("--seconds", "600", "--threads", "1")


def test_front_end_imports_nothing_heavy() -> None:
    code = """
import sys
import gtp_engine.engine.engine, gtp_engine.clients.cli.gtp, gtp_engine.clients.gtp.loop
heavy = {"numba", "torch", "llvmlite", "rich", "sgfmill"} & set(sys.modules)
sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_quit_behind_genmove_makes_it_answer(start: Starter) -> None:
    engine = start(*LONG)
    engine.ask("boardsize 9")
    engine.send("1 genmove b", "2 quit")
    assert re.fullmatch(r"=1 [A-J]\d", engine.response())  # a move, not just a pass
    assert engine.response() == "=2"
    assert engine.rest() == []
    assert engine.wait() == 0


def test_end_of_input_lets_searches_finish(start: Starter) -> None:
    engine = start("--visits", "300", "--threads", "1")
    search = "kata-genmove_analyze b rootInfo true"
    engine.send("boardsize 9", search, "reg_genmove w", "clear_board", search, "final_score")
    engine.end_input()
    answers = "\n".join(engine.rest())
    visits = [int(count) for count in re.findall(r"rootInfo visits (\d+)", answers)]
    assert len(visits) == 2 and min(visits) >= 300
    assert len(re.findall("^=", answers, re.MULTILINE)) == 6
    assert engine.wait() == 0
    assert "Traceback" not in engine.log()


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe shows only when something is written")
@pytest.mark.parametrize("command", ["genmove b", "kata-genmove_analyze b 1000", "reg_genmove b", "final_score"])
def test_a_client_that_is_gone_leaves_no_search(tmp_path: Path, command: str) -> None:
    process = listening(tmp_path)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"boardsize 9\n{command}\n".encode())
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(2)] == [b"=\n", b"\n"]
    process.stdin.close()
    time.sleep(0.5)
    assert process.poll() is None
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert "Traceback" not in (tmp_path / "stderr").read_text()


def test_end_of_input_in_an_analysis(start: Starter) -> None:
    engine = start(*LONG)
    engine.send("boardsize 9", "kata-analyze 5")
    assert engine.response() == "="
    assert [engine.line(), (engine.line() or "")[:9]] == ["=", "info move"]
    engine.end_input()
    assert engine.rest()[-1] == ""
    assert engine.wait() == 0


def test_end_of_input_while_pondering(start: Starter) -> None:
    engine = start("--visits", "5", "--threads", "1", "--ponder")
    engine.ask("boardsize 9")
    engine.ask("genmove b")
    assert engine.ask("name") == "gtp_engine"
    engine.ask("play w A1")
    engine.ask("genmove b")
    engine.end_input()
    assert engine.wait() == 0


def test_last_line_without_line_feed(start: Starter) -> None:
    engine = start()
    assert engine.process.stdin is not None
    engine.process.stdin.write(b"1 name\n2 name")
    engine.end_input()
    assert engine.rest() == ["=1 gtp_engine", "", "=2 gtp_engine", ""]
    assert engine.wait() == 0


def test_nothing_follows_quit(start: Starter) -> None:
    engine = start()
    engine.send("quit", "name")
    assert engine.rest() == ["=", ""]
    assert engine.wait() == 0
    assert "engine is closed" not in engine.log()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child alone")
@pytest.mark.parametrize("command", ["genmove b", "kata-analyze 10", "name"])
def test_sigint_ends_the_program(start: Starter, command: str) -> None:
    engine = start(*LONG)
    engine.ask("boardsize 9")  # answers: from here on SIGINT is dealt with
    engine.send("reg_genmove b", "# interrupt", command)
    time.sleep(0.5)
    engine.process.send_signal(signal.SIGINT)
    assert engine.wait() == 130
    assert "Traceback" not in engine.log()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child alone")
def test_gogui_may_interrupt(start: Starter) -> None:
    engine = start(*LONG)
    engine.ask("boardsize 9")
    for _ in range(2):
        engine.send("genmove b", "# interrupt")
        assert re.fullmatch(r"= [A-J]\d", engine.response())
    process = int(engine.ask("gogui-sigint"))
    for _ in range(2):
        engine.send("kata-genmove_analyze b 5")
        assert engine.line() == "=" and (engine.line() or "").startswith("info")
        os.kill(process, signal.SIGINT)
        assert re.search(r"play [A-J]\d$", engine.response())
    os.kill(process, signal.SIGINT)
    assert engine.ask("name") == "gtp_engine"
    engine.send("quit")
    assert engine.wait() == 0


def test_other_lines_do_not_interrupt_genmove(start: Starter) -> None:
    engine = start("--visits", "300", "--threads", "1")
    engine.ask("boardsize 9")
    engine.send("kata-genmove_analyze b rootInfo true", "", "# comment", "name")
    assert int(re.findall(r"rootInfo visits (\d+)", engine.response())[0]) >= 300
    assert engine.response() == "= gtp_engine"


def listening(folder: Path) -> "subprocess.Popen[bytes]":
    """Starts the program with pipes that the test closes itself; its log is the file `stderr` in the folder."""
    with (folder / "stderr").open("wb") as log:
        command = [sys.executable, "-m", "gtp_engine", "gtp", "--network", "none", *LONG]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment())


def test_closed_output_ends_the_program(tmp_path: Path) -> None:
    process = listening(tmp_path)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"boardsize 9\nkata-analyze 5\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(3)] == [b"=\n", b"\n", b"=\n"]
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert "Traceback" not in (tmp_path / "stderr").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("command", "line"), [("gtp", b"name\n"), ("analysis", b'{"id": "1", "action": "query_version"}\n')]
)
def test_one_line_for_responses_that_cannot_be_written(command: str, line: bytes) -> None:
    program = [sys.executable, "-m", "gtp_engine", command, "--network", "none"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(program, input=line, stdout=full, stderr=subprocess.PIPE, env=environment())
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [b"gtp_engine: cannot write the response: No space left on device"]


def test_stdout_is_for_gtp_alone(start: Starter, tmp_path: Path) -> None:
    script = tmp_path / "noisy.py"
    script.write_text("""
import os, subprocess, sys
import gtp_engine.engine.engine
from gtp_engine.clients.gtp import loop

class Noisy(gtp_engine.engine.engine.Engine):
    def set_komi(self, komi):
        print("printed", flush=True)
        os.write(1, b"written\\n")
        subprocess.run(["echo", "echoed"])
        super().set_komi(komi)

    def undo(self):
        raise ZeroDivisionError("one line\\nand another")

sys.exit(loop.run(Noisy()))
""")
    engine = start(launcher=(str(script),))
    engine.send("1 komi 5", "play b D4", "2 undo", "3 name", "quit")
    assert engine.rest() == [
        "=1", "", "=", "", "?2 internal error: ZeroDivisionError: one line and another", "",
        "=3 gtp_engine", "", "=", "",
    ]  # fmt: skip
    assert {"printed", "written", "echoed"} <= set(engine.log().split("\n"))
    assert "Traceback" not in engine.log() and "noisy.py:" in engine.log()


def test_stderr_is_not_taken_for_gtp(start: Starter) -> None:
    engine = start("--visits", "10", "--threads", "1")
    for command in (
        "boardsize 9",
        "foo -> bar",
        "play b =5",
        "loadsgf info -> =.sgf",
        "genmove b",
        "kata-set-rule a ->",
    ):
        engine.send(command)
        engine.response()
    engine.send("quit")
    engine.wait()
    lines = engine.log().split("\n")
    assert [line for line in lines if line.startswith("gtp_engine: ")]
    assert not [line for line in lines if re.match(r"=|\?|info|play", line) or " -> " in line]


def test_bad_options_are_one_line(start: Starter) -> None:
    for options, status in (
        (("--network", "no/such/file"), 1),
        (("--set", "c_puct=high"), 2),
        (("--set", "nothing=1"), 2),
    ):
        engine = start(*options)
        engine.send("name", "genmove b", "quit")
        assert engine.wait() == status
        assert "Traceback" not in engine.log() and options[1].split("=")[0] in engine.log()


def test_a_conversation_without_an_answer_fails_the_tests_that_follow_at_once(
    start: Callable[..., Conversation],
) -> None:
    silent = start(launcher=("-c", "input(); input()"))
    silent.send("name")
    with pytest.raises(TimeoutError, match="no line of output within 0 s"):
        silent.response(0.1)
    with pytest.raises(AssertionError, match="an earlier test got no answer in time"):
        silent.ask("name")
