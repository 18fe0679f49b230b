"""Game records in SGF, written as FF[4] and read in any form from FF[1] on.

sgfmill provides the grammar: the tree of nodes, escapes, texts, serialisation. Its own game object is not used, because
it supports only square boards up to 26x26, one move per node, and no set-up after the first move. `charset` and
`syntax` describe what else real files need.
"""

import datetime
import errno
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Unpack

from sgfmill import sgf_grammar

from .. import __version__
from ..base.errors import UserError
from ..base.fields import Range, invalid, parse_number
from ..base.files import write_atomically
from ..base.messages import plural
from ..game.coords import (
    BLACK,
    EMPTY,
    MAX_SIZE,
    MIN_SIZE,
    WHITE,
    all_points,
    colour_letter,
    sgf_point,
    vertex,
)
from ..game.drawing import DrawingOptions
from ..game.game import Game, Move
from ..game.rules import RULESETS, Rules, parse_rules, rules_name
from .charset import decode_sgf
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

_ZIP_MAGIC = b"PK\x03\x04"
# SGF property -> field of GameRecord.
_TEXT_FIELDS = {
    "PB": "black",
    "PW": "white",
    "BR": "black_rank",
    "WR": "white_rank",
    "RE": "result",
    "RU": "rules",
    "DT": "date",
    "OT": "overtime",
    "AP": "application",
}
_SIDE = Range(1, whole=True)
# Further texts about the game (FF[4], "Game info properties"), kept as they are.
_OTHER_TEXTS = ("AN", "BT", "CP", "EV", "GC", "GN", "ON", "PC", "RO", "SO", "US", "WT")
# SGF's own names of rulesets (FF[4], RU) that differ from ours.
_SGF_RULES = {"chinese": "Chinese", "japanese": "Japanese", "aga": "AGA", "new-zealand": "NZ", "ing": "GOE"}
# How longer texts in RU begin ("Japanese rules", "Chinese, 3.75 zi").
_RULES_BY_START = {"jap": "japanese", "chin": "chinese", "kor": "korean", "aga": "aga", "new zealand": "new-zealand"}
_RULES_BY_START |= {"nz": "new-zealand", "ing": "ing", "goe": "ing", "tromp": "tromp-taylor", "bga": "bga"}


class SgfError(UserError):
    """A record that cannot be read or replayed; the message names the file and the reason."""


@dataclass
class RecordNode:
    """One node of a record: stones that are set up, then a move, then a comment.

    Annotations and variations are written, but not read.

    Attributes:
        move: The move, if any.
        black: Points that get a black stone.
        white: Points that get a white stone.
        empty: Points that are cleared.
        to_move: The player to move next, or None if the node does not state it.
        comment: The comment.
        annotations: Further properties of one value each, by SGF's name: {"BM": "1"} marks a bad move.
        variations: Lines of nodes that could follow the node before this one instead of it; not for the root.
    """

    move: Move | None = None
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    to_move: int | None = None
    comment: str = ""
    annotations: dict[str, str] = field(default_factory=dict)
    variations: tuple[tuple["RecordNode", ...], ...] = ()

    @property
    def has_setup(self) -> bool:
        """Whether the node sets up or removes stones."""
        return bool(self.black or self.white or self.empty)


@dataclass
class GameRecord:
    """One line of play, and information about the game.

    In a notebook it is shown as the last position (`to_svg`). Texts are SGF's, and empty if the record does not have
    them.

    Attributes:
        width: The number of columns.
        height: The number of rows.
        komi: The komi, or None if the record does not state it.
        rules: The ruleset's name.
        handicap: The number of handicap stones as stated, 0 for none; the stones themselves are in the nodes.
        black: Black's name.
        white: White's name.
        black_rank: Black's rank.
        white_rank: White's rank.
        result: The result.
        date: The date.
        time_limit: The main time in seconds, or None.
        overtime: The overtime.
        application: The program that wrote the record.
        texts: Other information by SGF's property ("EV", "PC", ...).
        nodes: The nodes; the first is the root and has no move.
        source: The name used in error messages.

    Raises:
        UserError: A size, a number or a text is of another type; fields that were set later are checked by `to_sgf`.
    """

    width: int = 19
    height: int = 19
    komi: float | None = None
    rules: str = ""
    handicap: int = 0
    black: str = ""
    white: str = ""
    black_rank: str = ""
    white_rank: str = ""
    result: str = ""
    date: str = ""
    time_limit: float | None = None
    overtime: str = ""
    application: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    nodes: list[RecordNode] = field(default_factory=lambda: [RecordNode()])
    source: str = field(default="SGF", compare=False)

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        """Raises UserError if a field has a value that SGF cannot hold."""
        for name in ("width", "height"):
            parse_number(name, getattr(self, name), _SIDE, from_text=False)
        parse_number("handicap", self.handicap, Range(0, whole=True), from_text=False)
        for name in ("komi", "time_limit"):
            if (value := getattr(self, name)) is not None:
                parse_number(name, value, Range(), from_text=False)
        for name in _TEXT_FIELDS.values():
            if not isinstance(text := getattr(self, name), str):
                raise invalid(name, text, "a text")

    @classmethod
    def from_game(
        cls,
        game: Game,
        *,
        black: str = "",
        white: str = "",
        result: str = "",
        date: str | None = None,
        comments: Mapping[int, str] | None = None,
    ) -> "GameRecord":
        """Makes a record of a game so far. Ranks, time and other information can be set on the record afterwards.

        Args:
            game: The game.
            black: Black's name.
            white: White's name.
            result: The result as SGF text: `str(game.score(dead))` of a finished game, or "B+R".
            date: The date; today's if None.
            comments: Comments by the number of the move, 0 for the start.
        """
        if not isinstance(game, Game):
            raise invalid("game", game, "a Game")
        comments = comments or {}
        name = rules_name(game.rules)
        nodes = [RecordNode(move, comment=comments.get(number, "")) for number, move in enumerate(game.moves, 1)]
        return cls(
            width=game.width,
            height=game.height,
            komi=game.komi,
            rules=game.rules.to_json() if name is None else _SGF_RULES.get(name, name),
            handicap=game.handicap,
            black=black,
            white=white,
            result=result,
            date=datetime.date.today().isoformat() if date is None else date,
            application=f"gtp_engine:{__version__}",
            nodes=[_start_node(game, comments.get(0, "")), *nodes],
        )

    def __repr__(self) -> str:
        players = [
            f"{name or default} ({rank})" if rank else name or default
            for name, rank, default in (
                (self.black, self.black_rank, "Black"),
                (self.white, self.white_rank, "White"),
            )
        ]
        facts = [" - ".join(players), f"{self.width}x{self.height}", plural(len(self.moves), "move"), self.result]
        return f"<GameRecord: {', '.join(filter(None, facts))}>"

    def to_svg(self, moves: int | None = None, **options: Unpack[DrawingOptions]) -> str:
        """Draws the position after a number of moves, as `Game.to_svg` does.

        Args:
            moves: How many moves to replay; all if None.
            **options: As for `Game.to_svg`.

        Raises:
            SgfError: The record cannot be replayed.
        """
        return self.to_game(moves).to_svg(**options)

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except SgfError:
            return None  # a notebook shows the text instead

    @property
    def moves(self) -> list[Move]:
        """The moves in order, passes included."""
        return [node.move for node in self.nodes if node.move is not None]

    def game_rules(self) -> Rules | None:
        """Returns the ruleset that `rules` names, or None if it is empty or unknown."""
        text = self.rules.strip()
        try:
            return parse_rules(text)
        except UserError:
            known = (name for start, name in _RULES_BY_START.items() if text.lower().startswith(start))
            return RULESETS.get(next(known, ""))

    def to_game(self, moves: int | None = None, *, rules: Rules | str | None = None) -> Game:
        """Replays the record.

        The player to move is the one who makes the next move of the record. Komi is 0 if the record does not state it.
        Set-up after the first move begins a new game from that position: `Game.moves` has only the moves since then.

        Args:
            moves: How many moves to replay; all if None.
            rules: The rules, or their name; if None the record's, or Chinese if it does not name any.

        Raises:
            SgfError: The board size is not supported, or a set-up or move is impossible.
            UserError: Rules or number are invalid.
        """
        if moves is not None:
            parse_number("number of moves", moves, Range(0, whole=True), from_text=False)
        for played, (game, move) in enumerate(self._walk(rules)):
            if played == moves and move is not None:
                game.to_move = move.colour
                break
        return game

    def positions(self, *, rules: Rules | str | None = None) -> Iterator[Game]:
        """Yields the position before each move and the last one, as `to_game` returns them.

        Each is the same game, which is played on in between: copy what is to stay.

        Args:
            rules: The rules, or their name; as in `to_game`.

        Raises:
            SgfError: The board size is not supported, or a set-up or move is impossible.
            UserError: The rules are invalid.
        """
        for game, move in self._walk(rules):
            if move is not None:
                game.to_move = move.colour
            yield game

    def _walk(self, rules: Rules | str | None) -> Iterator[tuple[Game, Move | None]]:
        """Yields the game before each move with the move, and at the end with None."""
        if not all(MIN_SIZE <= side <= MAX_SIZE for side in (self.width, self.height)):
            expected = f"expected {MIN_SIZE} to {MAX_SIZE} each way"
            raise SgfError(f"{self.source}: cannot play on a board of {self.width}x{self.height}: {expected}")
        rules = rules or self.game_rules() or "chinese"
        game = Game(self.width, self.height, rules=rules, komi=self.komi or 0.0)
        played = 0
        for node in self.nodes:
            if node.move is not None:
                yield game, node.move
            self._apply(node, game, played)
            played += node.move is not None
        yield game, None

    def _apply(self, node: RecordNode, game: Game, played: int) -> None:
        """Applies a node to a game in which `played` moves of the record have been played."""
        try:
            if node.has_setup:
                _set_up(node, game, WHITE if self.handicap >= 2 and not played else game.to_move)
            if node.to_move is not None:
                game.to_move = node.to_move
            if node.move is not None:
                game.play(*node.move)
        except UserError as error:
            place = f"move {played + (node.move is not None)}" if played or node.move else "the start"
            raise SgfError(f"{self.source}: {place}: {error}") from error

    def to_sgf(self) -> str:
        """Returns the record as SGF text, FF[4].

        Raises:
            UserError: A field was set to a value of another type.
        """
        self._check()
        root = {"FF": [b"4"], "GM": [b"1"], "CA": [b"UTF-8"], "SZ": [self._size().encode()]}
        tree = line = self._tree(self.nodes[:1])
        tree.sequence[0] |= root | self.info()
        for node in self.nodes[1:]:
            if node.variations:
                following = self._tree(())
                line.children = [following, *map(self._tree, node.variations)]
                line = following
            line.sequence.append(self._properties(node))
        text: str = sgf_grammar.serialise_game_tree(tree).decode("utf-8")
        return text

    def _tree(self, nodes: Iterable[RecordNode]) -> sgf_grammar.Coarse_game_tree:
        """Returns the tree of one line, without branches."""
        tree = sgf_grammar.Coarse_game_tree()
        tree.sequence = [self._properties(node) for node in nodes]
        return tree

    def _size(self) -> str:
        return str(self.width) if self.width == self.height else f"{self.width}:{self.height}"

    @staticmethod
    def info_names() -> set[str]:
        """Returns the names of the properties with the information that `info` has; other texts stay as they are."""
        return {*_TEXT_FIELDS, "KM", "HA", "TM"}

    def info(self) -> Properties:
        """Returns the information about the game as raw properties of the root."""
        texts = {name: getattr(self, attribute) for name, attribute in _TEXT_FIELDS.items()}
        texts |= {name: text for name, text in self.texts.items() if name in _OTHER_TEXTS}
        if self.komi is not None:
            texts["KM"] = _number(self.komi)
        if self.time_limit is not None:
            texts["TM"] = _number(self.time_limit)
        if self.handicap:
            texts["HA"] = str(self.handicap)
        return {name: [escaped(text)] for name, text in texts.items() if text}

    def _properties(self, node: RecordNode) -> Properties:
        properties = {name: [escaped(value)] for name, value in node.annotations.items()}
        for name, points in (("AB", node.black), ("AW", node.white), ("AE", node.empty)):
            if points:
                properties[name] = [self._point(point) for point in points]
        if node.to_move is not None:
            properties["PL"] = [colour_letter(node.to_move).encode()]
        if node.move is not None:
            properties[colour_letter(node.move.colour)] = [self._point(node.move.point)]
        if node.comment:
            properties["C"] = [escaped(node.comment)]
        return properties

    def _point(self, point: int) -> bytes:
        return sgf_point(point, self.width, self.height).encode()


def _start_node(game: Game, comment: str) -> RecordNode:
    """Returns the root of a game: its stones, and the first player unless the stones suggest it."""
    black = tuple(stone.point for stone in game.setup_stones if stone.colour == BLACK)
    white = tuple(stone.point for stone in game.setup_stones if stone.colour == WHITE)
    first = game.moves[0].colour if game.moves else game.to_move
    expected = WHITE if game.handicap and not white and game.setup_stones else BLACK
    return RecordNode(black=black, white=white, to_move=None if first == expected else first, comment=comment)


def _set_up(node: RecordNode, game: Game, to_move: int) -> None:
    """Begins a new game from the present stones with the node's changes."""
    stones = {point: game.stone_at(point) for point in all_points(game.width, game.height)}
    for points, colour in ((node.black, BLACK), (node.white, WHITE), (node.empty, EMPTY)):
        stones.update(dict.fromkeys(points, colour))
    black, white = ([point for point, stone in stones.items() if stone == colour] for colour in (BLACK, WHITE))
    game.set_up(black, white, to_move)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def escaped(text: str) -> bytes:
    """Returns a text as the raw value of a property, in UTF-8."""
    raw: bytes = sgf_grammar.escape_text(text.encode("utf-8", "replace"))
    return raw


def lead_text(lead: float) -> str:
    """Returns Black's lead as text, such as "W+3.5"; "even" if it is less than 0.05 points."""
    if abs(lead) < 0.05:
        return "even"
    return f"{colour_letter(BLACK if lead > 0 else WHITE)}+{abs(lead):.1f}"


def analysis_comment(
    to_move: int, winrate: float, lead: float, visits: int, line: Sequence[int], width: int, height: int
) -> str:
    """Formats the result of a search as a comment, from Black's side.

    Args:
        to_move: The player to move.
        winrate: The win rate of the player to move, 0 to 1.
        lead: The lead of the player to move, in points.
        visits: The number of visits.
        line: The points of the principal variation.
        width: The number of columns.
        height: The number of rows.
    """
    if to_move == WHITE:
        winrate, lead = 1 - winrate, -lead
    moves = " ".join(vertex(point, width, height) for point in line)
    text = f"Black's win rate: {100 * winrate:.1f}%\nLead: {lead_text(lead)}\nVisits: {visits}"
    return f"{text}\nMain line: {moves}" if moves else text


class Writable(Protocol):
    """What can be written: a record, or a tree with variations."""

    def to_sgf(self) -> str:
        """Returns it as SGF text."""


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
        yield from _lines(source.splitlines(), name) if name.endswith(".sgfs") else _collection(source, name)
    elif not str(source).endswith(".sgfs"):
        yield from _collection(read_data(source), str(source))
    else:
        with open(source, "rb") as lines:
            yield from _lines(lines, str(source))


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
    nodes = iter(line)
    root = next(nodes)
    kind = read_text(root, "GM").strip()
    if kind not in ("", "1"):
        raise UserError(f"not a game of Go: GM[{kind[:20]}]")
    width, height = read_board_size(read_text(root, "SZ"))
    record = GameRecord(
        width=width,
        height=height,
        komi=read_komi(read_text(root, "KM")),
        handicap=read_handicap(read_text(root, "HA")),
        time_limit=read_number(read_text(root, "TM")),
        texts={name: read_text(root, name) for name in _OTHER_TEXTS if read_text(root, name)},
        nodes=[],
        source=source,
        **{attribute: read_text(root, name) for name, attribute in _TEXT_FIELDS.items()},
    )
    for properties in itertools.chain([root], nodes):
        try:
            record.nodes += read_nodes(properties, width, height, is_root=not record.nodes)
        except UserError as error:
            raise UserError(f"after move {len(record.moves)}: {error}") from error
    return record


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
