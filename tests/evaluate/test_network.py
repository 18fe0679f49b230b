"""The evaluator by a network: from moves to KataGo's outputs, and what the batch must not change."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from golden_records import Record, position_of
from reference_outputs import Predictions, predict
from torch import Tensor

from gtp_engine.base import jit
from gtp_engine.base.errors import UserError
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.game import Game
from gtp_engine.go.symmetry import ALL_SYMMETRIES, permutation
from gtp_engine.nets.config import Multipliers, parse_config
from gtp_engine.nets.constants import SCALARS, SUPERKO, TERRITORY
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.kernels.llvm import HAS_FLOAT32
from gtp_engine.nets.library import load_network
from gtp_engine.nets.model import Model
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.search.evaluate import devices
from gtp_engine.search.evaluate.devices import check_device, find_device
from gtp_engine.search.evaluate.features import LADDER_BYTES, new_workspace
from gtp_engine.search.evaluate.features import position_of as complete
from gtp_engine.search.evaluate.network_evaluator import EvaluationCache, NetworkEvaluator, look_up, new_cache, store
from gtp_engine.search.evaluate.row import UNKNOWN, EvaluationRow, decode_outputs, output_scale, row_columns
from gtp_engine.search.evaluate.torch_runner import TorchRunner
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search

FOLDER = Path(__file__).resolve().parents[1] / "data" / "networks"
TINY = FOLDER / "tiny.bin.gz"
RECORDS: list[Record] = [json.loads(line) for line in (FOLDER / "tiny.jsonl").read_text().splitlines()]
SQUARE = [record for record in RECORDS if record["size"] == [9, 9]]
PARTS = ("policy", "value", "lead", "score_mean", "score_stdev", "ownership")


@pytest.fixture
def evaluator() -> NetworkEvaluator:
    return NetworkEvaluator(TINY, precision="float32", device="cpu")


def boards_of(records: list[Record]) -> np.ndarray:
    workspace = new_workspace()
    return np.concatenate([complete(position_of(record), workspace) for record in records])


def policy_of(record: Record) -> np.ndarray:
    rows = [prior or 0.0 for row in record["outputs"]["policy"] for prior in row]
    return np.array([*rows, record["outputs"]["policyPass"]], np.float32)


def same(one: np.ndarray, other: np.ndarray, tolerance: float = 1e-5) -> bool:
    """Whether two rows agree, except for short-term errors."""
    return all(np.allclose(part_of(one, name), part_of(other, name), rtol=1e-4, atol=tolerance) for name in PARTS)


def expected_part(predictions: Predictions, name: str, position: int) -> np.ndarray:
    """A part of a prediction; the standard deviation follows from its moments."""
    if name == "score_stdev":
        variance = predictions.score_mean_square[position] - predictions.score_mean[position] ** 2
        return np.asarray(variance.clamp(min=0).sqrt().numpy())
    return np.asarray(getattr(predictions, name)[position].numpy())


def part_of(row: np.ndarray, name: str) -> np.ndarray:
    return np.asarray(getattr(EvaluationRow(row, (len(row) - 10) // 2), name))


def test_a_batch_says_of_each_position_what_it_says_of_it_alone(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE)
    symmetries = np.array([record["symmetry"] for record in SQUARE])
    order = np.arange(len(SQUARE))[::-1]
    together = evaluator.collect(evaluator.submit(boards, order, symmetries[order]))
    for place, index in enumerate(order):
        evaluator.clear_cache()
        alone = evaluator.collect(evaluator.submit(boards, np.array([index]), symmetries[[index]]))
        assert same(together[place], alone[0]), SQUARE[index]["id"]


def test_known_positions_are_remembered_and_fresh_ones_are_not_mixed_up_with_them(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE)
    some, everything = np.arange(0, len(SQUARE), 2), np.arange(len(SQUARE))
    first = evaluator.collect(evaluator.submit(boards, some, np.full(len(some), 3)))
    mixed = evaluator.collect(evaluator.submit(boards, everything, np.full(len(everything), 5)))
    for place, index in enumerate(some):  # by symmetry 3, though 5 was asked for
        assert np.array_equal(first[place], mixed[index])
    evaluator.clear_cache()
    fresh = evaluator.collect(evaluator.submit(boards, everything, np.full(len(everything), 5)))
    for index in set(everything) - set(some):
        assert same(fresh[index], mixed[index])
    assert not same(fresh[0], mixed[0], 1e-4)


def test_the_average_is_over_the_eight_symmetries(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE[:2])
    one = np.arange(1, 2)
    views = []
    for symmetry in range(8):
        evaluator.clear_cache()
        views.append(evaluator.collect(evaluator.submit(boards, one, np.array([symmetry])))[0])
    average = evaluator.collect(evaluator.submit(boards, one, np.array([ALL_SYMMETRIES])))[0]
    assert same(average, np.mean(views, axis=0))
    assert not same(average, views[0])


def test_optimism_is_not_mistaken_for_known(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE[:1])
    tickets = [evaluator.submit(boards, np.arange(1), optimism=optimism) for optimism in (0.0, 1.0)]
    plain, hopeful = (evaluator.collect(ticket)[0] for ticket in tickets)
    assert not np.allclose(part_of(plain, "policy"), part_of(hopeful, "policy"), atol=1e-4)


def test_sizes_may_change_with_every_batch(evaluator: NetworkEvaluator) -> None:
    for record in RECORDS:
        rows = evaluator.collect(evaluator.submit(boards_of([record]), np.arange(1)))
        area = record["size"][0] * record["size"][1]
        assert rows.shape == (1, row_columns(area)) and rows.flags.c_contiguous
        policy = EvaluationRow(rows[0], area).policy
        assert policy.sum() == pytest.approx(1, abs=1e-5)
        assert policy[policy_of(record) == 0].max(initial=0) == 0


def test_a_search_reads_ladders_along_its_lines_as_afresh() -> None:
    """Every node's evaluation in a tree is the one of its position set up from the moves."""
    game = position_of(max(SQUARE, key=lambda record: len(record["moves"])))
    evaluator = NetworkEvaluator(TINY, precision="float32", device="cpu", batch_size=4)
    search = Search(evaluator, default_parameters("network"), seed=1)
    best = run_search(search, SearchRequest(game, Limits(visits=60))).moves[0]
    tree = search.tree
    line, node = [], search.root
    for point in best.pv[:3]:
        game.play(game.to_move, point)
        line.append(game.copy())
    for position in line:
        child = tree.nodes["first_child"][node]
        moves = {}
        while child >= 0:
            moves[int(tree.nodes["move"][child])] = child
            child = tree.nodes["next_sibling"][child]
        point = position.moves[-1].point
        stride = position.width + 1
        move = position.area if point == 0 else (point // stride - 1) * position.width + point % stride - 1
        node = moves[move]
        known = np.unpackbits(tree.ladders[node], bitorder="little")[: position.area].astype(bool)
        afresh = complete(position, new_workspace())
        evaluator.clear_cache()
        ladders = np.full((1, LADDER_BYTES), 0xFF, np.uint8)
        evaluator.collect(evaluator.submit(afresh, np.arange(1), None, ladders))
        assert (known == np.unpackbits(ladders[0], bitorder="little")[: position.area].astype(bool)).all()


def test_boards_too_large_are_refused(evaluator: NetworkEvaluator) -> None:
    with pytest.raises(ValueError, match="up to 19x19"):
        evaluator.submit(Game(20).board.copy(), np.arange(1))


def test_unknown_devices_and_precisions_are_named() -> None:
    with pytest.raises(ValueError, match="unknown precision 'float8'"):
        NetworkEvaluator(TINY, precision="float8")
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        find_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device 'cuda' is not available"):
            find_device("cuda")


def keep(cache: EvaluationCache, keys: np.ndarray, rows: np.ndarray) -> None:
    store(cache, keys, rows, np.arange(len(keys)))


def test_the_cache_gives_back_what_it_was_given_until_the_room_is_taken() -> None:
    cache = new_cache(0.02)  # 5000 numbers, a table of 64
    keys = np.array([1, 2, 65, 66], np.uint64)
    rows = np.arange(400, dtype=np.float32).reshape(4, 100)
    keep(cache, keys[:2], rows[:2])
    keep(cache, keys[2:3], rows[2:3])  # where the table knew key 1
    found = np.zeros((3, 100), np.float32)
    assert look_up(cache, keys[:3], found).tolist() == [0]
    assert found[1:].tolist() == rows[1:3].tolist()
    others = np.arange(10, 58, dtype=np.uint64)
    keep(cache, others[:46], np.ones((46, 100), np.float32))  # 4900 numbers by now
    assert look_up(cache, keys[:3], found).tolist() == [0]
    keep(cache, others[46:], np.ones((2, 100), np.float32))  # the second where key 1 was
    assert look_up(cache, keys[:3], found).tolist() == [0]
    keep(cache, keys[3:], rows[3:])  # where key 2 was, and in its entry of the table
    assert look_up(cache, keys, np.zeros((4, 100), np.float32)).tolist() == [0, 1]


def test_the_cache_keeps_rows_of_several_sizes_apart() -> None:
    cache = new_cache(0.02)
    small, large = np.full((1, 3), 3, np.float32), np.full((1, 1700), 5, np.float32)
    one, two, three, four = np.arange(1, 5, dtype=np.uint64)[:, None]
    keep(cache, one, small)
    keep(cache, two, large)
    keep(cache, three, large)
    found = np.zeros((1, 3), np.float32)
    assert not len(look_up(cache, one, found)) and found.tolist() == small.tolist()
    keep(cache, four, large)  # does not fit behind the others: from the start again
    assert len(look_up(cache, one, found)) == len(look_up(cache, two, np.zeros_like(large))) == 1
    assert not len(look_up(cache, three, found := np.zeros_like(large))) and (found == 5).all()
    keep(cache, one, np.zeros((1, 5001), np.float32))  # never fits
    assert not len(look_up(cache, three, found))


def test_evaluations_of_one_size_outlive_a_batch_of_another(evaluator: NetworkEvaluator) -> None:
    small, large = boards_of(SQUARE[:1]), complete(Game(13), new_workspace())
    first = evaluator.collect(evaluator.submit(small, np.arange(1), np.array([1])))
    evaluator.collect(evaluator.submit(large, np.arange(1)))
    again = evaluator.collect(evaluator.submit(small, np.arange(1), np.array([2])))
    assert np.array_equal(first, again)


@pytest.mark.parametrize("optimism", [0.0, 0.3])
def test_what_a_search_gets_is_what_one_evaluation_says(evaluator: NetworkEvaluator, optimism: float) -> None:
    for record in RECORDS:
        position, symmetry = boards_of([record]), record["symmetry"]
        alone = evaluator.evaluate(position, symmetry, optimism=optimism).row
        evaluator.clear_cache()
        rows = evaluator.collect(evaluator.submit(position, np.arange(1), np.array([symmetry]), optimism=optimism))
        for name in PARTS:
            expected = part_of(alone, name)
            assert part_of(rows[0], name) == pytest.approx(expected, rel=1e-4, abs=1e-5), (record["id"], name)


def test_one_evaluation_is_that_of_its_symmetry_whatever_the_cache_holds(evaluator: NetworkEvaluator) -> None:
    position = boards_of(SQUARE[:1])
    evaluator.collect(evaluator.submit(position, np.arange(1), np.array([3])))
    views = [evaluator.evaluate(position, symmetry).row for symmetry in (3, 5)]
    assert not same(*views, 1e-4)


def test_torch_and_the_kernels_agree(evaluator: NetworkEvaluator) -> None:
    boards, everything = boards_of(SQUARE), np.arange(len(SQUARE))
    ours = evaluator.collect(evaluator.submit(boards, everything))
    evaluator.runner = TorchRunner(load_network(TINY), "tiny", "cpu", "float32")
    evaluator.clear_cache()
    theirs = evaluator.collect(evaluator.submit(boards, everything))
    assert all(same(one, other) for one, other in zip(ours, theirs, strict=True))


def test_torch_computes_what_the_kernels_do_not(evaluator: NetworkEvaluator, tmp_path: Path) -> None:
    block = parse_config("b1c16").trunk.blocks[0]
    wide = replace(block, conv2=replace(block.conv2, height=5, width=5))
    architecture = parse_config("b1c16")
    architecture = replace(architecture, trunk=replace(architecture.trunk, blocks=(wide,)))
    file = tmp_path / "wide.bin.gz"
    write_katago_file(Model(architecture).initialise(torch.Generator().manual_seed(1)).stored(), file)
    everything = np.arange(len(SQUARE))
    rough = NetworkEvaluator(TINY, precision="float16", device="cpu")
    for other in (NetworkEvaluator(file, device="cpu"), rough):
        assert isinstance(other.runner, TorchRunner) and other.device == "cpu"
        rows = other.collect(other.submit(boards_of(SQUARE), everything))
        assert np.isfinite(rows).all()
    exact = evaluator.collect(evaluator.submit(boards_of(SQUARE), everything))
    assert all(same(one, other, 0.05) for one, other in zip(exact, rows, strict=True))


@pytest.mark.skipif(sys.platform != "linux", reason="the device files are those of Linux")
def test_a_driver_shows_that_there_may_be_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    present: set[str] = set()
    monkeypatch.setattr(devices, "Path", lambda name: Mock(exists=lambda: name in present))
    monkeypatch.setattr(devices.ctypes, "CDLL", Mock(side_effect=OSError))
    assert not devices.may_have_gpu() and find_device("auto") == "cpu"
    for refuse in (check_device, find_device, lambda name: EngineSettings(device=name)):
        with pytest.raises(UserError, match="device 'cuda' is not available: this machine has no GPU driver"):
            refuse("cuda")
    for device in ("/dev/kfd", "/dev/nvidiactl"):
        present |= {device}
        assert devices.may_have_gpu()
        present.clear()
    monkeypatch.setattr(devices.ctypes, "CDLL", Mock())
    assert devices.may_have_gpu()


@pytest.mark.skipif(jit.config.DISABLE_JIT or not HAS_FLOAT32, reason="the kernels do not run here")
def test_no_network_on_a_cpu_needs_torch() -> None:
    """A move by a bundled network, and every kind of question to it."""
    script = (
        "import sys\n"
        "from gtp_engine import Engine, EngineSettings, Game, load_network\n"
        f"path = {str(TINY)!r}\n"
        "settings = EngineSettings(network=path, visits=8, threads=2, device='cpu', precision='float32')\n"
        "with Engine(settings, width=9) as engine:\n"
        "    engine.genmove().result()\n"
        "    engine.raw_evaluations(symmetries=range(8)).result()\n"
        "with load_network(path, device='cpu', precision='float32') as network:\n"
        "    network.evaluate([Game(7)])\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] == 'torch'))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["b1c8", "b1c32nbt", "b1c16h1tfrs"])
def test_a_move_without_compiled_code(kind: str, tmp_path: Path) -> None:
    """`NUMBA_DISABLE_JIT=1` is for a debugger, which steps through the same search."""
    write_katago_file(
        Model(parse_config(kind)).initialise(torch.Generator().manual_seed(1)).stored(), tmp_path / "n.bin.gz"
    )
    script = (
        "from gtp_engine import Engine, EngineSettings\n"
        f"settings = EngineSettings(network={str(tmp_path / 'n.bin.gz')!r}, visits=4, threads=1, seed=1, device='cpu', "
        "precision='float32')\n"
        "with Engine(settings, width=5) as engine:\n"
        "    found = engine.analyze().result()\n"
        "print(found.visits, f'{found.winrate:.4f}', [(move.point, move.visits) for move in found.moves])\n"
    )

    def run(without: str) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "NUMBA_DISABLE_JIT": without}
        return subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
        )

    plain = run("1")
    assert (plain.stdout, plain.stderr) == (run("0").stdout, "")


@pytest.mark.parametrize("version", [8, 9, 10, 13, 14])
def test_outputs_mean_what_they_mean_to_the_prediction(version: int) -> None:
    config = replace(
        parse_config("b1c8"), version=version, multipliers=Multipliers(lead=7, score_mean=11, score_error=5)
    )
    generator = torch.Generator().manual_seed(version)
    count, area = 6, 9
    raw: RawOutputs[Tensor] = RawOutputs(
        torch.randn(count, config.policy_channels, area + 1, generator=generator),
        torch.randn(count, 3, generator=generator),
        torch.randn(count, 6 if config.has_errors else 4, generator=generator),
        torch.randn(count, area, generator=generator),
    )
    legal = torch.rand(count, area + 1, generator=generator) < 0.7
    legal[:, -1] = True
    scalars = torch.zeros(count, SCALARS)
    scalars[:4, SUPERKO], scalars[:2, TERRITORY] = 1, 1
    predicted = predict(raw, config, legal, scalars)
    order = np.arange(count)[::-1].copy()
    rows = np.empty((count, row_columns(area)), np.float32)
    indices = np.array([permutation(0, 3, 3)] * 8)
    given = [part[order].numpy() for part in raw]
    symmetries = np.zeros(count, np.intp)
    decode_outputs(*given, order, scalars.numpy(), legal.numpy(), symmetries, indices, 0.0, output_scale(config), rows)
    for position, row in enumerate(rows):
        for name in PARTS:
            expected = expected_part(predicted, name, position)
            assert part_of(row, name) == pytest.approx(expected, rel=1e-4, abs=1e-5), name
        errors = EvaluationRow(row, area).short_term_errors
        if config.has_errors:
            assert predicted.value_error is not None and predicted.score_error is not None
            outputs = predicted.value_error, predicted.score_error, predicted.variance_time
            expected = torch.stack(outputs, 1)[position].numpy()
            assert errors == pytest.approx(expected, rel=1e-4)
        else:
            assert (errors == UNKNOWN).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_neither_evaluations_nor_the_search(threads: int) -> None:
    boards, everything = boards_of(SQUARE), np.arange(len(SQUARE))
    outputs, roots = [], []
    for count in (1, threads):
        evaluator = NetworkEvaluator(TINY, precision="float32", device="cpu", threads=count)
        outputs.append(evaluator.collect(evaluator.submit(boards, everything)))
        average = evaluator.collect(evaluator.submit(boards, everything, np.full(len(SQUARE), ALL_SYMMETRIES)))
        outputs.append(average)
        if count > 1:
            for _ in range(2):
                evaluator.clear_cache()
                search = Search(evaluator, default_parameters("network"), seed=1)
                report = run_search(search, SearchRequest(Game(), Limits(visits=60)))
                roots.append([(move.point, move.visits, move.winrate) for move in report.moves])
        evaluator.close()
    for alone, together in zip(outputs[:2], outputs[2:], strict=True):
        for index in everything:
            assert same(alone[index], together[index])
    assert roots[0] == roots[1]  # batches are taken back in the order of their submission, whenever they are done


@pytest.fixture
def runner(evaluator: NetworkEvaluator) -> TorchRunner:
    """torch, in place of the evaluator's kernels."""
    evaluator.runner = TorchRunner(load_network(TINY), "tiny", "cpu", "float32")
    return evaluator.runner


def test_a_device_without_memory_for_a_batch_gets_smaller_ones(
    evaluator: NetworkEvaluator,
    runner: TorchRunner,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    boards, everything = boards_of(SQUARE), np.arange(len(SQUARE))
    expected = evaluator.collect(evaluator.submit(boards, everything))
    model, sizes = runner.model, []

    def small_device(planes: torch.Tensor, *others: torch.Tensor, full_board: bool) -> object:
        sizes.append(len(planes))
        if len(planes) > 2:
            raise torch.OutOfMemoryError
        return model(planes, *others, full_board=full_board)

    monkeypatch.setattr(runner, "model", small_device)
    for _ in range(2):
        evaluator.clear_cache()
        sizes.clear()
        found = evaluator.collect(evaluator.submit(boards, everything))
        assert all(same(expected[index], found[index]) for index in everything)
    assert max(sizes) <= 2 and evaluator.batch_size <= 2
    assert "not enough memory" in capsys.readouterr().err


def test_a_device_without_memory_for_one_position_says_so(
    evaluator: NetworkEvaluator, runner: TorchRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_device(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(runner, "model", full_device)
    with pytest.raises(MemoryError, match="not enough memory on cpu for the network tiny"):
        evaluator.submit(boards_of(SQUARE[:3]), np.arange(3))
