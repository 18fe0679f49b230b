"""How our ranks score against KaTrain's rank bot of the same name on 19x19, which was calibrated on OGS.

    python benchmarks/katrain_ranks.py g170e-b15c192.bin.gz [--ranks 15k 12k 9k 6k 3k 1k 3d]
        [--games 40] [--network NAME]

The bot is played here by its rule, with the policy of the network named first; KaTrain itself plays with one of
KataGo's. It chooses the move that the policy prefers among M random ones, with M by the rank and by the number of legal
moves, or the policy's first move if that is nearly certain (KaTrain, `RankStrategy`). Random openings, both colours.
Games are kept in `work/`: run the same command to resume.
"""

import argparse
import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from common import network_or_default
from rank_games import RankGames, opened_games

from gtp_engine.arena.elo import Tally, elo_difference, elo_interval, score_interval
from gtp_engine.engine.ranks import RANKS_FILE, Rank, parse_rank, read_ranks
from gtp_engine.go.coords import PASS, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.nets.library import RANK_PLAY, bundled_folder
from gtp_engine.search.evaluate.batch import load_network

SIZE = 19  # the only board on which it was calibrated
RANKS = ("15k", "12k", "9k", "6k", "3k", "1k", "3d")
_FIRST = -100.0  # in place of a strength: this minus the bot's kyu
_NEAR_TOP = 5  # the game is over once a pass is among this many of the policy's first moves


def main() -> None:
    options = parse_arguments()
    name = network_or_default(options.network, SIZE, RANK_PLAY)
    strengths = read_ranks(bundled_folder() / RANKS_FILE)[name][SIZE]
    games = BotGames(options.policy, network=name, size=SIZE, seed=options.seed, commands={}, kind="katrain_ranks")
    try:
        for rank in filter(None, map(parse_rank, options.ranks)):
            show(rank, games.against(rank, strengths[rank], options.games))
    finally:
        games.close()


class BotGames(RankGames):
    """Games of a network's ranks against the bot.

    Args:
        policy: The file or name of the network whose policy the bot has.
        **options: The arguments of `RankGames`.
    """

    def __init__(self, policy: str, **options: Any) -> None:
        super().__init__(**options)
        self._policy = load_network(policy, threads=1, batch_size=1)
        self._random = np.random.default_rng((options["seed"], len(self.games)))

    def against(self, rank: Rank, strength: float, wanted: int) -> Tally:
        """Plays the games of a rank that are missing; returns what we have won, drawn and lost."""
        bot = _FIRST - (1 - rank.number)  # KaTrain counts 15 for 15k, 1 for 1k, 0 for 1d, -2 for 3d
        both = {strength, bot}
        done = sum({game.black, game.white} == both for game in self.games)
        openings = opened_games(SIZE, seed=1000 + rank.number)
        starts = ((game.copy(), pair) for game in openings for pair in ((strength, bot), (bot, strength)))
        for game, (black, white) in itertools.islice(starts, done, wanted):
            self.play(game, black, white)
        points = [g.points if g.black == strength else 1 - g.points for g in self.games if {g.black, g.white} == both]
        return Tally(points.count(1.0), points.count(0.5), points.count(0.0))

    def _move(self, game: Game, strength: float, hopeless: dict[int, int]) -> int | None:
        if strength > _FIRST:
            return super()._move(game, strength, hopeless)
        (evaluation,) = self._policy.evaluate([game])
        return bot_move(evaluation.priors, game, _FIRST - strength, self._random)

    def close(self) -> None:
        super().close()
        self._policy.close()


def bot_move(priors: np.ndarray, game: Game, kyu: float, random: np.random.Generator) -> int:
    """Returns the point that the bot plays, by the policy: float32 [area + 1] with the pass last."""
    order = np.argsort(-priors, kind="stable")
    legal = np.flatnonzero(priors[:-1] > 0)
    filled = 1 - len(legal) / game.area
    surely_one = priors[order[0]] > 0.8 * (1 - filled / 2)
    surely_two = priors[order[:2]].sum() > 0.85 + max(0.0, 0.02 * (kyu - 8))
    best = int(order[0])
    if not (surely_one or surely_two or game.area in order[:_NEAR_TOP]):
        drawn = random.choice(legal, min(len(legal), moves_seen(len(legal), game.area, kyu)), replace=False)
        first = int(drawn[np.argmax(priors[drawn])])
        best = first if priors[first] > priors[-1] else best
    return PASS if best == game.area else point_of_index(best, game.width, game.height)


def moves_seen(legal: int, area: int, kyu: float) -> int:
    """Returns how many random moves the bot looks at (the formula of KaTrain 1.13)."""
    share = legal / area
    mean = 0.063015 + 0.7624 * area / 10 ** (1.9482 - 0.05737 * kyu)
    bump = np.exp(-((3.002 * share**2 - share - 0.034889 * kyu - 0.5097) ** 2))
    now = (0.3931 + 0.6559 * share * bump - 0.01093 * kyu) * mean
    return max(1, round(area * share / (1.31165 * (now + 1) - 0.082653)))


def show(rank: Rank, tally: Tally) -> None:
    """Prints what a rank has scored."""
    (low, high), (least, most) = score_interval(tally), elo_interval(tally)
    print(
        f"{rank}: {tally.score:.0%} of {tally.games} ({low:.0%} to {high:.0%}), "
        f"Elo {elo_difference(tally.score):+.0f} ({least:+.0f} to {most:+.0f})",
        flush=True,
    )


def parse_arguments(arguments: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy", help="the network of the bot: a file or a name")
    parser.add_argument("--ranks", nargs="+", default=RANKS, help=f"default: {' '.join(RANKS)}")
    parser.add_argument("--games", type=int, default=40, help="of each rank (default: 40)")
    parser.add_argument("--network", help="of our ranks (default: the one that plays at a rank)")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    return parser.parse_args(None if arguments is None else list(arguments))


if __name__ == "__main__":
    main()
