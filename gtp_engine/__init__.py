"""A Go engine that speaks GTP.

Names are imported when first used, so that `import gtp_engine` costs nothing and imports neither torch nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import VERSION

if TYPE_CHECKING:
    from gtp_engine.arena.match import play_match as play_match
    from gtp_engine.arena.network_match import NetworkPlayer as NetworkPlayer
    from gtp_engine.arena.network_match import play_networks as play_networks
    from gtp_engine.arena.results import MatchResult as MatchResult
    from gtp_engine.base.errors import UserError as UserError
    from gtp_engine.engine.engine import Decision as Decision
    from gtp_engine.engine.engine import Engine as Engine
    from gtp_engine.engine.settings import EngineSettings as EngineSettings
    from gtp_engine.go.coords import BLACK as BLACK
    from gtp_engine.go.coords import EMPTY as EMPTY
    from gtp_engine.go.coords import PASS as PASS
    from gtp_engine.go.coords import WHITE as WHITE
    from gtp_engine.go.coords import index_of_point as index_of_point
    from gtp_engine.go.coords import parse_vertex as parse_vertex
    from gtp_engine.go.coords import point_of_index as point_of_index
    from gtp_engine.go.coords import vertex as vertex
    from gtp_engine.go.drawing import BoardDrawing as BoardDrawing
    from gtp_engine.go.drawing import Candidate as Candidate
    from gtp_engine.go.game import Game as Game
    from gtp_engine.go.game import IllegalMove as IllegalMove
    from gtp_engine.go.game import Move as Move
    from gtp_engine.go.regions import Chain as Chain
    from gtp_engine.go.rules import RULESETS as RULESETS
    from gtp_engine.go.rules import Rules as Rules
    from gtp_engine.go.rules import parse_rules as parse_rules
    from gtp_engine.go.scoring import Score as Score
    from gtp_engine.go.sgf import GameRecord as GameRecord
    from gtp_engine.go.sgf import SgfError as SgfError
    from gtp_engine.go.sgf import read_sgf as read_sgf
    from gtp_engine.go.sgf import read_sgf_games as read_sgf_games
    from gtp_engine.go.sgf import write_sgf as write_sgf
    from gtp_engine.nets.model import Model as Model
    from gtp_engine.nets.model import ModelOutputs as ModelOutputs
    from gtp_engine.nets.model_file import load_model as load_model
    from gtp_engine.nets.model_file import new_model as new_model
    from gtp_engine.nets.model_file import save_model as save_model
    from gtp_engine.nets.stored import RawOutputs as RawOutputs
    from gtp_engine.search.evaluate.batch import Evaluation as Evaluation
    from gtp_engine.search.evaluate.batch import Network as Network
    from gtp_engine.search.evaluate.batch import load_network as load_network
    from gtp_engine.search.evaluate.inputs import NetworkInputs as NetworkInputs
    from gtp_engine.search.evaluate.inputs import network_inputs as network_inputs
    from gtp_engine.search.evaluate.row import Policy as Policy
    from gtp_engine.search.parameters import SearchParameters as SearchParameters
    from gtp_engine.search.report import MoveReport as MoveReport
    from gtp_engine.search.report import SearchReport as SearchReport
    from gtp_engine.search.request import Limits as Limits
    from gtp_engine.search.request import RootMoves as RootMoves
    from gtp_engine.search.request import SearchRequest as SearchRequest
    from gtp_engine.solver.refutations import Branch as Branch
    from gtp_engine.solver.refutations import Outcome as Outcome
    from gtp_engine.solver.solution import Answer as Answer
    from gtp_engine.solver.solution import Solution as Solution
    from gtp_engine.solver.solution import solve as solve
    from gtp_engine.study.board_searches import search_games as search_games
    from gtp_engine.study.game_review import GameReview as GameReview
    from gtp_engine.study.move_review import MoveReview as MoveReview
    from gtp_engine.study.page.page import review_page as review_page
    from gtp_engine.study.review_sgf import annotated as annotated
    from gtp_engine.study.reviewer import review as review
    from gtp_engine.training.data.loader import Loader as Loader
    from gtp_engine.training.data.loader import Samples as Samples
    from gtp_engine.training.data.rows import Batch as Batch
    from gtp_engine.training.learner import Learner as Learner
    from gtp_engine.training.learner import playing_network as playing_network
    from gtp_engine.training.losses import Loss as Loss
    from gtp_engine.training.losses import losses as losses
    from gtp_engine.training.losses import total_loss as total_loss
    from gtp_engine.training.run_settings import LearnSettings as LearnSettings
    from gtp_engine.training.run_settings import LossWeights as LossWeights
    from gtp_engine.training.selfplay_games import selfplay as selfplay

__version__ = VERSION

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
    "nets.model_file": ("load_model", "new_model", "save_model"),
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
# The imports for type checkers repeat each name after "as", which tells them that it is public.
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
