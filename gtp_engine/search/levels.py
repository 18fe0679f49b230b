"""Playing strength on purpose below the best: fewer visits, and a choice among moves that are nearly as good."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

    from .report import MoveReport, SearchReport

Level = int | Literal["max"]

HIGHEST = 10
# Each level searches twice as much as the one below. A visit says more with a network than with playouts: at 100 visits
# each a small one that had learned 9x9 for an hour won 16.5 of 20 games against playouts. Hence a sixteenth.
_FIRST_VISITS, _FIRST_NETWORK_VISITS = 64, 4
# At level 1; the levels above come nearer to the best move in even steps, level 10 takes it.
_WIDEST_LOSS = 0.1
_WIDEST_LEAD_LOSS = 0.02  # points for each point of the board: 1.6 on 9x9, 7 on 19x19
_HIGHEST_TEMPERATURE = 1.0
_LEAST_SHARE = 0.05
# What fewer visits say of a move is half luck: until then it needs a prior of this share of the likeliest one's.
_SURE_VISITS = 200
_LEAST_PRIOR_SHARE = 0.2


def check_level(level: Level) -> None:
    """Raises ValueError for what is no level."""
    if level != "max" and not (isinstance(level, int) and 1 <= level <= HIGHEST):
        raise ValueError(f"invalid level {level!r}: expected 1 to {HIGHEST}, or max")


def visits_at(level: Level, *, with_network: bool) -> int | None:
    """The visits that a level gives a move; None for no limit."""
    if level == "max":
        return None
    return (_FIRST_NETWORK_VISITS if with_network else _FIRST_VISITS) * 2 ** (level - 1)


def choose_at(level: int, report: "SearchReport", random: "np.random.Generator") -> int:
    """The point to play at a level, for a report with moves.

    By chance in proportion to visits^(1/temperature), among the moves whose win rate and lead are near the best one's
    and that have visits enough to know it, or look natural: a weak level gives points away, it plays no absurd move.
    """
    ease = (HIGHEST - level) / (HIGHEST - 1)
    best = report.moves[0]
    if ease == 0:
        return best.point
    lead_loss = _WIDEST_LEAD_LOSS * report.width * report.height * ease
    near = [move for move in report.moves if _is_near(move, best, _WIDEST_LOSS * ease, lead_loss)]
    likeliest = max(move.prior for move in near)
    near = [move for move in near if move.visits >= _SURE_VISITS or move.prior >= _LEAST_PRIOR_SHARE * likeliest]
    most = max(move.visits for move in near)
    weights = [(move.visits / most) ** (1 / (_HIGHEST_TEMPERATURE * ease)) for move in near]
    return near[int(random.choice(len(near), p=[weight / sum(weights) for weight in weights]))].point


def _is_near(move: "MoveReport", best: "MoveReport", loss: float, lead_loss: float) -> bool:
    enough = move.visits >= max(2, _LEAST_SHARE * best.visits)
    near = move.winrate >= best.winrate - loss and move.lead >= best.lead - lead_loss
    return move is best or (enough and near)
