"""How far networks are from a strong one on positions of game records that are held back from training.

    python benchmarks/record_distance.py dan19.zip pro19.zip --judge kata1-b18c384nbt --networks b6c64-19x19 g170-b6c96

Unlike `teacher_distance.py`, which measures on labels and so on variations with random moves and unusual komi too,
these are positions that people reach: one of each game, at a random move, the first games of each archive that
`gtp_engine learn` holds back. Shows for each network the Kullback-Leibler divergence of its policy from the judge's in
nats, and the means of the absolute differences of the win rate (0 to 1), the lead (points) and the ownership (-1 to 1).
The slope tells by how many points the judge's lead grows with each point of the network's, by least squares: 1 is
right, above 1 the network underrates leads.
"""

import argparse
import itertools
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from common import records_of

from gtp_engine.go.game import Game
from gtp_engine.go.sgf import SgfError
from gtp_engine.search.evaluate.batch import Evaluation, load_network
from gtp_engine.training.data.game_records import Unusable, is_held, read_record

FIRST_MOVE = 10  # openings are alike


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", type=Path, help="zip archives of .sgfs files")
    parser.add_argument("--judge", required=True, help="the strong network, a file or a name")
    parser.add_argument("--networks", required=True, nargs="+", help="files or names")
    parser.add_argument("--positions", type=int, default=500, help="of each archive (default: 500)")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chosen = (itertools.islice(positions_of(path, options.seed), options.positions) for path in options.records)
    games = list(itertools.chain.from_iterable(chosen))
    truth = evaluations(options.judge, games, options.threads)
    print(f"{len(games):,} positions\n{'policy':>9}{'win rate':>9}{'lead':>9}{'slope':>7}{'ownership':>10}")
    for name in options.networks:
        found = evaluations(name, games, options.threads)
        pairs = zip(truth, found, strict=True)
        policy, winrate, lead, ownership = np.mean([distances(*pair) for pair in pairs], axis=0)
        slope = np.polyfit([each.lead for each in found], [each.lead for each in truth], 1)[0]
        print(f"{policy:9.3f}{winrate:9.3f}{lead:9.2f}{slope:7.2f}{ownership:10.3f}  {name}", flush=True)


def positions_of(archive: Path, seed: int) -> Iterator[Game]:
    """Yields a position of each game that `gtp_engine learn` holds back, in the order of the archive."""
    for _, record in records_of(archive):
        # Unusable: a game that is not learned from. SgfError: an illegal move.
        with suppress(SgfError, Unusable):
            held = is_held(np.array([read_record(record).number], np.uint64))[0]
            if held and len(record.moves) > FIRST_MOVE:
                number = random.Random(f"{seed} {record.moves}").randrange(FIRST_MOVE, len(record.moves))
                yield record.to_game(number)


def evaluations(name: str, games: list[Game], threads: int) -> list[Evaluation]:
    """Returns a network's evaluations."""
    with load_network(name, threads=threads) as network:
        return network.evaluate(games)


def distances(truth: Evaluation, found: Evaluation) -> tuple[float, float, float, float]:
    """Returns how far an evaluation is from the judge's: policy, win rate, lead, ownership."""
    legal = truth.priors > 0
    p, q = truth.priors[legal], np.maximum(found.priors[legal], np.float32(1e-30))
    return (
        float((p * np.log(p / q)).sum()),
        abs(truth.winrate - found.winrate),
        abs(truth.lead - found.lead),
        float(np.abs(truth.ownership - found.ownership).mean()),
    )


if __name__ == "__main__":
    main()
