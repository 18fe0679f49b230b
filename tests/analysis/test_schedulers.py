"""What the networks of the JSON analysis are shown."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gtp_engine.clients.analysis.schedulers import Schedulers
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search

HUMAN = Path(__file__).resolve().parents[1] / "data" / "networks" / "human.bin.gz"


@pytest.mark.parametrize("moves", ["E5 C3", "E5 pass", "E5 pass pass"])
def test_humans_are_asked_about_the_position_that_a_search_begins_with(moves: str) -> None:
    game = Game(9, rules="tromp-taylor")
    for name in moves.split():
        game.play(game.to_move, name)
    settings = EngineSettings(network="uniform", device="cpu", precision="float32")
    with closing(Schedulers(settings, str(HUMAN))) as schedulers:
        policy = schedulers.human_policy(game, "rank_5k")
        assert [(model["name"], model["usesHumanSLProfile"]) for model in schedulers.models()] == [(str(HUMAN), True)]
    evaluator = NetworkEvaluator(HUMAN, device="cpu", precision="float32")
    search = Search(evaluator, SearchParameters(profile="rank_5k"))
    root = run_search(search, SearchRequest(game, Limits(visits=1))).root_evaluation
    assert policy is not None and root is not None
    assert np.allclose(policy, root.policy, atol=1e-6)
