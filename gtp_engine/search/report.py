"""The result of a search, as values that do not change: made on the search's thread, read on any.

Everything is for the side to move at the root: win rates in 0..1, scores and leads in points, utility in about -1..1.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..base.errors import UserError
from ..base.messages import plural
from ..go.coords import BLACK, EMPTY, PASS, as_colour, colour_name, index_of_point, point_of_index, vertex
from ..go.drawing import BoardDrawing, Candidate, DrawingOptions
from .evaluate.policy import Policy
from .evaluate.row import EvaluationRow

# The discs of candidates: how much less than the best move's the win rate may be, and the colour. The last one is for
# any loss: a difference of two win rates may be rounded to more than 1.
_CANDIDATE_COLOURS = ((0.01, "#5cc48d"), (0.03, "#b5dd6e"), (0.06, "#f5dc62"), (0.12, "#f3a854"), (inf, "#e8705f"))
_MOST_CANDIDATES, _LEAST_CANDIDATE_SHARE = 9, 0.02  # drawn on a board; of the root's visits


class MoveReport(NamedTuple):
    """One move at the root.

    Attributes:
        point: The point, or `coords.PASS`.
        visits: The visits of the position after it.
        winrate: The win rate, 0..1.
        lead: The expected lead, in points that would make the game even.
        score_mean: The mean of the final score, in points.
        score_stdev: The standard deviation of the final score, in points.
        utility: The value that the search maximises (`search.utility`).
        lcb: The lower end of the win rate's confidence interval.
        utility_lcb: The lower end of the utility's confidence interval.
        prior: The evaluator's probability of the move, before noise.
        weight: The sum of the weights of the evaluations behind the values; the visits if each of them weighs one.
        order: The rank of the move, from 0.
        pv: The main line from this move on, as points (`coords.PASS` for a pass).
        pv_visits: The visits of each move of the main line.
        ownership: float32 [height, width] in -1..1, + for the side to move at the root; None if it was not requested.
        selection: The weight by which the move to play is chosen.
        width: The board's columns, for the names of points.
        height: The board's rows, likewise.
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
    width: int = 0
    height: int = 0

    @property
    def vertex(self) -> str:
        """The name of the move, "pass" for a pass."""
        return vertex(self.point, self.width, self.height)

    @property
    def pv_vertices(self) -> tuple[str, ...]:
        """The main line as the names of its moves."""
        return tuple(vertex(point, self.width, self.height) for point in self.pv)

    def __repr__(self) -> str:
        return f"<{self.vertex} {_values(self)}: {' '.join(self.pv_vertices)}>"


@dataclass(frozen=True)
class SearchReport:
    """The root and its visited moves, best first.

    In a notebook it is shown as the board with the candidates (`to_svg`).

    Attributes:
        width: The board's columns.
        height: The board's rows.
        to_move: The colour to move at the root.
        visits: The root's visits, including those of a reused tree.
        new_visits: The visits of this search.
        winrate, lead, score_mean, score_stdev, utility: As in `MoveReport`, of the root.
        moves: The root's visited moves, best first.
        priors: float32 [area+1], the evaluator's policy in move-index order, 0 for moves that were forbidden.
        ownership: As in `MoveReport`, the mean over the whole tree. In a tree that a search without a limit of visits
            reuses it is the mean over what was evaluated since ownership was first requested: 0 everywhere if nothing
            was yet.
        seconds: The duration of the search so far.
        improved_policy: float32 [area+1], the policy that sequential halving found; None without it.
        root_evaluation: The evaluation of the root; None if the tree already knew it.
        stones: int8 [height, width] of EMPTY, BLACK and WHITE, the stones at the root; None for an empty board.
        last_move: The point of the move before the root; `PASS` for a pass or at the start of a game.
        weight: As in `MoveReport`, of the root; 0 for an evaluation without a tree.
    """

    width: int
    height: int
    to_move: int
    visits: int
    new_visits: int
    winrate: float
    lead: float
    score_mean: float
    score_stdev: float
    utility: float
    moves: tuple[MoveReport, ...]
    priors: np.ndarray
    ownership: np.ndarray | None
    seconds: float
    improved_policy: np.ndarray | None = None
    root_evaluation: EvaluationRow | None = None
    stones: np.ndarray | None = None
    last_move: int = PASS
    weight: float = 0.0

    def __repr__(self) -> str:
        text = f"<SearchReport: {colour_name(self.to_move)} to move, {_values(self)}"
        return f"{text}: {' '.join(map(self.vertex, self.moves[0].pv))}>" if self.moves else f"{text}>"

    @property
    def best(self) -> MoveReport:
        """The best move.

        Raises:
            UserError: No move has a visit: the search ended after the root, or no move was allowed.
        """
        if not self.moves:
            raise UserError("the search has visited no move: allow it more visits, or use `policy`")
        return self.moves[0]

    @property
    def policy(self) -> Policy:
        """The priors by vertex: `report.policy["D4"]`."""
        return Policy(self.priors, self.width, self.height)

    def table(self) -> list[dict[str, Any]]:
        """Returns a row for each move, for a data frame: `pandas.DataFrame(report.table())`.

        A row has `move` and `pv` as vertices, and visits, winrate, lead, score_mean, score_stdev, lcb and prior as in
        `MoveReport`.
        """
        numbers = ("visits", "winrate", "lead", "score_mean", "score_stdev", "lcb", "prior")
        return [
            {"move": move.vertex} | {name: getattr(move, name) for name in numbers} | {"pv": " ".join(move.pv_vertices)}
            for move in self.moves
        ]

    def ownership_of(self, colour: int | str) -> np.ndarray:
        """Returns the ownership of each point from a player's view: float32 [height, width] in -1..1, + for `colour`.

        Raises:
            UserError: The ownership was not requested.
        """
        if self.ownership is None:
            raise UserError("the report has no ownership: search a request with ownership=True")
        return self.ownership if as_colour(colour) == self.to_move else -self.ownership

    def to_svg(self, **options: Unpack[DrawingOptions]) -> str:
        """Draws the position with the best moves as coloured discs, and with the ownership if it was requested.

        A disc has the move's win rate in percent and its visits; green moves lose at most 1 % compared with the best
        one, red ones more than 12 %.

        Args:
            **options: Fields of `BoardDrawing` to add or to replace: `ownership`, `candidates`, `labels`, `last_move`,
                `title` and `pixels`.

        Returns:
            A complete SVG document.
        """
        stones = np.full((self.height, self.width), EMPTY, np.int8) if self.stones is None else self.stones
        options.setdefault("last_move", self.last_move)
        options.setdefault("candidates", self.candidates())
        options.setdefault("ownership", None if self.ownership is None else self.ownership_of(BLACK))
        return BoardDrawing(stones, **options).to_svg()

    def candidates(self) -> tuple[Candidate, ...]:
        """Returns the discs of the best moves, those with hardly any visits left out."""
        least = _LEAST_CANDIDATE_SHARE * self.visits
        shown = [move for move in self.moves[:_MOST_CANDIDATES] if move.order == 0 or move.visits >= least]
        return tuple(_candidate(move, self.moves[0]) for move in shown)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def vertex(self, point: int | str) -> str:
        """Returns the name of a point on this board, "pass" for a pass."""
        return vertex(point, self.width, self.height)

    def choose(self, temperature: float, random: np.random.Generator) -> int:
        """Chooses the point to play.

        Args:
            temperature: 0 for the best move; otherwise a move is drawn in proportion to selection^(1/temperature).
            random: The generator for the draw.

        Returns:
            A point. The priors decide if no move has a visit; it is a pass if no move was allowed.
        """
        if self.moves:
            points = [move.point for move in self.moves]
            weights = np.array([move.selection for move in self.moves])
        else:
            order = np.argsort(-self.priors, kind="stable")[: np.count_nonzero(self.priors)]
            points = [point_of_index(int(move), self.width, self.height) for move in order]
            weights = self.priors[order].astype(np.float64)
        if temperature <= 0 or not points:
            return points[0] if points else PASS
        weights = (weights / weights.max()) ** (1 / temperature)
        return points[int(random.choice(len(weights), p=weights / weights.sum()))]

    def policy_target(self) -> np.ndarray:
        """Returns the policy that a network should learn for this position, float32 [area+1] with a sum of 1.

        It is sequential halving's improved policy, or else each move's share of the weights by which the move to play
        is chosen, from which PUCT with a network takes visits that did not prove themselves (KataGo's policy target
        pruning); the priors if no move has a visit.
        """
        if self.improved_policy is not None:
            return self.improved_policy
        target = np.zeros_like(self.priors)
        for move in self.moves:
            target[index_of_point(move.point, self.width, self.height)] = move.selection
        if not target.any():
            target = self.priors.copy()
        return target / target.sum()

    def ownership_spread(self) -> np.ndarray:
        """Returns the standard deviation of the moves' ownerships, weighted by visits, [height, width].

        It needs a search with `moves_ownership`; it is 0 if no move's ownership is known.
        """
        known = [(move.visits, move.ownership) for move in self.moves if move.ownership is not None and move.visits > 0]
        if not known:
            return np.zeros((self.height, self.width))
        weights = [visits for visits, _ in known]
        ownerships = np.array([ownership for _, ownership in known], np.float64)
        mean = np.average(ownerships, axis=0, weights=weights)
        return np.sqrt(np.average((ownerships - mean) ** 2, axis=0, weights=weights))

    def as_comment(self) -> str:
        """Returns Black's win rate and score, the visits and the main line as the text of an SGF comment."""
        from ..go.sgf import analysis_comment

        line = self.moves[0].pv if self.moves else ()
        return analysis_comment(self.to_move, self.winrate, self.lead, self.visits, line, self.width, self.height)


def _values(result: MoveReport | SearchReport) -> str:
    """Returns win rate, lead and visits in words."""
    return f"{result.winrate:.1%}, {result.lead:+.1f} points, {plural(result.visits, 'visit')}"


def _candidate(move: MoveReport, best: MoveReport) -> Candidate:
    """Returns the disc of a move."""
    colour = next(colour for most, colour in _CANDIDATE_COLOURS if best.winrate - move.winrate <= most)
    visits = f"{move.visits}" if move.visits < 1000 else f"{move.visits / 1000:.1f}k"
    return Candidate(move.point, colour, (f"{100 * move.winrate:.0f}", visits), is_best=move is best)
