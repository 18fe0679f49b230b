"""The move of a player of some strength: drawn from the policy, or the best one of a small search, and never absurd.

What no player does is decided by the rules and the reader of ladders as far as they can; the rest is the network's
ownership, for points where nothing is at stake any more.
"""

import functools
from collections.abc import Callable

import numpy as np

from ..go.board import Board
from ..go.coords import EMPTY, PASS, WALL, index_of_point, opponent, point_of_index, xy
from ..go.game import Game
from ..go.ladders import caught_stones, is_safe, new_workspace
from ..go.life import proven_owners
from ..go.regions import Chain, chain_at, find_regions, points_of
from ..search.report import SearchReport
from .ranks import Strength

# From so many visits on a search finds the answer to an atari, or something larger, by itself.
_SEES_ATARI = 32
# Chosen by judgement.
LARGE_GROUP = 5  # stones: an atari of as many is answered, by weak players not always (`Strength.alertness`)
_SETTLED = 0.9  # ownership from which a point counts as settled,
_NEEDED = 0.02  # unless the policy gives a move there this much: a threat has to be answered; a pass threatens nothing
_LARGE_SACRIFICE = 3  # stones that are not put into atari for nothing
_SURE = 0.5  # the policy's probability of a move that is right although it looks absurd: a nakade, for example
_LOST = -0.5  # ownership below which a group is not worth an answer
_NARROW = 4  # rows or columns of a board on which the edge is all there is
_NEARBY = 2  # rows and columns within which a stone gives a move on the edge a purpose


class Blunders:
    """The moves that no player makes in a position, as the player to move sees it, by a report with ownership."""

    def __init__(self, game: Game, report: SearchReport) -> None:
        assert report.ownership is not None
        self._game, self._board = game, game.board[0]
        self._me = game.to_move
        self._stones = game.stones()
        self._priors, self._ownership = report.priors, report.ownership.reshape(-1)
        self._stride = game.width + 1
        self._workspace = new_workspace()
        self._proven = proven_owners(game).reshape(-1)
        self._caught = caught_stones(self._board, self._workspace)

    def is_absurd(self, point: int) -> bool:
        """Returns whether no player makes this legal move."""
        index = index_of_point(point, self._game.width, self._game.height)
        if self._proven[index] != EMPTY or self.is_own_eye(point) or self._is_on_empty_edge(index):
            return True
        if self._is_settled(index) and (self._game.passes or self._priors[index] < _NEEDED):
            return True
        return not self._is_sure(point) and self._gives_stones_away(point)

    def may_gain(self, point: int) -> bool:
        """Returns whether a player who is not sure of the end may try a legal move, whatever the network thinks of it.

        That is so between stones of both colours, unless the rules tell that the move is useless: it takes a border
        point, saves or attacks what is not settled, or captures what is dead. After the opponent's pass dead stones are
        captured only if one move does it: the count shows the others. Under territory rules it costs a point to capture
        what is proven dead.
        """
        if point not in self._open or self.is_own_eye(point):
            return False
        index = index_of_point(point, self._game.width, self._game.height)
        owner = self._proven[index]
        if owner != EMPTY and (owner != self._me or self._game.rules.scoring != "AREA"):
            return False
        if self._game.passes and self._is_settled(index) and not self._captures(point):
            return False
        return self._is_sure(point) or not self._gives_stones_away(point)

    def _is_settled(self, index: int) -> bool:
        """Returns whether the network is sure whose a point is."""
        return bool(abs(self._ownership[index]) >= _SETTLED)

    def _captures(self, point: int) -> bool:
        """Returns whether a legal move captures something."""
        return self._game.after(self._me, point).captures(self._me) > self._game.captures(self._me)

    @functools.cached_property
    def _open(self) -> set[int]:
        """The empty points of regions that touch stones of both colours."""
        regions = (region for region in find_regions(self._stones) if region.colour == EMPTY)
        return {point for each in regions if len(each.borders) > 1 for point in points_of(each.cells, self._game.width)}

    def _is_sure(self, point: int) -> bool:
        """Returns whether the policy takes a move for right although it looks absurd."""
        return bool(self._priors[index_of_point(point, self._game.width, self._game.height)] >= _SURE)

    def is_own_eye(self, point: int) -> bool:
        """Returns whether a point is an eye of the player to move, which no atari forces to be filled."""
        stones, stride = self._board["stones"], self._stride
        for near in self._near(point):
            if stones[near] not in (self._me, WALL) or (stones[near] == self._me and self._in_atari(near)):
                return False
        corners = [stones[point + step] for step in (-stride - 1, -stride + 1, stride - 1, stride + 1)]
        # At most one corner may be the opponent's, at the edge none.
        return corners.count(opponent(self._me)) + (WALL in corners) < 2

    def _is_on_empty_edge(self, index: int) -> bool:
        """Returns whether a point lies on the edge of a board that has more than edges, with no stone nearby."""
        if min(self._stones.shape) <= _NARROW:
            return False
        y, x = divmod(index, self._game.width)
        if 0 < x < self._game.width - 1 and 0 < y < self._game.height - 1:
            return False
        rows, columns = (slice(max(0, centre - _NEARBY), centre + _NEARBY + 1) for centre in (y, x))
        return not self._stones[rows, columns].any()

    def saving_moves(self) -> list[int]:
        """Returns the moves that save the largest own group in atari from capture; none without a large one."""
        for chain in self._large_groups_in_atari():
            moves = sorted(ways_out(self._board, chain))
            found = [point for point in moves if self._game.is_legal(point) and self._saves(point, min(chain.stones))]
            if found:
                return found
        return []

    def _large_groups_in_atari(self) -> list[Chain]:
        """Returns the player's large chains in atari that are worth saving, the largest first."""
        board = self._board
        is_head = board["chain"] == np.arange(len(board["chain"]))
        heads = np.flatnonzero((board["stones"] == self._me) & is_head & (board["chain_size"] >= LARGE_GROUP))
        large = [chain for head in heads.tolist() if (chain := chain_at(board, head)) and len(chain.liberties) == 1]
        size = self._game.width, self._game.height
        indices = [[index_of_point(stone, *size) for stone in chain.stones] for chain in large]
        worth = [chain for chain, own in zip(large, indices, strict=True) if self._ownership[own].mean() > _LOST]
        return sorted(worth, key=lambda chain: -len(chain.stones))

    def _saves(self, point: int, stone: int) -> bool:
        """Returns whether after a move the chain of this stone has two liberties and is not caught."""
        return is_safe(self._game.after(self._me, point).board[0], stone, self._workspace)

    def _gives_stones_away(self, point: int) -> bool:
        """Returns whether a move saves caught stones in vain, or puts several into atari, and captures nothing."""
        around = {chain_at(self._board, near) for near in self._near(point)}
        own = [chain for chain in around if chain and chain.colour == self._me]
        in_vain = any(len(chain.liberties) == 1 and min(chain.stones) in self._caught for chain in own)
        stones = 1 + sum(len(chain.stones) for chain in own)
        if not in_vain and stones < _LARGE_SACRIFICE:
            return False
        if self._captures(point):
            return False
        after = self._game.after(self._me, point)
        chain = chain_at(after.board[0], point)
        if chain is None:
            return True  # suicide
        if len(chain.liberties) == 1:
            return in_vain or stones >= _LARGE_SACRIFICE
        return in_vain and point in caught_stones(after.board[0], self._workspace)

    # The board.

    def _near(self, point: int) -> tuple[int, int, int, int]:
        return point - self._stride, point - 1, point + 1, point + self._stride

    def _in_atari(self, stone: int) -> bool:
        chain = chain_at(self._board, stone)
        return chain is not None and len(chain.liberties) == 1


def ways_out(board: Board, chain: Chain) -> frozenset[int]:
    """Returns a chain's liberties, and those of the opponent's chains in atari next to it."""
    stride = int(board["width"]) + 1
    near = {stone + step for stone in chain.stones for step in (-stride, -1, 1, stride)}
    others = {chain_at(board, point) for point in near}
    caught = [other for other in others if other and other.colour != chain.colour and len(other.liberties) == 1]
    return chain.liberties.union(*(other.liberties for other in caught))


def choose_at(strength: Strength, game: Game, report: SearchReport, random: np.random.Generator | None) -> int:
    """Returns the point to play, or a pass if no sensible move is left.

    The report is what was found with the visits of this strength, and with ownership. Without a generator for draws the
    most probable moves are chosen.
    """
    if report.visits >= _SEES_ATARI and report.moves:
        return report.moves[0].point
    blunders = Blunders(game, report)
    saving = [point for point in blunders.saving_moves() if report.policy[point] > 0]  # those that are allowed
    if saving and (random is None or random.random() < strength.alertness):
        return max(saving, key=lambda point: report.policy[point])
    if report.moves and not (report.moves[0].point != PASS and blunders.is_absurd(report.moves[0].point)):
        return report.moves[0].point
    return _draw(strength, game, report, blunders, random)


def _draw(
    strength: Strength, game: Game, report: SearchReport, blunders: Blunders, random: np.random.Generator | None
) -> int:
    """Returns a move drawn from the policy, rather near the last one as people's moves are; a pass if nothing is left.

    A pass is no matter of chance: it comes when no move is left that a player of this strength could gain by.
    """
    priors = report.priors[:-1]
    likely = priors > strength.least_share * priors.max()
    moves = np.flatnonzero(likely)
    # The largest of log p + noise is a draw by p, the order one without replacement (the Gumbel-max trick).
    keys = np.log(priors[moves])
    if random is not None:
        noise = random.gumbel(size=len(moves)) - np.log(_distances(moves, game))
        keys = strength.of_policy * keys + (1 - strength.of_policy) * noise
    drawn = _first(moves[np.argsort(-keys, kind="stable")], game, lambda point: not blunders.is_absurd(point))
    if drawn != PASS:
        return drawn
    is_free = game.rules.scoring == "AREA" and not game.passes
    needed = 0.0 if is_free else strength.least_share * report.priors.max()
    others = np.flatnonzero(priors > needed)
    return _first(others[np.argsort(-priors[others], kind="stable")], game, blunders.may_gain)


def _distances(moves: np.ndarray, game: Game) -> np.ndarray:
    """Returns how many rows plus columns lie between each move and the last one, at least 1; 1 if that was no stone."""
    if game.last_point == PASS:
        return np.ones(len(moves))
    x, y = xy(game.last_point, game.width)
    return np.maximum(1, abs(moves % game.width - x) + abs(moves // game.width - y))


def _first(moves: np.ndarray, game: Game, is_wanted: Callable[[int], bool]) -> int:
    """Returns the first of these moves that is wanted; a pass if none is."""
    points = (point_of_index(int(move), game.width, game.height) for move in moves)
    return next(filter(is_wanted, points), PASS)
