"""KataGo's own outputs for its recorded inputs: exactly sized, and padded to 19x19."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from compiled import EACH_WAY, WAYS
from golden import Inputs, Record, board_of, inputs, network_file, records
from reference_outputs import Predictions, predict
from torch import Tensor

from gtp_engine.network.config import NetworkConfig
from gtp_engine.network.katago_file import read_katago_file
from gtp_engine.network.stored import RawOutputs, StoredNetwork

PROBABILITY, RELATIVE = 1e-4, 1e-3
FILES = ("b6c96", "b15c192", "b18c384nbt", "b10c384h6tf", "b7c96h3tf", "b7c96h6kv3tf")


TINY = Path(__file__).resolve().parents[1] / "data" / "networks"


@EACH_WAY
def test_outputs_of_katago_for_a_network_of_our_own(way: str) -> None:
    """A random network with every kind of block, written by this program and evaluated by KataGo 1.17.2."""
    check_records(read_katago_file(TINY / "tiny.bin.gz"), way, records(TINY / "tiny.jsonl"))


@pytest.mark.slow
@EACH_WAY
@pytest.mark.parametrize("name", FILES)
def test_outputs_of_katago(shared: Path, name: str, way: str) -> None:
    found = records(shared / "katago" / "golden" / f"{name}.jsonl")
    check_records(read_katago_file(network_file(shared / "katago" / "nets", found[0]["net"])), way, found)


def check_records(network: StoredNetwork, way: str, found: list[Record]) -> None:
    model = WAYS[way](network)
    for record, size in product(found, (None, 19)):
        # Symmetries turn the whole tensor: a rectangular board in a square tensor is transposed, in its own it is not.
        if size and record["symmetry"] & 4 and record["size"][0] != record["size"][1]:
            continue
        given = inputs(record, size)
        with torch.inference_mode():
            raw = model(given.planes, given.scalars, full_board=size is None)
        check_outputs(raw, network.config, given, record, size)


def check_outputs(
    raw: RawOutputs[Tensor], config: NetworkConfig, given: Inputs, record: Record, size: int | None
) -> None:
    outputs = record["outputs"]
    predicted = predict(raw, config, given.legal, given.scalars, optimism=record.get("policy_optimism", 0.0))
    check_policy(predicted.policy[0], outputs, record, size)
    for optimism, policy in record.get("policy_at_optimism", {}).items():
        other = predict(raw, config, given.legal, given.scalars, optimism=float(optimism))
        check_policy(other.policy[0], policy, record, size)
    check_values(predicted, record)
    sign = 1 if record["to_move"] == "W" else -1
    ownership = board_of(predicted.ownership[0], record, size) * sign
    assert np.abs(ownership - np.array(outputs["whiteOwnership"])).max() < PROBABILITY, record["id"]


def check_policy(policy: Tensor, expected: dict[str, Any], record: Record, size: int | None) -> None:
    points = np.array([[prior or 0.0 for prior in row] for row in expected["policy"]])
    assert np.abs(board_of(policy[:-1], record, size) - points).max() < PROBABILITY, record["id"]
    assert float(policy[-1]) == pytest.approx(expected["policyPass"], abs=PROBABILITY), record["id"]


def check_values(predicted: Predictions, record: Record) -> None:
    outputs = record["outputs"]
    win, loss, no_result = predicted.value[0].tolist()
    sign = 1 if record["to_move"] == "W" else -1
    found = {
        "whiteWin": win if sign == 1 else loss,
        "whiteLoss": loss if sign == 1 else win,
        "noResult": no_result,
        "whiteLead": sign * float(predicted.lead),
        "whiteScoreSelfplay": sign * float(predicted.score_mean),
        "whiteScoreSelfplaySq": float(predicted.score_mean_square),
    }
    if predicted.value_error is not None and predicted.score_error is not None:  # KataGo prints -1 for older networks
        found["varTimeLeft"] = float(predicted.variance_time)
        found["shorttermWinlossError"] = float(predicted.value_error)
        found["shorttermScoreError"] = float(predicted.score_error)
    for name, value in found.items():
        tolerance = PROBABILITY if name in ("whiteWin", "whiteLoss", "noResult") else RELATIVE
        assert abs(value - outputs[name]) < tolerance * max(1, abs(outputs[name])), (record["id"], name)


def test_every_network_is_tested(shared: Path) -> None:
    assert {file.stem for file in (shared / "katago" / "golden").glob("*.jsonl")} == set(FILES)
