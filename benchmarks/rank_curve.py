"""The curve of Elo over strength that fits the results of games best; `rank_ladder.py` plays them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Standard deviation of the prior for the step between two points of the path, in Elo. It only matters where all games
# have the same winner: then the step has no largest likelihood.
_PRIOR = 400.0
# The prior of a cubic smoothing spline: how much the slope changes in one unit of the path (`_place`), as a standard
# deviation in Elo. Of 100 to 2,000 for the policy and 30 to 200 for searches these give the largest likelihood to 70 %
# of some 13,000 games of a network on 9x9, 13x13 and 19x19 each, if the curve is fitted to the other 30 %.
_POLICY_ROUGHNESS = 200.0
_SEARCH_ROUGHNESS = 60.0
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
    """Elo at points of the path, straight between them, never falling, and as smooth as the games allow.

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
    """Fits the curve, and the strength of another player, by the largest posterior probability (logistic Elo).

    The slope of the curve is expected to change little from one step to the next, so that games between neighbours also
    tell about the steps beside theirs. Having Black is worth as much to each strength, since all play as often with it:
    it is left out.

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
    precision = np.diag([*np.full(count - 1, _PRIOR**-2), 1e-12])  # the anchor has no prior, and may not have played
    precision[:-1, :-1] += _smoothness(np.array(points))
    free = np.ones(count, bool)
    while True:
        held = np.diag(np.where(free, 0.0, 1.0))
        steps, hessian = _maximise(rows * free, wins, games, precision * np.outer(free, free) + held)
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


def _place(points: np.ndarray) -> np.ndarray:
    """Returns where strengths lie on a scale on which Elo rises evenly: the logarithm of the policy's exponent below 1,
    and the logarithm to base 2 of the visits from 1 on."""
    with np.errstate(divide="ignore"):
        exponent = np.log(points / np.where(points < 1, 1 - points, 1))
    return np.where(points < 1, exponent, points - 1)


def _smoothness(points: np.ndarray) -> np.ndarray:
    """Returns the precision of the steps between points, a matrix, by which neighbouring slopes differ little."""
    precision = np.zeros((len(points) - 1, len(points) - 1))
    for first in range(len(points) - 2):
        lengths = np.diff(_place(points[first : first + 3]))
        of_search = points[first] >= 1
        if points[first] == 0 or of_search != (points[first + 2] >= 1):
            continue  # the exponent is 0 or infinite there
        change = np.array([-1, 1]) / lengths
        roughness = _SEARCH_ROUGHNESS if of_search else _POLICY_ROUGHNESS
        both = slice(first, first + 2)
        precision[both, both] += np.outer(change, change) / (roughness**2 * lengths.mean())
    return precision


def _maximise(
    rows: np.ndarray, wins: np.ndarray, games: np.ndarray, precision: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the steps of the largest posterior, by Newton's method, and the negative second derivatives there."""
    steps = np.zeros(len(precision))
    hessian = precision
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(-rows @ steps))
        gradient = rows.T @ (wins - games * expected) - precision @ steps
        hessian = (rows.T * (games * expected * (1 - expected))) @ rows + precision
        steps += np.clip(np.linalg.solve(hessian, gradient), -_PRIOR, _PRIOR)
    return steps, hessian
