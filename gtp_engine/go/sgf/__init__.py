"""Reading and writing game records in SGF."""

from .comments import analysis_comment
from .editing import Edit, Editor
from .errors import SgfError
from .files import LINES_SUFFIX, RECORD_SUFFIXES, read_sgf, read_sgf_games, write_sgf
from .node import TreeNode
from .record import GameRecord
from .result import GameResult, read_result
from .values import Properties, read_number, read_text

__all__ = [
    "LINES_SUFFIX",
    "RECORD_SUFFIXES",
    "Edit",
    "Editor",
    "GameRecord",
    "GameResult",
    "Properties",
    "SgfError",
    "TreeNode",
    "analysis_comment",
    "read_number",
    "read_result",
    "read_sgf",
    "read_sgf_games",
    "read_text",
    "write_sgf",
]
