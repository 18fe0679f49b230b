"""The turns in which a player was hopelessly behind: after several in a row it resigns."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..game.game import Game, Move  # which imports numba

# Some 50 moves of each of ten games at a time.
_MOST_TURNS = 500


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
