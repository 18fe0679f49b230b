"""Games as training data: single ones as they are played, and many of them packed in columns.

A sample is a position of a game, before a move. The network's inputs are computed only when a batch is made
(`training.data.rows`), as a search makes them, and old games can train networks with other inputs. One thing differs:
in a search that begins after a pass, under rules that count stones as they stand, the pass and the last moves are
hidden (`search.visits`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import UserError
from ...go.board import BUTTON_LEFT
from ...go.coords import BLACK, MAX_SIZE, MIN_SIZE, WHITE, index_of_point, point_of_index
from ...go.game import Game, Move
from ...go.rules import Rules

DRAW, NO_RESULT, UNKNOWN = 0, 3, 4  # winners other than BLACK and WHITE
WHITE_BIT, INDEX_BITS = 0x8000, 0x7FFF  # of a packed move: set for White; the move index
FULL_SHARE = 65535  # a policy target's share of 1, as it is stored
MOST_MOVES = 65535  # of a game
FINE_UNIT = 127  # ownership of 1, as it is stored if it is fractional
JUDGEMENT = ("win", "loss", "no result", "score", "stdev", "lead")  # the last three in points, given a result

RULE_FIELDS = ("ko_rule", "suicide", "scoring", "tax", "friendly_pass")
GAME = np.dtype(
    [
        ("number", "<u8"),  # identifies the game; for game records a hash of the moves
        ("width", "u1"),
        ("height", "u1"),
        ("komi", "<f4"),  # points for White: komi and handicap bonus
        *((name, "u1") for name in RULE_FIELDS),  # as in `go.board.BOARD`
        ("has_button", "u1"),
        ("to_move", "u1"),  # at the start
        ("setup_count", "<u2"),
        ("move_count", "<u2"),
        ("winner", "u1"),  # BLACK, WHITE, DRAW, NO_RESULT or UNKNOWN
        ("margin", "<f4"),  # for Black, komi included; NaN if unknown, as after a resignation
        ("ownership_unit", "u1"),  # value of an owned point in the column `ownership`; 0: no ownership
    ]
)


class Column(NamedTuple):
    """A column of `GameSet`."""

    dtype: np.dtype  # in memory
    stored: np.dtype  # on disk
    counted: str  # what it has an entry for: GAMES, STONES, ...
    shape: tuple[int, ...] = ()  # of an entry
    default: float | None = None  # value of the entries if a set lacks the column; None if it is required


GAMES, STONES, POSITIONS, POINTS, TARGETS = "games", "stones", "positions", "points", "targets"
_U2, _F4 = np.dtype("<u2"), np.dtype("<f4")
COLUMNS: Mapping[str, Column] = {
    "games": Column(GAME, GAME, GAMES),
    "setup": Column(_U2, _U2, STONES),
    "moves": Column(_U2, _U2, POSITIONS),
    "ownership": Column(np.dtype("i1"), np.dtype("i1"), POINTS),
    "weights": Column(_F4, np.dtype("<f2"), POSITIONS, default=1),
    "target_counts": Column(_U2, _U2, POSITIONS, default=0),
    "target_moves": Column(_U2, _U2, TARGETS),
    "target_shares": Column(_U2, _U2, TARGETS),
    "values": Column(_F4, np.dtype("<f2"), POSITIONS, (2,), np.nan),
    "surprises": Column(_F4, np.dtype("<f2"), POSITIONS, default=0),
    "judgements": Column(_F4, _F4, GAMES, (len(JUDGEMENT),), np.nan),
}


class GameSet(NamedTuple):
    """Many games in columns, for compiled code; made by `game_set`.

    In a column with several entries per game, the entries of a game are adjacent. There is a position before each move.
    A column that the set lacks is empty; its entries count as the defaults of `COLUMNS`.
    """

    games: np.ndarray  # GAME [games]
    setup: np.ndarray  # uint16, packed stones (`pack_moves`)
    moves: np.ndarray  # uint16 [positions], packed moves
    ownership: np.ndarray  # int8, [area] for each game that has it, in units of its `ownership_unit`
    weights: np.ndarray  # float32 [positions]
    target_counts: np.ndarray  # uint16 [positions], number of moves in the policy target; 0 if it is the move played
    target_moves: np.ndarray  # uint16, the indices of those moves
    target_shares: np.ndarray  # uint16, their shares, in units of 1 / FULL_SHARE
    values: np.ndarray  # float32 [positions, 2], as in `SampleGame`
    surprises: np.ndarray  # float32 [positions], as in `SampleGame`
    judgements: np.ndarray  # float32 [games, 6], as in `SampleGame`, NaN for games without one
    setup_starts: np.ndarray  # int64 [games + 1], where the stones of each game begin
    move_starts: np.ndarray  # int64 [games + 1], where the moves of each game begin
    ownership_starts: np.ndarray  # int64 [games + 1], where the ownership of each game begins
    target_starts: np.ndarray  # int64 [positions + 1], where the target of each position begins; or empty

    @property
    def game_count(self) -> int:
        """The number of games; `len` returns that of the fields."""
        return len(self.games)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return len(self.moves)

    @property
    def largest_board(self) -> tuple[int, int]:
        """The largest width and the largest height; 0 and 0 if there are no games."""
        return int(self.games["width"].max(initial=0)), int(self.games["height"].max(initial=0))

    def moves_of(self, game: int) -> np.ndarray:
        """Returns the moves of a game, packed (uint16)."""
        return self.moves[self.move_starts[game] : self.move_starts[game + 1]]

    def begin(self, game: int, **options: Any) -> Game:
        """Returns a new game from the starting position of one of these, with options of `Game` such as its rules.

        Komi and rules are not those of the game by themselves.
        """
        record = self.games[game]
        begun = Game(int(record["width"]), int(record["height"]), **options)
        packed = self.setup[self.setup_starts[game] : self.setup_starts[game + 1]]
        stones = unpack_moves(packed, begun.width, begun.height)
        black, white = ([point for of, point in stones if of == colour] for colour in (BLACK, WHITE))
        begun.set_up(black, white, int(record["to_move"]))
        return begun

    def samples(self, surprise_share: float = 0.0) -> np.ndarray:
        """Returns the positions to learn from (uint32), in the order of the games; surprising ones several times.

        Of the samples of each game `surprise_share` are in proportion to their surprise, the others uniform (KataGo's
        docs/KataGoMethods.md, "Policy Surprise Weighting"). Where KataGo rounds how often a position is a sample by
        chance, the sum over the positions so far is rounded here, so that the same games always give the same samples.
        """
        weights = self.weights if len(self.weights) else np.ones(self.positions, np.float32)
        counts = (weights > 0).astype(np.float64)
        if surprise_share and len(self.surprises):
            of_games, lengths = np.repeat(np.arange(self.game_count), self.games["move_count"]), self.game_count
            surprise, whole = (
                np.bincount(of_games, weights * each, lengths) for each in (self.surprises, np.ones_like(weights))
            )
            mean = np.divide(surprise, whole, out=np.zeros(lengths), where=surprise > 0)[of_games]
            relative = np.divide(self.surprises, mean, out=np.ones(self.positions), where=mean > 0)
            counts *= 1 - surprise_share + surprise_share * relative
            counts = np.diff(np.floor(np.cumsum(counts) + 0.5), prepend=0)
        return np.repeat(np.arange(self.positions, dtype=np.uint32), counts.astype(np.int64))

    def __reduce__(self) -> Any:
        """Pickles what is stored on disk, without numpy's descriptions, which outweigh the columns of a single game."""
        stored = {name: column.astype(COLUMNS[name].stored) for name, column in self.columns().items() if len(column)}
        return _unpickled, ({name: bytearray(column.data) for name, column in stored.items()},)

    def columns(self) -> dict[str, np.ndarray]:
        """Returns the columns by their names in `COLUMNS`."""
        return {name: getattr(self, name) for name in COLUMNS}

    def choose(self, chosen: np.ndarray) -> "GameSet":
        """Returns a set of the games for which `chosen` (bool [games]) is True."""
        games = self.games
        of_positions = np.repeat(chosen, games["move_count"])
        masks = {
            GAMES: chosen,
            STONES: np.repeat(chosen, games["setup_count"]),
            POSITIONS: of_positions,
            POINTS: np.repeat(chosen, np.diff(self.ownership_starts)),
            TARGETS: np.repeat(of_positions, self.target_counts) if len(self.target_counts) else np.zeros(0, np.bool_),
        }
        kept = {name: column[masks[COLUMNS[name].counted]] for name, column in self.columns().items() if len(column)}
        return game_set(**kept)

    def check(self) -> None:
        """Raises UserError unless the columns fit each other, so that compiled code can safely replay the games."""
        games, areas = self.games, areas_of(self.games)
        sides = np.concatenate((games["width"], games["height"]))
        if np.any((sides < MIN_SIZE) | (sides > MAX_SIZE)):
            raise UserError("it contains an invalid board size")
        for name, column in self.columns().items():
            expected, kind = self._count(COLUMNS[name].counted), COLUMNS[name]
            if column.shape != (expected, *kind.shape) and (len(column) or kind.default is None):
                raise UserError(f"the column {name} has {len(column)} entries, expected {expected}")
        of_positions = np.repeat(areas, games["move_count"])
        if np.any((self.moves & INDEX_BITS) > of_positions):
            raise UserError("it contains a move off the board")
        if np.any((self.setup & INDEX_BITS) >= np.repeat(areas, games["setup_count"])):
            raise UserError("it contains a stone off the board")
        if len(self.target_counts) and np.any(self.target_moves > np.repeat(of_positions, self.target_counts)):
            raise UserError("it contains a policy target off the board")

    def _count(self, counted: str) -> int:
        """Returns how many GAMES, STONES, ... there are."""
        starts = {STONES: self.setup_starts, POSITIONS: self.move_starts, POINTS: self.ownership_starts}
        if counted == TARGETS:
            return int(self.target_starts[-1]) if len(self.target_starts) else 0
        return int(starts[counted][-1]) if counted in starts else self.game_count


def areas_of(games: np.ndarray) -> np.ndarray:
    """Returns the number of points of each board (int64), given records GAME."""
    return games["width"].astype(np.int64) * games["height"]


def game_set(**columns: np.ndarray) -> GameSet:
    """Returns a set of games, given its columns by name; those left out are empty. Its contents are not checked."""
    arrays = {name: np.zeros((0, *column.shape), column.dtype) for name, column in COLUMNS.items()}
    arrays |= {name: np.ascontiguousarray(column, COLUMNS[name].dtype) for name, column in columns.items()}
    games, counts = arrays["games"], arrays["target_counts"]
    return GameSet(
        **arrays,
        setup_starts=_starts(games["setup_count"]),
        move_starts=_starts(games["move_count"]),
        ownership_starts=_starts(areas_of(games) * (games["ownership_unit"] > 0)),
        target_starts=_starts(counts) if len(counts) else np.zeros(0, np.int64),
    )


def _unpickled(stored: Mapping[str, bytearray]) -> GameSet:
    columns = {name: np.frombuffer(data, COLUMNS[name].stored) for name, data in stored.items()}
    return game_set(**{name: column.reshape(-1, *COLUMNS[name].shape) for name, column in columns.items()})


def _starts(counts: np.ndarray) -> np.ndarray:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _nothing() -> np.ndarray:
    return np.zeros(0, np.float32)


@dataclass(frozen=True, kw_only=True)
class SampleGame:
    """One game with its training targets. Empty arrays are unknown targets."""

    width: int
    height: int
    rules: Rules
    komi: float  # komi, including the handicap bonus
    to_move: int  # side to move at the start
    setup: np.ndarray  # packed stones at the start (`pack_moves`)
    moves: np.ndarray  # packed moves
    winner: int  # BLACK, WHITE, DRAW, NO_RESULT or UNKNOWN
    margin: float = float("nan")  # Black's points minus White's, komi included; NaN if unknown
    # [area] in move-index order, 1 for Black, -1 for White, 0 for neither, or float between.
    ownership: np.ndarray = field(default_factory=_nothing)
    number: int = 0  # identifies the game
    # float [moves], weights of the positions as samples, 0 for none; empty for 1 everywhere.
    weights: np.ndarray = field(default_factory=_nothing)
    # The policy target of each position, as indices of moves and their shares; None for the move played. Empty if this
    # is so everywhere.
    policies: Sequence[tuple[np.ndarray, np.ndarray] | None] = ()
    # float [moves, 2], the search's win rate minus loss rate and lead in points, for the side to move; NaN if not
    # known.
    values: np.ndarray = field(default_factory=_nothing)
    # float [moves], how surprising the policy target is: its Kullback-Leibler divergence from the priors, in nats; 0 if
    # there was no full search. Empty for 0 everywhere.
    surprises: np.ndarray = field(default_factory=_nothing)
    # float [6] (`JUDGEMENT`), for Black, a teacher's outputs for the last position.
    judgement: np.ndarray = field(default_factory=_nothing)

    @classmethod
    def from_game(cls, game: Game, **known: Any) -> "SampleGame":
        """Returns a sample of a game up to its present position; `known` are `winner` and the fields that follow it."""
        given: dict[str, Any] = {
            "width": game.width,
            "height": game.height,
            "rules": game.rules,
            "komi": game.komi + game.handicap_bonus,
            "to_move": game.moves[0].colour if game.moves else game.to_move,
            "setup": pack_moves(game.setup_stones, game.width, game.height),
            "moves": pack_moves(game.moves, game.width, game.height),
        }
        return cls(**(given | known))


def pack_moves(moves: Iterable[Move], width: int, height: int) -> np.ndarray:
    """Returns moves as uint16: the index of each move, plus WHITE_BIT for White's."""
    indices = (index_of_point(point, width, height) | (WHITE_BIT if colour == WHITE else 0) for colour, point in moves)
    return np.fromiter(indices, np.uint16)


def unpack_moves(packed: np.ndarray, width: int, height: int) -> list[Move]:
    """Returns packed moves as they were."""
    return [
        Move(WHITE if each & WHITE_BIT else BLACK, point_of_index(each & INDEX_BITS, width, height))
        for each in packed.tolist()
    ]


@lru_cache(maxsize=64)
def rule_codes(rules: Rules) -> dict[str, int]:
    """Returns the fields of GAME that describe the rules."""
    board = Game(MIN_SIZE, MIN_SIZE, rules=rules).board[0]
    codes = {name: int(board[name]) for name in RULE_FIELDS}
    return codes | {"has_button": int(board["button"] == BUTTON_LEFT)}


def pack(games: Sequence[SampleGame]) -> GameSet:
    """Returns games as a set. Raises UserError if one has too many moves, or arrays that do not fit its moves."""
    records = np.zeros(len(games), GAME)
    for number, game in enumerate(games):
        if len(game.moves) > MOST_MOVES:
            raise UserError(f"a game of {len(game.moves)} moves; at most {MOST_MOVES} can be packed")
        known = ("number", "width", "height", "komi", "to_move", "winner", "margin")
        facts = {name: getattr(game, name) for name in known} | rule_codes(game.rules)
        facts |= {"setup_count": len(game.setup), "move_count": len(game.moves)}
        facts["ownership_unit"] = _ownership_unit(game.ownership)
        for name, value in facts.items():
            records[name][number] = value
    lengths, ones = records["move_count"], np.ones(len(games), np.int64)
    ownerships = [game.ownership for game in games]
    columns = {
        "setup": _joined("setup", [game.setup for game in games]),
        "moves": _joined("moves", [game.moves for game in games]),
        "ownership": _joined("ownership", [np.rint(each * _ownership_unit(each)) for each in ownerships]),
        "weights": _joined("weights", [game.weights for game in games], lengths),
        "values": _joined("values", [game.values for game in games], lengths),
        "surprises": _joined("surprises", [game.surprises for game in games], lengths),
        "judgements": _joined("judgements", [game.judgement.reshape(-1, len(JUDGEMENT)) for game in games], ones),
    }
    return game_set(games=records, **columns, **_targets(games))


def _ownership_unit(ownership: np.ndarray) -> int:
    """Returns FINE_UNIT for fractions, 1 for whole numbers, as after the end of a game, and 0 if it is empty."""
    return 0 if not len(ownership) else FINE_UNIT if np.issubdtype(ownership.dtype, np.floating) else 1


def _targets(games: Sequence[SampleGame]) -> dict[str, np.ndarray]:
    """Returns the columns of policy targets; none if no game has any."""
    if not any(game.policies for game in games):
        return {}
    targets = [target for game in games for target in (game.policies or [None] * len(game.moves))]
    given = [target for target in targets if target is not None]
    shares = [np.asarray(shares, np.float64) for _, shares in given]
    return {
        "target_counts": np.array([0 if target is None else len(target[0]) for target in targets], np.uint16),
        "target_moves": _joined("target_moves", [np.asarray(moves) for moves, _ in given]),
        "target_shares": _joined("target_shares", [np.rint(share / share.sum() * FULL_SHARE) for share in shares]),
    }


def join(sets: Sequence[GameSet]) -> GameSet:
    """Joins several sets into one, at least one."""
    columns = {}
    for name, column in COLUMNS.items():
        parts = [getattr(games, name) for games in sets]
        columns[name] = _joined(name, parts, [games._count(column.counted) for games in sets])
    return game_set(**columns)


def _joined(name: str, parts: Sequence[np.ndarray], lengths: Iterable[int] = ()) -> np.ndarray:
    """Joins the parts of a column.

    One with a default is rounded as on disk, and empty parts have the default in each of their `lengths` entries,
    unless all are empty.
    """
    column, nothing = COLUMNS[name], np.zeros((0, *COLUMNS[name].shape), COLUMNS[name].dtype)
    if column.default is None:
        return np.concatenate([nothing, *parts]).astype(column.dtype, copy=False)
    if not any(len(part) for part in parts):
        return nothing
    whole = []
    for part, length in zip(parts, lengths, strict=True):
        expected = (int(length), *column.shape)
        if len(part) and part.shape != expected:
            raise UserError(f"{name} has the shape {part.shape}, expected {expected}")
        whole.append(part if len(part) else np.full(expected, column.default))
    return np.concatenate(whole).astype(column.stored).astype(column.dtype)
