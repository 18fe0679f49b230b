"""This program's own network files, `.pt`: config and weights, the state of training, the network's card."""

import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ..base.errors import UserError
from ..base.files import write_bytes
from .config import check_shapes, config_from_data, to_data
from .katago_file import NetworkFileError
from .model import Model

FORMAT = "gtp_engine network 1"
# What reading a file that is cut short or has other bytes raises, in zipfile and in torch.
_DAMAGES = (RuntimeError, EOFError, ValueError, KeyError, OverflowError, struct.error, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Checkpoint:
    """The content of a file."""

    model: Model  # the network; in evaluation mode if it was read from a file
    training: Mapping[str, Any] | None = None  # what the learner needs to resume (tensors and plain data), or None
    card: Mapping[str, Any] = field(default_factory=dict)  # what the network is and how it was made, as plain data


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Writes a checkpoint atomically; OSError if the file cannot be written."""
    data = {
        "format": FORMAT,
        "config": to_data(checkpoint.model.config),
        "weights": checkpoint.model.state_dict(),
        "training": checkpoint.training,
        "card": dict(checkpoint.card),
    }
    content = io.BytesIO()
    torch.save(data, content)  # writing to a file, torch reports a full disk as a RuntimeError
    write_bytes(path, content.getbuffer())


def read_checkpoint(path: Path) -> Checkpoint:
    """Reads a checkpoint, running no code from it; NetworkFileError for a damaged or another file, or OSError."""
    data = _load(path)
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise NetworkFileError(f"{path}: not a checkpoint of this program ({FORMAT!r} is missing)")
    try:
        config = config_from_data(data.get("config"))
        values = sum(tensor.numel() for tensor in data["weights"].values())
        if config.parameter_count > values:  # before memory is allocated for them
            raise UserError(f"it describes {config.parameter_count:,} parameters and contains {values:,} values")
        check_shapes(config)
        model = Model(config)
        model.load_state_dict(data["weights"])
        for name, tensor in model.state_dict().items():
            if not tensor.isfinite().all():
                raise UserError(f"{name} contains NaN or infinite values")
            if name.endswith(".running_var") and not (tensor >= 0).all():
                raise UserError(f"{name} contains negative variances")
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise NetworkFileError(f"{path}: a damaged checkpoint ({_first_line(error)})") from error
    return Checkpoint(model.eval(), data.get("training"), data.get("card") or {})


def _load(path: Path) -> Any:
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # torch writes checksums and does not read them
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise UserError("it is compressed, which no checkpoint is")  # and might expand without end
            if (part := archive.testzip()) is not None:
                raise UserError(f"the checksum of {part} is wrong")
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise NetworkFileError(f"{path}: not a checkpoint of this program: reading it would run code") from error
    except _DAMAGES as error:
        raise NetworkFileError(f"{path}: a damaged checkpoint ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    """Returns the first line of a message, or the kind of error if it has none; torch adds lines of advice."""
    return next(iter(str(error).splitlines()), type(error).__name__)
