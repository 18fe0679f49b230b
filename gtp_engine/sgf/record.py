"""Game records: one line of play, and information about the game.

sgfmill provides the grammar of SGF: the tree of nodes, escapes, texts, serialisation. Its own game object is not used,
because it supports only square boards up to 26x26, one move per node, and no set-up after the first move. `charset` and
`syntax` describe what else real files need.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Unpack

from ..base import VERSION
from ..base.fields import Range, invalid, parse_number
from ..base.messages import plural
from ..game.coords import BLACK, WHITE
from ..game.drawing import DrawingOptions
from ..game.game import Game, Move, count_handicap
from ..game.rules import Rules
from .errors import SgfError
from .game_info import TEXT_FIELDS, TEXT_NAMES
from .replay import replay
from .values import read_rules, rules_text
from .writing import sgf_text

_SIDE = Range(1, whole=True)


@dataclass
class RecordNode:
    """One node of a record: stones that are set up, then a move, then a comment.

    Annotations and variations are written, but not read.

    Attributes:
        move: The move, if any.
        black: Points that get a black stone.
        white: Points that get a white stone.
        empty: Points that are cleared.
        to_move: The player to move next, or None if the node does not state it; in a node with both stones and a move,
            the player to move after the stones.
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
        texts: Other information by SGF's property, one of `game_info.TEXT_NAMES` ("EV", "PC", ...); KM, HA or TM are
            for values that cannot be read.
        nodes: The nodes, one at least; the first is the root and has no move.
        source: The name used in error messages.

    Raises:
        UserError: A field has a value of the wrong type, a text has an unknown name, or there are no nodes; fields that
            were set later are checked by `to_sgf`.
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
        for name in TEXT_FIELDS.values():
            if not isinstance(text := getattr(self, name), str):
                raise invalid(name, text, "text")
        for name, text in self.texts.items():
            if name not in TEXT_NAMES:
                raise invalid("name in texts", name, f"one of {', '.join(TEXT_NAMES)}")
            if not isinstance(text, str):
                raise invalid(f"{name} in texts", text, "text")
        if not self.nodes:
            raise invalid("nodes", self.nodes, "the root at least, RecordNode()")

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

        Prisoners taken before stones were set up are not in the record: SGF has no property for them.

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
        handicap = count_handicap(game.setup_stones, ())  # HA belongs to stones in the root, not to Black's first moves
        nodes = [RecordNode(move, comment=comments.get(number, "")) for number, move in enumerate(game.moves, 1)]
        return cls(
            width=game.width,
            height=game.height,
            komi=game.komi,
            rules=rules_text(game.rules),
            handicap=handicap,
            black=black,
            white=white,
            result=result,
            date=datetime.date.today().isoformat() if date is None else date,
            application=f"gtp_engine:{VERSION}",
            nodes=[_start_node(game, handicap, comments.get(0, "")), *nodes],
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
        return read_rules(self.rules)

    def to_game(self, moves: int | None = None, *, rules: Rules | str | None = None) -> Game:
        """Replays the record.

        The player to move is the one who makes the next move of the record. Komi is 0 if the record does not state it.
        Set-up after the first move begins a new game from that position, in which the prisoners taken before still
        count: `Game.moves` has only the moves since then.

        Args:
            moves: How many moves to replay; all if None.
            rules: The rules, or their name; if None the record's, or Chinese if it does not name any.

        Raises:
            SgfError: The board size is not supported, or a set-up or move is impossible.
            UserError: Rules or number are invalid.
        """
        if moves is not None:
            parse_number("number of moves", moves, Range(0, whole=True), from_text=False)
        for played, (game, move) in enumerate(replay(self, rules)):
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
        for game, move in replay(self, rules):
            if move is not None:
                game.to_move = move.colour
            yield game

    def to_sgf(self) -> str:
        """Returns the record as SGF text, FF[4].

        Raises:
            UserError: A field was set to a value that SGF cannot hold.
        """
        self._check()
        return sgf_text(self)


def _start_node(game: Game, handicap: int, comment: str) -> RecordNode:
    """Returns the root of a game: its stones, and the first player unless the stones suggest it."""
    black = tuple(stone.point for stone in game.setup_stones if stone.colour == BLACK)
    white = tuple(stone.point for stone in game.setup_stones if stone.colour == WHITE)
    first = game.moves[0].colour if game.moves else game.to_move
    expected = WHITE if handicap else BLACK
    return RecordNode(black=black, white=white, to_move=None if first == expected else first, comment=comment)
