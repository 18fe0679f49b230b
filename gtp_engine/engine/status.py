"""The status of groups: which stones are alive, dead or in seki.

Passing, counting, analyses, reviews and the status lists of clients ask here; the targets of self-play take proven
stones only. What is pass-alive is certain; of the rest the ownership decides that a search or a network finds, float
[height, width] in -1..1.

During a game every chain is judged by itself, with its owner to move first. After two passes nobody has anything left
to gain, so the stones make sense together: a region is one player's or a few neutral points. Judged chain by chain, a
large group that a network doubts may come out half alive. So the dead stones are chosen together then: of the ways to
settle the board, the one that explains the ownership best.

What looks dead is read, during a game and after it: stones that cannot be captured are alive (`seki_reading`).
"""

from collections.abc import Callable, Collection
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..go.coords import BLACK, EMPTY, PASS, WHITE, opponent
from ..go.game import Game
from ..go.life import dead_stones, seki_stones, unproven_chains
from ..go.regions import Cell, cells_of, find_liberties, find_regions, points_of
from ..go.scoring import enclosed
from ..go.symmetry import ALL_SYMMETRIES
from ..search.evaluate.evaluator import Evaluator
from ..search.evaluate.features import new_workspace, root_position_of
from ..search.evaluate.root import evaluate_root
from ..search.evaluate.row import EvaluationRow
from ..search.parameters import SearchParameters
from .seki_reading import uncapturable_stones

# The share of the board played before which nobody looks for the end. Chosen by judgement; of 7,672 games between
# strong players on KGS that two passes ended, none ended earlier.
_EARLIEST_END = 0.3
# The share before which no stone is dead if both players pass: a network gives the whole board to the player who is
# ahead, which would make stones dead that nobody has attacked. By judgement too: two walls across 9x9 are 18 stones.
_EARLIEST_DEAD = 0.2
# Black stones that are set up without white ones are a handicap up to this share of the board, beyond it a position. By
# judgement: 9 stones on 7x7 are 18 %.
_MOST_HANDICAP = 0.2
# The least prior of a pass that counts as likely. In 802 positions with a smaller one, from 63 games on 9x9 and 19x19,
# no search of 200 visits with g170-b6c96 tried a pass.
_LEAST_PASS_PRIOR = 0.001
# The figures of the settlement: on 204 games between strong amateurs with stones in doubt, it counts 133 as recorded,
# without groups 109, and with a constant likelihood of neutral points 129. Within a factor of two of each other the
# numbers hardly matter.
# No ownership is trusted further than this: networks are surer of themselves than they are right. Chains with less
# doubt are not reconsidered, which saves time; a fifth of it gives the same counts.
_LEAST_DOUBT = 0.05
# The likelihood of a neutral point where the ownership is certain, and how much it grows to where it is 0. An ownership
# of two thirds leaves no more room for neutrality than a certain one.
_NEUTRAL, _NEUTRAL_AT_ZERO, _NEUTRAL_SLOPE = 0.02, 0.3, 1.5

Cells = frozenset[Cell]


def count_played(game: Game) -> int:
    """Returns how many stones were played; those that were set up count too, but not those of a handicap."""
    stones = int(np.count_nonzero(game.stones())) - handicap_of(game)
    return max(sum(move.point != PASS for move in game.moves), stones)


def handicap_of(game: Game) -> int:
    """Returns the number of handicap stones, or 0 if there are too many for a handicap (`_MOST_HANDICAP`)."""
    return game.handicap if game.handicap <= _MOST_HANDICAP * game.area else 0


def has_filled_up(game: Game) -> bool:
    """Returns whether enough stones were played for the game to be over.

    Before that nobody passes, unless the opponent has and stones count as they stand, or in a clean-up.
    """
    return count_played(game) >= _EARLIEST_END * game.area


def in_their_own_turn(
    game: Game, black_first: NDArray[np.floating], white_first: NDArray[np.floating]
) -> NDArray[np.floating]:
    """Combines two ownerships, both for Black: with Black and with White to move first.

    Stones get the ownership with their owner to move first, since only those that die even then are dead. Empty points
    get the mean.
    """
    stones = game.stones()
    ownership = (black_first + white_first) / 2
    ownership = np.where(stones == BLACK, np.maximum(black_first, white_first), ownership)
    return np.where(stones == WHITE, np.minimum(black_first, white_first), ownership)


def evaluated_ownership(
    game: Game, evaluator: Evaluator, profile: str = "", symmetry: int = ALL_SYMMETRIES
) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Evaluates a position twice, without a search, and returns Black's ownership with Black and with White to move.

    Args:
        game: The position. After the end of a game the evaluator sees neither the moves nor the passes before it.
        evaluator: A network.
        profile: As in `Evaluator.submit`.
        symmetry: The symmetry under which it is evaluated; ALL_SYMMETRIES for the mean.
    """
    positions, workspace = [], new_workspace()
    for colour in (BLACK, WHITE):
        position = game.copy()
        if game.is_over:
            position.to_move = opponent(colour)  # starts a new history, without the passes
        position.to_move = colour
        positions.append(root_position_of(position, workspace))
    ticket = evaluator.submit(np.concatenate(positions), np.arange(2), np.full(2, symmetry), profile=profile)
    black, white = (
        EvaluationRow(row.copy(), game.area).ownership.reshape(game.height, game.width)
        for row in evaluator.collect(ticket)
    )
    return black, -white


def agreed_before_the_end(game: Game, evaluator: Evaluator, parameters: SearchParameters) -> frozenset[int]:
    """Returns the dead stones on which the players would agree if they passed now (`SearchRequest.dead`).

    If the next pass ends the game, they are those of the count that follows. Otherwise they are those that die even if
    their owner moves first, since both players may still move.

    There are none before a pass is likely (`may_pass`), under rules that count stones as they stand or leave the end to
    the evaluator, and without a network: a few rollouts know too little.

    Args:
        parameters: Those with which the position is searched.
    """
    is_counted = game.rules.scoring == "AREA" and not game.rules.stones_stand
    if evaluator.least_visits > 1 or not is_counted or not may_pass(game, evaluator, parameters):
        return frozenset()
    after_pass, profile = game.after(game.to_move, PASS), parameters.profile
    if after_pass.is_over:
        return frozenset(dead_at_the_end(after_pass, evaluator, profile))
    return frozenset(
        find_dead(game, lambda: in_their_own_turn(game, *evaluated_ownership(game, evaluator, profile, 0)))
    )


def may_pass(game: Game, evaluator: Evaluator, parameters: SearchParameters) -> bool:
    """Returns whether a search of the position may come to a pass at its root.

    It may after a pass, and once the board has filled up; a network's policy then tells whether a pass is likely. The
    one evaluation made for that is the root's, which the search then need not make unless it averages symmetries or has
    a playout doubling advantage.

    Args:
        parameters: Those with which the position is searched.
    """
    if not has_filled_up(game):
        return game.passes > 0
    if game.passes or evaluator.least_visits > 1:
        return True
    optimism, profile = parameters.root_policy_optimism, parameters.profile
    policy = evaluate_root(evaluator, game, optimism=optimism, profile=profile).policy
    return bool(policy[-1] >= _LEAST_PASS_PRIOR)


def dead_at_the_end(game: Game, evaluator: Evaluator, profile: str = "") -> set[int]:
    """Returns the points of the stones that are removed for the count of a finished game, by a network."""
    return find_dead(game, lambda: np.mean(evaluated_ownership(game, evaluator, profile), 0))


def find_dead(game: Game, find_ownership: Callable[[], NDArray[np.floating]]) -> set[int]:
    """Returns the points of the stones that are removed for the count.

    Once the game is over they are chosen together, and there are none under rules that count stones as they stand.
    Stones that cannot be captured are alive, however dead they look.

    Args:
        find_ownership: Returns Black's ownership: `in_their_own_turn`, or after the end the mean. Called if needed.
    """
    if game.is_over and game.rules.stones_stand:
        return set()
    dead = (agreed_dead if game.is_over else dead_stones)(game, find_ownership())
    return dead - uncapturable_stones(game, dead)


def chain_statuses(game: Game, dead: Collection[int]) -> dict[str, list[list[int]]]:
    """Returns the chains, as lists of points, by their status: "alive", "dead" or "seki"."""
    seki = seki_stones(game, dead)
    statuses: dict[str, list[list[int]]] = {"alive": [], "dead": [], "seki": []}
    for region in find_regions(game.stones()):
        if region.colour != EMPTY:
            chain = points_of(region.cells, game.width)
            status = "dead" if chain[0] in dead else "seki" if chain[0] in seki else "alive"
            statuses[status].append(chain)
    return statuses


def agreed_dead(game: Game, ownership: NDArray[np.floating]) -> set[int]:
    """Returns the points of the stones that are dead in a finished game; none if too little was played.

    Args:
        game: The game; its present position is judged.
        ownership: float [height, width] from -1 (White) to 1 (Black), whoever moves first.
    """
    if count_played(game) < _EARLIEST_DEAD * game.area:
        return set()
    stones, costs = game.stones(), _costs(ownership)
    groups = _doubtful_groups(game, ownership)

    @cache
    def cost(dead: Cells) -> float:
        """Returns how unlikely it is that these stones are dead and the others alive, as a negative logarithm."""
        living = stones.copy()
        for cell in dead:
            living[cell] = EMPTY
        return float(np.take_along_axis(costs, enclosed(living)[None].astype(np.intp), 0).sum())

    dead = frozenset(cells_of(dead_stones(game, ownership), game.width))
    while groups:
        changes = {change for group in groups for change in (dead | group, dead - group)}
        best = min(changes, key=lambda changed: (cost(changed), sorted(changed)))
        if cost(best) >= cost(dead):
            break
        dead = best
    return set(points_of(dead, game.width))


def _costs(ownership: NDArray[np.floating]) -> NDArray[np.floating]:
    """Returns the cost, as a negative logarithm, of each point being neutral, Black's or White's."""
    black = np.clip((1 + ownership) / 2, _LEAST_DOUBT, 1 - _LEAST_DOUBT)
    neutral = _NEUTRAL + _NEUTRAL_AT_ZERO * np.clip(1 - _NEUTRAL_SLOPE * np.abs(ownership), 0, 1)
    return -np.log(np.stack([neutral, black, 1 - black]))


def _doubtful_groups(game: Game, ownership: NDArray[np.floating]) -> list[Cells]:
    """Returns the stones of the groups that may be dead or alive: doubtful chains whose liberties touch."""
    stones = game.stones()
    linked = np.zeros((3, *stones.shape), np.int8)  # by colour
    for chain in unproven_chains(game):
        mean = float(np.mean([ownership[cell] for cell in chain.cells]))
        if abs(mean) < 1 - _LEAST_DOUBT:
            for cell in find_liberties(chain.cells, stones).union(chain.cells):
                linked[chain.colour][cell] = 1
    groups = [group for colour in (BLACK, WHITE) for group in find_regions(linked[colour]) if group.colour]
    return [frozenset(cell for cell in group.cells if stones[cell] != EMPTY) for group in groups]
