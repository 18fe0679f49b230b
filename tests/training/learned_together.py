"""Learns on two sets of games, by itself or under torchrun, and writes what has become of the learner.

Run as `learned_together.py FILE`.
"""

import os
import sys
from pathlib import Path
from typing import Any

import torch
from making import random_game, sample_game

from gtp_engine.network.config import parse_config
from gtp_engine.network.model import Model
from gtp_engine.training.learner import Learner, LearnerSettings
from gtp_engine.training.loader import Loader, Samples
from gtp_engine.training.ranks import Ranks
from gtp_engine.training.samples import pack
from gtp_engine.training.together import begin_lesson, follow

BATCH, STEPS = 12, 5


def sets() -> list[Samples]:
    """Boards that fill the tensors, and such of two sizes, which need masks."""
    games = [sample_game(random_game(number, 5 + 2 * (number % 2), moves=30), number=number) for number in range(8)]
    return [Samples(pack(games[::2])), Samples(pack(games))]


def learn(ranks: Ranks) -> Learner:
    torch.set_num_threads(1)
    model = Model(parse_config("b2c16")).initialise(torch.Generator().manual_seed(1))
    # AdamW makes steps of gradients that are zero but for rounding (of what a batch norm takes away again).
    settings = LearnerSettings(batch_size=BATCH, optimizer="sgd", learning_rate=0.05, warm_up=100)
    learner = Learner(model, settings, torch.device("cpu"), ranks)
    for samples in sets():
        loader = Loader(samples, BATCH, seed=2, drawn=learner.samples, part=(ranks.rank, ranks.count))
        begin_lesson(ranks, learner, loader)
        for _ in range(STEPS):
            learner.step(next(loader))
        loader.close()
    return learner


def result(learner: Learner) -> dict[str, Any]:
    """What is to be the same however many have learned."""
    named = {f"model.{name}": tensor for name, tensor in learner.model.state_dict().items()}
    named |= {f"average.{name}": tensor for name, tensor in learner.average.state_dict().items()}
    return {"samples": learner.samples, "losses": learner.check(), "tensors": named}


if __name__ == "__main__":
    with Ranks(os.environ) as ranks:
        if ranks.rank == 0:
            torch.save(result(learn(ranks)), Path(sys.argv[1]))
        elif not follow(ranks):
            sys.exit(1)
