"""What a player's moves say about his rank: how many points each loses, and how natural a network finds it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..game.coords import BLACK, PASS, WHITE, index_of_point
from ..game.game import Game

if TYPE_CHECKING:
    from ..evaluate.batch import Evaluation, Network

# The kinds of moves, chosen by judgement: mistakes as a review divides them, and four degrees of a prior.
LOSSES = (0.5, 1.5, 3.0, 6.0, 12.0)  # points
PRIORS = (0.02, 0.1, 0.4)
KINDS = (len(LOSSES) + 1) * (len(PRIORS) + 1)


def find_evidence(network: "Network", games: Sequence[Game]) -> dict[int, np.ndarray]:
    """Returns how many moves of each kind both players made in a game.

    A move's loss is the fall of the lead that the network gives its player, from the position before it to the one
    after it, without a search. Passes are left out.

    Args:
        network: Evaluates the positions.
        games: The positions of one game in order, the first one before the first move that counts.

    Returns:
        The counts by colour, int [KINDS].
    """
    evaluations = network.evaluate(games)
    found = {colour: np.zeros(KINDS, np.int64) for colour in (BLACK, WHITE)}
    for before, after in zip(evaluations[:-1], evaluations[1:], strict=True):
        move = after.game.moves[-1]
        if move.point != PASS and move.colour == before.game.to_move:
            found[move.colour][_kind(before, after, move.point)] += 1
    return found


def _kind(before: "Evaluation", after: "Evaluation", point: int) -> int:
    view = 1 if after.game.to_move == before.game.to_move else -1
    loss = before.lead - view * after.lead
    prior = before.priors[index_of_point(point, before.game.width, before.game.height)]
    return int(np.digitize(loss, LOSSES)) * (len(PRIORS) + 1) + int(np.digitize(prior, PRIORS))


def features(rank: float) -> np.ndarray:
    """Returns what the shares of the kinds depend on: the terms of a parabola in the rank's number."""
    scaled = rank / 10
    return np.array([1.0, scaled, scaled * scaled])


def log_shares(coefficients: np.ndarray, rank: float) -> np.ndarray:
    """Returns the logarithms of the shares of the kinds in the moves of players of a rank.

    Args:
        coefficients: float [KINDS, 3], as `fit` finds them.
        rank: The rank's number, see `ranks.Rank`.
    """
    logits = coefficients @ features(rank)
    return np.asarray(logits - np.logaddexp.reduce(logits))


def fit(counts: Mapping[int, np.ndarray], rounds: int = 100) -> np.ndarray:
    """Fits the shares of the kinds to moves of players of known ranks: multinomial logistic regression.

    Args:
        counts: int [KINDS] by the rank's number.
        rounds: Steps of Newton's method.

    Returns:
        The coefficients, float [KINDS, 3], of which the most frequent kind has zeros.
    """
    inputs = np.array([features(rank) for rank in counts])
    wanted = np.array([*counts.values()], float)
    totals = wanted.sum(axis=1, keepdims=True)
    fixed = int(np.argmax(wanted.sum(axis=0)))
    free = [kind for kind in range(KINDS) if kind != fixed]
    coefficients = np.zeros((KINDS, inputs.shape[1]))
    size = len(free) * inputs.shape[1]
    for _ in range(rounds):
        logits = inputs @ coefficients.T
        shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))[:, free]
        # A weak prior keeps kinds finite that nobody played.
        gradient = (wanted[:, free] - totals * shares).T @ inputs - _PRECISION * coefficients[free]
        spread = np.einsum("ri,ij->rij", shares, np.eye(len(free))) - np.einsum("ri,rj->rij", shares, shares)
        hessian = np.einsum("r,rij,ra,rb->iajb", totals[:, 0], spread, inputs, inputs).reshape(size, size)
        step = np.linalg.solve(hessian + _PRECISION * np.eye(size), gradient.reshape(size)).reshape(len(free), -1)
        coefficients[free] += np.clip(step, -1, 1)
        if np.abs(step).max() < _CONVERGED:
            break
    return coefficients


_PRECISION = 0.1  # of the coefficients
_CONVERGED = 1e-6
