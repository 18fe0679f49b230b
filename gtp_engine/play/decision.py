"""Which move to play after a search: the best one, one of a weaker player, or a pass when the game is over."""

from dataclasses import dataclass, replace

import numpy as np

from ..game.coords import EMPTY, PASS, index_of_point, opponent
from ..search.parameters import SearchParameters
from ..search.report import SearchReport
from ..search.request import ANY_MOVE, Limits, RootMoves, SearchRequest
from .endgame import (
    EndgameStatus,
    assess_endgame,
    capturing_moves,
    costs_nothing,
    has_filled_up,
    is_better,
    is_nearly_over,
    may_be_over,
    pass_wins,
    should_pass,
    useful_move,
)
from .rank_play import choose_at
from .strength import Strength
from .worker import SearchWorker

# Chosen by judgement, like those of `endgame`.
# Near the end up to three more searches, on trees of their own, examine the ownership if the first search was short, a
# pass (the opponent to move), and captures.
_FIRST_SHARE = 0.75  # of the time for the move
_SHARE_OF_EACH = (1 - _FIRST_SHARE) / 3
_LEAST_VISITS = 64
_SECONDS_AFTER_STOP = 0.3  # for each of the two searches that assess the end although the search was stopped
_NO_HOPE = 0.05  # win rate
# With so large a share of the board open, by points whose ownership is not clear, an assessment only costs time.
_FAR_FROM_OVER, _CLEAR = 0.3, 0.5


@dataclass(frozen=True)
class PlayStyle:
    """How to choose a move.

    Attributes:
        strength: How strongly to play; None for full strength.
        cleanup: Capture all dead stones before a pass.
        deterministic: Choose without randomness.
    """

    strength: Strength | None = None
    cleanup: bool = False
    deterministic: bool = False


def choose_move(worker: SearchWorker, request: SearchRequest, style: PlayStyle) -> tuple[int, SearchReport]:
    """Searches and chooses the move of the player to move.

    The search's choice is final if the request restricts the moves at the root. It is also final if no time is left,
    unless the opponent has just passed, and if the search was stopped, unless the opponent has just passed and dead
    stones do not count as they stand.

    Args:
        worker: Searches.
        request: What to search.
        style: How to choose.

    Returns:
        The point to play, or `PASS`, and the report behind it.
    """
    game = request.game
    request = _limited(worker, request, style)
    at_once = request.limits.seconds == 0 and game.passes == 0
    looks_for_end = style.cleanup or (may_be_over(game) and not at_once)
    if request.root_moves != ANY_MOVE or not looks_for_end:
        report = _search(worker, request, style)
        choice = _pick(worker, request, report, style)
        if choice == PASS and not report.priors[-1] and report.priors.any():
            choice = report.choose(0.0, worker.random)  # the moves that are allowed are absurd, but a pass is forbidden
        return choice, report
    return _Ending(worker, request, style).choose()


def _limited(worker: SearchWorker, request: SearchRequest, style: PlayStyle) -> SearchRequest:
    """Returns the request with the visits of the strength."""
    if style.strength is None:
        return request
    visits = style.strength.visits(None if style.deterministic else worker.random)
    limits = request.limits
    return replace(request, limits=replace(limits, visits=min(visits, limits.visits or visits)), ownership=True)


def _search(worker: SearchWorker, request: SearchRequest, style: PlayStyle) -> SearchReport:
    """Searches in the tree of the game; below full strength afresh, since the tree may know too much."""
    return worker.search(request) if style.strength is None else _look(worker, request, style.deterministic)


def _look(worker: SearchWorker, request: SearchRequest, deterministic: bool) -> SearchReport:
    """Searches afresh; a single visit needs no tree."""
    alone = request.limits.visits == 1 and request.root_moves == ANY_MOVE
    return worker.glance(request, deterministic=deterministic) if alone else worker.look(request)


def _pick(worker: SearchWorker, request: SearchRequest, report: SearchReport, style: PlayStyle) -> int:
    """Returns the search's choice in this style."""
    if style.strength is not None:
        return choose_at(style.strength, request.game, report, None if style.deterministic else worker.random)
    parameters = request.parameters or SearchParameters()
    temperature = 0.0 if style.deterministic else parameters.temperature_after(len(request.game.moves))
    return report.choose(temperature, worker.random)


def opponents_view(request: SearchRequest) -> SearchRequest:
    """Returns the request for a search with the opponent of the player to move to move first."""
    game = request.game.copy()
    game.to_move = opponent(game.to_move)
    return replace(request, game=game, root_moves=ANY_MOVE)


class _Ending:
    """One move in a position where the game may be over."""

    def __init__(self, worker: SearchWorker, request: SearchRequest, style: PlayStyle) -> None:
        self._worker, self._style, self._game = worker, style, request.game
        self._request = replace(request, ownership=True)
        self._to_capture = style.cleanup or self._game.rules.stones_stand
        self._after_pass = self._game.passes > 0
        self._needs_count = self._after_pass and not self._to_capture  # the tree does not know that of a second pass
        self._share_left = 1.0  # of the time
        self._least_visits = _LEAST_VISITS
        # A network also judges by the few visits that are allowed; of rollouts these would be a few random games, which
        # say nothing.
        if request.limits.visits is not None and not worker.is_rollout(self._game):
            self._least_visits = min(_LEAST_VISITS, request.limits.visits)

    def choose(self) -> tuple[int, SearchReport]:
        """Returns the point to play, and the report behind it."""
        report = self._first_search()
        if self._is_cut_short():
            return self._pick(report), report
        moving = self._own_view(report)
        if not self._looks_over(moving):
            report = self._rest_of_search(report)
            return self._pick(report), report
        after_pass = self._look(opponents_view(self._request))
        assert after_pass.ownership is not None
        if self._is_cut_short():
            return self._pick(report), report
        status = assess_endgame(self._game, moving, -after_pass.ownership)
        # A lost count is not accepted while the search sees a way to win, nor because of an early pass. It does not
        # matter if the stones stand and the pass wins: that is what the search sees.
        has_hope = status.score < 0 and (report.winrate > _NO_HOPE or not has_filled_up(self._game))
        may_pass = pass_wins(self._game, status) or not has_hope
        if may_pass and should_pass(self._game, status, cleanup=self._style.cleanup):
            return PASS, report
        return self._play_on(report, after_pass, status), report

    def _is_cut_short(self) -> bool:
        """Returns whether the search was stopped and its choice is final.

        After a pass the tree may only answer with a move (`_no_pass`), so the end is assessed all the same.
        """
        return self._request.is_stopped and not self._needs_count

    def _look(self, request: SearchRequest) -> SearchReport:
        """Searches for the assessment of the end; after a stop only briefly, if the assessment is needed even then."""
        deterministic = self._style.deterministic
        report = _look(self._worker, replace(request, limits=self._more_limits()), deterministic)
        if self._needs_count and request.is_stopped and report.visits < self._least_visits:
            brief = Limits(self._least_visits, _SECONDS_AFTER_STOP)
            report = _look(self._worker, replace(request, limits=brief, stop=None), deterministic)
        return report

    def _pick(self, report: SearchReport) -> int:
        return _pick(self._worker, self._request, report, self._style)

    def _own_view(self, report: SearchReport) -> np.ndarray:
        """Returns the search's ownership, or that of another one with more visits if this one had too few."""
        if report.visits < self._least_visits or report.ownership is None:
            other = self._look(self._request)
            report = max(other, report, key=lambda one: -1 if one.ownership is None else one.visits)
        assert report.ownership is not None
        return report.ownership

    def _looks_over(self, ownership: np.ndarray) -> bool:
        """Returns whether a search of the position after a pass is worth its time."""
        open_points = np.count_nonzero((self._game.stones() == EMPTY) & (np.abs(ownership) < _CLEAR))
        if not self._after_pass and open_points > _FAR_FROM_OVER * self._game.area:
            return False
        status = assess_endgame(self._game, ownership, ownership)
        return is_nearly_over(self._game, status) or should_pass(self._game, status, cleanup=self._style.cleanup)

    def _first_search(self) -> SearchReport:
        """Searches, but leaves a share of the time for the searches that may follow."""
        return self._search(self._share_of_time(_FIRST_SHARE))

    def _search(self, limits: Limits) -> SearchReport:
        request = replace(self._request, limits=limits, root_moves=self._no_pass())
        return _search(self._worker, request, self._style)

    def _rest_of_search(self, report: SearchReport) -> SearchReport:
        """Searches for the time that was left; at a rank a new search would know less than the first one."""
        limits = self._request.limits
        if self._style.strength is not None:
            return report
        if limits.seconds is None or (limits.visits is not None and report.visits >= limits.visits):
            return report
        return self._search(self._share_of_time(self._share_left))

    def _no_pass(self) -> RootMoves:
        """Returns the moves that the tree may consider.

        After a pass the tree would end the game with a second one and count dead stones as alive. If the rules do not
        count them so, the tree must not evaluate a pass.
        """
        return RootMoves(avoid=((self._game.to_move, PASS, 1),)) if self._needs_count else ANY_MOVE

    def _play_on(self, report: SearchReport, after_pass: SearchReport, status: EndgameStatus) -> int:
        """Returns the search's choice, unless it passes too early or makes a needless move that rollouts miss.

        A network does: its choice stands, except after a pass, since the tree does not know the count that follows.
        """
        is_reliable = not self._worker.is_rollout(self._game)
        if status.open and not report.moves:
            limited = self._with_open_points_only(report, status)
            # Among many open points each may be less probable than a pass, and all of them together more so.
            is_split = report.priors[:-1].max() < report.priors[-1] < limited.priors.sum()
            is_ranked = self._style.strength is not None
            if self._after_pass or not is_reliable or (is_ranked and is_split):
                report = limited
        choice = self._pick(report)
        if choice in status.open or (is_reliable and choice != PASS and not self._after_pass):
            return choice
        useful = None if is_reliable else useful_move(report, status)
        if useful is not None:
            return useful.point
        if self._to_capture and status.prisoners_to_take:
            return self._capture(status)
        if is_reliable and not self._after_pass:
            return choice
        if not report.moves:  # with one visit nothing is known about a move that is not open
            return PASS
        if self._needs_count:
            gains = status.score <= 0 and is_better(report.moves[0], status.score, is_reliable=is_reliable)
        else:
            gains = not costs_nothing(report, after_pass)
        return choice if gains else PASS

    def _with_open_points_only(self, report: SearchReport, status: EndgameStatus) -> SearchReport:
        """Returns an evaluation whose policy is limited to open points."""
        priors = np.zeros_like(report.priors)
        indices = [index_of_point(point, self._game.width, self._game.height) for point in status.open]
        priors[indices] = report.priors[indices]
        return replace(report, priors=priors)

    def _capture(self, status: EndgameStatus) -> int:
        """Returns the best move that captures dead stones or prepares it; a pass if there is none."""
        moves = capturing_moves(self._game, status)
        if not moves:
            return PASS
        root_moves = RootMoves(allow=tuple((self._game.to_move, point, 1) for point in moves))
        request = replace(self._request, limits=self._more_limits(), root_moves=root_moves)
        found = self._worker.look(request)
        return found.choose(0.0, self._worker.random)  # by the priors, if one visit is all

    def _more_limits(self) -> Limits:
        """Returns the limits of another search."""
        limits = self._share_of_time(_SHARE_OF_EACH)
        if limits.seconds == 0:  # without any time left a few visits remain: a wrong pass would be worse
            return Limits(self._least_visits)
        return limits if limits.visits is None else replace(limits, visits=max(limits.visits, self._least_visits))

    def _share_of_time(self, share: float) -> Limits:
        """Returns the limits of a search that has a share of the time for the move."""
        limits = self._request.limits
        self._share_left -= share
        return limits if limits.seconds is None else replace(limits, seconds=limits.seconds * share)
