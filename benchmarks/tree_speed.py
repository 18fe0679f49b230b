"""Speed and size of the search tree: visits/s in one thread with an evaluator that costs nothing, bytes a visit.

A visit includes all but the evaluation: replaying the path, legality with superko, priors, selection, expansion,
back-up. The evaluator returns rows made up in advance, policies and values as uneven as a network's; with
`--uniform` all moves and positions are alike, the worst case: every node has all children. Trees are cleared.
"""

import argparse
import statistics
import time

import numpy as np

from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.evaluate.row import LEAD, POLICY, SCORE_MEAN, SCORE_STDEV, UNKNOWN, VALUE_ERROR, WIN, row_columns
from gtp_engine.search.parameters import SearchParameters, default_parameters, split_setting
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search, layout_for
from gtp_engine.search.tree import bytes_per_node

BATCH = 128
VISITS = 100_000


class PreparedEvaluator(Evaluator):
    """An evaluator with 4,096 rows drawn at random in advance."""

    name = "prepared"
    largest_board = 25

    def __init__(self, area: int) -> None:
        random = np.random.default_rng(1)
        count = 4096
        self.batch_size = BATCH
        # AlphaZero's concentration: a handful of moves take most of the policy.
        self._rows = np.zeros((count, row_columns(area)), np.float32)
        self._rows[:, POLICY : POLICY + area + 1] = random.dirichlet(np.full(area + 1, 10.83 / area), count)
        value = random.normal(0, 0.3, count).clip(-1, 1).astype(np.float32)
        self._rows[:, WIN:LEAD] = np.stack([(1 + value) / 2, (1 - value) / 2, np.zeros(count, np.float32)], 1)
        self._rows[:, LEAD] = self._rows[:, SCORE_MEAN] = self._rows[:, SCORE_STDEV] = 10 * value
        self._rows[:, VALUE_ERROR:POLICY] = UNKNOWN
        self._next = 0

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
        *,
        optimism: float = 0.0,
        profile: str = "",
    ) -> np.ndarray:
        if self._next + len(indices) > len(self._rows):
            self._next = 0
        rows = self._rows[self._next : self._next + len(indices)]
        self._next += len(indices) + 1  # never in step with the batches
        return rows

    def collect(self, ticket: np.ndarray) -> np.ndarray:
        return ticket


def measure(size: int, evaluator: Evaluator, parameters: SearchParameters, repeats: int) -> None:
    """Prints one board size's line."""
    search = Search(evaluator, parameters)
    game = Game(size, rules=RULESETS["tromp-taylor"])  # positional superko
    rates: list[float] = []
    for _ in range(repeats + 1):
        search.clear()
        start = time.perf_counter()
        report = run_search(search, SearchRequest(game, Limits(visits=VISITS)))
        rates.append(report.visits / (time.perf_counter() - start))
    rates = sorted(rates[1:])  # the first one compiles, and asks the system for the tree's memory
    layout = layout_for(parameters, evaluator)
    print(
        f"{size}x{size}  {evaluator.name}: {statistics.median(rates):,.0f} visits/s "
        f"({rates[0]:,.0f} to {rates[-1]:,.0f}), {bytes_per_node(size * size, layout)} bytes a node, "
        f"{search.tree.size[0] / VISITS:.2f} nodes a visit"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="default: 7")
    parser.add_argument("--uniform", action="store_true", help="all moves and positions alike")
    parser.add_argument("--network", action="store_true", help="the usual parameters for networks")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the search")
    options = parser.parse_args()
    parameters = default_parameters("network.bin.gz") if options.network else SearchParameters()
    parameters = parameters.with_values({"batch_size": BATCH, **dict(map(split_setting, options.set))})
    for size in (9, 19):
        measure(
            size,
            UniformEvaluator(BATCH) if options.uniform else PreparedEvaluator(size * size),
            parameters,
            options.repeats,
        )


if __name__ == "__main__":
    main()
