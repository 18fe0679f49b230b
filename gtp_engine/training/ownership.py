"""Whose each point is at the end of a recorded game that was counted: records do not say it.

Random playouts from the final position say it, and are believed where they come to the score that the record states:
dead stones and all have been judged rightly then, or nearly so.
"""

from dataclasses import replace

import numpy as np

from ..compiled import njit
from ..evaluate.playout import MAX_CANDIDATES, count_area, play_out
from ..game.board import BOARD, MAX_POINTS, copy_board
from .rows import Columns, ReplayWorkspace, columns_of, new_workspace, replay_to_end
from .samples import GameSet

PLAYOUTS = 64
# A point is a player's who has it so much more often than the other, as a share of the playouts.
CLEAR = 0.3
# Area and territory counts of one position differ by a point or so, and unfilled neutral points are somebody's.
TOLERANCE = 3.0


def settle(games: GameSet) -> GameSet:
    """The set with ownership for those games whose score is known and confirmed."""
    columns, w = columns_of(games), new_workspace()
    scored = np.flatnonzero(~np.isnan(games.games["margin"]) & (games.games["has_ownership"] == 0))
    confirmed: dict[int, np.ndarray] = {}
    for number in scored:
        owned = np.zeros(games.areas[number], np.int32)
        _play_on(columns, int(number), PLAYOUTS, w, owned)
        ownership = (owned > CLEAR * PLAYOUTS).astype(np.int8) - (owned < -CLEAR * PLAYOUTS)
        record = games.games[number]
        if abs(float(ownership.sum()) - float(record["komi"]) - float(record["margin"])) <= TOLERANCE:
            confirmed[int(number)] = ownership
    records = games.games.copy()
    records["has_ownership"][list(confirmed)] = 1
    starts = columns.ownership_start
    parts = [
        confirmed[number] if number in confirmed else games.ownership[starts[number] : starts[number] + area]
        for number, area in enumerate(games.areas)
        if records["has_ownership"][number]
    ]
    return replace(games, games=records, ownership=np.concatenate([np.zeros(0, np.int8), *parts]))


@njit
def _play_on(columns: Columns, number: int, playouts: int, w: ReplayWorkspace, owned: np.ndarray) -> None:
    """Adds 1 (black) or -1 (white) to each point of `owned` (int32 [area]) at the end of each playout."""
    replay_to_end(columns, number, w)
    scratch = np.empty(1, BOARD)
    candidates = np.empty(MAX_CANDIDATES, np.int16)
    first_player = np.empty(MAX_POINTS, np.int8)
    state = np.zeros(1, np.uint64)
    state[0] = columns.games[number]["number"]
    for _ in range(playouts):
        copy_board(scratch[0], w.boards[0])
        play_out(scratch[0], state, False, candidates, first_player)
        count_area(scratch[0], owned)
