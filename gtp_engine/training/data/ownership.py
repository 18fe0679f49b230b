"""The ownership of the points at the end of recorded games, which the records do not contain.

It is estimated by random rollouts from the final position, and used only if it confirms the score in the record: then
dead stones have been recognised correctly, or nearly so.
"""

from collections.abc import Callable

import numpy as np

from ...base.jit import njit
from ...go.board import BOARD, copy_board
from ...search.evaluate.rollouts import MOVE_CAP_PER_POINT, count_area, play_recorded
from .rows import ReplayWorkspace, new_workspace, replay
from .samples import GameSet, game_set

ROLLOUTS = 64
# A point belongs to a player who owns it more often than the other by this share of the rollouts.
CLEAR = 0.3
# Points. Area and territory counts of a position differ by about one, and rollouts fill neutral points.
TOLERANCE = 3.0


def label_ownership(games: GameSet, check: Callable[[], None] = lambda: None) -> GameSet:
    """Returns the set with ownership added to the games whose score is known and confirmed.

    `check` is called between games, which take milliseconds each; it may raise an exception to end the work.
    """
    w = new_workspace()
    scored = np.flatnonzero(~np.isnan(games.games["margin"]) & (games.games["ownership_unit"] == 0))
    confirmed: dict[int, np.ndarray] = {}
    for number in scored:
        check()
        record = games.games[number]
        balance = np.zeros(int(record["width"]) * int(record["height"]), np.int32)
        _play_rollouts(games, int(number), ROLLOUTS, w, balance)
        ownership = (balance > CLEAR * ROLLOUTS).astype(np.int8) - (balance < -CLEAR * ROLLOUTS)
        if abs(float(ownership.sum()) - float(record["komi"]) - float(record["margin"])) <= TOLERANCE:
            confirmed[int(number)] = ownership
    records = games.games.copy()
    records["ownership_unit"][list(confirmed)] = 1
    starts = games.ownership_starts
    parts = [
        confirmed.get(number, games.ownership[starts[number] : starts[number + 1]])
        for number in range(games.game_count)
    ]
    columns = games.columns() | {"games": records, "ownership": np.concatenate([np.zeros(0, np.int8), *parts])}
    return game_set(**columns)


@njit
def _play_rollouts(games: GameSet, number: int, rollouts: int, w: ReplayWorkspace, balance: np.ndarray) -> None:
    """Adds 1 (Black) or -1 (White) to each point of `balance` (int32 [area]) at the end of each rollout."""
    replay(games, number, int(games.games[number]["move_count"]), w)
    scratch = np.empty(1, BOARD)
    points = np.empty(MOVE_CAP_PER_POINT * len(balance), np.int16)
    state = np.zeros(1, np.uint64)
    state[0] = games.games[number]["number"]
    for _ in range(rollouts):
        copy_board(scratch[0], w.boards[0])
        play_recorded(scratch[0], state, points)
        count_area(scratch[0], balance)
