"""The models by which ranks are estimated: `weights/rank_moves.toml`, which `benchmarks/rank_moves.py` prints."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import UserError
from ..network.library import bundled_folder
from ..play.ranks import Rank, as_rank
from .rank_estimate import RankModel
from .rank_evidence import KINDS

MODELS_FILE = "rank_moves.toml"


def find_model(network: str, width: int, height: int) -> RankModel | None:
    """Returns the model for a network and a board; None if ranks were not measured with it there.

    Args:
        network: The network's name.
        width: The board's columns.
        height: The board's rows.

    Raises:
        UserError: The file is invalid.
    """
    return _models().get(network, {}).get((width, height))


def need_model(network: str, width: int, height: int) -> RankModel:
    """Returns the model for a network and a board; raises UserError if ranks were not measured with it there."""
    model = find_model(network, width, height)
    if model is None:
        raise unmeasured(f"with {network} on {width}x{height}")
    return model


def measured_with(width: int, height: int) -> str | None:
    """Returns the name of a network with which ranks were measured on a board; None if there is none."""
    return next((name for name, boards in _models().items() if (width, height) in boards), None)


def check_network(network: str) -> None:
    """Raises UserError if ranks were not measured with a network on any board."""
    if network not in _models():
        raise unmeasured(f"with {network}")


def unmeasured(what: str) -> UserError:
    """Returns the error for what ranks were not measured with, such as "on 13x13"."""
    known = ", or ".join(f"on {_boards(boards)} with {name}" for name, boards in _models().items())
    return UserError(f"no rank can be estimated {what}, only {known}")


def measured_boards(network: str | None = None) -> str:
    """Returns the boards on which ranks were measured, and the networks, as text: "9x9 (b4c32-9x9)".

    Args:
        network: Only the boards of this network; None for all.
    """
    models = {name: boards for name, boards in _models().items() if network in (None, name)}
    return ", ".join(f"{_boards(boards)} ({name})" for name, boards in models.items())


def _models() -> dict[str, dict[tuple[int, int], RankModel]]:
    return read_models(bundled_folder() / MODELS_FILE)


def _boards(boards: Mapping[tuple[int, int], object]) -> str:
    return " and ".join(f"{width}x{height}" for width, height in boards)


@functools.cache
def read_models(path: Path) -> dict[str, dict[tuple[int, int], RankModel]]:
    """Returns the models by the network's name and the board's width and height.

    Raises:
        UserError: The file is invalid.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        return {
            network: {_size(board): _model(entry) for board, entry in boards.items()}
            for network, boards in table.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: {error}") from error


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def _model(entry: Mapping[str, Any]) -> RankModel:
    shares: dict[Rank, np.ndarray] = {}
    for name, values in entry["shares"].items():
        rank, array = as_rank(name), np.array(values, float)
        if rank is None or array.shape != (KINDS,) or (array <= 0).any():
            raise ValueError(f"{name}: expected a rank with {KINDS} positive shares")
        shares[rank] = array / array.sum()
    if not shares or [*shares] != sorted(shares):
        raise ValueError("expected the shares of ranks, the weakest first")
    return RankModel(shares, float(entry["spread"]))
