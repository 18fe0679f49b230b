"""The GTP client against small real programs: well behaved, crashing, silent, talking nonsense."""

import os
import shlex
import sys
import time

import pytest

from gtp_engine.arena.gtp_client import (
    CommandError,
    EngineDiedError,
    EngineError,
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


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        ('"=  D4 \\r\\n  \\r\\n", end=""', "D4"),
        ('"= A1 B1\\nC1\\n"', "A1 B1\nC1"),
        ('"loading ...\\n\\n= D4\\n"', "D4"),  # lines before the answer are passed over
    ],
)
def test_answers_come_without_their_frame(printed: str, answer: str) -> None:
    with engine(f"print({printed})") as client:
        assert (client.name, client.version) == ("Tiny", "")
        assert client.knows("genmove") and not client.knows("showboard")
        assert client.send("genmove b") == answer
    assert client._process.returncode == 0


def test_what_an_engine_says_is_shown_in_one_line_that_is_not_long() -> None:
    long = ENGINE.replace('"= Tiny', '"= \\x1b[31mTiny\\x07\\nEngine" + "x" * 100000 + "')
    with GtpClient(command(long % 'print("? \\x1b[2J" + "y" * 100000 + "\\n")'), timeout=20.0) as client:
        assert client.name == "?[31mTiny? Engine" + "x" * 483
        with pytest.raises(CommandError) as refusal:
            client.send("genmove b")
    assert "?[2Jyyy" in str(refusal.value) and len(str(refusal.value)) < 1100


def test_error_answer_leaves_the_engine_usable() -> None:
    with engine('print("? cannot undo\\n")') as client:
        with pytest.raises(CommandError, match="'Tiny' answered 'undo' with an error: cannot undo"):
            client.send("undo")
        assert client.send("name") == "Tiny"


def test_crash_names_the_status_and_the_last_words() -> None:
    with engine('raise RuntimeError("out of stones")') as client:
        with pytest.raises(EngineDiedError, match="exit status 1 at 'genmove b': RuntimeError: out of stones"):
            client.send("genmove b")
        with pytest.raises(EngineDiedError):
            client.send("name")


@pytest.mark.parametrize(
    ("otherwise", "kind", "message"),
    [
        ("time.sleep(60)", EngineSilentError, r"no answer to 'genmove b' within 0\.5 s$"),
        ('print("hello world\\n")', EngineGarbageError, r"within 0\.5 s \(it wrote 'hello world'\)"),
        ('\n        while True: print("= " + "x" * 1000)', EngineGarbageError, r"more than|without end"),
    ],
)
def test_silence_garbage_and_endless_output(otherwise: str, kind: type[EngineError], message: str) -> None:
    with engine(otherwise) as client, pytest.raises(kind, match=message):
        client.send("genmove b", timeout=20.0 if "while" in otherwise else 0.5)


def test_a_program_that_repeats_its_input_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.arena.gtp_client.START_PATIENCE", 0.5)
    script = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"
    with pytest.raises(EngineStartError, match=r"no answer to 'name' within 0\.5 s( \(it wrote 'name'\))?$"):
        GtpClient(command(script), timeout=1.0).connect()


def test_an_engine_that_loads_for_long_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("gtp_engine.arena.gtp_client.START_PATIENCE", 0.2)
    slow = "import time\ntime.sleep(1)" + ENGINE % "pass"
    with GtpClient(command(slow), timeout=20.0) as client:
        assert client.name == "Tiny"
    assert "has not answered for 0.2 s: waiting up to 20 s" in caplog.text


def test_unsolicited_answer() -> None:
    with engine('print("= D4\\n\\n= E5\\n")') as client:
        assert client.send("genmove b") == "D4"
        time.sleep(0.1)
        with pytest.raises(EngineGarbageError, match="wrote '= E5' without being asked"):
            client.send("genmove w")


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
