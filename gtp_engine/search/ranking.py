"""What the root's subtree says: its moves ranked, values averaged, main lines, as a `report.SearchReport`."""

import numpy as np

from ..game.coords import point_of_index
from . import tree as trees
from .game_tree import GameTree
from .gumbel import improved_scores
from .ownership import mean_ownership
from .parameters import SearchParameters
from .report import MoveReport, SearchReport
from .selection import Root, exploration, rule_of
from .tree import Tree

_LONGEST_LINE = 40
# KataGo's minVisitPropForLCB: bounds of moves with less weight, as a share of the largest, mean little.
_LEAST_SHARE_FOR_BOUNDS = 0.15
# KataGo's: how many visits a prior of 1 is worth when the best move is looked for.
_PRIORS_IN_CHOICE = 2.0


def make_report(
    game_tree: GameTree,
    parameters: SearchParameters,
    root: Root,
    *,
    playouts: int,
    seconds: float,
    ownership: bool,
    moves_ownership: bool,
) -> SearchReport:
    """The report on a tree whose root is evaluated."""
    tree, game = game_tree.arrays, game_tree.game
    banned = root.banned_until[game.to_move] > 0
    children = game_tree.children()
    children = children[~banned[tree.nodes["move"][children]]]
    totals, counts = game_tree.owned
    shape = (game.height, game.width)
    rows = tree.nodes["move"][children]
    owned = mean_ownership(totals[rows], counts[rows], shape) if moves_ownership else None
    whole = _means(tree.nodes[game_tree.root : game_tree.root + 1])
    priors = game_tree.root_priors()
    priors[banned] = 0
    return SearchReport(
        width=game.width,
        height=game.height,
        to_move=game.to_move,
        visits=game_tree.visits,
        playouts=playouts,
        winrate=float(whole["winrate"][0]),
        lead=float(whole["lead"][0]),
        score_mean=float(whole["score_mean"][0]),
        score_stdev=float(whole["score_stdev"][0]),
        utility=float(whole["utility"][0]),
        moves=_rank_moves(game_tree, parameters, root, children, owned),
        priors=priors,
        ownership=mean_ownership(totals.sum(0), counts.sum(), shape) if ownership else None,
        seconds=seconds,
    )


def _rank_moves(
    game_tree: GameTree,
    parameters: SearchParameters,
    root: Root,
    children: np.ndarray,
    owned: np.ndarray | None,
) -> tuple[MoveReport, ...]:
    """Children of the root, best first."""
    tree, game = game_tree.arrays, game_tree.game
    nodes = tree.nodes[children]
    means = _means(nodes)
    winrate, utility = 1 - means["winrate"], -means["utility"]
    radius = parameters.lcb_stdevs * means["utility_error"]
    selection = _selection_weights(game_tree, parameters, root, nodes, utility)
    if len(root.halving.schedule):
        scores = improved_scores(tree, game_tree.root, root.halving.scores, root.halving.priors)[nodes["move"]]
        order = [int(index) for index in np.lexsort((-scores, -nodes["visits"]))]
    else:
        order = best_first(selection, utility - radius, parameters.choice)
    reports = []
    for rank, index in enumerate(order):
        line, visits = _main_line(tree, int(children[index]), game.width, game.height)
        reports.append(
            MoveReport(
                point=line[0],
                visits=int(nodes["visits"][index]),
                winrate=float(winrate[index]),
                lead=-float(means["lead"][index]),
                score_mean=-float(means["score_mean"][index]),
                score_stdev=float(means["score_stdev"][index]),
                utility=float(utility[index]),
                lcb=float(winrate[index] - radius[index] / 2),  # win rates span half of the utility's range
                utility_lcb=float(utility[index] - radius[index]),
                prior=float(nodes["prior"][index]),
                weight=float(nodes["weight"][index]),
                selection=float(selection[index]),
                order=rank,
                pv=line,
                pv_visits=visits,
                ownership=owned[index] if owned is not None else None,
            )
        )
    return tuple(reports)


def _selection_weights(
    game_tree: GameTree, parameters: SearchParameters, root: Root, nodes: np.ndarray, utility: np.ndarray
) -> np.ndarray:
    """The weights by which the root's children (their records, and utilities for the root) are chosen from.

    With PUCT and a network these are what the search would have given them, had it known their utilities from the
    start: weight that made a move look worse afterwards does not speak for it (KataGo's choice of the move to play).
    """
    weights = nodes["weight"].astype(np.float64)
    if parameters.selection != "puct" or len(game_tree.arrays.first_plays) or len(nodes) < 2:
        return weights
    record, visits = game_tree.arrays.nodes[game_tree.root], nodes["visits"]
    priors = root.priors[nodes["move"]] if root.noisy else nodes["prior"]
    scaled = exploration(record, rule_of(parameters), record["children_weight"] + 1.0) * priors
    # The last visit may have misled; priors decide between moves with hardly any.
    best = int(np.argmax(weights * (visits - 1) / visits + _PRIORS_IN_CHOICE * priors))
    ahead = scaled[best] / (1 + weights[best]) + utility[best] - utility
    wanted = np.where(ahead > 0, scaled / np.where(ahead > 0, ahead, 1) - 1, np.inf)
    wanted[best] = np.inf
    return np.minimum(weights, np.ceil(np.maximum(wanted, 0)))


def best_first(weights: np.ndarray, lower_bound: np.ndarray, choice: str) -> list[int]:
    """The moves' indices, the best first: by weight, the best lower bound in front where `choice` is "lcb"."""
    order = [int(index) for index in np.lexsort((-lower_bound, -weights))]
    if choice == "lcb" and order:
        eligible = [index for index in order if weights[index] >= _LEAST_SHARE_FOR_BOUNDS * weights[order[0]]]
        best = max(eligible, key=lambda index: lower_bound[index])
        order.remove(best)
        order.insert(0, best)
    return order


def _main_line(tree: Tree, node: int, width: int, height: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The main line through a child of the root, as points, and its visits."""
    moves, visits = np.zeros(_LONGEST_LINE, np.int32), np.zeros(_LONGEST_LINE, np.int32)
    length = trees.main_line(tree, node, moves, visits)
    points = tuple(point_of_index(int(move), width, height) for move in moves[:length])
    return points, tuple(int(count) for count in visits[:length])


def _means(nodes: np.ndarray) -> dict[str, np.ndarray]:
    """Averages over the evaluations of each node, for the side to move there."""
    weight = np.where(nodes["visits"] > 0, nodes["weight"], 1)
    utility = nodes["utility_sum"] / weight
    score_mean = nodes["score_sum"] / weight
    # One more visit as far from the mean as can be keeps the error of a move with few visits from being nil.
    variance = (nodes["utility_squares"] - weight * utility**2 + 1) / weight
    return {
        "winrate": 0.5 + 0.5 * nodes["value_sum"] / weight,
        "utility": utility,
        "utility_error": np.sqrt(np.maximum(variance, 0) / np.maximum(nodes["visits"], 1)),
        "lead": nodes["lead_sum"] / weight,
        "score_mean": score_mean,
        "score_stdev": np.sqrt(np.maximum(nodes["score_squares"] / weight - score_mean**2, 0)),
    }
