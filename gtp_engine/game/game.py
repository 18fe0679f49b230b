"""One game: its starting position, the moves since, komi and rules."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from . import board as boards
from .coords import BLACK, EMPTY, MAX_SIZE, MIN_SIZE, PASS, WALL, WHITE, vertex
from .rules import DEFAULT_KOMI, RULESETS, Rules

_KO_RULES = {
    "SIMPLE": boards.SIMPLE_KO,
    "POSITIONAL": boards.POSITIONAL_SUPERKO,
    "SITUATIONAL": boards.SITUATIONAL_SUPERKO,
}
_SCORINGS = {"AREA": boards.AREA_SCORING, "TERRITORY": boards.TERRITORY_SCORING}
_TAXES = {"NONE": boards.NO_TAX, "SEKI": boards.SEKI_TAX, "ALL": boards.ALL_TAX}
# GTP takes any finite komi; beyond this the board's float32 would lose its halves, and no game is in doubt.
_DECIDING_KOMI = 1_000_000.0


class IllegalMove(ValueError):
    """A move that the board refuses; the text says which and why."""


class Move(NamedTuple):
    """A stone or a pass (`coords.PASS`)."""

    colour: int
    point: int


def count_handicap(setup_stones: Iterable[Move], moves: Iterable[Move]) -> int:
    """Black's stones before white's first: the starting position's where it has no white ones, and the moves that
    black made in a row at the start, white's passes apart (so KataGo counts them); 0 where it is fewer than two.
    """
    count = 0
    for stone in setup_stones:
        if stone.colour == WHITE:
            return 0
        count += 1
    for move in moves:
        if move.colour == WHITE and move.point == PASS:
            continue
        if move.colour == WHITE or move.point == PASS:
            break
        count += 1
    return count if count >= 2 else 0


def bonus_of(rules: Rules, handicap: int) -> int:
    """White's compensation for so many handicap stones, in points."""
    return {"0": 0, "N": handicap, "N-1": max(0, handicap - 1)}[rules.white_handicap_bonus]


class Game:
    """One game on a board of `width` x `height` points, black to move, with `komi` points for white.

    komi: 7.5 on every board where none is given; `rules.default_komi` has the usual one of a size, which engines and
    matches take.

    `play` is as lenient as GUIs need it: any order of colours, play after two passes, and no superko. `is_legal` and
    `legal_moves` are exact under the rules.
    """

    def __init__(
        self,
        width: int = 19,
        height: int | None = None,
        *,
        rules: Rules = RULESETS["chinese"],
        komi: float = DEFAULT_KOMI,
    ) -> None:
        height = width if height is None else height
        if not (MIN_SIZE <= width <= MAX_SIZE and MIN_SIZE <= height <= MAX_SIZE):
            raise ValueError(f"unacceptable size {width}x{height}: expected {MIN_SIZE} to {MAX_SIZE} each way")
        self.width = width
        self.height = height
        self._rules = rules
        self._komi = komi
        self.clear()

    # The history is a stack: one board a position, from the start to the present one.

    def clear(self) -> None:
        """Empties the board and the history; size, rules and komi stay."""
        self.moves: list[Move] = []
        self.setup_stones: list[Move] = []
        self._history_starts = [0]
        self._boards = [boards.new_board(self.width, self.height)]
        self._apply_rules()

    @property
    def area(self) -> int:
        """The number of points."""
        return self.width * self.height

    @property
    def rules(self) -> Rules:
        """The rules; `set_rules` changes them."""
        return self._rules

    def set_rules(self, rules: Rules) -> None:
        """Goes on under other rules; the history stays."""
        self._rules = rules
        self._apply_rules()

    @property
    def komi(self) -> float:
        """White's points before the game; `set_komi` changes them."""
        return self._komi

    def set_komi(self, komi: float) -> None:
        """Goes on with another komi."""
        self._komi = komi
        self._apply_rules()

    def _apply_rules(self) -> None:
        """Writes rules and komi into the present board; `undo` does it again for the one it goes back to."""
        board = self._boards[-1]
        board["ko_rule"] = _KO_RULES[self._rules.ko]
        board["suicide"] = self._rules.suicide
        board["scoring"] = _SCORINGS[self._rules.scoring]
        board["tax"] = _TAXES[self._rules.tax]
        board["friendly_pass"] = self._rules.friendly_pass_ok
        board["button"] = self._button()
        board["komi"] = max(-_DECIDING_KOMI, min(self._komi + self.handicap_bonus, _DECIDING_KOMI))

    def _button(self) -> int:
        """Who has the button: under button rules the first pass of the game takes it."""
        if not self._rules.has_button:
            return boards.NO_BUTTON
        for move in self.moves:
            if move.point == PASS:
                return boards.BUTTON_BLACK if move.colour == BLACK else boards.BUTTON_WHITE
        return boards.BUTTON_LEFT

    @property
    def board(self) -> np.ndarray:
        """The present position, a `board.BOARD` array of shape (1,). Not to be written."""
        return self._boards[-1]

    def previous_board(self, moves_ago: int) -> np.ndarray:
        """The position `moves_ago` moves back, or the oldest one where there are fewer, as `board`."""
        return self._boards[max(0, len(self._boards) - 1 - moves_ago)]

    @property
    def to_move(self) -> int:
        """The player to move. Setting it makes the other player's turn begin a new history, as a pass of none does."""
        return int(self.board["to_move"][0])

    @to_move.setter
    def to_move(self, colour: int) -> None:
        if colour != self.to_move:
            self._begin_history(colour)

    @property
    def history_start(self) -> int:
        """The moves before the history that ko, superko and passes look at: 0 but after a turn out of order."""
        return self._history_starts[-1]

    @property
    def passes(self) -> int:
        """Passes in a row at the end of the game so far; the one that takes the button is none."""
        return int(self.board["passes"][0])

    @property
    def is_over(self) -> bool:
        """Whether the last two moves were passes that do not take the button."""
        return self.passes >= 2

    @property
    def handicap(self) -> int:
        """Black's stones before white's first, see `count_handicap`."""
        return count_handicap(self.setup_stones, self.moves)

    @property
    def handicap_bonus(self) -> int:
        """White's compensation for handicap stones under the rules, in points."""
        return bonus_of(self._rules, self.handicap)

    def stones(self) -> np.ndarray:
        """The stones as int8 of shape [height, width], row 0 on top: 0 empty, 1 black, 2 white."""
        stride = self.width + 1
        padded = self.board["stones"][0][: (self.height + 2) * stride].reshape(self.height + 2, stride)
        return padded[1:-1, 1:].copy()

    def stone_at(self, point: int) -> int:
        """EMPTY, BLACK or WHITE."""
        return int(self.board["stones"][0, point])

    def captures(self, colour: int) -> int:
        """The prisoners that `colour` has taken."""
        return int(self.board["captures"][0, colour])

    def superko_history(self) -> np.ndarray:
        """The `board.superko_key` of every position since the history began, the present one last, as uint64."""
        ko_rule = _KO_RULES[self._rules.ko]
        start = self.history_start
        keys = [board["hash"][0] for board in self._boards[start:]]
        if ko_rule == boards.SITUATIONAL_SUPERKO:
            # A move out of turn makes it that player's turn in the position before it, whoever was to move there.
            turns = [move.colour for move in self.moves[start:]] + [self.to_move]
            keys = [boards.superko_key(key, turn, ko_rule) for key, turn in zip(keys, turns, strict=True)]
        return np.array(keys, np.uint64)

    def play(self, colour: int, point: int) -> None:
        """Plays a move or a pass; IllegalMove where it is occupied, retakes a simple ko or is a forbidden suicide.

        A player who moves out of turn begins a new history: ko, superko and passes before it are forgotten (as KataGo's
        GTP does), `undo` still goes back.
        """
        board = self.board.copy()
        history_start = self.history_start
        if colour != self.to_move:
            _forget_history(board, colour)
            history_start = len(self._boards) - 1
        reason = self._refusal(board, point)
        if reason:
            raise IllegalMove(f"illegal move: {self._name(point)} {reason}")
        boards.play(board[0], point)
        self.moves.append(Move(colour, point))
        self._boards.append(board)
        self._history_starts.append(history_start)
        self._apply_rules()

    def _refusal(self, board: np.ndarray, point: int) -> str | None:
        if point == PASS:
            return None
        stone = board["stones"][0, point] if 0 <= point < boards.MAX_POINTS else WALL
        if stone == WALL:
            return "is not on the board"
        if stone != EMPTY:
            return "is occupied"
        if point == board["ko_point"][0]:
            return "retakes the ko"
        return None if boards.is_legal_but_superko(board[0], point) else "is suicide"

    def _name(self, point: int) -> str:
        on_board = 0 < point < boards.MAX_POINTS and self.board["stones"][0, point] != WALL
        return vertex(point, self.width, self.height) if on_board else f"point {point}"

    def is_legal(self, point: int, colour: int | None = None) -> bool:
        """Whether the player to move (or `colour`, out of turn) may play here under the rules, superko included."""
        board, history = self._position_for(colour)
        if self._refusal(board, point):
            return False
        return not boards.repeats(board[0], point, history, len(history))

    def legal_moves(self, colour: int | None = None) -> np.ndarray:
        """What the player to move (or `colour`) may do, as bool of shape [area+1] in move-index order."""
        board, history = self._position_for(colour)
        legal = np.zeros(self.area + 1, np.bool_)
        boards.legal_moves(board[0], history, len(history), legal)
        return legal

    def _position_for(self, colour: int | None) -> tuple[np.ndarray, np.ndarray]:
        """The present board with `colour` to move, and superko's memory there."""
        if colour is None or colour == self.to_move:
            return self.board, self.superko_history()
        board = self.board.copy()
        _forget_history(board, colour)
        return board, np.array([boards.superko_key(board["hash"][0], colour, _KO_RULES[self._rules.ko])], np.uint64)

    def undo(self) -> None:
        """Takes the last move back; ValueError("cannot undo") at the start."""
        if not self.moves:
            raise ValueError("cannot undo")
        self.moves.pop()
        self._boards.pop()
        self._history_starts.pop()
        self._apply_rules()

    def set_up(self, black: Iterable[int], white: Iterable[int], to_move: int = BLACK) -> None:
        """Begins a game from a position; ValueError, and no change, where stones overlap or have no liberty."""
        board = boards.new_board(self.width, self.height)
        stones = [Move(BLACK, point) for point in black] + [Move(WHITE, point) for point in white]
        for stone in stones:
            if not 0 < stone.point < boards.MAX_POINTS or board["stones"][0, stone.point] != EMPTY:
                raise ValueError(f"cannot set up {self._name(stone.point)}: not an empty point of the board")
            boards.set_up_stone(board[0], stone.point, stone.colour)
        for stone in stones:
            taken = board["stones"][0, stone.point] == EMPTY
            if taken or board["liberties"][0, board["chain"][0, stone.point]] == 0:
                raise ValueError(f"cannot set up {self._name(stone.point)}: a chain there has no liberty")
        _forget_history(board, to_move)
        self.moves, self.setup_stones = [], stones
        self._boards, self._history_starts = [board], [0]
        self._apply_rules()

    def place_handicap(self, points: Iterable[int]) -> None:
        """Puts black's handicap stones on the empty board, white to move; ValueError("board not empty")."""
        if self.moves or self.setup_stones:
            raise ValueError("board not empty")
        self.set_up(points, (), WHITE)

    def _begin_history(self, colour: int) -> None:
        """Makes it `colour`'s turn in the present position."""
        board = self.board.copy()
        _forget_history(board, colour)
        self._boards[-1] = board
        self._history_starts[-1] = len(self._boards) - 1

    def copy(self) -> "Game":
        """An independent game in the same state."""
        other = Game.__new__(Game)
        other.__dict__.update(self.__dict__)
        # Boards are never written once a later one stands on them; the present one is, when rules or komi change.
        other._boards = [*self._boards[:-1], self._boards[-1].copy()]
        other.moves = list(self.moves)
        other.setup_stones = list(self.setup_stones)
        other._history_starts = list(self._history_starts)
        return other


def _forget_history(board: np.ndarray, to_move: int) -> None:
    """Makes the position a starting one, with `to_move` to move; ValueError where that is no colour."""
    if to_move not in (BLACK, WHITE):
        raise ValueError(f"invalid colour {to_move!r}: expected {BLACK} (black) or {WHITE} (white)")
    board["to_move"] = to_move
    board["ko_point"] = PASS
    board["passes"] = 0
    board["move_count"] = 0
    board["moves_shown"] = 0
    board["captured_at"] = 0
