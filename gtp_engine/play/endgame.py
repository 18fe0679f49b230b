"""The end of the game: when to resign, when to pass, what to capture before.

Pure functions of a position, of what a search found there, and of its ownership. Ownership is float [height, width] in
-1..1, + for points that the player to move will own, unless another player is named. The ownership of stones depends
on who moves first, so the end is assessed from both sides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..game.coords import BLACK, EMPTY, WHITE
from ..game.game import Game
from ..game.life import dead_stones, seki_stones
from ..game.regions import Cell, cells_of, find_liberties, find_regions, points_of
from ..game.scoring import living_stones
from ..search.report import MoveReport, SearchReport
from .settlement import agreed_dead
from .strength import Strength

# The numbers below were chosen by judgement and work; none has been measured by itself.
# A chain or a region whose mean ownership is nearer to 0 is not settled.
_SETTLED = 0.5
# What a move may lose, in points and win rate, and still count as good as another: rollouts are noisy.
_SAME_LEAD, _SAME_WINRATE = 1.0, 0.05
# The share of the board played before which nobody resigns (90 moves on 19x19, 21 on 9x9) or looks for the end.
_EARLIEST_RESIGNATION = 0.25
_EARLIEST_END = 0.3
# If at most this share of the board is open, a move on a settled point is only played for a reason.
_NEARLY_OVER = 0.15
# With fewer visits a win rate is noise.
_LEAST_VISITS = 50
# A handicap of n stones is a bad start by intention: this share of the board longer, n times.
_HANDICAP_PATIENCE = 0.03


def is_hopeless(game: Game, report: SearchReport, threshold: float, strength: Strength | None = None) -> bool:
    """Returns whether this position is a reason for the player to move to resign.

    That is so if the win rate is below `threshold`, the player is too far behind for an accident to help, enough moves
    have been played for the board's size, and the search has enough visits. Accidents help weak players more: they go
    on for longer (`Strength.patience`), and an evaluation without a search is enough at any strength but the full one.
    """
    earliest = (_EARLIEST_RESIGNATION + _HANDICAP_PATIENCE * game.handicap) * game.area
    far_behind = -sqrt(game.area) / 4  # 5 points on 19x19, 2 on 9x9
    least_visits = _LEAST_VISITS
    if strength is not None:
        far_behind *= strength.patience
        least_visits = 1
    played = max(len(game.moves), _stone_count(game) - game.handicap)  # stones that were set up count as moves
    is_late = played >= earliest and report.visits >= least_visits
    return is_late and report.winrate < threshold and report.lead < far_behind


def may_be_over(game: Game) -> bool:
    """Returns whether the end is worth an assessment: after a pass, or when the board has filled up."""
    return game.passes > 0 or has_filled_up(game)


def has_filled_up(game: Game) -> bool:
    """Returns whether enough moves were played, or stones set up, for the game to be over."""
    return max(_stone_count(game), len(game.moves)) >= _EARLIEST_END * game.area


def _stone_count(game: Game) -> int:
    return int(np.count_nonzero(game.stones()))


@dataclass(frozen=True)
class EndgameStatus:
    """Assessment of an endgame, for the player to move; scores are that player's lead in points.

    Attributes:
        score: The score if the game ended now and the dead stones were removed.
        worst: The same with everything that is not settled given to the opponent.
        standing: The score with every stone counted as it stands.
        dead: The dead stones of both players.
        own_dead: The dead stones of the player to move.
        open: The empty points in regions that are not settled, or that lie between both players' living stones.
    """

    score: float
    worst: float
    standing: float
    dead: frozenset[int]
    own_dead: frozenset[int]
    open: frozenset[int]

    @property
    def prisoners_to_take(self) -> frozenset[int]:
        """The opponent's dead stones."""
        return self.dead - self.own_dead


def assess_endgame(game: Game, moving: np.ndarray, passing: np.ndarray) -> EndgameStatus:
    """Assesses the end of the game for the player to move.

    Args:
        game: The position.
        moving: The ownership if that player moves first.
        passing: The ownership if the opponent does; for the same player.
    """
    sign = 1 if game.to_move == BLACK else -1
    first, second = (moving, passing) if game.to_move == BLACK else (-passing, -moving)
    dead = frozenset(dead_stones(game, in_their_own_turn(game, first, second)))
    score = sign * game.score(dead).points
    unsettled, open_points = _open_regions(game, living_stones(game.stones(), dead), (moving, passing))
    return EndgameStatus(
        score=score,
        worst=score - unsettled,
        standing=sign * game.score().points,
        dead=dead,
        own_dead=frozenset(point for point in dead if game.stone_at(point) == game.to_move),
        open=open_points,
    )


def in_their_own_turn(game: Game, black_first: np.ndarray, white_first: np.ndarray) -> np.ndarray:
    """Combines two ownerships, both for Black: with Black and with White to move first.

    Stones get the ownership with their owner to move first, since only those that die even then are dead. Empty points
    get the mean.
    """
    stones = game.stones()
    ownership = (black_first + white_first) / 2
    ownership = np.where(stones == BLACK, np.maximum(black_first, white_first), ownership)
    return np.where(stones == WHITE, np.minimum(black_first, white_first), ownership)


def _open_regions(
    game: Game, living: np.ndarray, ownerships: tuple[np.ndarray, np.ndarray]
) -> tuple[float, frozenset[int]]:
    """Finds the regions that are not settled.

    Args:
        game: The position.
        living: The living stones, int8 [height, width].
        ownerships: The ownership with either player to move first, for the player to move.

    Returns:
        The points that the player to move loses if the opponent gets all of these regions, and the empty points in them
        or next to their living stones.
    """
    stones, me = game.stones(), game.to_move
    loss = 0.0
    open_cells: set[Cell] = set()
    for region in find_regions(living):
        owner = region.colour
        if owner == EMPTY and len(region.borders) == 1:
            owner = next(iter(region.borders))
        means = [float(np.mean([ownership[cell] for cell in region.cells])) for ownership in ownerships]
        if owner != EMPTY and all((mean if owner == me else -mean) >= _SETTLED for mean in means):
            continue
        # A point counted for the player is worth two when it changes hands, a neutral one is worth one.
        loss += len(region.cells) * (2 if owner == me else 1 if owner == EMPTY else 0)
        open_cells.update(cell for cell in region.cells if stones[cell] == EMPTY)
        if region.colour != EMPTY:
            open_cells |= find_liberties(region.cells, stones)
    return loss, frozenset(points_of(open_cells, game.width))


def is_nearly_over(game: Game, status: EndgameStatus) -> bool:
    """Returns whether so few points are open that a move elsewhere needs a reason."""
    return len(status.open) <= _NEARLY_OVER * game.area


def pass_wins(game: Game, status: EndgameStatus) -> bool:
    """Returns whether a pass ends the game and wins it, because all stones count as they stand."""
    return game.rules.stones_stand and game.passes > 0 and status.standing > 0


def should_pass(game: Game, status: EndgameStatus, *, cleanup: bool = False) -> bool:
    """Returns whether to pass, whatever move the search prefers.

    If stones count as they stand, that is when this count wins after the opponent's pass, or when nothing is left to
    play or to capture. Otherwise it is when nothing is left to play, or after the opponent's pass when the count
    without dead stones wins even if everything open is lost (friendly passing).

    Args:
        game: The position.
        status: Its assessment.
        cleanup: Pass only when no dead stones of the opponent are left to capture.
    """
    if cleanup:
        return not status.open and not status.prisoners_to_take
    if game.rules.stones_stand:
        return pass_wins(game, status) or (not status.open and not status.prisoners_to_take)
    return not status.open or (game.passes > 0 and status.worst > 0)


def useful_move(report: SearchReport, status: EndgameStatus) -> MoveReport | None:
    """Returns the best move on an open point, if the search cannot tell it from the best of all; otherwise None."""

    def is_useful(move: MoveReport) -> bool:
        best = report.moves[0]
        as_good = move.lead >= best.lead - _SAME_LEAD and move.winrate >= best.winrate - _SAME_WINRATE
        return move.point in status.open and as_good and move.visits >= 2

    return next(filter(is_useful, report.moves), None)


def is_better(move: MoveReport, score: float, *, is_reliable: bool) -> bool:
    """Returns whether a move promises more points than a pass that ends the game with this score.

    Args:
        move: The move.
        score: The lead after the pass.
        is_reliable: Whether leads are a network's, and not those of noisy rollouts.
    """
    return move.lead > score + (_SAME_LEAD / 2 if is_reliable else _SAME_LEAD)


def costs_nothing(before: SearchReport, after: SearchReport) -> bool:
    """Returns whether a pass loses nothing, by searches of the position and of the same with the opponent to move."""
    return -after.lead >= before.lead - _SAME_LEAD and 1 - after.winrate >= before.winrate - _SAME_WINRATE


def capturing_moves(game: Game, status: EndgameStatus) -> frozenset[int]:
    """Returns the legal moves at liberties of the opponent's dead stones, which capture them or prepare that.

    If possible they are only those that capture something or leave their own chain at least two liberties.
    """
    liberties = find_liberties(cells_of(status.prisoners_to_take, game.width), game.stones())
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


def find_dead(game: Game, find_ownership: Callable[[], np.ndarray]) -> set[int]:
    """Returns the points of the stones that are removed for the count.

    Once the game is over they are chosen together (`settlement`), and there are none under rules that count stones as
    they stand.

    Args:
        game: The position.
        find_ownership: Returns Black's ownership: `in_their_own_turn`, or after the end the mean. Called if needed.
    """
    if not game.is_over:
        return dead_stones(game, find_ownership())
    return set() if game.rules.stones_stand else agreed_dead(game, find_ownership())


def chain_statuses(game: Game, dead: set[int]) -> dict[str, list[list[int]]]:
    """Returns the chains, as lists of points, by their status: "alive", "dead" or "seki"."""
    seki = seki_stones(game, dead)
    statuses: dict[str, list[list[int]]] = {"alive": [], "dead": [], "seki": []}
    for region in find_regions(game.stones()):
        if region.colour != EMPTY:
            chain = points_of(region.cells, game.width)
            status = "dead" if chain[0] in dead else "seki" if chain[0] in seki else "alive"
            statuses[status].append(chain)
    return statuses
