"""What processes beside the first one do (`ranks`): they learn the same network from their parts of the batches."""

from dataclasses import dataclass
from typing import Any

import torch

from ..log import log
from ..network.config import NetworkConfig
from ..network.model import Model
from ..wording import reason
from .learner import Learner, LearnerSettings
from .loader import Loader, Samples, loader_threads
from .ranks import Ranks


@dataclass(frozen=True)
class _Lesson:
    """The learner as it stands, and what it learns from now on."""

    device: str
    config: NetworkConfig
    settings: LearnerSettings
    state: dict[str, Any]
    samples: Samples
    batch_size: int
    seed: int
    drawn: int
    threads: int


def begin_lesson(ranks: Ranks, learner: Learner, loader: Loader) -> None:
    """The others are to learn with `learner` what `loader` gives from now on."""
    if ranks.count > 1:
        device, settings, threads = learner.device.type, learner.settings, torch.get_num_threads()
        draws = loader.batch_size, loader.seed, loader.drawn
        ranks.begin(_Lesson(device, learner.model.config, settings, learner.state(), loader.samples, *draws, threads))


def follow(ranks: Ranks) -> bool:
    """Learns with rank 0 to its end; False, and a line on stderr, where that was lost."""
    learner: Learner | None = None
    loader: Loader | None = None
    try:
        for lesson in ranks.heard():
            if lesson:
                if loader:
                    loader.close()
                learner, loader = _begin(ranks, lesson, learner)
            elif learner and loader:
                learner.step(next(loader))
    except RuntimeError as error:  # of torch, and of `ranks`
        log(f"process {ranks.rank} of those that learn together ends: {reason(error)}")
        return False
    finally:
        if loader:
            loader.close()
    return True


def _begin(ranks: Ranks, lesson: _Lesson, learner: Learner | None) -> tuple[Learner, Loader]:
    torch.set_num_threads(lesson.threads)
    device = ranks.device(torch.device(lesson.device))
    if learner is None:
        learner = Learner(Model(lesson.config), lesson.settings, device, ranks)
    learner.settings = lesson.settings
    learner.load_state(lesson.state)
    loader = Loader(
        lesson.samples,
        lesson.batch_size,
        seed=lesson.seed,
        drawn=lesson.drawn,
        threads=loader_threads(lesson.threads),
        pinned=device.type == "cuda",
        part=(ranks.rank, ranks.count),
    )
    return learner, loader
