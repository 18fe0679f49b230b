"""The search thread of an engine, and what belongs to it: the evaluator and the tree.

torch is fast on one thread only, and compiling takes a while: all of it happens here, the thread that talks to a user
stays free. Importing this module imports neither numba nor torch.
"""

import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from ..evaluate.choices import AUTO, too_large
from ..evaluate.metadata import check_profile
from ..game.coords import BLACK, WHITE, opponent
from ..game.rules import RULESETS
from ..log import log
from ..wording import counted
from .parameters import WITHOUT_NETWORK, SearchParameters, default_parameters

if TYPE_CHECKING:
    import numpy as np

    from ..evaluate.interface import Evaluator
    from ..evaluate.network import NetworkEvaluator
    from ..game.game import Game
    from .report import SearchReport
    from .search import Limits, RootMoves, Search

T = TypeVar("T")

# Enough to tell dead stones from living ones, for each of two searches.
_JUDGING_VISITS, _JUDGING_SECONDS = 2000, 1.5
_ANY_PROFILE = "rank_1d"  # to get ready with


class SearchThread:
    """Does jobs one after the other, in a daemon thread: a search that nobody ends must not keep a program running.

    Searches get one of two events to stop at when they are submitted: `stop_event`, or `pondering_stop`, which is set
    whenever anything else is asked.
    """

    def __init__(self) -> None:
        self.stop_event = threading.Event()
        self.pondering_stop = threading.Event()
        self.is_closed = False
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # Not a bound method: the thread must not keep this object, and so its engine, alive.
        self._thread = threading.Thread(target=_work, args=(self._jobs,), name="search", daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[], T]) -> "Future[T]":
        """Has `function` called after all that was submitted before; ValueError once the thread is closed."""
        if self.is_closed:
            raise ValueError("the engine is closed")
        future: Future[T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)

        self._jobs.put(job)
        return future

    def stop(self) -> None:
        """Ends all searches that were submitted so far, the waiting ones as soon as they have begun."""
        self.stop_event.set()
        self.stop_event = threading.Event()
        self.stop_pondering()

    def stop_pondering(self) -> None:
        """Ends the pondering that was submitted so far."""
        self.pondering_stop.set()
        self.pondering_stop = threading.Event()

    def close(self, timeout: float | None = None) -> None:
        """Ends the thread after the jobs that wait, and waits for it as long as `timeout` seconds."""
        self.is_closed = True
        self.stop()
        self._jobs.put(None)
        self._thread.join(timeout)


def _work(jobs: "queue.SimpleQueue[Callable[[], None] | None]") -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # what it holds must not live on until the next one comes


@dataclass(frozen=True)
class Request:
    """A search that was asked for: the position, and how to look at it. Without limits it runs until `stop`."""

    game: "Game"
    stop: threading.Event
    limits: "Limits | None"
    parameters: SearchParameters
    on_report: "Callable[[SearchReport], None] | None" = None
    interval: float | None = None
    root_moves: "RootMoves | None" = None
    ownership: bool = False
    moves_ownership: bool = False


@dataclass(frozen=True)
class RawEvaluation:
    """What a network says of one position looked at by one symmetry, for the player to move.

    value: probabilities of win, loss and no result. lead, score_mean: points; score_mean_square: points squared.
    policy: float32 [area+1], move-index order, NaN where a move is illegal. ownership: float32 [height, width].
    variance_time: turns until the value settles. value_error, score_error: expected errors in the short term (of win
    less loss, in points), None where the network has none.
    """

    symmetry: int
    to_move: int
    value: tuple[float, float, float]
    lead: float
    score_mean: float
    score_mean_square: float
    variance_time: float
    value_error: float | None
    score_error: float | None
    policy: "np.ndarray"
    ownership: "np.ndarray"


class Thinker:
    """What belongs to the search thread. All methods are for that thread."""

    def __init__(
        self,
        network: str,
        threads: int,
        seed: int | None,
        device: str = AUTO,
        precision: str = AUTO,
        *,
        strict: bool = False,
    ) -> None:
        """strict: a board that is too large for the network is a ValueError, and not played by rollouts."""
        self._network, self._threads, self._seed = network, threads, seed
        self._device, self._precision, self._strict = device, precision, strict
        self._evaluator: Evaluator | None = None
        self._large_boards: Evaluator | None = None  # where they are too large for the network
        self._search: Search | None = None
        self._asked: SearchParameters | None = None  # for that search
        self._random: np.random.Generator | None = None
        self._owned: tuple[tuple[object, ...], np.ndarray] | None = None

    @property
    def random(self) -> "np.random.Generator":
        """Chance in the choice of moves, beside the search's own."""
        if self._random is None:
            from numpy.random import default_rng

            self._random = default_rng(self._seed)
        return self._random

    def evaluator(self) -> "Evaluator":
        """The evaluator, made when first asked for; ValueError or OSError where that fails."""
        if self._evaluator is None:
            from ..evaluate.factory import make_evaluator

            self._evaluator = make_evaluator(
                self._network,
                threads=self._threads,
                seed=self._seed,
                device=self._device,
                precision=self._precision,
            )
        return self._evaluator

    def change_network(self, network: str) -> None:
        """Judges by this evaluator (`evaluate.factory`) from now on; the one before gives its memory back."""
        self.close()
        self._network = network

    def network(self) -> "NetworkEvaluator":
        """The evaluator where it is a network; ValueError where there is none, and as `evaluator`."""
        if self._network in WITHOUT_NETWORK:
            raise ValueError("there is no network to ask: start the engine with --network FILE")
        from ..evaluate.network import NetworkEvaluator

        evaluator = self.evaluator()
        assert isinstance(evaluator, NetworkEvaluator)
        return evaluator

    def check_profile(self, profile: str) -> None:
        """ValueError where an evaluator was made that needs a profile and there is none, or the other way round."""
        if self._evaluator is not None:
            check_profile(self._evaluator.name, self._evaluator.takes_profile, profile)

    def announce(self, parameters: SearchParameters) -> None:
        """Says on stderr which network is computed, where and how; nothing without a network."""
        if self._network in WITHOUT_NETWORK:
            return
        evaluator = self.network()
        batch = parameters.batch_size or evaluator.batch_size
        threads = counted(self._threads, "thread")
        log(f"{evaluator.name}: {evaluator.device}, {evaluator.precision}, {threads}, batches of {batch}")

    def _evaluator_of(self, game: "Game") -> "Evaluator":
        """The evaluator for the game's board; rollouts where it is too large for the network."""
        evaluator = self.evaluator()
        if max(game.width, game.height) <= evaluator.largest_board:
            return evaluator
        if self._strict:
            raise ValueError(too_large(evaluator.name, evaluator.largest_board))
        if self._large_boards is None:
            from ..evaluate.factory import make_evaluator

            log(f"{too_large(evaluator.name, evaluator.largest_board)}: larger ones are played by rollouts")
            self._large_boards = make_evaluator(threads=self._threads, seed=self._seed)
        return self._large_boards

    def plays_out(self, game: "Game") -> bool:
        """Whether it judges the game by playouts, and so roughly."""
        return self._evaluator_of(game).plays_out

    def _new_search(self, request: Request) -> "Search":
        """A search with an empty tree, at the request's position."""
        from .search import Search

        evaluator = self._evaluator_of(request.game)
        is_chosen = evaluator is self._evaluator
        search = Search(evaluator, request.parameters if is_chosen else default_parameters("none"), self._seed)
        search.set_position(request.game)
        return search

    def _continued_search(self, request: Request) -> "Search":
        """The search with its tree; other parameters or another evaluator begin another tree."""
        search, evaluator = self._search, self._evaluator_of(request.game)
        if search is None or self._asked != request.parameters or search.evaluator is not evaluator:
            self._search = self._new_search(request)
            self._asked = request.parameters
        else:
            search.set_position(request.game)
        assert self._search is not None
        return self._search

    def warm_up(self) -> None:
        """Compiles the core, or loads it from its cache, and the evaluator."""
        from ..compiled import warm_up

        warm_up(
            [
                ("the rules", _use_board),
                ("the evaluator", self._use_evaluator),
                ("the search", self._use_search),
                ("the count", _use_count),
            ]
        )

    def _use_evaluator(self) -> None:
        """Makes it and judges a position, of the size that a network is tried and made ready for."""
        import numpy as np

        from ..game.game import Game

        evaluator = self.evaluator()
        profile = _ANY_PROFILE if evaluator.takes_profile else ""
        evaluator.collect(evaluator.submit(Game(19).board.copy(), np.arange(1), ownership=True, profile=profile))

    def _use_search(self) -> None:
        from ..evaluate.uniform import UniformEvaluator
        from ..game.game import Game
        from .search import Limits, Search

        # A search of its own: the random numbers of the game's search are for the game, and it shall take no time.
        search = Search(UniformEvaluator(), SearchParameters(tree_megabytes=0.4), self._seed)
        game = Game(5)
        search.set_position(game)
        report = search.run(Limits(visits=600), ownership=True)
        # With room for about 1,100 nodes, 600 make the next position drop what is not below it.
        game.play(BLACK, report.moves[0].point)
        search.set_position(game)
        search.run(Limits(visits=610))

    def search(self, request: Request) -> "SearchReport":
        """Searches on the kept tree."""
        from .search import Limits

        return self._continued_search(request).run(
            request.limits or Limits(),
            stop=request.stop,
            on_report=request.on_report,
            interval=request.interval,
            root_moves=request.root_moves,
            ownership=request.ownership,
            moves_ownership=request.moves_ownership,
        )

    def look(self, request: Request) -> "SearchReport":
        """Searches beside the kept tree, with ownership."""
        from .search import Limits

        search = self._new_search(request)
        limits = request.limits or Limits()
        return search.run(limits, stop=request.stop, root_moves=request.root_moves, ownership=True)

    def opponents_view(self, request: Request) -> "SearchReport":
        """What the opponent of the player to move finds, moving first instead; a search beside the kept tree."""
        game = request.game.copy()
        game.to_move = opponent(game.to_move)
        return self.look(replace(request, game=game, root_moves=None))

    def raw_evaluations(
        self, game: "Game", symmetries: Iterable[int], optimism: float, profile: str
    ) -> list[RawEvaluation]:
        """What the network says of the game's position by each of these symmetries (`game.symmetry`).

        optimism: share of the optimistic policy, 0..1, where the network has one. profile: as in `Evaluator.submit`.
        ValueError without a network, and for a board too large for it.
        """
        import numpy as np

        from ..evaluate.inputs import new_workspace, position_of

        evaluator = self.network()
        position, legal = position_of(game, new_workspace()), game.legal_moves()
        evaluations = []
        for symmetry in symmetries:
            said = evaluator.predict(position, symmetry, optimism=optimism, profile=profile)
            win, loss, neither = said.value[0].tolist()
            evaluation = RawEvaluation(
                symmetry,
                game.to_move,
                (win, loss, neither),
                lead=said.lead.item(),
                score_mean=said.score_mean.item(),
                score_mean_square=said.score_mean_square.item(),
                variance_time=said.variance_time.item(),
                value_error=None if said.value_error is None else said.value_error.item(),
                score_error=None if said.score_error is None else said.score_error.item(),
                policy=np.where(legal, said.policy[0].numpy(), np.float32(np.nan)),
                ownership=said.ownership[0].numpy().reshape(game.height, game.width),
            )
            evaluations.append(evaluation)
        return evaluations

    def ownership(self, game: "Game", parameters: SearchParameters, stop: threading.Event) -> "np.ndarray":
        """Who will own each point, as `ending.in_their_own_turn`. The same again for the same position."""
        from .ending import in_their_own_turn
        from .search import Limits

        position = (game.width, game.height, game.rules, game.komi, *game.setup_stones, *game.moves)
        if self._owned is not None and self._owned[0] == position:
            return self._owned[1]
        # With a seed the moves after this one must not depend on how fast the machine is.
        limits = Limits(_JUDGING_VISITS, _JUDGING_SECONDS if self._seed is None else None)
        views = []
        for colour in (BLACK, WHITE):
            turn = game.copy()
            turn.to_move = colour
            report = self.look(Request(turn, stop, limits, parameters))
            assert report.ownership is not None
            views.append(report.ownership if colour == BLACK else -report.ownership)
        owned = in_their_own_turn(game, *views)
        if not stop.is_set():
            self._owned = (position, owned)
        return owned

    def choose(self, report: "SearchReport", temperature: float | None = None) -> int:
        """As Search.choose, for the report of the last search."""
        assert self._search is not None
        return self._search.choose(report, temperature)

    def clear(self) -> None:
        """Forgets tree and evaluations."""
        if self._search is not None:
            self._search.clear()
        if self._evaluator is not None:
            self._evaluator.clear_cache()

    def close(self) -> None:
        """Gives the evaluator's memory back."""
        self._search = None
        for evaluator in (self._evaluator, self._large_boards):
            if evaluator is not None:
                evaluator.close()
        self._evaluator = self._large_boards = None


def compile_ahead() -> None:
    """Compiles what plays with networks, where that is still to be done: for processes that would each do it else."""
    from ..compiled import is_cold
    from ..evaluate.factory import UNIFORM
    from ..network.library import default_network

    if is_cold():
        network = default_network(9, 9)
        thinker = Thinker(str(network) if network else UNIFORM, 1, None)
        thinker.warm_up()
        thinker.close()


def _use_board() -> None:
    """Calls what the board is made of."""
    from ..game.coords import point_at
    from ..game.game import Game

    game = Game(5, rules=RULESETS["tromp-taylor"])
    for x, y in ((1, 0), (0, 0), (0, 1), (4, 4)):
        game.play(game.to_move, point_at(x, y, 5))
    game.is_legal(point_at(0, 0, 5))
    game.legal_moves()
    game.set_up([point_at(0, 0, 5)], [point_at(1, 1, 5)])


def _use_count() -> None:
    """Calls what the end of a game needs."""
    import numpy as np

    from ..game.game import Game
    from .ending import judge

    nobody = np.zeros((5, 5))
    judge(Game(5), nobody, nobody)
