"""Calibrates the ranks of a network on a board size, and verifies them, for `weights/ranks.toml` and docs/ranks.md.

Every game is played in this process by the code that decides the engine's moves (`play.decision`), at two strengths
(`play.strength`), from random openings of two moves with both colours. Results are appended to a file of JSON lines in
`work/`; the same command resumes there, and all steps use all games of the file. The steps:

    calibrate  the steps path and gnugo with 40 games, and then games between neighbouring ranks of the curve so far,
               where it is least certain, until the difference of all neighbours has an interval of +-30 Elo (95 %)
    path       games between neighbouring points of the path from a random mover to the largest search
    gnugo      games against GNU Go 3.8 level 10 near its strength, the anchor of the scale: 8k
    pachi      games against Pachi with 5,000 playouts and no network, 3k on KGS: its place among the ranks of the table
               shows whether the scale is that of other programs
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
from dataclasses import dataclass, replace

import numpy as np
from rank_curve import Curve, Pairing, fit
from rank_games import GNUGO, PACHI, PROGRAMS, GameFile, RankGames, network_or_default, opened_games

from gtp_engine.base.errors import UserError
from gtp_engine.game.game import Game
from gtp_engine.game.handicap import fixed_handicap_points
from gtp_engine.games.elo import Tally, elo_difference, elo_interval
from gtp_engine.network.library import bundled_folder
from gtp_engine.play.ranks import RANKS, RANKS_FILE, STRONGEST, WEAKEST, Rank, as_rank, read_ranks
from gtp_engine.play.strength import Strength

GNUGO_RANK, PACHI_RANK = Rank(1 - 8), Rank(1 - 3)  # 8k and 3k
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
PRIOR_RANKS = 5.0  # standard deviation of where Pachi is expected before the games, in ranks
NORMAL = 1.96  # standard errors on each side in an interval of 95 %


@dataclass(frozen=True)
class Result:
    """A game: the strengths of Black and White, and Black's points, 0 to 1; the seconds a move of each of them."""

    black: float
    white: float
    points: float
    moves: int
    seconds: tuple[float, float]
    handicap: int = 0


class Ladder:
    """Plays games of a network on one board, and keeps the results in a file."""

    def __init__(self, network: str, size: int, seed: int) -> None:
        self.size, self._seed = size, seed
        self._player = RankGames(network, seed)
        self.name = self._player.name
        self._file = GameFile(self._player.file("rank_ladder", f"{size}x{size}"), Result)
        self.results = self._file.games

    def played(self, one: float, other: float, handicap: int = 0) -> list[Result]:
        """Returns the games between two strengths."""
        both = {one, other}
        return [game for game in self.results if {game.black, game.white} == both and game.handicap == handicap]

    def play_handicap(self, games: int, weak: float, strong: float, stones: int) -> None:
        """Plays the games that are missing to a number with handicap stones; shows the result of the weaker side."""
        self._file.begin()
        points = fixed_handicap_points(stones, self.size, self.size)
        for number in range(len(self.played(weak, strong, stones)), games):
            self._player.reseed(number)
            game = Game(self.size, komi=0.5)
            game.place_handicap(points)
            self._file.add(replace(self._play(game, weak, strong), handicap=stones))
        tally = tally_of(self.played(weak, strong, stones), weak)
        print(f"{weak:g} with {stones} stones - {strong:g}: {_in_words(tally)}", flush=True)

    def play_up_to(self, games: int, one: float, other: float) -> None:
        """Plays the games that are missing to a number of games between two strengths; shows the result."""
        self._file.begin()
        openings = opened_games(self.size, self._seed)
        number = len(self.played(one, other))
        for _ in range(number // 2):
            next(openings)
        while number < games:
            opened = next(openings)
            for black, white in ((one, other), (other, one))[number % 2 :]:
                self._player.reseed(number)
                self._file.add(self._play(opened.copy(), black, white))
                number += 1
        print(f"{_name(one)} - {_name(other)}: {_in_words(tally_of(self.played(one, other), one))}", flush=True)

    def play_more(self, pairs: int, one: float, other: float) -> None:
        """Plays two games from each of a number of openings, which are drawn anew each time."""
        self._file.begin()
        first = len(self.results)
        for opened in itertools.islice(opened_games(self.size, self._seed + first), pairs):
            for black, white in ((one, other), (other, one)):
                self._player.reseed(len(self.results))
                self._file.add(self._play(opened.copy(), black, white))

    def _play(self, game: Game, black: float, white: float) -> Result:
        points, seconds = self._player.play(game, black, white)
        return Result(black, white, points, len(game.moves), seconds)

    def close(self) -> None:
        self._player.close()


def _name(strength: float) -> str:
    return PROGRAMS[strength][0] if strength in PROGRAMS else f"{strength:g}"


def tally_of(results: list[Result], one: float) -> Tally:
    points = [result.points if result.black == one else 1 - result.points for result in results]
    return Tally(points.count(1.0), points.count(0.5), points.count(0.0))


def _in_words(tally: Tally) -> str:
    low, high = elo_interval(tally)
    return f"{tally.games} games, {tally.score:.1%}, Elo {elo_difference(tally.score):+.0f} ({low:+.0f} to {high:+.0f})"


# The steps.


def grid(size: int, strongest: float) -> list[float]:
    """Returns the points of the path on a board, up to the first one that is at least as strong as `strongest`."""
    searches = [1.0 + number for number in range(1, int(np.ceil(strongest)))]
    return [*(POLICY if size < LARGE_BOARD else POLICY_ON_LARGE_BOARDS), *searches]


def play_path(ladder: Ladder, games: int, most_visits: int) -> None:
    points = grid(ladder.size, 1 + int(np.log2(most_visits)))
    for one, other in itertools.pairwise(points):
        ladder.play_up_to(games, other, one)


def fitted(ladder: Ladder) -> list[Result]:
    """Returns the games that make the curve: those without handicap stones, of the network and GNU Go."""
    return [game for game in ladder.results if not game.handicap and PACHI not in (game.black, game.white)]


def curve_of(ladder: Ladder) -> Curve:
    """Returns the curve that fits all games so far."""
    pairings: dict[tuple[float, float], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for result in fitted(ladder):
        sums = pairings[result.black, result.white]
        sums[0] += result.points
        sums[1] += 1
    points = grid(ladder.size, max([1.0, *itertools.chain(*pairings)]))
    return fit(points, [Pairing(*pair, *sums) for pair, sums in pairings.items()], GNUGO)


def play_gnugo(ladder: Ladder, games: int) -> None:
    """Plays against GNU Go at the strength at which the games so far are expected to be even, in four rounds."""
    for part in range(1, 5):
        known = [result for result in ladder.results if GNUGO in (result.black, result.white)]
        if len(known) >= games:
            return
        curve = curve_of(ladder)
        strength = round(curve.strength_at(curve.anchor), 2) if curve.anchor is not None else 0.6
        done = len(ladder.played(strength, GNUGO))
        ladder.play_up_to(done + max(2, part * games // 4 - len(known)), strength, GNUGO)


def calibrate(ladder: Ladder, most_visits: int, anchors: tuple[float, Rank] | None) -> None:
    """Plays until the difference of all neighbouring ranks is known well enough; resumes with all games so far."""
    if anchors is None:
        PROGRAMS[GNUGO][1]()  # ends here if it is not installed, and not after hours
    play_path(ladder, FIRST_GAMES, most_visits)
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
            f"{len(ladder.results)} games: {enough} of {len(half_widths)} neighbours within {HALF_WIDTH:g} Elo, "
            f"widest {half_widths[one, other]:.0f}: {one} and {other}",
            flush=True,
        )
        if enough == len(half_widths):
            return
        ladder.play_more(OPENINGS_AT_ONCE, strengths[one], strengths[other])


def play_pachi(ladder: Ladder, games: int, strengths: dict[Rank, float]) -> None:
    """Plays against Pachi, each opening at the rank that is expected to be even with it; shows its place after each.

    It begins with the rank that Pachi has on KGS.
    """
    if len(strengths) < 2:
        sys.exit("the table has no ranks of this network on this board")
    while True:
        tallies = {rank: tally_of(ladder.played(strengths[rank], PACHI), strengths[rank]) for rank in strengths}
        place, low, high = place_among(tallies)
        done = sum(tally.games for tally in tallies.values())
        if done:
            print(
                f"Pachi after {done} games: {place:.1f} ({low:.1f} to {high:.1f}), where 0 is 1k and 1 is 1d",
                flush=True,
            )
        if done >= games:
            return
        rank = min(strengths, key=lambda one: abs(one.number - place))
        ladder.play_up_to(tallies[rank].games + 2, strengths[rank], PACHI)


def place_among(tallies: dict[Rank, Tally]) -> tuple[float, float, float]:
    """Returns a player's rank number by games against ranks: the posterior mean, and an interval of 95 %.

    Neighbouring ranks are taken to lie 100 Elo apart, and so all ranks to be where the table says. The prior is normal
    around Pachi's rank on KGS.

    Args:
        tallies: The results of each rank against the player.
    """
    places = np.arange(WEAKEST.number - 2 * PRIOR_RANKS, STRONGEST.number + 2 * PRIOR_RANKS, 0.1)
    log = -(((places - PACHI_RANK.number) / PRIOR_RANKS) ** 2) / 2
    for rank, tally in tallies.items():
        # The log-odds of the rank's win (natural logarithm); a draw is half a win and half a loss.
        odds = np.log(10) * ELO_PER_RANK / 400 * (rank.number - places)
        log += tally.games * (tally.score * -np.logaddexp(0, -odds) + (1 - tally.score) * -np.logaddexp(0, odds))
    weights = np.exp(log - log.max())
    shares = np.cumsum(weights) / weights.sum()
    low, high = np.interp((0.025, 0.975), shares, places)
    return float(places @ weights / weights.sum()), float(low), float(high)


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


def shipped(ladder: Ladder) -> dict[Rank, float]:
    """Returns the table in ranks.toml."""
    return read_ranks(bundled_folder() / RANKS_FILE).get(ladder.name, {}).get(ladder.size, {})


def play_handicap(ladder: Ladder, games: int, strengths: dict[Rank, float]) -> None:
    for one in strengths:
        other = Rank(one.number + HANDICAP)
        if other in strengths:
            print(f"{one} - {other}: ", end="")
            ladder.play_handicap(games, strengths[one], strengths[other], HANDICAP)


def verify(ladder: Ladder, games: int, strengths: dict[Rank, float]) -> None:
    for apart in (1, 2):
        for one in strengths:
            other = Rank(one.number + apart)
            if other in strengths:
                print(f"{other} - {one}: ", end="")
                ladder.play_up_to(games // apart, strengths[other], strengths[one])


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
    strengths = shipped(ladder)
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
    parser.add_argument("step", choices=("calibrate", "path", "gnugo", "pachi", "table", "verify", "handicap"))
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
    network = network_or_default(options.network, options.board_size)
    ladder = Ladder(network, options.board_size, options.seed)
    try:
        if options.step == "calibrate":
            calibrate(ladder, options.most_visits, options.anchor)
        elif options.step == "path":
            play_path(ladder, options.games, options.most_visits)
        elif options.step == "gnugo":
            play_gnugo(ladder, options.games)
        elif options.step == "pachi":
            play_pachi(ladder, options.games, shipped(ladder))
        elif options.step == "verify":
            verify(ladder, options.games, shipped(ladder))
        elif options.step == "handicap":
            play_handicap(ladder, options.games, shipped(ladder))
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
