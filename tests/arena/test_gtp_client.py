"""The GTP client against small real programs: well behaved, crashing, silent, talking nonsense."""

import os
import shlex
import sys
import time

import pytest

from gtp_engine.arena.gtp_client import (
    CommandError,
    EngineDiedError,
    EngineGarbageError,
    EngineSilentError,
    EngineStartError,
    GtpClient,
)

ENGINE = """
import sys, time
for line in sys.stdin:
    word = line.split()[0]
    if word == "name": print("= Tiny\\n")
    elif word == "version": print("? unknown command\\n")
    elif word == "list_commands": print("= name\\nlist_commands\\ngenmove\\nquit\\n")
    elif word == "quit":
        print("= \\n", flush=True)
        break
    else:
        %s
    sys.stdout.flush()
"""


def command(script: str) -> str:
    return shlex.join([sys.executable, "-c", script])


def engine(otherwise: str) -> GtpClient:
    return GtpClient(command(ENGINE % otherwise), timeout=20.0)


def test_answers_come_without_their_frame() -> None:
    with engine('print("=  D4 \\r\\n  \\r\\n", end="")') as client:
        assert client.name == "Tiny"
        assert client.version == ""
        assert client.knows("genmove")
        assert not client.knows("showboard")
        assert client.send("genmove b") == "D4"
    assert client._process.returncode == 0


def test_answer_of_several_lines() -> None:
    with engine('print("= A1 B1\\nC1\\n")') as client:
        assert client.send("final_status_list dead") == "A1 B1\nC1"


def test_error_answer_leaves_the_engine_usable() -> None:
    with engine('print("? cannot undo\\n")') as client:
        with pytest.raises(CommandError, match="'Tiny' answered 'undo' with an error: cannot undo"):
            client.send("undo")
        assert client.send("name") == "Tiny"


def test_lines_before_the_answer_are_passed_over() -> None:
    with engine('print("loading ...\\n\\n= D4\\n")') as client:
        assert client.send("genmove b") == "D4"


def test_crash_names_the_status_and_the_last_words() -> None:
    with engine('raise RuntimeError("out of stones")') as client:
        with pytest.raises(EngineDiedError, match="exit status 1 at 'genmove b': RuntimeError: out of stones"):
            client.send("genmove b")
        with pytest.raises(EngineDiedError):
            client.send("name")


def test_silence_runs_into_the_time_limit() -> None:
    message = r"no answer to 'genmove b' within 0\.2 s$"
    with engine("time.sleep(60)") as client, pytest.raises(EngineSilentError, match=message):
        client.send("genmove b", timeout=0.2)


def test_garbage_is_shown() -> None:
    message = r"within 0\.5 s \(it wrote 'hello world'\)"
    with engine('print("hello world\\n")') as client, pytest.raises(EngineGarbageError, match=message):
        client.send("genmove b", timeout=0.5)


def test_unsolicited_answer() -> None:
    with engine('print("= D4\\n\\n= E5\\n")') as client:
        assert client.send("genmove b") == "D4"
        time.sleep(0.1)
        with pytest.raises(EngineGarbageError, match="wrote '= E5' without being asked"):
            client.send("genmove w")


def test_endless_output_is_cut_off() -> None:
    flood = '\n        while True: print("= " + "x" * 1000)'
    with engine(flood) as client, pytest.raises(EngineGarbageError, match=r"more than|without end"):
        client.send("genmove b")


def test_engine_that_ignores_quit_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.arena.gtp_client.QUIT_SECONDS", 0.3)
    with GtpClient(command(ENGINE.replace("break", "time.sleep(60)") % "pass")) as client:
        pass
    assert client._process.poll() is not None


def test_an_engine_that_has_ended_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have its number by then."""
    signals: list[tuple[int, int]] = []
    with engine("pass") as client:
        pass
    monkeypatch.setattr(os, "killpg", lambda *arguments: signals.append(arguments))
    client.abort()
    client.close()
    assert signals == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("/nonexistent/engine --mode gtp", "cannot start engine '/nonexistent/engine --mode gtp': program '/nonexist"),
        ("gnugoo --mode gtp", "cannot start engine 'gnugoo --mode gtp': program 'gnugoo' not found"),
        (shlex.quote(__file__), "cannot start engine .*: Permission denied"),
        (command("import sys; sys.exit('no such option: --gpt')"), "exit status 1 at 'name': no such option: --gpt"),
        (command("print('usage: engine gtp')"), "exit status 0 at 'name': usage: engine gtp"),
        ("engine 'gtp", "No closing quotation"),
        ("  ", "engine command is empty"),
    ],
)
def test_engine_that_does_not_start(line: str, message: str) -> None:
    with pytest.raises(EngineStartError, match=message) as caught:
        GtpClient(line).connect()
    assert "\n" not in str(caught.value)


def test_this_program_starts_if_its_name_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with GtpClient("gtp_engine gtp --network none --threads 1") as client:
        assert client.name == "gtp_engine"
        assert client._process.args[:3] == [sys.executable, "-m", "gtp_engine"]


@pytest.mark.peer
def test_gnugo(gnugo: str) -> None:
    with GtpClient(gnugo) as client:
        assert client.name == "GNU Go"
        assert client.version.startswith("3.8")
        assert client.knows("genmove")
        client.send("boardsize 9")
        assert client.send("play b D4") == ""
        with pytest.raises(CommandError, match="illegal move"):
            client.send("play w D4")
        assert client.send("genmove w")
