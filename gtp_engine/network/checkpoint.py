"""Our own files, `.pt`: a network's config and numbers, the state of its training, its card."""

import io
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..files import write_whole
from .katago_file import NetworkFileError, check_shapes
from .model import Model
from .plain import config_from_data, to_data

FORMAT = "gtp_engine network 1"


@dataclass(frozen=True)
class Checkpoint:
    """model: in evaluation mode when read. training: what the learner needs to go on (tensors and plain data), or None.
    card: what the network is and how it was made, plain data."""

    model: Model
    training: Mapping[str, Any] | None = None
    card: Mapping[str, Any] = field(default_factory=dict)


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Writes the file whole or not at all."""
    data = {
        "format": FORMAT,
        "config": to_data(checkpoint.model.config),
        "weights": checkpoint.model.state_dict(),
        "training": checkpoint.training,
        "card": dict(checkpoint.card),
    }
    content = io.BytesIO()
    torch.save(data, content)  # into a file it would call a full disk a RuntimeError
    write_whole(path, lambda temporary: temporary.write_bytes(content.getbuffer()))


def read_checkpoint(path: Path) -> Checkpoint:
    """Raises NetworkFileError for a file that is none of ours; reading one runs no code."""
    data = _load(path)
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise NetworkFileError(f"{path}: no checkpoint of this program ({FORMAT!r} is not in it)")
    try:
        config = config_from_data(data.get("config"))
        numbers = sum(tensor.numel() for tensor in data["weights"].values())
        if config.parameter_count > numbers:  # before memory is taken for them
            raise ValueError(f"it describes {config.parameter_count:,} parameters and holds {numbers:,} numbers")
        model = Model(config)
        model.load_state_dict(data["weights"])
        check_shapes(model.eval())
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise NetworkFileError(f"{path}: a damaged checkpoint ({str(error).splitlines()[0]})") from error
    return Checkpoint(model, data.get("training"), data.get("card") or {})


def _load(path: Path) -> Any:
    content = io.BytesIO(path.read_bytes())
    try:
        return torch.load(content, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise NetworkFileError(f"{path}: no checkpoint of this program: it would run code when read") from error
    except (RuntimeError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NetworkFileError(f"{path}: a damaged checkpoint ({str(error).splitlines()[0]})") from error
