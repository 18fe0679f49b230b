"""Searches that share the batches of one evaluator, step by step."""

from typing import Any

import numpy as np
import pytest
from hash_evaluator import HashEvaluator

from gtp_engine.compiled import config
from gtp_engine.game.game import Game
from gtp_engine.search import group as groups
from gtp_engine.search.group import Group
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.scheduler import Job, Scheduler
from gtp_engine.search.search import Limits, Search


class TurnedEvaluator(HashEvaluator):
    """Keeps the symmetries that it was asked for, and of each batch the optimism."""

    def __init__(self) -> None:
        super().__init__(4)
        self.turns: list[int] = []
        self.optimism: list[float] = []

    def submit(self, boards, indices, symmetries=None, **options):  # type: ignore[no-untyped-def]
        self.turns += [] if symmetries is None else symmetries.tolist()
        self.optimism.append(options["optimism"])
        return super().submit(boards, indices, symmetries, **options)


def begun(evaluator: HashEvaluator, komi: float, visits: int = 100, **settings: object) -> Search:
    search = Search(evaluator, SearchParameters(**settings), seed=1)  # type: ignore[arg-type]
    search.set_position(Game(5, komi=komi))
    search.begin(Limits(visits))
    return search


def step(group: Group, places: list[int], size: int) -> list[int]:
    """Selects a batch and hands it in; the positions of each place in it."""
    group.states()
    batch, counts, _ = group.select(np.array(places), size)
    group.submit(batch)
    return [int(count) for count in counts]


def test_states_tell_how_a_search_stands() -> None:
    evaluator = HashEvaluator(8)
    group = Group(evaluator)
    search = begun(evaluator, 5.5, visits=12)
    place = group.enter(search)
    state = group.states()[place]
    assert (bool(state["is_evaluated"]), state["left"], state["in_flight"], state["room"]) == (False, 12, 0, 1)
    step(group, [place], 8)
    assert [group.states()[place][name] for name in ("in_flight", "room")] == [1, 0]
    group.collect()
    state = group.states()[place]
    assert (bool(state["is_evaluated"]), state["left"], state["in_flight"], state["room"]) == (True, 11, 0, 1)
    for _ in range(11):
        step(group, [place], 1)
        group.collect()
    assert group.states()[place]["left"] == 0 and group.states()[place]["room"] <= 0
    assert search.report(0.0).visits == search.playouts == 12


def test_each_gets_its_share_of_a_batch() -> None:
    evaluator = HashEvaluator(64)
    group = Group(evaluator)
    searches = [begun(evaluator, komi) for komi in (0.5, 5.5, 9.5)]
    places = [group.enter(search) for search in searches]
    for _ in range(40):
        step(group, places, 3)
        group.collect()
    assert min(search.visits for search in searches) > 30
    assert step(group, places, 12) == [4, 4, 4]
    assert step(group, places, 2) == [1, 1, -1]


def test_leaves_of_a_search_that_has_left_reach_nobody() -> None:
    evaluator = HashEvaluator(4)
    group = Group(evaluator)
    first, other = begun(evaluator, 0.5), begun(evaluator, 5.5)
    places = [group.enter(first), group.enter(other)]
    assert step(group, places, 4) == [1, 1]
    group.leave(places[0])
    late = begun(evaluator, 9.5)
    assert group.enter(late) == places[0]
    group.collect()
    assert (first.visits, late.visits, other.visits) == (0, 0, 1)
    assert group.states()["in_flight"].tolist() == [0, 0]
    step(group, places, 4)
    group.collect()
    assert (first.visits, late.visits, other.visits) == (0, 1, 2)


def test_random_symmetries_are_all_of_them_and_the_seeds_own() -> None:
    asked = []
    for _ in range(2):
        evaluator = TurnedEvaluator()
        begun(evaluator, 5.5, symmetry="random").run(Limits(100))
        asked.append(evaluator.turns)
    assert asked[0] == asked[1]
    assert set(asked[0]) == set(range(8))
    evaluator = TurnedEvaluator()
    begun(evaluator, 5.5, symmetry="average").run(Limits(20))
    assert set(evaluator.turns) == {8}


def test_the_optimism_of_a_batch_is_that_of_a_root_and_of_anothers_tree() -> None:
    evaluator = TurnedEvaluator()
    group = Group(evaluator)
    first = begun(evaluator, 0.5, root_policy_optimism=1.0, policy_optimism=0.25)
    other = begun(evaluator, 5.5, root_policy_optimism=0.25, policy_optimism=1.0)
    places = [group.enter(first), group.enter(other)]
    step(group, places[:1], 4)
    group.collect()
    assert step(group, places, 4) == [1, 1]
    assert evaluator.optimism == [1.0, 0.25]


def test_a_search_alone_asks_for_the_ownership_of_its_root_too() -> None:
    search = begun(HashEvaluator(4), 5.5)
    assert search.run(Limits(20), ownership=True).playouts == 20
    assert search.tree.owned.counts[-1] == 1
    assert search.run(Limits(30), ownership=True).playouts == 10  # it need not forget what it has found


def test_a_limit_may_be_larger_than_any_integer_of_the_machine() -> None:
    search = begun(HashEvaluator(4), 5.5, visits=10**30)
    group = Group(search.evaluator)
    place = group.enter(search)
    assert group.states()[place]["left"] > 10**18


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_alone_or_with_others_a_search_is_compiled_once() -> None:
    evaluator = HashEvaluator(4)
    begun(evaluator, 5.5).run(Limits(20))
    scheduler = Scheduler(evaluator, places=2)
    errors: list[Exception] = []
    for komi in (0.5, 5.5):
        scheduler.add(Job(lambda komi=komi: begun(evaluator, komi), Limits(20), lambda _: None, errors.append))  # type: ignore[misc]
    scheduler.run()
    assert not errors
    compiled: tuple[Any, ...] = groups._put, groups._write_states, groups._select_in_turn, groups._absorb
    assert [len(function.signatures) for function in compiled] == [1, 1, 1, 1]
