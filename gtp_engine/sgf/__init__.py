"""Reading and writing game records in SGF."""

from .comments import analysis_comment
from .errors import SgfError
from .reading import LINES_SUFFIX, RECORD_SUFFIXES, read_sgf, read_sgf_games
from .record import GameRecord, RecordNode
from .result import GameResult, read_result
from .tree import Edit, RecordTree, TreeNode, read_tree
from .values import Properties, read_number, read_text
from .writing import Writable, write_sgf

__all__ = [
    "LINES_SUFFIX",
    "RECORD_SUFFIXES",
    "Edit",
    "GameRecord",
    "GameResult",
    "Properties",
    "RecordNode",
    "RecordTree",
    "SgfError",
    "TreeNode",
    "Writable",
    "analysis_comment",
    "read_number",
    "read_result",
    "read_sgf",
    "read_sgf_games",
    "read_text",
    "read_tree",
    "write_sgf",
]
