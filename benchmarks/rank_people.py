"""How often each rank of the engine plays the move that a person of known rank played, for docs/ranks.md.

    python benchmarks/rank_people.py dan19.zip [--member kgs6d-handicap] [--network NAME] [--each 2] [--seed 1]

The games are those that `gtp_engine learn` holds back, in which both players have a rank; a few random positions of
each are used. Passes are left out. In every position each rank of the table chooses once, as in a game
(`play.decision.choose_move`). Shows for each rank the share of agreement, with a 95 % interval, for all people and by
their rank. Ctrl-C shows what there is.
"""

import argparse
import random
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rank_games import network_or_default

from gtp_engine.game.coords import BLACK, PASS
from gtp_engine.game.game import Game
from gtp_engine.games.elo import wilson_interval
from gtp_engine.network.library import bundled_folder, find_network, network_name
from gtp_engine.play.decision import PlayStyle, choose_move
from gtp_engine.play.ranks import RANKS_FILE, Rank, read_ranks
from gtp_engine.play.strength import Strength
from gtp_engine.play.worker import SearchWorker
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import SearchRequest
from gtp_engine.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.training.data.game_records import Unusable, rank_of, read_record
from gtp_engine.training.validation import is_held

FIRST_MOVE = 10  # openings are alike at every rank
PROGRESS = 100  # positions
STRONGEST = 6  # people of 6d and more are one group


class Agreement:
    """Counts, for each rank of the engine and of people, the positions and those with the same move."""

    def __init__(self) -> None:
        self.counts: dict[tuple[Rank, int], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, rank: Rank, person: int, same: bool) -> None:
        """Counts a position."""
        count = self.counts[rank, person]
        count[0] += 1
        count[1] += same

    def show(self) -> None:
        """Prints a row for each rank of the engine."""
        people = sorted({person for _, person in self.counts})
        names = [f"{person}d" for person in people]
        print("| rank | moves | same move | " + " | ".join(f"{name} people" for name in names) + " |")
        print("|---" * (3 + len(names)) + "|")
        for rank in sorted({rank for rank, _ in self.counts}):
            cells = [self.counts[rank, person] for person in people]
            total, same = (sum(cell[part] for cell in cells) for part in (0, 1))
            if not total:
                continue
            low, high = wilson_interval(same / total, total)
            shares = " | ".join(f"{100 * part / count:.0f} %" if count else "-" for count, part in cells)
            print(f"| {rank} | {total} | {100 * same / total:.1f} % ({100 * low:.1f} to {100 * high:.1f}) | {shares} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="zip archive of .sgfs files")
    parser.add_argument("--member", default="kgs6d-handicap", help="start of names (default: kgs6d-handicap)")
    parser.add_argument("--network", help="a file or a name (default: the bundled one for 19x19)")
    parser.add_argument("--each", type=int, default=2, help="positions of each game (default: 2)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    path = find_network(network_or_default(options.network, 19))
    worker, parameters = SearchWorker(str(path), 1, options.seed), default_parameters(str(path))
    tables = read_ranks(bundled_folder() / RANKS_FILE)[network_name(path)]
    agreement = Agreement()
    positions = positions_of(options.records, options.member, options.each, options.seed)
    try:
        for number, (game, person, move) in enumerate(positions, 1):
            if number % PROGRESS == 0:
                print(f"{number} positions", file=sys.stderr)
            for rank, strength in tables[game.width].items():
                style = PlayStyle(Strength(strength))
                point, _ = choose_move(worker, SearchRequest(game, parameters=parameters), style)
                agreement.add(rank, person, point == move)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        worker.close()
    agreement.show()


def positions_of(archive: Path, member: str, each: int, seed: int) -> Iterator[tuple[Game, int, int]]:
    """Yields positions of the games that are held back, the rank in dan of the player to move, and the move played."""
    for record in held_records(archive, member):
        ranks = [rank_of(record.black_rank), rank_of(record.white_rank)]
        if None in ranks or len(record.moves) < FIRST_MOVE + each:
            continue
        generator = random.Random(f"{seed} {record.moves}")
        for number in sorted(generator.sample(range(FIRST_MOVE, len(record.moves)), each)):
            move = record.moves[number]
            rank = ranks[move.colour != BLACK]
            try:
                game = record.to_game(number)
            except SgfError as error:  # an illegal move
                print(f"a game is left out: {error}", file=sys.stderr)
                break
            if move.point != PASS and move.colour == game.to_move and rank is not None and rank > 0:
                yield game, min(rank, STRONGEST), move.point


def held_records(archive: Path, member: str) -> Iterator[GameRecord]:
    """Yields the records that are held back from training, as `gtp_engine learn` does."""
    with zipfile.ZipFile(archive) as members:
        for name in sorted(members.namelist()):
            if not (name.startswith(member) and name.endswith(".sgfs")):
                continue
            for line in members.read(name).splitlines():
                try:
                    record = read_sgf(line)
                    number = read_record(record).number
                except (SgfError, Unusable):
                    continue
                if is_held(np.array([number], np.uint64))[0]:
                    yield record


if __name__ == "__main__":
    main()
