"""How many groups of stones live to the end of a game, by the ownership that the network gives them before.

    python benchmarks/group_fates.py ogs-19x19.sgfs dan19.zip:kgs6d-even [--games 60] [--visits 100] [--least 2]
        [--network NAME] [--seed 1]

Takes games with at least half as many moves as the board has points, in an order that depends on the seed alone. In
each it searches the positions after 30, 45 and 60 % of the moves, and takes every chain of at least `--least` stones.
Its fate is what has become of it when the record ends: captured, or owned by a player by the network's evaluation of
the last position, the mean for both players to move; a chain whose ownership is below 0.8 then is left out. Shows for
each range of ownership, of the chain's own colour, how many chains have lived, with 95 % intervals.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from common import games_in, lines_of, network_or_default, share

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.status import evaluated_ownership
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, EMPTY
from gtp_engine.go.game import Game
from gtp_engine.go.regions import Cell, find_regions
from gtp_engine.go.sgf import GameRecord, SgfError
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits, SearchRequest

_SHARES = (0.3, 0.45, 0.6)  # of the moves
_SURE = 0.8  # ownership at the end
_EDGES = (-1.0, -0.9, -0.7, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", help="a file with one SGF a line, or ARCHIVE.zip[:MEMBER] of such files")
    parser.add_argument("--games", type=int, default=60, help="of each of them (default: 60)")
    parser.add_argument("--visits", type=int, default=100, help="of each search (default: 100)")
    parser.add_argument("--least", type=int, default=2, help="stones of a chain (default: 2)")
    parser.add_argument("--network", help="a file or a name (default: the bundled one for the board)")
    parser.add_argument("--seed", type=int, default=1, help="of the order and of the searches (default: 1)")
    options = parser.parse_args()
    for records in options.records:
        lived = defaultdict[tuple[bool, int], list[bool]](list)
        for record in chosen_games(records, options.games, options.seed):
            network = network_or_default(options.network, record.width)
            worker = SearchWorker(EngineSettings(network, threads=1, seed=options.seed))
            for is_first, ownership, lives in fates(record, worker, options.visits, options.least):
                lived[is_first, int(np.searchsorted(_EDGES[1:-1], ownership))].append(lives)
            worker.close()
        print(f"\n{records}")
        for place, (low, high) in enumerate(pairwise(_EDGES)):
            by_turn = [lived[is_first, place] for is_first in (True, False)]
            own, other = (share(sum(each), len(each)) for each in by_turn)
            print(f"{low:+.1f} to {high:+.1f}: {own} with the owner to move, {other} with the opponent", flush=True)


def chosen_games(records: str, games: int, seed: int) -> list[GameRecord]:
    """Returns some of the games that were played to their end."""
    path, _, member = records.partition(":")
    if path.endswith(".zip"):
        lines = [*lines_of(Path(path), member)]
    else:
        lines = [(path, line) for line in Path(path).read_bytes().splitlines()]
    random.Random(seed).shuffle(lines)
    whole = (record for _, record in games_in(lines) if 2 * len(record.moves) >= record.width * record.height)
    return [record for _, record in zip(range(games), whole, strict=False)]


def fates(record: GameRecord, worker: SearchWorker, visits: int, least: int) -> Iterator[tuple[bool, float, bool]]:
    """Yields of each chain whether its owner moves next, its mean ownership for the owner, and whether it lives."""
    try:
        games = [*record.positions()]
    except SgfError:
        return
    evaluator, parameters = worker.evaluator(), default_parameters(worker.network_name)
    last = np.mean(evaluated_ownership(games[-1], evaluator), 0)
    for part in _SHARES:
        number = int(part * (len(games) - 1))
        game = games[number]
        request = SearchRequest(game.copy(), Limits(visits), parameters=parameters)
        ownership = worker.look(request).ownership
        assert ownership is not None
        black = ownership if game.to_move == BLACK else -ownership
        for chain in find_regions(game.stones()):
            if chain.colour == EMPTY or len(chain.cells) < least:
                continue
            sign = 1 if chain.colour == BLACK else -1
            lives = fate(games[number:], chain.cells, chain.colour, sign * last)
            if lives is not None:
                yield chain.colour == game.to_move, float(np.mean([sign * black[cell] for cell in chain.cells])), lives


def fate(games: list[Game], chain: list[Cell], colour: int, last: np.ndarray) -> bool | None:
    """Returns whether a chain lives; None if that is not sure at the end. `last`: the ownership then, for its owner."""
    if any(game.stones()[chain[0]] != colour for game in games):
        return False
    mean = float(np.mean([last[cell] for cell in chain]))
    return mean > 0 if abs(mean) >= _SURE else None


if __name__ == "__main__":
    main()
