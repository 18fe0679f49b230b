"""Compiling what makes samples of games, by its first calls."""

from ...base.warm_up import Step, run_step
from ...go.sgf import read_sgf
from .loader import Samples


def compile_samples() -> None:
    """Compiles it or loads it from the cache, before Ctrl-C is only noted: nothing interrupts the compiler."""
    record = read_sgf(b"(;SZ[5]KM[0.5]RE[B+24.5];B[cc])")  # whose ownership is estimated
    run_step(Step("the samples of games", lambda: Samples.from_records([record]).batch([0])))
