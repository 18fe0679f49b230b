"""What to play, of what a search found: the best move, one of the level's, or a pass where the game is over."""

from dataclasses import dataclass, replace

import numpy as np

from ..game.coords import PASS
from .ending import (
    Outlook,
    capturing_moves,
    costs_nothing,
    has_filled_up,
    is_better,
    is_nearly_over,
    judge,
    may_be_over,
    should_pass,
    useful_move,
)
from .levels import Level, choose_at
from .report import SearchReport
from .search import Limits, RootMoves
from .thinker import Request, Thinker

# Near the end up to two more searches, beside the tree, look into the opponent's view and into captures.
_MORE_SEARCHES = 2
_SHARE_OF_EACH = 0.125  # of the time
_FIRST_SHARE = 1 - _MORE_SEARCHES * _SHARE_OF_EACH
_LEAST_VISITS = 64
_NO_HOPE = 0.05


@dataclass(frozen=True)
class Manner:
    """How to choose: at a level, after capturing all dead stones, without randomness (`calm`)."""

    level: Level = "max"
    cleanup: bool = False
    calm: bool = False


def choose_move(thinker: Thinker, request: Request, manner: Manner) -> tuple[int, SearchReport]:
    """The point to play for the player to move, `PASS` among them, and the search behind it.

    Where the caller restricts the moves at the root, the search's choice is taken as it is, and so it is with no time
    left, unless the opponent's pass asks for an answer.
    """
    game, limits = request.game, request.limits
    at_once = limits is not None and limits.seconds == 0 and game.passes == 0
    looks_for_end = manner.cleanup or (may_be_over(game) and not at_once)
    if request.root_moves is not None or not looks_for_end:
        report = thinker.search(request)
        return _pick(thinker, report, manner), report
    return _Ending(thinker, request, manner).choose()


def _pick(thinker: Thinker, report: SearchReport, manner: Manner) -> int:
    if not report.moves:  # stopped at once, or one visit allowed
        return thinker.choose(report, 0.0 if manner.calm else None)
    if manner.calm:
        return report.moves[0].point
    if manner.level == "max":
        return thinker.choose(report)
    return choose_at(manner.level, report, thinker.random)


class _Ending:
    """One move in a position where the game may be over."""

    def __init__(self, thinker: Thinker, request: Request, manner: Manner) -> None:
        self._thinker, self._manner, self._game = thinker, manner, request.game
        self._request = replace(request, ownership=True)
        self._to_capture = manner.cleanup or self._game.rules.stones_stand
        self._after_pass = self._game.passes > 0

    def choose(self) -> tuple[int, SearchReport]:
        """The point to play, and the search behind it."""
        report = self._first_search()
        if self._request.stop.is_set():
            return self._pick(report), report
        moving = self._own_view(report)
        if not self._looks_over(moving):
            report = self._rest_of_search(report)
            return self._pick(report), report
        after_pass = self._thinker.opponents_view(replace(self._request, limits=self._more_limits()))
        assert after_pass.ownership is not None
        if self._request.stop.is_set():
            return self._pick(report), report
        outlook = judge(self._game, moving, -after_pass.ownership)
        # A lost count is not accepted while the search sees a way to win, nor because of an early pass.
        has_hope = outlook.score < 0 and (report.winrate > _NO_HOPE or not has_filled_up(self._game))
        if not has_hope and should_pass(self._game, outlook, cleanup=self._manner.cleanup):
            return PASS, report
        return self._play_on(report, after_pass, outlook), report

    def _pick(self, report: SearchReport) -> int:
        return _pick(self._thinker, report, self._manner)

    def _own_view(self, report: SearchReport) -> np.ndarray:
        """The ownership that the search found; a quick move's search says too little."""
        if report.visits < _LEAST_VISITS or report.ownership is None:
            report = self._thinker.look(replace(self._request, limits=self._more_limits()))
        assert report.ownership is not None
        return report.ownership

    def _looks_over(self, ownership: np.ndarray) -> bool:
        """Whether it is worth the time to see what the opponent would do after a pass."""
        outlook = judge(self._game, ownership, ownership)
        return is_nearly_over(self._game, outlook) or should_pass(self._game, outlook, cleanup=self._manner.cleanup)

    def _first_search(self) -> SearchReport:
        """Keeps a share of the time for what may have to be found out after it."""
        limits = self._request.limits
        if limits is not None and limits.seconds is not None:
            limits = replace(limits, seconds=limits.seconds * _FIRST_SHARE)
        return self._thinker.search(replace(self._request, limits=limits, root_moves=self._no_pass()))

    def _rest_of_search(self, report: SearchReport) -> SearchReport:
        limits = self._request.limits
        if limits is None or limits.seconds is None or (limits.visits is not None and report.visits >= limits.visits):
            return report
        limits = replace(limits, seconds=limits.seconds * (1 - _FIRST_SHARE))
        return self._thinker.search(replace(self._request, limits=limits, root_moves=self._no_pass()))

    def _no_pass(self) -> RootMoves | None:
        """After a pass the tree would end with a second one and count dead stones as living: a pass is not for it to
        judge where they do not."""
        if not self._after_pass or self._to_capture:
            return None
        return RootMoves(avoid=((self._game.to_move, PASS, 1),))

    def _play_on(self, report: SearchReport, after_pass: SearchReport, outlook: Outlook) -> int:
        """The choice, unless it is a pass too early or a move too many, where playouts cannot tell.

        A network can: its choice stands but for the count after a pass, which the tree does not know.
        """
        choice = self._pick(report)
        is_sure = not self._thinker.plays_out(self._game)
        if choice in outlook.open or (is_sure and choice != PASS and not self._after_pass):
            return choice
        useful = None if is_sure else useful_move(report, outlook)
        if useful is not None:
            return useful.point
        if self._to_capture and outlook.prisoners_to_take:
            return self._capture(outlook)
        if is_sure and not self._after_pass:
            return choice
        if not report.moves:  # one visit was allowed: nothing is known of a move that is not open
            return PASS
        if self._after_pass and not self._to_capture:
            gains = outlook.score <= 0 and is_better(report.moves[0], outlook.score, is_sure=is_sure)
        else:
            gains = not costs_nothing(report, after_pass)
        return choice if gains else PASS

    def _capture(self, outlook: Outlook) -> int:
        moves = capturing_moves(self._game, outlook)
        if not moves:
            return PASS
        root_moves = RootMoves(allow=tuple((self._game.to_move, point, 1) for point in moves))
        request = replace(self._request, limits=self._more_limits(), root_moves=root_moves)
        found = self._thinker.look(request)
        return found.moves[0].point if found.moves else min(moves)

    def _more_limits(self) -> Limits:
        limits = self._request.limits or Limits()
        # Without any time left they are bounded by visits: a wrong pass would be worse.
        seconds = limits.seconds * _SHARE_OF_EACH if limits.seconds else None
        visits = max(limits.visits, _LEAST_VISITS) if limits.visits is not None else None
        return Limits(visits, seconds)
