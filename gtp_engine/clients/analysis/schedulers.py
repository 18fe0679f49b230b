"""Which evaluator searches which boards: one scheduler per network, made when the first query needs it."""

from typing import Any

import numpy as np

from ...base.errors import UserError
from ...engine.settings import EngineSettings
from ...engine.worker import SearchWorker
from ...go.game import Game
from ...nets.library import find_network
from ...search.evaluate.choices import LARGEST_BOARD, WITHOUT_NETWORK
from ...search.evaluate.evaluator import Evaluator, make_evaluator
from ...search.evaluate.features import new_workspace, root_position_of
from ...search.evaluate.row import EvaluationRow
from ...search.scheduler import Scheduler


class Schedulers:
    """The schedulers by network, for engine settings that may choose another network for each board size.

    Args:
        settings: The engine's settings. Its network may be AUTO.
        human_model: The file of a second network, which imitates humans, or None.

    Raises:
        UserError: The human model is not a network that imitates humans.
        OSError: Its file cannot be read.
    """

    def __init__(self, settings: EngineSettings, human_model: str | None = None) -> None:
        self._settings = settings
        self._by_network: dict[str, tuple[SearchWorker, Scheduler]] = {}
        self._human_model = human_model or ""
        self._human: Evaluator | None = None
        if human_model is not None:
            self._human = make_evaluator(
                human_model, seed=settings.seed, device=settings.device, precision=settings.precision
            )
            if not self._human.takes_profile:
                self.close()
                raise UserError(f"-human-model {human_model}: this network was not trained on the games of humans")

    def on_board(self, width: int, height: int) -> Scheduler:
        """Returns the scheduler for boards of that size; the first call for a network loads it."""
        settings = self._settings.on_board(width, height)
        if settings.network not in self._by_network:
            worker = settings.new_worker()
            worker.warm_up()
            worker.announce(settings.search_parameters(settings.network))
            evaluator = worker.evaluator()
            scheduler = Scheduler(evaluator)
            self._by_network[settings.network] = worker, scheduler
        return self._by_network[settings.network][1]

    def human_policy(self, game: Game, profile: str) -> np.ndarray | None:
        """Returns the policy of the human model for a position, float32 [area + 1] in move-index order.

        None without a human model, or on a board that is too large for it.
        """
        if self._human is None or max(game.width, game.height) > LARGEST_BOARD:
            return None
        ticket = self._human.submit(root_position_of(game, new_workspace()), np.arange(1), profile=profile)
        rows = self._human.collect(ticket)
        policy: np.ndarray = EvaluationRow(rows[0], game.area).policy.copy()
        return policy

    def models(self) -> list[dict[str, Any]]:
        """Returns the loaded networks as KataGo's `query_models` reports them."""
        networks = [(name, scheduler.evaluator) for name, (_, scheduler) in self._by_network.items()]
        networks += [] if self._human is None else [(self._human_model, self._human)]
        return [_model(name, evaluator) for name, evaluator in networks if name not in WITHOUT_NETWORK]

    def close(self) -> None:
        """Closes all evaluators."""
        for worker, _ in self._by_network.values():
            worker.close()
        if self._human is not None:
            self._human.close()


def _model(network: str, evaluator: Evaluator) -> dict[str, Any]:
    from ...search.evaluate.network_evaluator import NetworkEvaluator

    assert isinstance(evaluator, NetworkEvaluator)
    return {
        "name": str(find_network(network)),
        "internalName": evaluator.config.name,
        "maxBatchSize": evaluator.batch_size,
        "usesHumanSLProfile": evaluator.config.metadata_version > 0,
        "version": evaluator.config.version,
        "usingFP16": "true" if evaluator.precision == "float16" else "false",
    }
