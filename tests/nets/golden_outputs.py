"""Whether a network, computed in some way, has KataGo's outputs for its recorded inputs."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from compiled import raw_outputs_of
from golden import Inputs, Record, board_of, inputs
from reference_outputs import Predictions, predict
from torch import Tensor

from gtp_engine.nets.config import NetworkConfig
from gtp_engine.nets.model import Model
from gtp_engine.nets.stored import RawOutputs

PROBABILITY, RELATIVE = 1e-4, 1e-3
Network = Callable[..., RawOutputs[Tensor]]


def check_records(network: Network, config: NetworkConfig, found: list[Record]) -> None:
    for record, size in product(found, (None, 19)):
        # Symmetries turn the whole tensor: a rectangular board in a square tensor is transposed, in its own it is not.
        if size and record["symmetry"] & 4 and record["size"][0] != record["size"][1]:
            continue
        given = inputs(record, size)
        with torch.inference_mode():
            raw = network(given.planes, given.scalars, full_board=size is None)
        check_outputs(raw, config, given, record, size)


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


def check_nearness(half: Network, model: Model, found: list[Record]) -> None:
    """In bfloat16: win rate and policy to 5e-3 on average; its first move has nine tenths of the best prior."""
    winrate, policy = 0.0, 0.0
    for record in found:
        given = inputs(record)
        with torch.inference_mode():
            exact, near = (
                predict(net(given.planes, given.scalars, full_board=True), model.config, given.legal, given.scalars)
                for net in (raw_outputs_of(model), half)
            )
        winrate += float((exact.value - near.value)[0, 0].abs()) / len(found)
        policy += float((exact.policy - near.policy).abs().mean()) / len(found)
        assert exact.policy[0, near.policy.argmax()] >= 0.9 * exact.policy.max()
    assert winrate < 5e-3 and policy < 5e-3
