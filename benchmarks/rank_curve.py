"""The curve of Elo over strength that fits the games of a network's ranks, and the scale of ranks on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gtp_engine.engine.ranks import Rank

ELO_PER_RANK = 100.0
# How far from it two programs may pull the distance of neighbours: half of the 30 Elo by which it may be off. The other
# half is for the error of the games, a standard error of 15.
MOST_STRETCH = 15.0
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
    """Games of one player with Black against another: Black's points and the number of games."""

    black: float
    white: float
    points: float
    games: float


@dataclass(frozen=True)
class Curve:
    """Elo at points of the path, straight between them, never falling, and as smooth as the games allow.

    A player is a strength or a program. The first point has 0 Elo.

    Attributes:
        strengths: The points.
        programs: The programs that have played.
        values: The step in Elo from each point to the next, then the Elo of each program.
        covariance: Of the values, in Elo squared; 0 where the curve is flat because the games would make it fall.
    """

    strengths: np.ndarray
    programs: tuple[float, ...]
    values: np.ndarray
    covariance: np.ndarray

    @property
    def elos(self) -> np.ndarray:
        """The Elo of each point."""
        return np.concatenate(([0.0], np.cumsum(self.values[: len(self.strengths) - 1])))

    def elo(self, player: float) -> float:
        """Returns the Elo of a player."""
        return float(weights_of(player, self.strengths, self.programs) @ self.values)

    def strength_at(self, elo: float) -> float:
        """Returns the lowest strength of this Elo; the end of the path beyond it."""
        elos = self.elos
        place = int(np.searchsorted(elos, elo))  # the first point that is as strong
        if place in (0, len(elos)):
            return float(self.strengths[min(place, len(elos) - 1)])
        return float(np.interp(elo, elos[place - 1 : place + 1], self.strengths[place - 1 : place + 1]))

    def difference(self, one: float, other: float) -> tuple[float, float]:
        """Returns by how much Elo a player is above another one, by all games, and the standard error."""
        weights = weights_of(one, self.strengths, self.programs) - weights_of(other, self.strengths, self.programs)
        return float(weights @ self.values), float(np.sqrt(weights @ self.covariance @ weights))


def weights_of(player: float, points: Sequence[float] | np.ndarray, programs: Sequence[float]) -> np.ndarray:
    """Returns the weights by which a curve's values make a player's Elo: the share of each step that lies below it."""
    if player in programs:
        return np.eye(len(points) - 1 + len(programs))[len(points) - 1 + programs.index(player)]
    place = np.interp(player, points, np.arange(len(points)))
    return np.concatenate((np.clip(place - np.arange(len(points) - 1), 0, 1), np.zeros(len(programs))))


def fit(points: Sequence[float], pairings: Sequence[Pairing], programs: Sequence[float]) -> Curve:
    """Fits the curve, and the Elo of programs, by the largest posterior probability (logistic Elo).

    The slope of the curve is expected to change little from one step to the next, so that games between neighbours also
    tell about the steps beside theirs. Having Black is worth as much to each player, since all play as often with it:
    it is left out.

    Args:
        points: The strengths at which the curve may bend.
        pairings: The games.
        programs: What stands for programs in the pairings; those without games are left out.
    """
    programs = tuple(one for one in programs if any(one in (games.black, games.white) for games in pairings))
    steps, count = len(points) - 1, len(points) - 1 + len(programs)

    def row(pairing: Pairing) -> np.ndarray:
        return weights_of(pairing.black, points, programs) - weights_of(pairing.white, points, programs)

    rows = np.array([row(one) for one in pairings]).reshape(-1, count) * _ELO
    wins, games = np.array([(one.points, one.games) for one in pairings]).reshape(-1, 2).T
    # One drawn game more bounds the Elo of a program that has lost or won all its games.
    played = rows[:, steps:] != 0
    drawn = (played / np.maximum(1, played.sum(axis=0))).sum(axis=1)
    wins, games = wins + drawn / 2, games + drawn
    precision = np.diag([*np.full(steps, _PRIOR**-2), *np.zeros(len(programs))])  # programs have no prior
    precision[:steps, :steps] += _smoothness(np.array(points))
    free = np.ones(count, bool)
    while True:
        held = np.diag(np.where(free, 0.0, 1.0))
        values, hessian = _maximise(rows * free, wins, games, precision * np.outer(free, free) + held)
        falling = free & (values < 0)
        falling[steps:] = False
        if not falling.any():
            break
        free &= ~falling  # the path is flat there
    return Curve(np.array(points), programs, values, np.where(np.outer(free, free), np.linalg.inv(hessian), 0.0))


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
    """Returns the values of the largest posterior, by Newton's method, and the negative second derivatives there."""
    values = np.zeros(len(precision))
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(-rows @ values))
        gradient = rows.T @ (wins - games * expected) - precision @ values
        hessian = (rows.T * (games * expected * (1 - expected))) @ rows + precision
        values += np.clip(np.linalg.solve(hessian, gradient), -_PRIOR, _PRIOR)
    return values, hessian


@dataclass(frozen=True)
class Scale:
    """Where ranks lie on a curve.

    Attributes:
        distance: The Elo from a rank to the next, in games between players with the network.
        zero: The Elo of 1k, the rank of the number 0.
        by_pins: The distance that would give two programs their ranks, and its standard error; None with one program.
    """

    distance: float
    zero: float
    by_pins: tuple[float, float] | None = None

    def elo(self, rank: Rank) -> float:
        """Returns the Elo of a rank."""
        return self.zero + self.distance * rank.number

    def above(self, elo: float, rank: Rank) -> float:
        """Returns by how many ranks an Elo is above a rank."""
        return (elo - self.elo(rank)) / self.distance


def scale_of(curve: Curve, ranks: Mapping[float, Rank]) -> Scale:
    """Returns the scale on which one or two programs come out at their ranks, as nearly as possible.

    One program fixes where the scale lies, and ranks are ELO_PER_RANK apart. Two also say how far apart: they are the
    known number of ranks from each other. On b6c64-19x19 they are not 100 Elo a rank apart on the curve but some 160
    (GNU Go as 8k, Pachi as 3k), as if games between players with one network exaggerated differences. But with 100
    Elo four handicap stones nearly make up for four ranks, which is what ranks mean to people; with 160 they could not,
    and a random mover would be stronger than 20k. Nor is a program's rank among people known to less than a rank. So
    the programs may stretch the distance by MOST_STRETCH, no more, so that neighbours are 100 +- 30 Elo apart by all
    games; what remains is shared: both programs come out equally far from their ranks, on opposite sides.

    Args:
        curve: The curve.
        ranks: The rank of each program; those that have not played are left out.
    """
    pins = [one for one in ranks if one in curve.programs]
    distance, by_pins = ELO_PER_RANK, None
    if len(pins) > 1:
        apart = ranks[pins[1]].number - ranks[pins[0]].number
        elo, error = curve.difference(pins[1], pins[0])
        by_pins = elo / apart, error / apart
        distance = float(np.clip(by_pins[0], ELO_PER_RANK - MOST_STRETCH, ELO_PER_RANK + MOST_STRETCH))
    return Scale(distance, float(np.mean([curve.elo(one) - distance * ranks[one].number for one in pins])), by_pins)
