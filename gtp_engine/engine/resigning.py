"""When to resign: after several hopeless turns in a row."""

from collections.abc import Sequence
from itertools import takewhile
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias

from .ranks import Strength

if TYPE_CHECKING:
    from ..go.game import Game  # which imports numba
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


# A position in which a player had to move: how the game began, the moves so far, and the player.
#
# Hopeless turns are kept by their positions, not counted, because some controllers replay the whole game before each
# move, and may play several games in turn: gtp2ogs lends each of its bots to a game for one move.
Turn: TypeAlias = tuple[object, ...]


def turn_of(game: "Game", colour: int, number: int | None = None) -> Turn:
    """Returns a player's turn after the first moves of a game, by default after all of them."""
    start = game.width, game.height, game.rules, game.komi, tuple(game.setup_stones)
    return *start, tuple(game.moves[:number]), colour


def hopeless_row(turns: Sequence[Turn], game: "Game", colour: int) -> int:
    """Returns how many of a player's last turns are among these, one after the other, without the present one."""
    own = [number for number, move in enumerate(game.moves) if move.colour == colour]
    return sum(1 for _ in takewhile(lambda number: turn_of(game, colour, number) in turns, reversed(own)))


def with_turn(turns: Sequence[Turn], turn: Turn, *, hopeless: bool) -> tuple[Turn, ...]:
    """Returns the latest hopeless turns, the last of them last, with this one if it is one."""
    others = [other for other in turns if other != turn]
    return tuple([*others, turn][-_MOST_TURNS:] if hopeless else others)
