"""What rank the person at this computer has, by the results of games against the engine's ranks.

It is the Glicko-2 system with a rating period of one game: M. E. Glickman, "Example of the Glicko-2 system" (2022,
glicko.net/glicko/glicko2.pdf), whose steps and constants are named below. A rank is 100 points, as between the engine's
ranks, and 1k is 0.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from ..base.messages import plural
from ..engine.ranks import RANKS, STRONGEST, WEAKEST, Rank
from .database import Change, Database

POINTS = 100.0  # a rank
_SCALE = 400 / math.log(10)  # points in a unit of Glicko-2 (step 2)
_VOLATILITY, _TAU = 0.06, 0.5  # of a new player, and how fast it changes: 0.3 to 1.2 are reasonable (step 1)
_TOLERANCE = 1e-9  # of the logarithm of the squared volatility (step 5 has 1e-6)
# The standard deviations of what is not known from games. People who name their rank may use another scale: 350 is
# Glickman's for a player without a rating. Those who do not may have any rank: that of a uniform distribution.
_OF_A_NAMED_RANK, _OF_AN_UNKNOWN_ONE = 350.0, POINTS * len(RANKS) / math.sqrt(12)
_OF_THE_ENGINE = 30.0  # of its ranks (benchmarks/ranks.md)
_UNKNOWN = Rank(-14)  # 15k: who does not know a rank is more likely weak than strong
# What people may answer who name no rank, and the one that stands for it: None if they do not know it.
ANSWERS = {"never": WEAKEST, "rules": Rank(-24), "unknown": None}
NEVER_PLAYED = "never"
# While little is known the next opponent is stronger after a win, and weaker after a loss, by so many times the
# deviation beyond what is left of it after many games. Found with `benchmarks/player_rating.py`: without it the rank of
# a 25k or a 5d who does not name it is not found in ten games.
_STEP, _SETTLED = 2.5, 80.0
_OWN_BOARD = 19  # a handicap stone is worth a rank on 19x19; on smaller boards that has not been measured
_MOST_STONES = 9


@dataclass(frozen=True)
class PlayerRating:
    """A player's rating; the database has a column for each field."""

    rating: float  # in points
    deviation: float  # the standard deviation, in points
    volatility: float = _VOLATILITY  # Glicko-2's: how much the strength is expected to change from game to game
    games: int = 0  # that it rests on
    last: float = 0.5  # the score of the last one: 1, 0.5 or 0; 0.5 before the first

    @property
    def rank(self) -> Rank:
        """The nearest rank."""
        return within_reach(Rank(round(self.rating / POINTS)))

    @property
    def within(self) -> int:
        """Two standard deviations, in ranks: at least 1."""
        return max(1, round(2 * self.deviation / POINTS))

    def in_words(self) -> str:
        """Returns a line about the rank."""
        # On all boards, and only on 19x19 have the engine's ranks been compared with people's.
        games, within = plural(self.games, "game"), plural(self.within, "rank")
        return f"on the engine's scale you are about {self.rank} by {games}, give or take {within}"

    @property
    def opponent(self) -> Rank:
        """The rank of an even opponent for the next game, which may be below the engine's weakest."""
        step = _STEP * max(0.0, self.deviation - _SETTLED)
        return Rank(min(round((self.rating + (2 * self.last - 1) * step) / POINTS), STRONGEST.number))

    def stones(self, opponent: Rank, width: int, height: int) -> int:
        """Returns the handicap stones that the player takes from an opponent that is too strong; 0 for none."""
        steps = opponent.number - self.opponent.number
        return min(steps, _MOST_STONES) if steps > 1 and width == height == _OWN_BOARD else 0

    def after(self, opponent: Rank, score: float, stones: int = 0) -> "PlayerRating":
        """Returns the rating after a game: `score` is 1 for a win, 0.5 for a draw, 0 for a loss.

        `stones` are the player's handicap stones, a rank each.
        """
        difference = (self.rating - POINTS * (opponent.number - stones)) / _SCALE
        deviation = self.deviation / _SCALE
        weight = 1 / math.sqrt(1 + 3 * (_OF_THE_ENGINE / _SCALE / math.pi) ** 2)  # g (step 3)
        expected = 1 / (1 + math.exp(-weight * difference))
        variance = 1 / (weight**2 * expected * (1 - expected))
        volatility = _volatility(self.volatility, deviation, variance, variance * weight * (score - expected))
        before = deviation**2 + volatility**2  # (step 6)
        new = 1 / (1 / before + 1 / variance)  # (step 7)
        rating = self.rating + _SCALE * new * weight * (score - expected)
        return PlayerRating(rating, _SCALE * math.sqrt(new), volatility, self.games + 1, score)


def within_reach(rank: Rank) -> Rank:
    """Returns the nearest of the ranks that have a name."""
    return min(max(rank, WEAKEST), STRONGEST)


def _volatility(before: float, deviation: float, variance: float, improvement: float) -> float:
    """Returns the new volatility (step 5, by halving the interval)."""
    start = math.log(before**2)
    spread = deviation**2 + variance

    def slope(x: float) -> float:
        level = math.exp(x)
        return level * (improvement**2 - spread - level) / (2 * (spread + level) ** 2) - (x - start) / _TAU**2

    other = math.log(improvement**2 - spread) if improvement**2 > spread else start - _TAU
    while other < start and slope(other) < 0:
        other -= _TAU
    low, high = sorted((start, other))  # where the slope is not below 0, and where it is not above
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return math.exp(low / 2)


def first_rating(rank: Rank | None) -> PlayerRating:
    """Returns the rating of a player who says that they have this rank; None if they do not know."""
    if rank is None:
        return PlayerRating(POINTS * _UNKNOWN.number, _OF_AN_UNKNOWN_ONE)
    return PlayerRating(POINTS * rank.number, _OF_A_NAMED_RANK)


_COLUMNS = ", ".join(each.name for each in fields(PlayerRating))


class KeptRating:
    """The rating of the person who plays here, and those before, in the user's database.

    Attributes:
        rating: The rating; None if the person has not been asked, or prefers full strength.
        is_asked: Whether the person has been asked.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._time, self.is_asked = -1.0, False  # `_time`: when the last rating was kept
        self.rating: PlayerRating | None = None
        for rating in self._later():
            self.rating = rating

    def follow(self) -> None:
        """Takes over what other programs have kept meanwhile, but not their choice of full strength."""
        for rating in self._later():
            self.rating = rating or self.rating

    def _later(self) -> Iterator[PlayerRating | None]:
        """Yields the ratings that were kept since the last one that is known here, in order."""
        query = f"SELECT time, {_COLUMNS} FROM ratings WHERE time > ? ORDER BY time"
        for when, *values in self._database.rows(query, self._time):
            self._time, self.is_asked = when, True
            yield None if values[0] is None else PlayerRating(*values)

    @property
    def notice(self) -> str:
        """Why the rating cannot be saved, or read, in one line; "" for nothing."""
        return self._database.notice

    def keep(self, rating: PlayerRating | None) -> None:
        """Keeps a rating, None for full strength; if it cannot be saved, `notice` says why."""
        self.rating, self.is_asked, self._time = rating, True, time.time()
        values = (None,) * len(fields(PlayerRating)) if rating is None else astuple(rating)
        statement = f"INSERT OR REPLACE INTO ratings (time, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
        self._database.change(Change(statement, (self._time, *values)))


def rating_history(database: Database) -> list[tuple[float, PlayerRating]]:
    """Returns the ratings that rest on games, each with the time of the last one in seconds, in order."""
    found = database.rows(f"SELECT time, {_COLUMNS} FROM ratings WHERE games > 0 ORDER BY time")
    return [(when, PlayerRating(*values)) for when, *values in found]
