"""`gtp_engine rank`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gtp_engine.base import interrupts
from gtp_engine.clients.cli import main
from gtp_engine.engine.ranks import as_rank
from gtp_engine.go.sgf import GameRecord
from gtp_engine.study.player_ranks import RankEstimator

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
        assert (player["games"], player["width"], player["height"], player["network"]) == (5, 9, 9, "b6c64-19x19")
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
    assert "A single game says little, ten make the interval narrow. People and other programs" in " ".join(
        done.stdout.split()
    )


def test_one_player_from_standard_input_as_json() -> None:
    done = rank("-", "--player", "White 20k", "--json", "-", text=LADDER.read_bytes())
    (player,) = json.loads(done.stdout)["players"]
    assert (player["player"], player["games"], done.returncode) == ("White 20k", 5, 0)


MOVES = ";B[ee];W[cc];B[gg];W[gc];B[cg];W[ce];B[ge];W[ec];B[eg];W[cd];B[gd];W[dc];B[fc];W[fg];B[dg]"


def game(text: str = "", moves: str = MOVES) -> str:
    return f"(;SZ[9]{text}{moves})"


def run(*arguments: str | Path) -> Result:
    """Runs the command in this process."""
    return CliRunner().invoke(main, ["rank", "--threads", "1", *map(str, arguments)])


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.sgf").write_text(text)


def test_existing_files_are_kept_and_games_that_are_read_always(tmp_path: Path) -> None:
    write(tmp_path, a=game(), b=game())
    record, table = tmp_path / "a.sgf", tmp_path / "table.json"
    table.write_text("mine")
    for arguments, message in (
        ([record, "--json", record], f"{record} is one of the files to read; choose another name"),
        ([tmp_path, "--json", tmp_path / "b.sgf", "--force"], f"{tmp_path / 'b.sgf'} is one of the files to read"),
        ([record, "--json", table], f"{table} already exists; choose another name or add --force"),
    ):
        done = run(*arguments)
        assert (done.exit_code, message in done.stderr) == (1, True)
    assert (record.read_text(), table.read_text()) == (game(), "mine")
    done = run(record, "--json", table, "--force")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"wrote {table}")
    assert json.loads(table.read_text())["games"] == 1


def test_what_cannot_be_read_is_one_line_each(tmp_path: Path) -> None:
    write(tmp_path, bad="no game", illegal="(;SZ[9];B[aa];W[aa])", turns="(;SZ[9];B[aa];B[bb])")
    write(tmp_path, short="(;SZ[9]PB[Ann]PW[Bob];B[aa];W[bb])")
    done = rank(tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        f"Error: {tmp_path / 'illegal.sgf'}: move 2: illegal move: A9 is occupied",
        f"Error: {tmp_path / 'turns.sgf'}: the players do not alternate at move 2 "
        "(handicap stones have to be set up, not played)",
    ]
    assert done.stderr.startswith(f"Error: {tmp_path / 'bad.sgf'}: ")
    lines = [line.split() for line in done.stdout.splitlines() if "too few moves" in line]
    assert [line[:4] for line in lines] == [["Ann", "9x9", "1", "1"], ["Bob", "9x9", "1", "1"]]


def test_games_on_other_boards_are_left_out_with_one_line(tmp_path: Path) -> None:
    write(tmp_path, a=game(), b="(;SZ[11];B[aa];W[bb])", c="(;SZ[11];B[aa];W[bc])", d="(;SZ[7x9];B[aa])")
    done = run(tmp_path)
    assert done.exit_code == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith("2 games on 11x11 and 1 game on 7x9 were left out: ranks are measured only on 9x9")
    done = run(tmp_path / "b.sgf", tmp_path / "c.sgf")
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: no rank can be estimated on 11x11, only on 9x9") and "with b4c32-9x9" in line
    done = run(tmp_path / "a.sgf", tmp_path / "b.sgf", "--network", "b4c32-9x9")
    assert done.stderr.strip().endswith("left out: ranks are measured only on 9x9 (b4c32-9x9)")
    write(tmp_path, e="(;SZ[13];B[aa];W[bb])")
    done = run(tmp_path / "e.sgf", "--network", "b4c32-9x9")
    assert done.stderr.startswith("Error: no rank can be estimated with b4c32-9x9 on 13x13, only on 9x9 and 13x13")


def test_json_tells_the_moves_of_everybody_and_what_was_left_out(tmp_path: Path) -> None:
    write(tmp_path, short="(;SZ[9]PB[Ann]PW[Bob];B[aa];W[bb];B[cc])", other="(;SZ[11];B[aa];W[bb])")
    data = json.loads(run(tmp_path, "--json", "-").stdout)
    found = [(player["player"], player["moves"], player["estimate"]) for player in data["players"]]
    assert found == [("Ann", 2, None), ("Bob", 1, None)]
    assert (data["games"], data["done"], data["left_out"]) == (2, 2, [{"width": 11, "height": 11, "games": 1}])


def test_a_game_without_moves_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, empty="(;SZ[9])")
    done = run(tmp_path)
    assert (done.exit_code, done.stderr) == (1, "Error: there are no moves to estimate a rank from\n")


def test_a_wrong_network_is_one_error_before_any_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a=game(), b=game(moves=";B[aa]"))
    (tmp_path / "b4c32-9x9.bin.gz").write_bytes(b"no network")
    monkeypatch.setattr("gtp_engine.clients.cli.rank.read_records", lambda files: pytest.fail("read games"))
    for network in ("missing", "b6c64-9x9", "none", tmp_path / "b4c32-9x9.bin.gz"):
        done = run(tmp_path, "--network", network)
        assert (done.exit_code, done.stdout) == (1, ""), done.exception
        (line,) = done.stderr.splitlines()
        assert line.startswith("Error: ") and ".sgf" not in line


def test_a_player_is_named_as_in_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a=game("PB[ Ann  Lee ]PW[Bob]"), b=game("PB[Bob]PW[ann lee]", MOVES + ";W[aa]"))
    write(tmp_path, c=game("PB[Carl]PW[Bob]", MOVES + ";W[ba]"), d="(;SZ[11]PB[Carl]PW[Dan];B[aa])")

    def players(*arguments: str) -> list[tuple[str, int]]:
        done = run(tmp_path, "--json", "-", *arguments)
        assert done.exit_code == 0
        return [(player["player"], player["games"]) for player in json.loads(done.stdout)["players"]]

    assert players("--player", "ANN") == [("Ann Lee", 2)]
    assert players("--player", "white") == [("Bob", 2), ("ann lee", 1)]
    monkeypatch.setattr("gtp_engine.study.player_ranks.RankEstimator.add", lambda *rest: pytest.fail("evaluated"))
    done = run(tmp_path, "--player", "Eve")
    names = "Ann Lee, Bob, ann lee, Carl, Dan"
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"Error: no player 'Eve' in these games: the players are {names}\n"


def test_a_full_name_is_not_a_part_of_other_names(tmp_path: Path) -> None:
    write(tmp_path, a=game("PB[Ann]PW[Bob]"), b=game("PB[Bob]PW[ANN]"), c=game("PB[Joanna]PW[Annette]"))
    for name, found in (("ann", [("Ann", 2)]), ("an", [("Ann", 2), ("Joanna", 1), ("Annette", 1)])):
        data = json.loads(run(tmp_path, "--json", "-", "--player", name).stdout)
        assert [(player["player"], player["games"]) for player in data["players"]] == found
        assert data["games"] == (2 if name == "ann" else 3)


def test_each_game_counts_once(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    for folder in (tmp_path, tmp_path / "again"):
        write(folder, a=game("PB[Ann]PW[Ann]BR[9k]WR[9k]"))
    done = run(tmp_path, tmp_path / "a.sgf", tmp_path / "again", "--json", "-")
    data = json.loads(done.stdout)
    (player,) = data["players"]
    assert (player["games"], player["estimate"]["moves"], player["stated_ranks"]) == (1, 15, ["9k"])
    assert (data["games"], data["done"]) == (1, 1)


def test_what_records_state_cannot_change_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, **{"a": game(f"PB[\x1b[31mAnn]PW[{'x' * 300}]BR[\x1b]0;1d]".replace("]0;", "\\]0;"))})
    done = run(tmp_path)
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout and "Ann" in done.stdout
    assert 20 < done.stdout.count("x") < 60  # folded, and cut


@pytest.mark.parametrize("name", ["games.sgfs", "GAMES.SGFS"])
def test_collections_in_a_folder_are_read_line_by_line(tmp_path: Path, name: str) -> None:
    others = [game("PB[Ann]PW[Bob]"), "(;SZ[9];B[ee", game("PB[Ann]PW[Cid]")]
    (tmp_path / name).write_text("\n".join(others) + "\n")
    (tmp_path / "last.txt").write_text("no game")
    write(tmp_path, single=game("PB[Ann]PW[Dan]"))
    done = run(tmp_path, "--json", "-")
    assert {player["player"]: player["games"] for player in json.loads(done.stdout)["players"]} == {
        "Ann": 3,
        "Bob": 1,
        "Cid": 1,
        "Dan": 1,
    }
    assert done.stderr.startswith(f"Error: {tmp_path / name}, line 2")
    assert done.stderr.count("\n") == 1


def test_a_file_of_lines_without_games_gives_few_errors(tmp_path: Path) -> None:
    (tmp_path / "a.sgfs").write_text(game("PB[Ann]PW[Bob]").replace(";", "\n;"))
    (tmp_path / "b.sgfs").write_text("\n".join([game("PB[Ann]PW[Bob]"), *["no game"] * 300]))
    done = run(tmp_path)
    assert f"{tmp_path / 'a.sgfs'}: expected one game per line; if a game has several lines, rename" in done.stderr
    assert f"{tmp_path / 'b.sgfs'}: 290 more games cannot be read" in done.stderr
    assert done.stderr.count("\n") == 12
    assert "Ann" in done.stdout


def test_ctrl_c_shows_what_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = 0

    def add(self: RankEstimator, record: GameRecord, colours: list[int]) -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            monkeypatch.setattr(interrupts, "_noted", True)
        true_add(self, record, colours)

    true_add = RankEstimator.add
    monkeypatch.setattr(RankEstimator, "add", add)
    (tmp_path / "bad.sgf").write_text("no game")
    done = run("--json", "-", tmp_path, LADDER)
    assert done.exit_code == 130  # also with an error
    assert done.stderr.splitlines()[-1] == "stopped after 3 of 10 games"
    data = json.loads(done.stdout)
    assert (data["games"], data["done"]) == (10, 3)
    assert {player["player"]: player["games"] for player in data["players"]} == {"Black 20k": 3, "White 20k": 3}
