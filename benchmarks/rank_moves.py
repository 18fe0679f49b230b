"""Measures how moves depend on the player's rank, for `weights/rank_moves.toml` and docs/ranks.md.

Games of a network's ranks (`weights/ranks.toml`) are played in this process, of each rank against itself and against
the next one, and kept in `work/`, one file for each seed; the same command resumes there. The steps:

    play     plays games: the seeds 1 and 2 for the model, the seed 3 to be held back
    table    no games: prints the model for rank_moves.toml, fitted to the games of the seeds 1 and 2
    check    no games: how well the model in rank_moves.toml estimates ranks from the games of the seed 3
    people   no games: estimates of people in game records, by the ranks that the records state: --records FILE
"""

import argparse
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import comb
from pathlib import Path

import numpy as np
from common import network_or_default, records_of
from rank_games import OPENING_MOVES, PlayedGame, RankGames, opened_games

from gtp_engine.base.errors import UserError, error_text
from gtp_engine.engine.ranks import Rank, as_rank
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import default_komi
from gtp_engine.search.evaluate.batch import Network, load_network
from gtp_engine.study.rank_estimate import RankModel, count_kinds, estimate, find_model, unmeasured, why_unusable

FITTED, HELD_BACK = (1, 2), 3  # seeds
GAMES_EACH = 10  # from which a rank is to be estimated
DRAWS = 200  # samples of GAMES_EACH games, and of one game, for each rank
NEAR = 2  # ranks
# Shares are averaged over neighbouring ranks with the binomial weights 1, 4, 6, 4, 1. Chosen by judgement.
REACH = 2
# So many moves of all ranks are added to those of each, so that no kind is impossible. Chosen by judgement.
ADDED = 20
DIGITS = 5  # of a share, after the decimal point


class Games(RankGames):
    """The games of a network's ranks on one board with one seed."""

    def __init__(self, network: str, size: int, seed: int) -> None:
        super().__init__(network, size, seed, f"rank_moves seed {seed}")
        self.seed = seed

    def play_up_to(self, games: int) -> None:
        """Plays the games that are missing to a number of each pairing, one of each in turns."""
        played = Counter(frozenset((game.black, game.white)) for game in self.games)
        pairs = [(one, Rank(one.number + more)) for more in (0, 1) for one in sorted(self.strengths)]
        pairings = [(self.strengths[one], self.strengths[other]) for one, other in pairs if other in self.strengths]
        for number, opened in zip(range(games), opened_games(self.size, self.seed), strict=False):
            for one, other in pairings:
                if played[frozenset((one, other))] > number:
                    continue
                self.play(opened.copy(), *((one, other) if number % 2 else (other, one)))
                played[frozenset((one, other))] += 1
            print(f"{number + 1} of {games}", flush=True)

    def ranked(self) -> list[PlayedGame]:
        """Returns the games at strengths of today's table."""
        return [game for game in self.games if self.ranks_of(game)]

    def ranks_of(self, game: PlayedGame) -> dict[int, Rank]:
        """Returns the ranks of Black and White in today's table; empty if it has other strengths."""
        names = {strength: rank for rank, strength in self.strengths.items()}
        black, white = names.get(game.black), names.get(game.white)
        return {} if black is None or white is None else {BLACK: black, WHITE: white}

    def counts_of(self, network: Network, game: PlayedGame) -> dict[int, np.ndarray]:
        """Returns the counts of the kinds of both players' moves."""
        board = Game(self.size, komi=default_komi(self.size, self.size))
        positions = []
        for number, vertex in enumerate(game.moves.split(), 1):
            board.play(board.to_move, PASS if vertex == "pass" else board.point(vertex))
            if number >= OPENING_MOVES:
                positions.append(board.copy())
        return count_kinds(positions, positions[-1].moves[OPENING_MOVES:], network.evaluate)


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


def fit(evidence: Mapping[Rank, np.ndarray]) -> RankModel:
    """Makes a model from games of players of known ranks.

    Args:
        evidence: The counts of the kinds in each game of each rank, int [games, KINDS].
    """
    ranks = sorted(evidence)
    totals = np.array([evidence[rank].sum(axis=0) for rank in ranks], float)
    steps = np.abs(np.subtract.outer(range(len(ranks)), range(len(ranks))))
    weights = np.array([comb(2 * REACH, REACH + step) for step in range(2 * REACH + 1)] + [0] * len(ranks), float)
    smooth = weights[steps] @ totals / weights[0] + ADDED * totals.sum(axis=0) / totals.sum()
    smooth += 1 / smooth.shape[1]  # for kinds that nobody played
    shares = smooth / smooth.sum(axis=1, keepdims=True)
    return RankModel(dict(zip(ranks, shares, strict=True)), _spread([evidence[rank] for rank in ranks], shares))


def _spread(games: list[np.ndarray], shares: np.ndarray) -> float:
    """Returns by how much more than independent moves the evidence varies from game to game.

    The evidence of a game is the slope of its log-likelihood over the rank.
    """
    slopes = np.gradient(np.log(shares), axis=0)
    found = expected = 0.0
    for counts, slope in zip(games, slopes, strict=True):
        kinds = counts.sum(axis=0) / counts.sum()
        mean = kinds @ slope
        lengths = counts.sum(axis=1)
        found += float(((counts @ slope - lengths * mean) ** 2).sum())
        expected += float(lengths.sum() * (kinds @ (slope - mean) ** 2))
    return max(1.0, found / expected)


def model_as_toml(model: RankModel, network: str, size: int, measured: str) -> str:
    """Returns a model as its entry in the file.

    Args:
        model: The model.
        network: The network's name.
        size: The board's width and height.
        measured: By what it was measured.
    """
    table = f"{network}.{size}x{size}"
    lines = [f"[{table}]", f'measured = "{measured}"', f"spread = {model.spread:.3f}", f"\n[{table}.shares]"]
    least = 10.0**-DIGITS
    for rank, shares in model.shares.items():
        lines.append(f"{rank} = [{', '.join(f'{max(share, least):.{DIGITS}f}' for share in shares)}]")
    return "\n".join(lines) + "\n"


def need_model(network: str, size: int) -> RankModel:
    """Returns the model in rank_moves.toml; raises UserError if there is none."""
    model = find_model(network, size, size)
    if model is None:
        raise unmeasured(f"with {network} on {size}x{size}")
    return model


# The steps.


def show_table(options: argparse.Namespace, network: Network) -> None:
    games = [Games(options.network, options.board_size, seed) for seed in FITTED]
    found = evidence(games, network)
    number = sum(len(some.ranked()) for some in games)
    measured = f"{number} games, {min(map(len, found.values()))} or more of each rank"
    print(model_as_toml(fit(found), games[0].name, options.board_size, measured))


def check(options: argparse.Namespace, network: Network) -> None:
    games = Games(options.network, options.board_size, HELD_BACK)
    model = need_model(games.name, games.size)
    random = np.random.default_rng(1)
    print(f"| rank | games | from {GAMES_EACH} games: within {NEAR} ranks | in the interval | ", end="")
    print(f"from one game: within {NEAR} ranks | in the interval |\n|---|---|---|---|---|---|")
    every = []
    for rank, counts in evidence([games], network).items():
        every.append([part for each in (GAMES_EACH, 1) for part in _quality(model, rank, counts, each, random)])
        print(f"| {rank} | {len(counts)} | {_percents(every[-1])} |")
    print(f"| all | {len(games.ranked())} | {_percents(np.mean(every, axis=0).tolist())} |")


def _quality(
    model: RankModel, rank: Rank, counts: np.ndarray, each: int, random: np.random.Generator
) -> tuple[float, float]:
    """Returns how often estimates from some games are near, and how often their intervals hold the rank."""
    draws = (counts[random.permutation(len(counts))[:each]].sum(axis=0) for _ in range(DRAWS))
    made = [found for draw in draws if (found := estimate(model, draw)) is not None]
    near, holds = np.mean(
        [(abs(one.rank.number - rank.number) <= NEAR, one.low <= rank <= one.high) for one in made], axis=0
    ).tolist()
    return near, holds


def _percents(row: Sequence[float]) -> str:
    return " | ".join(f"{value:.0%}" for value in row)


def people(options: argparse.Namespace, network: Network) -> None:
    """Prints the estimates from all games of each stated rank, and from single games."""
    if options.records is None:
        raise UserError("the step people needs --records FILE")
    found: dict[Rank, list[np.ndarray]] = defaultdict(list)
    model = need_model(network.name, options.board_size)
    records = itertools.islice(records_of(options.records, options.member), options.games)
    for _, record in records:
        if not record.width == record.height == options.board_size or why_unusable(record):
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("play", "table", "check", "people"))
    parser.add_argument("--network", help="a file or a name (default: the bundled one for the board size)")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--games", type=int, default=20, help="of each pairing, or records to read (default: 20)")
    parser.add_argument("--seed", type=int, default=FITTED[0], help=f"of the step play (default: {FITTED[0]})")
    parser.add_argument("--records", type=Path, help="a ZIP archive of files with a game a line")
    parser.add_argument("--member", default="", help="start of the names of the archive's members to read")
    options = parser.parse_args()
    try:
        options.network = network_or_default(options.network, options.board_size)
        if options.step == "play":
            Games(options.network, options.board_size, options.seed).play_up_to(options.games)
            return
        steps = {"table": show_table, "check": check, "people": people}
        with load_network(options.network, threads=1) as network:
            steps[options.step](options, network)
    except (UserError, OSError) as error:
        sys.exit(f"Error: {error_text(error)}")
    except KeyboardInterrupt:
        sys.exit("\nstopped; run again to resume")


if __name__ == "__main__":
    main()
