"""Networks with 8-bit integers: made once, kept, chosen by default if they lose little; and what is refused."""

import logging
import math
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from compiled import needs_int8, needs_tiles

from gtp_engine.base.errors import UserError
from gtp_engine.nets.katago_file import read_katago_file, write_katago_file
from gtp_engine.nets.kernels import network as kernels
from gtp_engine.nets.kernels.matmul import FLOAT32, TILES
from gtp_engine.nets.kernels.network import half_products, integer_kinds
from gtp_engine.nets.quantisation import (
    FORMAT,
    MATRICES,
    POINTS,
    WINDOWS,
    Loss,
    Positions,
    Quantised,
    block_of,
    quantisable,
    quantise,
    save_quantised,
)
from gtp_engine.nets.stored import StoredNetwork
from gtp_engine.search.evaluate import calibration, runner
from gtp_engine.search.evaluate.calibration import (
    find_or_make_quantised,
    find_quantised,
    make_quantised,
    round_for_file,
)
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.runner import make_runner

NETWORKS = Path(__file__).resolve().parents[1] / "data" / "networks"
IN_TILES = half_products() == TILES
all_positions = cache(calibration._positions)
BUNDLED = Path(__file__).resolve().parents[2] / "gtp_engine" / "weights" / "b6c64-19x19.bin.gz"


@pytest.fixture(autouse=True)
def cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache folder; compiled code is kept elsewhere."""
    monkeypatch.setenv("GTP_ENGINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "int8"


@pytest.fixture(autouse=True)
def generous(monkeypatch: pytest.MonkeyPatch) -> None:
    """A random network may lose more than a trained one."""
    monkeypatch.setattr(calibration, "LARGEST_LOSS", Loss(1.0, 100.0))


@pytest.fixture(autouse=True)
def few_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three positions of each size instead of dozens, for speed."""
    few = tuple([Positions(*(array[:3] for array in part)) for part in parts] for parts in all_positions(False))
    monkeypatch.setattr(calibration, "_positions", lambda _: few)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copy(NETWORKS / "tiny.bin.gz", tmp_path))


@pytest.fixture
def network(file: Path) -> StoredNetwork:
    return read_katago_file(file)


def test_the_games_of_the_package_are_legal() -> None:
    rounding, held_back = all_positions(False)
    assert [part.planes.shape[1] for part in rounding] == [19, 13, 9]
    assert [len(part.planes) for part in rounding] == [4 * 12, 4 * 8, 4 * 8]
    assert [len(part.planes) for part in held_back] == [3 * 12, 3 * 8, 3 * 8]
    for part in (*rounding, *held_back):  # from the opening on
        stones = part.planes[..., 1:3].sum((1, 2, 3)) / part.planes[0, ..., 0].size
        assert stones.min() < 0.15 and stones.max() > 0.4


@needs_int8
def test_integers_are_made_once(
    file: Path, network: StoredNetwork, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_quantised(network, file) is None
    cache_folder.mkdir(parents=True)
    old, later = (cache_folder / f"other.points.{number}.npz" for number in (FORMAT - 1, FORMAT + 1))
    old.touch()
    later.touch()
    made = find_or_make_quantised(network, file)
    assert list(made.layers) == quantisable(network.config, integer_kinds(network.config))
    assert not old.exists() and later.exists() and len(list(cache_folder.iterdir())) == 2
    monkeypatch.setattr(calibration, "make_quantised", lambda _: pytest.fail("made twice"))
    again = find_or_make_quantised(network, file)
    assert list(again.layers) == list(made.layers) and again.loss == pytest.approx(made.loss)


@needs_int8
@pytest.mark.skipif(IN_TILES, reason="in tiles matrices are of bfloat16")
@pytest.mark.parametrize("precision", ["auto", "int8"])
def test_a_rounded_file_needs_no_rounding(
    precision: str, tmp_path: Path, network: StoredNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_katago_file(round_for_file(network), tmp_path / "rounded.bin.gz")
    monkeypatch.setattr(calibration, "make_quantised", lambda _: pytest.fail("rounded anew"))
    planes, scalars = all_positions(False)[1][2]
    runners = {}
    for kind in ("float32", precision):
        runners[kind] = make_runner(read_katago_file(tmp_path / "rounded.bin.gz"), tmp_path, "cpu", kind)
    assert runners[precision].precision == "int8"
    outputs = {}
    for kind, each in runners.items():
        inputs = each.new_inputs(len(planes), 9, 9)
        inputs.planes[:], inputs.scalars[:] = planes, scalars
        outputs[kind] = each.run(inputs, np.arange(len(planes)))
    difference = np.abs(outputs[precision].value - outputs["float32"].value).max()
    assert 0 < difference < 0.05 * np.abs(outputs["float32"].value).max()


@needs_int8
def test_the_file_next_to_the_network_comes_first(file: Path, network: StoredNetwork) -> None:
    made = find_or_make_quantised(network, file)
    beside = file.with_name("tiny.int8.npz")
    save_quantised(made._replace(loss=Loss(0.5, 50.0)), network, beside)
    found = find_quantised(network, file)
    assert found is not None and found.loss == Loss(0.5, 50.0)


@needs_int8
@pytest.mark.parametrize("damage", ["text", "folder"])
def test_only_who_asks_for_integers_needs_their_file(
    damage: str,
    file: Path,
    network: StoredNetwork,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beside = file.with_name("tiny.int8.npz")
    if damage == "folder":
        beside.mkdir()
    else:
        beside.write_text("damaged")
    with caplog.at_level(logging.WARNING):
        assert make_runner(network, file, "cpu").precision != "int8"
    assert "tiny.int8.npz" in caplog.text
    with pytest.raises((UserError, OSError), match=r"tiny\.int8\.npz"):
        NetworkEvaluator(file, precision="int8")


@needs_int8
def test_a_network_that_is_always_far_ahead_is_measured_all_the_same(network: StoredNetwork) -> None:
    bias = network.values["value.score_bias.bias"]
    ahead = StoredNetwork(network.config, {**network.values, "value.score_bias.bias": bias + 100})
    assert make_quantised(ahead).loss.lead > 0


def test_a_loss_that_is_not_a_number_is_not_small() -> None:
    assert calibration.loses_little(Loss(0.0, 0.0))
    assert not calibration.loses_little(Loss(0.0, math.nan)) and not calibration.loses_little(Loss(math.nan, 0.0))


@needs_int8
def test_threads_make_them_once(file: Path, network: StoredNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(wraps=make_quantised)
    monkeypatch.setattr(calibration, "make_quantised", made)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: find_or_make_quantised(network, file), range(2)))
    assert made.call_count == 1 and list(results[0].layers) == list(results[1].layers)


@needs_int8
def test_a_damaged_file_in_the_cache_is_made_anew(
    file: Path, network: StoredNetwork, cache_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    find_or_make_quantised(network, file)
    (kept,) = cache_folder.iterdir()
    kept.write_bytes(b"damaged")
    with caplog.at_level(logging.WARNING):
        assert find_or_make_quantised(network, file).layers
    assert "is damaged" in caplog.text and find_quantised(network, file) is not None


@needs_int8
def test_blocks_that_lose_most_are_left_as_they_are(network: StoredNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_quantised(network)
    monkeypatch.setattr(calibration, "LARGEST_LOSS", Loss(whole.loss.policy * 0.7, 100.0))
    part = make_quantised(network)
    assert part.loss.policy <= whole.loss.policy * 0.7 and len(part.layers) < len(whole.layers)
    left_out = {block_of(path) for path in whole.layers} - {block_of(path) for path in part.layers}
    assert left_out and not left_out & {block_of(path) for path in part.layers}


@needs_int8
def test_a_network_that_loses_too_much_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "LARGEST_LOSS", Loss(1e-9, 1e-9))
    with pytest.raises(UserError, match="tiny would lose too much in 8-bit integers: use another --precision"):
        NetworkEvaluator(file, precision="int8")


@needs_int8
def test_the_default_uses_integers_that_were_made(
    file: Path, network: StoredNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make_runner(network, file, "cpu").precision != "int8"
    assert make_runner(network, file, "cpu", "int8").precision == "int8"
    assert make_runner(network, file, "cpu").precision == "int8"
    assert make_runner(network, file, "cpu", "float32").precision == "float32"
    monkeypatch.setattr(calibration, "LARGEST_LOSS", Loss(1e-9, 1e-9))
    assert make_runner(network, file, "cpu").precision != "int8"


@needs_tiles
def test_a_file_without_anything_for_tiles_is_passed_over(file: Path, network: StoredNetwork) -> None:
    """One that was made on a CPU without them."""
    (planes, scalars), *_ = all_positions(False)[0]
    layers = quantise(network, [Positions(planes[:2], scalars[:2])], {MATRICES})
    save_quantised(Quantised(layers, Loss(0.0, 0.0), {MATRICES}), network, file.with_name("tiny.int8.npz"))
    assert find_quantised(network, file) is None and make_runner(network, file, "cpu").precision == "bfloat16"
    assert find_or_make_quantised(network, file).values({POINTS, WINDOWS})


@needs_int8
def test_outputs_are_near_those_in_float32(file: Path, network: StoredNetwork) -> None:
    _, (of_19x19, *_) = calibration._positions(False)
    exact = calibration._outputs(network, FLOAT32, {}, [of_19x19])
    values = find_or_make_quantised(network, file).values(integer_kinds(network.config))
    rounded = calibration._outputs(network, TILES if IN_TILES else FLOAT32, values, [of_19x19])
    loss = calibration._difference(exact, rounded, 1.0)
    assert 0 < loss.policy < 0.02


def test_what_cannot_be_of_integers_is_named(
    file: Path, network: StoredNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "has_int8", lambda: False)
    with pytest.raises(UserError, match="precision int8 is not available: it needs compiled code, and a CPU with VNNI"):
        make_runner(network, file, "cpu", "int8")


@needs_int8
def test_a_network_to_which_integers_are_of_no_use_is_computed_as_usual(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a CPU that computes 3x3 convolutions no faster with them."""
    monkeypatch.setattr(kernels, "integer_kinds", lambda _config: frozenset())
    with caplog.at_level(logging.WARNING):
        evaluator = NetworkEvaluator(BUNDLED, precision="int8", device="cpu")
    assert evaluator.precision in ("float32", "bfloat16")
    assert "precision int8 is of no use to b6c64-19x19" in caplog.text
