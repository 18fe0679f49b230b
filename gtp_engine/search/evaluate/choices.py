"""The names by which a user chooses an evaluator. Importing them imports neither numba nor torch."""

from ...nets.library import JUDGE, default_network

ROLLOUTS, UNIFORM = "none", "uniform"  # in place of a network's name
DEVICES = ("cpu", "cuda", "mps")
INT8 = "int8"  # 8-bit integers for what loses little by them, all else as auto
PRECISIONS = ("float32", "bfloat16", "float16", INT8)
AUTO = "auto"  # the network for the board; the best device; the fastest precision
CACHE_MEGABYTES = 200.0  # for evaluations of earlier positions
LARGEST_BOARD = 19  # the width and height up to which KataGo's networks are trained


def network_on(network: str, width: int, height: int, use: str = JUDGE) -> str:
    """Returns the name of the evaluator (`make_evaluator`) for a use (`default_networks`) on a board.

    For AUTO it is the file of the default network for such boards, or ROLLOUTS if there is none; otherwise `network`.
    """
    if network != AUTO:
        return network
    return str(default_network(width, height, use) or default_network(width, height) or ROLLOUTS)


def names_file(network: str) -> bool:
    """Whether a user names a network's file, rather than AUTO or an evaluator without a network."""
    return network not in (AUTO, ROLLOUTS, UNIFORM)


def too_large(name: str, side: int) -> str:
    """Returns the message that an evaluator does not play on boards larger than `side`."""
    return f"{name} plays on boards up to {side}x{side}"
