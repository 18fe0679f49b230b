"""One position evaluated as a search evaluates its root, without the search."""

import numpy as np

from ...go.game import Game
from .evaluator import Evaluator
from .features import new_workspace, root_position_of
from .row import EvaluationRow


def evaluate_root(
    evaluator: Evaluator, game: Game, *, symmetry: int = 0, optimism: float = 0.0, profile: str = ""
) -> EvaluationRow:
    """Returns the evaluation of a position, for the side to move; after the end of a game, as if play continued.

    Args:
        evaluator: The evaluator; the thread is the one that owns it.
        game: The position.
        symmetry, optimism, profile: As in `Evaluator.submit`; by default the board is left as it is.
    """
    position = root_position_of(game, new_workspace(), conservative_pass=evaluator.reads_ladders)
    ticket = evaluator.submit(position, np.arange(1), np.full(1, symmetry), optimism=optimism, profile=profile)
    return EvaluationRow(evaluator.collect(ticket)[0].copy(), game.area)
