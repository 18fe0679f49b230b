"""The end of the game: when to resign, when to pass, what to capture before. Pure functions of a position, what a
search found there, and its ownership.

Ownership is float [height, width] in -1..1, + where the player to move (or the one it is said to be for) will own the
point. What a search says of stones depends on who moves first there, so the end is judged from both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..game.coords import BLACK, EMPTY, WHITE, point_at, xy
from ..game.game import Game
from ..game.scoring import dead_stones, final_score, seki_stones
from .report import MoveReport, SearchReport

# A chain or a region whose mean ownership is nearer to 0 is not settled.
_SETTLED = 0.5
# What a move may lose, in points and win rate, and still count as good as another: playouts are noisy.
_SAME_LEAD, _SAME_WINRATE = 1.0, 0.05
# Before this share of the board is played nobody resigns (90 moves on 19x19, 21 on 9x9), nor looks for the end.
_EARLIEST_RESIGNATION = 0.25
_EARLIEST_END = 0.3
# With no more of the board open than this, moves on settled ground are looked at closely.
_NEARLY_OVER = 0.15
# With fewer visits a win rate is noise.
_LEAST_VISITS = 50
# A handicap of n stones is a bad start by intention: so much longer, n times.
_HANDICAP_PATIENCE = 0.03


def is_hopeless(game: Game, report: SearchReport, threshold: float) -> bool:
    """Whether the player to move may give the game up as far as this position goes.

    The win rate is below `threshold`, the lead too far behind for an accident, the game old enough for its board, and
    the search was no mere glance.
    """
    earliest = (_EARLIEST_RESIGNATION + _HANDICAP_PATIENCE * game.handicap) * game.area
    far_behind = -sqrt(game.area) / 4  # 5 points on 19x19, 2 on 9x9
    is_late = len(game.moves) >= earliest and report.visits >= _LEAST_VISITS
    return is_late and report.winrate < threshold and report.lead < far_behind


def may_be_over(game: Game) -> bool:
    """Whether it is worth a look if the game is over: somebody has passed, or the board has filled up."""
    return game.passes > 0 or has_filled_up(game)


def has_filled_up(game: Game) -> bool:
    """Whether so much was played that a game may be over."""
    stones = int(np.count_nonzero(game.stones()))
    return max(stones, len(game.moves)) >= _EARLIEST_END * game.area


@dataclass(frozen=True)
class Outlook:
    """What is left to play for, in the eyes of the player to move; scores are that player's lead in points.

    score: if the game ended now and the dead stones were taken off. worst: the same with all that is not settled given
    to the opponent. standing: with every stone counted as it stands.
    dead: the dead stones of both. own_dead: those of the player to move.
    open: the empty points in regions that are not settled, or that lie between both players' living stones.
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


def judge(game: Game, moving: np.ndarray, passing: np.ndarray) -> Outlook:
    """The outlook of the player to move, of two ownerships for that player: moving first, and letting the opponent."""
    sign = 1 if game.to_move == BLACK else -1
    first, second = (moving, passing) if game.to_move == BLACK else (-passing, -moving)
    dead = frozenset(dead_stones(game, in_their_own_turn(game, first, second)))
    stones = game.stones()
    score = sign * final_score(game, dead)
    unsettled, open_points = _open_regions(game, stones, _without(game, stones, dead), (moving, passing))
    return Outlook(
        score=score,
        worst=score - unsettled,
        standing=sign * final_score(game, frozenset()),
        dead=dead,
        own_dead=frozenset(point for point in dead if game.stone_at(point) == game.to_move),
        open=open_points,
    )


def in_their_own_turn(game: Game, black_first: np.ndarray, white_first: np.ndarray) -> np.ndarray:
    """One ownership of two, black's both: stones as they fare when their owner moves first, for only what dies even so
    is dead; the mean on empty points."""
    stones = game.stones()
    owned = (black_first + white_first) / 2
    owned = np.where(stones == BLACK, np.maximum(black_first, white_first), owned)
    return np.where(stones == WHITE, np.minimum(black_first, white_first), owned)


def _without(game: Game, stones: np.ndarray, dead: Iterable[int]) -> np.ndarray:
    living = stones.copy()
    for point in dead:
        x, y = xy(point, game.width)
        living[y, x] = EMPTY
    return living


def _open_regions(
    game: Game, stones: np.ndarray, living: np.ndarray, ownerships: tuple[np.ndarray, np.ndarray]
) -> tuple[float, frozenset[int]]:
    """What the player to move loses if the opponent gets all that is not settled, and the empty points at stake."""
    me = game.to_move
    loss = 0.0
    open_points: set[int] = set()
    for region, owner, borders in _regions(living):
        means = [float(np.mean([owned[y, x] for x, y in region])) for owned in ownerships]
        if owner == EMPTY:
            owner = borders
        if owner in (BLACK, WHITE) and all((mean if owner == me else -mean) >= _SETTLED for mean in means):
            continue
        # A point counted for the player is worth two when it changes hands, a neutral one is worth one.
        loss += len(region) * (2 if owner == me else 1 if owner not in (BLACK, WHITE) else 0)
        open_points.update(point_at(x, y, game.width) for x, y in region if stones[y, x] == EMPTY)
        if living[region[0][1], region[0][0]] != EMPTY:
            open_points.update(_empty_neighbours(stones, region, game.width))
    return loss, frozenset(open_points)


def _regions(stones: np.ndarray) -> Iterable[tuple[list[tuple[int, int]], int, int]]:
    """The chains and empty regions: their points (x, y), their colour, and the sum of the colours that border them."""
    height, width = stones.shape
    seen = np.zeros(stones.shape, bool)
    for start in np.ndindex(stones.shape):
        if seen[start]:
            continue
        colour = int(stones[start])
        region, borders = [(start[1], start[0])], set()
        seen[start] = True
        for x, y in region:
            for i, j in ((x, y - 1), (x - 1, y), (x + 1, y), (x, y + 1)):
                if not (0 <= i < width and 0 <= j < height):
                    continue
                if stones[j, i] != colour:
                    borders.add(int(stones[j, i]))
                elif not seen[j, i]:
                    seen[j, i] = True
                    region.append((i, j))
        yield region, colour, sum(borders)


def _empty_neighbours(stones: np.ndarray, region: list[tuple[int, int]], width: int) -> set[int]:
    height = len(stones)
    return {
        point_at(x, y, width)
        for x, y in _around(region)
        if 0 <= x < width and 0 <= y < height and stones[y, x] == EMPTY
    }


def _around(region: list[tuple[int, int]]) -> set[tuple[int, int]]:
    return {(x + i, y + j) for x, y in region for i, j in ((0, -1), (-1, 0), (1, 0), (0, 1))}


def is_nearly_over(game: Game, outlook: Outlook) -> bool:
    """Whether so little is open that a move elsewhere needs a reason."""
    return len(outlook.open) <= _NEARLY_OVER * game.area


def should_pass(game: Game, outlook: Outlook, *, cleanup: bool = False) -> bool:
    """Whether a pass is right whatever the search prefers.

    cleanup: nothing counts but that no dead stones of the opponent are left to capture.
    Where stones count as they stand: when that count wins after the opponent's pass, or nothing is left to play and to
    capture. Elsewhere (friendly passing): when nothing is left to play, or after the opponent's pass when the count
    without dead stones wins even if all that is open is lost.
    """
    if cleanup:
        return not outlook.open and not outlook.prisoners_to_take
    if game.rules.stones_stand:
        if game.passes > 0 and outlook.standing > 0:
            return True
        return not outlook.open and not outlook.prisoners_to_take
    return not outlook.open or (game.passes > 0 and outlook.worst > 0)


def useful_move(report: SearchReport, outlook: Outlook) -> MoveReport | None:
    """The best move on an open point that is as good as the best of all, as far as the search can tell."""

    def is_useful(move: MoveReport) -> bool:
        best = report.moves[0]
        as_good = move.lead >= best.lead - _SAME_LEAD and move.winrate >= best.winrate - _SAME_WINRATE
        return move.point in outlook.open and as_good and move.visits >= 2

    return next(filter(is_useful, report.moves), None)


def is_better(move: MoveReport, score: float, *, is_sure: bool) -> bool:
    """Whether a move promises more points than a pass that ends the game with this score."""
    return move.lead > score + (_SAME_LEAD / 2 if is_sure else _SAME_LEAD)


def costs_nothing(before: SearchReport, after: SearchReport) -> bool:
    """Whether a pass loses nothing: the searches of the position, and of the same with the opponent to move."""
    return -after.lead >= before.lead - _SAME_LEAD and 1 - after.winrate >= before.winrate - _SAME_WINRATE


def capturing_moves(game: Game, outlook: Outlook) -> frozenset[int]:
    """Where the player to move goes on capturing the opponent's dead stones: their liberties, else points beside them.

    Only legal moves, and where there are such, only those that leave the own chain two liberties or take something.
    """
    stones = game.stones()
    prisoners = [xy(point, game.width) for point in outlook.prisoners_to_take]
    liberties = _legal(game, _empty_neighbours(stones, prisoners, game.width))
    safe = frozenset(point for point in liberties if _is_safe(game, point))
    return safe or liberties


def _legal(game: Game, points: Iterable[int]) -> frozenset[int]:
    return frozenset(point for point in points if game.is_legal(point))


def _is_safe(game: Game, point: int) -> bool:
    """Whether a move takes stones or leaves its chain two liberties."""
    me = game.to_move
    after = game.copy()
    after.play(me, point)
    if after.captures(me) > game.captures(me):
        return True
    stones = after.stones()
    x, y = xy(point, game.width)
    for region, colour, _ in _regions(stones):
        if colour == me and (x, y) in region:
            return len(_empty_neighbours(stones, region, game.width)) >= 2
    return False  # suicide: the stone is gone


def find_dead(game: Game, ownership: np.ndarray) -> set[int]:
    """The stones that are off the board for the count, of black's ownership (`in_their_own_turn`).

    Where stones count as they stand there are none once the game is over.
    """
    if game.is_over and game.rules.stones_stand:
        return set()
    return set(dead_stones(game, ownership))


def chain_statuses(game: Game, dead: set[int]) -> dict[str, list[list[int]]]:
    """The chains, as lists of points, by what becomes of them: "alive", "dead" or "seki"."""
    seki = seki_stones(game, dead)
    statuses: dict[str, list[list[int]]] = {"alive": [], "dead": [], "seki": []}
    for region, colour, _ in _regions(game.stones()):
        if colour != EMPTY:
            chain = [point_at(x, y, game.width) for x, y in region]
            status = "dead" if chain[0] in dead else "seki" if chain[0] in seki else "alive"
            statuses[status].append(chain)
    return statuses
