"""Game records: the tree of a game's nodes with all their properties, to walk through, to replay, and to write.

sgfmill provides the grammar of SGF: the tree of nodes, escapes, texts, serialisation. Its own game object is not used,
because it supports only square boards up to 26x26, one move per node, and no set-up after the first move. `syntax`
describes what else real files need.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise, takewhile
from typing import Any, Generic, TypeVar, Unpack

from sgfmill import sgf_grammar

from ...base import VERSION
from ...base.errors import UserError
from ...base.fields import Range, invalid
from ...base.languages.texts import Phrase
from ...base.messages import plural
from ..coords import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, WHITE, all_points, colour_letter, sgf_point
from ..drawing import DrawingOptions
from ..game import Game, Move, count_handicap
from ..rules import Rules
from .node import Marks, TreeNode, read_marks
from .terms import terms_of
from .values import (
    Properties,
    SgfError,
    error_at,
    komi_text,
    number_text,
    read_handicap,
    read_komi,
    read_number,
    read_rules,
    rules_text,
)

APPLICATION = f"gtp_engine:{VERSION}"  # of the records that this program makes
# Nodes of a record that set up stones. Each keeps up to 25 kB and takes up to 2 ms to replay; those of an edited game
# are some hundreds.
MOST_SETUPS = 5_000
_SIDE = Range(1, whole=True)
T = TypeVar("T")


class _Info(Generic[T]):
    """Something that a record says about the game: an attribute of the record, and a property of the root.

    A text that is no number stays in the file until the number is set. "", 0 handicap stones and None remove it.
    """

    def __init__(
        self,
        property_name: str,
        read: Callable[[str], T],
        write: Callable[[Any], str] = str,
        accepted: Range | None = None,
    ) -> None:
        self._property = property_name
        self._read = read
        self._write = write
        self._accepted = accepted  # None for texts

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: "GameRecord | None", owner: type) -> T:
        return self if record is None else self._read(record.root.text(self._property))  # type: ignore[return-value]

    def __set__(self, record: "GameRecord", value: T) -> None:
        if self._accepted is None and not isinstance(value, str):
            raise invalid(self._name, value, "text")
        if self._accepted is not None and value is not None:
            self._accepted.parse(self._name, value, from_text=False)
        record.set_text(self._property, "" if value is None else self._write(value))


class GameRecord:
    """A record: a tree of nodes, and information about the game in the properties of its root.

    In a notebook it is shown as the last position of the main line (`to_svg`). Texts are SGF's, and empty if the record
    does not have them.

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
        application: The program that wrote the record, and its version.
        root: The first node.
        source: The name used in error messages.
        is_whole_file: Whether the file that `read_sgf` has read it from has no other game, so that writing the record
            there loses nothing.
        repairs: What was wrong in the file and could only mean one thing.
    """

    komi = _Info("KM", read_komi, komi_text, Range())
    rules = _Info("RU", str)
    handicap = _Info("HA", read_handicap, lambda stones: str(stones or ""), Range(0, whole=True))
    black = _Info("PB", str)
    white = _Info("PW", str)
    black_rank = _Info("BR", str)
    white_rank = _Info("WR", str)
    result = _Info("RE", str)
    date = _Info("DT", str)
    time_limit = _Info("TM", read_number, number_text, Range())
    overtime = _Info("OT", str)
    application = _Info("AP", str)

    def __init__(self, width: int = 19, height: int = 19, *, source: str = "game record", **info: Any) -> None:
        """Begins with the root alone, and with the attributes in `info` that tell about the game."""
        self.width = int(_SIDE.parse("width", width, from_text=False))
        self.height = int(_SIDE.parse("height", height, from_text=False))
        self.source = source
        self.is_whole_file = True
        self.repairs: tuple[Phrase, ...] = ()
        self.root = TreeNode(0, {})
        self._nodes = [self.root]  # by number, also those that have been removed
        self._setups = 0  # nodes that were added and set up stones
        # The last position that was asked for: its node, the rules asked for, the position, and the moves before it.
        self._latest: tuple[TreeNode, Rules | None, Game, int] | None = None
        for name, value in info.items():
            if not isinstance(getattr(type(self), name, None), _Info):
                raise TypeError(f"GameRecord has no field {name!r}")
            setattr(self, name, value)

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

        Prisoners taken before stones were set up, and a handicap of that time, are not in the record: SGF has no
        property for them.

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
        handicap = count_handicap(game.setup_stones, ())  # HA belongs to stones in the root, not to Black's first moves
        record = cls(
            game.width,
            game.height,
            komi=game.komi,
            rules=rules_text(game.rules),
            handicap=handicap,
            black=black,
            white=white,
            result=result,
            date=datetime.date.today().isoformat() if date is None else date,
            application=APPLICATION,
        )
        start = record.stone_values(game.setup_stones)
        first = game.moves[0].colour if game.moves else game.to_move
        usual = WHITE if handicap else None if start else BLACK  # other programs guess whose turn it is in a problem
        if first != usual:
            start["PL"] = [colour_letter(first).encode()]
        record.change(record.root, record.root.properties | start)
        node = record.root
        for move in game.moves:
            node = record.add(node, move=move)
        if game.moves and game.to_move == game.moves[-1].colour:
            record.add(node, {"PL": [colour_letter(game.to_move).encode()]})
        for number, node in enumerate(record.main_line if comments else ()):
            node.comment = (comments or {}).get(number, "")
        return record

    def __repr__(self) -> str:
        players = [
            f"{name or default} ({rank})" if rank else name or default
            for name, rank, default in ((self.black, self.black_rank, "Black"), (self.white, self.white_rank, "White"))
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

    def to_sgf(self) -> str:
        """Returns the record as SGF text, FF[4]."""
        size = str(self.width) if self.width == self.height else f"{self.width}:{self.height}"
        fixed = {"FF": [b"4"], "GM": [b"1"], "CA": [b"UTF-8"], "SZ": [size.encode()]}
        tree = sgf_grammar.make_coarse_game_tree(
            self.root,
            lambda node: node.children,
            lambda node: node.properties | fixed if node is self.root else node.properties,
        )
        text: str = sgf_grammar.serialise_game_tree(tree).decode("utf-8")
        return text

    # Building.

    def add(self, parent: TreeNode, properties: Properties | None = None, *, move: Move | None = None) -> TreeNode:
        """Adds a node after another one; `move` is added to its properties.

        Raises:
            UserError: Stones are set up in more than MOST_SETUPS nodes.
        """
        node = TreeNode(len(self._nodes), {}, parent, depth=parent.depth + 1)
        properties = properties or {}
        if move is not None:
            point = sgf_point(move.point, self.width, self.height).encode()
            properties = {colour_letter(move.colour): [point], **properties}
        node.set_properties(properties, self.width, self.height)
        self._setups += bool(node.setup)
        if self._setups > MOST_SETUPS:
            raise UserError(f"stones are set up in more than {MOST_SETUPS:,} places")
        self._nodes.append(node)
        parent.children.append(node)
        return node

    def change(self, node: TreeNode, properties: Properties) -> None:
        """Replaces the properties of a node, and with them its move and its stones."""
        self._latest = None
        node.set_properties(properties, self.width, self.height)

    def set_text(self, name: str, text: str) -> None:
        """Changes what a property of the root says about the game; "" removes it."""
        if self.root.text(name) != text:
            self._latest = None
            self.root.set_text(name, text)

    def stone_values(self, stones: Iterable[Move]) -> Properties:
        """Returns the properties AB, AW and AE that set up stones; EMPTY as a colour takes one off."""
        values: Properties = {}
        for colour, point in stones:
            name = "AE" if colour == EMPTY else f"A{colour_letter(colour)}"
            values.setdefault(name, []).append(sgf_point(point, self.width, self.height).encode())
        return values

    def copy(self) -> "GameRecord":
        """Returns an independent copy; the numbers of its nodes may differ."""
        _, parts = self.__reduce__()
        return _rebuilt(*parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the nodes one after the other: nested in each other, those of a long game are too deep."""
        places = {node: place for place, node in enumerate(self)}
        parents = [0 if node.parent is None else places[node.parent] for node in places]
        attributes = {"is_whole_file": self.is_whole_file, "repairs": self.repairs}
        record = self.width, self.height, self.source, attributes
        return _rebuilt, (*record, parents, [node.properties for node in places])

    def marks(self, node: TreeNode) -> Marks:
        """Returns the marks of a node."""
        return read_marks(node.properties, self.width, self.height)

    # Walking.

    def __iter__(self) -> Iterator[TreeNode]:
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def node(self, number: int) -> TreeNode:
        """Returns a node by its number.

        Raises:
            UserError: There is none.
        """
        if not 0 <= number < len(self._nodes) or self._nodes[number].is_gone:
            raise UserError("this position has been deleted")
        return self._nodes[number]

    def line(self, node: TreeNode) -> list[TreeNode]:
        """Returns the nodes from the root through a node to the end of its line, as it was last looked at."""
        line = node.path
        while (following := line[-1].next) is not None:
            line.append(following)
        return line

    @property
    def main_line(self) -> list[TreeNode]:
        """The nodes of the main line."""
        line = [self.root]
        while line[-1].children:
            line.append(line[-1].children[0])
        return line

    @property
    def moves(self) -> list[Move]:
        """The moves of the main line in order, passes included."""
        return self.main_line[-1].moves

    def follow(self, node: TreeNode) -> None:
        """Makes the line through a node the one that `line` follows from each of its ancestors."""
        for before, after in pairwise(node.path):
            before.followed = after

    def beside(self, node: TreeNode, step: int) -> TreeNode:
        """Returns the node at the same depth in the next variation, or in the previous one if `step` is -1.

        The variations are those of the last branching before the node; after the last one comes the first.
        """
        siblings, place, depth = self.branching(node)
        found = siblings[(place + step) % len(siblings)]
        for _ in range(depth):
            found = found.next or found
        return found

    def branching(self, node: TreeNode) -> tuple[list[TreeNode], int, int]:
        """Returns the variations of the last branching before a node.

        Returns:
            The first nodes of the variations, the place among them of the one that leads to the node, and how many
            nodes follow that one up to the node. Without a branching it is the node alone.
        """
        for depth, each in enumerate(reversed(node.path)):
            if each.parent is not None and len(each.parent.children) > 1:
                return each.parent.children, each.parent.children.index(each), depth
        return [node], 0, 0

    # Replaying.

    @property
    def is_problem(self) -> bool:
        """Whether White has stones before the first move: then it is a problem, and not a game with a handicap."""
        setups = (node.setup for node in takewhile(lambda node: node.move is None, self.main_line))
        return any(WHITE in setup.values() for setup in setups)

    def game_rules(self) -> Rules | None:
        """Returns the ruleset that `rules` names, or None if it is empty or unknown."""
        return read_rules(self.rules)

    def to_game(self, moves: int | None = None, *, rules: Rules | str | None = None) -> Game:
        """Replays the main line.

        The player to move is the one who makes the next move of the record. Komi is 0 if the record has none, and the
        usual one by its rules if it is empty or no number (`terms_of`).
        Set-up after the first move begins a new game from that position, in which the prisoners taken before still
        count: `Game.moves` has only the moves since then.

        Args:
            moves: How many moves to replay; all if None.
            rules: The rules, or their name; if None the record's, or Chinese if it does not name any.

        Raises:
            SgfError: The board size is not supported, or a set-up or move is impossible.
            UserError: Rules or number are invalid, or the record has fewer moves.
        """
        if moves is not None:
            Range(0, whole=True).parse("number of moves", moves, from_text=False)
            if moves > (count := len(self.moves)):
                raise UserError(f"{self.source}: there is no move {moves}; the game has {plural(count, 'move')}")
        game = self._new_game(rules)
        for played, move in enumerate(self._replay(self.main_line, game)):
            if played == moves and move is not None:
                game.to_move = move.colour
                break
        return game

    def positions(self, *, rules: Rules | str | None = None) -> Iterator[Game]:
        """Yields the position before each move of the main line and the last one, as `to_game` returns them.

        Each is a game of its own; the positions before the present one are shared.

        Args:
            rules: The rules, or their name; as in `to_game`.

        Raises:
            SgfError: The board size is not supported, or a set-up or move is impossible.
            UserError: The rules are invalid.
        """
        game = self._new_game(rules)
        for move in self._replay(self.main_line, game):
            if move is not None:
                game.to_move = move.colour
            yield game.copy()

    def position(self, node: TreeNode, rules: Rules | None = None, komi: float | None = None) -> Game:
        """Returns the position of a node; its player to move is the one who moves next in the tree.

        It is found from the position that was asked for before, by taking back moves and playing others.

        Rules and komi are the record's unless others are given.

        Raises:
            SgfError: A node that leads there cannot be read, a move is illegal, or the board is too large or small.
        """
        latest, played, path = self._taken_back(node, rules) or (self._new_game(rules), 0, node.path)
        self._latest = None  # while the game is changed
        for _ in self._replay(path, latest, played):
            pass
        self._latest = node, rules, latest, played + sum(each.move is not None for each in path)
        game = latest.copy()
        if komi is not None:
            game.set_komi(komi)
        if node.next is not None and node.next.move is not None:
            game.to_move = node.next.move.colour
        return game

    def end_before_illegal_move(self, rules: Rules | None = None) -> SgfError | None:
        """Takes away what follows the last position of the main line that can be played, with its variations.

        Returns why the next node cannot be played; None if all can be. Raises SgfError if not even the first move can.
        """
        game, played, line = self._new_game(rules), 0, self.main_line
        for place, node in enumerate(line):
            try:
                self._apply(node, game, played)
            except SgfError as error:
                if not played:
                    raise
                line[place - 1].children.clear()
                return error
            played += node.move is not None
        return None

    def _taken_back(self, node: TreeNode, rules: Rules | None) -> tuple[Game, int, list[TreeNode]] | None:
        """Takes the latest position back to where the path of a node leaves its own, if that is possible.

        Returns the game, how many moves come before it, and the nodes that then lead to the node.
        """
        if self._latest is None or self._latest[1] != rules:
            return None
        latest, _, game, played = self._latest
        ahead, left = list[TreeNode](), list[TreeNode]()
        while node is not latest:
            if node.depth >= latest.depth and node.parent is not None:
                ahead.append(node)
                node = node.parent
            elif latest.parent is not None:
                left.append(latest)
                latest = latest.parent
            else:  # it is a node of another record
                return None
        if any(each.setup or each.to_move is not None for each in left):
            return None
        for each in left:
            if each.move is not None:
                game.undo()
                played -= 1
        return game, played, ahead[::-1]

    def _new_game(self, rules: Rules | str | None) -> Game:
        if not all(MIN_SIZE <= side <= MAX_SIZE for side in (self.width, self.height)):
            size = f"{self.width}x{self.height}"
            phrase = Phrase("error.boardSize", {"size": size, "least": MIN_SIZE, "most": MAX_SIZE})
            raise error_at(self.source, UserError(phrase))
        terms = terms_of(self, rules)
        return Game(self.width, self.height, rules=terms.rules, komi=terms.komi)

    def _replay(self, line: Iterable[TreeNode], game: Game, played: int = 0) -> Iterator[Move | None]:
        """Plays a line in a game after `played` moves; yields each move before it is played, and None at the end."""
        for node in line:
            if node.move is not None:
                yield node.move
            self._apply(node, game, played)
            played += node.move is not None
        yield None

    def _apply(self, node: TreeNode, game: Game, played: int) -> None:
        if node.problem:
            raise error_at(self.source, error_at(node.place(played), node.problem))
        try:
            if node.setup:  # begins a new game from the present stones with these changes; the prisoners stay
                stones = {point: game.stone_at(point) for point in all_points(game.width, game.height)}
                stones |= node.setup
                black, white = ([point for point in stones if stones[point] == colour] for colour in (BLACK, WHITE))
                to_move = WHITE if self.handicap >= 2 and not played else game.to_move
                game.set_up(black, white, to_move, is_edited=True)
            if node.setup and node.to_move is not None:
                game.to_move = node.to_move
            if node.move is not None:
                game.play(*node.move)
            # Set before the move, the next player would make it a move out of turn, which forgets ko and passes.
            if not node.setup and node.to_move is not None:
                game.to_move = node.to_move
        except UserError as error:
            raise error_at(self.source, error_at(node.place(played), error)) from error


def _rebuilt(
    width: int, height: int, source: str, attributes: dict[str, Any], parents: list[int], properties: list[Properties]
) -> GameRecord:
    """Returns a record from the properties of its nodes and the places of their parents, which come before them."""
    record = GameRecord(width, height, source=source)
    vars(record).update(attributes)
    record.change(record.root, properties[0])
    nodes = [record.root]
    for parent, of_node in zip(parents[1:], properties[1:], strict=True):
        nodes.append(record.add(nodes[parent], of_node))
    return record
