"""The teacher: the positions that it labels, on walks through games, and its labels for them, made in large batches.

A walk along a record visits some of its positions, and sometimes leaves the game there by one or several random moves:
in a search a network also has to evaluate mistakes, which are rare in records. A walk without a record plays a game by
the teacher's policy; this covers board sizes for which there are no records.

Komi varies too. Usually it is near the game's own, as in the games in which the student will be used: a student that
mostly sees even positions takes the komi for the score on the board, and then underrates leads. Sometimes it is near
the komi with which the teacher considers the position even, so that win rates are informative, and sometimes far away.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from ...base.errors import UserError
from ...base.system import configure_torch
from ...go.board import BOARD
from ...go.coords import BLACK, point_of_index
from ...go.game import Game, IllegalMove, Move
from ...go.rules import RULESETS, Rules, default_komi
from ...go.symmetry import COUNT
from ...search.evaluate.evaluator import Evaluator
from ...search.evaluate.features import new_workspace, position_of
from ...search.evaluate.network_evaluator import NetworkEvaluator
from ...search.evaluate.row import EvaluationRow
from ..data.samples import UNKNOWN, GameSet, SampleGame, pack_moves, unpack_moves

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
KEPT_MASS = 0.995  # of the policy; the other moves are not worth their bytes
CPU_BATCH, GPU_BATCH = 32, 512  # positions; larger batches are not faster


class Walk(ABC):
    """A walk through positions, from that of `game`, whose own komi includes the handicap bonus.

    Attributes:
        game: The next position to evaluate, unless `is_over`.
        number: Number of the record, or of the game that is played.
        random: Makes all random choices of this walk.
        is_over: Whether the walk has ended.
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
    """A walk along a game of a set, by its index, to some of its positions, with excursions by random moves."""

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
    """A walk through a game that the teacher plays by its policy at a random temperature, with some random moves."""

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
    """Draws the index of a move from a policy [area + 1], above 0 for legal moves.

    A temperature below 1 makes it sharper, above 1 flatter; an infinite one makes the choice uniform.
    """
    moves = np.flatnonzero(policy)
    logits = np.log(policy[moves].astype(np.float64)) / temperature
    shares = np.exp(logits - logits.max())
    return int(random.choice(moves, p=shares / shares.sum()))


def load_teacher(path: Path, device: str = "auto", threads: int = 1) -> "Teacher":
    """Loads a teacher to a device of `choices`.

    torch has one thread from then on. Raises UserError if the file is not a network or its network imitates humans, and
    OSError if it cannot be read.
    """
    configure_torch()
    # Without a cache: labels must not depend on those that were made before.
    evaluator = NetworkEvaluator(path, threads=threads, device=device, cache_megabytes=0.0)
    if evaluator.takes_profile:
        evaluator.close()
        raise UserError(f"{path}: it imitates humans of a given profile and cannot teach; choose another network")
    batch_size = CPU_BATCH if evaluator.device == "cpu" else GPU_BATCH
    return Teacher(evaluator, batch_size)


class Teacher:
    """Evaluates the positions of walks in batches, by an evaluator that is closed with the teacher.

    Each position is evaluated under a random symmetry, so that the student does not learn the teacher's preferences for
    certain corners.
    """

    def __init__(self, evaluator: Evaluator, batch_size: int) -> None:
        self._evaluator, self._batch_size = evaluator, batch_size
        self._workspace = new_workspace()

    def label(self, walks: Iterable[Walk], is_stopped: Callable[[], bool]) -> list[SampleGame] | None:
        """Follows walks on one board size to their ends; returns the labels in their order, None if it was stopped."""
        labels: dict[int, list[SampleGame]] = {}
        waiting = iter(enumerate(walk for walk in walks if not walk.is_over))
        ready: deque[tuple[int, Walk]] = deque()
        submitted: deque[tuple[list[tuple[int, Walk]], object]] = deque()
        while not is_stopped():
            group = [ready.popleft() for _ in range(min(self._batch_size, len(ready)))]
            group += islice(waiting, self._batch_size - len(group))
            if group:
                submitted.append((group, self._submit([walk for _, walk in group])))
                if len(submitted) < self._evaluator.overlap:
                    continue
            if not submitted:
                return [label for number in sorted(labels) for label in labels[number]]
            group, ticket = submitted.popleft()
            for (number, walk), row in zip(group, self._evaluator.collect(ticket), strict=True):
                found = EvaluationRow(row, walk.game.area)
                labels.setdefault(number, []).append(label_of(walk.game, found, walk.number))
                walk.proceed(found)
                if not walk.is_over:
                    ready.append((number, walk))
        while submitted:
            self._evaluator.collect(submitted.popleft()[1])
        return None

    def close(self) -> None:
        """Frees the network's memory."""
        self._evaluator.close()

    def _submit(self, walks: list[Walk]) -> object:
        boards = np.empty(len(walks), BOARD)
        for row, walk in enumerate(walks):
            boards[row] = position_of(walk.game, self._workspace)[0]
        symmetries = np.array([walk.random.integers(COUNT) for walk in walks], np.intp)
        return self._evaluator.submit(boards, np.arange(len(walks)), symmetries)


def label_of(game: Game, found: EvaluationRow, number: int) -> SampleGame:
    """Returns a label: a game that ends with the position, so that all targets belong to its last position.

    The scores of the evaluation count a game without a result as 0 points; those of a label, like a network's raw
    outputs, are conditional on a result.
    """
    count = len(game.moves)
    moves = policy_moves(found.policy)
    move = Move(game.to_move, point_of_index(int(moves[0]), game.width, game.height))
    sign = 1 if game.to_move == BLACK else -1
    win, loss, no_result = found.value
    value = (win, loss, no_result) if game.to_move == BLACK else (loss, win, no_result)
    ends = max(1.0 - float(no_result), 1e-3)
    mean = found.score_mean / ends
    squares = (found.score_stdev**2 + found.score_mean**2) / ends
    stdev = math.sqrt(max(squares - mean**2, 0.0))
    return SampleGame.from_game(
        game,
        moves=pack_moves([*game.moves, move], game.width, game.height),
        winner=UNKNOWN,
        ownership=sign * found.ownership,
        number=number,
        weights=np.append(np.zeros(count, np.float32), np.float32(1)),
        policies=[*[None] * count, (moves, found.policy[moves])],
        judgement=np.array([*value, sign * mean, stdev, sign * found.lead / ends]),
    )


def policy_moves(policy: np.ndarray) -> np.ndarray:
    """Returns the indices (uint16) of the most likely moves that have a total probability of KEPT_MASS, best first."""
    order = np.argsort(-policy, kind="stable")
    count = int(np.searchsorted(np.cumsum(policy[order]), KEPT_MASS)) + 1
    return order[:count].astype(np.uint16)
