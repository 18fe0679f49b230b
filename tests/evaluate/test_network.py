"""The evaluator by a network: from moves to outputs as KataGo gives them, and what the batch may not change."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from golden_records import Record, position_of

from gtp_engine.evaluate.cache import EvaluationCache
from gtp_engine.evaluate.inputs import new_workspace
from gtp_engine.evaluate.inputs import position_of as complete
from gtp_engine.evaluate.interface import ALL_SYMMETRIES, Outputs
from gtp_engine.evaluate.network import NetworkEvaluator, find_device
from gtp_engine.game.coords import WHITE
from gtp_engine.game.game import Game
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.search import Limits, Search

FOLDER = Path(__file__).resolve().parents[1] / "data" / "networks"
TINY = FOLDER / "tiny.bin.gz"
RECORDS: list[Record] = [json.loads(line) for line in (FOLDER / "tiny.jsonl").read_text().splitlines()]
SQUARE = [record for record in RECORDS if record["size"] == [9, 9]]


@pytest.fixture
def evaluator() -> NetworkEvaluator:
    return NetworkEvaluator(TINY, precision="float32", device="cpu")


def boards_of(records: list[Record]) -> np.ndarray:
    workspace = new_workspace()
    return np.concatenate([complete(position_of(record), workspace) for record in records])


def policy_of(record: Record) -> np.ndarray:
    rows = [prior or 0.0 for row in record["outputs"]["policy"] for prior in row]
    return np.array([*rows, record["outputs"]["policyPass"]], np.float32)


def row(outputs: Outputs, index: int) -> list[np.ndarray]:
    values = (outputs.policy, outputs.value, outputs.lead, outputs.score_mean, outputs.score_stdev, outputs.ownership)
    return [np.asarray(each[index]) for each in values if each is not None]


def same(one: list[np.ndarray], other: list[np.ndarray], tolerance: float = 1e-5) -> bool:
    return all(np.allclose(a, b, rtol=1e-4, atol=tolerance) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_one_position_is_judged_as_katago_does(evaluator: NetworkEvaluator, record: Record) -> None:
    optimism = record.get("policy_optimism", 0.0)
    said = evaluator.predict(boards_of([record]), record["symmetry"], optimism=optimism)
    expected = record["outputs"]
    white = position_of(record).to_move == WHITE
    sign = 1 if white else -1
    assert said.policy[0].numpy() == pytest.approx(policy_of(record), abs=1e-4)
    assert float(said.value[0, 0 if white else 1]) == pytest.approx(expected["whiteWin"], abs=1e-4)
    assert sign * float(said.lead[0]) == pytest.approx(expected["whiteLead"], rel=1e-3, abs=1e-3)
    owned = np.array(expected["whiteOwnership"]).ravel()
    assert sign * said.ownership[0].numpy() == pytest.approx(owned, abs=1e-4)


def test_a_batch_says_of_each_position_what_it_says_of_it_alone(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE)
    symmetries = np.array([record["symmetry"] for record in SQUARE])
    order = np.arange(len(SQUARE))[::-1]
    together = evaluator.collect(evaluator.submit(boards, order, symmetries[order]))
    for place, index in enumerate(order):
        evaluator.clear_cache()
        alone = evaluator.collect(evaluator.submit(boards, np.array([index]), symmetries[[index]]))
        assert same(row(together, place), row(alone, 0)), SQUARE[index]["id"]


def test_known_positions_are_remembered_and_fresh_ones_are_not_mixed_up_with_them(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE)
    some, everything = np.arange(0, len(SQUARE), 2), np.arange(len(SQUARE))
    first = evaluator.collect(evaluator.submit(boards, some, np.full(len(some), 3)))
    mixed = evaluator.collect(evaluator.submit(boards, everything, np.full(len(everything), 5)))
    for place, index in enumerate(some):  # by symmetry 3, though 5 was asked for
        assert all(np.array_equal(a, b) for a, b in zip(row(first, place), row(mixed, index), strict=True))
    evaluator.clear_cache()
    fresh = evaluator.collect(evaluator.submit(boards, everything, np.full(len(everything), 5)))
    for index in set(everything) - set(some):
        assert same(row(fresh, index), row(mixed, index))
    assert not same(row(fresh, 0), row(mixed, 0), 1e-4)


def test_the_average_is_over_the_eight_symmetries(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE[:2])
    one = np.arange(1, 2)
    views = []
    for symmetry in range(8):
        evaluator.clear_cache()
        views.append(row(evaluator.collect(evaluator.submit(boards, one, np.array([symmetry]))), 0))
    average = row(evaluator.collect(evaluator.submit(boards, one, np.array([ALL_SYMMETRIES]))), 0)
    expected = [np.mean([view[part] for view in views], axis=0) for part in range(len(average))]
    assert same(average, expected)
    assert not same(average, views[0])


def test_optimism_is_not_mistaken_for_known(evaluator: NetworkEvaluator) -> None:
    boards = boards_of(SQUARE[:1])
    plain, hopeful = (
        evaluator.collect(evaluator.submit(boards, np.arange(1), optimism=optimism)).policy[0]
        for optimism in (0.0, 1.0)
    )
    assert not np.allclose(plain, hopeful, atol=1e-4)


def test_sizes_may_change_with_every_batch(evaluator: NetworkEvaluator) -> None:
    for record in RECORDS:
        outputs = evaluator.collect(evaluator.submit(boards_of([record]), np.arange(1)))
        assert outputs.policy.shape == (1, record["size"][0] * record["size"][1] + 1)
        assert outputs.policy[0].sum() == pytest.approx(1, abs=1e-5)
        assert outputs.policy[0][policy_of(record) == 0].max(initial=0) == 0


def test_a_search_reads_ladders_along_its_lines_as_afresh() -> None:
    """Every node's evaluation in a tree is the one of its position set up from the moves."""
    game = position_of(max(SQUARE, key=lambda record: len(record["moves"])))
    evaluator = NetworkEvaluator(TINY, precision="float32", device="cpu", batch_size=4)
    search = Search(evaluator, default_parameters("network"), seed=1)
    search.set_position(game)
    best = search.run(Limits(visits=60)).moves[0]
    tree = search.tree.arrays
    line, node = [], search.tree.root
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
        evaluator.collect(evaluator.submit(afresh, np.arange(1)))
        points = [(y + 1) * stride + x + 1 for y in range(position.height) for x in range(position.width)]
        assert (known == (afresh["ladders"][0][points] & 1).astype(bool)).all()


def test_boards_too_large_are_refused(evaluator: NetworkEvaluator) -> None:
    with pytest.raises(ValueError, match="up to 19x19"):
        evaluator.submit(Game(20).board.copy(), np.arange(1))


def test_unknown_devices_and_precisions_are_named() -> None:
    with pytest.raises(ValueError, match="unknown precision 'float8'"):
        NetworkEvaluator(TINY, precision="float8")
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        find_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no device 'cuda' here"):
            find_device("cuda")


def test_the_cache_gives_back_what_it_was_given_until_the_room_is_taken() -> None:
    cache = EvaluationCache(0.001, 3)  # 31 rows, a table of 64
    keys = np.array([1, 2, 65, *range(70, 98)], np.uint64)
    rows = np.arange(3 * len(keys), dtype=np.float32).reshape(-1, 3)
    cache.store(keys[:2], rows[:2])
    cache.store(keys[2:3], rows[2:3])  # where the table knew key 1
    found = np.zeros((3, 3), np.float32)
    assert cache.look_up(keys[:3], found).tolist() == [0]
    assert found[1:].tolist() == rows[1:3].tolist()
    cache.store(keys[3:], rows[3:])
    assert cache.look_up(keys[:3], found).tolist() == [0]
    cache.store(np.array([100, 101], np.uint64), rows[:2])  # in the rows of keys 1 and 2
    assert cache.look_up(keys[:3], found).tolist() == [0, 1]
    cache.clear()
    assert cache.look_up(keys[:3], found).tolist() == [0, 1, 2]
