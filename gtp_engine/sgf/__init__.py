"""Reading and writing game records in SGF."""

from .record import (
    GameRecord,
    RecordNode,
    SgfError,
    analysis_comment,
    lead_text,
    read_sgf,
    read_sgf_games,
    write_sgf,
)

__all__ = [
    "GameRecord",
    "RecordNode",
    "SgfError",
    "analysis_comment",
    "lead_text",
    "read_sgf",
    "read_sgf_games",
    "write_sgf",
]
