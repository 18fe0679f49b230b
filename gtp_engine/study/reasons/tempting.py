"""The moves that a player would most likely have tried instead of a mistake, if they lose points as well."""

from collections.abc import Iterator, Sequence

from ...base.languages.texts import Value
from ...go.coords import PASS
from ...search.report import SearchReport
from ..searches import SECOND_LOOK_FACTOR, Searches
from .variation import Fact, Study, play_line, variation_after

# The least probability of such a move by the policy, and how many are looked at. By judgement: in six games of ranks,
# six of ten mistakes had one.
_LIKELY, _MOST = 0.1, 2
# The points that it loses at least: of 26 that were told from 2 points on, b18c384nbt denied 3, and these told of 3.
_LEAST = 4.0


def find_tempting(searches: Searches, before: SearchReport, studies: Sequence[Study]) -> Iterator[Fact]:
    """Yields the moves that lose points as well ("also"), each with what follows it, the most likely first.

    The second look and a search of the position after the move have to find the loss, and the smaller one is told.

    Args:
        searches: How to search; one search of each move, as long as those of the second look.
        before: The second look at the position before the mistake.
        studies: The studies of the mistake.
    """
    first = studies[0]
    others = (each for each in before.moves if each.point not in (PASS, first.move, first.best))
    likely = sorted((each for each in others if each.prior >= _LIKELY), key=lambda each: -each.prior)[:_MOST]
    losses = {each.point: before.moves[0].lead - each.lead for each in likely}
    losing = [point for point, loss in losses.items() if loss >= _LEAST]
    after = (play_line(first.game, first.colour, (point,))[-1] for point in losing)
    better = min(study.better.lead for study in studies)
    reports = searches.times(SECOND_LOOK_FACTOR).reports(after, ownership=True)
    for point, report in zip(losing, reports, strict=False):  # fewer if it is stopped
        line = variation_after(first.game, first.colour, point, report)
        if (loss := min(losses[point], better - line.lead)) >= _LEAST:
            values: dict[str, Value] = {"move": first.game.vertex(point), "count": round(loss)}
            yield Fact("also", line.line, frozenset((point,)), values)
