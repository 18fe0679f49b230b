"""Self-play as an iterator."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.sgf import GameRecord
from gtp_engine.training.selfplay_games import selfplay

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


def texts(records: list[GameRecord]) -> list[str]:
    return [record.to_sgf() for record in records]


def test_games_are_finished_and_come_again_with_the_same_seed() -> None:
    options = {"games": 3, "width": 4, "visits": 4, "seed": 5}
    first = list(selfplay("none", **options))
    assert len(first) == 3
    for record in first:
        assert record.to_game().is_over or len(record.moves) == 2 * 16
        assert record.result[:2] in ("B+", "W+", "0")
        assert (record.width, record.height) == (4, 4)
    assert texts(list(selfplay("none", **options))) == texts(first)
    assert texts(list(selfplay("none", **options | {"seed": 6}))) != texts(first)


def test_a_network_plays_with_given_rules_and_komi() -> None:
    (record,) = selfplay(TINY, games=1, width=5, height=4, visits=2, rules="chinese", komi=0.5, seed=1, comments=True)
    assert (record.width, record.height, record.komi, record.rules) == (5, 4, 0.5, "Chinese")
    assert "win rate" in record.main_line[1].comment
    assert record.black == "tiny"


def test_without_a_number_the_games_do_not_end() -> None:
    games = selfplay("none", width=3, visits=2, concurrency=2, seed=1)
    assert len(list(itertools.islice(games, 5))) == 5
    games.close()  # type: ignore[attr-defined]


def test_games_that_nobody_finishes_end_with_the_program_in_silence() -> None:
    program = (
        "from gtp_engine import selfplay\n"
        "games = selfplay('none', width=3, visits=2, concurrency=2, seed=1)\n"
        "next(games)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "options",
    [
        {"network": "nosuch"},
        {"network": 5},
        {"games": 0},
        {"games": "3"},
        {"visits": 0},
        {"visits": None},
        {"concurrency": 1.5},
        {"width": "9"},
        {"width": 20, "network": "none"},
        {"rules": "go"},
        {"rules": "japanese"},
        {"komi": "7"},
        {"seed": -1},
    ],
)
def test_wrong_arguments_are_refused_before_the_first_game(options: dict[str, object]) -> None:
    with pytest.raises(UserError):
        selfplay(**options)  # type: ignore[arg-type]
