"""When to resign: after several hopeless turns in a row."""

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from .strength import Strength

if TYPE_CHECKING:
    from ..go.game import Game, Move  # which imports numba
    from ..search.report import SearchReport

# Chosen by judgement.
# The share of the board played before which nobody resigns: 90 moves on 19x19, 21 on 9x9.
_EARLIEST = 0.25
# A handicap of n stones is a bad start by intention: this share of the board longer, n times.
_HANDICAP_PATIENCE = 0.03
# With fewer visits a win rate is noise.
_LEAST_VISITS = 50
# Some 50 moves of each of ten games at a time.
_MOST_TURNS = 500


def is_hopeless(game: "Game", report: "SearchReport", threshold: float, strength: Strength | None = None) -> bool:
    """Returns whether this position is a reason for the player to move to resign.

    That is so if the win rate is below `threshold`, the player is too far behind for an accident to help, enough moves
    have been played for the board's size, and the search has enough visits. Accidents help weak players more: they go
    on for longer (`Strength.patience`), and an evaluation without a search is enough at any strength but the full one.
    """
    far_behind = -sqrt(game.area) / 4  # 5 points on 19x19, 2 on 9x9
    if strength is not None:
        far_behind *= strength.patience
    stones = int((game.stones() != 0).sum())
    played = max(len(game.moves), stones - game.handicap)  # stones that were set up count as moves
    is_late = played >= (_EARLIEST + _HANDICAP_PATIENCE * game.handicap) * game.area
    is_searched = strength is not None or report.visits >= _LEAST_VISITS
    return is_late and is_searched and report.winrate < threshold and report.lead < far_behind


class _Turn(NamedTuple):
    """A position in which a player had to move: how the game began, and the moves so far."""

    start: tuple[Any, ...]
    moves: "tuple[Move, ...]"
    colour: int


class HopelessTurns:
    """The latest hopeless turns.

    They are kept by their positions, not counted, because some controllers replay the whole game before each move, and
    may play several games in turn: gtp2ogs lends each of its bots to a game for one move.
    """

    def __init__(self) -> None:
        self._turns: list[_Turn] = []  # the latest one last

    def row(self, game: "Game", colour: int) -> int:
        """Returns how many of a player's last turns were hopeless, one after the other, without the present one."""
        start, moves = _start(game), tuple(game.moves)
        own = (turn for turn in self._turns if turn.start == start and turn.colour == colour)
        noted = {len(turn.moves) for turn in own if turn.moves == moves[: len(turn.moves)]}
        turns = [number for number, move in enumerate(moves) if move.colour == colour]
        return next((row for row, number in enumerate(reversed(turns)) if number not in noted), len(turns))

    def note(self, game: "Game", colour: int, *, hopeless: bool) -> None:
        """Notes whether the present turn is hopeless."""
        turn = _Turn(_start(game), tuple(game.moves), colour)
        self._turns = [other for other in self._turns if other != turn]
        if hopeless:
            self._turns = [*self._turns, turn][-_MOST_TURNS:]

    def clear(self) -> None:
        """Forgets all turns, so that a player who takes back a move can play on."""
        self._turns = []


def _start(game: "Game") -> tuple[Any, ...]:
    return game.width, game.height, game.rules, game.komi, tuple(game.setup_stones)
