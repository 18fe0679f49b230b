"""Values as weighted means: every node of a searched tree against the definition."""

import math

import numpy as np
import pytest
from hash_evaluator import HashEvaluator

from gtp_engine.game.game import Game
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.search import Limits, Search


def searched(**settings: float) -> Search:
    search = Search(HashEvaluator(4), SearchParameters(**settings), seed=1)  # type: ignore[arg-type]
    search.set_position(Game(4))
    search.run(Limits(visits=800))
    return search


def student(t: float) -> float:
    """The distribution function for three degrees of freedom, by Simpson's rule over the density."""
    xs = np.linspace(-60.0, t, 20001)
    density = 2 / (math.pi * math.sqrt(3) * (1 + xs**2 / 3) ** 2)
    step = xs[1] - xs[0]
    return float(step / 3 * (density[0] + density[-1] + 4 * density[1:-1:2].sum() + 2 * density[2:-1:2].sum()))


def test_worse_children_count_for_less() -> None:
    nodes = searched(better_children=0.5).tree.arrays
    records = nodes.nodes[: nodes.size[0]]
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
    plain, weighted = searched(), searched(better_children=1e-9)
    assert weighted.visits == plain.visits
    one, other = (search.tree.arrays.nodes[0] for search in (plain, weighted))
    for name in ("value_sum", "utility_sum", "utility_squares", "lead_sum", "score_sum", "score_squares"):
        assert other[name] == pytest.approx(one[name], rel=1e-4, abs=1e-3)
