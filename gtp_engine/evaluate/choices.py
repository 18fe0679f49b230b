"""What a user may choose of a network's evaluator, by name, for those who must not wait for torch."""

DEVICES = ("cpu", "cuda", "mps")
PRECISIONS = ("float32", "bfloat16", "float16")
AUTO = "auto"  # the best device there is; the precision that gains
LARGEST_BOARD = 19  # points a side: what KataGo's networks are trained for


def too_large(name: str, side: int) -> str:
    """That boards of more points a side are not for the evaluator of that name."""
    return f"{name} plays on boards up to {side}x{side}"
