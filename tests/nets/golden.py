"""KataGo's recorded inputs and outputs, as tensors for the networks."""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

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
