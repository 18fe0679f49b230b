"""What a search found, as values that do not change: handed from the search's thread to whoever shows them.

Everything is for the side to move at the root: win rates in 0..1, scores and leads in points, utility in about -1..1.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class MoveReport(NamedTuple):
    """One move at the root.

    lcb: the lower end of the win rate's confidence interval; utility_lcb: of the utility's.
    weight: of the evaluations behind the values: the visits, where each weighs one.
    selection: the weight as the final choice takes it.
    prior: the evaluator's probability, before noise.
    order: rank of the move, from 0.
    pv: the main line from this move on, as points (`coords.PASS` for a pass), with the visits of each.
    ownership: float32 [height, width], + for the side to move at the root, or None where it was not asked for.
    """

    point: int
    visits: int
    winrate: float
    lead: float
    score_mean: float
    score_stdev: float
    utility: float
    lcb: float
    utility_lcb: float
    prior: float
    weight: float
    order: int
    pv: tuple[int, ...]
    pv_visits: tuple[int, ...]
    ownership: np.ndarray | None = None
    selection: float = 0.0


@dataclass(frozen=True)
class SearchReport:
    """The root and its visited moves, best first.

    visits: of the root, the tree's reused ones included; playouts: new ones of this search.
    priors: float32 [area+1], the evaluator's policy in move-index order, 0 where the search was not to play.
    ownership: as in `MoveReport`, of the whole tree.
    seconds: since the search began.
    """

    width: int
    height: int
    to_move: int
    visits: int
    playouts: int
    winrate: float
    lead: float
    score_mean: float
    score_stdev: float
    utility: float
    moves: tuple[MoveReport, ...]
    priors: np.ndarray
    ownership: np.ndarray | None
    seconds: float

    def ownership_spread(self) -> np.ndarray:
        """The standard deviation of the moves' ownerships, weighted by visits, [height, width]; 0 where none is known.

        It needs the moves' own ownership.
        """
        known = [(move.visits, move.ownership) for move in self.moves if move.ownership is not None and move.visits > 0]
        if not known:
            return np.zeros((self.height, self.width))
        weights = [visits for visits, _ in known]
        ownerships = np.array([ownership for _, ownership in known], np.float64)
        mean = np.average(ownerships, axis=0, weights=weights)
        return np.sqrt(np.average((ownerships - mean) ** 2, axis=0, weights=weights))

    def as_comment(self) -> str:
        """Win rate and score from black's side, visits and main line, as the text of an SGF comment."""
        from ..sgf import analysis_comment

        line = self.moves[0].pv if self.moves else ()
        return analysis_comment(self.to_move, self.winrate, self.lead, self.visits, line, self.width, self.height)
