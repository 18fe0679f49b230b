"""The curve of Elo over strength that fits the results of games best; `rank_ladder.py` plays them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Standard deviation of the prior for the step between two points of the path, in Elo. It only matters where all games
# have the same winner: then the step has no largest likelihood.
_PRIOR = 400.0
_ELO = np.log(10) / 400
_ROUNDS = 50


@dataclass(frozen=True)
class Pairing:
    """Games of one strength with Black against another: Black's points and the number of games."""

    black: float
    white: float
    points: float
    games: float


@dataclass(frozen=True)
class Curve:
    """Elo at points of the path, straight between them, and never falling.

    Attributes:
        strengths: The points.
        elos: Their Elo, 0 for the first one.
        covariance: Of the steps from each point to the next, in Elo squared; 0 where the curve is flat because the
            games would make it fall.
        anchor: The Elo of the other player of the fit; None without games against it.
        anchor_error: Its standard error, with the path taken as exact.
    """

    strengths: np.ndarray
    elos: np.ndarray
    covariance: np.ndarray
    anchor: float | None
    anchor_error: float

    @property
    def errors(self) -> np.ndarray:
        """The standard error of each point's step from the point before, 0 for the first one; NaN where it is flat."""
        variances = np.diag(self.covariance)
        return np.concatenate(([0.0], np.sqrt(np.where(variances > 0, variances, np.nan))))

    def elo(self, strength: float) -> float:
        """Returns the Elo of a strength."""
        return float(np.interp(strength, self.strengths, self.elos))

    def strength_at(self, elo: float) -> float:
        """Returns the lowest strength of this Elo; the end of the path beyond it."""
        place = int(np.searchsorted(self.elos, elo))  # the first point that is as strong
        if place in (0, len(self.elos)):
            return float(self.strengths[min(place, len(self.elos) - 1)])
        return float(np.interp(elo, self.elos[place - 1 : place + 1], self.strengths[place - 1 : place + 1]))

    def difference(self, one: float, other: float) -> tuple[float, float]:
        """Returns by how much Elo a strength is above another one, by all games, and the standard error."""
        steps = steps_to(one, self.strengths) - steps_to(other, self.strengths)
        return self.elo(one) - self.elo(other), float(np.sqrt(steps @ self.covariance @ steps))


def steps_to(strength: float, points: Sequence[float] | np.ndarray) -> np.ndarray:
    """Returns the share of each step between neighbouring points that lies below a strength."""
    place = np.interp(strength, points, np.arange(len(points)))
    return np.clip(place - np.arange(len(points) - 1), 0, 1)


def fit(points: Sequence[float], pairings: Sequence[Pairing], anchor: float) -> Curve:
    """Fits the curve, and the strength of another player, by maximum likelihood (logistic Elo).

    Having Black is worth as much to each strength, since all play as often with it: it is left out.

    Args:
        points: The strengths at which the curve may bend.
        pairings: The games.
        anchor: What stands for the other player in the pairings.
    """
    count = len(points)

    def row(strength: float) -> np.ndarray:
        """Returns the weights by which the steps between points and the anchor make a strength's Elo."""
        weights = np.zeros(count)
        if strength == anchor:
            weights[-1] = 1
            return weights
        weights[:-1] = steps_to(strength, points)
        return weights

    rows = np.array([row(one.black) - row(one.white) for one in pairings]).reshape(-1, count) * _ELO
    wins, games = np.array([(one.points, one.games) for one in pairings]).reshape(-1, 2).T
    of_anchor = np.array([anchor in (one.black, one.white) for one in pairings])
    # One drawn game more bounds the anchor's Elo if it has lost or won all its games.
    drawn = of_anchor / max(1, of_anchor.sum())
    wins, games = wins + drawn / 2, games + drawn
    precision = np.full(count, _PRIOR**-2)
    precision[-1] = 1e-12  # it has no prior, and may not have played
    free = np.ones(count, bool)
    while True:
        steps, hessian = _maximise(rows * free, wins, games, precision)
        falling = free & (steps < 0)
        falling[-1] = False
        if not falling.any():
            break
        free &= ~falling  # the path is flat there
    covariance = np.where(free[:, None] & free, np.linalg.inv(hessian), 0.0)[:-1, :-1]
    anchor_error = 1 / np.sqrt(hessian[-1, -1])
    elos = np.concatenate(([0.0], np.cumsum(steps[:-1])))
    return Curve(
        np.array(points),
        elos,
        covariance,
        float(steps[-1]) if of_anchor.any() else None,
        float(anchor_error),
    )


def _maximise(
    rows: np.ndarray, wins: np.ndarray, games: np.ndarray, precision: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the steps of the largest likelihood, by Newton's method, and the negative second derivatives there."""
    steps = np.zeros(len(precision))
    hessian = np.diag(precision)
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(-rows @ steps))
        gradient = rows.T @ (wins - games * expected) - precision * steps
        hessian = (rows.T * (games * expected * (1 - expected))) @ rows + np.diag(precision)
        steps += np.clip(np.linalg.solve(hessian, gradient), -_PRIOR, _PRIOR)
    return steps, hessian
