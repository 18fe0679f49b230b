"""Calibrates the ranks of a network, and verifies them, for `weights/ranks.toml` and benchmarks/ranks.md.

Every game is played in this process by the code that decides the engine's moves (`engine/decision.py`), at two
strengths (`engine/ranks.py`), from random openings of two moves with both colours, or with handicap stones. The steps:

    all        everything for 9x9, 13x13 and 19x19, stage by stage (below); the same command resumes
    table      no games: the tables by the games so far
    verify     the stages `verify` and `handicap` for the table in ranks.toml

The stages of `all` on a board:

    path        games between neighbouring points of the path from a random mover to a search of four visits
    programs    games against GNU Go 3.8 level 10 (8k), and on 19x19 against Pachi with 5,000 playouts (3k), near their
                strengths, and longer searches until the path reaches 5d
    neighbours  games between neighbouring ranks of the curve so far, always between the two whose difference is least
                certain, until all differences have an interval of +-30 Elo
    verify      games between neighbouring ranks, and ranks two apart, of the table by the games of the first stages
    handicap    on 19x19, games in which a rank takes four stones from the one four ranks above, of the same table

A smooth curve of Elo over strength is fitted to all games (`rank_curve.py`, which also tells what a rank is by one or
two programs). On 9x9 and 13x13 GNU Go alone fixes the scale: Pachi's rank on small boards is not known.
"""

import argparse
import functools
import itertools
import shlex
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from common import network_or_default
from network_strength import gnugo
from rank_curve import Curve, Pairing, Scale, fit, scale_of
from rank_games import GNUGO, PACHI, PROGRAMS, PlayedGame, RankGames, opened_games
from rank_tables import (
    HALF_WIDTH,
    Calibrated,
    half_widths,
    in_words,
    markdown,
    strengths_of,
    toml,
    toml_section,
)

from gtp_engine.arena.elo import Z95, Tally
from gtp_engine.arena.gtp_client import GtpClient
from gtp_engine.base.errors import UserError
from gtp_engine.base.files import write_text
from gtp_engine.base.messages import duration_text
from gtp_engine.engine.ranks import RANKS, RANKS_FILE, STRONGEST, Rank, read_ranks
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.nets.library import RANK_PLAY, bundled_folder

SIZES = (9, 13, 19)
RANK_OF = {GNUGO: Rank(1 - 8), PACHI: Rank(1 - 3)}
# 5,000 playouts without a network, one thread: 3k on KGS by its README.
PACHI_OPTIONS = ("-t", "=5000", "--nodcnn", "--rules", "chinese", "threads=1")
PACHI_BOARD = 19  # the only one on which its rank is known
# Points of the path: a random mover, the policy ever less blurred, its first choice; then searches of 2, 4, 8 visits.
# Some 100 Elo lie between them, and on large boards most of it in the middle: more mistakes fit into a game.
POLICY = (0.0, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
LOW = (0.0, 0.1, 0.15, 0.18, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3, 0.32, 0.34, 0.36, 0.38, 0.4)
POLICY_ON_LARGE_BOARDS = (*LOW, 0.44, 0.48, 0.52, 0.56, 0.6, 0.7, 0.8, 1.0)
LARGE_BOARD = 11
FIRST_SEARCHES = 3.0  # the strength at which the path ends before the programs play
FIRST_GUESS = 0.6  # of the strength of a program, before its first game
HANDICAP, HANDICAP_BOARD, HANDICAP_KOMI = 4, 19, 0.5
GAMES = 200  # of each pair to verify; with fewer, the intervals before are as much wider
ROUNDS = 4  # of games against each program, at a strength that is chosen anew
FIRST_SHARE = 5  # of each step of the path, and against a program, there are GAMES / FIRST_SHARE
GAMES_AT_ONCE = 20  # between two neighbours until the curve is fitted again
# Half the width of the interval of an Elo difference after one game at 64 %.
_WIDTH_OF_ONE = Z95 * 400 / np.log(10) / np.sqrt(0.64 * 0.36)
# A game also gives information on the neighbouring steps: in a simulated run half as many games were needed.
_SHARED = 0.5
# Seconds of a game on 19x19 on one core, until some have been played: of b6c64-19x19 alone, and with each program.
_SECONDS = {None: 1.5, GNUGO: 55.0, PACHI: 150.0}
_RECENT = 200  # games whose mean duration tells how long the next ones take


class Pair(NamedTuple):
    """A number of games that is wanted between two players, with both colours or with stones for the weaker one."""

    one: float
    other: float
    games: int
    stones: int = 0
    label: str = ""


class Stage(NamedTuple):
    """What a stage has to play on a board.

    Attributes:
        name: Its name.
        done: The games played.
        total: The games in all; an estimate where the games themselves decide.
        seconds: About how long the rest takes.
        over: Whether nothing is left.
        play: Plays the rest.
    """

    name: str
    done: int
    total: int
    seconds: float
    over: bool
    play: Callable[[], None]


class Ladder(RankGames):
    """The games of a network on one board by which its ranks are calibrated.

    Args:
        network, size, seed, commands: As in `RankGames`; the programs with a command fix the scale.
        games: The games of each pair to verify; everything else is in proportion.
        most_visits: Of the largest search of the path.
    """

    def __init__(
        self, network: str, size: int, seed: int, commands: Mapping[float, str], games: int, most_visits: int
    ) -> None:
        super().__init__(network, size, seed, commands)
        self._seed, self._wanted, self._most_visits = seed, games, most_visits
        self._first = max(2, games // FIRST_SHARE)
        self._half_width = HALF_WIDTH * (GAMES / games) ** 0.5
        self._programs = [one for one in commands if one != PACHI or size == PACHI_BOARD]
        self._draft = self.file.with_name(f"{self.file.stem} by {games}.toml")

    def played(self, one: float, other: float, stones: int = 0) -> list[PlayedGame]:
        """Returns the games between two players."""
        both = {one, other}
        return [game for game in self.games if {game.black, game.white} == both and game.handicap == stones]

    def play_pair(self, pair: Pair) -> None:
        """Plays the games that are missing; shows the result."""
        done = len(self.played(pair.one, pair.other, pair.stones))
        for game, black, white in itertools.islice(self._starts(pair), done, pair.games):
            self.play(game, black, white, pair.stones)
        print(f"{pair.label}{_name(pair.one)} - {_name(pair.other)}: {in_words(self._tally(pair))}", flush=True)

    def _tally(self, pair: Pair) -> Tally:
        games = self.played(pair.one, pair.other, pair.stones)
        points = [game.points if game.black == pair.one else 1 - game.points for game in games]
        return Tally(points.count(1.0), points.count(0.5), points.count(0.0))

    def _starts(self, pair: Pair) -> Iterator[tuple[Game, float, float]]:
        """Yields the position at the start of each game, with Black and White."""
        while pair.stones:
            game = Game(self.size, komi=HANDICAP_KOMI)
            game.place_handicap(fixed_handicap_points(pair.stones, self.size, self.size))
            yield game, pair.one, pair.other
        for opened in opened_games(self.size, zlib.crc32(f"{self._seed} {pair.one} {pair.other}".encode())):
            yield opened.copy(), pair.one, pair.other
            yield opened, pair.other, pair.one

    def curve(self) -> Curve:
        """Returns the curve that fits all games so far but those with handicap stones."""
        pairings: dict[tuple[float, float], list[float]] = defaultdict(lambda: [0.0, 0.0])
        for game in self.games:
            if not game.handicap:
                sums = pairings[game.black, game.white]
                sums[0] += game.points
                sums[1] += 1
        points = grid(self.size, max([1.0, *itertools.chain(*pairings)]))
        return fit(points, [Pairing(*pair, *sums) for pair, sums in pairings.items()], list(PROGRAMS))

    def stages(self) -> list[Stage]:
        """Returns the stages in their order, as they are now."""
        strengths = self.drafted() or dict.fromkeys(RANKS, float("nan"))  # NaN has played no games
        path = self._of_pairs("path", path_pairs(grid(self.size, FIRST_SEARCHES), self._first))
        checks = [self._of_pairs("verify", verified_pairs(strengths, self._wanted, 1, 2))]
        if self.size == HANDICAP_BOARD:
            checks.append(self._of_pairs("handicap", handicap_pairs(strengths, self._wanted)))
        return [path, self._programs_stage(), self._neighbours_stage(path.done + checks[0].done), *checks]

    def _of_pairs(self, name: str, pairs: Sequence[Pair]) -> Stage:
        """Returns the stage that plays these pairs."""
        done = sum(min(pair.games, len(self.played(pair.one, pair.other, pair.stones))) for pair in pairs)
        total = sum(pair.games for pair in pairs)
        seconds, play = (total - done) * self._seconds(), functools.partial(self._play_pairs, pairs)
        return Stage(name, done, total, seconds, done == total, play)

    def _play_pairs(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            self.play_pair(pair)

    def _programs_stage(self) -> Stage:
        """Returns the stage against programs, which plays near the strength that the games so far expect to be even."""
        missing = {one: max(0, self._first - len(self._against(one))) for one in self._programs}
        seconds = sum(games * self._seconds(one) for one, games in missing.items())
        total = self._first * len(self._programs)
        over = not any(missing.values())
        return Stage("programs", total - sum(missing.values()), total, seconds, over, self._play_programs)

    def _neighbours_stage(self, others: int) -> Stage:
        """Returns the stage of games between neighbours; `others` is the number of games of all other stages."""
        between = [game for game in self.games if not game.handicap and min(game.black, game.white) >= 0]
        done, missing = max(0, len(between) - others), 0.0
        if not self.drafted():
            curve, one = self.curve(), (_WIDTH_OF_ONE / self._half_width) ** 2
            widths = [np.inf] * (len(RANKS) - 1)
            if curve.programs:
                widths = list(half_widths(curve, strengths_of(curve, scale_of(curve, RANK_OF))).values())
            missing = _SHARED * sum(max(0.0, one - (_WIDTH_OF_ONE / width) ** 2) for width in widths)
        total, seconds = done + round(missing), missing * self._seconds()
        return Stage("neighbours", done, total, seconds, bool(self.drafted()), self._play_neighbours)

    def _against(self, program: float | None) -> list[PlayedGame]:
        """Returns the games against a program, or those without one."""
        return [game for game in self.games if (min(0, game.black, game.white) or None) == program]

    def _seconds(self, program: float | None = None) -> float:
        """Returns about how long a game takes, with a program or without one."""
        took = [game.seconds for game in self._against(program)[-_RECENT:]]
        return float(np.mean(took)) if took else _SECONDS[program] * (self.size / 19) ** 4

    def _play_programs(self) -> None:
        for part in range(1, ROUNDS + 1):
            for program in self._programs:
                missing = -(-part * self._first // ROUNDS) - len(self._against(program))
                if missing > 0:
                    curve = self.curve()
                    known = program in curve.programs
                    strength = round(curve.strength_at(curve.elo(program)), 2) if known else FIRST_GUESS
                    self.play_pair(Pair(strength, program, missing + len(self.played(strength, program))))
            self._extend()

    def _extend(self) -> tuple[Curve, Scale]:
        """Plays longer searches until the path reaches the strongest rank; returns the curve and the scale."""
        while True:
            curve = self.curve()
            scale, end = scale_of(curve, RANK_OF), float(curve.strengths[-1])
            if curve.elos[-1] >= scale.elo(STRONGEST) or 2**end > self._most_visits:
                return curve, scale
            self.play_pair(Pair(end + 1, end, self._first))

    def _play_neighbours(self) -> None:
        while True:
            curve, scale = self._extend()
            strengths = strengths_of(curve, scale)
            if len(strengths) < 2:
                raise UserError(f"the path of {self.name} reaches fewer than two ranks; allow more --most-visits")
            widths = half_widths(curve, strengths)
            one, other = max(widths, key=lambda pair: widths[pair])
            enough = sum(width <= self._half_width for width in widths.values())
            print(
                f"{len(self.games):,} games: {enough} of {len(widths)} neighbours within {self._half_width:.0f} Elo, "
                f"widest {widths[one, other]:.0f}: {one} and {other}",
                flush=True,
            )
            if enough == len(widths):
                write_text(self._draft, toml_section(self.name, self.size, strengths))
                return
            pair = strengths[other], strengths[one]
            self.play_pair(Pair(*pair, len(self.played(*pair)) + GAMES_AT_ONCE, label=f"{other} - {one}: "))

    def drafted(self) -> dict[Rank, float]:
        """Returns the table that is verified, by the games before it; empty if there is none yet."""
        return read_ranks(self._draft)[self.name][self.size] if self._draft.exists() else {}

    def calibrated(self) -> Calibrated | None:
        """Returns what all games so far come to; None if no program has played."""
        curve, drafted = self.curve(), self.drafted()
        if not curve.programs:
            return None
        checks = [
            ("Neighbouring ranks", 1, verified_pairs(drafted, self._wanted, 1)),
            ("Ranks two apart", 2, verified_pairs(drafted, self._wanted, 2)),
            (f"{HANDICAP} stones for {HANDICAP} ranks", 0, handicap_pairs(drafted, self._wanted)),
        ]
        return Calibrated(
            self.name,
            self.size,
            sum(not game.handicap for game in self.games),
            curve,
            scale_of(curve, RANK_OF),
            {one: (RANK_OF[one], len(self._against(one))) for one in curve.programs},
            [(kind, ranks, [self._tally(pair) for pair in pairs]) for kind, ranks, pairs in checks],
        )


def _name(player: float) -> str:
    return PROGRAMS.get(player, f"{player:g}")


def grid(size: int, strongest: float) -> list[float]:
    """Returns the points of the path on a board, up to the first one that is at least as strong as `strongest`."""
    searches = [1.0 + number for number in range(1, int(np.ceil(strongest)))]
    return [*(POLICY if size < LARGE_BOARD else POLICY_ON_LARGE_BOARDS), *searches]


def path_pairs(points: Sequence[float], games: int) -> list[Pair]:
    """Returns the neighbouring points of a path."""
    return [Pair(strong, weak, games) for weak, strong in itertools.pairwise(points)]


def verified_pairs(strengths: Mapping[Rank, float], games: int, *distances: int) -> list[Pair]:
    """Returns ranks that lie so far apart: neighbours, and with half of the games those two apart."""
    return [
        Pair(strengths[other], strength, games // apart, label=f"{other} - {one}: ")
        for apart in distances
        for one, strength in strengths.items()
        if (other := Rank(one.number + apart)) in strengths
    ]


def handicap_pairs(strengths: Mapping[Rank, float], games: int) -> list[Pair]:
    """Returns ranks with the one four ranks above, to which they give four stones, with half of the games."""
    return [
        Pair(strength, strengths[other], games // 2, HANDICAP, f"{one} with {HANDICAP} stones - {other}: ")
        for one, strength in strengths.items()
        if (other := Rank(one.number + HANDICAP)) in strengths
    ]


# The steps.


def play_all(ladders: Sequence[Ladder]) -> None:
    """Plays all stages on all boards; says before each, and at the end, how far they are."""
    for ladder in ladders:
        for place in range(len(ladder.stages())):
            stage = ladder.stages()[place]
            if not stage.over:
                print(
                    f"{ladder.size}x{ladder.size}, {stage.name}: {_progress([stage])}; {_in_all(ladders)}", flush=True
                )
                stage.play()
    print(_in_all(ladders))


def _progress(stages: Sequence[Stage]) -> str:
    return f"{sum(stage.done for stage in stages):,} of {sum(stage.total for stage in stages):,} games"


def _in_all(ladders: Sequence[Ladder]) -> str:
    stages = [stage for ladder in ladders for stage in ladder.stages()]
    left = sum(stage.seconds for stage in stages)
    return f"in all {_progress(stages)}" + (f", the rest takes about {duration_text(left)}" if left else "")


def show(ladders: Sequence[Ladder]) -> None:
    """Prints the tables by all games so far, and writes them to `work/`."""
    boards = [board for ladder in ladders if (board := ladder.calibrated())]
    if not boards:
        raise UserError(f"{ladders[0].name} has no games against a program yet: run the step all")
    for suffix, text in ((".toml", toml(boards)), (".md", markdown(boards))):
        file = ladders[0].file.with_name(f"ranks {ladders[0].name}{suffix}")
        write_text(file, text)
        print(f"\n{text}\nwritten to {file}")


def verify(ladder: Ladder, games: int) -> None:
    """Plays the table in ranks.toml."""
    strengths = read_ranks(bundled_folder() / RANKS_FILE).get(ladder.name, {}).get(ladder.size, {})
    handicaps = handicap_pairs(strengths, games) if ladder.size == HANDICAP_BOARD else []
    for pair in [*verified_pairs(strengths, games, 1, 2), *handicaps]:
        ladder.play_pair(pair)


def commands(pachi: str | None, sizes: Sequence[int]) -> dict[float, str]:
    """Returns the command lines of the programs that fix the scale; fails here if one is missing, not after hours."""
    found = {GNUGO: gnugo(10)}
    if PACHI_BOARD in sizes:
        if pachi is None:
            raise UserError(
                f"Pachi fixes the scale on {PACHI_BOARD}x{PACHI_BOARD} together with GNU Go: name the program with "
                "--pachi (Debian's package pachi is another game), or --pachi none to do without"
            )
        if pachi != "none":
            found[PACHI] = shlex.join([pachi, *PACHI_OPTIONS])
            with GtpClient(found[PACHI]):
                pass
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("all", "table", "verify"))
    parser.add_argument("--network", help="a file or a name (default: the one that plays at ranks)")
    parser.add_argument("--board-size", type=int, nargs="+", default=SIZES, help="default: 9 13 19")
    parser.add_argument(
        "--games",
        type=int,
        default=GAMES,
        help="of each pair to verify; everything else is in proportion (default: 200; 2 to try the command)",
    )
    parser.add_argument("--most-visits", type=int, default=512, help="of the largest search of the path (default: 512)")
    parser.add_argument("--pachi", metavar="PROGRAM", help="Pachi's program, or none")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.games < 2:
        parser.error("--games must be at least 2")
    ladders = []
    try:
        programs = commands(options.pachi, options.board_size) if options.step == "all" else {}
        for size in options.board_size:
            network = network_or_default(options.network, size, RANK_PLAY)
            ladders.append(Ladder(network, size, options.seed, programs, options.games, options.most_visits))
        if options.step == "verify":
            for ladder in ladders:
                verify(ladder, options.games)
            return
        if options.step == "all":
            play_all(ladders)
        show(ladders)
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")
    except UserError as error:
        sys.exit(f"Error: {error}")
    finally:
        for ladder in ladders:
            ladder.close()


if __name__ == "__main__":
    main()
