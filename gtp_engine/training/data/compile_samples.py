"""Compiling what makes samples of games, by its first calls."""

import numpy as np

from ...base.warm_up import Step, run_step
from ...go.sgf import read_sgf
from .game_records import read_record
from .loader import Samples
from .ownership import label_ownership
from .rows import find_illegal, new_workspace
from .samples import pack


def compile_samples() -> None:
    """Compiles it or loads it from the cache, before Ctrl-C is only noted: nothing interrupts the compiler."""
    run_step(Step("the samples of games", _use_samples))


def _use_samples() -> None:
    """Makes a sample of a game, whose ownership it estimates."""
    games = pack([read_record(read_sgf(b"(;SZ[5]KM[0.5]RE[B+24.5];B[cc])"))])
    find_illegal(games, 0, new_workspace())
    Samples(label_ownership(games)).batch(np.zeros(1, np.int64), np.zeros(1, np.int64))
