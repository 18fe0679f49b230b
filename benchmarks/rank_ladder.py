"""Calibrates the ranks of a network on a board size, and verifies them, for `weights/ranks.toml` and docs/ranks.md.

Every game is played in this process by the code that decides the engine's moves (`play.decision`), at two strengths
(`play.strength`), from random openings of two moves with both colours. The same command resumes. The steps:

    calibrate  games between neighbouring points of the path from a random mover to the largest search, 40 games against
               GNU Go 3.8 level 10, the anchor of the scale (8k), and then games between neighbouring ranks of the curve
               so far, where it is least certain, until the difference of all neighbours has an interval of +-30 Elo
    gnugo      more games against GNU Go near its strength
    table      no games: prints the curve, the table for ranks.toml, and the measured ranks of the table that is there
    verify     games between neighbouring ranks, and ranks two apart, of the table in ranks.toml
    handicap   games in which a rank takes four stones from the one four ranks above, of the same table

A smooth curve of Elo over strength is fitted to all games; ranks lie 100 Elo apart on it. Without
GNU Go, `--anchor 1.7=8k` fixes the scale by stating which rank a strength is.
"""

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from common import network_or_default
from network_strength import gnugo
from rank_games import GNUGO, PlayedGame, RankGames, opened_games

from gtp_engine.arena.elo import Tally, elo_difference, elo_interval
from gtp_engine.base.errors import UserError
from gtp_engine.engine.ranks import RANKS, Rank, Strength, as_rank
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points

GNUGO_RANK = Rank(1 - 8)  # 8k
ELO_PER_RANK = 100
# Points of the path: a random mover, the policy ever less blurred, its first choice; then searches of 2, 4, 8 visits.
# Some 100 Elo lie between them, and on large boards most of it in the middle: more mistakes fit into a game.
POLICY = (0.0, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
LOW = (0.0, 0.1, 0.15, 0.18, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34, 0.36, 0.38, 0.4)
POLICY_ON_LARGE_BOARDS = (*LOW, 0.44, 0.48, 0.52, 0.56, 0.6, 0.7, 0.8, 1.0)
LARGE_BOARD = 11
HANDICAP = 4
FIRST_GAMES = 40  # of each step of the path, and against GNU Go, before the games between ranks
HALF_WIDTH = 30.0  # of the interval of the difference between neighbouring ranks, in Elo
OPENINGS_AT_ONCE = 10  # between two neighbours until the curve is fitted again
NORMAL = 1.96  # standard errors on each side in an interval of 95 %
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


class Ladder(RankGames):
    """The games of a network on one board by which its ranks are calibrated."""

    def __init__(self, network: str, size: int, seed: int) -> None:
        super().__init__(network, size, seed, "rank_ladder")
        self._openings = seed

    def played(self, one: float, other: float, handicap: int = 0) -> list[PlayedGame]:
        """Returns the games between two strengths."""
        both = {one, other}
        return [game for game in self.games if {game.black, game.white} == both and game.handicap == handicap]

    def play_up_to(self, games: int, one: float, other: float) -> None:
        """Plays the games that are missing to a number of games between two strengths; shows the result."""
        done = len(self.played(one, other))
        for number, opened in enumerate(opened_games(self.size, self._openings)):
            if len(self.played(one, other)) >= games:
                break
            for black, white in ((one, other), (other, one))[max(0, done - 2 * number) :]:
                self.play(opened.copy(), black, white)
        print(f"{_name(one)} - {_name(other)}: {_in_words(tally_of(self.played(one, other), one))}", flush=True)

    def play_more(self, pairs: int, one: float, other: float) -> None:
        """Plays two games from each of a number of openings, which are drawn anew each time."""
        for opened in itertools.islice(opened_games(self.size, self._openings + len(self.games)), pairs):
            self.play(opened.copy(), one, other)
            self.play(opened, other, one)

    def play_handicap(self, games: int, weak: float, strong: float, stones: int) -> None:
        """Plays the games that are missing to a number with handicap stones; shows the result of the weaker side."""
        points = fixed_handicap_points(stones, self.size, self.size)
        for _ in range(len(self.played(weak, strong, stones)), games):
            game = Game(self.size, komi=0.5)
            game.place_handicap(points)
            self.play(game, weak, strong, stones)
        tally = tally_of(self.played(weak, strong, stones), weak)
        print(f"{weak:g} with {stones} stones - {strong:g}: {_in_words(tally)}", flush=True)


def _name(strength: float) -> str:
    return "GNU Go" if strength == GNUGO else f"{strength:g}"


def tally_of(games: list[PlayedGame], one: float) -> Tally:
    points = [game.points if game.black == one else 1 - game.points for game in games]
    return Tally(points.count(1.0), points.count(0.5), points.count(0.0))


def _in_words(tally: Tally) -> str:
    low, high = elo_interval(tally)
    return f"{tally.games} games, {tally.score:.1%}, Elo {elo_difference(tally.score):+.0f} ({low:+.0f} to {high:+.0f})"


# The steps.


def grid(size: int, strongest: float) -> list[float]:
    """Returns the points of the path on a board, up to the first one that is at least as strong as `strongest`."""
    searches = [1.0 + number for number in range(1, int(np.ceil(strongest)))]
    return [*(POLICY if size < LARGE_BOARD else POLICY_ON_LARGE_BOARDS), *searches]


def fitted(ladder: Ladder) -> list[PlayedGame]:
    """Returns the games that make the curve: those without handicap stones."""
    return [game for game in ladder.games if not game.handicap]


def curve_of(ladder: Ladder) -> Curve:
    """Returns the curve that fits all games so far."""
    pairings: dict[tuple[float, float], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for game in fitted(ladder):
        sums = pairings[game.black, game.white]
        sums[0] += game.points
        sums[1] += 1
    points = grid(ladder.size, max([1.0, *itertools.chain(*pairings)]))
    return fit(points, [Pairing(*pair, *sums) for pair, sums in pairings.items()], GNUGO)


def play_gnugo(ladder: Ladder, games: int) -> None:
    """Plays against GNU Go at the strength at which the games so far are expected to be even, in four rounds."""
    for part in range(1, 5):
        known = [game for game in ladder.games if GNUGO in (game.black, game.white)]
        if len(known) >= games:
            return
        curve = curve_of(ladder)
        strength = round(curve.strength_at(curve.anchor), 2) if curve.anchor is not None else 0.6
        done = len(ladder.played(strength, GNUGO))
        ladder.play_up_to(done + max(2, part * games // 4 - len(known)), strength, GNUGO)


def calibrate(ladder: Ladder, most_visits: int, anchors: tuple[float, Rank] | None) -> None:
    """Plays until the difference of all neighbouring ranks is known well enough; resumes with all games so far."""
    if anchors is None:
        gnugo(10)  # ends here if it is not installed, and not after hours
    for weak, strong in itertools.pairwise(grid(ladder.size, 1 + int(np.log2(most_visits)))):
        ladder.play_up_to(FIRST_GAMES, strong, weak)
    if anchors is None:
        play_gnugo(ladder, FIRST_GAMES)
    while True:
        curve = curve_of(ladder)
        strengths = strengths_of(curve, anchors)
        if len(strengths) < 2:
            raise UserError("the path reaches fewer than two ranks; choose another --anchor, or more --most-visits")
        half_widths = {
            (one, other): NORMAL * curve.difference(strengths[other], strengths[one])[1]
            for one, other in itertools.pairwise(strengths)
        }
        one, other = max(half_widths, key=lambda pair: half_widths[pair])
        enough = sum(width <= HALF_WIDTH for width in half_widths.values())
        print(
            f"{len(ladder.games)} games: {enough} of {len(half_widths)} neighbours within {HALF_WIDTH:g} Elo, "
            f"widest {half_widths[one, other]:.0f}: {one} and {other}",
            flush=True,
        )
        if enough == len(half_widths):
            return
        ladder.play_more(OPENINGS_AT_ONCE, strengths[one], strengths[other])


def strengths_of(curve: Curve, anchors: tuple[float, Rank] | None) -> dict[Rank, float]:
    """Returns the strength of each rank that the path reaches."""
    if anchors is not None:
        anchor, rank = curve.elo(anchors[0]), anchors[1]
    else:
        if curve.anchor is None:
            sys.exit("no games against GNU Go yet: run the step gnugo, or give an --anchor")
        anchor, rank = curve.anchor, GNUGO_RANK
    found = {}
    for one in RANKS:
        elo = anchor + ELO_PER_RANK * (one.number - rank.number)
        if curve.elos[0] < elo <= curve.elos[-1]:
            found[one] = round(curve.strength_at(elo), 4)
    return found


def play_handicap(ladder: Ladder, games: int) -> None:
    for one, strength in ladder.strengths.items():
        other = Rank(one.number + HANDICAP)
        if other in ladder.strengths:
            print(f"{one} - {other}: ", end="")
            ladder.play_handicap(games, strength, ladder.strengths[other], HANDICAP)


def verify(ladder: Ladder, games: int) -> None:
    for apart in (1, 2):
        for one, strength in ladder.strengths.items():
            other = Rank(one.number + apart)
            if other in ladder.strengths:
                print(f"{other} - {one}: ", end="")
                ladder.play_up_to(games // apart, ladder.strengths[other], strength)


def show(ladder: Ladder, curve: Curve, strengths: dict[Rank, float]) -> None:
    """Prints the curve, the table for ranks.toml, and the measured ranks of the table that is there."""
    print("strength   Elo   +-")
    for strength, elo, error in zip(curve.strengths, curve.elos, curve.errors, strict=True):
        print(f"{strength:8.2f} {elo:5.0f} {error:4.0f}")
    if curve.anchor is not None:
        print(f"GNU Go   {curve.anchor:5.0f} {curve.anchor_error:4.0f}")
    print(f'\n[{ladder.name}.{ladder.size}x{ladder.size}]\nmeasured = "{len(fitted(ladder))} games"')
    for rank, strength in strengths.items():
        print(f"{rank} = {strength}")
    strengths = ladder.strengths
    print("\n| rank | strength | visits | against the rank below | games | by the curve |\n|---|---|---|---|---|---|")
    for rank, strength in strengths.items():
        below = strengths.get(Rank(rank.number - 1))
        results = [] if below is None else ladder.played(strength, below)
        tally = tally_of(results, strength)
        low, high = elo_interval(tally)
        measured = f"{elo_difference(tally.score):+.0f} ({low:+.0f} to {high:+.0f})" if results else "not measured"
        elo, error = (0.0, 0.0) if below is None else curve.difference(strength, below)
        by_curve = "" if below is None else f"{elo:+.0f} ({elo - NORMAL * error:+.0f} to {elo + NORMAL * error:+.0f})"
        visits = Strength(strength).visits()
        print(f"| {rank} | {strength:.3f} | {visits} | {measured} | {len(results)} | {by_curve} |")


def _anchor(text: str) -> tuple[float, Rank]:
    strength, _, name = text.partition("=")
    rank = as_rank(name)
    if rank is None:
        raise argparse.ArgumentTypeError("expected a strength and a rank, as in 0.6=8k")
    return float(strength), rank


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("calibrate", "gnugo", "table", "verify", "handicap"))
    parser.add_argument("--network", help="a file or a name (default: the bundled one for the board size)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument(
        "--games",
        type=int,
        default=200,
        help="of each pairing, or against a program; calibrate needs none (default: 200)",
    )
    parser.add_argument("--most-visits", type=int, default=256, help="of the largest search of the path (default: 256)")
    parser.add_argument(
        "--anchor",
        type=_anchor,
        metavar="STRENGTH=RANK",
        help="in place of GNU Go for calibrate and table, as in 0.6=8k",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ladder = Ladder(network_or_default(options.network, options.board_size), options.board_size, options.seed)
    try:
        if options.step == "calibrate":
            calibrate(ladder, options.most_visits, options.anchor)
        elif options.step == "gnugo":
            play_gnugo(ladder, options.games)
        elif options.step == "verify":
            verify(ladder, options.games)
        elif options.step == "handicap":
            play_handicap(ladder, options.games)
        else:
            curve = curve_of(ladder)
            show(ladder, curve, strengths_of(curve, options.anchor))
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")
    except UserError as error:
        sys.exit(f"Error: {error}")
    finally:
        ladder.close()


if __name__ == "__main__":
    main()
