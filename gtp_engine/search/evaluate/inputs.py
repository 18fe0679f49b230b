"""The inputs of networks for Python programs: those of `features`, of many games at once."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...base.errors import UserError
from ...base.fields import invalid
from ...go.game import Game, as_game
from ...nets.constants import PLANES, SCALARS
from .features import new_workspace, position_of, write_inputs


class NetworkInputs(NamedTuple):
    """What a network of KataGo's family sees of n positions, from the side of the player to move.

    The planes and the scalars are KataGo's version 7; the module `gtp_engine.search.evaluate.features` lists them all.
    Plane 0 is 1 on the board, planes 1 and 2 are the player's and the opponent's stones; scalar 5 is the komi for the
    player, in points, divided by 20.

    Attributes:
        planes: uint8 [n, 22, h, w], each 0 or 1, rows from the top. h and w are those of the largest board; smaller
            ones lie in the top left corner, with zeros around them.
        scalars: float32 [n, 19].
    """

    planes: np.ndarray
    scalars: np.ndarray


def network_inputs(games: Iterable[Game], *, suicide_areas: bool = False) -> NetworkInputs:
    """Returns the inputs of networks for the present position of each game.

    Args:
        games: The games, such as `record.positions()`; at least one.
        suicide_areas: The network's `config.suicide_areas`, which decides what planes 18 and 19 show.

    Raises:
        UserError: There are no games, or something else is given.
    """
    workspace = new_workspace()
    boards = [position_of(game, workspace) for game in games_of(games)]
    if not boards:
        raise UserError("there are no games, and so no inputs: give at least one game")
    sizes = [(int(board["height"][0]), int(board["width"][0])) for board in boards]
    shape = max(height for height, _ in sizes), max(width for _, width in sizes)
    planes = np.empty((len(boards), *shape, PLANES), np.uint8)
    scalars = np.empty((len(boards), SCALARS), np.float32)
    for number, board in enumerate(boards):
        write_inputs(board[0], 0, suicide_areas, workspace, planes[number], scalars[number])
    return NetworkInputs(planes.transpose(0, 3, 1, 2), scalars)


def games_of(games: object) -> list[Game]:
    """Returns the games that a caller gives; raises UserError if it is something else."""
    if isinstance(games, Game) or not isinstance(games, Iterable):
        raise invalid("games", games, "a list of games, such as [game]")
    return [as_game(game) for game in games]
