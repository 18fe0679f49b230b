"""Compiling what makes samples of games, by its first calls."""

from ...base.warm_up import Step, run_step
from ...go.sgf import read_sgf
from .loader import Samples


def compile_samples() -> None:
    """Compiles it or loads it from the cache, before Ctrl-C is only noted: nothing interrupts the compiler."""
    run_step(Step("the samples of games", _use_samples))


def _use_samples() -> None:
    """Makes a sample of a game, whose ownership it estimates."""
    Samples.from_records([read_sgf(b"(;SZ[5]KM[0.5]RE[B+24.5];B[cc])")]).batch([0])
