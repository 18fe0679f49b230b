"""Playing below full strength on purpose: fewer visits, and a choice among moves that are nearly as good."""

from typing import TYPE_CHECKING, Literal

from ..base.errors import UserError
from ..base.fields import Range, parse_number

if TYPE_CHECKING:
    import numpy as np

    from ..search.report import MoveReport, SearchReport

Level = int | Literal["max"]

HIGHEST = 10
# Each level searches twice as much as the one below. A visit is worth more with a network than with rollouts: at 100
# visits each, a small network that had learned 9x9 for an hour won 16.5 of 20 games. Hence a sixteenth.
_FIRST_VISITS, _FIRST_NETWORK_VISITS = 64, 4
# At level 1; the levels above approach the best move in equal steps, and level 10 plays it.
_WIDEST_LOSS = 0.1  # win rate
_WIDEST_LEAD_LOSS = 0.02  # points for each point of the board: 1.6 on 9x9, 7 on 19x19
_HIGHEST_TEMPERATURE = 1.0
_LEAST_SHARE = 0.05  # of the best move's visits
# With fewer visits the value of a move is half luck: then it needs a prior of this share of the largest one.
_SURE_VISITS = 200
_LEAST_PRIOR_SHARE = 0.2


def check_level(level: Level) -> None:
    """Raises UserError if a level is invalid."""
    if level != "max" and not (isinstance(level, int) and 1 <= level <= HIGHEST):
        raise UserError(f"invalid level {level!r}: expected 1 to {HIGHEST}, or max")


def parse_level(text: str) -> Level:
    """Returns the level that a text names.

    Raises:
        UserError: It names none.
    """
    if text.lower() == "max":
        return "max"
    try:
        return int(parse_number("level", text, Range(1, HIGHEST, whole=True)))
    except UserError as error:
        raise UserError(f"{error}, or max") from None


def next_level(level: Level, step: int) -> Level:
    """Returns the level that is one step higher (1) or lower (-1); max comes after the highest."""
    number = (HIGHEST + 1 if level == "max" else level) + step
    return "max" if number > HIGHEST else max(1, number)


def visits_at(level: Level, *, with_network: bool) -> int | None:
    """Returns the number of visits per move at a level; None for no limit."""
    if level == "max":
        return None
    return (_FIRST_NETWORK_VISITS if with_network else _FIRST_VISITS) * 2 ** (level - 1)


def choose_at(level: int, report: "SearchReport", random: "np.random.Generator") -> int:
    """Draws the point to play at a level.

    The draw is in proportion to visits^(1/temperature), among the moves whose win rate and lead are near those of the
    best one and that have enough visits to be sure of it, or a natural prior: a weak level gives points away but plays
    no absurd move.

    Args:
        level: 1 to `HIGHEST`.
        report: A report with moves.
        random: The generator for the draw.
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
