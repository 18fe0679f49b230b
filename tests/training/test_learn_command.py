"""`gtp_engine learn` from files to a network that plays."""

import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import miniature
import numpy as np
import pytest
import torch
from click.testing import CliRunner
from making import Kept, record_of
from random_networks import random_model

from gtp_engine.clients.cli import main
from gtp_engine.clients.cli.learn import LearnOptions
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.library import load_network
from gtp_engine.nets.model import Model
from gtp_engine.training import progress, record_run
from gtp_engine.training import run as learning_run
from gtp_engine.training.data.samples import GameSet
from gtp_engine.training.data.sgf_dataset import find_source_files, read_sgf_dataset
from gtp_engine.training.data.shards import read_notes, shard_files, write_shard
from gtp_engine.training.new_run import begin_records, settings_from_options
from gtp_engine.training.progress import Limit, Observer, ProcessLostError, Stopped
from gtp_engine.training.record_run import RecordRun
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.run_settings import RecordSettings
from gtp_engine.training.selfplay_run import SelfPlayRun

SMALL = ["--config", "b1c8", "--batch-size", "32", "--least-moves", "5", "--warm-up", "100", "--threads", "1"]
SMALL += ["--precision", "float32"]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 20 games in files, 20 in an archive (one damaged) and 23 in lines (a duplicate, an illegal one)."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "inner").mkdir()
    for seed in range(20):
        (folder / "inner" / f"{seed}.sgf").write_text(record_of(seed))
    with zipfile.ZipFile(folder / "more.zip", "w") as archive:
        for seed in range(20, 39):
            archive.writestr(f"{seed}.sgf", record_of(seed))
        archive.writestr("damaged.sgf", record_of(39)[:-20])
        archive.writestr("readme.txt", "nothing")
    illegal = record_of(60).replace(";B[", ";B[aa];W[aa];B[", 1)
    (folder / "lines.sgfs").write_text(
        "\n".join([*map(record_of, range(40, 60)), record_of(3), illegal, record_of(61, 7)]) + "\n"
    )
    return folder


def run(*arguments: str, status: int = 0) -> str:
    result = CliRunner().invoke(main, ["learn", *arguments])
    assert result.exit_code == status, result.output
    return result.output


def read(source: Path, shards: Path, least_moves: int = 1, observer: Observer | None = None) -> GameSet:
    records = RecordSettings(games=[str(source)], least_moves=least_moves)
    return read_sgf_dataset(records, shards, observer or Kept(), Limit())


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ProcessLostError("Connection reset\nby peer"), "Error: Connection reset by peer; nothing saved is lost: "),
        (torch.OutOfMemoryError("no memory\nfor 3 GB"), "Error: no memory for 3 GB; nothing saved is lost: "),
        (RuntimeError("size mismatch"), "this is a bug, please report it"),
    ],
)
def test_lost_processes_and_memory_are_one_line_and_bugs_are_bugs(
    error: Exception, shown: str, games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_run.RecordRun, "go", Mock(side_effect=error))
    done = CliRunner().invoke(main, ["learn", str(games), *SMALL, "--out", str(tmp_path / "run")])
    assert done.exit_code == 1 and shown in done.stderr
    assert ("Traceback" in done.stderr) == (type(error) is RuntimeError)
    assert type(error) is RuntimeError or done.stderr.count("\n") == 1


def test_from_records_to_a_network_that_plays(games: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = [str(games), "--out", str(out), *SMALL, "--board-size", "5", "--samples", "960", "--validate", "480"]
    text = run(*arguments)
    assert "63 records read" in text and "board size: 1" in text and "damaged: 2" in text
    assert "the same game again: 1" in text
    assert "damaged.sgf" in text and "lines.sgfs, line 22, game 1: move 2 is illegal" in text
    assert "top 1" in text
    log = RunFolder(out).log()
    assert log[-1]["samples"] == 960
    assert {"policy", "value", "score", "opponent", "top1", "top5", "winner"} <= log[-1]["validation"].keys()
    assert f"done: {out / 'networks' / 'b1c8.bin.gz'}" in text
    network = Model.from_stored(load_network(out / "networks" / "b1c8.bin.gz"))
    batch = torch.zeros(1, 22, 9, 9)
    batch[:, 0] = 1
    with torch.inference_mode():
        assert torch.isfinite(network(batch, torch.zeros(1, 19)).raw.policy).all()
    _, checkpoint = RunFolder(out).load()
    assert checkpoint is not None and checkpoint.training is not None and checkpoint.training["samples"] == 960
    assert "done" in run(*arguments)  # nothing is left to do
    assert RunFolder(out).log() == log
    RunFolder(out).log_file.write_text("")  # it may have fewer samples than the state, which counts
    refused = run("--out", str(out), "--samples", "96", status=1)
    assert refused == f"Error: {out}: 960 samples are learned already; choose more --samples than that\n"
    assert "done" in run("--out", str(out))  # the settings are as they were


def test_validations_do_not_depend_on_the_lines_of_the_log(games: Path, tmp_path: Path) -> None:
    # 25,600 samples lie between two other lines.
    run(str(games), "--out", str(tmp_path), *SMALL, "--board-size", "5", "--samples", "960", "--validate", "300")
    measured = [line["samples"] for line in RunFolder(tmp_path).log() if "validation" in line]
    assert measured[0] == 0 and 300 <= measured[1] < 300 + 256 and measured[-1] == 960
    assert len(measured) == 5  # at the start, and after 300, 600, 900 and all


def test_means_of_losses_are_over_whole_intervals(games: Path, tmp_path: Path) -> None:
    """The last one takes what is left over, and measurements in between have none."""
    folder = RunFolder(tmp_path / "run")
    new = settings_from_options({"games": [str(games)], "network": "b1c8", "batch_size": 32, "samples": 1056})
    folder.create(replace(new, records=replace(new.records, board_sizes=["5"], least_moves=5, report=320)))
    assert RecordRun(folder, Kept()).go()
    assert not folder.log()[0]["losses"]  # measured at the start
    assert [line["samples"] for line in folder.log() if line["losses"]] == [320, 640, 1056]  # and not 960 as well


def test_paths_are_kept_as_absolute_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = LearnOptions(games=(Path("a.zip"), tmp_path / "b"), labels=Path("labels")).given()
    assert given == {"games": [str(tmp_path / "a.zip"), str(tmp_path / "b")], "labels": str(tmp_path / "labels")}


def test_a_piece_ends_with_a_measurement_and_a_line_of_results(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = str(tmp_path / "run")
    arguments = [str(games), "--out", out, *SMALL, "--board-size", "5", "--samples", "96000", "--minutes", "1"]
    monkeypatch.setattr("gtp_engine.clients.cli.learn.Limit", lambda minutes: Steps(5))
    for piece in range(2):
        text = run(*arguments)
        results, end = text.splitlines()[-2:]
        assert re.match(r"[\d,]+ of 96,000 .* samples learned in .*: on held-back games first choice right ", results)
        assert end == "time limit reached; run the same command to resume"
        measured = [line["samples"] for line in RunFolder(Path(out)).log() if "validation" in line]
        assert len(measured) == piece + 2 and measured[0] == 0
    report = tmp_path / "report.html"
    assert run("--out", out, "--report", str(report)).splitlines() == [f"wrote {report}; open it in a browser"]
    assert results in report.read_text()
    for option, value in (("--minutes", "0"), ("--learning-rate", "0")):
        assert f"'{option}': invalid number '0': expected a number above 0" in run(option, value, status=2)
    assert "--compare needs --report" in run("--out", out, "--compare", out, status=2)


def test_nothing_to_learn_is_an_error(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = ["--out", str(tmp_path / "run"), *SMALL]
    text = run(str(games), "--rank", "1p", *out, status=1)
    assert "no games to learn from: 63 records read (rank: 62, damaged: 1)" in text.replace("\n", " ")
    file = tmp_path / "games.txt"
    file.touch()
    assert "expected a folder, or a file that ends in" in run(str(file), *out, status=1)
    monkeypatch.setattr(record_run, "is_held", lambda numbers: np.ones(len(numbers), bool))
    text = run(str(games), "--board-size", "7", *out, status=1)
    assert "nothing to learn: 1 game read, all held back for validation; add more games" in text


def test_a_name_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    settings = settings_from_options(GIVEN | {"games": [os.fsdecode(b"games-\xff.zip")]})
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(ValueError, match=r"^games = .*a name that is not UTF-8 cannot be kept in the settings"):
        folder.create(settings)
    assert not folder.exists and not list(folder.path.iterdir())


def test_learning_can_start_from_another_network(games: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    small = [*SMALL[2:], "--board-size", "5"]
    run(str(games), "--out", str(first), "--config", "b1c8", *small, "--samples", "960")
    network = first / "networks" / "b1c8.bin.gz"
    again = [str(games), "--from", str(network), "--out", str(second), *small]
    run(*again, "--samples", "32", "--learning-rate", "1e-9")
    written = (network, second / "networks" / "b1c8.bin.gz")
    before, after = (load_network(path).values["trunk.conv.weight"] for path in written)
    assert np.allclose(before, after, atol=1e-6)
    assert "choose --from or --config, not both" in run(*again, "--config", "b1c8", status=2)


def test_a_network_that_cannot_be_trained_is_reported_before_games_are_read(tmp_path: Path) -> None:
    people = next(model for seed in range(9) if (model := random_model(15, seed)).config.metadata_version)
    write_katago_file(people.stored(), tmp_path / "people.bin.gz")
    (tmp_path / "damaged.bin.gz").write_bytes(b"no network")
    for name, message in (("people", "it imitates humans"), ("damaged", "damaged.bin.gz")):
        start = str(tmp_path / f"{name}.bin.gz")
        assert message in run(str(tmp_path), "--from", start, "--out", str(tmp_path / "run"), *SMALL[2:], status=1)
        assert not (tmp_path / "run").exists(), "the folder is free for another network"


GIVEN = {
    "network": "b1c8",
    "least_moves": 5,
    "board_sizes": ["5x5"],
    "batch_size": 32,
    "warm_up": 100,
    "samples": 640,
    "precision": "float32",
    "threads": 1,
    "device": "cpu",
    "report": 160,
    "validate": 320,
}


class Steps(Limit):
    """A limit that is over after a number of steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.left = steps

    def is_over(self) -> bool:
        self.left -= 1
        return self.left < 0


def begin(path: Path, games: Path, **others: object) -> RunFolder:
    """Makes or resumes a run from records."""
    folder, given = RunFolder(path), GIVEN | {"games": [str(games)]} | others
    begin_records(folder, settings_from_options(given), given)
    return folder


def new_run(path: Path, games: Path, limit: Limit | None = None) -> RecordRun:
    return RecordRun(begin(path, games), Kept(), limit=limit)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    letter = tmp_path / "letter.tmp.txt"
    letter.touch()
    message = "neither a run's folder nor empty; choose another folder"
    with pytest.raises(ValueError, match=message):
        begin(tmp_path, Path("games.zip"))
    with pytest.raises(ValueError, match=message), RunFolder(tmp_path).locked():
        pass
    assert [path.name for path in tmp_path.iterdir()] == [letter.name]


def test_a_run_belongs_to_one_command(games: Path, tmp_path: Path) -> None:
    begin(tmp_path / "records", games)
    RunFolder(tmp_path / "selfplay").create(miniature.settings())
    result = CliRunner().invoke(main, ["train", str(tmp_path / "records")])
    assert result.exit_code == 1 and "a run of `learn`; resume it with that command" in result.output
    text = run(str(games), "--out", str(tmp_path / "selfplay"), status=1)
    assert "a run of `train`; resume it with that command" in text
    assert RunFolder(tmp_path / "selfplay").settings() == miniature.settings()


def test_a_run_that_failed_before_it_learned_can_be_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = begin(tmp_path, Path("games.zip"))
    folder.games.mkdir()
    begin(tmp_path, Path("games.zip"))
    assert not caplog.messages and folder.games.exists()
    other = begin(tmp_path, Path("others.zip"), seed=5).settings()
    assert caplog.messages == [f"{folder.settings_file}: replaced by the options, as nothing was learned before"]
    assert (other.records.games, other.records.seed) == (["others.zip"], 5)
    assert not folder.games.exists()
    folder.state_file.touch()
    begin(tmp_path, Path("others.zip"), seed=5, validate=1000)
    assert folder.settings().records.validate == 1000
    with pytest.raises(ValueError, match="contains a run with seed = 5, not 6"):
        begin(tmp_path, Path("others.zip"), seed=6)


def test_games_that_a_run_no_longer_has_are_forgotten(games: Path, tmp_path: Path) -> None:
    folder, others = begin(tmp_path / "run", games), RecordSettings(games=[str(games)], least_moves=1)
    folder.make_ready("learn")
    write_shard(read_sgf_dataset(others, tmp_path / "other", Kept(), Limit()), folder.games / "00099.shard", {})
    assert RecordRun(folder, Kept()).go()
    assert shard_files(folder.games) and not (folder.games / "00099.shard").exists()
    run("--out", str(folder.path), "--samples", "960")


def test_settings_edited_by_hand_hold_and_conflict_with_options(games: Path, tmp_path: Path) -> None:
    folder = begin(tmp_path / "run", games)
    assert RecordRun(folder, Kept()).go()
    text = folder.settings_file.read_text()
    folder.settings_file.write_text(text.replace("learning_rate = 0.002", "learning_rate = 0.001"))
    command = ["--out", str(folder.path), "--samples", "960"]
    run(*command)  # prolongs the run; what the options do not name is read from the file
    settings, lines = folder.settings(), folder.log()
    assert (settings.learn.learning_rate, settings.learn.samples, lines[-1]["samples"]) == (0.001, 960, 960)
    (line,) = (line for line in lines if line["samples"] == 800)
    assert line["learning_rate"] == pytest.approx(0.001 * (0.01 + 0.99 * (1 - 800 / 960) / 0.5))
    text = run(*command, "--learning-rate", "0.002", status=1)
    assert "contains a run with learning_rate = 0.001, not 0.002: leave the option out" in text
    folder.settings_file.write_text(folder.settings_file.read_text().replace("least_moves = 5", "least_moves = 6"))
    assert "least_moves differ from those of the games that the run has" in run(*command, status=1)


def log_of(folder: Path) -> list[dict[str, object]]:
    entries = RunFolder(folder).log()
    return [{key: entry[key] for key in entry if key not in ("time", "seconds", "rate")} for entry in entries]


def test_a_run_in_pieces_equals_one_in_one(games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert new_run(tmp_path / "whole", games).go()
    pieces = tmp_path / "pieces"
    assert not new_run(pieces, games, Steps(7)).go()
    assert RunFolder(pieces).load()[1].training["samples"] == 7 * 32  # type: ignore[index, union-attr]
    killed = new_run(pieces, games, Steps(6))  # learns and reports, and is killed before it saves
    monkeypatch.setattr(killed, "save", lambda: None)
    monkeypatch.setattr(killed, "_measure_piece", lambda: None)
    assert not killed.go()
    assert log_of(pieces)[-1]["samples"] == 320
    with open(pieces / "log.jsonl", "a") as log:
        log.write('{"samples": 4')
    assert new_run(pieces, games).go()
    whole, measured = log_of(tmp_path / "whole"), log_of(pieces)
    assert [line for line in measured if line in whole] == whole
    between = [line for line in measured if line not in whole]  # a measurement at the end of the first piece
    assert [(line["samples"], "validation" in line) for line in between] == [(7 * 32, True)]
    one, other = (RunFolder(folder).network("b1c8") for folder in (tmp_path / "whole", pieces))
    assert one.read_bytes() == other.read_bytes()


def test_a_network_that_takes_long_to_write_is_written_rarely(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning_run, "SAVE_SECONDS", 0.0)
    write, save = Mock(wraps=write_katago_file), Mock()
    monkeypatch.setattr(record_run, "write_katago_file", write)
    for name, interval, times in (("often", 0, 21), ("rarely", 10**9, 2)):
        monkeypatch.setattr(record_run, "_LEAST_INTERVAL", interval)
        run = new_run(tmp_path / name, games)
        monkeypatch.setattr(run.folder, "save", save)
        assert run.go()
        assert save.call_count == 21, "after each of 20 steps, and at the end"
        assert write.call_count == times
        write.reset_mock()
        save.reset_mock()
    one, other = (RunFolder(tmp_path / name).network("b1c8") for name in ("often", "rarely"))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.usefixtures("one_process")
def test_both_kinds_of_runs_log_the_same_fields_and_are_drawn_together(games: Path, tmp_path: Path) -> None:
    records = begin(tmp_path / "records", games)
    assert RecordRun(records, Kept()).go()
    selfplay = RunFolder(tmp_path / "selfplay")
    selfplay.create(miniature.settings(cycles="1", games="12", random_games="0", samples="640"))
    with patch.object(Kept, "begin") as begun:
        assert SelfPlayRun(selfplay, Kept()).go()
    assert begun.call_args.args[0] == "b1c16, 1 cycle of 12 games: starting"
    common = ["samples", "time", "seconds", "rate", "learning_rate", "losses"]
    (cycle,) = selfplay.log()
    for line in records.log():
        assert list(line)[:6] == common and line.keys() <= {*common, "validation"}
    assert list(cycle)[:7] == ["cycle", *common]
    assert cycle["samples"] == records.log()[-1]["samples"] == 640
    report = tmp_path / "both.html"
    command = ["train", str(records.path), "--report", str(report), "--compare", str(selfplay.path)]
    assert CliRunner().invoke(main, command).exit_code == 0
    text = report.read_text()
    assert f"<b>{records.path}</b>: 640 of 640 " in text and f"<b>{selfplay.path}</b>: 1 cycle, " in text
    assert text.count("<figcaption>Policy loss</figcaption>") == 2, "over time and samples, which both have"
    boards = text.count("<title>5x5 Go board, ")  # three of the record's game; the other can have fewer than 3 moves
    assert 3 < boards <= 2 * 3 and "A game of the records that is held back: 16 moves" in text


def test_a_run_may_be_stopped_while_records_are_read(games: Path, tmp_path: Path) -> None:
    stopped = Limit()
    stopped.stopped = True
    assert not new_run(tmp_path / "run", games, stopped).go()
    assert not RunFolder(tmp_path / "run").log()
    assert new_run(tmp_path / "run", games).go()


def test_the_minutes_begin_when_the_records_are_read(
    games: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = Limit(60)

    def read_slowly(*arguments: Any, **options: Any) -> Any:
        found = read_sgf_dataset(*arguments, **options)
        hour._end = 0.0  # the time is up
        return found

    monkeypatch.setattr(record_run, "read_sgf_dataset", read_slowly)
    assert new_run(tmp_path / "run", games, hour).go()


def test_some_time_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    minute, endless = Limit(1), Limit()
    with minute.not_counted(), endless.not_counted():
        now = 100.0
    now = 159.0
    assert not minute.is_over()
    now = 161.0
    assert minute.is_over() and not endless.is_over()


def test_a_damaged_shard_is_made_again(games: Path, tmp_path: Path) -> None:
    folder = begin(tmp_path, games)
    assert not RecordRun(folder, Kept(), limit=Steps(0)).go()  # reads, and learns nothing
    shards = sorted((tmp_path / "games").iterdir())
    assert len(shards) == len(find_source_files([games], print)) == 2
    shards[0].write_bytes(shards[0].read_bytes()[:-5])
    observer = Kept()
    found = read_sgf_dataset(folder.settings().records, tmp_path / "games", observer, Limit())
    assert found.game_count == 59
    assert os.fspath(shards[0]) in observer.errors[0] and "made again" in observer.errors[0]
    assert sum(read_notes(shard)["read"] for shard in shards) == 63 and observer.messages[0] == "63 records read"
    other = read(games, tmp_path / "games", 5)
    assert other.game_count == 60, "with other filters the records are read again"


def test_files_that_have_changed_are_read_again(tmp_path: Path) -> None:
    record, game = tmp_path / "games" / "b.sgf", "(;SZ[9]RE[B+3];B[{}];W[bb])"
    record.parent.mkdir()
    for path, content, count in (
        (record, game.format("aa"), 1),
        (record, game.format("aa") + game.format("cc"), 2),
        (record.with_name("a.sgf"), game.format("dd"), 3),
    ):
        path.write_text(content)
        assert read(tmp_path / "games", tmp_path / "shards").game_count == count


def test_reading_stops_in_the_middle_of_a_file(tmp_path: Path) -> None:
    many = tmp_path / "many.sgfs"
    many.write_text("".join(f"{record_of(seed)}\n" for seed in range(250)))
    seen: list[str] = []
    limit = Limit()

    class Stopping(Observer):
        def progress(self, phase: str, done: int, total: int, facts: str = "") -> None:
            seen.append(facts)
            limit.stopped = facts == "100 games"

    with pytest.raises(Stopped):
        read_sgf_dataset(RecordSettings(games=[str(many)], least_moves=1), tmp_path / "shards", Stopping(), limit)
    assert seen == ["0 games", "0 games", "100 games"]
    assert not list((tmp_path / "shards").iterdir())


def test_an_unreadable_file_does_not_affect_others(tmp_path: Path) -> None:
    archive = tmp_path / "games.zip"
    with zipfile.ZipFile(archive, "w") as content:
        for seed in range(3):
            content.writestr(f"{seed}.sgf", record_of(seed))
    data = archive.read_bytes()
    place = data.index(b"(;", data.index(b"1.sgf"))
    archive.write_bytes(data[:place] + b"!" + data[place + 1 :])
    observer = Kept()
    found = read(archive, tmp_path / "shards", 5, observer)
    assert found.game_count == 2 and observer.messages == ["3 records read", "skipped: damaged: 1"]
    (error,) = observer.errors
    assert "games.zip:1.sgf: " in error and "CRC" in error
