"""Sente and gote: what a move gains if it is not answered."""

from collections.abc import Iterator

from ...game.coords import PASS
from .facts import Sente
from .variation import Study

# The better move's threat is greater by so many points, and at least twice the other one's: a tempo alone is worth up
# to 14 points in the opening, for every move.
LEAST_THREAT_LEAD, LEAST_THREAT_RATIO = 6.0, 2.0


def find_sente(study: Study) -> Iterator[Sente]:
    """Yields that the better move has to be answered more urgently than the move played."""
    better, played = study.better.gain_if_ignored, study.played.gain_if_ignored
    if better is None or played is None:
        return
    if better >= played + LEAST_THREAT_LEAD and better >= LEAST_THREAT_RATIO * played:
        line = (study.best, PASS, *study.better.threat)
        yield Sente(line, frozenset((study.best,)), better, max(0.0, played))
