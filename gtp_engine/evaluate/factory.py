"""Makes the evaluator that a `--network` option names."""

from .choices import ROLLOUTS
from .interface import Evaluator

UNIFORM = "uniform"


def make_evaluator(
    network: str = ROLLOUTS,
    *,
    threads: int = 1,
    seed: int | None = None,
    device: str = "auto",
    precision: str = "auto",
) -> Evaluator:
    """The evaluator of that name: "none" judges by random playouts, "uniform" knows nothing; else a network by its file
    or its name (`network.library`).

    threads: CPU threads that it may use. seed: makes its random choices repeat (with one thread exactly).
    device, precision: of networks, see `network.NetworkEvaluator`. Raises ValueError for what is unknown or no network,
    OSError for a file that cannot be read.
    """
    if network == ROLLOUTS:
        from .rollouts import RolloutEvaluator

        return RolloutEvaluator(threads=threads, seed=seed)
    if network == UNIFORM:
        from .uniform import UniformEvaluator

        return UniformEvaluator()
    from ..network.library import find_network

    path = find_network(network)
    from .network import NetworkEvaluator

    return NetworkEvaluator(path, threads=threads, device=device, precision=precision)
