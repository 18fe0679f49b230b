"""KataGo's recorded inputs and outputs, as tensors for the networks, and comparison with ours."""

import json
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from compiled import raw_outputs_of
from reference_outputs import Predictions, predict
from torch import Tensor

from gtp_engine.nets.config import NetworkConfig
from gtp_engine.nets.model import Model
from gtp_engine.nets.stored import RawOutputs

Record = dict[str, Any]


class Inputs(NamedTuple):
    """Of one position: planes [1, 22, h, w], scalars [1, 19], legal [1, points + 1]."""

    planes: Tensor
    scalars: Tensor
    legal: Tensor


def records(file: Path) -> list[Record]:
    """Those of one network, but for the cleanup phase, which this engine never enters."""
    lines = map(json.loads, file.read_text().splitlines())
    return [record for record in lines if record.get("preventCleanupPhase", True)]


def inputs(record: Record, size: int | None = None) -> Inputs:
    """`size`: the tensor's, where it is larger than the board. The symmetry turns the whole tensor."""
    width, height = record["size"]
    rows, columns = size or height, size or width
    planes = np.zeros((22, rows, columns), np.float32)
    planes[0, :height, :width] = 1
    for plane, ones in record["inputs"]["planes"].items():
        planes[int(plane), np.array(ones, int) // width, np.array(ones, int) % width] = 1
    legal = np.zeros((rows, columns), bool)
    legal[:height, :width] = [[prior is not None for prior in row] for row in record["outputs"]["policy"]]
    planes, legal = turn(planes, record["symmetry"]), turn(legal, record["symmetry"])
    return Inputs(
        torch.from_numpy(planes.copy())[None],
        torch.tensor(record["inputs"]["global"], dtype=torch.float32)[None],
        torch.from_numpy(np.append(legal.ravel(), True))[None],
    )


def turn(points: np.ndarray, symmetry: int) -> np.ndarray:
    """Over the last two axes: 1 flips top and bottom, 2 left and right, then 4 transposes squares."""
    if symmetry & 1:
        points = points[..., ::-1, :]
    if symmetry & 2:
        points = points[..., ::-1]
    if symmetry & 4 and points.shape[-1] == points.shape[-2]:
        points = points.swapaxes(-1, -2)
    return points


def turn_back(points: np.ndarray, symmetry: int) -> np.ndarray:
    if symmetry & 4 and points.shape[-1] == points.shape[-2]:
        points = points.swapaxes(-1, -2)
    return turn(points, symmetry & 3)


def board_of(flat: Tensor, record: Record, size: int | None) -> np.ndarray:
    """Points of a (padded, turned) tensor as the record's rows."""
    width, height = record["size"]
    points = flat.numpy().reshape(size or height, size or width)
    return turn_back(points, record["symmetry"])[:height, :width]


def network_file(folder: Path, name: str) -> Path:
    """In that folder, or in the one that GTP_ENGINE_NETWORKS names; else the test is skipped."""
    for place in (folder, Path(os.environ.get("GTP_ENGINE_NETWORKS", folder))):
        if (place / name).is_file():
            return place / name
    pytest.skip(f"no {name} in {folder}; GTP_ENGINE_NETWORKS can name a folder with more networks")


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
    """In bfloat16: win rate and policy to 5e-3 on average; its first move has 0.85 of the best prior."""
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
        assert exact.policy[0, near.policy.argmax()] >= 0.85 * exact.policy.max()
    assert winrate < 5e-3 and policy < 5e-3
