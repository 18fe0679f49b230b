"""How thorough the tests are: they try a third of their random cases, or all with `GTP_ENGINE_TESTS=all`."""

import os

ALL = os.environ.get("GTP_ENGINE_TESTS") == "all"


def some(number: int) -> int:
    """Returns the number of cases to try: a third of `number`, rounded up, or all of them."""
    return number if ALL else -(-number // 3)
