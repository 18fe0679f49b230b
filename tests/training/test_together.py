"""Several processes train one network: the result is that of a single process."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import Mock

import learned_together
import miniature
import pytest
import torch
from click.testing import CliRunner
from making import write_records
from running import check_whole, children_of

from gtp_engine.base.system import available_cpus
from gtp_engine.clients.cli import main
from gtp_engine.training import processes as processes_module
from gtp_engine.training.data.loader import Loader
from gtp_engine.training.ddp import ProcessGroup
from gtp_engine.training.new_run import begin_records, settings_from_options
from gtp_engine.training.processes import Machine, launch
from gtp_engine.training.progress import ProcessLostError
from gtp_engine.training.record_run import RecordRun
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.selfplay_run import SelfPlayRun

LIMIT = 600  # seconds; the first start may compile the core
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def run(*arguments: str, status: int = 0) -> str:
    """Returns the output of a program under torchrun."""
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), str(tests.parents[1]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [*TORCHRUN, *arguments], capture_output=True, text=True, timeout=LIMIT, env=os.environ | {"PYTHONPATH": path}
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_each_process_uses_its_part_of_a_batch() -> None:
    samples = learned_together.sets()[1]
    whole = next(Loader(samples, 12, seed=3))
    for part in range(3):
        mine = next(Loader(samples, 12, seed=3, part=(part, 3)))
        assert mine.size == 4
        assert torch.equal(mine.planes, whole.planes[part::3])
        assert torch.equal(mine.policy, whole.policy[part::3])


def test_a_batch_that_cannot_be_shared_is_reported_before_anything_is_done(tmp_path: Path) -> None:
    three = ProcessGroup({"TORCHELASTIC_RUN_ID": "1", "RANK": "0", "WORLD_SIZE": "3"})
    (tmp_path / "games.sgf").write_text("(;GM[1]SZ[9];B[ee])")
    given = {"games": [str(tmp_path / "games.sgf")], "network": "b1c8", "batch_size": 10}
    records, selfplay = RunFolder(tmp_path / "records"), RunFolder(tmp_path / "run")
    begin_records(records, settings_from_options(given), given)
    selfplay.create(miniature.settings(batch_size="64"))
    with pytest.raises(ValueError, match="batches of 10 cannot be shared evenly by 3 processes: choose a batch size"):
        RecordRun(records, Mock(), group=three)
    assert not any(records.games.iterdir())
    given["batch_size"] = 12
    begin_records(records, settings_from_options(given), given)  # the folder is free for another batch size
    with pytest.raises(ValueError, match="batches of 64 cannot be shared evenly by 3 processes"):
        SelfPlayRun(selfplay, Mock(), group=three)
    assert not any(selfplay.shards.iterdir())


def test_two_learn_what_one_learns(tmp_path: Path) -> None:
    """With and without masks: gradients, batch norms' statistics, averages and losses."""
    run(str(Path(learned_together.__file__)), str(tmp_path / "two.pt"))
    together = torch.load(tmp_path / "two.pt", weights_only=True)
    for network, two in together.items():
        one = learned_together.result(learned_together.learn(network, ProcessGroup()))
        assert two["samples"] == one["samples"] == 2 * learned_together.STEPS * learned_together.BATCH
        assert two["losses"] == pytest.approx(one["losses"], rel=1e-4)
        torch.testing.assert_close(two["tensors"], one["tensors"], rtol=1e-4, atol=1e-4)
    assert tuple(together) == learned_together.NETWORKS


@pytest.mark.parametrize("left", [{"WORLD_SIZE": "2"}, {"WORLD_SIZE": "4", "RANK": "x"}, {"MASTER_ADDR": "localhost"}])
def test_what_another_program_left_in_the_environment_is_ignored(left: dict[str, str]) -> None:
    with ProcessGroup(left) as group:
        assert (group.rank, group.count, group.thread_share(2)) == (0, 1, 2)


def test_a_machine_shares_its_threads_among_its_own_processes() -> None:
    place = {"TORCHELASTIC_RUN_ID": "1", "RANK": "2", "WORLD_SIZE": "6", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2"}
    group = ProcessGroup(place)
    assert group.thread_share(7) == 3 and group.thread_share(1) == 1
    assert group.thread_share(0) == max(1, available_cpus() // 2)


def test_a_group_that_cannot_connect_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    with socket.create_server(("localhost", 0)) as taken:
        place = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(taken.getsockname()[1])}
        for name, value in {**place, "RANK": "0", "WORLD_SIZE": "2"}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(ConnectionError, match=r"cannot connect all 2 processes: .*address already in use"):
            ProcessGroup(
                {"TORCHELASTIC_RUN_ID": "1", "RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
            ).__enter__()
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.slow
def test_a_run_of_two_writes_each_file_once(tmp_path: Path) -> None:
    settings = {"cycles": "2", "random_games": "40", "samples": "640", "warm_up": "64"}
    (tmp_path / "settings.toml").write_text(miniature.text(**settings))
    folder = RunFolder(tmp_path / "run")
    output = run("-m", "gtp_engine", "train", str(folder.path), "--settings", str(tmp_path / "settings.toml"))
    assert output.count("done: ") == output.count("games: starting") == 1
    check_whole(folder, miniature.settings(**settings))


@pytest.mark.slow
def test_two_learn_from_records_what_one_learns(tmp_path: Path) -> None:
    run("-m", "gtp_engine", *learn_command(tmp_path, "two"))
    check_equals_one(tmp_path)


@pytest.mark.slow
def test_two_machines_learn_what_one_learns(tmp_path: Path, machines: tuple[str, str]) -> None:
    """Their names stand for 127.0.0.1, as on many machines."""
    command = [sys.executable, "-m", "gtp_engine", *learn_command(tmp_path, "two")]
    started = [
        subprocess.Popen(
            ["ip", "netns", "exec", machine, *command, "--machine", f"{number}/2@{FIRST}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number, machine in enumerate(machines)
    ]
    try:
        for process in started:
            output = process.communicate(timeout=LIMIT)[0]
            assert process.returncode == 0, output
    finally:
        for process in started:  # one waits long for the other
            process.terminate()
    check_equals_one(tmp_path)


FIRST, SECOND = "10.213.7.1", "10.213.7.2"  # addresses of private networks, in namespaces of their own


@pytest.fixture
def machines() -> Iterator[tuple[str, str]]:
    """Two network namespaces, connected to each other, with the addresses FIRST and SECOND."""
    names = f"go{os.getpid()}a", f"go{os.getpid()}b"
    if sys.platform != "linux" or os.geteuid() or not shutil.which("ip"):
        pytest.skip("only root on Linux, with the program ip, may make network namespaces")
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", names[0], "netns", names[0], "type", "veth", "peer", "name", names[1], "netns", names[1])
        for name, address in zip(names, (FIRST, SECOND), strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", name, "up")
    except subprocess.CalledProcessError as error:
        remove(names)
        pytest.skip(f"no network namespaces here: {error}")
    yield names
    remove(names)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def remove(namespaces: Sequence[str]) -> None:
    for name in namespaces:
        subprocess.run(["ip", "netns", "del", name], check=False)


def learn_command(folder: Path, out: str) -> list[str]:
    """Returns the words of a command that learns 30 records, in the folder `out`."""
    records = folder / "games.sgfs"
    write_records(records, range(30))
    command = ["learn", str(records), "--config", "b1c8", "--batch-size", "32", "--samples", "320"]
    command += ["--least-moves", "5", "--warm-up", "100", "--optimizer", "sgd", "--precision", "float32"]
    return [*command, "--device", "cpu", "--threads", "1", "--out", str(folder / out)]


def check_equals_one(folder: Path) -> None:
    """Checks that one process learns from the records what was learned in the folder `two`."""
    one = CliRunner().invoke(main, learn_command(folder, "one"))
    assert one.exit_code == 0, one.output
    logs = [(folder / name / "log.jsonl").read_text().splitlines() for name in ("one", "two")]
    alone, together = (json.loads(log[-1]) for log in logs)
    assert alone["samples"] == together["samples"] == 320
    for log in (alone, together):
        del log["validation"]["calibration"]  # a list of groups; its error is compared
    for kind in ("losses", "validation"):
        assert together[kind] == pytest.approx(alone[kind], rel=1e-3, abs=1e-3)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
def test_a_run_of_several_processes_ends_in_plain_words_and_resumes(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(miniature.text(samples="320", random_games="40", cycles="50"))
    folder = RunFolder(tmp_path / "run")
    command = [sys.executable, "-m", "gtp_engine", "train", str(folder.path), "--processes", "2"]
    command += ["--settings", str(tmp_path / "settings.toml")]
    for cycle, is_killed in ((1, False), (2, True), (3, False)):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not folder.network(cycle).exists():
            assert process.poll() is None
            time.sleep(0.05)
        if is_killed:
            os.kill(children_of(process.pid)[1], signal.SIGKILL)
        else:
            process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=LIMIT)
        assert "Traceback" not in output
        if is_killed:
            assert process.returncode == 1
            assert output.endswith("Error: training process 1 was lost: SIGKILL has ended it\n")
        else:
            assert process.returncode == 130
            assert output.endswith("stopped; run the same command to resume\n")
        state, checkpoint = folder.load()
        assert state.cycle >= cycle and checkpoint is not None


def launched(monkeypatch: pytest.MonkeyPatch, program: str, processes: int, machine: Machine | None = None) -> int:
    """Returns the exit status of several processes of a Python program."""
    monkeypatch.setattr(sys, "orig_argv", ["python", "-c", f"import os, signal, sys, time\n{program}"])
    before = {number: signal.getsignal(number) for number in processes_module._SIGNALS}
    try:
        return launch(processes, machine)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_each_process_is_told_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"
    folder = str(tmp_path)
    program = f"open(os.path.join({folder!r}, os.environ['RANK']), 'w').write(' '.join(map(os.environ.get, {names})))"
    assert launched(monkeypatch, program, 2, Machine.parse("1/3@go.example:1234")) == 0
    told = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert told == {"2": "2 6 0 2 go.example 1234", "3": "3 6 1 2 go.example 1234"}


def test_a_lost_process_ends_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill = "os.kill(os.getpid(), signal.SIGKILL) if os.environ['RANK'] == '1' else time.sleep(600)"
    with pytest.raises(ProcessLostError, match="training process 1 was lost: SIGKILL has ended it"):
        launched(monkeypatch, kill, 3)
    assert launched(monkeypatch, "sys.exit(int(os.environ['RANK']))", 2) == 1
    is_deaf = str(tmp_path / "deaf")
    deaf = (
        "if os.environ['RANK'] == '0':\n"
        f" signal.signal(signal.SIGTERM, signal.SIG_IGN); open({is_deaf!r}, 'w').close(); time.sleep(600)\n"
        f"while not os.path.exists({is_deaf!r}):\n time.sleep(0.01)\n"
        "sys.exit(3)"
    )
    monkeypatch.setattr(processes_module, "_PATIENCE_SECONDS", 0.5)
    assert launched(monkeypatch, deaf, 2) == 9


def test_signals_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_module, "_POLL_SECONDS", 0.5)  # until the children are ready
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    program = "try:\n time.sleep(600)\nexcept KeyboardInterrupt:\n sys.exit(130)"
    assert launched(monkeypatch, program, 2) == 130


def test_a_machine_is_a_number_a_count_and_an_address() -> None:
    assert Machine.parse("0/2@10.0.0.1") == Machine(0, 2, "10.0.0.1", 29500)
    assert Machine.parse("1/2@[::1]:80") == Machine(1, 2, "::1", 80)
    for wrong in ("2/2@host", "0@host", "0/2", "host", "0/2@", "0/2@::1", "0/2@host:99999", "0/2@host:0"):
        with pytest.raises(ValueError, match=r"invalid machine .*: expected its number, from 0, as in 0/2@HOST"):
            Machine.parse(wrong)
