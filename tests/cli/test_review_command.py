"""`gtp_engine review` as a process."""

import csv
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner, Result
from in_process import invoke
from sgfmill import sgf

from gtp_engine.base.errors import UserError
from gtp_engine.base.log import NOTICE, log_level
from gtp_engine.base.system import available_cpus
from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.play import _review as review_after_game
from gtp_engine.clients.cli.review import player_colour
from gtp_engine.clients.cli.review_display import follow
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, read_sgf, read_sgf_games
from gtp_engine.study.known_reports import KnownReports

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "gtp_engine", "review", "--network", "none"]
QUICK = ["--threads", "1", "--seed", "1"]
TINY = str(ROOT / "tests" / "data" / "networks" / "tiny.bin.gz")
RECORD = b"(;SZ[5]KM[1]PB[A]PW[B]C[start](;B[cc];W[bb];B[dd];W[dd];B[aa])(;B[bb]))"
# Whole games, in which White passes and Black fills the board's edge first.
GOOD = b"(;SZ[5]KM[1]PB[Ann]PW[Bob]RE[B+24];B[aa];W[];B[ba];W[];B[cc])"
OTHER = GOOD.replace(b"PB[Ann]PW[Bob]", b"PB[Carl]PW[ANN]")


def review(*arguments: str | Path, **options: Any) -> Result:
    return invoke("review", "--network", "uniform", *map(str, arguments), *QUICK, **options)


@pytest.fixture
def game(tmp_path: Path) -> Path:
    file = tmp_path / "game.sgf"
    file.write_bytes(GOOD)
    return file


@pytest.fixture
def other(tmp_path: Path) -> Path:
    file = tmp_path / "other.sgf"
    file.write_bytes(OTHER)
    return file


def test_summary_list_comments_and_curve_up_to_the_illegal_move(tmp_path: Path) -> None:
    file, out, curve = tmp_path / "game.sgf", tmp_path / "out.sgf", tmp_path / "curve.svg"
    file.write_bytes(RECORD)
    done = review(file, "--visits", "4", "--all", "--sgf", out, "--plot", curve)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == f"Error: {file}: move 4: illegal move: D2 is occupied"
    lines = done.stdout.splitlines()
    assert lines[:2] == ["A - B", "moves 1 to 3; uniform, 4 visits per position; Chinese rules, komi 1"]
    assert [line[:11].split() for line in lines[-5:-2]] == [["1", "B", "C3"], ["2", "W", "B4"], ["3", "B", "D2"]]
    assert lines[-6].startswith("move  played")
    assert done.stdout.index("points lost per move") < done.stdout.index("move  played")
    record = read_sgf(out)
    assert record.moves == read_sgf(file).moves
    assert [node.comment.split(":")[0] for node in record.main_line][1:] == [*["Black's win rate"] * 3, "", ""]
    assert record.main_line[0].comment.startswith("start\n\nReview by gtp_engine")
    assert b"<svg" in curve.read_bytes()


@pytest.mark.parametrize("minutes", ["0", "-1", "abc", "inf"])
def test_minutes_are_a_number_above_0(game: Path, minutes: str) -> None:
    done = review(game, f"--minutes={minutes}")
    assert (done.exit_code, f"invalid number '{minutes}': expected a number above 0" in done.stderr) == (2, True)


def test_a_review_has_minutes_or_visits(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = review(game, "--minutes", "1", "--visits", "4")
    assert (refused.exit_code, "choose --minutes or --visits, not both" in refused.stderr) == (2, True)
    monkeypatch.setenv("GTP_ENGINE_VISITS", "4")
    done = review(game, "--minutes", "0.00001")
    assert "reviews have at least 8 visits per position" in done.stderr
    said = "about 8 visits per position, in "  # and nothing about a second look, as there was nothing to look at
    assert said in " ".join(done.stdout.split())


def test_without_all_there_is_only_the_summary(game: Path) -> None:
    done = review(game, "--visits", "4")
    assert done.exit_code == 0
    assert "accuracy" in done.stdout and "move  played" not in done.stdout
    assert "Error" not in done.stderr


def test_a_page_of_one_game_and_of_several(game: Path, other: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = review(game, "--visits", "4", "--html", page)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"wrote {page}; open it in a browser")
    text = page.read_text()
    assert "<h1><bdi>Ann - Bob</bdi></h1>" in text and 'id="index"' not in text
    refused = review(game, "--visits", "4", "--html", page)
    assert f"{page} already exists" in refused.stderr
    done = review(game, other, "--visits", "4", "--player", "Ann", "--html", "-")
    assert done.exit_code == 0
    assert done.stdout.startswith("<!doctype html>") and done.stdout.endswith("</html>\n")
    assert [f'id="{name}"' in done.stdout for name in ("index", "game-1", "game-2", "game-3")] == [True] * 3 + [False]
    assert "only ANN&#39;s moves are judged" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text")
def test_outputs_are_utf_8_whatever_the_names_and_the_terminal(tmp_path: Path) -> None:
    game = tmp_path / os.fsdecode(b"caf\xe9.sgf")
    game.write_bytes(GOOD.replace(b"Ann", b"\xc3\x84nn"))
    files = [tmp_path / f"review.{kind}" for kind in ("html", "json", "csv")]
    options = [word for file in files for word in (f"--{file.suffix[1:]}", str(file))]
    ascii_terminal = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*COMMAND, game, "--network", "uniform", "--visits", "2", *QUICK, *options, "--sgf", "-"],
        capture_output=True,
        cwd=ROOT,
        env=ascii_terminal,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert "PB[Änn]" in done.stdout.decode()
    for file in files:
        assert "caf?.sgf" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "data", "options", "message"),
    [
        ("empty.sgf", b"", [], "empty.sgf: no game record found"),
        ("cut.sgf", RECORD[:40], [], "cut.sgf: line 1: the file ends inside a value"),
        ("none.sgf", b"(;SZ[5])", [], "none.sgf: there are no moves to review"),
        ("large.sgf", b"(;SZ[26];B[aa])", [], "cannot play on a board of 26x26"),
        ("a.sgf", RECORD, ["--sgf", "{folder}/a.sgf"], "a.sgf is one of the files to read; choose another name"),
        ("a.sgf", RECORD, ["--json", "{folder}/a.sgf", "--force"], "a.sgf is one of the files to read; choose another"),
        ("a.sgf", RECORD, ["--json", __file__], "test_review_command.py already exists; choose another name or add"),
        (
            "a.sgf",
            RECORD,
            ["--plot", "{folder}/b.png"],
            "the curves are drawn as SVG, which browsers show; the",
        ),
        ("a.sgf", RECORD, ["--plot", "{folder}/c/b.svg"], "/c/b.svg: folder {folder}/c does not exist"),
        ("a.sgf", RECORD, ["--moves", "6-"], "a.sgf: there is no move 6; the game has 5 moves"),
        ("a.sgf", RECORD, ["--player", "Carl"], "a.sgf: no player 'Carl' in this game: Black is A, White is B"),
        ("a.sgf", b"(;SZ[21];B[aa])", ["--network", TINY, "--strict"], "a.sgf: tiny plays on boards up to 19x19"),
        ("a.sgf", b"(;SZ[21];B[aa])", ["--network", TINY, "--strict", "--html", "-"], "a.sgf: tiny plays on"),
        (
            "a.sgf",
            b"(;SZ[21];B[aa])",
            ["--network", "auto", "--strict"],
            "b10c384h6nbttflrs-int8 plays on boards up to 19x19",
        ),
        ("a.sgf", RECORD, ["--network", TINY, "--profile", "rank_5k"], "Error: tiny does not imitate humans"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, name: str, data: bytes, options: list[str], message: str) -> None:
    (tmp_path / name).write_bytes(data)
    done = review(tmp_path / name, *(option.format(folder=tmp_path) for option in options))
    assert done.exit_code == 1
    assert message.format(folder=tmp_path) in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("moves", ["0", "5-3", "-4", "a-b", "1-2-3", ""])
def test_bad_ranges_of_moves(game: Path, moves: str) -> None:
    done = CliRunner().invoke(main, ["review", str(game), f"--moves={moves}"])
    assert (done.exit_code, f"invalid range of moves '{moves}'" in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
def test_interrupted_review_saves_what_is_done(tmp_path: Path) -> None:
    file, damaged, out = tmp_path / "game.sgf", tmp_path / "damaged.sgf", tmp_path / "out.sgf"
    file.write_bytes(RECORD)
    damaged.write_text("no game")
    files = (damaged, file)  # an error does not hide that the review was stopped
    command = [*COMMAND, *files, "--network", "uniform", "--seconds", "2", "--sgf", out, "--all", "-v", *QUICK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None and process.stderr is not None
        first = next(line for line in process.stderr if line.startswith("gtp_engine: 1 B C3"))
        time.sleep(0.5)  # Into the next search.
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert (first.split()[1:4], process.returncode) == (["1", "B", "C3"], 130)
    assert "move 1;" in rest and "\nThe review was stopped\n" in rest
    assert "\nThe review was stopped\n" in read_sgf(out).root.comment
    assert [bool(node.comment) for node in read_sgf(out).main_line] == [True, True, False, False, False, False]


def test_reviews_of_several_games_are_saved_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games, out = tmp_path / "games.sgf", tmp_path / "out.sgf"
    games.write_bytes(GOOD + OTHER + GOOD)
    saved = []

    def follow_next(steps: Any, name: str, **options: Any) -> Any:
        saved.append(len(list(read_sgf_games(out))) if out.exists() else 0)
        return follow(steps, name, **options)

    monkeypatch.setattr("gtp_engine.clients.cli.review._SAVED_EVERY", 0.0)
    monkeypatch.setattr("gtp_engine.clients.cli.review_display.follow", follow_next)
    assert review(games, "--visits", "4", "--sgf", out).exit_code == 0
    assert saved == [0, 1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of a shell")
def test_files_are_saved_although_nobody_reads_the_summary(tmp_path: Path, game: Path) -> None:
    out, table = tmp_path / "out.sgf", tmp_path / "out.csv"
    command = [*COMMAND, game, "--network", "uniform", "--visits", "4", "--all", "--sgf", out, "--csv", table, *QUICK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
    assert "Traceback" not in errors
    assert "SBKV" in out.read_text()
    assert len(table.read_text().splitlines()) == 1 + 5


def test_games_on_boards_too_large_for_the_network_do_not_end_a_strict_review(tmp_path: Path) -> None:
    games = tmp_path / "games.sgf"
    games.write_bytes(OTHER + b"(;SZ[21];B[aa])" + OTHER)
    done = review(games, "--network", TINY, "--visits", "2", "--strict", "--json", "-")
    assert done.exit_code == 1
    assert f"Error: {games}, game 2: tiny plays on boards up to 19x19" in done.stderr
    assert [game["black"]["name"] for game in json.loads(done.stdout)["games"]] == ["Carl", "Carl"]


def test_range_and_player(tmp_path: Path, game: Path) -> None:
    table = tmp_path / "table.csv"
    done = review(game, "--visits", "4", "--moves", "2-4", "--player", "bob", "--csv", table)
    assert "moves 2 to 4" in done.stdout
    assert [row["move"] for row in csv.DictReader(table.open())] == ["2", "4"]
    review(game, "--visits", "4", "--moves", "3", "--player", "black", "--csv", table, "--force")
    assert [row["move"] for row in csv.DictReader(table.open())] == ["3"]


def test_several_files_and_collections(tmp_path: Path, game: Path) -> None:
    others, out, table = tmp_path / "others.sgf", tmp_path / "out.sgf", tmp_path / "out.json"
    others.write_bytes(OTHER + b"\n" + RECORD)
    bad = tmp_path / "bad.sgf"
    bad.write_bytes(b"(;SZ[5])")
    done = review(game, others, bad, "--visits", "4", "--sgf", out, "--json", table)
    assert done.exit_code == 1
    assert [line for line in done.stderr.splitlines() if line.startswith("Error")] == [
        f"Error: {bad}: there are no moves to review",
        f"Error: {others}, game 2: move 4: illegal move: D2 is occupied",
    ]
    assert done.stdout.splitlines()[-2:] == [f"wrote {out}", f"wrote {table}"]
    games = json.loads(table.read_text())["games"]
    assert [(game["black"]["name"], len(game["moves"])) for game in games] == [("Ann", 5), ("Carl", 5), ("A", 3)]
    assert [record.black for record in read_sgf_games(out)] == ["Ann", "Carl", "A"]
    assert done.stdout.count("accuracy") == 3 + 1
    assert "3 games in all" in done.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_gets_all_games_once(tmp_path: Path, game: Path, other: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(pipe.read_text)
        done = review(game, other, "--visits", "2", "--json", pipe, "--moves", "1")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, f"wrote {pipe}")
    assert [game["black"]["name"] for game in json.loads(reading.result())["games"]] == ["Ann", "Carl"]


def test_one_player_in_several_games(tmp_path: Path, game: Path, other: Path) -> None:
    table = tmp_path / "out.csv"
    done = review(game, other, "--visits", "4", "--player", "ann", "--csv", table)
    assert done.exit_code == 0
    rows = [(row["black"], row["player"]) for row in csv.DictReader(table.open())]
    assert rows == [("Ann", "black")] * 3 + [("Carl", "white")] * 2
    longer = tmp_path / "longer.sgf"
    longer.write_bytes(OTHER.replace(b"PB[Carl]", b"PB[Joanna]").replace(b"PW[ANN]", b"PW[Carl]"))
    done = review(game, longer, "--visits", "4", "--player", "ann")
    assert done.exit_code == 1 and "no player 'ann' in this game: Black is Joanna, White is Carl" in done.stderr


def test_a_folder_is_reviewed_and_its_games_share_a_picture(tmp_path: Path) -> None:
    folder, curve = tmp_path / "games", tmp_path / "curve.svg"
    folder.mkdir()
    done = review(folder, "--visits", "4")
    assert (done.exit_code, "games: there are no game records (.sgf, .sgfs, .gib, " in done.stderr) == (1, True)
    (folder / "a.sgf").write_bytes(GOOD)
    (folder / "b.sgfs").write_bytes(OTHER)
    (folder / "notes.txt").write_text("no game")
    done = review(folder, "--visits", "4", "--plot", curve)
    assert (done.exit_code, done.stdout.count("accuracy")) == (0, 3)
    assert curve.read_text().count('class="heading"') == 2 and "Carl" in curve.read_text()
    done = review(folder, "--visits", "4", "--plot", curve)
    assert (done.exit_code, f"{curve} already exists" in done.stderr) == (1, True)


def test_the_picture_goes_to_standard_output(game: Path) -> None:
    done = review(game, "--visits", "4", "--plot", "-", "--moves", "1")
    assert done.exit_code == 0 and done.stdout.startswith("<svg ") and done.stdout.endswith("</svg>\n")


def test_the_page_is_in_the_language_that_is_asked_for(tmp_path: Path, game: Path) -> None:
    configuration = tmp_path / "config.toml"
    configuration.write_text('language = "ar"\n')
    configured = {**os.environ, "GTP_ENGINE_CONFIG": str(configuration)}
    done = review(game, "--visits", "4", "--html", "-", "--moves", "1", env=configured)
    assert '<html lang="ar" dir="rtl">' in done.stdout
    done = review(game, "--visits", "4", "--html", "-", "--moves", "1", "--language", "es", env=configured)
    assert '<html lang="es" dir="ltr">' in done.stdout
    refused = review(game, "--language", "latin")
    assert refused.exit_code == 2 and "'en', 'ar', 'es', 'ja', 'ko', 'zh'" in refused.stderr


def test_names_that_the_locale_lacks_do_not_end_the_review(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_bytes(GOOD.replace(b"PB[Ann]", "CA[UTF-8]PB[呉清源]".encode()))
    command = [*COMMAND, "--network", "uniform", str(file), "--visits", "4", *QUICK]
    latin = os.environ | {"PYTHONIOENCODING": "latin-1"}
    texts = [
        subprocess.run([*command, *output], capture_output=True, cwd=ROOT, timeout=300, env=latin).stdout
        for output in ([], ["--json", "-"])
    ]
    assert texts[0].startswith(b"??? - Bob")
    assert json.loads(texts[1].decode())["games"][0]["black"]["name"] == "呉清源"


def test_standard_input_and_output(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = review("-", "--visits", "4", "--json", "-", "--html", page, input=GOOD.decode())
    (game,) = json.loads(done.stdout)["games"]
    assert f"wrote {page}; open it in a browser" in done.stderr.splitlines()
    assert (game["file"], len(game["moves"])) == ("standard input", 5)
    done = review("-", "--visits", "4", "--csv", "-", input=GOOD.decode())
    assert [row["move"] for row in csv.DictReader(io.StringIO(done.stdout))] == ["1", "2", "3", "4", "5"]
    assert review("-", "--csv", "-", "--json", "-", input=GOOD.decode()).exit_code == 2


def test_two_outputs_cannot_have_one_file(game: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for other in (out, tmp_path / "folder" / ".." / "out", Path(os.path.relpath(out))):
        done = CliRunner().invoke(main, ["review", str(game), "--csv", str(out), "--json", str(other)])
        assert done.exit_code == 2 and re.search(f"only one output can go to ({other}|{out})\n", done.stderr)


def test_a_network_repeats_its_review_and_sgfmill_reads_it(tmp_path: Path, game: Path) -> None:
    out, table = tmp_path / "out.sgf", tmp_path / "out.json"
    options = ["--network", TINY, "--visits", "8", "--precision", "float32", "--json", table, "--sgf", out, "--force"]
    texts = []
    for _ in range(2):
        assert review(game, *options).exit_code == 0
        texts.append(table.read_text())
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["games"][0]["seed"] == 1
    record = sgf.Sgf_game.from_bytes(out.read_bytes())
    nodes = record.get_main_sequence()
    assert -169 < nodes[0].get("V") < 169
    values = [float(node.get_raw("SBKV")) for node in nodes]
    assert len(values) == 6 and all(0 <= value <= 100 for value in values)


def test_verbose_reports_network_precision_and_moves(game: Path) -> None:
    quiet = review(game, "--network", TINY, "--visits", "4", "--precision", "float32")
    assert "tiny" not in quiet.stderr
    verbose = review(game, "--network", TINY, "--visits", "4", "--precision", "float32", "-v")
    lines = [line for line in verbose.stderr.splitlines() if "compil" not in line]
    assert lines[0].startswith("gtp_engine: tiny: cpu, float32, 1 thread")
    assert "the review takes about" in lines[1]
    assert [line.split()[1] for line in lines[2:7]] == ["1", "2", "3", "4", "5"]
    assert all(line.startswith("gtp_engine: checked: ") for line in lines[7:])


@pytest.mark.parametrize(
    ("level", "profile", "network", "option"),
    [
        (NOTICE, "", "mine", []),
        (logging.ERROR, "", "mine", ["--quiet"]),
        (logging.INFO, "rank_5k", "auto", ["--verbose"]),
    ],
)
def test_the_review_after_a_game_reports_as_the_game_does(
    level: int, profile: str, network: str, option: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    called, known = Mock(return_value=0), KnownReports()
    monkeypatch.setattr("gtp_engine.clients.cli.review.review.main", called)
    search = Mock(network="mine", device="cpu", precision="auto", threads=available_cpus())
    with log_level(level):
        review_after_game(Path("game.sgf"), search, profile, known)
    arguments = ["--network", network, "--device", "cpu", "--precision", "auto", *option, "--", "game.sgf"]
    assert called.call_args.args == (arguments,) and called.call_args.kwargs["obj"] is known


def test_ctrl_c_ends_the_review_after_a_game_and_nothing_else(game: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.cli.review.review.invoke", Mock(side_effect=KeyboardInterrupt))
    search = Mock(network="none", device="cpu", precision="auto", threads=available_cpus())
    with pytest.raises(UserError, match=r"^the review was stopped$"):
        review_after_game(game, search, "", KnownReports())


@pytest.mark.parametrize(
    ("black", "player", "colour"),
    [
        *(("Ann", "Blackbird", WHITE), ("Ann", "black", BLACK), ("Ann", "B", BLACK), ("Ann", "bird", WHITE)),
        *(("Ann", "ANN", BLACK), ("John  Smith", "john smith ", BLACK), ("John  Smith", "John  Smith", BLACK)),
    ],
)
def test_a_colour_is_not_a_part_of_a_name_and_spaces_do_not_matter(black: str, player: str, colour: int) -> None:
    assert player_colour(GameRecord(9, 9, black=black, white="Blackbird"), player) == colour
