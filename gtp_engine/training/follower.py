"""The training processes of rank 1 and above (`ddp`): they train on their parts of the batches of rank 0."""

import logging
from dataclasses import dataclass
from typing import Any

import torch

from ..base.errors import error_text
from ..base.system import configure_torch
from ..nets.config import NetworkConfig
from ..nets.model import Model
from .data.loader import Loader, Samples, loader_threads
from .ddp import ProcessGroup
from .learner import Learner
from .limit import RESOURCE_ERRORS
from .run_settings import LearnerSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Task:
    """The present state of rank 0's learner, and the samples that it uses from now on."""

    device: str
    config: NetworkConfig
    settings: LearnerSettings
    state: dict[str, Any]
    samples: Samples
    batch_size: int
    seed: int
    drawn: int
    threads: int


def start_followers(group: ProcessGroup, learner: Learner, loader: Loader) -> None:
    """Makes the other processes train `learner` on the batches of `loader`; to be called by rank 0."""
    if group.count > 1:
        device, settings, threads = learner.device.type, learner.settings, torch.get_num_threads()
        draws = loader.batch_size, loader.seed, loader.drawn
        config, state = learner.model.config, learner.state()
        group.broadcast(_Task(device, config, settings, state, loader.samples, *draws, threads))


def run_follower(group: ProcessGroup) -> bool:
    """Trains with rank 0 until that ends.

    Returns:
        False if rank 0 or another process was lost, or if this one is out of memory; the reason is logged.
    """
    learner: Learner | None = None
    loader: Loader | None = None
    try:
        for task in group.receive():
            if task:
                if loader:
                    loader.close()
                learner, loader = _begin(group, task, learner)
            elif learner and loader:
                learner.step(next(loader))
    except RESOURCE_ERRORS as error:
        logger.error(f"training process {group.rank} ends: {error_text(error)}")
        return False
    finally:
        if loader:
            loader.close()
    return True


def _begin(group: ProcessGroup, task: _Task, learner: Learner | None) -> tuple[Learner, Loader]:
    configure_torch(task.threads)
    device = group.device(torch.device(task.device))
    if learner is None:
        learner = Learner(Model(task.config), task.settings, device, group)
    learner.settings = task.settings
    learner.load_state(task.state)
    loader = Loader(
        task.samples,
        task.batch_size,
        seed=task.seed,
        drawn=task.drawn,
        threads=loader_threads(task.threads),
        pinned=device.type == "cuda",
        part=(group.rank, group.count),
    )
    return learner, loader
