"""Which games are held back for validation: their numbers decide, so that every run holds back the same ones."""

import numpy as np

VALIDATION_SHARE = 20  # one game in 20
VALIDATION_SEED = 1  # of the choice of positions, the same in every run


def is_held(numbers: np.ndarray) -> np.ndarray:
    """Returns bool [games]: whether each game is held back for validation, by its number (uint64)."""
    return (numbers & np.uint64(0xFFFFFFFF)) % np.uint64(VALIDATION_SHARE) == 0
