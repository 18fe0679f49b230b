"""Learns two networks, each from two sets of games, alone or under torchrun, and writes the learners' states to a file.

Run as `learned_together.py FILE`.
"""

import os
import sys
from pathlib import Path
from typing import Any

import torch
from making import random_game, sample_game

from gtp_engine.nets.config import parse_config
from gtp_engine.nets.model import Model
from gtp_engine.training.data.loader import Loader, Samples
from gtp_engine.training.data.samples import pack
from gtp_engine.training.ddp import ProcessGroup
from gtp_engine.training.learner import Learner, run_follower, start_followers
from gtp_engine.training.run_settings import LearnSettings

BATCH, STEPS = 12, 5
NETWORKS = ("b2c16", "b1c16h2tfrs")  # with the statistics of batches, and without any


def sets() -> list[Samples]:
    """Returns boards that fill the tensors, and boards of two sizes, which need masks."""
    games = [sample_game(random_game(number, 5 + 2 * (number % 2), moves=30), number=number) for number in range(8)]
    return [Samples(pack(games[::2])), Samples(pack(games))]


def learn(network: str, group: ProcessGroup) -> Learner:
    torch.set_num_threads(1)
    model = Model(parse_config(network)).initialise(torch.Generator().manual_seed(1))
    # AdamW would amplify gradients that are zero up to rounding, those that a batch norm cancels.
    settings = LearnSettings(batch_size=BATCH, optimizer="sgd", learning_rate=0.05, warm_up=100, precision="float32")
    learner = Learner(model, settings, torch.device("cpu"), group)
    for samples in sets():
        # With the seed 2 an activation lies at the bend of relu, up to rounding, so that rounding decides its gradient.
        loader = Loader(samples, BATCH, seed=3, drawn=learner.samples, part=(group.rank, group.count))
        start_followers(group, learner, loader, threads=1)
        for _ in range(STEPS):
            learner.step(next(loader))
        loader.close()
    return learner


def result(learner: Learner) -> dict[str, Any]:
    """Returns what must not depend on the number of processes."""
    named = {f"model.{name}": tensor for name, tensor in learner.model.state_dict().items()}
    named |= {f"average.{name}": tensor for name, tensor in learner.average.state_dict().items()}
    return {"samples": learner.samples, "losses": learner.check(), "tensors": named}


if __name__ == "__main__":
    with ProcessGroup(os.environ) as group:
        if group.rank == 0:
            torch.save({network: result(learn(network, group)) for network in NETWORKS}, Path(sys.argv[1]))
        elif not run_follower(group):
            sys.exit(1)
