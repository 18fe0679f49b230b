"""What a user may choose of an evaluator, by name, for those who must not wait for torch."""

from ..network.library import default_network

ROLLOUTS = "none"  # as the network's name
DEVICES = ("cpu", "cuda", "mps")
PRECISIONS = ("float32", "bfloat16", "float16")
AUTO = "auto"  # the network for the board; the best device there is; the precision that gains
LARGEST_BOARD = 19  # points a side: what KataGo's networks are trained for


def network_on(network: str, width: int, height: int) -> str:
    """The evaluator's name (`factory`) on a board, for what a user chose: with AUTO the shipped network's file, or
    ROLLOUTS where none is meant for such boards."""
    return str(default_network(width, height) or ROLLOUTS) if network == AUTO else network


def too_large(name: str, side: int) -> str:
    """That boards of more points a side are not for the evaluator of that name."""
    return f"{name} plays on boards up to {side}x{side}"
