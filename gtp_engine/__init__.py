"""A Go engine that speaks GTP.

Names are imported when first used, so that `import gtp_engine` costs nothing and imports neither torch nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gtp_engine.engine import Decision, Engine, EngineSettings
    from gtp_engine.game.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex, vertex
    from gtp_engine.game.game import Game, IllegalMove, Move
    from gtp_engine.game.rules import RULESETS, Rules, parse_rules
    from gtp_engine.match.match import play_match
    from gtp_engine.search.parameters import SearchParameters
    from gtp_engine.search.report import MoveReport, SearchReport
    from gtp_engine.search.search import Limits
    from gtp_engine.sgf import GameRecord, SgfError, read_sgf, read_sgf_games, write_sgf

__version__ = "0.20.0"

__all__ = [
    "BLACK",
    "EMPTY",
    "PASS",
    "RULESETS",
    "WHITE",
    "Decision",
    "Engine",
    "EngineSettings",
    "Game",
    "GameRecord",
    "IllegalMove",
    "Limits",
    "Move",
    "MoveReport",
    "Rules",
    "SearchParameters",
    "SearchReport",
    "SgfError",
    "parse_rules",
    "parse_vertex",
    "play_match",
    "read_sgf",
    "read_sgf_games",
    "vertex",
    "write_sgf",
]

_MODULES = {
    "engine": ("Decision", "Engine", "EngineSettings"),
    "game.coords": ("BLACK", "EMPTY", "PASS", "WHITE", "parse_vertex", "vertex"),
    "game.game": ("Game", "IllegalMove", "Move"),
    "game.rules": ("RULESETS", "Rules", "parse_rules"),
    "match.match": ("play_match",),
    "search.parameters": ("SearchParameters",),
    "search.report": ("MoveReport", "SearchReport"),
    "search.search": ("Limits",),
    "sgf": ("GameRecord", "SgfError", "read_sgf", "read_sgf_games", "write_sgf"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
