"""The evaluator and the tree of an engine, which belong to its search thread."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import UserError
from ..base.messages import plural
from ..base.warm_up import Step, warm_up
from ..go.coords import BLACK, WHITE
from ..go.game import Game
from ..go.symmetry import COUNT as SYMMETRIES
from ..search.evaluate.choices import ROLLOUTS, names_file, too_large
from ..search.evaluate.evaluator import Evaluator
from ..search.evaluate.factory import make_evaluator
from ..search.evaluate.features import new_workspace, position_of
from ..search.evaluate.human_profile import check_profile
from ..search.evaluate.root import evaluate_root
from ..search.parameters import SearchParameters, default_parameters
from ..search.report import SearchReport
from ..search.request import ANY_MOVE, Limits, SearchRequest
from ..search.scheduler import run_search
from ..search.search import Search
from . import first_calls
from .status import (
    agreed_before_the_end,
    chain_statuses,
    evaluated_ownership,
    find_dead,
    in_their_own_turn,
    may_pass,
)

if TYPE_CHECKING:
    from ..search.evaluate.batch import Evaluation
    from ..search.evaluate.network_evaluator import NetworkEvaluator
    from .settings import EngineSettings

logger = logging.getLogger(__name__)

# Limits of each of the two searches for dead stones: a network makes about that many visits in that time on 19x19.
# They also bound the time if a seed forbids that the clock does. Rough evaluations have `least_visits` times as many.
_OWNERSHIP_VISITS, _OWNERSHIP_SECONDS = 100, 1.5
_ANY_PROFILE = "rank_1d"  # for warming up


class SearchWorker:
    """The evaluator and the tree of an engine. It belongs to the thread that made it.

    Attributes:
        network_name: The evaluator (`make_evaluator`).
        random: The generator for the choice of moves.
    """

    def __init__(self, settings: "EngineSettings", network: str = "") -> None:
        """Makes a worker without evaluator and tree, which are made when they are first needed.

        Args:
            settings: The network, what it uses of the machine, the seed of everything random, and whether a board too
                large for the network is a UserError; otherwise rollouts play on it.
            network: Another evaluator than that of the settings.
        """
        self.network_name = network or settings.network
        self._settings = settings
        self._evaluator: Evaluator | None = None
        self._large_boards: Evaluator | None = None  # for boards too large for the network
        self._player: SearchWorker | None = None  # of another network
        self._search: Search | None = None
        self.random = np.random.default_rng(settings.seed)
        self._workspace = new_workspace()
        self._ownership: tuple[tuple[object, ...], np.ndarray] | None = None  # with its position

    def evaluator(self) -> Evaluator:
        """Returns the evaluator, made at the first call, which evaluates a position on 19x19 then.

        UserError if the network does not exist or cannot be used; OSError if its file cannot be read.
        """
        if self._evaluator is None:
            used = self._settings
            self._evaluator = made = make_evaluator(
                self.network_name, threads=used.threads, seed=used.seed, device=used.device, precision=used.precision
            )
            # What this compiles would take the time of the first search, which would find nothing then.
            profile = _ANY_PROFILE if made.takes_profile else ""
            made.collect(made.submit(Game(19).board.copy(), np.arange(1), profile=profile))
        return self._evaluator

    def prepare(self, width: int, height: int) -> None:
        """Does what the first search on such a board would take its time for (`Evaluator.prepare`)."""
        evaluator = self.evaluator()
        if max(width, height) <= evaluator.largest_board:
            evaluator.prepare(width, height)

    def change_network(self, network: str) -> None:
        """Switches to another evaluator (`make_evaluator`) and frees the memory of the last one."""
        self.close()
        self.network_name = network

    def player(self, network: str) -> "SearchWorker":
        """Returns the worker that plays with an evaluator: this one, or one that it keeps beside its own tree."""
        if network == self.network_name:
            return self
        if self._player is None or self._player.network_name != network:
            self._close_player()
            self._player = SearchWorker(self._settings, network)
        return self._player

    def _close_player(self) -> None:
        if self._player is not None:
            self._player.close()
            self._player = None

    def network(self) -> "NetworkEvaluator":
        """Returns the evaluator, which must be a network; UserError if there is none, or as `evaluator`."""
        from ..search.evaluate.network_evaluator import NetworkEvaluator

        evaluator = self.evaluator()
        if not isinstance(evaluator, NetworkEvaluator):
            raise UserError("this needs a network: start the engine with --network NAME")
        return evaluator

    def check_profile(self, profile: str) -> None:
        """Raises UserError if the evaluator needs a profile and there is none, or the other way round."""
        evaluator = self.evaluator()
        check_profile(evaluator.name, evaluator.takes_profile, profile)

    def announce(self, parameters: SearchParameters) -> None:
        """Logs the network, its device and precision, the threads and the batch size; nothing without a network."""
        if not names_file(self.network_name):
            return
        evaluator = self.evaluator()
        batch = parameters.batch_size or evaluator.batch_size
        threads = plural(self._settings.threads, "thread")
        logger.info(f"{evaluator}, {threads}, batches of {batch}")

    def evaluator_on(self, width: int, height: int) -> Evaluator:
        """Returns the evaluator for a board: rollouts if it is too large for the network.

        UserError if it is too large and the worker is strict; or as `evaluator`.
        """
        evaluator = self.evaluator()
        if max(width, height) <= evaluator.largest_board:
            return evaluator
        reason = too_large(evaluator.name, evaluator.largest_board)
        if self._settings.strict:
            raise UserError(reason)
        if self._large_boards is None:
            logger.warning(f"{reason}: larger ones are played by rollouts")
            self._large_boards = make_evaluator(threads=self._settings.threads, seed=self._settings.seed)
        return self._large_boards

    def parameters_on(self, width: int, height: int, wanted: SearchParameters | None) -> SearchParameters:
        """Returns the parameters for a board: those that are wanted for the network, or its usual ones if None are.

        A board that is too large for the network has the usual ones of rollouts.
        """
        if self.evaluator_on(width, height) is not self._evaluator:
            return default_parameters(ROLLOUTS)
        return wanted or default_parameters(self.network_name)

    def search(self, request: SearchRequest) -> SearchReport:
        """Searches in the tree of earlier searches, or in a new one if parameters or evaluator differ."""
        evaluator, parameters = self._fitted(request)
        # The search itself sees to another advantage, which has the other sign while the opponent thinks.
        search, alike = self._search, replace(parameters, playout_doubling_advantage=0.0)
        if search is None or search.parameters != alike or search.evaluator is not evaluator:
            self._search = search = Search(evaluator, alike, self._settings.seed, ownership=True)
        return run_search(search, replace(request, parameters=parameters))

    def analyze(self, request: SearchRequest) -> SearchReport:
        """Searches as `search` does, with the dead stones of `with_dead` unless it is for one visit."""
        return self.search(request if request.limits.visits == 1 else self.with_dead(request))

    def with_dead(self, request: SearchRequest) -> SearchRequest:
        """Returns the request with the dead stones without which its search counts (`status.agreed_before_the_end`)."""
        evaluator, parameters = self._fitted(request)
        return replace(request, dead=agreed_before_the_end(request.game, evaluator, parameters))

    def may_pass(self, request: SearchRequest) -> bool:
        """Returns whether a search of the position may come to a pass at its root (`status.may_pass`)."""
        return may_pass(request.game, *self._fitted(request))

    def look(self, request: SearchRequest) -> SearchReport:
        """Searches in a tree of its own, with ownership, for equal players, and without reports on the way."""
        evaluator, parameters = self._fitted(request)
        equal = replace(parameters, playout_doubling_advantage=0.0)
        search = Search(evaluator, equal, self._settings.seed)
        return run_search(search, replace(request, parameters=equal, ownership=True, on_report=None))

    def _fitted(self, request: SearchRequest) -> tuple[Evaluator, SearchParameters]:
        """Returns the evaluator for a request's board, and parameters that suit it."""
        board = request.game.width, request.game.height
        return self.evaluator_on(*board), self.parameters_on(*board, request.parameters)

    def glance(self, request: SearchRequest, *, deterministic: bool = False) -> SearchReport:
        """Returns one evaluation of the position as the report of a search of one visit.

        Args:
            request: The position; of the rest only the parameters count.
            deterministic: Whether to leave the board as it is instead of turning it by a random symmetry.
        """
        evaluator, parameters = self._fitted(request)
        game, started = request.game, time.perf_counter()
        symmetry = 0 if deterministic else int(self.random.integers(SYMMETRIES))
        optimism, profile = parameters.root_policy_optimism, parameters.profile
        row = evaluate_root(evaluator, game, symmetry=symmetry, optimism=optimism, profile=profile)
        return SearchReport.of(
            game,
            visits=1,
            new_visits=1,
            **{name: getattr(row, name) for name in ("winrate", "lead", "score_mean", "score_stdev")},
            utility=2 * row.winrate - 1,
            moves=(),
            priors=np.where(game.legal_moves(), row.policy, np.float32(0)),
            ownership=row.ownership.reshape(game.height, game.width),
            seconds=time.perf_counter() - started,
            root_evaluation=row,
            is_rough=evaluator.least_visits > 1,
        )

    def warm_up(
        self, on_rules: Callable[[], object] = lambda: None, is_closed: Callable[[], bool] = lambda: False
    ) -> None:
        """Compiles the core, or loads it from the cache, and makes the evaluator.

        Args:
            on_rules: Called when the rules are compiled, long before the rest at a cold start.
            is_closed: Returns whether to give up before the next step.

        Raises:
            UserError: It was given up; or as `evaluator`.
        """

        def use_rules() -> None:
            first_calls.use_rules()
            on_rules()

        def step(name: str, run: Callable[[], object], module: str = "") -> Step:
            def run_unless_closed() -> None:
                if is_closed():
                    raise UserError("the engine is closed")
                run()

            return Step(name, run_unless_closed, module)

        module = first_calls.__name__
        steps = [
            step("the rules", use_rules),
            step("the evaluator", self.evaluator),
            step("the search", first_calls.use_search, module),
            step("the count", first_calls.use_count, module),
        ]
        warm_up(steps)

    def raw_evaluations(
        self, game: Game, symmetries: Iterable[int], optimism: float, profile: str
    ) -> "list[Evaluation]":
        """Returns the network's evaluations of the game's position under each of these symmetries (`go.symmetry`).

        Optimism and profile are as in `Evaluator.submit`.

        Raises:
            UserError: There is no network, or the board is too large for it.
        """
        from ..search.evaluate.batch import Evaluation

        network, position = self.network(), position_of(game, self._workspace)
        rows = (network.evaluate(position, symmetry, optimism=optimism, profile=profile) for symmetry in symmetries)
        return [Evaluation(game, row) for row in rows]

    def ownership(self, request: SearchRequest) -> np.ndarray:
        """Returns the ownership of each point for Black, once found for a position.

        It is found with each player to move first. During a game the two are combined by `status.in_their_own_turn`;
        after the end, when nobody moves any more, it is their mean.
        """
        game = request.game
        parameters = request.parameters  # of a search, or with the profile of a network
        history = tuple(game.setup_stones), tuple(game.moves), game.history_start, game.is_over
        position = (game.width, game.height, game.rules, game.komi, parameters, *history)
        if self._ownership is not None and self._ownership[0] == position:
            return self._ownership[1]
        evaluator = self.evaluator_on(game.width, game.height)
        if game.is_over and evaluator.least_visits == 1:  # nothing is left to be searched
            profile = (parameters or default_parameters(self.network_name)).profile
            combined = np.mean(evaluated_ownership(game, evaluator, profile), 0)
        else:
            ownerships = [self.ownership_moving_first(request, colour) for colour in (BLACK, WHITE)]
            combined = np.mean(ownerships, 0) if game.is_over else in_their_own_turn(game, *ownerships)
        if not request.is_stopped:
            self._ownership = (position, combined)
        return combined

    def ownership_moving_first(self, request: SearchRequest, colour: int) -> np.ndarray:
        """Returns Black's ownership if this player moves first, by a search with limits of its own."""
        game = request.game.copy()
        game.to_move = colour
        # With a seed the rest of the game must not depend on the speed of the machine.
        visits = _OWNERSHIP_VISITS * self.evaluator_on(game.width, game.height).least_visits
        limits = Limits(visits, _OWNERSHIP_SECONDS if self._settings.seed is None else None)
        ownership = self.look(replace(request, game=game, limits=limits, root_moves=ANY_MOVE)).ownership
        assert ownership is not None
        return ownership if colour == BLACK else -ownership

    def dead_stones(self, request: SearchRequest) -> set[int]:
        """Returns the points of the dead stones (`status.find_dead`)."""
        return find_dead(request.game, lambda: self.ownership(request))

    def statuses(self, request: SearchRequest) -> dict[str, list[list[int]]]:
        """Returns the chains by their status (`status.chain_statuses`)."""
        return chain_statuses(request.game, self.dead_stones(request))

    def clear(self) -> None:
        """Clears the tree and the cache of evaluations."""
        self._ownership = None
        if self._search is not None:
            self._search.clear()
        if self._evaluator is not None:
            self._evaluator.clear_cache()
        if self._player is not None:
            self._player.clear()

    def close(self) -> None:
        """Frees the evaluator's memory."""
        self._close_player()
        self._search = self._ownership = None
        for evaluator in (self._evaluator, self._large_boards):
            if evaluator is not None:
                evaluator.close()
        self._evaluator = self._large_boards = None


def as_katago(network: "NetworkEvaluator", name: str) -> dict[str, Any]:
    """Returns what KataGo's GTP and its JSON protocol report about a network, under this name."""
    return {
        "name": name,
        "internalName": network.config.name,
        "maxBatchSize": network.batch_size,
        "usesHumanSLProfile": network.takes_profile,
        "version": network.config.version,
        "usingFP16": str(network.precision == "float16").lower(),
    }
