"""`gtp_engine rank`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gtp_engine.base import interrupts
from gtp_engine.cli import main
from gtp_engine.play.ranks import as_rank

ROOT = Path(__file__).resolve().parents[2]
# Five games of 20k against itself and five of 14k, ranks that are well told apart, played by the engine with `--rank`.
LADDER = ROOT / "tests" / "data" / "ranks" / "ladder.sgf"


def rank(*arguments: str | Path, text: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gtp_engine", "rank", "--threads", "1", *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, cwd=ROOT, timeout=300)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_players_of_the_engine_s_own_ranks_are_found(tmp_path: Path) -> None:
    file = tmp_path / "ranks.json"
    done = rank(LADDER, "--json", file)
    assert (done.returncode, done.stderr) == (0, "")
    for player in json.loads(file.read_text())["players"]:
        assert (player["games"], player["width"], player["height"], player["network"]) == (5, 9, 9, "b4c32-9x9")
        stated, found = as_rank(player["player"].split()[1]), player["estimate"]
        assert stated is not None and player["stated_ranks"] == [str(stated)]
        low, high, estimated = (as_rank(found[name]) for name in ("low", "high", "rank"))
        assert low is not None and high is not None and estimated is not None
        assert low <= estimated <= high
        assert abs(estimated.number - stated.number) <= 3  # two, from ten games
        assert found["moves"] > 50 and not found["or_weaker"] and not found["or_stronger"]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert sorted(line[:2] for line in lines if line[:1] in (["Black"], ["White"])) == [
        ["Black", "14k"],
        ["Black", "20k"],
        ["White", "14k"],
        ["White", "20k"],
    ]
    assert "One game tells little" in done.stdout and "people" in done.stdout


def test_one_player_from_standard_input_as_json() -> None:
    done = rank("-", "--player", "White 20k", "--json", "-", text=LADDER.read_bytes())
    (player,) = json.loads(done.stdout)["players"]
    assert (player["player"], player["games"], done.returncode) == ("White 20k", 5, 0)


def test_what_cannot_be_estimated_is_one_line_each(tmp_path: Path) -> None:
    bad, illegal, large, short = (tmp_path / f"{name}.sgf" for name in ("bad", "illegal", "large", "short"))
    bad.write_text("no game")
    illegal.write_text("(;SZ[9];B[aa];W[aa])")
    large.write_text("(;SZ[13];B[aa];W[bb])")
    short.write_text("(;SZ[9]PB[Ann]PW[Bob];B[aa];W[bb])")
    done = rank(tmp_path)
    assert done.returncode == 1
    errors = sorted(done.stderr.splitlines())
    assert len(errors) == 3 and all(line.startswith("Error: ") for line in errors)
    assert errors[0].startswith(f"Error: {bad}: ")
    assert errors[1] == f"Error: {illegal}: move 2: illegal move: A9 is occupied"
    assert errors[2].startswith(
        f"Error: {large}: no rank can be estimated on 13x13: ranks were measured with b4c32-9x9"
    )
    lines = [line.split() for line in done.stdout.splitlines() if "too few moves" in line]
    assert [line[:4] for line in lines] == [["Ann", "9x9", "1", "1"], ["Bob", "9x9", "1", "1"]]
    done = rank(short, "--player", "Carl")
    assert (done.returncode, done.stderr) == (1, "Error: no player 'Carl' in these games\n")
    done = rank(short, "--network", "none")
    assert (done.returncode, done.stdout) == (1, "") and len(done.stderr.splitlines()) == 1


def test_ctrl_c_shows_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "check", check)
    done = CliRunner().invoke(main, ["rank", "--threads", "1", "--json", "-", str(LADDER)])
    assert done.exit_code == 130
    assert {player["player"]: player["games"] for player in json.loads(done.stdout)["players"]} == {
        "Black 20k": 3,
        "White 20k": 3,
    }
