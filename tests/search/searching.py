"""A search of the position that a tree stands at."""

from typing import Any

from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search


def run(search: Search, limits: Limits, **options: Any) -> SearchReport:
    return run_search(search, SearchRequest(search.game, limits, **options))
