"""Which move to play after a search: the best one, one of a weaker player, a pass when the game is over, or none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import sqrt
from typing import TypeAlias

import numpy as np

from ..go.coords import BLACK, PASS, index_of_point, opponent
from ..go.game import Game
from ..go.regions import cells_of, find_liberties, find_regions, points_of
from ..search.parameters import SearchParameters
from ..search.report import MoveReport, SearchReport
from ..search.request import ANY_MOVE, Limits, RootMoves, SearchRequest
from .rank_play import choose_at
from .ranks import Strength
from .status import Status, count_played, has_filled_up, status_of
from .worker import SearchWorker

# How long each of the two looks takes at most: a share of the time for the move, and seconds. Chosen by judgement, so
# that the search hardly loses time.
_SHARE_OF_LOOK, _SECONDS_OF_LOOK = 0.125, 0.15
# The visits of a look: with fewer the ownership that rollouts find is noise. Chosen by judgement.
_LEAST_VISITS = 64
# The visits of each of the two searches that judge a pass. In ten positions, eight of them at the end of games on
# 19x19, 8, 16 and 32 visits of the network that judges found the same.
_JUDGING_VISITS = 16
# What a move may lose, in points and win rate, and still count as good as another: rollouts are noisy. Chosen by
# judgement. In 12 games of rollouts against GNU Go a pass whatever it costs gave away 262 points and a game.
_SAME_LEAD, _SAME_WINRATE = 1.0, 0.05
# The win rate down to which a lost count is not accepted. If it always was, a network lost one of 40 games against GNU
# Go under Japanese rules that it won otherwise, at 58 %; of 40 under Chinese rules none.
_NO_HOPE = 0.05


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
            self._request = replace(request, limits=limits, ownership=True)
        self._after_pass, self._has_filled_up = self._game.passes > 0, has_filled_up(self._game)
        self._is_rollout = worker.is_rollout(self._game)

    @property
    def _to_capture(self) -> bool:
        """Whether dead stones count unless they are captured."""
        return self._style.cleanup or self._game.rules.stones_stand

    @property
    def _needs_count(self) -> bool:
        """Whether a pass ends the game with a count that the tree does not know."""
        return self._after_pass and not self._to_capture

    def choose(self) -> tuple[int, SearchReport]:
        """Returns the point to play, and the report behind it."""
        may_be_over = self._after_pass or self._has_filled_up
        at_once = self._request.limits.seconds == 0 and not self._after_pass
        if self._request.root_moves == ANY_MOVE and (self._style.cleanup or (may_be_over and not at_once)):
            choice, report = self._choose_at_the_end()
            needs_judge = choice == PASS and not (self._style.cleanup or self._is_rollout or self._request.is_stopped)
            return self._judged_pass(report) if needs_judge else choice, report
        report = self._search(self._request)
        return self._pick(report), report

    def _choose_at_the_end(self) -> tuple[int, SearchReport]:
        """Chooses in a position where the game may be over.

        A pass needs both players' ownership, with either to move first; most moves are clear without the second one.
        Of 40 games of a network and 12 of rollouts against GNU Go on 9x9, 3 would have been lost without it.
        """
        self._request = replace(self._request, ownership=True)
        report = self._search(self._request_at_the_end())
        # After a pass the tree may only answer with a move, so the end is judged though it was stopped.
        if self._request.is_stopped and not self._needs_count:
            return self._pick(report), report
        moving = report.ownership
        if moving is None or not moving.any() or (self._is_rollout and report.visits < _LEAST_VISITS):
            # There is none, or it is of too few rollouts: a further look may know more.
            looks = self._look(self._request, self._worker), report
            moving = max(looks, key=lambda one: -1 if one.ownership is None else one.visits).ownership
        assert moving is not None
        choice = self._pick(report)
        status = status_of(self._game, moving, moving)
        if choice in status.undecided and not self._should_pass(status, report):
            return choice, report
        after_pass = self._look(_with_opponent_to_move(self._request), self._worker)
        if self._request.is_stopped and not self._needs_count:
            return choice, report
        assert after_pass.ownership is not None
        status = status_of(self._game, moving, -after_pass.ownership)
        if self._should_pass(status, report):
            return PASS, report
        return self._play_on(choice, report, after_pass, status) if self._has_filled_up else choice, report

    def _judged_pass(self, report: SearchReport) -> int:
        """Returns a pass, or a move in its place if a judge finds that the pass gives points away.

        The player's own judgement may be that of a weak network, or of single evaluations. The judge searches with
        either player to move, so that what it misjudges in the whole position does not matter.
        """
        if self._after_pass and self._to_capture and lead_as_it_stands(self._game) > 0:
            return PASS
        request = self._request_at_the_end()
        if self._style.strength is not None:
            request = replace(request, limits=replace(request.limits, visits=_JUDGING_VISITS))
        opponents = self._judge.with_dead(_with_opponent_to_move(request))
        both = replace(request, dead=opponents.dead), opponents
        before, after = (self._look(each, self._judge, _JUDGING_VISITS) for each in both)
        if not before.moves or before.moves[0].point == PASS or costs_nothing(before, after):
            return PASS
        assert before.ownership is not None and after.ownership is not None
        status = status_of(self._game, before.ownership, -after.ownership)
        open_points = self._limited(report, status.undecided)
        choice = self._pick(open_points if open_points.priors.any() else without_pass(report))
        return before.moves[0].point if choice == PASS else choice

    def _should_pass(self, status: Status, report: SearchReport) -> bool:
        return should_pass(self._game, status, report.winrate, cleanup=self._style.cleanup)

    def _request_at_the_end(self) -> SearchRequest:
        """Returns the request without a second pass, which would end the game with dead stones counted as alive."""
        limits, root_moves = self._request.limits, ANY_MOVE
        if limits.seconds:
            limits = replace(limits, seconds=limits.seconds - 2 * self._seconds_of_look())
        if self._needs_count:
            root_moves = RootMoves(avoid=((self._game.to_move, PASS, 1),))
        return replace(self._request, limits=limits, root_moves=root_moves)

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
        temperature = 0.0 if style.deterministic else parameters.temperature_after(len(self._game.moves))
        return report.choose(temperature, random)

    def _look(self, request: SearchRequest, worker: SearchWorker, most: int = _LEAST_VISITS) -> SearchReport:
        """Searches a position shortly, even without time left or after a stop; a network's evaluation may be enough."""
        visits = most if self._is_rollout else min(most, request.limits.visits or most)
        if visits == 1:
            return worker.glance(request, deterministic=self._style.deterministic)
        is_timed = request.limits.seconds is not None or request.is_stopped
        limits = Limits(visits, self._seconds_of_look() if is_timed else None)
        return worker.look(replace(request, limits=limits, stop=None))

    def _seconds_of_look(self) -> float:
        return min(_SECONDS_OF_LOOK, _SHARE_OF_LOOK * (self._request.limits.seconds or np.inf))

    def _play_on(self, choice: int, report: SearchReport, after_pass: SearchReport, status: Status) -> int:
        """Returns the search's choice, unless it passes too early or makes a needless move.

        A network makes none, except after a pass, since the tree does not know the count that follows.
        """
        needs_reason = self._is_rollout or self._after_pass
        if choice in status.undecided or not (needs_reason or choice == PASS):
            return choice
        if report.moves:
            useful = useful_move(report, status) if self._is_rollout else None
            instead = PASS if useful is None else useful.point
        else:
            limited = self._limited(report, status.undecided)
            # Among many undecided points each may be less probable than a pass, and all of them together more so.
            is_split = limited.priors.sum() > report.priors[-1]
            instead = self._pick(limited) if status.undecided and (needs_reason or is_split) else PASS
        if instead != PASS:
            return instead
        if self._to_capture and status.prisoners:
            return self._limited(report, capturing_moves(self._game, status.prisoners)).choose(0.0, self._worker.random)
        # With one visit nothing is known about a move where nothing is undecided.
        if not report.moves or (self._is_rollout and not self._needs_count and costs_nothing(report, after_pass)):
            return PASS
        if not self._needs_count:
            return choice
        # The best move has to promise more points than the count after a pass. Otherwise a player who is behind fills
        # its own territory, up to the last eye, for as long as the search doubts a little that the game is lost.
        least = status.score + (_SAME_LEAD if self._is_rollout else _SAME_LEAD / 2)
        return choice if has_hope(self._game, status, report.winrate) and report.moves[0].lead > least else PASS

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


def without_pass(report: SearchReport) -> SearchReport:
    """Returns a report as if a pass were not allowed."""
    priors = report.priors.copy()
    priors[-1] = 0
    total = priors.sum()
    moves = tuple(move for move in report.moves if move.point != PASS)
    return replace(report, moves=moves, priors=priors / total if total else priors)


def should_pass(game: Game, status: Status, winrate: float, *, cleanup: bool = False) -> bool:
    """Returns whether to pass, whatever move the search prefers.

    If stones count as they stand, that is when this count wins after the opponent's pass, or when nothing is left to
    play or to capture. Otherwise it is when nothing is left to play, or after the opponent's pass when the count
    without dead stones wins even if everything undecided is lost (friendly passing). A lost count is not accepted while
    the search's win rate is not too low. In a cleanup no dead stones of the opponent may be left to capture.
    """
    to_capture = cleanup or game.rules.stones_stand
    if game.passes > 0 and not cleanup:
        lead = status.worst
        if to_capture:
            lead = lead_as_it_stands(game)
        if lead > 0:
            return True
    return not (status.undecided or (to_capture and status.prisoners) or has_hope(game, status, winrate))


def lead_as_it_stands(game: Game) -> float:
    """Returns the lead of the player to move by the count of all stones on the board."""
    return game.score().points if game.to_move == BLACK else -game.score().points


def has_hope(game: Game, status: Status, winrate: float) -> bool:
    """Returns whether a lost count is not to be accepted: the search sees a way to win, or a pass came early."""
    return status.score < 0 and (winrate > _NO_HOPE or not has_filled_up(game))


def useful_move(report: SearchReport, status: Status) -> MoveReport | None:
    """Returns the best move on an undecided point if the search cannot tell it from the best of all, or else None."""

    def is_useful(move: MoveReport) -> bool:
        best = report.moves[0]
        as_good = move.lead >= best.lead - _SAME_LEAD and move.winrate >= best.winrate - _SAME_WINRATE
        return move.point in status.undecided and as_good and move.visits >= 2

    return next(filter(is_useful, report.moves), None)


def costs_nothing(before: SearchReport, after: SearchReport) -> bool:
    """Returns whether a pass loses nothing, by searches of the position and of the same with the opponent to move."""
    return -after.lead >= before.lead - _SAME_LEAD and 1 - after.winrate >= before.winrate - _SAME_WINRATE


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
    after = game.copy()
    after.play(me, point)
    if after.captures(me) > game.captures(me):
        return True
    stones = after.stones()
    for chain in find_regions(stones):
        if chain.colour == me and point in points_of(chain.cells, game.width):
            return len(find_liberties(chain.cells, stones)) >= 2
    return False  # suicide: the stone is gone


# When to resign, after several hopeless turns in a row. Chosen by judgement.
# The share of the board played before which nobody resigns: 90 moves on 19x19, 21 on 9x9.
_EARLIEST_RESIGNATION = 0.25
# A handicap of n stones is a bad start by intention: this share of the board longer, n times.
_HANDICAP_PATIENCE = 0.03
# With fewer visits a win rate is noise; the network that judges makes some 50 a second on 19x19 on one thread.
_LEAST_VISITS_TO_RESIGN = 16
# Some 50 moves of each of ten games at a time.
_MOST_TURNS = 500


def is_hopeless(game: Game, report: SearchReport, threshold: float, strength: Strength | None = None) -> bool:
    """Returns whether this position is a reason for the player to move to resign.

    That is so if the win rate is below `threshold`, the player is too far behind for an accident to help, enough moves
    have been played for the board's size, and the search has enough visits. Accidents help weak players more: they go
    on for longer (`Strength.patience`), and an evaluation without a search is enough at any strength but the full one.
    """
    far_behind = -sqrt(game.area) / 4  # 5 points on 19x19, 2 on 9x9
    if strength is not None:
        far_behind *= strength.patience
    is_late = count_played(game) >= (_EARLIEST_RESIGNATION + _HANDICAP_PATIENCE * game.handicap) * game.area
    is_searched = strength is not None or report.visits >= _LEAST_VISITS_TO_RESIGN
    return is_late and is_searched and report.winrate < threshold and report.lead < far_behind


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
