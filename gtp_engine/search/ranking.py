"""What the root's subtree says: its moves ranked, values averaged, main lines, as a `report.SearchReport`."""

import numpy as np

from ..game.coords import point_of_index
from . import tree as trees
from .game_tree import GameTree
from .ownership import mean_ownership
from .parameters import SearchParameters
from .report import MoveReport, SearchReport
from .tree import Tree

_LONGEST_LINE = 40
# KataGo's minVisitPropForLCB: bounds of moves with fewer visits, as a share of the most visited, mean little.
_LEAST_SHARE_FOR_BOUNDS = 0.15


def make_report(
    game_tree: GameTree,
    parameters: SearchParameters,
    banned: np.ndarray,
    *,
    playouts: int,
    seconds: float,
    ownership: bool,
    moves_ownership: bool,
) -> SearchReport:
    """The report on a tree whose root is evaluated; banned: bool [area+1], the moves that are not to be played."""
    tree, game = game_tree.arrays, game_tree.game
    children = game_tree.children()
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
        moves=_rank_moves(game_tree, parameters, children, banned[rows], owned),
        priors=priors,
        ownership=mean_ownership(totals.sum(0), counts.sum(), shape) if ownership else None,
        seconds=seconds,
    )


def _rank_moves(
    game_tree: GameTree,
    parameters: SearchParameters,
    children: np.ndarray,
    banned: np.ndarray,
    owned: np.ndarray | None,
) -> tuple[MoveReport, ...]:
    """The root's children but the banned ones (bool, one a child), best first."""
    tree, game = game_tree.arrays, game_tree.game
    nodes = tree.nodes[children]
    means = _means(nodes)
    winrate, utility = 1 - means["winrate"], -means["utility"]
    radius = parameters.lcb_stdevs * means["utility_error"]
    order = best_first(nodes["visits"], utility - radius, banned, parameters.choice)
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
                weight=float(nodes["visits"][index]),
                order=rank,
                pv=line,
                pv_visits=visits,
                ownership=owned[index] if owned is not None else None,
            )
        )
    return tuple(reports)


def best_first(visits: np.ndarray, lower_bound: np.ndarray, banned: np.ndarray, choice: str) -> list[int]:
    """The moves' indices, the best first: by visits, the best lower bound moved to the front where `choice` is "lcb".
    Banned ones (bool) are left out.
    """
    order = [int(index) for index in np.lexsort((-lower_bound, -visits)) if not banned[index]]
    if choice == "lcb" and order:
        eligible = [index for index in order if visits[index] >= _LEAST_SHARE_FOR_BOUNDS * visits[order[0]]]
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
    """Averages over the visits of each node, for the side to move there."""
    visits = np.maximum(nodes["visits"], 1)
    utility = nodes["utility_sum"] / visits
    score_mean = nodes["score_sum"] / visits
    # One more visit as far from the mean as can be keeps the error of a move with few visits from being nil.
    variance = (nodes["utility_squares"] - visits * utility**2 + 1) / visits
    return {
        "winrate": 0.5 + 0.5 * nodes["value_sum"] / visits,
        "utility": utility,
        "utility_error": np.sqrt(np.maximum(variance, 0) / visits),
        "lead": nodes["lead_sum"] / visits,
        "score_mean": score_mean,
        "score_stdev": np.sqrt(np.maximum(nodes["score_squares"] / visits - score_mean**2, 0)),
    }
