"""Networks that imitate humans: profiles, their inputs, and KataGo's answers for a small random network.

`human.jsonl` contains the output of KataGo's `kata-raw-nn` for `human.bin.gz` with its parameter humanSLProfile.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from golden_records import Record, position_of

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.features import new_workspace
from gtp_engine.search.evaluate.features import position_of as complete
from gtp_engine.search.evaluate.human_profile import metadata_row, parse_profile, profile_name
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.row import EvaluationRow

FOLDER = Path(__file__).resolve().parents[1] / "data" / "networks"
HUMAN = FOLDER / "human.bin.gz"
RECORDS: list[Record] = [json.loads(line) for line in (FOLDER / "human.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def evaluator() -> NetworkEvaluator:
    return NetworkEvaluator(HUMAN, precision="float32", device="cpu")


def predict_recorded(evaluator: NetworkEvaluator, record: Record) -> EvaluationRow:
    position = complete(position_of(record), new_workspace())
    optimism, profile = record["policy_optimism"], record["profile"]
    return evaluator.evaluate(position, record["symmetry"], optimism=optimism, profile=profile)


def boards_of_both() -> np.ndarray:
    """With an even komi Black and White see the same empty board: only their ranks tell them apart."""
    games = [Game(5, komi=0.0), Game(5, komi=0.0)]
    games[1].to_move = WHITE
    return np.concatenate([complete(game, new_workspace()) for game in games])


def test_a_batch_gives_each_position_the_metadata_of_its_player(evaluator: NetworkEvaluator) -> None:
    boards = boards_of_both()
    evaluator.clear_cache()
    rows = evaluator.collect(evaluator.submit(boards, np.arange(2), profile="rank_9d_20k"))
    for number in range(2):
        alone = evaluator.evaluate(boards[number : number + 1], profile="rank_9d_20k")
        found = EvaluationRow(rows[number], 25)
        assert found.policy == pytest.approx(alone.policy, abs=1e-5)
        assert found.short_term_errors == pytest.approx(alone.short_term_errors, rel=1e-4)


def test_one_profile_is_not_taken_for_another(evaluator: NetworkEvaluator) -> None:
    evaluator.clear_cache()
    boards, seen = boards_of_both(), []
    for profile in ("rank_9d_20k", "rank_20k_9d", "rank_9d", "rank_9d_20k"):
        rows = evaluator.collect(evaluator.submit(boards, np.arange(2), profile=profile))
        seen.append(np.array([EvaluationRow(row, 25).policy for row in rows]))
    assert not np.allclose(seen[0][0], seen[0][1], atol=1e-4)
    assert seen[0][::-1] == pytest.approx(seen[1], abs=1e-6)
    assert seen[2][0] == pytest.approx(seen[2][1], abs=1e-6)
    assert np.array_equal(seen[0], seen[3])


def test_a_profile_has_to_be_given_where_it_is_taken_and_only_there(evaluator: NetworkEvaluator) -> None:
    board = Game(5).board
    with pytest.raises(ValueError, match=r"human imitates humans: choose a profile .* such as rank_5k"):
        evaluator.submit(board, np.arange(1))
    other = NetworkEvaluator(FOLDER / "tiny.bin.gz", precision="float32", device="cpu")
    with pytest.raises(ValueError, match="tiny does not imitate humans"):
        other.submit(board, np.arange(1), profile="rank_5k")


@pytest.mark.parametrize("precision", ["auto", "bfloat16"])
def test_every_precision_takes_metadata(precision: str) -> None:
    record = RECORDS[0]
    predicted = predict_recorded(NetworkEvaluator(HUMAN, precision=precision, device="cpu", threads=2), record)
    policy = [prior or 0.0 for row in record["outputs"]["policy"] for prior in row] + [record["outputs"]["policyPass"]]
    assert predicted.policy == pytest.approx(np.array(policy), abs=0.02)


def test_inputs_of_a_pair_of_players() -> None:
    row = metadata_row(parse_profile("rank_9d_5k"), WHITE, 81)
    assert len(row) == 192
    assert row[:6] == [1, 1, 0, 0, 0, 0]
    assert row[6:40] == [1] * 14 + [0] * 20  # white, to move, is 5k
    assert row[40:74] == [1] + [0] * 33
    assert row[74:82] == [0.5, 0, 0, 0, 0, 1, 0, 0]
    expected = [0.4 * (math.log(1260) - 6.5), 0.3 * (math.log(31) - 3), 0.5 * (math.log(7) - 1.5)]
    assert row[82:85] == pytest.approx(expected)
    assert row[86] == pytest.approx(0.5 * math.log(81 / 361))
    days = 18322  # from 1970-01-01 to 2020-03-01
    assert row[87:89] == pytest.approx([math.cos(math.tau * days / 7), math.sin(math.tau * days / 7)])
    assert row[149:151] == pytest.approx([math.cos(math.tau * days / 560000), math.sin(math.tau * days / 560000)])
    assert [number for number in range(151, 192) if row[number]] == [153]


def test_inputs_of_professionals() -> None:
    old, new = (metadata_row(parse_profile(f"proyear_{year}"), BLACK, 361) for year in (2020, 2021))
    assert old[74:82] == [0, 1, 0, 0, 0, 0, 0, 0]
    assert sum(old[6:74]) == 2
    assert [number for number in range(151, 192) if old[number]] == [156]
    assert [number for number in range(151, 192) if new[number]] == [157]


@pytest.mark.parametrize("name", ["rank_20k", "rank_1d", "preaz_9d", "rank_3d_5k", "proyear_1800", "proyear_2023"])
def test_names_of_profiles(name: str) -> None:
    assert profile_name(f" {name} ") == name


@pytest.mark.parametrize("name", ["", "_", "none"])
def test_names_of_no_profile(name: str) -> None:
    assert profile_name(name) == ""


@pytest.mark.parametrize(
    "name", ["rank_21k", "rank_0k", "rank_10d", "rank_5", "5k", "preaz", "rank_5k_", "rank_5k_3d_1d", "proyear_1799"]
)
def test_other_names_are_refused_with_the_accepted_ones(name: str) -> None:
    with pytest.raises(ValueError, match="rank_20k to rank_9d, preaz_20k to preaz_9d"):
        profile_name(name)
