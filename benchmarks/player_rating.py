"""Simulates players of every rank whose opponent follows their results (`play --rank auto`).

    python benchmarks/player_rating.py [--players 200]

A player wins with the probability that 100 Elo a rank give. Shown are, by what the player says at the first game, the
score in the first ten games and in the twenty after them, and how many ratings are within two ranks in the end: the
least and the most of all ranks.
"""

import argparse
import random
from collections.abc import Callable
from typing import NamedTuple

from gtp_engine.engine.ranks import RANKS, Rank
from gtp_engine.table.player_rating import POINTS, first_rating, within_reach

FIRST, ALL, NEAR = 10, 30, 2 * POINTS


class Outcome(NamedTuple):
    """What became of the players of one rank: scores in games 1 to 10 and 11 to 30, and the share of near ratings."""

    first: float
    later: float
    near: float


def simulate(true: Rank, say: Callable[[Rank], Rank | None], players: int, seed: int = 1) -> Outcome:
    """Returns what becomes of players of a rank; `say` returns the rank that they name, None for none."""
    rng = random.Random(seed)
    first = later = near = 0.0
    for _ in range(players):
        rating = first_rating(say(true))
        for number in range(ALL):
            opponent = within_reach(rating.opponent)
            chance = 1 / (1 + 10 ** (POINTS * (opponent.number - true.number) / 400))
            score = float(rng.random() < chance)
            rating = rating.after(opponent, score)
            if number < FIRST:
                first += score
            else:
                later += score
        near += abs(rating.rating - POINTS * true.number) <= NEAR
    return Outcome(first / players / FIRST, later / players / (ALL - FIRST), near / players)


ANSWERS: dict[str, Callable[[Rank], Rank | None]] = {
    "I don't know": lambda true: None,
    "the right rank": lambda true: true,
    "six ranks too high": lambda true: within_reach(Rank(true.number + 6)),
    "six ranks too low": lambda true: within_reach(Rank(true.number - 6)),
}


def main() -> None:
    """Prints the least and the most of all ranks for each answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=200, help="of each rank")
    players = parser.parse_args().players
    for answer, say in ANSWERS.items():
        found = [simulate(true, say, players) for true in RANKS]
        texts = [
            f"{name} {min(values):.0%} to {max(values):.0%}"
            for name, values in zip(
                ("games 1 to 10", "games 11 to 30", "within two ranks"), zip(*found, strict=True), strict=True
            )
        ]
        print(f"{answer}: {'; '.join(texts)}")


if __name__ == "__main__":
    main()
