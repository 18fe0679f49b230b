"""Makes the evaluator that a `--network` option names."""

from .interface import Evaluator

ROLLOUTS = "none"
UNIFORM = "uniform"


def make_evaluator(network: str = ROLLOUTS, *, threads: int = 1, seed: int | None = None) -> Evaluator:
    """The evaluator of that name: "none" judges by random playouts, "uniform" knows nothing; ValueError for others.

    threads: CPU threads that it may use. seed: makes its random choices repeat (with one thread exactly).
    """
    if network == ROLLOUTS:
        from .rollouts import RolloutEvaluator

        return RolloutEvaluator(threads=threads, seed=seed)
    if network == UNIFORM:
        from .uniform import UniformEvaluator

        return UniformEvaluator()
    raise ValueError(f"unknown network {network!r}: expected {ROLLOUTS} (random playouts) or {UNIFORM} (no knowledge)")
