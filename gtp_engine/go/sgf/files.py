"""Reads files of game records in any form from FF[1] on, one game or all games of a collection, and writes records."""

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ...base.errors import UserError
from ...base.fields import invalid
from ...base.files import read_whole, write_bytes
from ...base.languages.texts import Phrase
from .dialects import in_sgf
from .node import split
from .other_formats import SUFFIXES as OTHER_SUFFIXES
from .record import GameRecord
from .syntax import ParsedGame, parse_games
from .values import SGF_DATA, SgfError, error_at, read_board_size, read_text

LINES_SUFFIX = ".sgfs"  # of files with one game per line
RECORD_SUFFIXES = (".sgf", LINES_SUFFIX, *OTHER_SUFFIXES)
_MEGABYTES = 256  # of one file: some 100,000 games
_ZIP_MAGIC = b"PK\x03\x04"
_NO_GAME = UserError(Phrase("error.noGame"))


def read_sgf(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str = SGF_DATA,
    game: int = 0,
    variation: Sequence[int] = (),
    most_nodes: int | None = None,
) -> GameRecord:
    """Reads one game of a file, with all its variations.

    Args:
        source: The file, or its content.
        name: The name of the content in messages, if the source is bytes.
        game: The game's index in a collection.
        variation: The index of the child to follow at each branching in turn, which becomes the main line.
        most_nodes: The most nodes that a game may have; 300,000 if None.

    Raises:
        SgfError: The main line cannot be read, the game has too many nodes, or the source is an archive; the message
            names the file and the reason.
        OSError: The file cannot be opened.
    """
    data, name = (source, name) if isinstance(source, bytes) else (read_data(source), str(source))
    games = parse_games(data, most_nodes)
    found = 0
    try:
        for parsed in games:
            if found == game:
                record = _record_of(parsed, name, variation)
                record.is_whole_file = game == 0 and _is_at_end(games)
                return record
            found += 1
    except UserError as error:
        raise error_at(name, error) from error
    if found:
        raise SgfError(f"{name}: there is no game {game}, it holds {found}")
    raise error_at(name, _NO_GAME)


def read_data(path: str | os.PathLike[str]) -> bytes:
    """Returns a file's content.

    Raises:
        SgfError: It is an archive, larger than any file of games, or the content instead of a name.
        OSError: It cannot be opened.
    """
    if str(path).lstrip().startswith("(") and not os.path.exists(path):
        raise SgfError("SGF text instead of the name of a file: pass the content as bytes, text.encode()")
    try:
        data = read_whole(Path(path), _MEGABYTES)
    except UserError as error:
        raise SgfError(f"{path}: {error}") from error
    if data.startswith(_ZIP_MAGIC):
        raise SgfError(f"{path}: a zip archive; unpack it first (`gtp_engine learn` reads archives)")
    return data


def _is_at_end(games: Iterator[ParsedGame]) -> bool:
    """Whether no game follows; one that cannot be read is a game too."""
    try:
        return next(games, None) is None
    except UserError:
        return False


def read_sgf_games(
    source: str | os.PathLike[str] | bytes, *, name: str = SGF_DATA, on_error: Callable[[SgfError], None] | None = None
) -> Iterator[GameRecord]:
    """Yields all games of a collection.

    A file whose name ends in `.sgfs` has one game per line. In other files nothing can be read after a game whose end
    is missing.

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
    games = parse_games(data)
    for number in itertools.count(1):
        place = f"{name}, game {number}"
        try:
            parsed = next(games, None)
            if parsed is not None:
                yield _record_of(parsed, place)
            elif number == 1:
                yield error_at(name, _NO_GAME)
        except UserError as error:
            yield error_at(place, error)
            continue
        if parsed is None:
            return


def _record_of(parsed: ParsedGame, source: str, variation: Sequence[int] = ()) -> GameRecord:
    """Returns the record of a game; the message of a UserError has the reason, but not the source's name."""
    tree = parsed.tree
    root, *following = split(in_sgf(tree.sequence), is_root=True)
    kind = read_text(root, "GM").strip()
    if kind not in ("", "1"):
        raise UserError(Phrase("error.otherKind", {"kind": f"GM[{kind[:20]}]"}))
    width, height = read_board_size(read_text(root, "SZ"))
    record = GameRecord(width, height, source=source)
    record.repairs = parsed.repairs
    record.change(record.root, root)
    waiting = [(record.root, tree, [*following, *tree.sequence[1:]])]
    while waiting:
        node, branch, sequence = waiting.pop()
        for properties in sequence:
            for part in split(properties):
                node = record.add(node, part)
        waiting += [(node, child, child.sequence) for child in reversed(branch.children)]
    _choose(record, variation)
    played = 0
    for node in record.main_line:
        if node.problem:
            raise error_at(node.place(played), node.problem)
        played += node.move is not None
    return record


def _choose(record: GameRecord, variation: Sequence[int]) -> None:
    """Makes a line the main line; raises UserError if there is no such line."""
    node = record.root
    for choice in variation:
        while len(node.children) == 1:
            node = node.children[0]
        if not node.children:
            raise UserError(f"there is no variation {list(variation)}: the line ends before its last branching")
        if not 0 <= choice < len(node.children):
            raise UserError(f"there is no variation {choice} here, expected 0 to {len(node.children) - 1}")
        node.children.insert(0, node.children.pop(choice))
        node = node.children[0]


def write_sgf(record: GameRecord, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Writes a record to a file, atomically.

    Raises:
        FileExistsError: The file exists, and `overwrite` is False.
        OSError: The file cannot be written.
        UserError: It is not a record.
    """
    path = Path(path)
    if not hasattr(record, "to_sgf"):
        raise invalid("record", record, "a GameRecord; that of a game is GameRecord.from_game(game)")
    write_bytes(path, record.to_sgf().encode("utf-8", "replace"), overwrite=overwrite)
