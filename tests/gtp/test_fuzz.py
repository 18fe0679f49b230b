"""A small run of the fuzzer (benchmarks/fuzz_gtp.py), and that its own idea of lines is right."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_strange_lines_get_their_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from fuzz_gtp import fuzz

    fuzz(0, 2000, seed=2)


def test_two_readings_of_lines_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from random import Random

    from fuzz_gtp import parse, raw_line

    from gtp_engine.gtp import protocol

    random = Random(1)
    for _ in range(5000):
        line = raw_line(random).replace(b"\n", b"_")
        command = protocol.parse(protocol.clean(line))
        expected = parse(line)
        if expected is None or command is None:
            assert expected is command
        else:
            assert expected[0] == ("" if command.id is None else str(command.id))
