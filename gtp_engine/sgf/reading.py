"""Reads the files of game records, in any form from FF[1] on: one game, or all games of a collection."""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from sgfmill import sgf_grammar

from ..base.errors import UserError
from .charset import decode_sgf
from .errors import SgfError
from .game_info import NUMBERS, OTHER_TEXTS, TEXT_FIELDS
from .record import GameRecord, RecordNode
from .syntax import parse_games
from .values import (
    Properties,
    read_board_size,
    read_handicap,
    read_komi,
    read_move,
    read_number,
    read_player,
    read_stones,
    read_text,
)

LINES_SUFFIX = ".sgfs"  # of files with one game per line
RECORD_SUFFIXES = (".sgf", LINES_SUFFIX)
_ZIP_MAGIC = b"PK\x03\x04"


def read_sgf(source: str | os.PathLike[str] | bytes, *, game: int = 0, variation: Sequence[int] = ()) -> GameRecord:
    """Reads one game of a file.

    Args:
        source: The file, or its content.
        game: The game's index in a collection.
        variation: The index of the child to follow at each branching in turn; then the first one (the main line).

    Raises:
        SgfError: The game cannot be read, or the source is an archive; the message names the file and the reason.
        OSError: The file cannot be opened.
    """
    data, name = (source, "SGF data") if isinstance(source, bytes) else (read_data(source), str(source))
    found = 0
    try:
        for number, tree in enumerate(parse_games(decode_sgf(data))):
            if number == game:
                return record_of(_line(tree, variation), name)
            found += 1
    except UserError as error:
        raise SgfError(f"{name}: {error}") from error
    raise SgfError(f"{name}: there is no game {game}, it holds {found}" if found else f"{name}: no SGF game found")


def read_data(path: str | os.PathLike[str]) -> bytes:
    """Returns a file's content; raises SgfError for what is no name of an SGF file, but the content or an archive."""
    if str(path).lstrip().startswith("(") and not os.path.exists(path):
        raise SgfError("SGF text instead of the name of a file: pass the content as bytes, text.encode()")
    data = Path(path).read_bytes()
    if data.startswith(_ZIP_MAGIC):
        raise SgfError(f"{path}: a zip archive; unpack it first (`gtp_engine learn` reads archives)")
    return data


def read_sgf_games(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str = "SGF data",
    on_error: Callable[[SgfError], None] | None = None,
) -> Iterator[GameRecord]:
    """Yields the main lines of all games of a collection.

    A file named `.sgfs` has one game per line. In other files nothing can be read after a game that is not closed.

    Args:
        source: The file, or its content.
        name: The name of the content in messages, if the source is bytes.
        on_error: Called with the error of each game that cannot be read, which is then skipped.

    Raises:
        SgfError: A game cannot be read, and there is no `on_error`.
        OSError: The file cannot be opened.
    """
    for record in _records(source, name):
        if isinstance(record, GameRecord):
            yield record
        elif on_error is None:
            raise record
        else:
            on_error(record)


def _records(source: str | os.PathLike[str] | bytes, name: str) -> Iterator[GameRecord | SgfError]:
    if isinstance(source, bytes):
        yield from _lines(source.splitlines(), name) if _has_lines(name) else _collection(source, name)
    elif not _has_lines(str(source)):
        yield from _collection(read_data(source), str(source))
    else:
        with open(source, "rb") as lines:
            yield from _lines(lines, str(source))


def _has_lines(name: str) -> bool:
    return name.lower().endswith(LINES_SUFFIX)


def _lines(lines: Iterable[bytes], name: str) -> Iterator[GameRecord | SgfError]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield from _collection(line, f"{name}, line {number}")


def _collection(data: bytes, name: str) -> Iterator[GameRecord | SgfError]:
    trees = parse_games(decode_sgf(data))
    for number in itertools.count(1):
        place = f"{name}, game {number}"
        try:
            tree = next(trees, None)
            if tree is not None:
                yield record_of(_line(tree, ()), place)
            elif number == 1:
                yield SgfError(f"{name}: no SGF game found")
        except UserError as error:
            yield SgfError(f"{place}: {error}")
            continue
        if tree is None:
            return


def record_of(line: Iterable[Properties], source: str) -> GameRecord:
    """Returns the record of a line.

    Args:
        line: The raw properties of its nodes; the first is the root.
        source: The name used in error messages.

    Raises:
        UserError: It cannot be read; the message has the reason, but not the source's name.
    """
    following = iter(line)
    root = next(following)
    kind = read_text(root, "GM").strip()
    if kind not in ("", "1"):
        raise UserError(f"not a game of Go: GM[{kind[:20]}]")
    width, height = read_board_size(read_text(root, "SZ"))
    nodes: list[RecordNode] = []
    for properties in itertools.chain([root], following):
        try:
            nodes += read_nodes(properties, width, height, is_root=not nodes)
        except UserError as error:
            played = sum(node.move is not None for node in nodes)
            raise UserError(f"after move {played}: {error}") from error
    record = GameRecord(
        width=width,
        height=height,
        komi=read_komi(read_text(root, "KM")),
        handicap=read_handicap(read_text(root, "HA")),
        time_limit=read_number(read_text(root, "TM")),
        texts={name: text for name in OTHER_TEXTS if (text := read_text(root, name, lines=name == "GC"))},
        nodes=nodes,
        source=source,
        **{attribute: read_text(root, name) for name, attribute in TEXT_FIELDS.items()},
    )
    record.texts |= _unread_numbers(root, record)
    return record


def _unread_numbers(root: Properties, record: GameRecord) -> dict[str, str]:
    """Returns the texts of KM, HA and TM that cannot be read as numbers, such as TM[2h], so that they are kept."""
    texts = {name: read_text(root, name) for name in NUMBERS}
    has_handicap = record.handicap > 0 or read_number(texts["HA"]) == 0
    is_read = {"KM": record.komi is not None, "HA": has_handicap, "TM": record.time_limit is not None}
    return {name: text for name, text in texts.items() if text.strip() and not is_read[name]}


def _line(tree: sgf_grammar.Coarse_game_tree, variation: Sequence[int]) -> Iterator[Properties]:
    choices = iter(variation)
    while True:
        yield from tree.sequence
        if not tree.children:
            break
        choice = next(choices, 0) if len(tree.children) > 1 else 0
        if not 0 <= choice < len(tree.children):
            raise UserError(f"there is no variation {choice} here, expected 0 to {len(tree.children) - 1}")
        tree = tree.children[choice]
    if next(choices, None) is not None:
        raise UserError(f"there is no variation {list(variation)}: the line ends before its last branching")


def read_nodes(properties: Properties, width: int, height: int, *, is_root: bool) -> list[RecordNode]:
    """Reads a node of the file: several nodes if the root has a move or a node has two, as FF[1] to FF[3] allow."""
    black, white, empty = (read_stones(properties, name, width, height) for name in ("AB", "AW", "AE"))
    if len({*black, *white, *empty}) < len(black) + len(white) + len(empty):
        raise UserError("AB, AW and AE name the same point")
    nodes = [RecordNode(black=black, white=white, empty=empty, to_move=read_player(properties))]
    for name in properties:
        if name not in ("B", "W"):
            continue
        move = read_move(name, properties[name], width, height)
        if is_root or nodes[-1].move is not None:
            nodes.append(RecordNode(move))
        else:
            nodes[-1].move = move
    nodes[-1].comment = read_text(properties, "C", lines=True)
    return nodes
