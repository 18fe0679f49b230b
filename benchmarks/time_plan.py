"""How much main time moves get while the game is undecided, for several plans of its length.

    python benchmarks/time_plan.py dan19.zip games.sgf --network g170-b6c96 [--games 80] [--plans 0.55,6,0 0.45,12,0.1]

A plan is the length of a game as a share of the board's points, the fraction of them for which at least time is planned
as own moves, and the part of the main time that is spread evenly (`clock._GAME_LENGTH`, `clock._LEAST_SHARE`,
`clock._EVEN_PART`): 0.45,12,0.1 is 0.45, 1/12 and 0.1. Both players of each record share out an absolute time among its
moves, and each takes its whole budget. Shown is how many doublings of time a move gets on average, compared with the
first plan, while the network's win rate is between 5 and 95 %. This does not measure what is left for long games and
for a lag that no report shows: measure that too before you adopt a plan.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
from common import records_of

from gtp_engine.engine import clock
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf_games
from gtp_engine.search.evaluate.batch import load_network

SECONDS = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path, help="SGF files, or zip archives of .sgfs files")
    parser.add_argument("--network", required=True, help="a file or a name")
    parser.add_argument("--member", default="", help="only members of archives whose names begin with this")
    parser.add_argument("--games", type=int, default=80, help="of each file (default: 80)")
    parser.add_argument("--plans", nargs="+", default=["0.55,6,0", "0.45,12,0.1"], metavar="LENGTH,N,PART")
    options = parser.parse_args()
    plans = [tuple(map(float, plan.split(","))) for plan in options.plans]
    with load_network(options.network, threads=1) as network:
        for path in options.records:
            found = defaultdict(list)
            for record in islice(even_games(path, options.member), options.games):
                with suppress(SgfError):
                    positions = list(record.positions())
                    undecided = [0.05 < each.winrate < 0.95 for each in network.evaluate(positions)]
                    area = positions[0].area
                    found[area].append([mean_doublings(undecided[:-1], area, *plan) for plan in plans])
            for area, gained in found.items():
                means = np.nanmean(gained, axis=0)
                words = (f"{plan} {mean:+.2f}" for plan, mean in zip(options.plans, means - means[0], strict=True))
                print(f"{path.name}, {area} points, {len(gained)} games: {'  '.join(words)}", flush=True)


def even_games(path: Path, member: str) -> Iterator[GameRecord]:
    """Yields the records of a file without handicap."""
    records = (record for _, record in records_of(path, member)) if path.suffix == ".zip" else read_sgf_games(path)
    return (record for record in records if record.moves and not record.handicap)


def mean_doublings(undecided: list[bool], area: int, length: float, fraction: float, even_part: float) -> float:
    """Returns the mean binary logarithm of the seconds of a game's undecided moves; NaN if there are none."""
    clock._GAME_LENGTH, clock._LEAST_SHARE, clock._EVEN_PART = length, 1 / fraction, even_part
    clocks, logarithms = clock.Clock(clock.TimeSettings("absolute", SECONDS)), []
    for number, is_undecided in enumerate(undecided):
        colour = WHITE if number % 2 else BLACK
        budget = clocks.budget(colour, area, number)
        assert budget is not None
        clocks.charge(colour, budget, budget)
        if is_undecided:
            logarithms.append(math.log2(budget))
    return float(np.mean(logarithms)) if logarithms else math.nan


if __name__ == "__main__":
    main()
