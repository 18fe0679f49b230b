"""Reading and writing game records in SGF."""

from .editing import Edit, Editor
from .files import LINES_SUFFIX, RECORD_SUFFIXES, read_data, read_sgf, read_sgf_games, write_sgf
from .node import TreeNode
from .record import GameRecord
from .results import GameResult, read_result, shown_result
from .syntax import split_games
from .terms import Terms, terms_of
from .values import Properties, SgfError, analysis_comment, read_number, read_text

__all__ = [
    "LINES_SUFFIX",
    "RECORD_SUFFIXES",
    "Edit",
    "Editor",
    "GameRecord",
    "GameResult",
    "Properties",
    "SgfError",
    "Terms",
    "TreeNode",
    "analysis_comment",
    "read_data",
    "read_number",
    "read_result",
    "read_sgf",
    "read_sgf_games",
    "read_text",
    "shown_result",
    "split_games",
    "terms_of",
    "write_sgf",
]
