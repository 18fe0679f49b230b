"""The reports of positions that have been searched, for further reviews of the same game.

`why`, the lesson and the review of a game search the same positions. What has told of a mistake is not searched again:
else it would have another figure each time, for nothing but chance. Only what asks for much longer searches looks anew.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..go.game import Game
from ..search.report import SearchReport
from ..search.request import SearchRequest

LONGEST = 4  # times as many visits as in the first look: the later searches of a review with time left (`budget`)


class KnownReports:
    """The reports of searches, by their positions and by how they were searched.

    Attributes:
        spared: The visits that were asked for and did not have to be made.
        told: Why moves are mistakes, by how they were searched (`Reviewer`).
    """

    def __init__(self) -> None:
        self.spared = 0
        self.told: dict[Hashable, tuple[Any, ...]] = {}
        self._found = defaultdict[Hashable, list[SearchReport]](list)

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
                position = how, position_key(request.game)
                waiting.append((request, position, self._suitable(position, request)))
                if waiting[-1][2] is None:
                    yield request

        def known() -> Iterator[SearchReport]:
            while waiting and (report := waiting[0][2]) is not None:
                self.spared += waiting.popleft()[0].limits.visits or 0
                yield report

        for report in search(unknown()):
            yield from known()
            _, position, _ = waiting.popleft()
            self._found[position].append(report)
            yield report
        yield from known()

    def _suitable(self, position: Hashable, request: SearchRequest) -> SearchReport | None:
        """Returns the longest search of a position that has what is asked for, and only that; None without any."""
        suitable = (report for report in self._found[position] if _has_owners(report, request))
        longest = max(suitable, key=lambda report: report.visits, default=None)
        if longest is None or LONGEST * longest.visits < (request.limits.visits or 0):
            return None
        return longest if request.ownership else replace(longest, ownership=None)


def _has_owners(report: SearchReport, request: SearchRequest) -> bool:
    """Whether a report has the owners of the points that a request asks for."""
    has_moves = all(move.ownership is not None for move in report.moves)
    return (report.ownership is not None or not request.ownership) and (has_moves or not request.moves_ownership)


def position_key(game: Game) -> Hashable:
    """Returns what is the same of games that have come to the same position by the same moves, and of no others."""
    size, earlier = (game.width, game.height), (game.first_captures, game.handicap)  # before stones were set up
    return size, earlier, game.rules, game.komi, frozenset(game.setup_stones), tuple(game.moves), game.to_move
