"""Games to learn from: single ones as they are made, and many of them packed in columns as they are learned.

A sample is a position of a game, before a move. What a network sees of it is computed when it is learned
(`training.rows`): so it never differs from what a search shows the network, and old games can teach a network that
takes other inputs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ..game.board import BUTTON_LEFT
from ..game.coords import MAX_SIZE, MIN_SIZE, WHITE, index_of_point
from ..game.game import Game, Move
from ..game.rules import Rules

DRAW, NO_RESULT, UNKNOWN = 0, 3, 4  # who has won, beside BLACK and WHITE
WHITE_BIT, INDEX_BITS = 0x8000, 0x7FFF  # of a packed move: whether it is white's; its move index
FULL_SHARE = 65535  # shares of a policy target are counted in such parts
MOST_MOVES = 65535

RULE_FIELDS = ("ko_rule", "suicide", "scoring", "tax", "friendly_pass")
GAME = np.dtype(
    [
        ("number", "<u8"),  # tells games apart: of records a hash of the moves
        ("source", "<u2"),  # which of `GameSet.sources`
        ("width", "u1"),
        ("height", "u1"),
        ("komi", "<f4"),  # points for white: komi and handicap bonus
        *((name, "u1") for name in RULE_FIELDS),  # as in `game.board.BOARD`
        ("has_button", "u1"),
        ("to_move", "u1"),  # at the start
        ("setup_count", "<u2"),
        ("move_count", "<u2"),
        ("winner", "u1"),  # BLACK, WHITE, DRAW, NO_RESULT or UNKNOWN
        ("margin", "<f4"),  # black's points, komi included; NaN where unknown, as after a resignation
        ("has_ownership", "u1"),
    ]
)


@dataclass(frozen=True, kw_only=True)
class SampleGame:
    """One game and what is to be learned of it.

    setup, moves: packed (`pack_move`). komi: with the handicap bonus. to_move: at the start.
    winner: BLACK, WHITE, DRAW, NO_RESULT or UNKNOWN. margin: black's points, komi included, NaN where unknown.
    ownership: int8 [area] in move-index order, 1 black's, -1 white's, 0 nobody's; None where unknown.
    number: tells games apart. source: what made it (a network's name, a file's).
    weights: float [moves], how much each position counts as a sample, 0 for none; None: 1 everywhere.
    policies: the policy target of each position, moves (indices) and their shares; None: the move played.
    values: float [moves, 2], what the search at each position found for the side to move, win less loss and lead in
        points, NaN where it did not say; None: nowhere.
    """

    width: int
    height: int
    rules: Rules
    komi: float
    to_move: int
    setup: np.ndarray
    moves: np.ndarray
    winner: int
    margin: float = float("nan")
    ownership: np.ndarray | None = None
    number: int = 0
    source: str = ""
    weights: np.ndarray | None = None
    policies: Sequence[tuple[np.ndarray, np.ndarray] | None] | None = None
    values: np.ndarray | None = None

    @classmethod
    def from_game(cls, game: Game, **known: object) -> "SampleGame":
        """Of a game that was played here; `known`: the fields from `winner` on."""
        first = game.moves[0].colour if game.moves else game.to_move
        return cls(
            width=game.width,
            height=game.height,
            rules=game.rules,
            komi=game.komi + game.handicap_bonus,
            to_move=first,
            setup=pack_moves(game.setup_stones, game.width, game.height),
            moves=pack_moves(game.moves, game.width, game.height),
            **known,  # type: ignore[arg-type]
        )


def pack_moves(moves: Iterable[Move], width: int, height: int) -> np.ndarray:
    """uint16: each move's index, and WHITE_BIT for white's."""
    indices = (index_of_point(point, width, height) | (WHITE_BIT if colour == WHITE else 0) for colour, point in moves)
    return np.fromiter(indices, np.uint16)


@dataclass(frozen=True, kw_only=True)
class GameSet:
    """Many games in columns; of each column that has several entries a game, theirs follow one another.

    games: GAME [games]. sources: what `source` counts. setup, moves: uint16, packed. ownership: int8, [area] of each
    game that has it. A position stands before each move:
    weights: float16 [positions]; None: 1 everywhere.
    target_counts: uint16 [positions], how many moves its policy target names; 0: it is the move played, and so
        everywhere where the column is None. target_moves, target_shares: uint16, those moves' indices and shares.
    values: float16 [positions, 2] as in `SampleGame`, or None.
    """

    games: np.ndarray
    sources: tuple[str, ...]
    setup: np.ndarray
    moves: np.ndarray
    ownership: np.ndarray
    weights: np.ndarray | None = None
    target_counts: np.ndarray | None = None
    target_moves: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint16))
    target_shares: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint16))
    values: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.games)

    @property
    def positions(self) -> int:
        return len(self.moves)

    @property
    def areas(self) -> np.ndarray:
        """int64 [games]."""
        return self.games["width"].astype(np.int64) * self.games["height"]

    @property
    def largest_board(self) -> tuple[int, int]:
        """Width and height that all boards fit into."""
        return int(self.games["width"].max()), int(self.games["height"].max())

    @property
    def is_one_size(self) -> bool:
        return bool(np.all(self.games[["width", "height"]] == self.games[["width", "height"]][:1]))

    def samples(self) -> np.ndarray:
        """uint32: the positions to learn from, in the games' order."""
        if self.weights is None:
            return np.arange(self.positions, dtype=np.uint32)
        return np.flatnonzero(self.weights > 0).astype(np.uint32)

    def choose(self, chosen: np.ndarray) -> "GameSet":
        """The games where `chosen`, bool [games], is True."""
        games = self.games
        of_positions = np.repeat(chosen, games["move_count"])
        if self.target_counts is None:
            of_targets = np.zeros(0, np.bool_)
        else:
            of_targets = np.repeat(of_positions, self.target_counts)
        return GameSet(
            games=games[chosen],
            sources=self.sources,
            setup=self.setup[np.repeat(chosen, games["setup_count"])],
            moves=self.moves[of_positions],
            ownership=self.ownership[np.repeat(chosen, self.areas * games["has_ownership"])],
            weights=None if self.weights is None else self.weights[of_positions],
            target_counts=None if self.target_counts is None else self.target_counts[of_positions],
            target_moves=self.target_moves[of_targets],
            target_shares=self.target_shares[of_targets],
            values=None if self.values is None else self.values[of_positions],
        )

    def check(self) -> None:
        """Raises ValueError unless all columns fit each other: what passes can be replayed without harm."""
        games, areas = self.games, self.areas
        sides = np.concatenate((games["width"], games["height"]))
        if np.any((sides < MIN_SIZE) | (sides > MAX_SIZE)):
            raise ValueError("a board of an impossible size")
        for name, column, expected in (
            ("setup", self.setup, games["setup_count"].sum(dtype=np.int64)),
            ("moves", self.moves, games["move_count"].sum(dtype=np.int64)),
            ("ownership", self.ownership, (areas * games["has_ownership"]).sum()),
            ("weights", self.weights, self.positions),
            ("target_counts", self.target_counts, self.positions),
            ("target_moves", self.target_moves, _total(self.target_counts)),
            ("target_shares", self.target_shares, _total(self.target_counts)),
            ("values", self.values, self.positions),
        ):
            if column is not None and len(column) != expected:
                raise ValueError(f"the column {name} has {len(column)} entries, expected {expected}")
        of_positions = np.repeat(areas, games["move_count"])
        if np.any((self.moves & INDEX_BITS) > of_positions):
            raise ValueError("a move off the board")
        if np.any((self.setup & INDEX_BITS) >= np.repeat(areas, games["setup_count"])):
            raise ValueError("a stone off the board")
        if self.target_counts is not None and np.any(self.target_moves > np.repeat(of_positions, self.target_counts)):
            raise ValueError("a policy target off the board")


def _total(counts: np.ndarray | None) -> int:
    return 0 if counts is None else int(counts.sum(dtype=np.int64))


@lru_cache(maxsize=64)
def rule_codes(rules: Rules) -> dict[str, int]:
    """The fields of GAME that say which rules hold."""
    board = Game(MIN_SIZE, MIN_SIZE, rules=rules).board[0]
    codes = {name: int(board[name]) for name in RULE_FIELDS}
    return codes | {"has_button": int(board["button"] == BUTTON_LEFT)}


def pack(games: Sequence[SampleGame]) -> GameSet:
    """Single games as columns. ValueError where one has more moves than a record can count."""
    sources = tuple(dict.fromkeys(game.source for game in games))
    numbers = {source: number for number, source in enumerate(sources)}
    records = np.zeros(len(games), GAME)
    for number, game in enumerate(games):
        if len(game.moves) > MOST_MOVES:
            raise ValueError(f"a game of {len(game.moves)} moves; at most {MOST_MOVES} can be packed")
        facts = {name: getattr(game, name) for name in ("number", "width", "height", "komi", "to_move", "winner")}
        facts |= rule_codes(game.rules) | {"source": numbers[game.source], "margin": game.margin}
        facts |= {"setup_count": len(game.setup), "move_count": len(game.moves)}
        facts["has_ownership"] = game.ownership is not None
        for name, value in facts.items():
            records[name][number] = value
    counts, moves, shares = _targets(games)
    return GameSet(
        games=records,
        sources=sources,
        setup=_column((game.setup for game in games), np.uint16),
        moves=_column((game.moves for game in games), np.uint16),
        ownership=_column((game.ownership for game in games if game.ownership is not None), np.int8),
        weights=_optional(games, lambda game: game.weights, 1.0, ()),
        target_counts=counts,
        target_moves=moves,
        target_shares=shares,
        values=_optional(games, lambda game: game.values, np.nan, (2,)),
    )


def _column(parts: Iterable[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)


def _optional(
    games: Sequence[SampleGame], get: Callable[[SampleGame], np.ndarray | None], default: float, shape: tuple[int, ...]
) -> np.ndarray | None:
    """A float16 column of positions that games may lack; None where all of them do."""
    if all(get(game) is None for game in games):
        return None
    parts = []
    for game in games:
        part = get(game)
        expected = (len(game.moves), *shape)
        part = np.full(expected, default, np.float16) if part is None else np.asarray(part, np.float16)
        if part.shape != expected:
            raise ValueError(f"values of the shape {part.shape} for {len(game.moves)} moves")
        parts.append(part)
    return np.concatenate(parts)


def _targets(games: Sequence[SampleGame]) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    if all(game.policies is None for game in games):
        return None, np.zeros(0, np.uint16), np.zeros(0, np.uint16)
    targets = [target for game in games for target in (game.policies or [None] * len(game.moves))]
    counts = np.array([0 if target is None else len(target[0]) for target in targets], np.uint16)
    given = [target for target in targets if target is not None]
    moves = _column((np.asarray(moves) for moves, _ in given), np.uint16)
    shares = [np.asarray(shares, np.float64) for _, shares in given]
    parts = (np.rint(share / share.sum() * FULL_SHARE) for share in shares)
    return counts, moves, _column((part.astype(np.uint16) for part in parts), np.uint16)


def join(sets: Sequence[GameSet]) -> GameSet:
    """One set of several; ValueError for none."""
    if not sets:
        raise ValueError("no games to join")
    sources = tuple(dict.fromkeys(source for games in sets for source in games.sources))
    numbers = {source: number for number, source in enumerate(sources)}
    records = []
    for games in sets:
        record = games.games.copy()
        record["source"] = np.array([numbers[source] for source in games.sources], np.uint16)[record["source"]]
        records.append(record)
    counts = None
    if any(games.target_counts is not None for games in sets):
        counts = np.concatenate([_or_full(games.target_counts, 0, np.uint16, (games.positions,)) for games in sets])
    weights = values = None
    if any(games.weights is not None for games in sets):
        weights = np.concatenate([_or_full(games.weights, 1, np.float16, (games.positions,)) for games in sets])
    if any(games.values is not None for games in sets):
        values = np.concatenate([_or_full(games.values, np.nan, np.float16, (games.positions, 2)) for games in sets])
    return GameSet(
        games=np.concatenate(records),
        sources=sources,
        setup=np.concatenate([games.setup for games in sets]),
        moves=np.concatenate([games.moves for games in sets]),
        ownership=np.concatenate([games.ownership for games in sets]),
        weights=weights,
        target_counts=counts,
        target_moves=np.concatenate([games.target_moves for games in sets]),
        target_shares=np.concatenate([games.target_shares for games in sets]),
        values=values,
    )


def _or_full(column: np.ndarray | None, value: float, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    return np.full(shape, value, dtype) if column is None else column


def in_portions(games: Iterable[SampleGame], size: int) -> Iterator[list[SampleGame]]:
    """Lists of `size` games, the last one shorter."""
    portion: list[SampleGame] = []
    for game in games:
        portion.append(game)
        if len(portion) == size:
            yield portion
            portion = []
    if portion:
        yield portion
