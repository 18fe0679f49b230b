"""Estimates of the ranks of the players of a reviewed game."""

import numpy as np

from ..evaluate.batch import Evaluation
from ..evaluate.features import new_workspace, position_of
from ..evaluate.row import EvaluationRow
from .game_review import GameReview
from .rank_estimate import RankEstimate, estimate
from .rank_evidence import count_kinds
from .rank_models import find_model
from .record_searches import RecordSearches


def estimate_ranks(review: GameReview, searches: RecordSearches) -> dict[int, RankEstimate]:
    """Returns the estimates of the judged players by colour; none without a model for the network and the board.

    Args:
        review: The review.
        searches: The searches by which it was made: the cache of their evaluator has the evaluations of the positions.
    """
    record = review.record
    model = find_model(review.conditions.network, record.width, record.height)
    if model is None or not review.moves:
        return {}
    counts = count_kinds(_evaluations(searches, range(review.moves[0].number - 1, review.moves[-1].number + 1)))
    found = {colour: estimate(model, counts[colour]) for colour in review.players}
    return {colour: one for colour, one in found.items() if one is not None}


def _evaluations(searches: RecordSearches, numbers: range) -> list[Evaluation]:
    """Returns the network's evaluations of positions, each by the number of moves before it."""
    games, workspace = [searches.game_at(number) for number in numbers], new_workspace()
    boards = np.concatenate([position_of(game, workspace) for game in games])
    parameters = searches.parameters  # the options of the searches' roots, under which the cache has the positions
    handle = searches.evaluator.with_options(optimism=parameters.root_policy_optimism, profile=parameters.profile)
    rows = handle.collect(handle.submit(boards, np.arange(len(games)))).copy()
    return [Evaluation(game, EvaluationRow(row, game.area)) for game, row in zip(games, rows, strict=True)]
