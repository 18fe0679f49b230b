"""Ctrl-C while a command starts, while it works, and where an exception would be lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gtp_engine.base import interrupts

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
# C code that calls Python: an exception there is printed and dropped, which ctypes cannot help.
IN_A_CALLBACK = """
import ctypes, time
from gtp_engine.base import interrupts
@ctypes.CFUNCTYPE(None)
def callback():
    print("inside", flush=True)
    time.sleep(20)
with interrupts.end_at_once():
    callback()
print("lost")
"""


# As a compiler does: no step of Python for minutes.
IN_C = """
import hashlib
from gtp_engine.base import interrupts
with interrupts.end_at_once():
    print("inside", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)
print("lost")
"""


# A watcher that sees the signal of its block only when the next one has begun.
LATE = """
import os, signal, threading
from gtp_engine.base import interrupts
reader, writer = os.pipe()
os.write(writer, bytes([signal.SIGINT]))
os.close(writer)
over = threading.Event()
over.set()
with interrupts.end_at_once():
    interrupts._watch(reader, over)
print("alive")
"""


def test_a_block_does_not_end_by_the_signal_of_an_earlier_one() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("script", [IN_A_CALLBACK, IN_C], ids=["in a callback", "in C"])
def test_a_start_ends_at_once(script: str) -> None:
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None and process.stdout.readline() == "inside\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10) == ("", "")
    assert process.returncode == 130


def test_work_looks_at_a_flag() -> None:
    before = signal.getsignal(signal.SIGINT)
    stopped = []
    with interrupts.end_at_once():
        interrupts.note(lambda: stopped.append(True))
        interrupts.check()
        interrupt()  # raises nothing
        assert stopped == [True]
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
        with pytest.raises(KeyboardInterrupt):  # the second one does
            interrupt()
    assert signal.getsignal(signal.SIGINT) is before


IGNORED = """
import os, signal
from gtp_engine.__main__ import run
from gtp_engine.base import interrupts
signal.signal(signal.SIGINT, signal.SIG_IGN)
def main(**_):
    with interrupts.end_at_once():
        for step in (interrupts.note, interrupts.raise_again, lambda: None):
            step()
            os.kill(os.getpid(), signal.SIGINT)
        interrupts.check()
        print("alive")
import gtp_engine.clients.cli
gtp_engine.clients.cli.main = main
run()
"""


def test_a_signal_that_was_ignored_at_the_start_stays_so() -> None:
    """As that of a background job of a script is: Ctrl-C is for the program in the foreground."""
    done = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "alive\n", "")


def test_each_command_begins_without_a_flag() -> None:
    for _ in range(2):
        with interrupts.end_at_once():
            interrupts.check()
            interrupts.note()
            interrupt()
        interrupts.check()  # and leaves none behind


def test_a_prompt_gets_the_exception() -> None:
    with interrupts.end_at_once():
        interrupts.raise_again()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
