"""How near the draws of ranks are to people's moves on 19x19, for docs/ranks.md.

    python benchmarks/people_moves.py RECORDS [--network NAME ...] [--judge NETWORK]

RECORDS has a game a line, with both players' ranks. For each group of ranks and each network it shows the rank whose
draws (`engine/rank_play.py`, from the policy and the distance to the last move) make the moves likeliest, the mean
logarithm of that probability, and how often a move is the policy's first choice. With a judge it shows how many points
the moves lose by its leads, without a search.
"""

import argparse
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from gtp_engine.base.errors import UserError
from gtp_engine.engine.rank_play import _distances
from gtp_engine.engine.ranks import RANKS_FILE, Rank, read_ranks
from gtp_engine.go.coords import PASS, index_of_point
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.nets.library import bundled_folder
from gtp_engine.search.evaluate.batch import Network, load_network

SIZE, TABLE = 19, "b6c64-19x19"  # whose strengths are tried
GROUPS = tuple(
    itertools.starmap(range, ((-34, -20), (-20, -15), (-15, -11), (-11, -7), (-7, -3), (-3, 1), (1, 4), (4, 8)))
)
LEAST_MOVES, FIRST_MOVE, MOST_OF_A_GAME, LAST_MOVE = 60, 5, 120, 240
LOSSES = (5, 10, 20)  # points


def group_of(rank: str) -> int | None:
    """Returns the group of a rank such as 12k or 3d; None for other texts."""
    number, kind = rank.strip().lower()[:-1], rank.strip().lower()[-1:]
    if not number.isdigit() or kind not in ("k", "d"):
        return None
    value = int(number) if kind == "d" else 1 - int(number)
    return next((place for place, group in enumerate(GROUPS) if value in group), None)


def games(records: Path) -> Iterator[tuple[GameRecord, list[Game], dict[int, int | None]]]:
    """Yields the records of long games, their positions, and each player's group."""
    for line in records.read_bytes().splitlines():
        try:
            record = read_sgf(line)
            positions = [position.copy() for position in record.positions()]
        except (SgfError, UserError):
            continue
        if record.width == record.height == SIZE and len(record.moves) >= LEAST_MOVES:
            yield record, positions, {1: group_of(record.black_rank), 2: group_of(record.white_rank)}


def log_likelihoods(priors: np.ndarray, game: Game, point: int, strengths: np.ndarray) -> np.ndarray | None:
    """Returns the logarithm of a move's probability in draws of each strength; None if the policy excludes it."""
    legal, move = np.flatnonzero(priors > 0), index_of_point(point, SIZE, SIZE)
    if move not in legal:
        return None
    exponents = strengths / (1 - strengths)
    keys = np.outer(exponents, np.log(priors[legal])) - np.log(_distances(legal, game))
    keys -= keys.max(axis=1, keepdims=True)
    return keys[:, np.flatnonzero(legal == move)[0]] - np.log(np.exp(keys).sum(axis=1))


def show_moves(network: Network, name: str, records: Path) -> None:
    """Prints the likeliest rank of each group of people, by a network's draws."""
    table = {rank: value for rank, value in read_ranks(bundled_folder() / RANKS_FILE)[TABLE][SIZE].items() if value < 1}
    strengths, found = np.array(list(table.values())), defaultdict(list)
    for record, positions, groups in games(records):
        generator, numbers = random.Random(str(record.moves)), range(FIRST_MOVE, len(record.moves))
        chosen = generator.sample(numbers, min(MOST_OF_A_GAME, len(numbers)))
        wanted = [
            (group, positions[number], move.point)
            for number in chosen
            if (move := record.moves[number]).point != PASS
            and (group := groups[move.colour]) is not None
            and positions[number].to_move == move.colour
        ]
        evaluations = network.evaluate([position for _, position, _ in wanted])
        for (group, position, point), evaluation in zip(wanted, evaluations, strict=True):
            priors = np.asarray(evaluation.priors[:-1], float)
            row = log_likelihoods(priors, position, point, strengths)
            if row is not None:
                found[group].append([*row, priors.argmax() == index_of_point(point, SIZE, SIZE)])
    for group in sorted(found):
        rows = np.array(found[group], float).mean(axis=0)
        best = int(rows[:-1].argmax())
        print(
            f"{name}, {_title(group)}: {len(found[group])} moves, likeliest {list(table)[best]}, "
            f"log-likelihood {rows[best]:.2f}, first choice {rows[-1]:.0%}",
            flush=True,
        )


def show_losses(judge: Network, records: Path) -> None:
    """Prints how many points the moves of each group lose."""
    lost, players = defaultdict(list), defaultdict(set)
    for record, positions, groups in games(records):
        kept = [position for position in positions if not position.is_over][: LAST_MOVE + 1]
        leads = [evaluation.lead for evaluation in judge.evaluate(kept)]
        for position, (before, after) in zip(kept[1:], itertools.pairwise(leads), strict=True):
            colour = position.moves[-1].colour
            group = groups[colour]
            if position.to_move != colour and group is not None:
                lost[group].append(before + after)  # each for the player to move
                players[group].add(record.black if colour == 1 else record.white)
    for group in sorted(lost):
        print(f"{len(players[group])} people, {_title(group)}: {losses_text(lost[group])}", flush=True)


def losses_text(lost: Sequence[float]) -> str:
    """Returns the mean of losses in points, and how often they are large."""
    values = np.array(lost)
    shares = ", ".join(f"{points} or more {np.mean(values >= points):.0%}" for points in LOSSES)
    return f"{len(values)} moves, {values.clip(0).mean():.1f} points, {shares}"


def _title(group: int) -> str:
    return f"{Rank(GROUPS[group][0])} to {Rank(GROUPS[group][-1])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", type=Path, help="games, one a line")
    parser.add_argument("--network", nargs="*", default=[TABLE], help=f"whose draws are tried (default: {TABLE})")
    parser.add_argument("--judge", help="a stronger network, which tells what moves lose")
    options = parser.parse_args()
    for name in options.network:
        with load_network(name, threads=1) as network:
            show_moves(network, name, options.records)
    if options.judge:
        with load_network(options.judge, threads=1) as judge:
            show_losses(judge, options.records)


if __name__ == "__main__":
    main()
