"""The move of a player of some strength: drawn from the policy, or the best one of a small search, and never absurd."""

import numpy as np

from ..go.coords import PASS, point_of_index
from ..go.game import Game
from ..search.report import SearchReport
from .blunders import Blunders
from .status import has_filled_up
from .strength import Strength

# From so many visits on a search finds the answer to an atari, or something larger, by itself.
_SEES_ATARI = 32


def choose_at(strength: Strength, game: Game, report: SearchReport, random: np.random.Generator | None) -> int:
    """Returns the point to play, or a pass if no sensible move is left.

    Args:
        strength: The player's strength.
        game: The position.
        report: What was found there with as many visits, and with ownership.
        random: The generator for draws; None chooses the most probable moves.
    """
    if report.visits >= _SEES_ATARI and report.moves:
        return report.moves[0].point
    blunders = Blunders(game, report)
    saving = [point for point in blunders.saving_moves() if report.policy[point] > 0]  # those that are allowed
    if saving and (random is None or random.random() < strength.alertness):
        return max(saving, key=lambda point: report.policy[point])
    if report.moves and not (report.moves[0].point != PASS and blunders.is_absurd(report.moves[0].point)):
        return report.moves[0].point
    return _draw(strength, game, report, blunders, random)


def _draw(
    strength: Strength, game: Game, report: SearchReport, blunders: Blunders, random: np.random.Generator | None
) -> int:
    """Returns a move drawn from the policy; a pass if it thinks of nothing else, or no sensible move is left."""
    priors = report.priors[:-1]
    if not priors.any() or (report.priors[-1] > priors.max() and has_filled_up(game)):
        return PASS
    likely = priors > strength.least_share * priors.max()
    moves = np.flatnonzero(likely)
    # The largest of log p + noise is a draw by p, the order one without replacement (the Gumbel-max trick).
    keys = np.log(priors[moves])
    if random is not None:
        keys = strength.of_policy * keys + (1 - strength.of_policy) * random.gumbel(size=len(moves))
    drawn = _first_sensible(moves[np.argsort(-keys, kind="stable")], game, blunders)
    if drawn != PASS or has_filled_up(game):
        return drawn  # late in the game a pass is better than a move that the policy hardly considers
    others = np.flatnonzero((priors > 0) & ~likely)
    return _first_sensible(others[np.argsort(-priors[others], kind="stable")], game, blunders)


def _first_sensible(moves: np.ndarray, game: Game, blunders: Blunders) -> int:
    """Returns the first of these moves that is not absurd; a pass if all are."""
    points = (point_of_index(int(move), game.width, game.height) for move in moves)
    return next((point for point in points if not blunders.is_absurd(point)), PASS)
