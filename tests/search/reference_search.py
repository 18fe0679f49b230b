"""PUCT as it stands in the papers, with objects and dictionaries, one leaf at a time. Slow and obvious."""

import math
from dataclasses import dataclass, field

import numpy as np
from drawn_positions import plain_margin
from hash_evaluator import opinion

from gtp_engine.go.coords import BLACK, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.search.parameters import SearchParameters


@dataclass
class Node:
    priors: dict[int, float] = field(default_factory=dict)
    children: dict[int, "Node"] = field(default_factory=dict)
    visits: int = 0
    utility: float = 0.0  # sum, for the side to move here
    final: float | None = None


def utility_of(win: float, score: float, area: int, weight: float) -> float:
    return win + weight * 2 / math.pi * math.atan(score / (2 * math.sqrt(area)))


def expand(node: Node, game: Game, weight: float) -> float:
    """Evaluates a leaf; its utility for the side to move."""
    if game.is_over:
        margin = plain_margin(game.board) - game.komi - game.handicap_bonus
        margin = margin if game.to_move == BLACK else -margin
        node.final = utility_of(float(np.sign(margin)), margin, game.area, weight)
        return node.final
    policy, win, score = opinion(int(game.board["hash"][0]), game.to_move, game.area)
    legal = np.flatnonzero(game.legal_moves())
    scale = np.float32(65535) / np.float32(policy[legal].sum(dtype=np.float64))
    for move in legal:
        node.priors[int(move)] = max(1, min(65535, int(policy[move] * scale))) / 65535
    return utility_of(win, score, game.area, weight)


def choose(node: Node, settings: SearchParameters) -> int:
    visited = sum(node.priors[move] for move in node.children)
    first_play = node.utility / node.visits - settings.fpu_reduction * math.sqrt(visited)
    explore = settings.c_puct * math.sqrt(node.visits - 0.99)

    def urgency(move: int) -> float:
        child = node.children.get(move)
        value = -child.utility / child.visits if child else first_play
        return value + explore * node.priors[move] / (1 + (child.visits if child else 0))

    return max(node.priors, key=urgency)


def search(game: Game, visits: int, settings: SearchParameters) -> Node:
    """The root after so many visits."""
    root = Node()
    for _ in range(visits):
        position, path = game.copy(), [root]
        while path[-1].visits and path[-1].final is None:
            move = choose(path[-1], settings)
            position.play(position.to_move, point_of_index(move, game.width, game.height))
            path.append(path[-1].children.setdefault(move, Node()))
        leaf = path[-1]
        utility = leaf.final if leaf.final is not None else expand(leaf, position, settings.score_utility)
        for node in reversed(path):
            node.visits += 1
            node.utility += utility
            utility = -utility
    return root
