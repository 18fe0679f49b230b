"""Which positions a teacher labels: those on walks through games.

A walk along a record visits some of its positions, and sometimes leaves the game there by one or several random moves:
in a search a network also has to evaluate mistakes, which are rare in records. A walk without a record plays a game by
the teacher's policy; this covers board sizes for which there are no records.

Komi varies too. Usually it is near the game's own, as in the games in which the student will be used: a student that
mostly sees even positions takes the komi for the score on the board, and then underrates leads. Sometimes it is near
the komi with which the teacher considers the position even, so that win rates are informative, and sometimes far away.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ...go.coords import BLACK, point_of_index
from ...go.game import Game, IllegalMove
from ...go.rules import RULESETS, Rules, default_komi
from ...search.evaluate.row import EvaluationRow
from ..data.samples import GameSet, unpack_moves

RULES: Sequence[Rules] = tuple(dict.fromkeys(RULESETS.values()))
RECORD_POSITIONS = 4  # visited per record, spread over its moves
LATENESS = 0.75  # power of their places, 0 to 1: below 1 they are later, where small networks misjudge more than before
LEAVE, STRAY = 0.3, 0.5  # probability of leaving the record's game, and of each further random move then
EVEN_KOMI = 0.25  # probability of a komi near that of an even position instead of the game's own
FAR_KOMI = 0.15  # probability that it is far from either
KOMI_DEVIATION, FAR_DEVIATION = 0.1, 0.6  # standard deviations of the komi, as multiples of the board's longer side
KOMI_CHANGE = 0.5  # probability that komi changes at a move of a game that the teacher plays
CHANCE_MOVES = 0.05  # share of random moves in such a game
OPENING_SHARE, OPENING_TEMPERATURE = 0.05, 1.5  # mean number of first moves per point, and their temperature
MOVES_PER_POINT = 2  # maximum length of such a game
UNIFORM = 0.5  # share of random moves that are drawn uniformly; the others follow the policy at this temperature:
CHANCE_TEMPERATURE = 3.0
SURE = 0.999  # probability of an outcome above which a position is decided
SURE_END = 0.1  # probability that a played game ends in a decided position


class Walk(ABC):
    """A walk through positions.

    Attributes:
        game: The next position to evaluate, unless `is_over`.
        number: Number of the record, or of the game that is played.
        random: Makes all random choices of this walk.
        is_over: Whether the walk has ended.

    Args:
        game: The first position.
        number: Number of the record, or of the game that is played.
        random: Makes all random choices of this walk.
        komi: The game's own komi, including the handicap bonus.
    """

    def __init__(self, game: Game, number: int, random: np.random.Generator, komi: float) -> None:
        self.game, self.number, self.random = game, number, random
        self.is_over = False
        self._komi = self._even = komi  # of the game, and of an even position as far as the teacher has said

    @abstractmethod
    def proceed(self, found: EvaluationRow) -> None:
        """Moves to the next position, given the teacher's outputs for this one."""

    def _vary_komi(self) -> None:
        """Sets a random komi, usually near the game's own."""
        side = max(self.game.width, self.game.height)
        centre = self._even if self.random.random() < EVEN_KOMI else self._komi
        deviation = side * (FAR_DEVIATION if self.random.random() < FAR_KOMI else KOMI_DEVIATION)
        komi = round(2 * self.random.normal(centre, deviation)) / 2
        self.game.set_komi(float(komi) - self.game.handicap_bonus)

    def _play(self, index: int) -> None:
        self.game.play(self.game.to_move, point_of_index(index, self.game.width, self.game.height))

    def _chance_move(self, policy: np.ndarray) -> int:
        """Returns the index of a random legal move."""
        temperature = np.inf if self.random.random() < UNIFORM else CHANCE_TEMPERATURE
        return drawn_move(policy, temperature, self.random)


class RecordWalk(Walk):
    """A walk along a game record, to some of its positions, with excursions by random moves.

    Args:
        games: A set of games.
        place: Index of the game in the set.
        random: Makes all random choices of this walk.
    """

    def __init__(self, games: GameSet, place: int, random: np.random.Generator) -> None:
        record = games.games[place]
        self._line = games.begin(place, rules=_any_rules(random))
        self._moves = unpack_moves(games.moves_of(place), self._line.width, self._line.height)
        super().__init__(self._line, int(record["number"]), random, float(record["komi"]))
        places = ((np.arange(RECORD_POSITIONS) + random.random(RECORD_POSITIONS)) / RECORD_POSITIONS) ** LATENESS
        self._stops = sorted({int(stop) for stop in places * len(self._moves)})
        self._next_stop()

    def proceed(self, found: EvaluationRow) -> None:
        """Makes a random move, or continues with the next position of the record."""
        is_on_line = len(self.game.moves) == self._at
        if is_on_line:
            self._even = even_komi(self.game, found)
        if self.random.random() < (LEAVE if is_on_line else STRAY):
            self._play(self._chance_move(found.policy))
            if not self.game.is_over:
                return
        self._next_stop()

    def _next_stop(self) -> None:
        while self._stops:
            self._at = self._stops.pop(0)
            try:
                for colour, point in self._moves[len(self._line.moves) : self._at]:
                    self._line.play(colour, point)
            except IllegalMove:  # a suicide: the record's rules allow it, the random ones of this walk do not
                break
            if self._line.is_over:
                break
            self.game = self._line.copy()
            self._vary_komi()
            return
        self.is_over = True


class PlayedWalk(Walk):
    """A walk through a game that the teacher plays by its policy, at a random temperature and with some random moves.

    Args:
        width: Width of the board.
        height: Height of the board.
        number: Number of the game.
        random: Makes all random choices of this walk.
    """

    def __init__(self, width: int, height: int, number: int, random: np.random.Generator) -> None:
        komi = default_komi(width, height)
        super().__init__(Game(width, height, rules=_any_rules(random)), number, random, komi)
        self._opening = random.exponential(OPENING_SHARE * self.game.area)
        self._temperature = random.uniform(0.5, 1.0)
        self._vary_komi()

    def proceed(self, found: EvaluationRow) -> None:
        """Plays a move, with which the game may end."""
        game = self.game
        self._even = even_komi(game, found)
        if self.random.random() < KOMI_CHANGE:
            self._vary_komi()
        if self.random.random() < CHANCE_MOVES:
            index = self._chance_move(found.policy)
        else:
            temperature = OPENING_TEMPERATURE if len(game.moves) < self._opening else self._temperature
            index = drawn_move(found.policy, temperature, self.random)
        self._play(index)
        is_decided = bool(found.value.max() > SURE) and self.random.random() < SURE_END
        self.is_over = is_decided or game.is_over or len(game.moves) >= MOVES_PER_POINT * game.area


def _any_rules(random: np.random.Generator) -> Rules:
    return RULES[int(random.integers(len(RULES)))]


def even_komi(game: Game, found: EvaluationRow) -> float:
    """Returns the komi, including the handicap bonus, with which neither side would lead."""
    lead = found.lead if game.to_move == BLACK else -found.lead
    return game.komi + game.handicap_bonus + lead


def drawn_move(policy: np.ndarray, temperature: float, random: np.random.Generator) -> int:
    """Draws a move from the policy.

    Args:
        policy: [area + 1], above 0 for legal moves.
        temperature: Below 1 for sharper, above 1 for flatter; infinite for a uniform choice.
        random: Makes the choice.

    Returns:
        The index of the move.
    """
    moves = np.flatnonzero(policy)
    logits = np.log(policy[moves].astype(np.float64)) / temperature
    shares = np.exp(logits - logits.max())
    return int(random.choice(moves, p=shares / shares.sum()))
