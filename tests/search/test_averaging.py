"""Values: what a score is worth, against the integral that it stands for; weighted means, against the definition."""

import math

import numpy as np
import pytest
from hash_evaluator import HashEvaluator
from searching import searched

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.averaging import Averaging, Utility, average_children, centred, slope_of, utility_of, weight_of
from gtp_engine.search.evaluate.row import POLICY, VALUE_ERROR
from gtp_engine.search.tree import TERMINAL, UNEVALUATED, Tree
from gtp_engine.search.visits import rescore_tree


def expected(score: float, stdev: float, width: float) -> float:
    """The mean of 2/pi atan(x / width) over a normal distribution."""
    draws = np.linspace(-9, 9, 20001)
    weights = np.exp(-(draws**2) / 2)
    return float((weights * np.arctan((score + stdev * draws) / width)).sum() / weights.sum() * 2 / math.pi)


@pytest.mark.parametrize("area", [25, 81, 361])
@pytest.mark.parametrize(("score", "stdev"), [(0, 0), (3.5, 0), (-3.65, 10.95), (2, 25), (-40, 15), (200, 3), (0.5, 1)])
def test_scores_count_as_the_integral_says(area: int, score: float, stdev: float) -> None:
    scale = Utility(0.1, 0.3, 2.3)
    for colour, centre in ((BLACK, 2.3), (WHITE, -2.3)):
        static = expected(score, stdev, 2 * math.sqrt(area))
        dynamic = expected(score - centre, stdev, 0.75 * math.sqrt(area))
        found = utility_of(0.25, score, stdev, area, colour, scale)
        assert found == pytest.approx(0.25 + 0.1 * static + 0.3 * dynamic, abs=5e-4)
        assert found == pytest.approx(-utility_of(-0.25, -score, stdev, area, 3 - colour, scale), abs=1e-12)


def test_the_slope_is_that_of_the_utility() -> None:
    scale = Utility(0.1, 0.3, 4.0)
    for score, colour in ((-7.0, BLACK), (3.0, BLACK), (3.0, WHITE)):
        above, below = (utility_of(0.0, score + step, 0.0, 81, colour, scale) for step in (0.01, -0.01))
        assert slope_of(score, 81, colour, scale) == pytest.approx((above - below) / 0.02, rel=1e-3)


def test_the_centre_is_nearer_to_zero_but_not_far_from_the_score() -> None:
    scale = Utility(0.1, 0.3, 0.0)
    assert centred(scale, 5.0, 81, BLACK) == pytest.approx((0.1, 0.3, 4))
    assert centred(scale, 5.0, 81, WHITE).centre == pytest.approx(-4)
    assert centred(scale, -100.0, 81, BLACK).centre == pytest.approx(-100 + 0.75 * 9)


def tree_of(**settings: float) -> Tree:
    return searched(Game(4), 800, HashEvaluator(4), **settings)[0].tree


def student(t: float) -> float:
    """The distribution function for three degrees of freedom, by Simpson's rule over the density."""
    xs = np.linspace(-60.0, t, 20001)
    density = 2 / (math.pi * math.sqrt(3) * (1 + xs**2 / 3) ** 2)
    step = xs[1] - xs[0]
    return float(step / 3 * (density[0] + density[-1] + 4 * density[1:-1:2].sum() + 2 * density[2:-1:2].sum()))


def test_worse_children_count_for_less() -> None:
    tree = tree_of(better_children=0.5)
    records = tree.nodes[: tree.size[0]]
    checked = 0
    for index, record in enumerate(records[:200]):
        children = records[(records["parent"] == index) & (records["visits"] > 0)]
        if len(children) < 2:
            continue
        counts = children["visits"].astype(float)
        means = -children["utility_sum"] / counts
        plain = float((counts * means).sum() / counts.sum())
        weights = [
            count * (student((mean - plain) / math.sqrt(1 / (1.5 * math.sqrt(count)))) + 1e-4) ** 0.5
            for count, mean in zip(counts, means, strict=True)
        ]
        shares = np.array(weights) / sum(weights)
        own = record["visits"] - counts.sum()
        expected = own * record["own_utility"] + counts.sum() * float((shares * means).sum())
        assert record["utility_sum"] == pytest.approx(expected, abs=1e-3)
        leads = -children["lead_sum"] / counts
        lead = own * record["own_lead"] + counts.sum() * float((shares * leads).sum())
        assert record["lead_sum"] == pytest.approx(lead, abs=1e-2)
        checked += 1
    assert checked > 20


def test_a_tiny_exponent_gives_plain_means() -> None:
    one, other = tree_of().nodes[0], tree_of(better_children=1e-9).nodes[0]
    assert one["visits"] == other["visits"]
    for name in ("value_sum", "utility_sum", "utility_squares", "lead_sum", "score_sum", "score_squares"):
        assert other[name] == pytest.approx(one[name], rel=1e-4, abs=1e-3)


def pruned_weights(weights: list[float], utilities: list[float], priors: list[float], loss: float) -> list[float]:
    """The weights with which children count, in the order of their priors."""
    kept: list[float] = []
    for index, weight in enumerate(weights):
        if index:
            mean = float(np.average(utilities[:index], weights=kept))
            share = 2 * sum(kept) * priors[index] / sum(priors[:index])
            if utilities[index] < mean and weight > share:
                weight = share + (weight - share) * math.exp(-(mean - utilities[index]) / loss)
        kept.append(weight)
    return kept


def test_moves_visited_beyond_their_prior_count_for_less_where_they_are_worse() -> None:
    tree = searched(Game(4), 800, HashEvaluator(8), noise_pruning=0.15)[0].tree
    records = tree.nodes[: tree.size[0]]
    pruned = 0
    for index, record in enumerate(records):
        children = records[(records["parent"] == index) & (records["visits"] > 0)]
        if not len(children):
            continue
        assert np.all(np.diff(children["prior"]) <= 0)
        means = -children["utility_sum"] / children["weight"]
        kept = pruned_weights(list(children["weight"]), list(means), list(children["prior"]), 0.15)
        pruned += sum(kept) < children["weight"].sum() - 0.1
        assert record["weight"] == pytest.approx(1 + sum(kept), rel=1e-5)
        assert record["children_weight"] == pytest.approx(children["weight"].sum())
        expected = record["own_utility"] + float((np.array(kept) * means).sum())
        assert record["utility_sum"] == pytest.approx(expected, abs=1e-3)
    assert pruned > 3


def test_after_a_batch_every_average_is_that_of_its_children() -> None:
    tree = tree_of(batch_size=8, better_children=0.25, noise_pruning=0.15)
    before = tree.nodes[: tree.size[0]].copy()
    averaging = Averaging(False, 0.25, 0.15, 0.0, 0.0)
    for node in reversed(range(tree.size[0])):
        average_children(tree, node, averaging)
    for name in ("weight", "utility_sum", "score_sum", "children_weight"):
        assert tree.nodes[name][: len(before)].tolist() == before[name].tolist()


def test_another_centre_of_the_score_gives_the_tree_other_utilities() -> None:
    tree = tree_of(dynamic_score_utility=0.3, better_children=0.25)
    before = tree.nodes[: tree.size[0]].copy()
    scale = centred(Utility(0.1, 0.3, 0.0), float(before["own_score"][0]), 16, BLACK)
    averaging = Averaging(False, 0.25, 0.0, 0.0, 0.0)
    rescore_tree(tree, 16, scale, averaging)
    for name in ("utility_sum", "weight", "own_utility", "value_sum"):
        np.testing.assert_allclose(tree.nodes[name][: len(before)], before[name], atol=1e-4)
    scale = scale._replace(centre=scale.centre + 5)
    rescore_tree(tree, 16, scale, averaging)
    root, child = tree.nodes[0], tree.nodes[tree.nodes[0]["first_child"]]
    for node, colour in ((root, BLACK), (child, 3 - BLACK)):
        own = utility_of(node["own_value"], node["own_score"], 0.0, 16, colour, scale)
        assert node["own_utility"] == pytest.approx(own, abs=1e-6)
    expected = root["utility_sum"]
    average_children(tree, 0, averaging)
    assert root["utility_sum"] == expected != before["utility_sum"][0]
    assert (before["state"] != UNEVALUATED).all()


def test_a_sure_evaluation_weighs_more() -> None:
    averaging = Averaging(True, 0.0, 0.0, 0.0, 0.25)
    assert weight_of(0.0, averaging) == 8
    assert weight_of(0.25 - 0.25 / 8, averaging) == pytest.approx(1)
    assert weight_of(0.5, averaging) < 0.5
    assert weight_of(0.5, averaging._replace(uncertainty=0.0)) == 1


def doubt(rows: np.ndarray, boards: np.ndarray, indices: np.ndarray) -> None:
    """Makes evaluations of White's positions doubtful."""
    rows[:, VALUE_ERROR] = np.where(boards["to_move"][indices] == BLACK, 0.0, 0.5)
    rows[:, VALUE_ERROR + 1 : POLICY] = 0


def test_doubtful_evaluations_count_for_less() -> None:
    search, report = searched(Game(4), 300, HashEvaluator(change=doubt), uncertainty=0.25)
    tree = search.tree
    nodes = tree.nodes[: tree.size[0]]
    leaves = nodes[(nodes["first_child"] < 0) & (nodes["visits"] == 1)]
    assert set(np.round(leaves["weight"], 3)) == {8.0, round(0.25 / (0.5 + 0.25 / 8), 3)}
    again = (nodes["visits"] - 1)[nodes["state"] == TERMINAL].sum()  # a count is sure, and visited often
    whole = nodes["own_weight"].sum() + again
    assert nodes["weight"][0] == pytest.approx(whole, rel=1e-5)
    assert sum(move.weight for move in report.moves) == pytest.approx(whole - nodes["own_weight"][0], rel=1e-5)
    assert sum(move.visits for move in report.moves) == 299
