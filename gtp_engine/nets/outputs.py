"""What raw outputs mean, for learning: `evaluate.decode` does the same and more for playing.

The formulas are those of KataGo for its files of versions 8 to 17.
"""

import math

from torch import Tensor
from torch.nn import functional

from .config import SUPERKO, TERRITORY, NetworkConfig

_LEAST_LOGIT = -40.0  # of a squared error: that of 2e-9; the gradient of the root of softplus(-100) is NaN


def no_result_possible(scalars: Tensor) -> Tensor:
    """Returns bool [n]: under simple ko, because of triple kos, and under territory rules, as KataGo is trained."""
    return (scalars[:, SUPERKO] == 0) | (scalars[:, TERRITORY] != 0)


def short_term_errors(scores: Tensor, config: NetworkConfig) -> tuple[Tensor | None, Tensor | None]:
    """Returns the expected short-term errors of value and score, [n] each, or None before version 9."""
    if config.version < 9:
        return None, None
    raw = scores[:, 4:6]
    if config.version == 9:
        value, score = functional.softplus(raw).unbind(1)
        return value, 10 * score
    if config.version < 14:
        errors = functional.softplus(raw.clamp(min=_LEAST_LOGIT)).sqrt()
    else:
        errors = functional.softplus(raw / 2)  # the square and its root, as in KataGo, have no gradient after underflow
    value, score = errors.unbind(1)
    factors = config.multipliers.value_error, config.multipliers.score_error
    return value * math.sqrt(factors[0]), score * math.sqrt(factors[1])
