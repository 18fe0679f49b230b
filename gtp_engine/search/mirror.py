"""Mirror play: an opponent who answers each move with the point opposite, through the centre of the board.

Neither policy nor value of a network know that the next moves will be mirrored as well, so a search finds what refutes
them, such as a capture in the centre, too late. KataGo's antiMirror (its searchmirror.cpp) therefore makes the opponent
of the search mirror some of the moves, and tries the centre itself. So does this, with fewer cases.
"""

from itertools import pairwise

from ..base.jit import inline
from ..go.coords import EMPTY, index_of_point, opponent
from ..go.game import Game
from .tree import NO_MOVE

# An opponent is taken to mirror once its answers through the centre outnumber its other moves by this many. KataGo's 14
# would be two thirds of a game on 9x9; openings in the corners have a few by chance.
_MOST_BY_CHANCE = 6
# The shares of a node's visits that are spent on the mirrored answer, and on the centre.
_SHARE_OF_ANSWER, _SHARE_OF_CENTRE = 0.5, 0.06


def mirroring_opponent(game: Game) -> int:
    """Returns the opponent of the player to move if it mirrors moves, and has mirrored the last one; or EMPTY."""
    surplus, is_mirrored = 0, False
    for before, move in pairwise(game.moves):
        if move.colour != game.to_move:
            indices = (index_of_point(point, game.width, game.height) for point in (before.point, move.point))
            is_mirrored = sum(indices) == game.area - 1  # which no pass is, with the index `area`
            surplus += 1 if is_mirrored else -1
    return opponent(game.to_move) if is_mirrored and surplus >= _MOST_BY_CHANCE else EMPTY


@inline
def against_mirror(mirroring: int, colour: int, last: int, area: int, total: float) -> tuple[int, float]:
    """Returns a move at a node that needs another visit, and the weight above which it does not; or NO_MOVE.

    Args:
        mirroring: The player who mirrors, or EMPTY.
        colour: The side to move at the node, after the move with the index `last`.
        area: The number of points.
        total: The weight of the node's visits.
    """
    move, least = NO_MOVE, 0.0
    if mirroring == colour and 0 <= last < area:
        move, least = area - 1 - last, _SHARE_OF_ANSWER * total - 1.0
    elif mirroring != EMPTY and mirroring != colour and area % 2:
        move, least = area // 2, _SHARE_OF_CENTRE * total - 1.0
    return (move, least) if least >= 0.0 else (NO_MOVE, 0.0)
