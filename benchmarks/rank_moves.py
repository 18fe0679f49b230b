"""Measures how moves depend on the player's rank, for `weights/rank_moves.toml` and docs/ranks.md.

Games of a network's ranks (`weights/ranks.toml`) are played in this process: of each rank against itself and against
the next one, and for the step `uneven` against the one four ranks above. They are appended to files of JSON lines in
`work/`, one for each seed; the same command resumes there. The steps:

    play     plays games: --seed 1 for the model, --seed 3 to be held back (the kinds of moves were chosen with seed 2)
    table    no games: prints the model for rank_moves.toml, fitted to the games of the seeds 1 and 2
    check    no games: how well the model in rank_moves.toml estimates ranks from the games of the seed 3
    uneven   plays games between ranks four apart (seed 4), and prints how far the estimates of both are off
    people   no games: estimates of people in game records, by the ranks that the records state: --records FILE
"""

import argparse
import itertools
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rank_games import OPENING_MOVES, GameFile, RankGames, network_or_default, opened_games

from gtp_engine.analysis.rank_estimate import RankEstimate, RankModel, estimate, fit
from gtp_engine.analysis.rank_evidence import count_kinds, why_unusable
from gtp_engine.analysis.rank_models import model_as_toml, need_model
from gtp_engine.base.errors import UserError, error_text
from gtp_engine.evaluate.batch import Network, load_network
from gtp_engine.game.coords import BLACK, PASS, WHITE
from gtp_engine.game.game import Game
from gtp_engine.game.rules import default_komi
from gtp_engine.network.library import bundled_folder
from gtp_engine.play.ranks import RANKS_FILE, Rank, as_rank, read_ranks
from gtp_engine.sgf import GameRecord, read_sgf_games

FITTED, HELD_BACK, UNEVEN = (1, 2), 3, 4  # seeds
APART = 4  # ranks, in the step uneven
GAMES_EACH = 10  # from which a rank is to be estimated
DRAWS = 200  # samples of GAMES_EACH games, and of one game, for each rank
NEAR = 2  # ranks


@dataclass(frozen=True)
class RankGame:
    """A game: the strengths of Black and White, and the vertices of all moves, the opening's too."""

    black: float
    white: float
    moves: str


class Games:
    """The games of a network on one board with one seed, in a file."""

    def __init__(self, network: str, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self._player = RankGames(network, seed)
        self.name = self._player.name
        self._file = GameFile(self._player.file("rank_moves", f"{size}x{size} seed {seed}"), RankGame)
        self.games = self._file.games
        self._strengths = read_ranks(bundled_folder() / RANKS_FILE)[self.name][size]

    def play_up_to(self, games: int, apart: tuple[int, ...]) -> None:
        """Plays the games that are missing to a number of each pairing, one of each in turns.

        Args:
            games: The number.
            apart: The differences of the ranks that meet.
        """
        self._file.begin()
        played = Counter(frozenset((game.black, game.white)) for game in self.games)
        for number, opened in zip(range(games), opened_games(self.size, self.seed), strict=False):
            for one, other in self._pairings(apart):
                if played[frozenset((one, other))] > number:
                    continue
                black, white = (one, other) if number % 2 else (other, one)
                game = opened.copy()
                self._player.play(game, black, white)
                played[frozenset((one, other))] += 1
                self._file.add(RankGame(black, white, " ".join(game.vertex(move.point) for move in game.moves)))
            print(f"{number + 1} of {games}", flush=True)

    def _pairings(self, apart: tuple[int, ...]) -> list[tuple[float, float]]:
        pairs = [(one, Rank(one.number + more)) for more in apart for one in sorted(self._strengths)]
        return [(self._strengths[one], self._strengths[other]) for one, other in pairs if other in self._strengths]

    def ranked(self) -> list[RankGame]:
        """Returns the games at strengths of today's table."""
        return [game for game in self.games if self.ranks_of(game)]

    def ranks_of(self, game: RankGame) -> dict[int, Rank]:
        """Returns the ranks of Black and White in today's table; empty if it has other strengths."""
        names = {strength: rank for rank, strength in self._strengths.items()}
        black, white = names.get(game.black), names.get(game.white)
        return {} if black is None or white is None else {BLACK: black, WHITE: white}

    def counts_of(self, network: Network, game: RankGame) -> dict[int, np.ndarray]:
        """Returns the counts of the kinds of both players' moves."""
        positions = self.positions_of(game)
        return count_kinds(positions, positions[-1].moves[OPENING_MOVES:], network.evaluate)

    def positions_of(self, game: RankGame) -> list[Game]:
        """Returns the positions from the opening to the end."""
        board = Game(self.size, komi=default_komi(self.size, self.size))
        positions = []
        for number, vertex in enumerate(game.moves.split(), 1):
            board.play(board.to_move, PASS if vertex == "pass" else board.point(vertex))
            if number >= OPENING_MOVES:
                positions.append(board.copy())
        return positions


def evidence(games: Sequence[Games], network: Network) -> dict[Rank, np.ndarray]:
    """Returns the counts of the kinds in each game of each rank, int [games, KINDS]."""
    found: dict[Rank, list[np.ndarray]] = defaultdict(list)
    for some in games:
        for game in some.ranked():
            counts = some.counts_of(network, game)
            for colour, rank in some.ranks_of(game).items():
                found[rank].append(counts[colour])
    if not found:
        seeds = " and ".join(str(some.seed) for some in games)
        raise UserError(f"no games with seed {seeds} yet: run the step play with --seed first")
    return {rank: np.array(counts) for rank, counts in sorted(found.items())}


# The steps.


def show_table(options: argparse.Namespace, network: Network) -> None:
    games = [Games(options.network, options.board_size, seed) for seed in FITTED]
    found = evidence(games, network)
    number = sum(len(some.ranked()) for some in games)
    measured = f"{number} games, {min(map(len, found.values()))} or more of each rank"
    print(model_as_toml(fit(found), games[0].name, options.board_size, measured))


def check(options: argparse.Namespace, network: Network) -> None:
    games = Games(options.network, options.board_size, HELD_BACK)
    model = need_model(games.name, games.size, games.size)
    random = np.random.default_rng(1)
    print(f"| rank | games | from {GAMES_EACH} games: within {NEAR} ranks | in the interval | ranks in it | ", end="")
    print(f"from one game: within {NEAR} ranks | in the interval | ranks in it |\n|---|---|---|---|---|---|---|---|")
    every = []
    for rank, counts in evidence([games], network).items():
        rows = [row for each in (GAMES_EACH, 1) for row in _quality(model, rank, counts, each, random)]
        every.append(rows)
        print(f"| {rank} | {len(counts)} | {_percents(rows)} |")
    print(f"| all | {len(games.ranked())} | {_percents(np.mean(every, axis=0).tolist())} |")


def _quality(
    model: RankModel, rank: Rank, counts: np.ndarray, each: int, random: np.random.Generator
) -> tuple[float, float, float]:
    """Returns how often estimates from some games are near, how often they hold the rank, and the interval's ranks."""
    found = []
    for _ in range(DRAWS):
        made = estimate(model, counts[random.permutation(len(counts))[:each]].sum(axis=0))
        if made is not None:
            found.append((abs(made.rank.number - rank.number) <= NEAR, made.low <= rank <= made.high, _width(made)))
    near, holds, width = np.mean(found, axis=0).tolist()
    return near, holds, width


def _width(made: RankEstimate) -> int:
    return made.high.number - made.low.number + 1


def _percents(row: Sequence[float]) -> str:
    return " | ".join(f"{value:.1f}" if number % 3 == 2 else f"{value:.0%}" for number, value in enumerate(row))


def uneven(options: argparse.Namespace, network: Network) -> None:
    games = Games(options.network, options.board_size, UNEVEN)
    games.play_up_to(options.games, (APART,))
    if not games.games:
        raise UserError("no games yet: --games must be 1 or more")
    model = need_model(games.name, games.size, games.size)
    sums: dict[tuple[str, Rank], np.ndarray] = {}
    for game in games.ranked():
        counts, ranks = games.counts_of(network, game), games.ranks_of(game)
        for colour, rank in ranks.items():
            side = "stronger" if rank == max(ranks.values()) else "weaker"
            sums[side, rank] = sums.get((side, rank), 0) + counts[colour]
    for side in ("weaker", "stronger"):
        errors = [
            made.rank.number - rank.number
            for (one, rank), counts in sums.items()
            if one == side and (made := estimate(model, counts)) is not None
        ]
        near = np.mean(np.abs(errors) <= NEAR)
        print(f"{side}: {np.mean(errors):+.1f} ranks on average, {near:.0%} within {NEAR}: {errors}")


def people(options: argparse.Namespace, network: Network) -> None:
    """Prints the estimates from all games of each stated rank, and from single games."""
    if options.records is None:
        raise UserError("the step people needs --records FILE")
    found: dict[Rank, list[np.ndarray]] = defaultdict(list)
    model = need_model(network.name, options.board_size, options.board_size)
    records = itertools.islice(records_of(options.records, options.member), options.games)
    for record in (record for record in records if record.width == record.height == options.board_size):
        if why_unusable(record):
            continue
        try:
            counts = count_kinds(record.positions(), record.moves, network.evaluate)
        except UserError:
            continue
        for colour, name in ((BLACK, record.black_rank), (WHITE, record.white_rank)):
            rank = stated_rank(name)
            if rank is not None:
                found[rank].append(counts[colour])
    if not found:
        raise UserError(
            f"{options.records}: no player in the first {options.games} games has a stated rank on "
            f"{options.board_size}x{options.board_size}"
        )
    print("| stated rank | players in games | from all games | single games: 10 % | median | 90 % |")
    print("|---|---|---|---|---|---|")
    for rank, games in sorted(found.items()):
        single = [made.rank.number for one in games if (made := estimate(model, one)) is not None]
        parts = (
            " | ".join(str(Rank(round(value))) for value in np.percentile(single, (10, 50, 90))) if single else "| |"
        )
        print(f"| {rank} | {len(games)} | {estimate(model, np.sum(games, axis=0))} | {parts} |")


def stated_rank(name: str) -> Rank | None:
    """Returns the rank that a record states, up to 9d; None if it states none."""
    text = name.strip().lower().rstrip("?")
    if len(text) == 2 and text[0].isdigit() and text[1] == "d":
        return Rank(int(text[0]))
    try:
        return as_rank(text) if text else None
    except UserError:
        return None


def records_of(file: Path, member: str) -> Iterator[GameRecord]:
    """Yields the games of a ZIP archive's members whose names contain a text, or of an SGF file."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            lines = [line for name in archive.namelist() if member in name for line in archive.read(name).splitlines()]
    else:
        lines = [file.read_bytes()]
    for line in lines:
        yield from read_sgf_games(line, name=file.name, on_error=lambda error: None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("play", "table", "check", "uneven", "people"))
    parser.add_argument("--network", help="a file or a name (default: the bundled one for the board size)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--games", type=int, default=20, help="of each pairing, or records to read (default: 20)")
    parser.add_argument("--seed", type=int, default=FITTED[0], help=f"of the step play (default: {FITTED[0]})")
    parser.add_argument("--records", type=Path, help="an SGF file, or a ZIP archive of files with a game a line")
    parser.add_argument("--member", default="", help="part of the names of the archive's members to read")
    options = parser.parse_args()
    try:
        options.network = network_or_default(options.network, options.board_size)
        if options.step == "play":
            Games(options.network, options.board_size, options.seed).play_up_to(options.games, (0, 1))
            return
        steps = {"table": show_table, "check": check, "uneven": uneven, "people": people}
        with load_network(options.network, threads=1) as network:
            steps[options.step](options, network)
    except (UserError, OSError) as error:
        sys.exit(f"Error: {error_text(error)}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


if __name__ == "__main__":
    main()
