"""How much weaker or stronger than itself the engine takes its opponent for in a game with a handicap.

Networks of KataGo know from their self-play what to expect if one side has more playouts than the other
(`SearchParameters.playout_doubling_advantage`). The side that gives a handicap would lose to an equal opponent whatever
it played, so all its moves look alike; told that the opponent is weaker, a network prefers complications. The rule and
its numbers are KataGo's (its command/gtp.cpp).
"""

from typing import TYPE_CHECKING, NamedTuple

from ..go.coords import BLACK, WHITE

if TYPE_CHECKING:
    from ..go.game import Game

# In points: an even game's komi, and what each handicap stone but the first is worth.
_EVEN_KOMI = 7.0
_STONE_WORTH = {"AREA": 15.0, "TERRITORY": 14.0}
# The lead, in points on 19x19, from which a game is one with a handicap. On a smaller board a point counts for more.
_LEAST_LEAD, _LEAST_ANYWHERE = 4.0, 2.0
_SCALE_POWER = 0.75
_SMALLEST_SIDE = 8
_MOST, _STEP = 2.75, 0.125
# It changes by a step unless the win rate of the side that is behind lies between these.
_LOSING, _CLOSE = 0.05, 0.25


class Doublings(NamedTuple):
    """The playout doubling advantage in a game as of the engine's last move.

    Attributes:
        game: The number of the game (`Engine.games_begun`).
        white: The advantage of White, below 0 if Black has it.
        winrate: White's win rate then, 0..1.
    """

    game: int
    white: float
    winrate: float


def black_lead(game: "Game") -> float:
    """Returns about by how many points Black led at the beginning; negative if White did."""
    stones = max(0, game.handicap - 1)
    return _STONE_WORTH[game.rules.scoring] * stones + _EVEN_KOMI - game.komi - game.handicap_bonus


def white_doublings(game: "Game", per_point: float, last: Doublings | None) -> float:
    """Returns the playout doubling advantage that White is to have; negative if Black is to have it.

    Args:
        game: The position.
        per_point: The most that each point of the opponent's lead may add, on 19x19; 0 for none at all.
        last: What was so at the engine's last move in the game; None if there was none.
    """
    scale = (19 * 19 / game.area) ** _SCALE_POWER
    lead, least = black_lead(game), max(_LEAST_LEAD / scale, _LEAST_ANYWHERE)
    if abs(lead) < least or min(game.width, game.height) < _SMALLEST_SIDE:
        return 0.0
    most = round(min(_MOST, per_point * (abs(lead) - least) * scale) / _STEP) * _STEP
    behind = WHITE if lead > 0 else BLACK
    advantage = most
    if last is not None:
        sign, winrate = (1, last.winrate) if behind == WHITE else (-1, 1 - last.winrate)
        change = _STEP if winrate < _LOSING else -_STEP if winrate > _CLOSE else 0.0
        advantage = min(max(sign * last.white + change, 0.0), most)
    return advantage if behind == WHITE else -advantage
