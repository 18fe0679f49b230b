"""What a user did wrong is shown as its message alone, a bug as a bug, by every program."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from queue import Queue
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import CliRunner

from gtp_engine.base.errors import UserError, answer_text, error_place, error_text
from gtp_engine.base.languages.texts import Phrase, texts
from gtp_engine.clients.analysis.protocol import Conversation
from gtp_engine.clients.analysis.query import Defaults, QuerySettings
from gtp_engine.clients.cli import main
from gtp_engine.clients.gtp.lines import Command
from gtp_engine.clients.gtp.session import COMMANDS, GtpError, Session
from gtp_engine.go.game import Game, IllegalMove
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.scheduler import Scheduler
from gtp_engine.table.played_game import check_move

BUG = "operands could not be broadcast together with shapes (2,) (3,)"
INTERNAL = f"internal error: ValueError: {BUG}"
HERE = Path(__file__).name


def broadcast(*_: object, **__: object) -> None:
    """Numpy's ValueError, which no user is to blame for."""
    np.zeros(2) + np.zeros(3)


def refuse(*_: object, **__: object) -> None:
    raise UserError("no such thing: expected another")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FileNotFoundError(2, "No such file or directory", "/none"), "/none: No such file or directory"),
        (OSError("two\nlines"), "two lines"),
        (MemoryError(), "out of memory"),
        (MemoryError("not enough on cuda"), "not enough on cuda"),
    ],
)
def test_errors_of_the_system_take_one_line_without_a_number(error: Exception, text: str) -> None:
    assert error_text(error) == text


def test_a_library_for_which_there_is_no_memory_is_named() -> None:
    error = OSError("could not find libllvmlite.so")
    error.__context__ = OSError("/x/libllvmlite.so: failed to map segment from shared object")
    unmapped = "/x/libllvmlite.so: failed to map segment from shared object: "
    assert error_text(error) == f"{unmapped}there is too little memory, or its folder is mounted noexec"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
def test_a_start_without_enough_memory_says_so() -> None:
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2); "
    program = [sys.executable, "-c", f"{limit}from gtp_engine.clients.cli import main; main()", "gtp"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    settings: dict[str, Any] = {"text": True, "capture_output": True, "timeout": 60, "env": environment}
    done = subprocess.run(program, input="genmove b\ngenmove b\nplay b D4\nquit\n", check=False, **settings)
    assert "internal error" not in done.stderr + done.stdout
    first, *others, end = done.stdout.split("\n\n")[:4]
    assert first.startswith("? ") and "memory" in first
    assert others == [first, first] and end == "="


def test_only_bugs_are_called_internal_errors() -> None:
    assert answer_text(UserError("wrong")) == answer_text(OSError("wrong")) == answer_text(MemoryError("wrong"))
    assert answer_text(ValueError("wrong")) == "internal error: ValueError: wrong"


def test_the_place_of_an_error_is_where_it_was_raised() -> None:
    with pytest.raises(ValueError) as caught:
        broadcast()
    assert error_place(caught.value) == f"{__file__}:{broadcast.__code__.co_firstlineno + 2}"
    assert error_place(ValueError("never raised")) == "unknown place"


@pytest.mark.parametrize(
    ("handler", "response", "is_logged"),
    [
        (broadcast, INTERNAL, True),
        (refuse, "no such thing: expected another", False),
        (Mock(side_effect=GtpError("not now")), "not now", False),
    ],
)
def test_gtp_tells_bugs_from_refusals(
    handler: Any, response: str, is_logged: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(COMMANDS, "name", handler)
    output = Mock()
    Session(Mock(), Mock(), output).answer(Command(None, "name", []))
    output.write.assert_called_once_with(f"? {response}\n\n")
    logged = capsys.readouterr().err
    assert (f"name: {INTERNAL}" in logged, f"{HERE}:" in logged) == (is_logged, is_logged)


def test_the_command_line_shows_a_bug_with_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.network.find_network", broadcast)
    done = CliRunner().invoke(main, ["network", "tiny"])
    lines = done.stderr.splitlines()
    assert done.exit_code == 1
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith(f"Error: {INTERNAL} (") and f"{HERE}:" in lines[-1]
    assert lines[-1].endswith("; this is a bug, please report it with the lines above")


def test_the_command_line_shows_a_users_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.network.find_network", refuse)
    done = CliRunner().invoke(main, ["network", "tiny"])
    assert (done.exit_code, done.stderr) == (1, "Error: no such thing: expected another\n")


class FailingEvaluator(UniformEvaluator):
    """Evaluates with a bug."""

    def __init__(self, fail: Any) -> None:
        super().__init__(8)
        self._fail = fail

    def submit(self, *_: Any, **__: Any) -> Any:
        self._fail()


def analyse(evaluator: UniformEvaluator, *ids: str) -> list[dict[str, Any]]:
    """The answers to a query for the empty board, once for each id."""
    query = {"moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "maxVisits": 4}
    answers: list[str] = []
    scheduler = Scheduler(evaluator, slots=2)
    defaults = Defaults(lambda width, height: SearchParameters(), 9, QuerySettings(visits=4))
    lines: Queue[bytes | None] = Queue()
    for name in ids:
        lines.put(json.dumps(query | {"id": name}).encode())
    lines.put(None)
    schedulers = Mock(on_board=lambda *_: scheduler)
    Conversation(schedulers, defaults, lines, answers.append, seed=1).run(wait_for_all=True)
    return [json.loads(answer) for answer in answers]


@pytest.mark.parametrize(("fail", "text"), [(broadcast, INTERNAL), (refuse, "no such thing: expected another")])
def test_analysis_tells_bugs_from_refusals(fail: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse(FailingEvaluator(fail), "a") == [{"error": text, "id": "a", "turnNumber": 0}]
    assert (f"{HERE}:" in capsys.readouterr().err) == (fail is broadcast)


def test_a_bug_at_one_query_leaves_the_others_their_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from gtp_engine.clients.analysis import protocol

    parse = protocol.parse_query

    def parse_query(fields: dict[str, Any], defaults: Defaults) -> Any:
        if fields["id"] == "a":
            broadcast()
        return parse(fields, defaults)

    monkeypatch.setattr(protocol, "parse_query", parse_query)
    found = {answer["id"]: answer for answer in analyse(UniformEvaluator(8), "a", "b")}
    assert found["a"] == {"error": INTERNAL, "id": "a"}
    assert found["b"]["rootInfo"]["visits"] == 4
    assert f"query a: {INTERNAL}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rules", "moves", "expected"),
    [
        ("chinese", "A1 A1", Phrase("error.occupied", {"move": "A1"})),
        ("chinese", "A2 E5 B1 A1", Phrase("error.suicide", {"move": "A1"})),
        ("japanese", "B1 C1 A2 D2 B3 C3 pass B2 C2 B2", Phrase("error.ko", {"move": "B2"})),
    ],
)
def test_why_a_move_is_illegal_can_be_said_in_other_languages(rules: str, moves: str, expected: Phrase) -> None:
    game = Game(5, rules=rules)
    *before, last = moves.split()
    for move in before:
        game.play(game.to_move, move)
    with pytest.raises(IllegalMove) as raised:
        check_move(game, game.point(last))
    assert raised.value.phrase == expected and str(raised.value) == texts().say(expected)
    copied = pickle.loads(pickle.dumps(raised.value))
    assert (copied.phrase, str(copied)) == (expected, str(raised.value))
