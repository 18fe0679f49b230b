"""Estimates of the ranks of the players of a reviewed game."""

import itertools
from collections.abc import Iterable

from ..evaluate.batch import Evaluation, evaluate_games
from ..game.game import Game
from .game_review import GameReview
from .rank_estimate import RankEstimate, estimate
from .rank_evidence import count_kinds, why_unusable
from .rank_models import find_model
from .record_searches import RecordSearches


class _Stopped(Exception):
    """The user has stopped the review."""


def estimate_ranks(review: GameReview, searches: RecordSearches) -> dict[int, RankEstimate]:
    """Returns the estimates of the judged players by colour.

    There are none without a model for the network and the board, if the record says nothing about ranks
    (`rank_evidence.why_unusable`), or if the searches are stopped.

    Args:
        review: The review.
        searches: The searches by which it was made: the cache of their evaluator has the evaluations of the positions.
    """
    record = review.record
    model = find_model(review.conditions.network, record.width, record.height)
    if model is None or not review.moves or why_unusable(record):
        return {}
    first, last = review.moves[0].number, review.moves[-1].number
    parameters = searches.parameters

    def evaluate(part: Iterable[Game]) -> list[Evaluation]:
        if searches.is_stopped():
            raise _Stopped
        return evaluate_games(
            searches.evaluator,
            [game.copy() for game in part],
            optimism=parameters.root_policy_optimism,  # as the searches' roots, under which the cache has them
            profile=parameters.profile,
        )

    try:
        positions = itertools.islice(searches.positions(), first - 1, last + 1)
        counts = count_kinds(positions, record.moves[first - 1 : last], evaluate)
    except _Stopped:
        return {}
    found = {colour: estimate(model, counts[colour]) for colour in review.players}
    return {colour: one for colour, one in found.items() if one is not None}
