"""A small run of the fuzzer (benchmarks/fuzz_gtp.py), and that its own idea of lines is right."""

from random import Random

import pytest
from fuzz_gtp import fuzz, parse, raw_line

from gtp_engine.clients.gtp.lines import parse_line


@pytest.mark.parametrize("lines", [250, pytest.param(1000, marks=pytest.mark.slow)])
def test_strange_lines_get_their_responses(lines: int) -> None:
    fuzz(0, lines, seed=2)


def test_two_readings_of_lines_agree() -> None:
    random = Random(1)
    for _ in range(5000):
        line = raw_line(random).replace(b"\n", b"_")
        command = parse_line(line).command
        expected = parse(line)
        if expected is None or command is None:
            assert expected is command
        else:
            assert expected[0] == ("" if command.id is None else str(command.id))
