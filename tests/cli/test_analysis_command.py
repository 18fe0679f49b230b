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


def test_a_board_too_large_for_the_default_network_is_refused_if_strict() -> None:
    query = lines(QUERY | {"boardXSize": 21, "boardYSize": 21, "maxVisits": 1})
    for options, found in (((), "rootInfo"), (("--strict",), "error")):
        arguments = command("--network", "auto", "--device", "cpu", *options)
        done = subprocess.run(arguments, input=query, capture_output=True, timeout=120, cwd=ROOT)
        assert found in json.loads(done.stdout)


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


@pytest.mark.skipif(os.name == "nt", reason="closes a pipe")
def test_a_long_search_ends_with_its_client() -> None:
    with start() as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        warned = QUERY | {"maxVisits": 2**50, "includeMovesOwnershipStdev": True}
        process.stdin.write(lines(warned))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["field"] == "includeMovesOwnershipStdev"
        process.stdout.close()
        process.stdin.close()
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


def test_a_katago_parameter_without_a_value_is_reported(tmp_path: Path) -> None:
    overrides = command("-override-config", f"homeDataDir={tmp_path},,maxVisits")
    done = subprocess.run(overrides, input=b"", capture_output=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.splitlines()[-1].startswith(b"Error: invalid maxVisits ''")


def test_it_starts_as_the_katago_of_katrain(tmp_path: Path) -> None:
    """With the arguments of KaTrain's BaseEngine, which names a model, a configuration and its own folder."""
    human = TINY.with_name("human.bin.gz")
    config = tmp_path / "analysis_config.cfg"
    config.touch()
    overrides = f"homeDataDir={tmp_path}, maxVisits=7,wideRootNoise=0,cpuctExploration=1.5"
    katrain = [
        *("-model", str(TINY), "-human-model", str(human), "-config", str(config), "-override-config", overrides),
        *("-analysis-threads", "12"),  # up to its version 1.14
        *("--device", "cpu", "--precision", "float32", "--threads", "1"),
    ]
    settings = {"humanSLProfile": "preaz_8k", "ignorePreRootHistory": False}
    query = {key: value for key, value in QUERY.items() if key != "maxVisits"}
    queries = lines(query, query | {"id": "b", "includePolicy": True, "overrideSettings": settings})
    arguments = [sys.executable, "-m", "gtp_engine", "analysis", *katrain]
    done = subprocess.run(arguments, input=queries, capture_output=True, timeout=120, cwd=ROOT)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    answers = {answer["id"]: answer for answer in found if "warning" not in answer}
    assert done.returncode == 0, done.stderr
    assert answers["a"]["rootInfo"]["visits"] == 7 and "humanPolicy" not in answers["a"]
    assert len(answers["b"]["humanPolicy"]) == 26
    assert sum(answers["b"]["humanPolicy"]) == pytest.approx(1, abs=1e-4)
    assert b"are ignored: homeDataDir" in done.stderr
    assert f"configuration {config} is not read".encode() in done.stderr


def test_a_human_model_that_imitates_nobody_is_refused() -> None:
    done = subprocess.run(command("-human-model", str(TINY)), input=b"", capture_output=True, timeout=120, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(b"this network was not trained on the games of humans")
