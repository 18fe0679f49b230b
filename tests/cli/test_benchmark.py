"""What `benchmark` measures and recommends."""

import re
from pathlib import Path

from click.testing import CliRunner

from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.speed import Speed, recommended, thread_counts

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


def run(*arguments: str) -> list[str]:
    done = CliRunner().invoke(main, ["benchmark", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_rollouts() -> None:
    head, titles, *rows = run("--network", "none", "--board-size", "5", "--visits", "50", "--threads", "1")
    assert head.endswith("1 thread, network none")
    assert titles.split() == ["board", "stones", "visits/s"]
    assert [row.split()[:2] for row in rows] == [["5x5", "0"], ["5x5", "8"]]


def test_a_network() -> None:
    options = ("--visits", "20", "--threads", "1", "--set", "batch_size=4", "--precision", "float32")
    lines = run("--network", str(TINY), "--board-size", "5", "--board-size", "6x4", *options)
    assert lines[0].endswith("; tiny, float32")
    assert [lines[1], lines[5]] == ["5x5, move 4", "6x4, move 4"]
    assert lines[2].split() == ["threads", "batch", "network/s", "visits/s", "share"]
    assert re.fullmatch(r" +1 +4 +[\d,]+\.\d +[\d,]+\.\d +\d+%", lines[3])
    assert lines[4] == "best on 5x5: --set batch_size=4 --threads 1"


def test_threads_that_are_tried() -> None:
    assert [thread_counts(count) for count in (1, 2, 3, 4, 6, 16)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 4],
        [1, 2, 4, 6],
        [1, 2, 4, 8, 16],
    ]


def test_a_smaller_batch_is_preferred_where_it_is_nearly_as_fast() -> None:
    speeds = [Speed(2, 4, 0, 80), Speed(1, 8, 0, 60), Speed(2, 8, 0, 96), Speed(2, 16, 0, 100), Speed(2, 32, 0, 99)]
    assert recommended(speeds) == speeds[2]
