"""The reports of positions that have been searched, for further reviews of the same game.

`why`, the lesson and the review of a game search the same positions. What has told of a mistake is not searched again:
else it would have another figure each time, for nothing but chance. Only a review looks for longer at what `why` or the
lesson has told by fewer visits than its own. Other positions are searched again, but only for much longer.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace

from ..go.game import Game
from ..search.report import SearchReport
from ..search.request import SearchRequest

# Of the visits that are asked for: with the time that is left a review searches up to four times as long as usual.
_ENOUGH = 0.25


class KnownReports:
    """The reports of searches, by their positions and by how they were searched.

    Attributes:
        spared: The visits that were asked for and did not have to be made.
        is_outdone: Whether a review has looked for longer at something that `why` or the lesson had told.
    """

    def __init__(self) -> None:
        self.spared = 0
        self.is_outdone = False
        self._found = defaultdict[Hashable, list[SearchReport]](list)
        self._told = defaultdict[Hashable, list[SearchReport]](list)  # by `why` and the lesson
        self._is_short = False

    def for_lesson(self) -> "KnownReports":
        """Returns the same reports for `why` or the lesson, which add only what they tell of mistakes."""
        shared = KnownReports()
        shared._found, shared._told, shared._is_short = self._found, self._told, True
        return shared

    def complete(
        self,
        requests: Iterable[SearchRequest],
        how: Hashable,
        search: Callable[[Iterable[SearchRequest]], Iterable[SearchReport]],
    ) -> Iterator[SearchReport]:
        """Yields the reports of the requests in order, as far as `search` yields those that are not known.

        Args:
            requests: What to search, with a number of visits.
            how: By what it is searched.
            search: Searches what is not known; it takes requests when their searches begin.
        """
        waiting = deque[tuple[SearchRequest, Hashable, SearchReport | None]]()

        def unknown() -> Iterator[SearchRequest]:
            for request in requests:
                position = how, _position(request.game)
                waiting.append((request, position, self._suitable(position, request)))
                if waiting[-1][2] is None:
                    yield request

        def known() -> Iterator[SearchReport]:
            while waiting and (report := waiting[0][2]) is not None:
                self.spared += waiting.popleft()[0].limits.visits or 0
                yield report

        for report in search(unknown()):
            yield from known()
            request, position, _ = waiting.popleft()
            if request.ownership or not self._is_short:
                (self._told if self._is_short else self._found)[position].append(report)
            yield report
        yield from known()

    def _suitable(self, position: Hashable, request: SearchRequest) -> SearchReport | None:
        """Returns a search of a position that has what is asked for, and only that; None without any.

        With owners, for which only the second look and the reasons ask, it is the one that has told of a mistake
        before; without them the longest.
        """
        asked = request.limits.visits or 0
        told = [report for report in self._told[position] if _has_owners(report, request)]
        long_enough = [report for report in told if self._is_short or report.visits >= asked]
        suitable = [*(report for report in self._found[position] if _has_owners(report, request)), *long_enough]
        if request.ownership:
            self.is_outdone |= bool(told and not suitable)
            return next(iter(suitable), None)
        longest = max(suitable, key=lambda report: report.visits, default=None)
        if longest is None or longest.visits < _ENOUGH * asked:
            return None
        return replace(longest, ownership=None)


def _has_owners(report: SearchReport, request: SearchRequest) -> bool:
    """Whether a report has the owners of the points that a request asks for."""
    has_moves = all(move.ownership is not None for move in report.moves)
    return (report.ownership is not None or not request.ownership) and (has_moves or not request.moves_ownership)


def _position(game: Game) -> Hashable:
    size = game.width, game.height
    return size, game.rules, game.komi, frozenset(game.setup_stones), tuple(game.moves), game.to_move
