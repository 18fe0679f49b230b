"""How tests of records write moves and points."""

from gtp_engine.go.coords import parse_vertex, sgf_point
from gtp_engine.go.sgf import GameRecord


def moves(record: GameRecord) -> str:
    """The moves in SGF's own letters: "Bee W Bcc"."""
    return " ".join(" BW"[move.colour] + sgf_point(move.point, record.width, record.height) for move in record.moves)


def points(text: str, size: int = 9) -> tuple[int, ...]:
    return tuple(parse_vertex(vertex, size, size) for vertex in text.split())
