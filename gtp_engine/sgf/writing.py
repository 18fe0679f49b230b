"""Writes game records as FF[4]: one line of play, with variations of single moves."""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sgfmill import sgf_grammar

from ..base.fields import invalid
from ..base.files import write_atomically
from ..game.coords import colour_letter, sgf_point
from .game_info import info_of
from .values import Properties, escaped

if TYPE_CHECKING:
    from .record import GameRecord, RecordNode


class Writable(Protocol):
    """What can be written: a record, or a tree with variations."""

    def to_sgf(self) -> str:
        """Returns it as SGF text."""


def sgf_text(record: "GameRecord") -> str:
    """Returns a record as SGF text; its fields have been checked."""
    tree = line = _tree(record, record.nodes[:1])
    tree.sequence[0] |= file_properties(record.width, record.height) | info_of(record)
    for node in record.nodes[1:]:
        if node.variations:
            following = _tree(record, ())
            line.children = [following, *(_tree(record, variation) for variation in node.variations)]
            line = following
        line.sequence.append(_properties(record, node))
    return serialised(tree)


def file_properties(width: int, height: int) -> Properties:
    """Returns the properties of the root that tell a reader what the file is: format, game, charset and board."""
    size = str(width) if width == height else f"{width}:{height}"
    return {"FF": [b"4"], "GM": [b"1"], "CA": [b"UTF-8"], "SZ": [size.encode()]}


def serialised(tree: sgf_grammar.Coarse_game_tree) -> str:
    """Returns the text of a tree, whose values are in UTF-8."""
    text: str = sgf_grammar.serialise_game_tree(tree).decode("utf-8")
    return text


def _tree(record: "GameRecord", nodes: "Iterable[RecordNode]") -> sgf_grammar.Coarse_game_tree:
    """Returns the tree of one line, without branches."""
    tree = sgf_grammar.Coarse_game_tree()
    tree.sequence = [_properties(record, node) for node in nodes]
    return tree


def _properties(record: "GameRecord", node: "RecordNode") -> Properties:
    def value(point: int) -> bytes:
        return sgf_point(point, record.width, record.height).encode()

    properties = {name: [escaped(text)] for name, text in node.annotations.items()}
    for name, points in (("AB", node.black), ("AW", node.white), ("AE", node.empty)):
        if points:
            properties[name] = [value(point) for point in points]
    if node.to_move is not None:
        properties["PL"] = [colour_letter(node.to_move).encode()]
    if node.move is not None:
        properties[colour_letter(node.move.colour)] = [value(node.move.point)]
    if node.comment:
        properties["C"] = [escaped(node.comment)]
    return properties


def write_sgf(record: Writable, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Writes a record to a file, atomically.

    Args:
        record: The record.
        path: The file.
        overwrite: Whether to replace an existing file.

    Raises:
        FileExistsError: The file exists, and `overwrite` is False.
        OSError: The file cannot be written.
        UserError: It is not a record.
    """
    path = Path(path)
    if not hasattr(record, "to_sgf"):
        raise invalid("record", record, "a GameRecord; that of a game is GameRecord.from_game(game)")
    content = record.to_sgf().encode("utf-8", "replace")

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)
        if not overwrite:
            path.touch(exist_ok=False)  # fails if another process has created it in the meantime

    if not overwrite and path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    write_atomically(path, write)
