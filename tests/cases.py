"""How much tests try: a third of their random cases, for one, unless `GTP_ENGINE_TESTS=all` asks for everything."""

import os

ALL = os.environ.get("GTP_ENGINE_TESTS") == "all"


def some(number: int) -> int:
    """Returns how many of so many cases are tried: a third, rounded up, or all."""
    return number if ALL else -(-number // 3)
