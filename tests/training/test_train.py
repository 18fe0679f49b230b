"""The training loop: a miniature run learns, resumes after any interruption, and reports errors."""

import errno
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import miniature
import numpy as np
import pytest
import torch
from cases import some
from in_process import invoke
from making import Kept, finished_game
from running import check_whole, children_of

from gtp_engine.arena.elo import elo_difference
from gtp_engine.arena.network_match import play_networks
from gtp_engine.base import interrupts
from gtp_engine.base.errors import UserError
from gtp_engine.base.processes import Processes
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.library import load_network
from gtp_engine.nets.model import Model
from gtp_engine.training import run as training_run
from gtp_engine.training import selfplay, selfplay_run, storage
from gtp_engine.training.data.loader import Samples, Tensors
from gtp_engine.training.data.samples import join
from gtp_engine.training.data.shards import read_shard, shard_files
from gtp_engine.training.learner import Learner
from gtp_engine.training.new_run import RunConflictError, begin_self_play
from gtp_engine.training.progress import Limit, Observer
from gtp_engine.training.run_folder import RunFolder, RunState
from gtp_engine.training.selfplay import FinishedGame
from gtp_engine.training.selfplay_run import SelfPlayRun
from gtp_engine.training.settings_toml import parse_settings
from gtp_engine.training.storage import GameWriter, shard_facts
from gtp_engine.training.workers import SelfPlayPool

LIMIT = 600  # seconds; the first start may compile the core
TRAIN = [sys.executable, "-m", "gtp_engine", "train"]


# In each of three cycles; too few to learn from.
SHORT = {"games": "12", "random_games": "24", "samples": "640", "visits": "{ 0 = 4 }"}


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    path = tmp_path / "miniature.toml"
    path.write_text(miniature.text())
    return path


def finished_run(folder: Path, **replaced: str) -> RunFolder:
    """Returns a run that was never disturbed, with a worker."""
    folder.with_suffix(".toml").write_text(miniature.text(**replaced))
    assert "done: " in train(folder, "--settings", str(folder.with_suffix(".toml")))
    return RunFolder(folder)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished_run(tmp_path_factory.mktemp("runs") / "run", **SHORT)


def train(run: Path, *options: str, status: int = 0) -> str:
    ran = invoke("train", str(run), *options)
    assert ran.exit_code == status, ran.output
    assert "Traceback" not in ran.output
    return ran.output


def new_run(tmp_path: Path, **replaced: str) -> RunFolder:
    """Returns a run of one short cycle of few samples without random games, unless other settings are given."""
    folder = RunFolder(tmp_path / "run")
    folder.create(miniature.settings(**(SHORT | {"cycles": "1", "random_games": "0"} | replaced)))
    return folder


def test_a_finished_run_is_whole(finished: RunFolder) -> None:
    check_whole(finished, miniature.settings(**SHORT))


@pytest.mark.slow
def test_a_miniature_run_ends_with_a_network_that_beats_its_start(tmp_path: Path) -> None:
    finished = finished_run(tmp_path / "run")
    check_whole(finished, miniature.settings())
    settings = {"games": 60, "visits": 8, "width": 5, "komi": 0.5, "seed": 1, "precision": "float32"}
    result = play_networks(finished.network(3), finished.network(0), **settings)
    assert result.tally.score > 0.6


def test_a_finished_run_is_done_at_once_and_keeps_its_settings(finished: RunFolder) -> None:
    before = finished.log_file.read_text()
    output = train(finished.path)
    assert '3 cycles of 12 games: all cycles are finished; raise "cycles" in settings.toml to continue' in output
    assert "done: " in output and "resum" not in output
    assert finished.log_file.read_text() == before
    assert "already has settings" in train(finished.path, "--preset", "mini", status=1)
    assert "is only for new runs" in train(finished.path, "--from", str(finished.network(1)), status=1)


def test_a_run_that_is_killed_before_it_saves_keeps_its_start(finished: RunFolder, tmp_path: Path) -> None:
    folder, start = RunFolder(tmp_path / "run"), finished.network(2)
    begin_self_play(folder, miniature.settings(), start)
    for again in (None, miniature.settings()):  # the same command, with or without its settings
        begin_self_play(folder, again)
        run = SelfPlayRun(folder, Kept())
        assert run.state.start == folder.settings().begin.start == str(start)
        weights, given = run.learner.model.stored().values, load_network(start).values
        assert all(np.array_equal(weights[name], given[name]) for name in given)
    with pytest.raises(RunConflictError):
        begin_self_play(folder, miniature.settings(cycles="4"))


def test_control_c_ends_a_run_at_once_while_the_core_is_compiled(
    settings_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers: list[Any] = []

    def compile_ahead() -> None:
        handlers.append(signal.getsignal(signal.SIGINT))
        raise UserError("enough")

    monkeypatch.setattr("gtp_engine.training.new_run.compile_ahead", compile_ahead)
    for _ in range(2):  # the run is there the second time
        assert train(tmp_path / "run", "--settings", str(settings_file), status=1) == "Error: enough\n"
    assert handlers == [interrupts._end] * 2


@pytest.mark.usefixtures("one_process")
def test_a_run_from_a_network_begins_with_it(finished: RunFolder, settings_file: Path, tmp_path: Path) -> None:
    run, start = RunFolder(tmp_path / "run"), finished.network(2)
    command = ["--settings", str(settings_file), "--from", str(start), "--minutes", "0.001"]
    for _ in range(2):  # the same command resumes
        assert "time limit reached" in train(run.path, *command)
    state, checkpoint = run.load()
    assert state.cycle == 1 and state.start == str(start) and checkpoint is not None
    first, given = (load_network(path).values for path in (run.network(0), start))
    assert all(np.array_equal(first[name], given[name]) for name in given)
    assert not shard_facts(run.shards, 0)
    assert "was started differently" in train(run.path, "--from", str(finished.network(1)), status=1)
    assert "time limit reached" in train(run.path, "--from", f"elsewhere/{start.name}", "--minutes", "0.001")


def kill_when(run: Path, options: list[str], moment: Any) -> bool:
    """Starts the run and kills it at a moment; returns whether it had ended before."""
    process = subprocess.Popen(
        [*TRAIN, str(run), *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + LIMIT
    while process.poll() is None and not moment():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    children = children_of(process.pid)
    process.kill()
    _, output = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), output
    while any(Path(f"/proc/{child}").exists() for child in children):  # the workers must not play on
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process.returncode == 0


def test_what_a_killed_program_has_left_is_removed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(miniature.settings())
    folder.make_ready("train")
    kept = folder.shards / "000002.shard"
    left = [folder.path / ".state.12.tmp.pt", folder.shards / ".000003.12.tmp.shard", folder.shards / ".000002.lock"]
    for file in (kept, *left):
        file.touch()
    folder.make_ready("train")
    assert kept.exists() and not any(file.exists() for file in left)


@pytest.mark.slow
def test_a_run_resumes_after_kills(settings_file: Path, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    shards = [folder.shards / f"{number:06d}.shard" for number in (0, 2)]
    for file in (
        folder.settings_file,
        *shards,
        folder.network(1),
        folder.records / "000007.sgf",
        folder.network(3),
    ):
        options = [] if folder.exists else ["--settings", str(settings_file)]
        assert not kill_when(folder.path, options, file.exists)
    train(folder.path)
    check_whole(folder, miniature.settings())


@pytest.mark.slow
def test_a_run_resumes_after_kills_at_random_moments(settings_file: Path, tmp_path: Path) -> None:
    choice = random.Random(1)
    kills, runs, wanted = 0, 0, some(20)
    while kills < wanted:
        folder = RunFolder(tmp_path / f"run-{runs}")
        runs += 1
        is_done = False
        while kills < wanted and not is_done:
            end = time.monotonic() + choice.uniform(1, 16)
            options = [] if folder.exists else ["--settings", str(settings_file)]
            is_done = kill_when(folder.path, options, lambda end=end: time.monotonic() > end)
            kills += not is_done
        train(folder.path, *([] if folder.exists else ["--settings", str(settings_file)]))
        check_whole(folder, miniature.settings())


@pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")
@pytest.mark.parametrize(("wish", "is_playing"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_control_c_keeps_finished_work(tmp_path: Path, wish: int, is_playing: bool) -> None:
    """The workers get the signal too, as from a terminal or torchrun, at their start or later."""
    folder, settings_file = RunFolder(tmp_path / "run"), tmp_path / "short.toml"
    settings_file.write_text(miniature.text(**SHORT | {"games": "48"}))
    command = [*TRAIN, str(folder.path), "--settings", str(settings_file)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    shard = folder.shards / "000001.shard"
    # The first child only tracks the resources that the workers share.
    while not (shard.exists() if is_playing else children_of(process.pid)[1:]):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, wish)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, output
    assert "stopped; run the same command to resume" in output and "Traceback" not in output


class EndingPool(SelfPlayPool):
    """A pool that stops the run once it is asked for games; three are finished only then."""

    limit: Limit

    def play(self, network: str, cycle: int) -> None:
        pass

    def collect(self, seconds: float) -> Iterator[FinishedGame]:
        self.limit.stopped = True
        return iter(())

    def pause(self) -> Iterator[FinishedGame]:
        raise AssertionError("it may take long")

    def stop(self) -> Iterator[FinishedGame]:
        yield from map(finished_game, range(3))


def stopping_run(
    folder: RunFolder, observer: Observer, limit: Limit, monkeypatch: pytest.MonkeyPatch, pool: type = EndingPool
) -> SelfPlayRun:
    monkeypatch.setattr(EndingPool, "limit", limit, raising=False)
    monkeypatch.setattr(selfplay_run, "SelfPlayPool", pool)
    return SelfPlayRun(folder, observer, limit=limit)


def test_games_that_were_finished_when_the_run_is_stopped_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Announced(EndingPool):
        def stop(self) -> Iterator[FinishedGame]:
            assert observer.messages[-1] == "stopping: the finished games are being collected"
            return super().stop()

    folder, limit, observer = new_run(tmp_path, shard_games="100"), Limit(), Kept()
    assert not stopping_run(folder, observer, limit, monkeypatch, Announced).go()
    assert [facts.games for facts in shard_facts(folder.shards, 1).values()] == [3]


def test_a_piece_is_measured_on_its_own_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, limit, observer = new_run(tmp_path), Limit(), Kept()
    GameWriter(folder.shards, folder.records, 1, cycle=9).add(finished_game(9))
    assert not stopping_run(folder, observer, limit, monkeypatch).go()
    assert "positions of the newest games of cycle 1: " in observer.messages[-1]


def test_what_is_learned_is_saved_before_the_workers_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take seconds, in which a second Ctrl-C may come."""

    @contextmanager
    def interrupted(pool: None) -> Iterator[Processes]:
        try:
            yield Processes()
        finally:
            raise KeyboardInterrupt

    class SoonStopped(Limit):
        asked = 0

        def check(self) -> None:
            self.asked += 1
            self.stopped = self.asked > 4
            super().check()

    monkeypatch.setattr(selfplay_run, "own_unless", interrupted)
    folder, limit, observer = new_run(tmp_path, random_games="20"), SoonStopped(), Kept()
    with pytest.raises(KeyboardInterrupt):
        stopping_run(folder, observer, limit, monkeypatch).go()
    monkeypatch.undo()
    assert SelfPlayRun(folder, Kept()).learner.samples == 4 * 64
    assert observer.messages[-1] == "stopping: the state is being saved"


@pytest.mark.usefixtures("one_process")
def test_a_full_disk_stops_the_run_and_it_resumes_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = new_run(tmp_path, games="48")
    synchronise = os.fsync

    def refuse(number: int) -> None:
        if (folder.records / "000002.sgf").exists():  # the shard is written after the records
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synchronise(number)

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left on device") as error:
        SelfPlayRun(folder, Kept()).go()
    assert str(error.value.filename).endswith("000002.shard")
    monkeypatch.setattr(os, "fsync", synchronise)
    assert SelfPlayRun(folder, Kept()).go()
    check_whole(folder, folder.settings())


@pytest.mark.usefixtures("one_process")
def test_a_damaged_shard_is_named_and_left_out_and_its_games_are_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = new_run(tmp_path, games="48")
    folder.make_ready("train")
    (folder.shards / "000001.shard").write_bytes(b"no shard")
    assert SelfPlayRun(folder, Kept()).go()
    assert capsys.readouterr().err.count("000001.shard: not a shard, or cut short") == 1
    assert folder.log()[0]["damaged_shards"] == 1
    assert sum(facts.games for facts in shard_facts(folder.shards).values()) >= 48
    assert (folder.shards / "000001.shard").read_bytes() == b"no shard"


@pytest.mark.usefixtures("one_process")
def test_matches_decide_who_plays_and_measure_elo(tmp_path: Path) -> None:
    match = "1\ngames = 6\nvisits = 4\ngate = true\ngate_games = 4\ngate_score = 1.0"  # more than 1 is impossible
    folder = new_run(tmp_path, cycles="2", every=match)
    assert SelfPlayRun(folder, Kept()).go()
    first, second = folder.log()
    assert [(line["player"], line["accepted"]) for line in (first, second)] == [("0000.bin.gz", False)] * 2
    assert (first["against"], second["against"], folder.load()[0].player) == (0, 1, 0)
    assert first["elo_low"] < first["elo"] < first["elo_high"]
    assert first["elo"] == pytest.approx(round(elo_difference((6 * first["score"] + 0.5) / 7), 1), abs=0.5)
    assert second["elo"] - first["elo"] == pytest.approx(elo_difference((6 * second["score"] + 0.5) / 7), abs=0.5)


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("by_signal", [False, True], ids=["time limit", "Ctrl-C"])
def test_a_match_stops_soon_and_earlier_losses_are_still_logged(tmp_path: Path, by_signal: bool) -> None:
    folder = new_run(tmp_path, every="1\ngames = 30\nvisits = 5000")

    class StopInMatch(Observer):
        def progress(self, phase: str, done: int, total: int, facts: str = "") -> None:
            if "match" in phase and not limit.stopped:
                signal.raise_signal(signal.SIGINT) if by_signal else stop()

    def stop() -> None:
        limit.stopped = True

    limit = Limit()
    began = time.monotonic()
    with interrupts.end_at_once():
        interrupts.note(stop)
        assert not SelfPlayRun(folder, StopInMatch(), limit=limit).go()
    assert limit.stopped
    assert time.monotonic() - began < LIMIT / 2  # the whole match would take many minutes
    text = folder.settings_file.read_text()
    folder.settings_file.write_text(text.replace("visits = 5000", "visits = 4"))
    assert SelfPlayRun(folder, Kept()).go()
    (line,) = folder.log()
    assert line["losses"]["policy"] > 0 and line["match_games"] == 30
    assert line["evaluations_per_s"] is None and line["rate"] is None  # of the first piece


@pytest.mark.usefixtures("one_process")
def test_a_cycle_is_measured_on_its_games_before_they_are_learned(tmp_path: Path) -> None:
    folder = new_run(tmp_path, cycles="2")
    assert SelfPlayRun(folder, Kept()).go()
    first, second = (line["validation"] for line in folder.log())
    assert first["policy"] == pytest.approx(math.log(26), abs=0.2)  # of random weights
    assert first["policy"] > first["target_entropy"] > 0 and 0 <= first["calibration_error"] <= 1
    assert sum(share for _, _, share in first["calibration"]) == pytest.approx(1, abs=1e-3)
    assert second != first and [line["cycle_samples"] for line in folder.log()] == [640, 640]


def made_by(folder: RunFolder) -> dict[str, bytes]:
    """Returns the files with games and networks of a run, which it makes if there are none."""
    if not folder.exists:
        folder.create(parse_settings(miniature.text(**SHORT).replace("[cycle]", "[cycle]\nrepeatable = true")))
        assert SelfPlayRun(folder, Kept()).go()
    files = (file for made in (folder.shards, folder.records, folder.networks) for file in sorted(made.iterdir()))
    return {f"{file.parent.name}/{file.name}": file.read_bytes() for file in files}


@pytest.mark.usefixtures("one_process")
def test_a_repeatable_run_makes_the_same_games_and_networks_at_any_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made_by(RunFolder(tmp_path / "first"))
    monkeypatch.setattr(selfplay, "_CALL_SECONDS", 0.003)  # other games are finished in each call
    monkeypatch.setattr(storage, "LONGEST_WAIT", 0.0)
    assert made_by(RunFolder(tmp_path / "second")) == first
    folder = RunFolder(tmp_path / "first")
    check_whole(folder, folder.settings())
    assert [line["games"] for line in folder.log()] == [12, 12, 12]


def test_the_first_step_does_not_count_into_the_speed_of_learning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(training_run.time, "monotonic", lambda: clock[0])
    step = Learner.step

    def slow_at_first(learner: Learner, batch: Tensors) -> None:
        clock[0] += 60.0 if learner.samples == 0 else 0.5
        step(learner, batch)

    monkeypatch.setattr(Learner, "step", slow_at_first)
    seen: list[str] = []
    observer = Kept()
    monkeypatch.setattr(observer, "progress", lambda phase, done, total, facts="": seen.append(facts))
    folder = new_run(tmp_path, games="12")
    run = SelfPlayRun(folder, observer)
    run._learn(Samples(join([finished_game(number).sample for number in range(8)])), 64 * 9, "learning")
    assert seen[0] == "" and set(seen[1:]) == {"128 samples/s"}


@pytest.mark.usefixtures("one_process")
def test_a_prolonged_run_lets_the_learning_rate_fall_to_its_end_but_keeps_its_network(tmp_path: Path) -> None:
    folder = new_run(tmp_path)
    assert SelfPlayRun(folder, Kept()).go()
    text = folder.settings_file.read_text()
    folder.settings_file.write_text(text.replace("cycles = 1", "cycles = 3"))
    assert SelfPlayRun(folder, Kept()).go()
    rates = [line["learning_rate"] for line in folder.log()]
    learn = miniature.settings().learn
    assert rates[-1] == pytest.approx(learn.last_rate * learn.learning_rate)
    assert rates[-1] < rates[1] < learn.learning_rate
    folder.settings_file.write_text(text.replace("b1c16", "b2c16"))
    assert "the run's network is not a b2c16" in train(folder.path, status=1)


def test_a_run_keeps_the_heads_that_it_began_with(tmp_path: Path) -> None:
    folder = new_run(tmp_path)
    settings = folder.settings()
    usual = parse_config(settings.begin.network)
    # Networks of this name had another value head when the run began.
    head = replace(usual.value, ownership=replace(usual.value.ownership, height=3, width=3))
    learner = Learner(Model(replace(usual, value=head)).initialise(), settings.learn)
    folder.save(RunState(), learner.average.eval(), learner.state())
    resumed = SelfPlayRun(folder, Kept())
    assert resumed.learner.model.config.value == head
    assert torch.equal(resumed.learner.model.value.ownership.weight, learner.model.value.ownership.weight)


@pytest.mark.usefixtures("one_process")
def test_a_run_with_kata_gos_methods_learns_on_two_board_sizes(tmp_path: Path) -> None:
    folder = new_run(tmp_path, sizes="{ 5 = 1.0, 7x6 = 1.0 }", random_games="12", cycles="2")
    text = folder.settings_file.read_text()
    for name, value in {"td_value": "0.72", "soft_policy": "8.0", "policy_surprise_data_weight": "0.5"}.items():
        text = text.replace(f"\n{name} = 0.0", f"\n{name} = {value}")
    folder.settings_file.write_text(text)
    run = SelfPlayRun(folder, Kept())
    assert run.go()
    for line in folder.log():
        assert 0 < line["losses"]["td_value"] < 4 and 0 < line["losses"]["soft_policy"] < 4
        assert line["window"] == pytest.approx(line["samples_in_all"], rel=0.1)
    games = read_shard(shard_files(folder.shards)[-1])
    assert np.count_nonzero(games.surprises) > 0.9 * len(games.samples())
    assert not np.array_equal(games.samples(0.5), games.samples())
    folder.settings_file.write_text(text.replace("cycles = 2", "cycles = 3"))  # its heads are in its state
    assert SelfPlayRun(folder, Kept()).learner.model.config.auxiliary_names == ["soft_policy", "td_value"]


def test_a_head_cannot_be_added_later_but_to_a_network_that_a_run_starts_from(tmp_path: Path) -> None:
    folder = new_run(tmp_path)
    learner = SelfPlayRun(folder, Kept()).learner
    folder.save(RunState(), learner.average.eval(), learner.state())
    text = folder.settings_file.read_text()
    folder.settings_file.write_text(text.replace("soft_policy = 0.0", "soft_policy = 8.0"))
    assert "soft_policy in [losses] needs a head that the run began without" in train(folder.path, status=1)
    network = tmp_path / "start.bin.gz"
    write_katago_file(learner.model.stored(), network)
    (tmp_path / "other").mkdir()
    settings = folder.settings().starting_from(network)
    other = RunFolder(tmp_path / "other" / "run")
    other.create(settings)
    model = SelfPlayRun(other, Kept()).learner.model
    assert model.config.auxiliary_names == ["soft_policy"]
    for name, value in learner.model.state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name


def test_a_run_that_cannot_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    letter = tmp_path / "letter.bin.gz"
    letter.write_text("no network")
    for start in ("nowhere.bin.gz", str(letter)):
        train(tmp_path / "run", "--from", start, status=1)
        assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("one_process")
def test_a_loss_that_is_not_finite_stops_before_a_network_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(miniature.text(**SHORT, learning_rate="1e30", warm_up="0"))
    output = train(tmp_path / "run", "--settings", str(file), status=1)
    folder = RunFolder(tmp_path / "run")
    assert "loss became nan" in output and f"lower learning rate (learning_rate in {folder.settings_file})" in output
    assert "run the same command" not in output
    assert not list(folder.networks.iterdir())


def test_the_error_for_a_state_of_another_version_names_what_to_do(finished: RunFolder, tmp_path: Path) -> None:
    data = torch.load(finished.state_file, weights_only=True)
    card = dict(data["card"])
    data["card"]["format"] = "gtp_engine run 0"
    folder = RunFolder(tmp_path / "run")
    folder.create(miniature.settings())
    torch.save(data, folder.state_file)
    assert "written by another version" in (output := train(folder.path, status=1))
    assert "--from" in output
    wrong = [{"cycle": "x"}, {"cycle": -1}, {"begun": 10**12}, {"player": 99}, {"seconds": math.nan}]
    wrong += [{"lines": [1]}, {"lines": [{}]}, {"lines": [{"cycle": 1, "samples": "x", "seconds": 1.0}]}]
    for change in ({"card": 5}, {"training": "x"}, *({"card": card | each} for each in wrong)):
        torch.save(data | {"card": card} | change, folder.state_file)
        output = train(folder.path, status=1)
        assert output.count("Error: ") == 1 and "Traceback" not in output
    folder.state_file.write_bytes(finished.state_file.read_bytes()[:-100])
    output = train(folder.path, status=1)
    assert "state.pt: a damaged checkpoint" in output and f"from a network in {folder.networks}: --from" in output


def test_a_damaged_log_is_read_as_far_as_possible_and_written_again(finished: RunFolder, tmp_path: Path) -> None:
    folder = RunFolder(shutil.copytree(finished.path, tmp_path / "run"))
    folder.log_file.write_bytes(folder.log_file.read_bytes() + b'\xff\n5\n{"samples": 1}\n{"samples": 4')
    assert folder.log() == finished.log()
    train(folder.path)
    assert folder.log_file.read_bytes() == finished.log_file.read_bytes()
