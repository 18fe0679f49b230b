"""The torch modules of networks: fresh ones, those in files, and back to files."""

import os
from pathlib import Path

import torch

from ..base.fields import Range
from .config import parse_config
from .katago_file import write_katago_file
from .library import find_network, load_network
from .model import Model


def new_model(config: str, *, seed: int | None = None) -> Model:
    """Returns a network with random weights, to learn from the start: float32, on the CPU and in training mode.

    Args:
        config: Its size in KataGo's style: `b6c96` has 6 blocks of 96 channels (`gtp_engine learn --config`).
        seed: The seed of the weights, which repeats the same ones; None for torch's own random numbers.

    Raises:
        UserError: The configuration does not exist, or the seed is not a whole number between 0 and 2^62.
    """
    if seed is None:
        return Model(parse_config(config)).initialise()
    seed = int(Range(0, 2**62, whole=True).parse("seed", seed, from_text=False))
    return Model(parse_config(config)).initialise(torch.Generator().manual_seed(seed))


def load_model(network: str | os.PathLike[str]) -> Model:
    """Returns a network as a torch module, to train it or to look into it.

    It is float32, on the CPU and in evaluation mode, without the auxiliary heads that a checkpoint may have.
    `gtp_engine.load_network` loads one to play with, which is faster.

    Args:
        network: Its file, or its name among the installed ones.

    Raises:
        UserError: It is not found, or not a network.
        OSError: The file cannot be read.
    """
    return Model.from_stored(load_network(find_network(network)))


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Writes a network in KataGo's format, `.bin.gz`, without auxiliary heads; an existing file is replaced.

    A network that a `Learner` has trained is to be passed through `playing_network` first.

    Raises:
        UserError: The format cannot hold the network.
        OSError: The file cannot be written.
    """
    write_katago_file(model.stored(), Path(path))
