"""A network for Python programs: it evaluates the positions of many games in batches, without a search."""

import itertools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np

from ...base.errors import UserError
from ...base.fields import Range
from ...base.system import available_cpus
from ...base.threads import Closing, NotCopied
from ...go.coords import BLACK, as_colour, colour_name
from ...go.drawing import DrawingOptions
from ...go.game import Game
from ...go.rules import Rules
from ...go.symmetry import ALL_SYMMETRIES
from ...nets.library import file_or_name, find_network
from ...nets.stored import RawOutputs
from .choices import AUTO, LARGEST_BOARD, network_on
from .evaluator import Evaluator
from .features import new_workspace, position_of
from .inputs import games_of
from .network_evaluator import NetworkEvaluator
from .row import EvaluationRow, Policy

T = TypeVar("T")

_SHOWN = 3  # moves in the repr of an evaluation


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A network's evaluation of one position, for the player to move.

    In a notebook it is shown as the board with the ownership and the most probable moves.

    Attributes:
        game: A copy of the game at the position.
        row: All numbers of the network's evaluation.
    """

    game: Game
    row: EvaluationRow

    @property
    def winrate(self) -> float:
        """The win rate, 0 to 1; half of no result counts as a win."""
        return self.row.winrate

    @property
    def lead(self) -> float:
        """The points by which the player is ahead."""
        return self.row.lead

    @property
    def score_mean(self) -> float:
        """The mean of the final score, in points."""
        return self.row.score_mean

    @property
    def score_stdev(self) -> float:
        """The standard deviation of the final score, in points."""
        return self.row.score_stdev

    @property
    def priors(self) -> np.ndarray:
        """The policy in move-index order with the pass last, float32 [area + 1], 0 for illegal moves."""
        return self.row.policy

    @property
    def policy(self) -> Policy:
        """The policy by vertex: `evaluation.policy["D4"]`."""
        return Policy(self.priors, self.game.width, self.game.height)

    @property
    def ownership(self) -> np.ndarray:
        """The owner of each point, float32 [height, width] in -1..1, + for the player to move."""
        return self.row.ownership.reshape(self.game.height, self.game.width)

    def ownership_of(self, colour: int | str) -> np.ndarray:
        """Returns the ownership from a player's view: float32 [height, width] in -1..1, + for `colour`."""
        return self.ownership if as_colour(colour) == self.game.to_move else -self.ownership

    def to_svg(self, **options: Unpack[DrawingOptions]) -> str:
        """Draws the position with the ownership.

        Args:
            **options: Fields of `BoardDrawing` to add or to replace: `ownership`, `candidates`, `labels`, `last_move`,
                `title` and `pixels`.

        Returns:
            A complete SVG document.
        """
        options.setdefault("ownership", self.ownership_of(BLACK))
        return self.game.to_svg(**options)

    _repr_svg_ = to_svg

    def __repr__(self) -> str:
        moves = ", ".join(f"{name} {probability:.1%}" for name, probability in self.policy.top(_SHOWN))
        values = f"{self.winrate:.1%}, {self.lead:+.1f} points"
        return f"<Evaluation: {colour_name(self.game.to_move)} to move, {values}; {moves}>"


def evaluate_games(
    evaluator: Evaluator,
    games: Sequence[Game],
    *,
    optimism: float = 0.0,
    profile: str = "",
    average: bool = False,
    stop: threading.Event | None = None,
) -> list[Evaluation]:
    """Evaluates the present position of each game; those on boards of one size under the same rules share batches.

    Only the batches that are under way are in memory besides the evaluations.

    Args:
        evaluator: The evaluator; the thread is the one that owns it.
        games: The games, which the evaluations keep: they are not to be played on.
        optimism, profile: As in `Evaluator.submit`.
        average: Whether to average over the eight symmetries of the board.
        stop: Ends the work after the batches that are under way, once it is set.

    Returns:
        The evaluations in the order of the games; without those that were left out because of `stop`.

    Raises:
        UserError: A board is too large for the evaluator, or the profile does not suit it.
    """
    workspace = new_workspace()
    found: dict[int, Evaluation] = {}
    under_way: deque[tuple[list[int], Any]] = deque()

    def collect() -> None:
        numbers, ticket = under_way.popleft()
        for number, row in zip(numbers, evaluator.collect(ticket).copy(), strict=True):
            found[number] = Evaluation(games[number], EvaluationRow(row, games[number].area))

    for numbers in _batches(evaluator, games):
        if stop is not None and stop.is_set():
            break
        boards = np.concatenate([position_of(games[number], workspace) for number in numbers])
        symmetries = np.full(len(numbers), ALL_SYMMETRIES) if average else None
        indices = np.arange(len(numbers))
        ticket = evaluator.submit(boards, indices, symmetries, optimism=optimism, profile=profile)
        under_way.append((numbers, ticket))
        if len(under_way) >= evaluator.overlap:
            collect()
    while under_way:
        collect()
    return [found[number] for number in sorted(found)]


def raw_outputs(
    evaluator: NetworkEvaluator, games: Sequence[Game], *, profile: str, stop: threading.Event
) -> RawOutputs[np.ndarray]:
    """Returns the raw outputs for the present position of each game, one batch after the other.

    Arguments are as in `evaluate_games`.

    Raises:
        UserError: There are no games, or boards of several sizes; or as `evaluate_games`.
    """
    if not games or len({(game.width, game.height) for game in games}) > 1:
        raise UserError("raw outputs are of boards of one size: give at least one game, and each size by itself")
    workspace, parts = new_workspace(), []
    boards = np.concatenate([position_of(game, workspace) for game in games])
    for first in range(0, len(boards), evaluator.batch_size):
        if not stop.is_set():
            parts.append(evaluator.raw_outputs(boards[first : first + evaluator.batch_size], profile))
    return RawOutputs(*map(np.concatenate, zip(*parts, strict=True)))


def _batches(evaluator: Evaluator, games: Sequence[Game]) -> Iterator[list[int]]:
    """Yields the numbers of games on boards of one size and under the same rules, as many as are in a batch.

    An evaluator that does not know the rules names them once, and looks at the first game of each batch.
    """
    kinds: dict[tuple[int, int, Rules], list[int]] = {}
    for number, game in enumerate(games):
        kinds.setdefault((game.width, game.height, game.rules), []).append(number)
    for numbers in kinds.values():
        rest = iter(numbers)
        # The batch size is asked each time: it falls when a device turns out to have too little memory.
        while batch := list(itertools.islice(rest, evaluator.batch_size)):
            yield batch


class Network(NotCopied, Closing):
    """A network that is loaded; `load_network` makes it.

    It computes on a thread of its own, so that every thread may call it and torch's settings elsewhere stay as they
    are. `close`, or the end of a `with` block, frees its memory.

    Attributes:
        name: The name of its file.
        takes_profile: Whether it imitates humans: `evaluate` then needs a profile.
    """

    def __init__(self, path: Path, **options: Any) -> None:
        """Loads a network; the arguments are those of `NetworkEvaluator`."""
        self._thread = ThreadPoolExecutor(1, "network-api")
        try:
            self._evaluator = self._thread.submit(partial(NetworkEvaluator, path, **options)).result()
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        self._is_closed = False
        self._lock = threading.Lock()  # of the queue: nothing is added to it after `close`
        self.name = self._evaluator.name
        self.takes_profile = self._evaluator.takes_profile

    def __repr__(self) -> str:
        closed = ", closed" if self._is_closed else ""
        return f"<Network {self.name}: {self._evaluator.device}, {self._evaluator.precision}{closed}>"

    def evaluate(self, games: Iterable[Game], *, average: bool = False, profile: str = "") -> list[Evaluation]:
        """Evaluates the present position of each game. Those of one board size and the same rules share batches.

        A network evaluates all boards up to 19x19, but its numbers mean little on sizes that it was not trained on.

        Args:
            games: The games, such as `record.positions()`; they may be played on afterwards.
            average: Whether to average over the eight symmetries of the board, which takes eight times as long.
            profile: The players to imitate, such as "rank_5k", for a network that does so.

        Returns:
            The evaluations in the order of the games.

        Raises:
            UserError: A board is too large for the network, or it needs a profile or does not accept one; or something
                else than games is given, or the network is closed.
        """
        return self._ask(games, partial(evaluate_games, profile=profile, average=average))

    def raw_outputs(self, games: Iterable[Game], *, profile: str = "") -> RawOutputs[np.ndarray]:
        """Returns what the network computes for the present position of each game, before anything is decoded.

        `network_inputs` returns what it sees; a network that learned few rules sees the nearest of them.

        Args:
            games, profile: As for `evaluate`; at least one game, all on boards of one size.

        Returns:
            Arrays of float32, for the player to move, in the order of the games.

        Raises:
            UserError: There is no game, or boards have several sizes; or as `evaluate`.
        """
        return self._ask(games, partial(raw_outputs, profile=profile))

    def _ask(self, games: Iterable[Game], question: Callable[..., T]) -> T:
        """Has the network's thread answer a question about copies of these games."""
        self._check_open()
        copies = [game.copy() for game in games_of(games)]
        stop = threading.Event()
        with self._lock:
            self._check_open()
            found = self._thread.submit(question, self._evaluator, copies, stop=stop)
        try:
            return found.result()
        finally:
            stop.set()  # Ctrl-C ends the waiting, not the work

    def close(self) -> None:
        """Frees the memory of the network, which cannot be used afterwards."""
        self._check_process()
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            try:
                closed = self._thread.submit(self._evaluator.close)
            except RuntimeError:  # the program ends, and threads take no more work
                return
        closed.result()
        self._thread.shutdown()

    def _check_open(self) -> None:
        self._check_process()
        if self._is_closed:
            raise UserError(f"the network {self.name} is closed")


def load_network(
    network: str | os.PathLike[str],
    *,
    threads: int | None = None,
    device: str = AUTO,
    precision: str = AUTO,
    batch_size: int | None = None,
) -> Network:
    """Loads a network to evaluate positions without a search.

    Args:
        network: A network's file, or its name among the installed ones (`nets.library`); "auto" for the one
            that judges on 19x19 by default.
        threads: CPU threads; None for all.
        device: "auto", "cpu", "cuda" or "mps".
        precision: "auto", "float32", "bfloat16", "float16" or "int8".
        batch_size: Positions evaluated together; None for 128 on a GPU, and on a CPU 4, or half of the threads if
            that is more.

    Raises:
        UserError: The network is not found, or another argument is invalid.
        OSError: The file cannot be read.
    """
    for name, value in (("number of threads", threads), ("batch size", batch_size)):
        if value is not None:
            Range(1, whole=True).parse(name, value, from_text=False)
    path = find_network(network_on(file_or_name(network), LARGEST_BOARD, LARGEST_BOARD))
    threads = threads or available_cpus()
    return Network(path, threads=threads, device=device, precision=precision, batch_size=batch_size)
