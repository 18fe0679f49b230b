"""One game: its starting position, the moves since, komi and rules."""

import zlib
from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Any, NamedTuple, Unpack

import numpy as np

from ..base.errors import UserError
from ..base.fields import check_keywords, invalid
from ..base.languages.texts import Phrase
from ..base.messages import plural
from .board import (
    BOARD,
    BUTTON_BLACK,
    BUTTON_LEFT,
    BUTTON_WHITE,
    MAX_POINTS,
    NO_BUTTON,
    begin_history,
    is_legal_but_superko,
    new_board,
    place,
    repeats,
    write_legal_moves,
    write_superko_keys,
)
from .board import play as play_move
from .coords import (
    BLACK,
    EMPTY,
    PASS,
    WALL,
    WHITE,
    as_colour,
    as_point,
    check_board_size,
    colour_letter,
    is_whole,
    vertex,
)
from .drawing import BoardDrawing, DrawingOptions, board_text
from .handicap import HANDICAP_KOMI, fixed_handicap_points
from .regions import Chain, chain_at
from .rules import PART_VALUES, Rules, as_rules, check_komi, default_komi, terms_text
from .scoring import Count, Score, count_points

# Moves of a game. Each keeps a board of 17 kB; the longest serious game has some 400, one without superko any number.
MOST_MOVES = 10_000
# GTP accepts any finite komi. Far below this the game is decided, and far above float32 would round half points away.
_DECIDING_KOMI = 1_000_000.0


class IllegalMove(UserError):
    """A move that the board refuses; the message names the move and the reason."""


class Move(NamedTuple):
    """A stone or a pass (`coords.PASS`). `Game.vertex` returns its name, for which the board is needed."""

    colour: int
    point: int

    def __repr__(self) -> str:
        colour = {BLACK: "black", WHITE: "white"}.get(self.colour, repr(self.colour))
        return f"<Move: {colour}, {f'point {self.point}' if self.point else 'pass'}>"


def as_game(value: object) -> "Game":
    """Returns a value that a caller gives as a game; raises UserError if it is none."""
    if not isinstance(value, Game):
        raise invalid("game", value, "a Game; that of a record is record.to_game()")
    return value


def count_handicap(setup_stones: Iterable[Move], moves: Iterable[Move]) -> int:
    """Counts Black's handicap stones as KataGo does.

    They are the stones that are set up, unless White has some too, and the moves that Black plays in a row at the
    start, ignoring White's passes. If White then moves twice in a row, the moves only set up a position, and it is not
    a handicap game.

    Returns:
        Their number, or 0 if it is less than two.
    """
    count = 0
    for stone in setup_stones:
        if stone.colour == WHITE:
            return 0
        count += 1
    after_the_last = Move(BLACK, PASS)
    for move, following in pairwise(chain(moves, (after_the_last,))):
        if move.colour == following.colour == WHITE:
            return 0
        if move.colour == WHITE and move.point == PASS:
            continue
        if move.colour == WHITE or move.point == PASS:
            break
        count += 1
    return count if count >= 2 else 0


def handicap_bonus(rules: Rules, handicap: int) -> int:
    """Returns White's compensation in points for a number of handicap stones."""
    return {"0": 0, "N": handicap, "N-1": max(0, handicap - 1)}[rules.white_handicap_bonus]


class Game:
    """One game: a starting position, the moves since, komi and rules.

    `play` is as lenient as GUIs need it to be: it accepts any order of colours, play after two passes, and moves that
    superko forbids. `is_legal` and `legal_moves` are exact under the rules.

    Every method accepts a point as a vertex ("D4", "pass") or as a number (`coords`), and a colour as "black" or
    "white" or as a number. Printed, a game is a board in ASCII; in a notebook it is the drawing of `to_svg`.

    Args:
        width: Number of columns.
        height: Number of rows; by default the width.
        rules: The ruleset, or its name.
        komi: White's points before the game; by default the usual komi of the board's size.

    Raises:
        UserError: The size is not supported, or rules or komi are invalid.
    """

    def __init__(
        self, width: int = 19, height: int | None = None, *, rules: Rules | str = "chinese", komi: float | None = None
    ) -> None:
        height = width if height is None else height
        check_board_size(width, height)
        komi = default_komi(width, height) if komi is None else komi
        check_komi(komi)
        self.width = width
        self.height = height
        self._rules = as_rules(rules)
        self._komi = komi
        self.clear()

    def __repr__(self) -> str:
        size, turn = f"{self.width}x{self.height}", colour_letter(self.to_move)
        terms = terms_text(self._rules, self.komi)
        return f"<Game {size}, {plural(len(self.moves), 'move')}, {turn} to move, {terms}>"

    def __str__(self) -> str:
        return f"{board_text(self.stones(), self.last_point)}\n{self.status_line()}"

    def status_line(self) -> str:
        """Returns who is to move, the last move, the prisoners, komi and rules in one line."""
        parts = [f"{'Black (X)' if self.to_move == BLACK else 'White (O)'} to move"]
        if self.moves:
            colour, point = self.moves[-1]
            parts.append(f"move {len(self.moves)}: {colour_letter(colour)} {self.vertex(point)}")
        parts.append(f"captured by B {self.captures(BLACK)}, by W {self.captures(WHITE)}")
        parts.append(terms_text(self._rules, self.komi))
        return "; ".join(parts)

    def to_svg(self, **options: Unpack[DrawingOptions]) -> str:
        """Draws the position with the last move marked.

        Args:
            **options: What else to draw: `labels`, `marks`, `ownership`, `candidates`, `last_move`, `title` and
                `pixels`, the fields of `BoardDrawing`.

        Returns:
            A complete SVG document.
        """
        check_keywords("to_svg", options, DrawingOptions.__annotations__)
        options.setdefault("last_move", self.last_point)
        return BoardDrawing(self.stones(), **options).to_svg()

    _repr_svg_ = to_svg

    # The history is a stack of boards, one per position, from the start to the present one.

    def clear(self) -> None:
        """Empties the board and the history; size, rules and komi stay."""
        self.moves: list[Move] = []
        self.setup_stones: list[Move] = []
        # Set, or that of the game in which the position was set up; None: it is counted.
        self._first_handicap: int | None = None
        self._history_starts = [0]
        self._boards = [new_board(self.width, self.height)]
        self._apply_rules()

    @property
    def area(self) -> int:
        """The number of points."""
        return self.width * self.height

    @property
    def rules(self) -> Rules:
        """The rules; `set_rules` changes them."""
        return self._rules

    def set_rules(self, rules: Rules | str) -> None:
        """Continues the game under other rules; the history stays."""
        self._rules = as_rules(rules)
        self._apply_rules()
        self._recount()

    @property
    def komi(self) -> float:
        """White's points before the game, without handicap compensation; `set_komi` changes them."""
        return self._komi

    def set_komi(self, komi: float) -> None:
        """Continues the game with another komi."""
        check_komi(komi)
        self._komi = komi
        self._apply_rules()

    def _apply_rules(self) -> None:
        """Writes rules and komi into the present board; `undo` does so for the board that it returns to."""
        board = self._boards[-1]
        board["ko_rule"] = PART_VALUES["ko"].index(self._rules.ko)
        board["suicide"] = self._rules.suicide
        board["scoring"] = PART_VALUES["scoring"].index(self._rules.scoring)
        board["tax"] = PART_VALUES["tax"].index(self._rules.tax)
        board["friendly_pass"] = self._rules.friendly_pass_ok
        if (taker := self._button_pass()) is not None:
            board["button"] = BUTTON_BLACK if self.moves[taker].colour == BLACK else BUTTON_WHITE
        else:
            board["button"] = BUTTON_LEFT if self._rules.has_button else NO_BUTTON
        board["komi"] = max(-_DECIDING_KOMI, min(self._komi + self.handicap_bonus, _DECIDING_KOMI))

    def _button_pass(self) -> int | None:
        """Returns the index of the pass that took the button: under button rules the first pass of the game."""
        if not self._rules.has_button:
            return None
        return next((index for index, move in enumerate(self.moves) if move.point == PASS), None)

    def _state_start(self) -> int:
        """Returns the index of the first move since the history began and since the pass that took the button.

        Passes count from there, and earlier positions may return.
        """
        button_pass = self._button_pass()
        return self.history_start if button_pass is None else max(self.history_start, button_pass + 1)

    def _recount(self) -> None:
        """Counts the passes, and the moves to show to networks, under the present rules.

        They need not be those under which the moves were played, where another pass may have taken the button.
        """
        moves, first = self.moves, self._state_start()
        last = len(moves)
        while last > first and moves[last - 1].point == PASS:
            last -= 1
        ends = (
            index for index in range(len(moves) - 1, first, -1) if moves[index].point == moves[index - 1].point == PASS
        )
        board = self._boards[-1]
        board["passes"] = len(moves) - last
        board["moves_shown"] = len(moves) - next(ends, self.history_start)

    @property
    def board(self) -> np.ndarray:
        """The present position, a `board.BOARD` array of shape (1,); read-only."""
        return self._boards[-1]

    def previous_board(self, moves_ago: int) -> np.ndarray:
        """Returns the position before the last `moves_ago` moves, or the oldest one, in the form of `board`."""
        return self._boards[max(0, len(self._boards) - 1 - moves_ago)]

    @property
    def to_move(self) -> int:
        """The player to move.

        Setting it to the other player begins a new history from the same position, without a pass.
        """
        return int(self.board["to_move"][0])

    @to_move.setter
    def to_move(self, colour: int | str) -> None:
        colour = as_colour(colour)
        if colour != self.to_move:
            board = self.board.copy()
            begin_history(board[0], colour)
            self._boards[-1] = board
            self._history_starts[-1] = len(self._boards) - 1

    @property
    def last_point(self) -> int:
        """The point of the last move; PASS if it was a pass or there is none."""
        return self.moves[-1].point if self.moves else PASS

    @property
    def history_start(self) -> int:
        """The number of moves that ko, superko and passes ignore: 0 unless a player moved out of turn."""
        return self._history_starts[-1]

    @property
    def passes(self) -> int:
        """Consecutive passes at the end of the game so far, not counting the one that takes the button."""
        return int(self.board["passes"][0])

    @property
    def is_over(self) -> bool:
        """Whether the last two moves were passes that do not take the button."""
        return self.passes >= 2

    @property
    def handicap(self) -> int:
        """Black's handicap stones, see `count_handicap`."""
        first = self._first_handicap
        return count_handicap(self.setup_stones, self.moves) if first is None else first

    @handicap.setter
    def handicap(self, stones: int) -> None:
        """Sets their number, whatever the first moves look like; `clear` and `set_up` begin to count again."""
        self._first_handicap = stones
        self._apply_rules()

    @property
    def handicap_bonus(self) -> int:
        """White's compensation for handicap stones under the rules, in points."""
        return handicap_bonus(self._rules, self.handicap)

    def stones(self, moves_ago: int = 0) -> np.ndarray:
        """Returns a copy of the stones: int8 [height, width] of EMPTY, BLACK and WHITE, row 0 at the top."""
        stride = self.width + 1
        points = self.previous_board(moves_ago)["stones"][0][: (self.height + 2) * stride]
        padded = points.reshape(self.height + 2, stride)
        return padded[1:-1, 1:].copy()

    def stone_at(self, point: int | str) -> int:
        """Returns EMPTY, BLACK or WHITE.

        Raises:
            UserError: The point is off the board, or a pass.
        """
        found = self.point(point)
        if found == PASS:
            raise invalid("point", point, "a point of the board, not a pass")
        return int(self.board["stones"][0, found])

    def chain(self, point: int | str) -> Chain | None:
        """Returns the chain at a point, with its stones and liberties; None if the point is empty.

        Raises:
            UserError: The point is off the board.
        """
        return chain_at(self.board[0], self.point(point))

    @property
    def first_captures(self) -> tuple[int, int]:
        """The prisoners that Black and White had taken before the game's first position was set up."""
        _, black, white = self._boards[0]["captures"][0].tolist()
        return black, white

    def captures(self, colour: int | str) -> int:
        """Returns the number of prisoners that `colour` has taken."""
        return int(self.board["captures"][0, as_colour(colour)])

    def superko_history(self) -> np.ndarray:
        """Returns the `board.superko_key` of the positions that may not be repeated, the present one last: uint64.

        They are those since the history began; after the pass that takes the button, those since that pass.
        """
        start = self._state_start()
        keys = np.array([board["hash"][0] for board in self._boards[start:]], np.uint64)
        # Before a move out of turn, the player who makes it counts as the player to move.
        turns = np.array([move.colour for move in self.moves[start:]] + [self.to_move], np.int8)
        write_superko_keys(self.board[0], turns, keys)
        return keys

    def play(self, colour: int | str, point: int | str, *, tolerant: bool = False) -> None:
        """Plays a move or a pass.

        A player who moves out of turn begins a new history: ko, superko and passes before it are forgotten, as in
        KataGo's GTP; `undo` can still take back the moves before it.

        Args:
            colour: The player.
            point: The point.
            tolerant: Whether to allow the retaking of a ko and the suicide of several stones, as other rules do.

        Raises:
            IllegalMove: The point is occupied or off the board, retakes a simple ko, or is a forbidden suicide; or the
                game has MOST_MOVES already.
            UserError: The text is not a vertex of this board, or the colour is invalid.
        """
        colour, point = as_colour(colour), self._parsed(point)
        if len(self.moves) >= MOST_MOVES:
            raise IllegalMove(f"illegal move: a game has at most {MOST_MOVES:,} moves")
        board = self.board.copy()
        history_start = self.history_start
        if colour != self.to_move:
            begin_history(board[0], colour)
            history_start = len(self._boards) - 1
        if tolerant:
            board["ko_point"] = PASS
            board["suicide"] = True  # until `_apply_rules` below
        reason = self._refusal(board, point)
        if reason:
            raise IllegalMove(Phrase(reason, {"move": self._name(point)}))
        play_move(board[0], point)
        self.moves.append(Move(colour, point))
        self._boards.append(board)
        self._history_starts.append(history_start)
        self._apply_rules()

    def _parsed(self, point: int | str) -> int:
        """Returns a point given as a number, on the board or not, or as a vertex of this board."""
        if is_whole(point):
            return int(point)
        return as_point(point, self.width, self.height)

    def _refusal(self, board: np.ndarray, point: int) -> str | None:
        """Returns the name of the text that says why a move is illegal but for superko; None if it is legal."""
        if point == PASS:
            return None
        stone = board["stones"][0, point] if 0 <= point < MAX_POINTS else WALL
        if stone == WALL:
            return "error.offBoard"
        if stone != EMPTY:
            return "error.occupied"
        if point == board["ko_point"][0]:
            return "error.ko"
        return None if is_legal_but_superko(board[0], point) else "error.suicide"

    def point(self, vertex: int | str) -> int:
        """Returns the point that a vertex of this board names; a point is returned as it is.

        Raises:
            UserError: It is not on this board.
        """
        return as_point(vertex, self.width, self.height)

    def vertex(self, point: int | str | Move) -> str:
        """Returns the name of a point, or of a move's point, on this board; "pass" for a pass.

        Raises:
            UserError: The point is not on this board.
        """
        return vertex(point.point if isinstance(point, Move) else point, self.width, self.height)

    def _name(self, point: int) -> str:
        on_board = 0 < point < MAX_POINTS and self.board["stones"][0, point] != WALL
        return self.vertex(point) if on_board else f"point {point}"

    def is_legal(self, point: int | str, colour: int | str | None = None) -> bool:
        """Whether the player to move (or `colour`, out of turn) may play here under the rules, including superko."""
        point = self._parsed(point)
        board, history = self._position_for(colour)
        return not (self._refusal(board, point) or repeats(board[0], point, history, len(history)))

    def legal_moves(self, colour: int | str | None = None) -> np.ndarray:
        """Returns the legal moves of the player to move (or of `colour`): bool [area + 1] in move-index order."""
        board, history = self._position_for(colour)
        legal = np.zeros(self.area + 1, np.bool_)
        write_legal_moves(board[0], history, len(history), legal)
        return legal

    def _position_for(self, colour: int | str | None) -> tuple[np.ndarray, np.ndarray]:
        """Returns the present board with `colour` to move, and its superko history."""
        colour = self.to_move if colour is None else as_colour(colour)
        if colour == self.to_move:
            return self.board, self.superko_history()
        board = self.board.copy()
        begin_history(board[0], colour)
        key = board["hash"].copy()
        write_superko_keys(board[0], board["to_move"], key)
        return board, key

    def score(self, dead: Iterable[int | str] = ()) -> Score:
        """Counts the present position under the rules, komi and handicap compensation included.

        The stones count as they stand, except for those in `dead`; an empty region that touches both colours counts for
        neither. So the game should be over, and its neutral points should be filled under area rules.

        Args:
            dead: The points of the stones to take off first; several vertices may be one text, as in "D4 E5".

        Returns:
            The score. As text it is an SGF result, such as "B+3.5".

        Raises:
            UserError: A point is not on the board.
        """
        return self.count(dead).score

    def count(self, dead: Iterable[int | str] = ()) -> Count:
        """Returns the points of both players behind a score; arguments and errors are those of `score`."""
        points = count_points(self.stones(), self.points(dead), self._rules)
        if self._rules.scoring == "TERRITORY":
            points = {colour: number + self.captures(colour) for colour, number in points.items()}
        button = {BUTTON_WHITE: 0.5, BUTTON_BLACK: -0.5}.get(int(self.board["button"][0]), 0.0)
        return Count(points[BLACK], points[WHITE], self.komi + self.handicap_bonus + button)

    @property
    def possible_leads(self) -> tuple[float, float]:
        """The least and the most by which Black can lead: the whole board belongs to White, or to Black.

        Under territory rules it is as under area rules but for a point less for each stone a player has played; the
        players take turns from here on.
        """
        stones, played = self.stones(), 0
        if self._rules.scoring == "TERRITORY":
            captured = self.captures(WHITE) - self.captures(BLACK)
            played = int((stones == BLACK).sum() - (stones == WHITE).sum()) + captured
        middle = -played - self.komi - self.handicap_bonus
        return middle - self.area, middle + self.area

    def undo(self) -> None:
        """Takes back the last move.

        Raises:
            UserError: There is no move since the start of the game, or since a position was set up.
        """
        if not self.moves:
            raise UserError("cannot undo: there is no move to take back")
        self.moves.pop()
        self._boards.pop()
        self._history_starts.pop()
        self._boards[-1] = self._boards[-1].copy()  # copies of the game may share it
        self._apply_rules()
        self._recount()

    def set_up(
        self,
        black: Iterable[int | str],
        white: Iterable[int | str],
        to_move: int | str = BLACK,
        *,
        is_edited: bool = False,
    ) -> None:
        """Begins a game from a position.

        Args:
            black: The points of Black's stones; several vertices may be one text, as in "D4 E5".
            white: The points of White's stones, in the same form.
            to_move: The player to move.
            is_edited: Whether it is the present game's position, changed: the prisoners taken so far still count, and
                so do the handicap stones once White has played.

        Raises:
            UserError: A point is off the board or named twice, or a chain has no liberty. The game is unchanged.
        """
        board, to_move = new_board(self.width, self.height), as_colour(to_move)
        stones = [Move(BLACK, point) for point in self.points(black)]
        stones += [Move(WHITE, point) for point in self.points(white)]
        for stone in stones:
            if board["stones"][0, stone.point] != EMPTY:  # a wall in the place of a pass
                raise UserError(f"cannot set up {self.vertex(stone.point)}: not an empty point of the board")
            place(board[0], stone.point, stone.colour, None)
        for stone in stones:
            taken = board["stones"][0, stone.point] == EMPTY
            if taken or board["liberties"][0, board["chain"][0, stone.point]] == 0:
                raise UserError(f"cannot set up {self.vertex(stone.point)}: a chain there has no liberty")
        has_begun = self._first_handicap is not None or any(
            move.colour == WHITE and move.point != PASS for move in self.moves
        )
        self._first_handicap = self.handicap if is_edited and has_begun else None
        if is_edited:
            board["captures"] = self.board["captures"]
        begin_history(board[0], to_move)
        self.moves, self.setup_stones = [], stones
        self._boards, self._history_starts = [board], [0]
        self._apply_rules()

    def points(self, given: Iterable[int | str]) -> list[int]:
        """Returns the points that a list names, or a text of vertices such as "D4 E5"; PASS for a pass.

        Raises:
            UserError: One is not on this board.
        """
        if not isinstance(given, Iterable):
            raise invalid("points", given, "a list of points, or a text of vertices such as D4 E5")
        return [self.point(point) for point in (given.split() if isinstance(given, str) else given)]

    def place_handicap(self, points: Iterable[int | str]) -> None:
        """Puts Black's handicap stones on the empty board, with White to move.

        Raises:
            UserError: The board is not empty, or as in `set_up`.
        """
        if self.moves or self.setup_stones:
            raise UserError("board not empty")
        self.set_up(points, (), WHITE)

    def copy(self) -> "Game":
        """Returns an independent game in the same state."""
        other = Game.__new__(Game)
        other.__dict__.update(self.__dict__)
        # Only the present board is ever written (when rules or komi change), so that earlier ones can be shared; a move
        # or an undo makes another board the present one, always a new copy.
        other._boards = [*self._boards[:-1], self._boards[-1].copy()]
        other.moves = list(self.moves)
        other.setup_stones = list(self.setup_stones)
        other._history_starts = list(self._history_starts)
        return other

    def after(self, colour: int | str, point: int | str) -> "Game":
        """Returns an independent game with one more move; raises what `play` raises."""
        game = self.copy()
        game.play(colour, point)
        return game

    # Pickled, the boards are what each of them changes: a game of 250 moves has 4 MB of them.

    def __getstate__(self) -> dict[str, Any]:
        raw = np.concatenate(self._boards).view(np.uint8).reshape(len(self._boards), -1)
        changes = np.concatenate([raw[:1], raw[1:] ^ raw[:-1]])
        return {**self.__dict__, "_boards": zlib.compress(changes.tobytes(), 1)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        changes = np.frombuffer(zlib.decompress(state["_boards"]), np.uint8).reshape(-1, BOARD.itemsize)
        boards = np.bitwise_xor.accumulate(changes, axis=0)
        self._boards = [board.view(BOARD).copy() for board in boards]


def usual_komi(width: int, height: int, handicap: int) -> float:
    """Returns the komi of a game for which none was chosen: 0.5 with handicap stones, otherwise that of the board."""
    return HANDICAP_KOMI if handicap else default_komi(width, height)


def initial_game(width: int, height: int | None, *, handicap: int, komi: float | None, rules: Rules | str) -> Game:
    """Returns a game at its start, with handicap stones on the fixed points.

    By default the height is the width, and the komi the usual one. Raises UserError if a value is invalid, or the
    stones do not fit on the board.
    """
    game = Game(width, height, rules=rules, komi=komi)
    if handicap:
        game.place_handicap(fixed_handicap_points(handicap, game.width, game.height))
    if komi is None:
        game.set_komi(usual_komi(game.width, game.height, handicap))
    return game
