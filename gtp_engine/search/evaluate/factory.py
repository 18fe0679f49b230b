"""The evaluator that a `--network` option names. What it is made of is imported only when it is made."""

from ...nets.library import find_network
from .choices import CACHE_MEGABYTES, ROLLOUTS, UNIFORM
from .evaluator import Evaluator


def make_evaluator(
    network: str = ROLLOUTS,
    *,
    threads: int = 1,
    seed: int | None = None,
    device: str = "auto",
    precision: str = "auto",
    cache_megabytes: float = CACHE_MEGABYTES,
) -> Evaluator:
    """Returns a new evaluator.

    Args:
        network: "none" for random rollouts, "uniform" for an evaluator without knowledge, or a network's file or name
            (`nets.library`).
        threads: CPU threads that it may use.
        seed: makes its random choices repeatable.
        device, precision, cache_megabytes: of networks, see `network_evaluator.NetworkEvaluator`.

    Raises:
        UserError: the network, device or precision is unknown, or the file is not a network.
        OSError: the file cannot be read.
    """
    if network == ROLLOUTS:
        from .rollouts import RolloutEvaluator

        return RolloutEvaluator(threads=threads, seed=seed)
    if network == UNIFORM:
        from .rollouts import UniformEvaluator

        return UniformEvaluator()
    path = find_network(network)
    from .network_evaluator import NetworkEvaluator

    return NetworkEvaluator(path, threads=threads, device=device, precision=precision, cache_megabytes=cache_megabytes)
