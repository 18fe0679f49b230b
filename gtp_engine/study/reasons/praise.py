"""Good moves that players of a rank rarely find, where what they would likely play loses points."""

from collections.abc import Iterator

import numpy as np

from ...base.languages.texts import Phrase
from ...engine.ranks import STRONGEST, WEAKEST, Rank, play_at
from ...go.coords import PASS, index_of_point
from ..game_review import GameReview, Reason
from ..move_review import MoveReview
from ..searches import SECOND_LOOK_FACTOR, Positions, Searches
from .explain import seen_deeper
from .tempting import find_tempting, likely_moves
from .variation import Study, best_variation

MOST = 2  # moves of a game that are praised
# By judgement: the most probability of a move by the policy of the rank, and the greatest share of the policy in it.
# Ranks whose share is greater search as well, and do not always play its first choice.
_RARE, _MOST_SHARE = 0.1, 0.75


def find_praise(searches: Searches, positions: Positions, review: GameReview) -> Iterator[tuple[int, Reason]]:
    """Yields the numbers of the moves to praise, with the sentences, at most `MOST`.

    A move is praised if the search prefers it, a player of the game's rank would rarely choose it, and all likely other
    moves lose points by the searches that tell of such losses (`find_tempting`).
    """
    found = 0
    candidates = sorted(filter(_is_candidate, review.own_moves), key=_others_lose, reverse=True)
    for move in candidates[: 2 * MOST]:
        game = positions[move.number - 1]
        reports = list(searches.times(SECOND_LOOK_FACTOR).reports([game.copy()], moves_ownership=True))
        if not reports or found == MOST:  # there are none if the searches are stopped
            return
        (before,) = reports
        if not before.is_best(move.move.point):
            continue
        best = best_variation(game, before)
        study = Study(move.move.colour, best, best)
        facts = list(find_tempting(searches, before, study, seen_deeper))
        if facts and len(facts) == len(likely_moves(before, study)):
            found += 1
            values = {"played": move.vertex(move.move.point), **facts[0].values}
            yield move.number, Reason(Phrase("reason.found", values), facts[0].line, facts[0].points)


def _is_candidate(move: MoveReview) -> bool:
    return (
        move.move.point != PASS
        and not (move.has_setup or move.ends_game)
        and bool(move.before.moves)
        and move.before.is_best(move.move.point)
        and _others_lose(move) > 0
        and probability(move) <= _RARE
    )


def _others_lose(move: MoveReview) -> float:
    """Returns what the points are worth that the most likely other move loses, by the first look."""
    others = [each for each in move.before.searched if each.point not in (PASS, move.best)]
    likely = max(others, key=lambda each: each.prior, default=None)
    return 0.0 if likely is None else move.weight(move.before.moves[0].lead - likely.lead)


def probability(move: MoveReview) -> float:
    """Returns how likely a player of the game's rank is to choose a move, by the policy alone (`ranks.Strength`)."""
    number = min(max(round(move.level.rank) + 1, WEAKEST.number), STRONGEST.number)
    before = move.before
    share = min(play_at(Rank(number), "", before.width, before.height).strength.of_policy, _MOST_SHARE)
    priors = np.asarray(before.priors, np.float64)
    powers = (priors / priors.max()) ** (share / (1 - share))
    return float(powers[index_of_point(move.move.point, before.width, before.height)] / powers.sum())
