"""Reading and writing game records in SGF."""

from .record import (
    LINES_SUFFIX,
    RECORD_SUFFIXES,
    GameRecord,
    RecordNode,
    SgfError,
    Writable,
    analysis_comment,
    lead_text,
    read_sgf,
    read_sgf_games,
    write_sgf,
)
from .tree import Edit, RecordTree, TreeNode, read_tree
from .values import Properties, read_number, read_text

__all__ = [
    "LINES_SUFFIX",
    "RECORD_SUFFIXES",
    "Edit",
    "GameRecord",
    "Properties",
    "RecordNode",
    "RecordTree",
    "SgfError",
    "TreeNode",
    "Writable",
    "analysis_comment",
    "lead_text",
    "read_number",
    "read_sgf",
    "read_sgf_games",
    "read_text",
    "read_tree",
    "write_sgf",
]
