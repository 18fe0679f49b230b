"""The game that people begin: a board, rules, and handicap stones with their komi."""

from ..game.game import Game
from ..game.handicap import fixed_handicap_points
from ..game.rules import Rules

_HANDICAP_KOMI = 0.5  # it only excludes draws


def initial_game(width: int, height: int, *, handicap: int, komi: float | None, rules: Rules | str) -> Game:
    """Returns a game at its start.

    Args:
        width: The number of columns.
        height: The number of rows.
        handicap: The number of handicap stones, on the fixed points; 0 for none.
        komi: The komi; None for 0.5 with handicap stones, otherwise for the usual one of the board's size.
        rules: The rules, or their name.

    Raises:
        UserError: A value is invalid, or the board has no points for so many stones.
    """
    stones = fixed_handicap_points(handicap, width, height) if handicap else []
    game = Game(width, height, rules=rules, komi=_HANDICAP_KOMI if stones and komi is None else komi)
    if stones:
        game.place_handicap(stones)
    return game
