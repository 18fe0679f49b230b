"""`gtp_engine analysis` as a program: its streams, their ends, a network, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"
QUERY: dict[str, Any] = {"id": "a", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "maxVisits": 20}


def command(*options: str) -> list[str]:
    fixed = ["--network", "none", "--threads", "1", "--seed", "1"]
    return [sys.executable, "-m", "gtp_engine", "analysis", *fixed, *options]


def start(*options: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command(*options), stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)


def lines(*queries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(query).encode() + b"\n" for query in queries)


def test_all_that_waits_is_answered_after_the_end_of_input() -> None:
    queries = lines(*(QUERY | {"id": str(number)} for number in range(20)))[:-1]  # the last line needs no line feed
    done = subprocess.run(command(), input=queries, capture_output=True, timeout=120, cwd=ROOT)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, {answer["id"] for answer in answers}) == (0, {str(number) for number in range(20)})
    assert b"gtp_engine: Started, ready to begin handling requests" in done.stderr


def test_it_need_not_wait() -> None:
    endless = lines(QUERY | {"maxVisits": 2**50})
    for option in ("--quit-without-waiting", "-quit-without-waiting"):
        done = subprocess.run(command(option), input=endless, capture_output=True, timeout=120, cwd=ROOT)
        assert (done.returncode, done.stdout) == (0, b"")


def test_a_network_refuses_boards_that_are_too_large_for_it() -> None:
    queries = lines(QUERY | {"id": "large", "boardXSize": 25, "boardYSize": 25}, QUERY | {"includePolicy": True})
    options = "--network", str(TINY), "--device", "cpu"
    done = subprocess.run(command(*options), input=queries, capture_output=True, timeout=120, cwd=ROOT)
    error, answer = (json.loads(line) for line in done.stdout.splitlines())
    assert error == {"error": "Must provide an integer from 2 to 19", "field": "boardXSize", "id": "large"}
    assert (answer["rootInfo"]["visits"], len(answer["policy"])) == (20, 26)


def test_visits_of_the_command_line_hold_for_queries_without() -> None:
    query = {key: value for key, value in QUERY.items() if key != "maxVisits"}
    for options, visits in ((("--visits", "7"), 7), ((), 500)):
        done = subprocess.run(command(*options), input=lines(query), capture_output=True, timeout=120, cwd=ROOT)
        assert json.loads(done.stdout)["rootInfo"]["visits"] == visits


@pytest.mark.skipif(os.name == "nt", reason="closes a pipe")
def test_a_client_that_goes_away_ends_it() -> None:
    with start() as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(lines(QUERY | {"maxVisits": 2**50, "reportDuringSearchEvery": 0.05}))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["isDuringSearch"]
        process.stdout.close()
        assert process.wait(30) == 0
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
def test_ctrl_c_ends_it() -> None:
    with start() as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(lines(QUERY | {"maxVisits": 2**50, "reportDuringSearchEvery": 0.05}))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
        assert b"Traceback" not in errors


def test_errors_before_the_start_take_one_line() -> None:
    done = subprocess.run(command("--network", "nowhere"), input=b"", capture_output=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.splitlines()[-1].startswith(b"Error: no network 'nowhere'")
