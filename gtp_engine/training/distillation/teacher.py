"""The teacher: evaluates the positions of many walks in large batches, and makes a label for each."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from ...base.errors import UserError
from ...base.system import configure_torch
from ...go.board import BOARD
from ...go.coords import BLACK, point_of_index
from ...go.game import Game, Move
from ...go.symmetry import COUNT
from ...search.evaluate.evaluator import Evaluator
from ...search.evaluate.features import new_workspace, position_of
from ...search.evaluate.network_evaluator import NetworkEvaluator
from ...search.evaluate.row import EvaluationRow
from ..data.samples import UNKNOWN, SampleGame, pack_moves
from .walks import Walk

KEPT_MASS = 0.995  # of the policy; the other moves are not worth their bytes
CPU_BATCH, GPU_BATCH = 32, 512  # positions; larger batches are not faster


def load_teacher(path: Path, device: str = "auto", threads: int = 1) -> "Teacher":
    """Loads a teacher.

    Args:
        path: File of the network.
        device: Device, as in `evaluate.choices`.
        threads: CPU threads.

    Raises:
        UserError: It is not a network, or imitates humans.
        OSError: The file cannot be read.
    """
    before = torch.get_num_threads()  # the learner needs them again
    configure_torch()
    # Without a cache: labels must not depend on those that were made before.
    evaluator = NetworkEvaluator(path, threads=threads, device=device, cache_megabytes=0.0)
    if evaluator.takes_profile:
        evaluator.close()
        raise UserError(f"{path}: it imitates humans of a given profile and cannot teach; choose another network")
    batch_size = CPU_BATCH if evaluator.device == "cpu" else GPU_BATCH
    return Teacher(evaluator, batch_size, torch_threads=before)


class Teacher:
    """Evaluates the positions of walks in batches.

    Each position is evaluated under a random symmetry, so that the student does not learn the teacher's preferences for
    certain corners.

    Args:
        evaluator: Evaluates the positions; it is closed with the teacher.
        batch_size: Positions per batch.
        torch_threads: Threads to set in torch when the teacher is closed; None to leave them.
    """

    def __init__(self, evaluator: Evaluator, batch_size: int, torch_threads: int | None = None) -> None:
        self._evaluator, self._batch_size, self._torch_threads = evaluator, batch_size, torch_threads
        self._workspace = new_workspace()

    def label(self, walks: Iterable[Walk], is_stopped: Callable[[], bool]) -> list[SampleGame] | None:
        """Follows walks to their ends and labels their positions.

        Args:
            walks: The walks, all on the same board size.
            is_stopped: Returns whether to stop.

        Returns:
            The labels, in the order of the walks; None if it was stopped.
        """
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
        if self._torch_threads:
            torch.set_num_threads(self._torch_threads)

    def _submit(self, walks: list[Walk]) -> object:
        boards = np.empty(len(walks), BOARD)
        for row, walk in enumerate(walks):
            boards[row] = position_of(walk.game, self._workspace)[0]
        symmetries = np.array([walk.random.integers(COUNT) for walk in walks], np.intp)
        return self._evaluator.submit(boards, np.arange(len(walks)), symmetries)


def label_of(game: Game, found: EvaluationRow, number: int) -> SampleGame:
    """Returns a label: a game that ends with the position, so that all targets belong to its last position.

    Args:
        game: The game up to the position.
        found: The evaluation of the position. Its scores count a game without a result as 0 points; those of a label,
            like a network's raw outputs, are conditional on a result.
        number: `SampleGame.number`.
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
