"""How often players of each rank lose many points at a move, and how often their rank implies it, for docs/ranks.md.

What a move loses is told by the leads of a stronger network before and after it, without a search: in games of a
network's ranks that `rank_moves.py play` has played with the seed 1, and in people's games whose records state ranks.

What a rank implies follows from the people of one rank, on 19x19. A rank is worth a handicap stone, and a stone what a
first move is, twice the komi: 14 points. So a player loses 14 points a game more than one of the next rank, and the
losses of a rank are taken for those of the people, all enlarged by the factor that makes their mean that of the rank.
"""

import argparse
import itertools
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rank_games import network_or_default
from rank_moves import FITTED, Games, records_of, stated_rank

from gtp_engine.analysis.rank_evidence import why_unusable
from gtp_engine.base.errors import UserError, error_text
from gtp_engine.evaluate.batch import Network, load_network
from gtp_engine.game.coords import BLACK, WHITE
from gtp_engine.game.game import Game
from gtp_engine.play.ranks import Rank

LARGE = (5.0, 10.0, 20.0)  # points
POINTS_PER_RANK = 14.0  # on 19x19, as the next
MOVES = 120  # of each player in a game on 19x19
LEAST_MOVES = 2000  # of the people whose losses say what other ranks lose

Losses = dict[Rank, np.ndarray]


def losses_of_network(judge: Network, network: str, size: int, count: int) -> Losses:
    """Returns what each move of a network's ranks has lost, in up to `count` games of each rank.

    Raises:
        UserError: No games of these ranks have been played yet.
    """
    found: dict[Rank, list[np.ndarray]] = defaultdict(list)
    games = Games(network, size, FITTED[0])
    for game in games.games:
        ranks = games.ranks_of(game)
        if ranks and all(len(found[rank]) < count for rank in ranks.values()):
            for colour, lost in _points_lost(judge, games.positions_of(game)).items():
                found[ranks[colour]].append(lost)
    if not found:
        step = f"rank_moves.py play --network {network} --board-size {size} --seed {FITTED[0]}"
        raise UserError(f"no games of the ranks of {games.name} on {size}x{size} yet: run {step} first")
    return {rank: np.concatenate(parts) for rank, parts in sorted(found.items())}


def losses_of_people(judge: Network, records: Path, member: str, size: int, count: int) -> Losses:
    """Returns what each move of people of stated ranks has lost, in up to `count` records of games on a board size."""
    found: dict[Rank, list[np.ndarray]] = defaultdict(list)
    on_board = (record for record in records_of(records, member) if record.width == record.height == size)
    for record in itertools.islice(on_board, count):
        if why_unusable(record):  # the leads are those of players who move in turns
            continue
        try:
            positions = [position.copy() for position in record.positions()]
        except UserError:  # an illegal move
            continue
        for colour, lost in _points_lost(judge, positions).items():
            rank = stated_rank(record.black_rank if colour == BLACK else record.white_rank)
            if rank is not None:
                found[rank].append(lost)
    return {rank: np.concatenate(parts) for rank, parts in sorted(found.items())}


def _points_lost(judge: Network, positions: Sequence[Game]) -> dict[int, np.ndarray]:
    """Returns by how many points the lead falls with each move of both players."""
    leads = [evaluation.lead for evaluation in judge.evaluate(positions)]
    lost: dict[int, list[float]] = {BLACK: [], WHITE: []}
    for position, (before, after) in zip(positions[1:], itertools.pairwise(leads), strict=True):
        lost[position.moves[-1].colour].append(before + after)  # each for the player to move
    return {colour: np.array(values) for colour, values in lost.items()}


def implied(lost: np.ndarray, ranks_below: int) -> np.ndarray:
    """Returns what each move is expected to lose for players this many ranks below people with these losses."""
    mean = lost.clip(0).mean()
    return lost * (1 + ranks_below * POINTS_PER_RANK / MOVES / mean)


def show(players: Losses, people: Losses, is_known: bool) -> None:
    """Prints a line for each rank, with what it implies in brackets if the people's games say that.

    Args:
        players: The losses of a network's ranks.
        people: Those of people.
        is_known: Whether it is known on this board what a rank is worth.
    """
    known = next((rank for rank, lost in people.items() if len(lost) >= LEAST_MOVES), None) if is_known else None
    print("| rank | moves | points lost a move | " + " | ".join(f"{points:g} or more" for points in LARGE) + " |")
    print("|---" * (3 + len(LARGE)) + "|")
    for rank, lost in players.items():
        limit = None if known is None else implied(people[known], known.number - rank.number)
        _show_line(str(rank), lost, limit)
    for rank, lost in people.items():
        _show_line(f"people of {rank}", lost, None)


def _show_line(name: str, lost: np.ndarray, limit: np.ndarray | None) -> None:
    cells = [f"{lost.clip(0).mean():.1f}", *(f"{np.mean(lost >= points):.1%}" for points in LARGE)]
    if limit is not None:
        limits = [f"{limit.clip(0).mean():.1f}", *(f"{np.mean(limit >= points):.1%}" for points in LARGE)]
        cells = [f"{cell} ({limit})" for cell, limit in zip(cells, limits, strict=True)]
    print(f"| {name} | {len(lost)} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", help="a file or a name (default: the bundled one for the board size)")
    parser.add_argument("--judge", required=True, help="the stronger network, a file or a name")
    parser.add_argument("--board-size", type=int, default=19, help="default: 19")
    parser.add_argument("--games", type=int, default=12, help="of each rank (default: 12)")
    parser.add_argument("--records", type=Path, help="people's games: an SGF file, or a ZIP archive with a game a line")
    parser.add_argument("--member", default="", help="part of the names of the archive's members to read")
    parser.add_argument("--count", type=int, default=60, help="records to read (default: 60)")
    options = parser.parse_args()
    try:
        network = network_or_default(options.network, options.board_size)
        with load_network(options.judge, threads=1) as judge:
            players = losses_of_network(judge, network, options.board_size, options.games)
            people = {}
            if options.records is not None:
                people = losses_of_people(judge, options.records, options.member, options.board_size, options.count)
        show(players, people, is_known=options.board_size == 19)
    except (UserError, OSError) as error:
        sys.exit(f"Error: {error_text(error)}")


if __name__ == "__main__":
    main()
