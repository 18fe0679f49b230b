"""`gtp_engine learn` from files to a network that plays."""

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from making import random_game
from random_networks import random_model

from gtp_engine.cli import main
from gtp_engine.network.checkpoint import read_checkpoint
from gtp_engine.network.katago_file import write_katago_file
from gtp_engine.network.library import load_network
from gtp_engine.sgf import GameRecord
from gtp_engine.training import supervised
from gtp_engine.training.gather import find_portions
from gtp_engine.training.learner import LearnerSettings, LossNotFinite
from gtp_engine.training.records import Filters
from gtp_engine.training.shards import read_notes
from gtp_engine.training.supervised import Limit, Report, Run, SupervisedSettings, is_held, learn

SMALL = ["--config", "b1c8", "--batch-size", "32", "--least-moves", "5", "--warm-up", "100", "--threads", "1"]
SMALL += ["--precision", "float32"]


def sgf(seed: int, size: int = 5) -> str:
    game = random_game(seed, size, moves=16)
    record = GameRecord.from_game(game, result="B+3" if seed % 2 else "W+R")
    return record.to_sgf().replace("\n", "")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 20 games in files, 20 in an archive (one of them damaged), 21 in lines (one there already)."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "inner").mkdir()
    for seed in range(20):
        (folder / "inner" / f"{seed}.sgf").write_text(sgf(seed))
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        for seed in range(20, 39):
            archive.writestr(f"{seed}.sgf", sgf(seed))
        archive.writestr("damaged.sgf", sgf(39)[:-20])
        archive.writestr("readme.txt", "nothing")
    illegal = sgf(60).replace(";B[", ";B[aa];W[aa];B[", 1)
    (folder / "lines.sgfs").write_text("\n".join([*map(sgf, range(40, 60)), sgf(3), illegal, sgf(61, 7)]) + "\n")
    return folder


def run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["learn", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_what_torch_says_is_one_line(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("Connection reset\nby peer")

    monkeypatch.setattr(supervised, "learn", fail)
    done = CliRunner().invoke(main, ["learn", str(games), *SMALL, "--out", str(tmp_path / "run")])
    assert (done.exit_code, done.stderr) == (1, "Error: Connection reset by peer\n")


def test_from_records_to_a_network_that_plays(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = [str(games), "--out", str(out), *SMALL, "--board-size", "5", "--samples", "960", "--validate", "480"]
    text = run(*arguments)
    assert "63 records read" in text and "board size: 1" in text and "damaged: 2" in text
    assert "the same game again: 1" in text
    assert "damaged.sgf" in text and "lines.sgfs, line 22, game 1: move 2 is illegal" in text
    assert "top 1" in text
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert log[-1]["samples"] == 960
    assert {"policy", "value", "score", "opponent", "top1", "top5", "winner"} <= log[-1]["validation"].keys()
    network = load_network(out / "b1c8.bin.gz")
    batch = torch.zeros(1, 22, 9, 9)
    batch[:, 0] = 1
    with torch.inference_mode():
        assert torch.isfinite(network(batch, torch.zeros(1, 19)).policy).all()
    assert read_checkpoint(out / "checkpoint.pt").card["samples"] == 960
    assert "done" in run(*arguments)  # nothing is left to do
    assert [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()] == log


def test_no_game_is_an_error(games: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["learn", str(games), "--out", str(tmp_path / "run"), "--rank", "1p", *SMALL])
    assert result.exit_code == 1
    assert "no game to learn from: 63 read (rank: 62, damaged: 1)" in result.output.replace("\n", " ")


def test_what_is_no_games_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "games.txt"
    file.touch()
    result = CliRunner().invoke(main, ["learn", str(file), "--out", str(tmp_path / "run"), *SMALL])
    assert result.exit_code == 1 and "expected a folder, or a file that ends in" in result.output


def test_a_wrong_network_is_told_at_once(games: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["learn", str(games), "--out", str(tmp_path / "run"), "--config", "large"])
    assert result.exit_code == 1 and "no network is called 'large'" in result.output
    assert not (tmp_path / "run").exists()


def test_another_network_can_be_begun_with(games: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    small = [*SMALL[2:], "--board-size", "5"]
    run(str(games), "--out", str(first), "--config", "b1c8", *small, "--samples", "960")
    network = first / "b1c8.bin.gz"
    again = [str(games), "--from", str(network), "--out", str(second), *small]
    run(*again, "--samples", "32", "--learning-rate", "1e-9")
    before, after = (load_network(path).trunk.conv.weight for path in (network, second / "b1c8.bin.gz"))
    assert torch.allclose(before, after, atol=1e-6)
    mistaken = CliRunner().invoke(main, ["learn", *again, "--config", "b1c8"])
    assert mistaken.exit_code == 2 and "leave --config out" in mistaken.output


def test_a_network_that_cannot_be_learned_is_told_before_games_are_read(tmp_path: Path) -> None:
    people = next(model for seed in range(9) if (model := random_model(15, seed)).config.metadata_version)
    write_katago_file(people, tmp_path / "people.bin.gz")
    (tmp_path / "damaged.bin.gz").write_bytes(b"no network")
    for name, message in (("people", "it imitates people"), ("damaged", "damaged.bin.gz")):
        start = str(tmp_path / f"{name}.bin.gz")
        arguments = [str(tmp_path), "--from", start, "--out", str(tmp_path / "run"), *SMALL[2:]]
        result = CliRunner().invoke(main, ["learn", *arguments])
        assert result.exit_code == 1 and message in result.output
        assert not (tmp_path / "run" / supervised.SETTINGS).exists(), "another network can be begun with"


def test_another_run_in_the_folder_is_an_error(games: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    run(str(games), "--out", out, *SMALL, "--board-size", "5", "--samples", "64")
    arguments = ["learn", str(games), "--out", out, *SMALL, "--board-size", "5", "--samples", "64", "--seed", "2"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1 and "holds a run with seed = 1, not 2" in result.output


class Quiet:
    """An observer that keeps the reports."""

    def __init__(self) -> None:
        self.reports: list[Report] = []

    def damaged(self, message: str) -> None: ...
    def gathering(self, done: int, portions: int, games: int) -> None: ...
    def gathered(self, found: object, learned: int, validated: int) -> None: ...
    def step(self, samples: int, total: int) -> None: ...
    def report(self, report: Report) -> None:
        self.reports.append(report)


SETTINGS = SupervisedSettings(
    sources=(),
    config="b1c8",
    filters=Filters(moves=5, board_sizes=((5, 5),)),
    learner=LearnerSettings(batch_size=32, warm_up=100, total=640, precision="float32"),
    report=160,
    validate=320,
)


class Steps(Limit):
    """A limit after so many steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def is_over(self) -> bool:
        self.left -= 1
        return self.left < 0


def new_run(folder: Path, games: Path) -> Run:
    found = supervised.gather(
        [games], folder / "games", SETTINGS.filters, on_error=lambda text: None, on_progress=lambda *now: True
    )
    assert found is not None
    held = is_held(found.games.games["number"])
    folder.mkdir(exist_ok=True)
    learned, validated = found.games.choose(~held), found.games.choose(held)
    return Run(SETTINGS, folder, learned, validated, torch.device("cpu"), 1)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter.tmp.txt"
    letter.touch()
    with pytest.raises(ValueError, match="neither a folder of learn nor empty; give another one"):
        supervised.begin_or_resume(tmp_path, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == [letter.name]


def test_what_failed_before_it_learned_binds_nobody(tmp_path: Path) -> None:
    supervised.begin_or_resume(tmp_path, SETTINGS)
    (tmp_path / "games").mkdir()
    other = replace(SETTINGS, sources=("others.zip",), seed=5)
    assert supervised.begin_or_resume(tmp_path, other) == other
    assert not (tmp_path / "games").exists()
    (tmp_path / "checkpoint.pt").touch()
    supervised.begin_or_resume(tmp_path, replace(other, validate=1000))
    with pytest.raises(ValueError, match="holds a run with seed = 5, not 6"):
        supervised.begin_or_resume(tmp_path, replace(other, seed=6))


def log_of(folder: Path) -> list[dict[str, object]]:
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{key: entry[key] for key in entry if key not in ("seconds", "rate")} for entry in entries]


def test_a_run_in_pieces_equals_one_in_one(games: Path, tmp_path: Path) -> None:
    assert new_run(tmp_path / "whole", games).go(Limit(None), 1e9, Quiet())
    pieces = tmp_path / "pieces"
    assert not new_run(pieces, games).go(Steps(7), 1e9, Quiet())
    killed = new_run(pieces, games)  # learns and reports, and is killed before it saves
    killed.save = lambda: None  # type: ignore[method-assign]
    assert not killed.go(Steps(6), 1e9, Quiet())
    with open(pieces / "log.jsonl", "a") as log:
        log.write('{"samples": 4')
    assert new_run(pieces, games).go(Limit(None), 1e9, Quiet())
    assert log_of(pieces) == log_of(tmp_path / "whole")
    one, other = (folder / "b1c8.bin.gz" for folder in (tmp_path / "whole", pieces))
    assert one.read_bytes() == other.read_bytes()


def test_a_loss_that_is_no_number_saves_nothing(games: Path, tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", games)
    run.learner.model.trunk.conv.weight.data[0, 0] = np.nan
    with pytest.raises(LossNotFinite):
        run.go(Limit(None), 1e9, Quiet())
    assert {file.name for file in (tmp_path / "run").iterdir()} <= {"games", "log.jsonl", "tensorboard"}


def test_the_time_may_be_up_while_records_are_read(games: Path, tmp_path: Path) -> None:
    settings = SupervisedSettings(**(vars(SETTINGS) | {"sources": (str(games),)}))
    assert not learn(settings, tmp_path / "run", Quiet(), limit=Limit(0))
    assert learn(settings, tmp_path / "run", Quiet())


def test_a_damaged_shard_is_made_again(games: Path, tmp_path: Path) -> None:
    new_run(tmp_path, games)
    shards = sorted((tmp_path / "games").iterdir())
    assert len(shards) == len(find_portions([games])) == 2
    shards[0].write_bytes(shards[0].read_bytes()[:-5])
    told: list[str] = []
    settings = SETTINGS.filters
    found = supervised.gather(
        [games], tmp_path / "games", settings, on_error=told.append, on_progress=lambda *now: True
    )
    assert found is not None and len(found.games) == 59
    assert os.fspath(shards[0]) in told[0] and "made again" in told[0]
    assert sum(read_notes(shard)["read"] for shard in shards) == found.read == 63


def test_a_file_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as content:
        for seed in range(3):
            content.writestr(f"{seed}.sgf", sgf(seed))
    data = archive.read_bytes()
    place = data.index(b"(;", data.index(b"1.sgf"))
    archive.write_bytes(data[:place] + b"!" + data[place + 1 :])
    told: list[str] = []
    found = supervised.gather(
        [archive], tmp_path / "shards", Filters(moves=5), on_error=told.append, on_progress=lambda *now: True
    )
    assert found is not None and len(found.games) == 2 and found.skipped == {"damaged": 1}
    assert len(told) == 1 and "games.zip:1.sgf: " in told[0] and "CRC" in told[0]
