"""A Go engine that speaks GTP.

Names are imported when first used, so that `import gtp_engine` costs nothing and imports neither torch nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import VERSION

if TYPE_CHECKING:
    from gtp_engine.arena.match import play_match
    from gtp_engine.arena.network_match import NetworkPlayer, play_networks
    from gtp_engine.arena.results import MatchResult
    from gtp_engine.base.errors import UserError
    from gtp_engine.engine.engine import Decision, Engine
    from gtp_engine.engine.settings import EngineSettings
    from gtp_engine.go.coords import (
        BLACK,
        EMPTY,
        PASS,
        WHITE,
        index_of_point,
        parse_vertex,
        point_of_index,
        vertex,
    )
    from gtp_engine.go.drawing import BoardDrawing, Candidate
    from gtp_engine.go.game import Game, IllegalMove, Move
    from gtp_engine.go.regions import Chain
    from gtp_engine.go.rules import RULESETS, Rules, parse_rules
    from gtp_engine.go.scoring import Score
    from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf, read_sgf_games, write_sgf
    from gtp_engine.nets.model import Model, ModelOutputs
    from gtp_engine.nets.model_file import load_model, save_model
    from gtp_engine.nets.stored import RawOutputs
    from gtp_engine.search.evaluate.batch import Evaluation, Network, load_network
    from gtp_engine.search.evaluate.inputs import NetworkInputs, network_inputs
    from gtp_engine.search.evaluate.row import Policy
    from gtp_engine.search.parameters import SearchParameters
    from gtp_engine.search.report import MoveReport, SearchReport
    from gtp_engine.search.request import Limits, RootMoves, SearchRequest
    from gtp_engine.solver.refutations import Branch, Outcome
    from gtp_engine.solver.solution import Answer, Solution, solve
    from gtp_engine.study.board_searches import search_games
    from gtp_engine.study.game_review import GameReview
    from gtp_engine.study.move_review import MoveReview
    from gtp_engine.study.page.page import review_page
    from gtp_engine.study.review_sgf import annotated
    from gtp_engine.study.reviewer import review
    from gtp_engine.training.data.loader import Loader, Samples
    from gtp_engine.training.data.rows import Batch
    from gtp_engine.training.learner import Learner, playing_network
    from gtp_engine.training.losses import Loss, losses, total_loss
    from gtp_engine.training.run_settings import LearnSettings, LossWeights
    from gtp_engine.training.selfplay_games import selfplay

__version__ = VERSION

__all__ = [
    "BLACK",
    "EMPTY",
    "PASS",
    "RULESETS",
    "WHITE",
    "Answer",
    "Batch",
    "BoardDrawing",
    "Branch",
    "Candidate",
    "Chain",
    "Decision",
    "Engine",
    "EngineSettings",
    "Evaluation",
    "Game",
    "GameRecord",
    "GameReview",
    "IllegalMove",
    "LearnSettings",
    "Learner",
    "Limits",
    "Loader",
    "Loss",
    "LossWeights",
    "MatchResult",
    "Model",
    "ModelOutputs",
    "Move",
    "MoveReport",
    "MoveReview",
    "Network",
    "NetworkInputs",
    "NetworkPlayer",
    "Outcome",
    "Policy",
    "RawOutputs",
    "RootMoves",
    "Rules",
    "Samples",
    "Score",
    "SearchParameters",
    "SearchReport",
    "SearchRequest",
    "SgfError",
    "Solution",
    "UserError",
    "annotated",
    "index_of_point",
    "load_model",
    "load_network",
    "losses",
    "network_inputs",
    "parse_rules",
    "parse_vertex",
    "play_match",
    "play_networks",
    "playing_network",
    "point_of_index",
    "read_sgf",
    "read_sgf_games",
    "review",
    "review_page",
    "save_model",
    "search_games",
    "selfplay",
    "solve",
    "total_loss",
    "vertex",
    "write_sgf",
]

_MODULES = {
    "arena.match": ("play_match",),
    "arena.network_match": ("NetworkPlayer", "play_networks"),
    "arena.results": ("MatchResult",),
    "base.errors": ("UserError",),
    "engine.engine": ("Decision", "Engine"),
    "engine.settings": ("EngineSettings",),
    "go.coords": ("BLACK", "EMPTY", "PASS", "WHITE", "index_of_point", "parse_vertex", "point_of_index", "vertex"),
    "go.drawing": ("BoardDrawing", "Candidate"),
    "go.game": ("Game", "IllegalMove", "Move"),
    "go.regions": ("Chain",),
    "go.rules": ("RULESETS", "Rules", "parse_rules"),
    "go.scoring": ("Score",),
    "go.sgf": ("GameRecord", "SgfError", "read_sgf", "read_sgf_games", "write_sgf"),
    "nets.model": ("Model", "ModelOutputs"),
    "nets.model_file": ("load_model", "save_model"),
    "nets.stored": ("RawOutputs",),
    "search.evaluate.batch": ("Evaluation", "Network", "load_network"),
    "search.evaluate.inputs": ("NetworkInputs", "network_inputs"),
    "search.evaluate.row": ("Policy",),
    "search.parameters": ("SearchParameters",),
    "search.report": ("MoveReport", "SearchReport"),
    "search.request": ("Limits", "RootMoves", "SearchRequest"),
    "solver.refutations": ("Branch", "Outcome"),
    "solver.solution": ("Answer", "Solution", "solve"),
    "study.board_searches": ("search_games",),
    "study.game_review": ("GameReview",),
    "study.move_review": ("MoveReview",),
    "study.page.page": ("review_page",),
    "study.review_sgf": ("annotated",),
    "study.reviewer": ("review",),
    "training.data.loader": ("Loader", "Samples"),
    "training.data.rows": ("Batch",),
    "training.learner": ("Learner", "playing_network"),
    "training.losses": ("Loss", "losses", "total_loss"),
    "training.run_settings": ("LearnSettings", "LossWeights"),
    "training.selfplay_games": ("selfplay",),
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
