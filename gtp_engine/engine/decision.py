"""Which move to play after a search: the best one, one of a weaker player, a pass when the game is over, or none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..go.coords import BLACK, PASS, index_of_point, opponent
from ..go.game import Game
from ..go.regions import cells_of, find_liberties, points_of
from ..search.parameters import SearchParameters
from ..search.report import MoveReport, SearchReport
from ..search.request import ANY_MOVE, Limits, RootMoves, SearchRequest
from .rank_play import choose_at
from .ranks import Strength
from .status import count_played, find_dead, handicap_of, has_filled_up, in_their_own_turn
from .worker import SearchWorker

# How long each of the two looks takes at most: a share of the time for the move, and seconds. Chosen by judgement, so
# that the search hardly loses time. Without any left a look still takes some: two single evaluations differ by too much
# to tell what a pass costs, and a move in its place may fill an eye.
_SHARE_OF_LOOK, _SECONDS_OF_LOOK, _LEAST_SECONDS_OF_LOOK = 0.125, 0.15, 0.05
# The visits of each look: the smallest bundled network needs that many to see a group die. Rough evaluations get
# `least_visits` times as many.
_LOOK_VISITS = 32
# What a pass may cost, in points and win rate, and still be preferred to a move. Half a point is KataGo's bonus for
# passes (`rootEndingBonusPoints`); a neutral point is worth one. The win rate is by judgement.
_SAME_LEAD, _SAME_WINRATE = 0.5, 0.05


@dataclass(frozen=True)
class PlayStyle:
    """How to choose a move."""

    strength: Strength | None = None  # how strongly to play; None for full strength
    cleanup: bool = False  # capture all dead stones before a pass
    deterministic: bool = False  # choose without randomness


def choose_move(
    worker: SearchWorker, request: SearchRequest, style: PlayStyle, judge: SearchWorker | None = None
) -> tuple[int, SearchReport]:
    """Searches and chooses the move of the player to move.

    The search's choice is final if the request restricts the moves at the root. It is also final if no time is left,
    unless the opponent has just passed, and if the search was stopped, unless the opponent has just passed and dead
    stones do not count as they stand.

    Args:
        worker: Searches for the move.
        judge: Searches whether a pass gives points away; None for `worker`.

    Returns:
        The point to play, or `PASS`, and the report behind it.
    """
    return _Choice(worker, request, style, judge).choose()


class _Choice:
    """One move."""

    def __init__(
        self, worker: SearchWorker, request: SearchRequest, style: PlayStyle, judge: SearchWorker | None = None
    ) -> None:
        self._worker, self._style, self._game = worker, style, request.game
        self._judge = judge or worker
        self._request = request
        if style.strength is not None:
            visits = style.strength.visits(None if style.deterministic else worker.random)
            limits = replace(request.limits, visits=min(visits, request.limits.visits or visits))
            self._request = replace(request, limits=limits)
        self._has_filled_up = has_filled_up(self._game)
        self._passed = self._game.after(self._game.to_move, PASS)

    @property
    def _to_capture(self) -> bool:
        """Whether dead stones count unless they are captured."""
        return self._style.cleanup or self._game.rules.stones_stand

    @property
    def _draws(self) -> bool:
        """Whether the player draws its moves instead of searching, as weaker ranks do."""
        return self._style.strength is not None and self._request.limits.visits == 1

    @property
    def _needs_count(self) -> bool:
        """Whether a pass ends the game with a count that the search does not know."""
        return self._passed.is_over and not self._to_capture

    @cached_property
    def _dead(self) -> frozenset[int]:
        """The stones that the judge takes for dead in the position; none before a pass is likely."""
        return self._judge.with_dead(self._request).dead

    def choose(self) -> tuple[int, SearchReport]:
        """Returns the point to play, and the report behind it."""
        may_be_won = self._game.passes > 0 and self._game.rules.stones_stand
        may_be_over = self._has_filled_up or self._style.cleanup or may_be_won
        at_once = self._request.limits.seconds == 0 and not self._game.passes
        if self._request.root_moves == ANY_MOVE and may_be_over and not at_once:
            return self._choose_at_the_end()
        report = self._search(self._request)
        return self._pick(report), report

    def _choose_at_the_end(self) -> tuple[int, SearchReport]:
        """Chooses when the game may be over: a pass that costs next to nothing is preferred to any move."""
        self._request = asked = self._request_at_the_end()
        if asked.limits.seconds == 0:  # there is only the tree of earlier searches, which a restriction would clear
            asked = replace(asked, root_moves=ANY_MOVE)
        report = self._search(asked)
        choice = self._pick(report)
        # After a pass the search may only have answered with a move, so the end is judged though it was stopped.
        is_stopped = self._request.is_stopped and not self._needs_count
        if is_stopped or not (choice == PASS or self._may_be_over(report, choice)):
            return choice, report
        before = report
        is_for_equals = self._request.parameters is None or not self._request.parameters.playout_doubling_advantage
        if self._judge is not self._worker or report.visits < self._look_visits or not is_for_equals:
            before = self._look(replace(self._request, dead=self._dead))
        after = self._look(self._judge.with_dead(_with_opponent_to_move(self._request)))
        lead, winrate = self._after_pass(before, after)
        if self._is_pass_free(before, lead, winrate):
            choice = self._capture(report, before, after) if self._to_capture else PASS
        elif choice == PASS:
            choice = self._instead_of_pass(report, before, lead)
        if choice == PASS and self._needs_count:
            report = _counted(report, lead, winrate)
        return choice, report

    def _may_be_over(self, report: SearchReport, choice: int) -> bool:
        """Returns whether to find out what a pass in the place of this move costs.

        A player that does not search sees less of the end than a judge does. Under area rules it plays on while
        anything is left to try: that costs nothing, and the opponent may not see the end either. The opponent's pass
        makes no difference unless stones count as they stand.
        """
        rules, passes = self._game.rules, self._game.passes > 0
        if self._draws and rules.scoring == "AREA":
            return passes and rules.stones_stand
        return passes or _is_pass_as_good(report, choice)

    def _after_pass(self, before: SearchReport, after: SearchReport) -> tuple[float, float]:
        """Returns the player's lead and win rate after a pass: by the count if it ends the game, else by a search.

        Args:
            before: The position, with ownership.
            after: The same with the opponent to move.
        """
        if not self._passed.is_over:
            return -after.lead, 1 - after.winrate
        count = self._count(before, after)
        return (count if self._needs_count else -after.lead), 1.0 if count > 0 else 0.5 if count == 0 else 0.0

    def _is_pass_free(self, before: SearchReport, lead: float, winrate: float) -> bool:
        """Returns whether a pass with this lead and win rate costs next to nothing, or wins at once."""
        wins_at_once = self._passed.is_over and self._game.rules.stones_stand and winrate == 1
        return wins_at_once or _is_as_good(lead, winrate, before)

    def _count(self, before: SearchReport, after: SearchReport) -> float:
        """Returns the lead of the player to move if the game ends with a pass."""
        dead = set[int]() if self._to_capture else find_dead(self._passed, lambda: np.mean(_owners(before, after), 0))
        points = self._passed.score(dead).points
        return points if self._game.to_move == BLACK else -points

    def _instead_of_pass(self, report: SearchReport, before: SearchReport, lead: float) -> int:
        """Returns the move in the place of a pass that would lose points: one that gains some, if there is any.

        Args:
            report: The player's search.
            before: The judge's.
            lead: The player's lead after the pass.
        """
        gaining = frozenset(move.point for move in before.moves if move.point != PASS and move.lead > lead + _SAME_LEAD)
        limited = self._limited(report, gaining)
        choice = self._pick(limited if limited.priors.any() else without_pass(report))
        others = (move.point for move in before.moves if move.point != PASS)
        return next(others, PASS) if choice == PASS else choice

    def _capture(self, report: SearchReport, before: SearchReport, after: SearchReport) -> int:
        """Returns a move that captures dead stones of the opponent, or prepares it; a pass if there are none."""
        if not self._style.cleanup and self._passed.is_over and self._count(before, after) > 0:
            return PASS
        dead = find_dead(self._game, lambda: in_their_own_turn(self._game, *_owners(before, after)))
        prisoners = frozenset(point for point in dead if self._game.stone_at(point) != self._game.to_move)
        if not prisoners:
            return PASS
        return self._limited(report, capturing_moves(self._game, prisoners)).choose(0.0, self._worker.random)

    def _request_at_the_end(self) -> SearchRequest:
        """Returns the request with the dead stones, and without a pass whose count the search does not know.

        Time is kept for the two looks, except at full strength before a pass is likely.
        """
        limits, root_moves = self._request.limits, ANY_MOVE
        if limits.seconds and (self._style.strength or self._judge.may_pass(self._request)):
            limits = replace(limits, seconds=limits.seconds - 2 * self._seconds_of_look())
        if self._needs_count and not self._draws:
            root_moves = RootMoves(avoid=((self._game.to_move, PASS, 1),))
        request = replace(self._request, limits=limits, root_moves=root_moves, ownership=True)
        return request if self._style.cleanup or self._style.strength else replace(request, dead=self._dead)

    def _search(self, request: SearchRequest) -> SearchReport:
        """Searches in the tree of the game; below full strength afresh, since the tree may know too much."""
        if self._style.strength is None:
            return self._worker.search(request)
        if request.limits.visits == 1 and request.root_moves == ANY_MOVE:  # which needs no tree
            return self._worker.glance(request, deterministic=self._style.deterministic)
        return self._worker.look(request)

    def _pick(self, report: SearchReport) -> int:
        """Returns the search's choice in this style, which is no pass before the board has filled up."""
        style, random = self._style, self._worker.random
        is_forbidden = self._request.root_moves != ANY_MOVE and not report.priors[-1]
        if not self._has_filled_up:
            report, is_forbidden = without_pass(report), True
        if style.strength is not None:
            choice = choose_at(style.strength, self._game, report, None if style.deterministic else random)
            if choice == PASS and is_forbidden:
                choice = report.choose(0.0, random)  # everything else is absurd
            return choice
        parameters = self._request.parameters or SearchParameters()
        temperature = parameters.temperature_after(len(self._game.moves), self._game.area)
        return report.choose(0.0 if style.deterministic else temperature, random)

    def _look(self, request: SearchRequest) -> SearchReport:
        """Searches a position shortly with the judge, even without time left or after a stop."""
        is_timed = request.limits.seconds is not None or request.is_stopped
        seconds = max(self._seconds_of_look(), _LEAST_SECONDS_OF_LOOK) if is_timed else None
        limits = Limits(self._look_visits, seconds)
        return self._judge.look(replace(request, limits=limits, stop=None))

    @property
    def _look_visits(self) -> int:
        return _LOOK_VISITS * self._judge.evaluator_on(self._game.width, self._game.height).least_visits

    def _seconds_of_look(self) -> float:
        seconds = self._request.limits.seconds
        return _SECONDS_OF_LOOK if seconds is None else min(_SECONDS_OF_LOOK, _SHARE_OF_LOOK * seconds)

    def _limited(self, report: SearchReport, points: frozenset[int]) -> SearchReport:
        """Returns a report with moves on these points only."""
        priors = np.zeros_like(report.priors)
        indices = [index_of_point(point, self._game.width, self._game.height) for point in points]
        priors[indices] = report.priors[indices]
        return replace(report, moves=tuple(move for move in report.moves if move.point in points), priors=priors)


def _with_opponent_to_move(request: SearchRequest) -> SearchRequest:
    """Returns the request for the position in which the opponent moves, any move, and passes so far do not count."""
    game = request.game.copy()
    game.to_move = opponent(game.to_move)
    return replace(request, game=game, root_moves=ANY_MOVE)


def _owners(before: SearchReport, after: SearchReport) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Returns Black's ownership with Black and with White to move, by searches with either player to move."""
    black, white = (before, after) if before.to_move == BLACK else (after, before)
    return black.ownership_of(BLACK), white.ownership_of(BLACK)


def without_pass(report: SearchReport) -> SearchReport:
    """Returns a report as if a pass were not allowed."""
    priors = report.priors.copy()
    priors[-1] = 0
    total = priors.sum()
    moves = tuple(move for move in report.moves if move.point != PASS)
    return replace(report, moves=moves, priors=priors / total if total else priors)


def _is_pass_as_good(report: SearchReport, choice: int) -> bool:
    """Returns whether a search takes a pass for as good as a move, or without one the policy for the best move."""
    if not report.moves:
        return bool(report.priors[-1] >= report.priors.max())
    found, chosen = report.move_at(PASS), report.move_at(choice)
    return found is not None and chosen is not None and _is_as_good(found.lead, found.winrate, chosen)


def _is_as_good(lead: float, winrate: float, other: MoveReport | SearchReport) -> bool:
    """Returns whether a pass with this lead and win rate costs next to nothing in the place of a move or a search."""
    return lead >= other.lead - _SAME_LEAD and winrate >= other.winrate - _SAME_WINRATE


def capturing_moves(game: Game, prisoners: frozenset[int]) -> frozenset[int]:
    """Returns the legal moves at liberties of the opponent's dead stones, which capture them or prepare that.

    If possible they are only those that capture something or leave their own chain at least two liberties.
    """
    liberties = find_liberties(cells_of(prisoners, game.width), game.stones())
    captures = frozenset(filter(game.is_legal, points_of(liberties, game.width)))
    safe = frozenset(point for point in captures if _is_safe(game, point))
    return safe or captures


def _is_safe(game: Game, point: int) -> bool:
    """Returns whether a move captures stones or leaves its chain at least two liberties."""
    me = game.to_move
    after = game.after(me, point)
    chain = after.chain(point)  # None after suicide
    return after.captures(me) > game.captures(me) or (chain is not None and len(chain.liberties) > 1)


# When to resign, after several hopeless turns in a row. Chosen by judgement.
# The share of the board played before which nobody resigns: 90 moves on 19x19, 21 on 9x9.
_EARLIEST_RESIGNATION = 0.25
# A handicap of n stones is a bad start by intention: this share of the board longer, n times.
_HANDICAP_PATIENCE = 0.03
# With fewer visits than this, as in time trouble, the engine must be this many times as far behind. In 110 games on
# 19x19 single evaluations by b6c64-19x19 put 57 players 5 points behind three turns in a row, and 4 of them won; of the
# 35 who were 20 points behind, none did.
_FEW_VISITS, _PATIENCE_WITH_FEW = 16, 4.0
# Some 50 moves of each of ten games at a time.
_MOST_TURNS = 500


def _counted(report: SearchReport, lead: float, winrate: float) -> SearchReport:
    """Returns a report on a pass that ends the game with this count, which the search behind it does not know."""
    values: dict[str, Any] = {"winrate": winrate, "lead": lead, "score_mean": lead, "score_stdev": 0.0}
    values |= {"utility": 2 * winrate - 1, "weight": 1.0}
    others: dict[str, Any] = {"lcb": winrate, "utility_lcb": values["utility"], "prior": float(report.priors[-1])}
    others |= {"selection": 1.0, "width": report.width, "height": report.height}
    only = MoveReport(PASS, visits=1, order=0, pv=(PASS,), pv_visits=(1,), **values, **others)
    return replace(report, moves=(only,), **values)


def is_hopeless(game: Game, report: SearchReport, threshold: float, strength: Strength | None = None) -> bool:
    """Returns whether this position is a reason for the player to move to resign.

    That is so if the win rate is below `threshold`, the player is too far behind for an accident to help, enough moves
    have been played for the board's size, and the report is not rough. Accidents help weak players more: they go on for
    longer (`Strength.patience`). So does full strength after only a few visits, which may be wrong.
    """
    far_behind = -sqrt(game.area) / 4  # 5 points on 19x19, 2 on 9x9
    if strength is not None:
        far_behind *= strength.patience
    elif report.visits < _FEW_VISITS:
        far_behind *= _PATIENCE_WITH_FEW
    is_late = count_played(game) >= (_EARLIEST_RESIGNATION + _HANDICAP_PATIENCE * handicap_of(game)) * game.area
    return is_late and not report.is_rough and report.winrate < threshold and report.lead < far_behind


# A position in which a player had to move: how the game began, the moves so far, and the player.
#
# Hopeless turns are kept by their positions, not counted, because some controllers replay the whole game before each
# move, and may play several games in turn: gtp2ogs lends each of its bots to a game for one move.
Turn: TypeAlias = tuple[object, ...]


def turn_of(game: Game, colour: int, number: int | None = None) -> Turn:
    """Returns a player's turn after the first moves of a game, by default after all of them."""
    start = game.width, game.height, game.rules, game.komi, tuple(game.setup_stones)
    return *start, tuple(game.moves[:number]), colour


def hopeless_row(turns: Sequence[Turn], game: Game, colour: int) -> int:
    """Returns how many of a player's last turns are among these, one after the other, without the present one."""
    own = [number for number, move in enumerate(game.moves) if move.colour == colour]
    return sum(1 for _ in takewhile(lambda number: turn_of(game, colour, number) in turns, reversed(own)))


def with_turn(turns: Sequence[Turn], turn: Turn, *, hopeless: bool) -> tuple[Turn, ...]:
    """Returns the latest hopeless turns, the last of them last, with this one if it is one."""
    others = [other for other in turns if other != turn]
    return tuple([*others, turn][-_MOST_TURNS:] if hopeless else others)
