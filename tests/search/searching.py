"""Searches by an evaluator of made-up opinions, and one search of the position that a tree stands at."""

from typing import Any

from hash_evaluator import HashEvaluator

from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search


def search_of(game: Game, evaluator: Evaluator | None = None, seed: int = 1, **settings: Any) -> Search:
    """Returns a search, by itself still without visits, that stands at a position."""
    search = Search(evaluator or HashEvaluator(), SearchParameters(**settings), seed=seed)
    search.set_position(game)
    return search


def run(search: Search, limits: Limits, **options: Any) -> SearchReport:
    return run_search(search, SearchRequest(search.game, limits, **options))


def searched(
    game: Game, visits: int, evaluator: Evaluator | None = None, seed: int = 1, **settings: Any
) -> tuple[Search, SearchReport]:
    """Returns a search of a position and its report."""
    search = search_of(game, evaluator, seed, **settings)
    return search, run(search, Limits(visits=visits))
