"""The first calls of the rules, the search and the count, which compile them.

`main` compiles the search and the count, in another process than the rules and the evaluator (`base/warm_up`).
"""

import numpy as np

from ..go.coords import BLACK, point_at
from ..go.game import Game
from ..go.rules import RULESETS
from ..search.evaluate.rollouts import UniformEvaluator
from ..search.parameters import SearchParameters
from ..search.request import Limits, SearchRequest
from ..search.scheduler import run_search
from ..search.search import Search
from .status import agreed_dead


def use_rules() -> None:
    """Plays and takes back moves, sets up a position."""
    game = Game(5, rules=RULESETS["tromp-taylor"])
    for x, y in ((1, 0), (0, 0), (0, 1), (4, 4)):
        game.play(game.to_move, point_at(x, y, 5))
    game.is_legal(point_at(0, 0, 5))
    game.legal_moves()
    game.undo()
    game.set_up([point_at(0, 0, 5)], [point_at(1, 1, 5)])


def use_search() -> None:
    """Searches a small board with an evaluator that needs no time."""
    # Not the game's search, whose random numbers would then depend on whether it was warmed up.
    search = Search(UniformEvaluator(), SearchParameters(tree_megabytes=0.25), seed=0)
    game = Game(5)
    report = run_search(search, SearchRequest(game, Limits(visits=600), ownership=True))
    # The arena has space for about 1,100 nodes: with 600 in use, the next position keeps only its subtree.
    game.play(BLACK, report.moves[0].point)
    run_search(search, SearchRequest(game, Limits(visits=610)))


def use_count() -> None:
    """Counts a small board with a stone of each colour."""
    game = Game(5)
    game.set_up([point_at(x, 1, 5) for x in range(5)], [point_at(x, 3, 5) for x in range(5)])
    agreed_dead(game, np.zeros((5, 5)))


def main() -> None:
    """Compiles the search and the count."""
    use_search()
    use_count()
