"""How often the count of a finished game equals the one that its players agreed on.

    python benchmarks/count_accuracy.py dan19.zip [--games 500] [--member kgs6d-even] [--seed 1] [--skip 0]

Takes records that end in two passes with a score, in an order that depends on the seed alone: `--skip` continues where
an earlier run stopped. Shows every record that differs, then how many are equal and name the winner, with 95 %
intervals.
"""

import argparse
import math
import random
import re
import sys
import time
from pathlib import Path

from common import network_or_default, records_of, share

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import PASS
from gtp_engine.go.sgf import GameRecord, SgfError
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import SearchRequest

_SCORE = re.compile(r"([BW])\+([\d.]+)|0|jigo|draw", re.IGNORECASE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="a zip archive whose members hold one SGF per line")
    parser.add_argument("--member", default="", help="only members whose names begin with this (default: all)")
    parser.add_argument("--games", type=int, default=500, help="games to count (default: 500)")
    parser.add_argument("--skip", type=int, default=0, help="games to skip first (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of the order (default: 1)")
    parser.add_argument("--network", help="a file or a name (default: the bundled one for 19x19)")
    options = parser.parse_args()
    network = network_or_default(options.network, 19)
    worker = SearchWorker(EngineSettings(network, threads=1, seed=options.seed))
    finished = [(name, one) for name, one in records_of(options.records, options.member) if ends_with_score(one)]
    random.Random(options.seed).shuffle(finished)
    chosen = finished[options.skip : options.skip + options.games]
    print(f"{len(finished):,} finished games with a score; counting {len(chosen):,} from number {options.skip:,} on")
    equal = winners = games = 0
    began = time.monotonic()
    for name, record in chosen:
        try:
            game = record.to_game()
        except SgfError as error:  # an illegal move
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        games += 1
        dead = worker.dead_stones(SearchRequest(game, parameters=default_parameters(network)))
        score = game.score(dead).points
        agreed = agreed_score(record)
        equal += score == agreed
        winners += sign(score) == sign(agreed)
        if score != agreed:
            print(f"{name}: {record.rules or 'no rules'}, recorded {record.result}, counted {score:+g}", flush=True)
        if games % 100 == 0:
            show(games, equal, winners, time.monotonic() - began)
    show(games, equal, winners, time.monotonic() - began)


def show(games: int, equal: int, winners: int, seconds: float) -> None:
    """Prints the shares of games that were counted as agreed, and with the winner that was agreed."""
    if games:
        each = seconds / games
        print(f"{games:,} games: equal {share(equal, games)}, winner {share(winners, games)}, {each:.2f} s each")


def ends_with_score(record: GameRecord) -> bool:
    """Whether the last two moves are passes and the result is a number of points."""
    last = [move.point for move in record.moves[-2:]]
    return last == [PASS, PASS] and bool(_SCORE.fullmatch(record.result))


def agreed_score(record: GameRecord) -> float:
    """Returns Black's margin as recorded."""
    match = _SCORE.fullmatch(record.result)
    assert match is not None
    points = float(match[2] or 0)
    return points if match[1] in ("B", "b") else -points


def sign(points: float) -> float:
    return math.copysign(1, points) if points else 0


if __name__ == "__main__":
    main()
