"""The game that people begin: a board, rules, and handicap stones with their komi."""

from ..game.game import Game
from ..game.handicap import fixed_handicap_points
from ..game.rules import Rules, default_komi

_HANDICAP_KOMI = 0.5  # it only excludes draws


def usual_komi(width: int, height: int, handicap: int) -> float:
    """Returns the komi of a game for which none was chosen: 0.5 with handicap stones, otherwise that of the board."""
    return _HANDICAP_KOMI if handicap else default_komi(width, height)


def initial_game(width: int, height: int, *, handicap: int, komi: float | None, rules: Rules | str) -> Game:
    """Returns a game at its start.

    Args:
        width: The number of columns.
        height: The number of rows.
        handicap: The number of handicap stones, on the fixed points; 0 for none.
        komi: The komi; None for the usual one.
        rules: The rules, or their name.

    Raises:
        UserError: A value is invalid, or the board has no points for so many stones.
    """
    stones = fixed_handicap_points(handicap, width, height) if handicap else []
    game = Game(width, height, rules=rules, komi=usual_komi(width, height, handicap) if komi is None else komi)
    if stones:
        game.place_handicap(stones)
    return game
