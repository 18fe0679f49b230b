"""The plan of a review: visits that fit into a budget, on a clock that only the test moves."""

import pytest

from gtp_engine.search.request import Limits
from gtp_engine.study.budget import FLOOR, Plan, usual_seconds
from gtp_engine.study.reasons.explain import REASON_WORK
from gtp_engine.study.searches import SECOND_LOOK_FACTOR as AGAIN


class Machine:
    """A machine that searches so many visits/s."""

    def __init__(self, rate: float) -> None:
        self.rate, self.now = rate, 0.0

    def clock(self) -> float:
        return self.now

    def work(self, plan: Plan, times: int, work: float = 1.0) -> None:
        for _ in range(times):
            assert plan.limits.visits is not None
            self.now += work * plan.limits.visits / self.rate
            plan.advance(work)


def review(machine: Machine, plan: Plan, again: int, mistakes: int) -> None:
    machine.work(plan, 250)
    plan.begin("again", AGAIN * again, REASON_WORK * mistakes)
    machine.work(plan, again, AGAIN)
    plan.begin("reasons", REASON_WORK * mistakes)
    machine.work(plan, mistakes, REASON_WORK)


@pytest.mark.parametrize("rate", [300.0, 1000.0, 3000.0])
def test_the_whole_review_fits_into_the_budget_whatever_the_first_measurement(rate: float) -> None:
    machine = Machine(rate)
    plan = Plan(250, None, 1000.0, 90.0, machine.clock)
    review(machine, plan, 30, 10)
    assert 80 < machine.now < 95
    assert plan.progress == 1.0


def test_visits_stay_the_same_if_the_speed_does() -> None:
    machine = Machine(1000.0)
    plan = Plan(250, None, 1000.0, 90.0, machine.clock)
    first = plan.limits
    machine.work(plan, 250)
    assert plan.limits == first


def test_a_machine_that_becomes_slower_gets_fewer_visits() -> None:
    machine = Machine(1000.0)
    plan = Plan(250, None, 1000.0, 90.0, machine.clock)
    machine.work(plan, 50)
    first, machine.rate = plan.limits.visits or 0, 250.0
    machine.work(plan, 100)
    assert FLOOR < (plan.limits.visits or 0) < first


def test_a_budget_that_is_too_small_takes_the_floor_and_says_so() -> None:
    small, enough = (Plan(250, None, 20.0, seconds, lambda: 0.0) for seconds in (90.0, 3600.0))
    assert (small.is_too_small, small.limits) == (True, Limits(FLOOR))
    assert small.expected > 90
    assert not enough.is_too_small and (enough.limits.visits or 0) > FLOOR


def test_given_limits_stay_and_their_cost_is_foreseen() -> None:
    machine = Machine(100.0)
    plan = Plan(250, Limits(visits=50), 100.0, clock=machine.clock)
    assert plan.expected == pytest.approx((250 + AGAIN * 30 + 10 * REASON_WORK) * 50 / 100)
    machine.work(plan, 250)
    assert (plan.limits, plan.is_over) == (Limits(visits=50), False)
    assert 0.4 < plan.progress < 0.6
    assert Plan(46, Limits(seconds=2.0), 1.0).expected == pytest.approx((46 + AGAIN * 20 + 10 * REASON_WORK) * 2)


def test_what_is_known_is_no_speed() -> None:
    machine, known = Machine(1000.0), [0]
    plan = Plan(51, None, 1000.0, 20.0, machine.clock, spared=lambda: known[0])
    machine.work(plan, 10)
    for _ in range(20):
        known[0] += plan.limits.visits or 0
        plan.advance(1)
    assert plan.rate == pytest.approx(1000)


def test_the_usual_time_of_each_board() -> None:
    assert [round(usual_seconds(size, size, moves)) for size, moves in ((9, 46), (13, 100), (19, 250))] == [18, 37, 79]
    assert usual_seconds(19, 19, 1) < 11
