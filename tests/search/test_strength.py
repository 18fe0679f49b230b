"""A guard of strength: matches and problems whose results are pinned, so that nobody weakens the search unnoticed.

The evaluator of the matches is made up, but its opinions are worth something and are the same on every processor. A
search has to win exactly as many games as when the result was pinned. If a change is meant, measure it
(benchmarks/network_strength.py against the state before), and pin the new result with the figures in the commit.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from searching import run, search_of

from gtp_engine.go.coords import BLACK, PASS, all_points
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.factory import make_evaluator
from gtp_engine.search.evaluate.row import (
    LEAD,
    LOSS,
    POLICY,
    SCORE_MEAN,
    SCORE_STDEV,
    UNKNOWN,
    VALUE_ERROR,
    WIN,
    ownership_column,
    row_columns,
)
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits

SIZE, GAMES, MOST = 6, 80, 60
AREA = SIZE * SIZE
FOR_NETWORKS = vars(default_parameters("network.bin.gz"))


class StoneCounter(Evaluator):
    """Counts the stones and adds some noise that the position's hash decides."""

    name, largest_board, batch_size = "stones", SIZE, 4

    def submit(self, boards: np.ndarray, indices: np.ndarray, *_: object, **__: object) -> np.ndarray:
        rows = np.zeros((len(indices), row_columns(AREA)), np.float32)
        rows[:, VALUE_ERROR:POLICY] = UNKNOWN
        rows[:, SCORE_STDEV] = 4.0
        for row, index in zip(rows, indices, strict=True):
            board = boards[index]
            random = np.random.default_rng([int(board["hash"]), int(board["to_move"])])
            own, others = ((board["stones"] == colour).sum() for colour in (board["to_move"], 3 - board["to_move"]))
            # Nothing but sums and quotients, which are the same on every processor.
            row[LEAD] = row[SCORE_MEAN] = lead = 2 * (int(own) - int(others)) + 6 * (random.random() - 0.5)
            row[WIN] = 0.5 + 0.5 * lead / (abs(lead) + 6)
            row[LOSS] = 1 - row[WIN]
            policy = random.random(AREA + 1) ** 3
            policy[-1] *= 0.01  # a pass
            row[POLICY : ownership_column(AREA)] = policy / policy.sum()
        return rows

    def collect(self, ticket: Any) -> np.ndarray:
        return ticket


def winner(number: int, visits: tuple[int, int], **changed: float) -> int:
    """Plays a game from an opening of its own and returns who wins: 0 for the first player, 1 for the other.

    The players have the colours by turns, and so many visits; `changed` are parameters of the first one.
    """
    game = Game(SIZE, rules="tromp-taylor", komi=0.5)
    opening = np.random.default_rng(number // 2).choice(list(all_points(SIZE, SIZE)), 2, replace=False)
    for point in opening.tolist():
        game.play(game.to_move, point)
    evaluator = StoneCounter()
    searches = [search_of(game.copy(), evaluator, number, **FOR_NETWORKS | own) for own in (changed, {})]
    while not game.is_over and len(game.moves) < MOST:
        player = (game.to_move != BLACK) ^ (number % 2)
        report = run(searches[player], Limits(visits=visits[player]))
        game.play(game.to_move, report.moves[0].point if report.moves else PASS)
        for search in searches:
            search.set_position(game)
    black_wins = game.score().points > 0
    return int(black_wins == bool(number % 2))


def won(visits: tuple[int, int], **changed: float) -> int:
    """Returns how many of the games the first player wins."""
    return sum(winner(number, visits, **changed) == 0 for number in range(GAMES))


def test_more_visits_win_as_many_games_as_ever() -> None:
    assert won((48, 12)) == 69


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visits", "changed", "games"),
    [
        ((200, 48), {}, 63),
        ((48, 48), {}, 40),  # the colours are even
        ((48, 48), {"c_puct": 4.0}, 33),  # and a search that hardly trusts what it finds is weaker
        ((48, 48), {"root_fpu_reduction": 1.0}, 27),
    ],
)
def test_other_matches_end_as_ever(visits: tuple[int, int], changed: dict[str, float], games: int) -> None:
    assert won(visits, **changed) == games


# Positions on 7x7: the moves that lead to each, and the only move that captures a group of four stones or more. The
# solver has proved that the group dies if this move is played, and lives if its owner moves first.
CAPTURES = Path(__file__).resolve().parents[1] / "data" / "captures.txt"


def test_a_network_finds_as_many_captures_as_ever() -> None:
    """By its policy alone, and by a search, for which the network's rounding may decide one or two."""
    evaluator = make_evaluator("b6c64-19x19", threads=1, seed=1, device="cpu", precision="float32")
    found = [0, 0]
    for line in CAPTURES.read_text().splitlines():
        moves, answer = line.split("=")
        game = Game(7, rules="tromp-taylor", komi=0.5)
        for move in moves.split():
            game.play(game.to_move, move)
        search = search_of(game, evaluator, **FOR_NETWORKS | {"symmetry": "none"})
        report = run(search, Limits(visits=100))
        found[0] += report.policy.top(1)[0][0] == answer
        found[1] += report.best.vertex == answer
    evaluator.close()
    assert 24 <= found[0] <= 26 and 30 <= found[1] <= 33, found
