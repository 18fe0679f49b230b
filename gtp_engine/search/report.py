"""The result of a search, as values that do not change: made on the search's thread, read on any.

Everything is for the side to move at the root: win rates in 0..1, scores and leads in points, utility in about -1..1.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from ..base.errors import UserError
from ..base.fields import check_keywords
from ..base.jit import inline, njit
from ..base.messages import plural
from ..go.coords import BLACK, EMPTY, PASS, as_colour, as_point, colour_name, index_of_point, point_of_index, vertex
from ..go.drawing import BoardDrawing, Candidate, DrawingOptions
from ..go.life import area_map
from ..go.symmetry import apply, transform_point
from .evaluate.row import EvaluationRow, Policy
from .gumbel import improved_scores, policy_target
from .root_symmetry import spread_policy
from .search import ActiveSearch
from .selection import Root, Rule, exploration
from .tree import Tree, main_line, mean_ownership

if TYPE_CHECKING:
    from ..go.game import Game

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
        lead: The expected lead, in points that would make the game even; no more than the board holds.
        score_mean: The mean of the final score, in points.
        score_stdev: The standard deviation of the final score, in points.
        utility: The value that the search maximises (`search.averaging`).
        lcb: The lower end of the win rate's confidence interval.
        utility_lcb: The lower end of the utility's confidence interval.
        prior: The evaluator's probability of the move, before noise.
        weight: The sum of the weights of the evaluations behind the values; the visits if each of them weighs one.
        order: The rank of the move, from 0.
        pv: The main line from this move on, as points (`coords.PASS` for a pass).
        pv_visits: The visits of each move of the main line.
        ownership: float32 [height, width] in -1..1, + for the side to move at the root; None if it was not requested.
        selection: The weight by which the move to play is chosen.
        symmetry_of: The point of the move that was searched in its place, in a symmetric position, whose numbers and
            mirrored line it has (`search.root_symmetry`); None if it was searched itself.
        width: The board's columns, for the names of points.
        height: The board's rows, for the same purpose.
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
    symmetry_of: int | None = None
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

    @property
    def searched_point(self) -> int:
        """The point of the move that was searched: its own, or that of the move whose mirror image it is."""
        return self.point if self.symmetry_of is None else self.symmetry_of

    def mirrored(self, symmetry: int) -> "MoveReport":
        """Returns the same about its mirror image under a symmetry of the position."""
        line = tuple(transform_point(point, symmetry, self.width, self.height) for point in self.pv)
        own = apply(self.ownership, symmetry) if self.ownership is not None else None
        return self._replace(point=line[0], pv=line, ownership=own, symmetry_of=self.point)

    def __eq__(self, other: object) -> bool:  # an array has no truth value
        return isinstance(other, MoveReport) and all(np.array_equal(*both) for both in zip(self, other, strict=True))  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.point, self.visits, self.winrate, self.pv))

    def __repr__(self) -> str:
        return f"<{self.vertex} {_values(self)}: {' '.join(self.pv_vertices)}>"


@dataclass(frozen=True, eq=False)  # arrays have no truth value
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
        moves: The root's visited moves, best first. Mirror images of a move that was searched in their place follow it.
        priors: float32 [area+1], the evaluator's policy in move-index order, 0 for moves that were forbidden.
        ownership: As in `MoveReport`, the mean over the whole tree.
        seconds: The duration of the search so far.
        improved_policy: float32 [area+1], the policy that sequential halving found; None without it.
        root_evaluation: The evaluation of the root; None if the tree already knew it.
        stones: int8 [height, width] of EMPTY, BLACK and WHITE, the stones at the root; None for an empty board.
        last_move: The point of the move before the root; `PASS` for a pass or at the start of a game.
        weight: As in `MoveReport`, of the root; 0 for an evaluation without a tree.
        is_rough: Whether there are too few evaluations to tell the lead and the ownership (`Evaluator.least_visits`).
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
    is_rough: bool = False

    @classmethod
    def of(cls, game: "Game", **values: Any) -> "SearchReport":
        """Returns a report on the position of a game, with the values of the other fields."""
        board = game.width, game.height, game.to_move
        return cls(*board, stones=game.stones(), last_move=game.last_point, **values)

    def __repr__(self) -> str:
        text = f"<SearchReport: {colour_name(self.to_move)} to move, {_values(self)}"
        return f"{text}: {' '.join(map(self.vertex, self.moves[0].pv))}>" if self.moves else f"{text}>"

    def is_best(self, point: int) -> bool:
        """Whether a move is the best one, or a mirror image of it."""
        found = self.move_at(point)
        return found is not None and found.searched_point == self.moves[0].point

    @property
    def searched(self) -> tuple[MoveReport, ...]:
        """The moves without mirror images of others."""
        return tuple(move for move in self.moves if move.symmetry_of is None)

    @property
    def best(self) -> MoveReport:
        """The best move.

        Raises:
            UserError: No move has a visit: the search ended after the root, or no move was allowed.
        """
        if not self.moves:
            raise UserError("the search has visited no move: allow it more visits or other moves, or use `policy`")
        return self.moves[0]

    def move_at(self, point: int | str) -> MoveReport | None:
        """Returns what the search has found about a move; None if it has not visited it.

        Raises:
            UserError: There is no such point.
        """
        point = as_point(point, self.width, self.height)
        return next((move for move in self.moves if move.point == point), None)

    @property
    def policy(self) -> Policy:
        """The priors by vertex: `report.policy["D4"]`."""
        return Policy(self.priors, self.width, self.height)

    def table(self) -> list[dict[str, Any]]:
        """Returns a row for each move that was searched, for a data frame: `pandas.DataFrame(report.table())`.

        A row has `move` and `pv` as vertices, and visits, winrate, lead, score_mean, score_stdev, lcb and prior as in
        `MoveReport`.
        """
        numbers = ("visits", "winrate", "lead", "score_mean", "score_stdev", "lcb", "prior")
        return [
            {"move": move.vertex} | {name: getattr(move, name) for name in numbers} | {"pv": " ".join(move.pv_vertices)}
            for move in self.searched
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
        check_keywords("to_svg", options, DrawingOptions.__annotations__)
        stones = np.full((self.height, self.width), EMPTY, np.int8) if self.stones is None else self.stones
        options.setdefault("last_move", self.last_move)
        options.setdefault("candidates", self.candidates())
        options.setdefault("ownership", None if self.ownership is None else self.ownership_of(BLACK))
        return BoardDrawing(stones, **options).to_svg()

    def candidates(self) -> tuple[Candidate, ...]:
        """Returns the discs of the best moves and their mirror images, those with hardly any visits left out."""
        least = _LEAST_CANDIDATE_SHARE * self.visits
        best = {move.point for move in self.searched[:_MOST_CANDIDATES] if move.order == 0 or move.visits >= least}
        shown = [move for move in self.moves if move.searched_point in best]
        return tuple(_candidate(move, self.moves[0]) for move in shown)

    _repr_svg_ = to_svg

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
        if moves := self.searched or self.moves:
            points = [move.point for move in moves]
            weights = np.array([move.selection for move in moves])
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


_LONGEST_LINE = 40
# KataGo's minVisitPropForLCB: moves with less than this share of the largest weight have no useful bounds.
_LEAST_SHARE_FOR_BOUNDS = 0.15
# KataGo's: how many visits a prior of 1 is worth when the best move is looked for.
_PRIORS_IN_CHOICE = 2.0

# Results of a node, for the side to move at the root: see `MoveReport`.
_MEANS = ("winrate", "lead", "score_mean", "score_stdev", "utility")
_NUMBERS = (*_MEANS, "lcb", "utility_lcb", "prior", "weight", "selection")
_FOUND = np.dtype([("visits", np.int64), *((name, np.float64) for name in _NUMBERS)])


def make_report(active: ActiveSearch, seconds: float) -> SearchReport:
    """Returns the report on a search whose root is evaluated, `seconds` after it began."""
    search, request, parameters, root = active.search, active.request, active.parameters, active.root
    tree, game = search.tree, search.game
    children = search.children()
    totals, counts = search.ownership_sums
    shape = (game.height, game.width)
    rows = tree.nodes["move"][children]
    ownerships = mean_ownership(totals[rows], counts[rows], shape) if request.moves_ownership else None
    if ownerships is not None and not counts[rows].all():  # a pass has ended the game: it was counted, not evaluated
        owners = area_map(game, request.dead)
        ownerships[counts[rows] == 0] = np.where(owners == EMPTY, 0, np.where(owners == game.to_move, 1, -1))
    found, whole = np.zeros(len(children), _FOUND), np.zeros(1, _FOUND)
    corrects = parameters.selection == "puct" and not len(tree.amaf)
    _describe(tree, root, active.rule, float(parameters.lcb_stdevs), corrects, children, found, whole[0])
    # A network may expect more than the board holds, and so do the means; the search itself only uses the score.
    least, most = sorted(lead if game.to_move == BLACK else -lead for lead in game.possible_leads)
    for values in (found, whole):
        values["lead"] = np.clip(values["lead"], least, most)
    priors = search.priors_at(search.root)
    priors[active.banned & ~active.mirrored] = 0
    improved, ownership = None, None
    if len(root.halving.considered_visits):
        improved = spread_policy(policy_target(tree, root.node, root.halving), active.symmetries, *shape)
    if request.needs_ownership:
        ownership = mean_ownership(totals.sum(0), counts.sum(), shape)
        # Otherwise what was searched on one side would count on that side only.
        ownership = np.mean([ownership, *(apply(ownership, number) for number in active.symmetries)], axis=0)
    return SearchReport.of(
        game,
        visits=search.visits,
        new_visits=active.new_visits,
        **{name: whole[name].item() for name in (*_MEANS, "weight")},
        moves=_with_images(_rank_moves(active, children, found, ownerships), active.symmetries),
        priors=priors,
        ownership=ownership,
        seconds=seconds,
        improved_policy=improved,
        root_evaluation=active.root_evaluation,
        is_rough=search.visits < search.evaluator.least_visits,
    )


def _rank_moves(
    active: ActiveSearch, children: np.ndarray, found: np.ndarray, ownerships: np.ndarray | None
) -> tuple[MoveReport, ...]:
    """Returns the reports on children of the root, best first, from their results (_FOUND) and ownerships."""
    tree, game, root = active.search.tree, active.search.game, active.root
    if len(root.halving.considered_visits):
        moves = tree.nodes["move"][children]
        scores = improved_scores(tree, root.node, root.halving.scores, root.halving.priors)[moves]
        order = np.lexsort((-scores, -found["visits"])).tolist()
    else:
        order = best_first(found["selection"], found["utility_lcb"], active.parameters.choice)
    lines, lengths = np.zeros((2, len(children), _LONGEST_LINE), np.int32), np.zeros(len(children), np.int32)
    _write_lines(tree, children, lines, lengths)
    longest = int(lengths.max(initial=0))
    points = _points(game.width, game.height)[lines[0, :, :longest]].tolist()
    visits = lines[1, :, :longest].tolist()
    numbers, ends = found.tolist(), lengths.tolist()
    reports = []
    for rank, index in enumerate(order):
        pv, pv_visits = tuple(points[index][: ends[index]]), tuple(visits[index][: ends[index]])
        known = dict(zip(("visits", *_NUMBERS), numbers[index], strict=True))
        own = ownerships[index] if ownerships is not None else None
        known |= {"width": game.width, "height": game.height}
        reports.append(MoveReport(pv[0], **known, order=rank, pv=pv, pv_visits=pv_visits, ownership=own))
    return tuple(reports)


def _with_images(moves: tuple[MoveReport, ...], symmetries: tuple[int, ...]) -> tuple[MoveReport, ...]:
    """Returns the reports with each move's mirror images after it, as KataGo lists them."""
    if not symmetries:
        return moves
    images: dict[int, MoveReport] = {}
    for move in moves:
        for image in (move, *map(move.mirrored, symmetries)):
            images.setdefault(image.point, image)
    return tuple(move._replace(order=order) for order, move in enumerate(images.values()))


@lru_cache(maxsize=64)
def _points(width: int, height: int) -> np.ndarray:
    """Returns the point of each move index, not to be modified."""
    return np.array([point_of_index(move, width, height) for move in range(width * height + 1)])


@njit
def _write_lines(tree: Tree, children: np.ndarray, lines: np.ndarray, lengths: np.ndarray) -> None:
    """Writes the main lines from children of the root: moves and visits, int32 [2, children, _LONGEST_LINE]."""
    for index in range(len(children)):
        lengths[index] = main_line(tree, children[index], lines[0, index], lines[1, index])


@njit
def _describe(
    tree: Tree,
    root: Root,
    rule: Rule,
    lcb_stdevs: float,
    corrects: bool,
    children: np.ndarray,
    found: np.ndarray,
    whole: np.ndarray,
) -> None:
    """Writes the results of the root's children (_FOUND [n]) and of the root (`whole`, a record)."""
    _average(tree.nodes[root.node], 1.0, lcb_stdevs, whole)
    for index in range(len(children)):
        _average(tree.nodes[children[index]], -1.0, lcb_stdevs, found[index])
        penalty = root.penalties[tree.nodes[children[index]]["move"]]
        found[index]["utility"] -= penalty
        found[index]["utility_lcb"] -= penalty
    if corrects and len(children) > 1:
        _correct_selection(tree, root, rule, children, found)


@inline
def _average(record: np.ndarray, sign: float, lcb_stdevs: float, known: np.ndarray) -> None:
    """Writes a node's averages, for the side to move at the root; `sign` is -1 if the other side moves at the node."""
    weight = record["weight"] if record["visits"] > 0 else 1.0
    utility = record["utility_sum"] / weight
    mean = record["score_sum"] / weight
    # The variance includes one more evaluation, 1 away from the mean, so that the error of a move with two equal
    # visits is not 0. Leela Zero has chosen the move by such a bound since version 0.17: a move with many visits and a
    # slightly lower mean is a safer choice than one that looked better at its last few visits.
    variance = (record["utility_squares"] - weight * (utility * utility) + 1.0) / weight
    radius = lcb_stdevs * math.sqrt(max(variance, 0.0) / max(int(record["visits"]), 1))
    winrate = 0.5 + 0.5 * record["value_sum"] / weight
    known["visits"] = record["visits"]
    known["winrate"] = winrate if sign > 0.0 else 1.0 - winrate
    known["lead"] = sign * (record["lead_sum"] / weight)
    known["score_mean"] = sign * mean
    known["score_stdev"] = math.sqrt(max(record["score_squares"] / weight - mean * mean, 0.0))
    known["utility"] = sign * utility
    known["lcb"] = known["winrate"] - radius / 2.0  # win rates span half of the utility's range
    known["utility_lcb"] = known["utility"] - radius
    known["prior"] = record["prior"]
    known["weight"] = record["weight"]
    known["selection"] = record["weight"]


@njit
def _correct_selection(tree: Tree, root: Root, rule: Rule, children: np.ndarray, found: np.ndarray) -> None:
    """Sets the weights by which the root's children are chosen from, with PUCT and a network.

    These are what the search would have given them, had it known their utilities from the start: weight that made a
    move look worse afterwards does not speak for it (KataGo's choice of the move to play).
    """
    record = tree.nodes[root.node]
    explore = np.float32(exploration(record, rule, record["children_weight"] + 1.0))
    scaled = np.empty(len(children), np.float32)
    best, highest = 0, -np.inf
    for index in range(len(children)):
        move, child = found[index], tree.nodes[children[index]]
        prior = root.priors[child["move"]] if root.noisy else child["prior"]
        scaled[index] = explore * prior
        # The last visit may have misled; priors decide between moves with hardly any.
        value = move["weight"] * (move["visits"] - 1) / move["visits"] + _PRIORS_IN_CHOICE * prior
        if value > highest:
            best, highest = index, value
    urgency = scaled[best] / (1.0 + found[best]["weight"]) + found[best]["utility"]
    for index in range(len(children)):
        ahead = urgency - found[index]["utility"]
        if index != best and ahead > 0.0:
            wanted = scaled[index] / ahead - 1.0
            found[index]["selection"] = min(found[index]["weight"], math.ceil(max(wanted, 0.0)))


def best_first(weights: np.ndarray, lower_bound: np.ndarray, choice: str) -> list[int]:
    """Returns the moves' indices, best first.

    Args:
        weights: [n], by which they are sorted.
        lower_bound: [n], the lower confidence bounds of their utilities.
        choice: "lcb" to put the move with the best bound first, of those with enough weight; else "visits".
    """
    order: list[int] = np.lexsort((-lower_bound, -weights)).tolist()
    if choice == "lcb" and order:
        eligible = [index for index in order if weights[index] >= _LEAST_SHARE_FOR_BOUNDS * weights[order[0]]]
        best = max(eligible, key=lambda index: lower_bound[index])
        order.remove(best)
        order.insert(0, best)
    return order
