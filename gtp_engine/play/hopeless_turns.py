"""The turns in which a player was hopelessly behind: after several in a row it resigns."""

from typing import TYPE_CHECKING, NamedTuple

from ..game.rules import Rules

if TYPE_CHECKING:
    from ..game.game import Game, Move  # which imports numba


class _Turn(NamedTuple):
    """A position in which a player had to move: how the game began, and the moves so far."""

    width: int
    height: int
    rules: Rules
    komi: float
    setup_stones: "tuple[Move, ...]"
    moves: "tuple[Move, ...]"
    colour: int

    def leads_to(self, game: "Game") -> bool:
        """Returns whether a game has come from this position, or is in it."""
        return self == _turn(game, self.colour)._replace(moves=tuple(game.moves[: len(self.moves)]))


def _turn(game: "Game", colour: int) -> _Turn:
    start = game.width, game.height, game.rules, game.komi, tuple(game.setup_stones)
    return _Turn(*start, tuple(game.moves), colour)


class HopelessTurns:
    """The hopeless turns of the present game.

    They are kept by their positions, not counted, because some controllers replay the whole game before each move: the
    row must survive that (gtp2ogs starts a bot for each move).
    """

    def __init__(self) -> None:
        self._turns: list[_Turn] = []

    def row(self, game: "Game", colour: int) -> int:
        """Returns how many of a player's last turns were hopeless, one after the other, without the present one."""
        noted = {len(turn.moves) for turn in self._turns if turn.colour == colour and turn.leads_to(game)}
        own = [number for number, move in enumerate(game.moves) if move.colour == colour]
        return next((row for row, number in enumerate(reversed(own)) if number not in noted), len(own))

    def note(self, game: "Game", colour: int, *, hopeless: bool) -> None:
        """Notes whether the present turn is hopeless, and forgets those that have not led to it."""
        turn = _turn(game, colour)
        self._turns = [other for other in self._turns if other != turn and other.leads_to(game)]
        if hopeless:
            self._turns.append(turn)

    def clear(self) -> None:
        """Forgets all turns: whoever takes back a move wants to go on."""
        self._turns = []
