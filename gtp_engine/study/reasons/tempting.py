"""The moves that a player would most likely have tried in a position, if they lose points."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from ...go.coords import PASS
from ...search.report import MoveReport, SearchReport
from ..searches import Searches
from .variation import Fact, Study, play_line, variation_after

# The least probability of such a move by the policy, and how many are looked at. By judgement: in six games of ranks,
# six of ten mistakes had one.
_LIKELY, _MOST = 0.1, 2
# The points that it loses at least. How many they are is not told: of 29 moves, b18c384nbt found less than half of them
# for five, but always 2 points or more (`benchmarks/reason_accuracy.py`).
LEAST_TEMPTING_LOSS = 4.0


def likely_moves(before: SearchReport, study: Study) -> list[MoveReport]:
    """Returns the likely moves that a search has tried, the most likely first, without the two of a study."""
    others = (each for each in before.moves if each.point not in (PASS, study.move, study.best))
    return sorted((each for each in others if each.prior >= _LIKELY), key=lambda each: -each.prior)[:_MOST]


def find_tempting(
    searches: Searches, before: SearchReport, study: Study, deepen: Callable[[Searches, Study], Study | None]
) -> Iterator[Fact]:
    """Yields the likely moves that lose points ("also"), each with what follows it, the most likely first.

    What they lose is found as what a mistake costs is: by searches of the positions before and after it that are
    equally long, and by two more that are two moves deeper.

    Args:
        searches: How to search.
        before: The second look at the position.
        study: Of the move played and the better one.
        deepen: Returns a study as two more searches see it (`explain.seen_deeper`); None if they are stopped.
    """
    losing = [
        each.point for each in likely_moves(before, study) if before.moves[0].lead - each.lead >= LEAST_TEMPTING_LOSS
    ]
    after = (play_line(study.game, study.colour, (point,))[-1] for point in losing)
    reports = searches.as_long_as(before).reports(after, ownership=True)
    for point, report in zip(losing, reports, strict=False):  # fewer if it is stopped
        other = replace(study, played=variation_after(study.game, study.colour, point, report))
        deeper = deepen(searches, other) if other.points_loss >= LEAST_TEMPTING_LOSS else None
        if deeper is not None and deeper.points_loss >= LEAST_TEMPTING_LOSS:
            yield Fact("also", other.played.line, frozenset((point,)), {"move": study.game.vertex(point)})
