"""Game records in SGF, written as FF[4] and read in any form from FF[1] on.

sgfmill has the grammar: the tree of nodes, escapes, texts, serialising. Its own game object is not used, since it knows
square boards up to 26x26 only, takes one move a node, and no set-up after the first move. `charset` and
`syntax` say what else real files need.
"""

import datetime
import errno
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sgfmill import sgf_grammar

from .. import __version__
from ..files import write_whole
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
# Further texts about the game (FF[4], "Game info properties"), kept as they are.
_OTHER_TEXTS = ("AN", "BT", "CP", "EV", "GC", "GN", "ON", "PC", "RO", "SO", "US", "WT")
# SGF's own words for rulesets (FF[4], RU) where they are not ours.
_SGF_RULES = {"chinese": "Chinese", "japanese": "Japanese", "aga": "AGA", "new-zealand": "NZ", "ing": "GOE"}
# How longer texts in RU begin ("Japanese rules", "Chinese, 3.75 zi").
_RULES_BY_START = {"jap": "japanese", "chin": "chinese", "kor": "korean", "aga": "aga", "new zealand": "new-zealand"}
_RULES_BY_START |= {"nz": "new-zealand", "ing": "ing", "goe": "ing", "tromp": "tromp-taylor", "bga": "bga"}


class SgfError(ValueError):
    """A record that cannot be read or replayed; the text names the file and what is wrong."""


@dataclass
class RecordNode:
    """One node of a record: stones that are set up, then a move, then what is said about it.

    black, white, empty: points that become so. to_move: who is said to play next, None where nothing is said.
    """

    move: Move | None = None
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    to_move: int | None = None
    comment: str = ""

    @property
    def has_setup(self) -> bool:
        """Whether stones are set up or taken off here."""
        return bool(self.black or self.white or self.empty)


@dataclass
class GameRecord:
    """One line of play and what is known about the game.

    komi: None where the record does not say. handicap: as stated, 0 for none; the stones themselves are in the nodes.
    rules, result, date, overtime: SGF's texts, empty where not given. time_limit: main time in seconds.
    nodes: the first is the root and has no move. texts: other facts by SGF's property ("EV", "PC", ...).
    source: the name used in error messages.
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
        """A record of `game` as it stands; `comments` by number of the move (0: the start); `date` is today's if None.

        Ranks, time and other facts can be set on the record afterwards.
        """
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

    @property
    def moves(self) -> list[Move]:
        """The moves in order, passes included."""
        return [node.move for node in self.nodes if node.move is not None]

    def game_rules(self) -> Rules | None:
        """The ruleset that `rules` names, None where it is empty or unknown."""
        text = self.rules.strip()
        try:
            return parse_rules(text)
        except ValueError:
            known = (name for start, name in _RULES_BY_START.items() if text.lower().startswith(start))
            return RULESETS.get(next(known, ""))

    def to_game(self, moves: int | None = None, *, rules: Rules | None = None) -> Game:
        """The position after `moves` moves (default: all), the player to move being the one who moves next here.

        rules: the record's where None, Chinese where it names none. Komi is 0 where the record states none. Set-up
        after the first move begins a new game from that position, so that `Game.moves` holds those since then.
        Raises SgfError where the board's size, a set-up or a move is not possible.
        """
        if not all(MIN_SIZE <= side <= MAX_SIZE for side in (self.width, self.height)):
            expected = f"expected {MIN_SIZE} to {MAX_SIZE} each way"
            raise SgfError(f"{self.source}: cannot play on a board of {self.width}x{self.height}: {expected}")
        rules = rules or self.game_rules() or RULESETS["chinese"]
        game = Game(self.width, self.height, rules=rules, komi=self.komi or 0.0)
        wanted = len(self.moves) if moves is None else moves
        played = 0
        for node in self.nodes:
            if node.move is not None and played == wanted:
                game.to_move = node.move.colour
                break
            self._apply(node, game, played)
            played += node.move is not None
        return game

    def _apply(self, node: RecordNode, game: Game, played: int) -> None:
        """Does on the board what a node says, `played` moves having been made."""
        try:
            if node.has_setup:
                _set_up(node, game, WHITE if self.handicap >= 2 and not played else game.to_move)
            if node.to_move is not None:
                game.to_move = node.to_move
            if node.move is not None:
                game.play(*node.move)
        except ValueError as error:
            place = f"move {played + (node.move is not None)}" if played or node.move else "the start"
            raise SgfError(f"{self.source}: {place}: {error}") from error

    def to_sgf(self) -> str:
        """The record as SGF text, FF[4]."""
        root = {"FF": [b"4"], "GM": [b"1"], "CA": [b"UTF-8"], "SZ": [self._size().encode()]}
        tree = sgf_grammar.Coarse_game_tree()
        tree.sequence = [root | self._info() | self._properties(self.nodes[0])]
        tree.sequence += [self._properties(node) for node in self.nodes[1:]]
        text: str = sgf_grammar.serialise_game_tree(tree).decode("utf-8")
        return text

    def _size(self) -> str:
        return str(self.width) if self.width == self.height else f"{self.width}:{self.height}"

    def _info(self) -> Properties:
        texts = {name: getattr(self, attribute) for name, attribute in _TEXT_FIELDS.items()}
        texts |= {name: text for name, text in self.texts.items() if name in _OTHER_TEXTS}
        if self.komi is not None:
            texts["KM"] = _number(self.komi)
        if self.time_limit is not None:
            texts["TM"] = _number(self.time_limit)
        if self.handicap:
            texts["HA"] = str(self.handicap)
        return {name: [_escaped(text)] for name, text in texts.items() if text}

    def _properties(self, node: RecordNode) -> Properties:
        properties = {}
        for name, points in (("AB", node.black), ("AW", node.white), ("AE", node.empty)):
            if points:
                properties[name] = [self._point(point) for point in points]
        if node.to_move is not None:
            properties["PL"] = [colour_letter(node.to_move).encode()]
        if node.move is not None:
            properties[colour_letter(node.move.colour)] = [self._point(node.move.point)]
        if node.comment:
            properties["C"] = [_escaped(node.comment)]
        return properties

    def _point(self, point: int) -> bytes:
        return sgf_point(point, self.width, self.height).encode()


def _start_node(game: Game, comment: str) -> RecordNode:
    """The root of a game: its stones, and who plays first where that is not what the stones suggest."""
    black = tuple(stone.point for stone in game.setup_stones if stone.colour == BLACK)
    white = tuple(stone.point for stone in game.setup_stones if stone.colour == WHITE)
    first = game.moves[0].colour if game.moves else game.to_move
    expected = WHITE if game.handicap and not white and game.setup_stones else BLACK
    return RecordNode(black=black, white=white, to_move=None if first == expected else first, comment=comment)


def _set_up(node: RecordNode, game: Game, to_move: int) -> None:
    """Begins a new game from the present stones as the node changes them."""
    stones = {point: game.stone_at(point) for point in all_points(game.width, game.height)}
    for points, colour in ((node.black, BLACK), (node.white, WHITE), (node.empty, EMPTY)):
        stones.update(dict.fromkeys(points, colour))
    black, white = ([point for point, stone in stones.items() if stone == colour] for colour in (BLACK, WHITE))
    game.set_up(black, white, to_move)


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _escaped(text: str) -> bytes:
    raw: bytes = sgf_grammar.escape_text(text.encode("utf-8", "replace"))
    return raw


def analysis_comment(
    to_move: int, winrate: float, lead: float, visits: int, line: Sequence[int], width: int, height: int
) -> str:
    """A search's result as the text of a comment, from black's side.

    winrate (0..1), lead (points) and line (the main line's points) are for `to_move`, as search reports have them.
    """
    if to_move == WHITE:
        winrate, lead = 1 - winrate, -lead
    leader = colour_letter(BLACK if lead >= 0 else WHITE)
    moves = " ".join(vertex(point, width, height) for point in line)
    text = f"Win rate: {100 * winrate:.1f}% black\nScore: {leader}+{abs(lead):.1f}\nVisits: {visits}"
    return f"{text}\nMain line: {moves}" if moves else text


def write_sgf(record: GameRecord, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Saves a record in one step: the file is there whole or not at all.

    Raises FileExistsError where it is there already, unless `overwrite`; OSError, with the path, where it cannot be
    written.
    """
    path = Path(path)
    content = record.to_sgf().encode("utf-8", "replace")

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)
        if not overwrite:
            path.touch(exist_ok=False)  # Fails where somebody else has made it meanwhile.

    if not overwrite and path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    write_whole(path, write)


def read_sgf(source: str | os.PathLike[str] | bytes, *, game: int = 0, variation: Sequence[int] = ()) -> GameRecord:
    """Reads one game of a file, or of the bytes of one.

    game: which one of a collection, from 0. variation: the child to take at each branching in turn, from 0; where it
    does not say, the first one (the main line).
    Raises SgfError naming the file and what is wrong in it, OSError where it cannot be opened.
    """
    data, name = (source, "SGF data") if isinstance(source, bytes) else (Path(source).read_bytes(), str(source))
    found = 0
    try:
        for number, tree in enumerate(parse_games(decode_sgf(data))):
            if number == game:
                return _record(tree, variation, name)
            found += 1
    except ValueError as error:
        raise SgfError(f"{name}: {error}") from error
    raise SgfError(f"{name}: there is no game {game}, it holds {found}" if found else f"{name}: no SGF game found")


def read_sgf_games(
    source: str | os.PathLike[str] | bytes,
    *,
    name: str = "SGF data",
    on_error: Callable[[SgfError], None] | None = None,
) -> Iterator[GameRecord]:
    """The main lines of all games of a collection; a file named `.sgfs` has one game a line.

    name: of what is given as bytes. on_error: called with what is wrong with a game, which is then skipped (where
    games are not one a line, nothing can be read after one that is not closed); without it SgfError is raised. OSError
    as in `read_sgf`.
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
        yield from _collection(Path(source).read_bytes(), str(source))
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
                yield _record(tree, (), place)
            elif number == 1:
                yield SgfError(f"{name}: no SGF game found")
        except ValueError as error:
            yield SgfError(f"{place}: {error}")
            continue
        if tree is None:
            return


def _record(tree: sgf_grammar.Coarse_game_tree, variation: Sequence[int], source: str) -> GameRecord:
    """Reads one line of a tree; ValueError says what is wrong with it, without the source."""
    root = tree.sequence[0]
    kind = read_text(root, "GM").strip()
    if kind not in ("", "1"):
        raise ValueError(f"it is no game of Go: GM[{kind[:20]}]")
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
    for properties in _line(tree, variation):
        try:
            record.nodes += _nodes(properties, width, height, is_root=not record.nodes)
        except ValueError as error:
            raise ValueError(f"after move {len(record.moves)}: {error}") from error
    return record


def _line(tree: sgf_grammar.Coarse_game_tree, variation: Sequence[int]) -> Iterator[Properties]:
    choices = iter(variation)
    while True:
        yield from tree.sequence
        if not tree.children:
            break
        choice = next(choices, 0) if len(tree.children) > 1 else 0
        if not 0 <= choice < len(tree.children):
            raise ValueError(f"there is no variation {choice} here, expected 0 to {len(tree.children) - 1}")
        tree = tree.children[choice]
    if next(choices, None) is not None:
        raise ValueError(f"there is no variation {list(variation)}: the line ends before its last branching")


def _nodes(properties: Properties, width: int, height: int, *, is_root: bool) -> list[RecordNode]:
    """What a node of the file says: several nodes where the root has a move, or a node two (as FF[1] to [3] allow)."""
    black, white, empty = (read_stones(properties, name, width, height) for name in ("AB", "AW", "AE"))
    if len({*black, *white, *empty}) < len(black) + len(white) + len(empty):
        raise ValueError("AB, AW and AE name the same point")
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
