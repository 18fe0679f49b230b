"""Searches that share the batches of one evaluator, step by step."""

from typing import Any

import numpy as np
import pytest
from hash_evaluator import HashEvaluator
from searching import run

from gtp_engine.base.jit import config
from gtp_engine.go.game import Game
from gtp_engine.search import batcher as batchers
from gtp_engine.search.batcher import LeafBatcher
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import make_report
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import Scheduler
from gtp_engine.search.search import ActiveSearch, Search

NO_SLOTS = np.zeros(0, np.int64)


class TurnedEvaluator(HashEvaluator):
    """Keeps the symmetries that it was asked for, and of each batch the optimism."""

    def __init__(self) -> None:
        super().__init__(4)
        self.symmetries: list[int] = []
        self.optimism: list[float] = []

    def submit(self, boards, indices, symmetries=None, ladders=None, **options):  # type: ignore[no-untyped-def]
        self.symmetries += [] if symmetries is None else symmetries.tolist()
        self.optimism.append(options["optimism"])
        return super().submit(boards, indices, symmetries, **options)


def made(evaluator: HashEvaluator, komi: float, **settings: object) -> Search:
    search = Search(evaluator, SearchParameters(**settings), seed=1)  # type: ignore[arg-type]
    search.set_position(Game(5, komi=komi))
    return search


def begun(evaluator: HashEvaluator, komi: float, visits: int = 100, **settings: object) -> ActiveSearch:
    return made(evaluator, komi, **settings).begin(SearchRequest(Game(5, komi=komi), Limits(visits)))


def states(batcher: LeafBatcher) -> np.ndarray:
    """How all searches stand."""
    batcher.survey(np.arange(len(batcher.searches)))
    return batcher.statuses


def step(batcher: LeafBatcher, slots: list[int], size: int) -> list[int]:
    """Selects a batch and hands it in; the positions of each search in it."""
    states(batcher)
    batch, _ = batcher.select(np.array(slots), size, 1)
    batcher.submit(batch)
    return np.diff(batch.starts[: batch.search_count + 1]).tolist()


def test_states_tell_how_a_search_stands() -> None:
    evaluator = HashEvaluator(8)
    batcher = LeafBatcher(evaluator)
    search = begun(evaluator, 5.5, visits=12)
    slot = batcher.add(search)
    state = states(batcher)[slot]
    assert (bool(state["is_evaluated"]), state["left"], state["in_flight"], state["quota"]) == (False, 12, 0, 1)
    step(batcher, [slot], 8)
    assert [states(batcher)[slot][name] for name in ("in_flight", "quota")] == [1, 0]
    batcher.collect(NO_SLOTS)
    state = states(batcher)[slot]
    assert (bool(state["is_evaluated"]), state["left"], state["in_flight"], state["quota"]) == (True, 11, 0, 1)
    for _ in range(11):
        step(batcher, [slot], 1)
        batcher.collect(NO_SLOTS)
    assert states(batcher)[slot]["left"] == 0 and states(batcher)[slot]["quota"] <= 0
    assert make_report(search, 0.0).visits == search.new_visits == 12


def test_each_gets_its_share_of_a_batch() -> None:
    evaluator = HashEvaluator(64)
    batcher = LeafBatcher(evaluator)
    searches = [begun(evaluator, komi) for komi in (0.5, 5.5, 9.5)]
    slots = [batcher.add(search) for search in searches]
    for _ in range(40):
        step(batcher, slots, 3)
        batcher.collect(NO_SLOTS)
    assert min(search.search.visits for search in searches) > 30
    assert step(batcher, slots, 12) == [4, 4, 4]
    assert step(batcher, slots, 2) == [1, 1]


def test_leaves_of_a_search_that_has_left_reach_nobody() -> None:
    evaluator = HashEvaluator(4)
    batcher = LeafBatcher(evaluator)
    first, other = begun(evaluator, 0.5), begun(evaluator, 5.5)
    slots = [batcher.add(first), batcher.add(other)]
    assert step(batcher, slots, 4) == [1, 1]
    batcher.remove(slots[0])
    late = begun(evaluator, 9.5)
    assert batcher.add(late) == slots[0]
    batcher.collect(NO_SLOTS)
    assert (first.search.visits, late.search.visits, other.search.visits) == (0, 0, 1)
    assert states(batcher)["in_flight"].tolist() == [0, 0]
    step(batcher, slots, 4)
    batcher.collect(NO_SLOTS)
    assert (first.search.visits, late.search.visits, other.search.visits) == (0, 1, 2)


def test_random_symmetries_are_all_of_them_and_the_seeds_own() -> None:
    asked = []
    for _ in range(2):
        evaluator = TurnedEvaluator()
        run(made(evaluator, 5.5, symmetry="random"), Limits(100))
        asked.append(evaluator.symmetries)
    assert asked[0] == asked[1]
    assert set(asked[0]) == set(range(8))
    evaluator = TurnedEvaluator()
    run(made(evaluator, 5.5, symmetry="average"), Limits(20))
    assert set(evaluator.symmetries) == {8}


def test_the_optimism_of_a_batch_is_that_of_a_root_and_of_anothers_tree() -> None:
    evaluator = TurnedEvaluator()
    batcher = LeafBatcher(evaluator)
    first = begun(evaluator, 0.5, root_policy_optimism=1.0, policy_optimism=0.25)
    other = begun(evaluator, 5.5, root_policy_optimism=0.25, policy_optimism=1.0)
    slots = [batcher.add(first), batcher.add(other)]
    step(batcher, slots[:1], 4)
    batcher.collect(NO_SLOTS)
    assert step(batcher, slots, 4) == [1, 1]
    assert evaluator.optimism == [1.0, 0.25]


def test_a_search_alone_asks_for_the_ownership_of_its_root_too() -> None:
    search = made(HashEvaluator(4), 5.5)
    assert run(search, Limits(20), ownership=True).new_visits == 20
    assert search.ownership_sums.counts[-1] == 1
    assert run(search, Limits(30), ownership=True).new_visits == 10  # it need not forget what it has found


def test_a_limit_may_be_larger_than_any_integer_of_the_machine() -> None:
    search = begun(HashEvaluator(4), 5.5, visits=10**30)
    batcher = LeafBatcher(HashEvaluator(4))
    slot = batcher.add(search)
    assert states(batcher)[slot]["left"] > 10**18


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_alone_or_with_others_a_search_is_compiled_once() -> None:
    evaluator = HashEvaluator(4)
    run(made(evaluator, 5.5), Limits(20))
    scheduler = Scheduler(evaluator, slots=2)
    errors: list[Exception] = []
    for komi in (0.5, 5.5):
        request = SearchRequest(Game(5, komi=komi), Limits(20))
        scheduler.add(made(evaluator, komi), request, lambda _: None, errors.append)
    scheduler.run()
    assert not errors
    compiled: tuple[Any, ...] = batchers._put, batchers._survey, batchers._select_in_turn, batchers._absorb
    assert [len(function.signatures) for function in compiled] == [1, 1, 1, 1]
