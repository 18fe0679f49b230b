"""`gtp_engine analysis` as a program: its streams, their ends, a network, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gtp_engine.clients.cli.analysis import AnalysisOptions
from gtp_engine.engine.settings import EngineSettings

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "data" / "networks" / "tiny.bin.gz"
QUERY: dict[str, Any] = {"id": "a", "moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "maxVisits": 20}

ENDLESS = QUERY | {"maxVisits": 2**50}


def command(*options: str) -> list[str]:
    fixed = ["--network", "none", "--threads", "1", "--seed", "1"]
    return [sys.executable, "-m", "gtp_engine", "analysis", *fixed, *options]


def ask(queries: bytes, *options: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(command(*options), input=queries, capture_output=True, timeout=120, cwd=ROOT)


def lines(*queries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(query).encode() + b"\n" for query in queries)


def test_all_that_waits_is_answered_after_the_end_of_input() -> None:
    queries = lines(*(QUERY | {"id": str(number)} for number in range(20)))[:-1]  # the last line needs no line feed
    done = ask(queries)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, {answer["id"] for answer in answers}) == (0, {str(number) for number in range(20)})
    assert b"gtp_engine: Started, ready to begin handling requests" in done.stderr


@pytest.mark.parametrize("option", ["--quit-without-waiting", "-quit-without-waiting"])
def test_it_need_not_wait(option: str) -> None:
    done = ask(lines(ENDLESS), option)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_network_refuses_boards_that_are_too_large_for_it() -> None:
    queries = lines(QUERY | {"id": "large", "boardXSize": 25, "boardYSize": 25}, QUERY | {"includePolicy": True})
    done = ask(queries, "--network", str(TINY), "--device", "cpu")
    error, answer = (json.loads(line) for line in done.stdout.splitlines())
    assert error == {"error": "Must be a whole number from 2 to 19", "field": "boardXSize", "id": "large"}
    assert (answer["rootInfo"]["visits"], len(answer["policy"])) == (20, 26)


def test_a_board_too_large_for_the_default_network_is_refused_if_strict() -> None:
    query = lines(QUERY | {"boardXSize": 21, "boardYSize": 21, "maxVisits": 1})
    for options, found in (((), "rootInfo"), (("--strict",), "error")):
        assert found in json.loads(ask(query, "--network", "auto", "--device", "cpu", *options).stdout)


def test_visits_of_the_command_line_hold_for_queries_without() -> None:
    query = {key: value for key, value in QUERY.items() if key != "maxVisits"}
    for options, visits in ((("--visits", "7"), 7), ((), 500)):
        assert json.loads(ask(lines(query), *options).stdout)["rootInfo"]["visits"] == visits


def end_of_input(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.stdout.close()


@pytest.mark.skipif(os.name == "nt", reason="closes pipes, sends SIGINT")
@pytest.mark.parametrize(
    ("more", "answer", "end", "status"),
    [
        ({"reportDuringSearchEvery": 0.05}, b"isDuringSearch", lambda process: process.stdout.close(), 0),
        ({"includeMovesOwnershipStdev": True}, b"includeMovesOwnershipStdev", end_of_input, 0),
        ({"reportDuringSearchEvery": 0.05}, b"", lambda process: process.send_signal(signal.SIGINT), 130),
    ],
    ids=["the client goes away", "so does its input", "ctrl-c"],
)
def test_a_long_search_ends(more: dict[str, Any], answer: bytes, end: Callable[[Any], None], status: int) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(command(), stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(lines(ENDLESS | more))
        process.stdin.flush()
        assert answer in process.stdout.readline()
        end(process)
        assert process.wait(30) == status
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--network", "nowhere"], b"Error: no network 'nowhere'"),
        (["-override-config", "homeDataDir=here,,maxVisits"], b"Error: invalid maxVisits ''"),
        (["-human-model", str(TINY)], b"this network was not trained on the games of humans"),
    ],
)
def test_errors_before_the_start_take_one_line(options: list[str], message: bytes) -> None:
    done = ask(b"", *options)
    assert (done.returncode, done.stdout) == (1, b"")
    assert message in done.stderr.splitlines()[-1]


def test_the_search_looks_widely_unless_that_is_turned_off() -> None:
    for settings, overrides, noise in (
        ({}, (), 0.04),
        ({}, ("maxVisits=7,wideRootNoise=0.5",), 0.5),
        ({"wideRootNoise": 0.0}, (), 0.0),
    ):
        search = EngineSettings(network=str(TINY), parameters=settings)
        found, _ = AnalysisOptions(overrides=overrides).for_queries(search)
        assert found.search_parameters(str(TINY)).wide_root_noise == noise


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
    arguments = [*command()[:4], *katrain]
    done = subprocess.run(arguments, input=queries, capture_output=True, timeout=120, cwd=ROOT)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    answers = {answer["id"]: answer for answer in found if "warning" not in answer}
    assert done.returncode == 0, done.stderr
    assert answers["a"]["rootInfo"]["visits"] == 7 and "humanPolicy" not in answers["a"]
    assert len(answers["b"]["humanPolicy"]) == 26
    assert sum(answers["b"]["humanPolicy"]) == pytest.approx(1, abs=1e-4)
    assert b"are ignored: homeDataDir" in done.stderr
    assert f"configuration {config} is not read".encode() in done.stderr
