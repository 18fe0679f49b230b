"""Many searches in the batches of one evaluator."""

import threading
from typing import Any

import numpy as np
import pytest
from hash_evaluator import HashEvaluator

from gtp_engine.base.jit import config
from gtp_engine.go.coords import BLACK, PASS, all_points, index_of_point, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.search import batches
from gtp_engine.search import tree as trees
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator
from gtp_engine.search.evaluate.row import LEAD, LOSS, POLICY, SCORE_MEAN, WIN, ownership_column
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits, RootMoves, SearchRequest
from gtp_engine.search.scheduler import QueuedSearch, Scheduler, run_search
from gtp_engine.search.search import ActiveSearch, Search


class RecordingEvaluator(HashEvaluator):
    """Keeps of each batch its board's area, its size and its optimism; fails at the batch of a number, from 0."""

    def __init__(self, batch_size: int, overlap: int = 1, fails_at: int = -1, where: str = "submit") -> None:
        super().__init__(batch_size)
        self.overlap = overlap
        self.portions = overlap if overlap > 2 else 1  # as with threads on a CPU, and on a GPU
        self.batches: list[tuple[int, int, float]] = []
        self._fails_at, self._where, self._collected = fails_at, where, 0

    def submit(self, boards, indices, symmetries=None, ladders=None, *, optimism=0.0, **options):  # type: ignore[no-untyped-def]
        first = boards[indices[0]]
        self.batches.append((int(first["width"]) * int(first["height"]), len(indices), optimism))
        if self._where == "submit" and len(self.batches) == self._fails_at + 1:
            raise OSError("the device is gone")
        return super().submit(boards, indices, symmetries, ladders, optimism=optimism)

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        self._collected += 1
        if self._where == "collect" and self._collected == self._fails_at + 1:
            raise OSError("the device is gone")
        return super().collect(ticket)


def made(evaluator: Any, **settings: Any) -> Search:
    return Search(evaluator, SearchParameters(**settings), seed=1)


class Jobs(Scheduler):
    """Keeps the reports and errors of its searches, in the order in which these end."""

    def __init__(self, evaluator: HashEvaluator, slots: int = 1) -> None:
        super().__init__(evaluator, slots)
        self.answers: list[Any] = []

    def ask(
        self,
        visits: int | None,
        game: Game | None = None,
        search: Search | None = None,
        *,
        answers: list[Any] | None = None,
        priority: int = 0,
        **options: Any,
    ) -> QueuedSearch:
        """Adds a search of an empty board, unless another one is given."""
        take = (self.answers if answers is None else answers).append
        request = SearchRequest(game or Game(5), Limits(visits), **options)
        return self.add(search or made(self.evaluator), request, take, take, priority=priority)

    def step_often(self, steps: int) -> None:
        for _ in range(steps):
            self.step()


def found(report: SearchReport) -> list[tuple[int, int, float, tuple[int, ...]]]:
    return [(move.point, move.visits, move.utility, move.pv) for move in report.moves]


# What a search alone finds: point and visits of the six best moves, by batch and overlap.
ALONE = {
    (1, 1): [(29, 91), (53, 37), (10, 50), (20, 12), (46, 53), (28, 9)],
    (1, 2): [(29, 83), (10, 102), (53, 25), (20, 12), (12, 13), (28, 9)],
    (1, 3): [(29, 59), (10, 51), (53, 32), (46, 58), (20, 16), (28, 25)],
    (8, 1): [(10, 76), (46, 51), (29, 43), (61, 22), (53, 25), (20, 16)],
    (8, 2): [(10, 72), (29, 36), (61, 33), (53, 35), (28, 28), (20, 22)],
    (8, 3): [(61, 28), (10, 61), (29, 27), (36, 22), (12, 17), (20, 30)],
}


@pytest.mark.parametrize(("batch", "overlap"), ALONE)
def test_one_job_finds_what_the_search_alone_finds(batch: int, overlap: int) -> None:
    game, evaluator = Game(7), RecordingEvaluator(batch, overlap)
    alone = run_search(made(evaluator, root_noise=0.25), SearchRequest(game, Limits(300), ownership=True))
    assert [(move.point, move.visits) for move in alone.moves[:6]] == ALONE[batch, overlap]
    scheduler = Jobs(evaluator, slots=4)
    scheduler.ask(300, game, made(evaluator, root_noise=0.25), ownership=True)
    scheduler.run()
    report = scheduler.answers[0]
    assert (found(report), report.visits, report.new_visits) == (found(alone), 300, 300)
    assert type(report.seconds) is float
    assert np.array_equal(report.ownership, alone.ownership)


def test_as_many_searches_as_places_in_a_batch_give_a_leaf_each() -> None:
    # So none of them suffers from virtual loss: each finds what it finds with batches of one.
    evaluator = RecordingEvaluator(4)
    scheduler = Jobs(evaluator, slots=4)
    jobs: list[tuple[Game, list[Any]]] = [(Game(5, komi=komi), []) for komi in (0.5, 5.5, 9.5, 20.5)]
    for game, answers in jobs:
        scheduler.ask(100, game, answers=answers)
    scheduler.run()
    assert {size for _, size, _ in evaluator.batches} <= {3, 4}  # positions of one search may end in a count
    for game, answers in jobs:
        alone = run_search(made(HashEvaluator(1)), SearchRequest(game, Limits(100)))
        assert found(answers[0]) == found(alone)


def test_boards_of_different_sizes_and_roots_with_their_own_optimism_have_their_own_batches() -> None:
    evaluator = RecordingEvaluator(16)
    scheduler = Jobs(evaluator, slots=30)
    for number in range(30):
        game = Game(*((5, 5), (5, 4), (7, 7))[number % 3])
        scheduler.ask(80, game, made(evaluator, root_policy_optimism=0.25, policy_optimism=1.0))
    scheduler.run()
    assert [report.visits for report in scheduler.answers] == [80] * 30
    assert {report.width * report.height for report in scheduler.answers} == {25, 20, 49}
    roots = [(area, size) for area, size, optimism in evaluator.batches if optimism == 0.25]
    assert sum(size for _, size in roots) == 30
    assert {optimism for _, _, optimism in evaluator.batches} == {0.25, 1.0}
    assert scheduler.positions == sum(size for _, size, _ in evaluator.batches)
    assert scheduler.positions / scheduler.batches > 12


def test_priority_comes_first_and_puts_off_what_is_under_way() -> None:
    scheduler = Jobs(HashEvaluator(2), slots=2)
    for visits, priority in ((51, 0), (52, 0), (53, 0), (60, 5)):
        scheduler.ask(visits, priority=priority)
    assert not scheduler.has_slot_for(0)
    scheduler.step_often(5)
    assert scheduler.has_slot_for(1)
    scheduler.ask(61, priority=9)
    assert scheduler.has_slot_for(9) and not scheduler.has_slot_for(5)
    scheduler.run()
    order = [report.visits for report in scheduler.answers]
    assert sorted(order[:2]) == [60, 61] and order[2:] == [51, 52, 53]


def test_few_leaves_are_spread_over_the_batches_in_flight() -> None:
    for jobs, sizes in ((1, [1, 1, 1]), (2, [1, 1, 1]), (6, [2, 2, 2]), (40, [8, 8, 8])):
        evaluator = RecordingEvaluator(8, overlap=3)
        scheduler = Jobs(evaluator, slots=64)
        for _ in range(jobs):
            scheduler.ask(6)
        scheduler.run()
        assert [size for _, size, _ in evaluator.batches[:3]] == sizes
        assert len(scheduler.answers) == jobs


def test_the_start_of_a_job_may_cancel_another() -> None:
    scheduler = Jobs(HashEvaluator(4), slots=2)

    class Canceller(Search):
        def begin(self, request: SearchRequest) -> ActiveSearch:
            scheduler.cancel(other)
            return super().begin(request)

    scheduler.ask(20, search=Canceller(scheduler.evaluator, seed=1))
    other = scheduler.ask(50)
    scheduler.run()
    assert [answer and answer.visits for answer in scheduler.answers] in ([20, None], [None, 20])
    assert scheduler.positions <= 20


def test_cancelled_jobs_end_with_what_is_known() -> None:
    scheduler = Jobs(RecordingEvaluator(4, overlap=2))
    running: list[Any] = []
    waiting: list[Any] = []
    endless, never = scheduler.ask(None, answers=running), scheduler.ask(10, answers=waiting)
    scheduler.ask(10)
    scheduler.step_often(20)
    scheduler.cancel(endless)
    scheduler.cancel(never)
    scheduler.run()
    assert waiting == [None] and running[0].visits > 10 == scheduler.answers[0].visits


def test_a_cancelled_job_is_not_put_off_again_and_takes_no_slot() -> None:
    answers: list[list[Any]] = [[], [], []]
    scheduler = Jobs(RecordingEvaluator(4, overlap=2))
    slow = scheduler.ask(None, answers=answers[0])
    scheduler.step_often(10)
    urgent = scheduler.ask(None, answers=answers[1], priority=1)
    scheduler.step()
    scheduler.cancel(slow)
    most_urgent = scheduler.ask(None, answers=answers[2], priority=2)
    assert scheduler.has_slot_for(3) and not scheduler.has_slot_for(2)
    scheduler.step_often(4)
    assert [len(each) for each in answers] == [1, 0, 0]
    assert scheduler._running == [most_urgent] and scheduler._waiting == [urgent]
    scheduler.cancel(most_urgent)
    assert not scheduler.has_slot_for(1) and scheduler.has_slot_for(2)
    scheduler.cancel(urgent)
    assert scheduler.has_slot_for(0)
    scheduler.run()
    assert [len(each) for each in answers] == [1, 1, 1]


@pytest.mark.parametrize("where", ["submit", "collect"])
@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_an_evaluators_error_reaches_the_jobs_of_the_batch(where: str, overlap: int) -> None:
    scheduler = Jobs(RecordingEvaluator(4, overlap, fails_at=10, where=where), slots=2)
    for _ in range(3):
        scheduler.ask(100)
    scheduler.run()
    errors = [str(answer) for answer in scheduler.answers if isinstance(answer, OSError)]
    reports = [answer for answer in scheduler.answers if isinstance(answer, SearchReport)]
    assert errors and set(errors) == {"the device is gone"}
    assert len(errors) + len(reports) == 3
    assert {report.visits for report in reports} == {100}


class Unable(Search):
    """Cannot begin."""

    def begin(self, request: SearchRequest) -> ActiveSearch:
        raise ValueError("no such board")


def test_a_job_that_cannot_start_says_so() -> None:
    scheduler = Jobs(HashEvaluator(4))
    scheduler.ask(10, search=Unable(scheduler.evaluator))
    scheduler.run()
    assert [str(answer) for answer in scheduler.answers] == ["no such board"]


class Speechless(ActiveSearch):
    """Cannot be reported."""

    @property
    def new_visits(self) -> int:
        raise ValueError("nothing to say")


class SpeechlessSearch(Search):
    def begin(self, request: SearchRequest) -> ActiveSearch:
        active = super().begin(request)
        active.__class__ = Speechless
        return active


@pytest.mark.parametrize("interval", [None, 1e-6])
def test_a_report_that_fails_ends_its_search_and_no_other(interval: float | None) -> None:
    evaluator, answers = RecordingEvaluator(4, overlap=2), [[], [], []]  # type: Any, list[list[Any]]
    scheduler = Jobs(evaluator, slots=3)
    searches = made(evaluator), SpeechlessSearch(evaluator, seed=1), made(evaluator)
    for search, own in zip(searches, answers, strict=True):
        scheduler.ask(40, search=search, answers=own, interval=interval, on_report=lambda _: None)
    scheduler.run()
    (first,), (failed,), (last,) = answers
    assert first.visits == last.visits == 40 and scheduler.is_idle
    assert str(failed) == "nothing to say" and searches[1].visits == 0


def test_reports_on_the_way() -> None:
    visits: list[int] = []
    scheduler = Jobs(HashEvaluator(4))
    scheduler.ask(40, interval=1e-6, on_report=lambda report: visits.append(report.visits))
    scheduler.run()
    assert visits == sorted(visits) and 1 <= len(visits) < 40
    assert len(scheduler.answers) == 1


def test_root_moves_and_trees_that_are_full_or_have_nothing_to_play() -> None:
    scheduler = Jobs(HashEvaluator(4), slots=3)
    only = RootMoves(allow=((BLACK, parse_vertex("C3", 5, 5), 1),))
    everything = RootMoves(avoid=tuple((BLACK, point, 1) for point in [PASS, *all_points(5, 5)]))
    scheduler.ask(50, root_moves=only)
    scheduler.ask(None, search=made(scheduler.evaluator, tree_megabytes=0.1))
    scheduler.ask(None, root_moves=everything)
    scheduler.run()
    reports = sorted(scheduler.answers, key=lambda report: report.visits)
    assert [len(report.moves) for report in reports[:2]] == [0, 1]
    assert reports[1].visits == 50
    assert reports[2].visits > 200


def test_a_tree_without_memory_to_grow_is_full_and_disturbs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make = trees.new_tree

    def new_tree(capacity: int, *arguments: Any, **options: Any) -> trees.Tree:
        if capacity > 1024:
            raise MemoryError
        return make(capacity, *arguments, **options)

    monkeypatch.setattr(trees, "new_tree", new_tree)
    evaluator, game = HashEvaluator(4), Game(5)
    large = made(evaluator)
    scheduler = Jobs(evaluator, slots=2)
    scheduler.ask(3000, game, large)
    scheduler.ask(900, game)
    scheduler.run()
    small, full = scheduler.answers
    assert small.visits == 900 < full.visits < 3000
    assert capsys.readouterr().err.count("not enough memory for a tree of more than 1,024 nodes") == 1
    game.play(BLACK, full.moves[0].point)  # it is thinned out; that needs no more
    large.set_position(game)
    assert full.moves[0].visits == large.visits > 0


def test_a_search_goes_on_from_job_to_job() -> None:
    evaluator = RolloutEvaluator(threads=1, seed=1)
    search = Search(evaluator, SearchParameters(), seed=1)
    game = Game(5, komi=0.5)
    reports: list[SearchReport] = []
    scheduler = Scheduler(evaluator, slots=1)

    def played(report: SearchReport | None) -> None:
        assert report is not None
        reports.append(report)
        game.play(game.to_move, search.choose(report))
        if len(reports) < 3:
            scheduler.add(search, request, played, errors.append)

    errors: list[Exception] = []
    request = SearchRequest(game, Limits(200))
    scheduler.add(search, request, played, errors.append)
    scheduler.run()
    assert not errors
    assert [report.visits for report in reports] == [200] * 3
    assert reports[1].new_visits < 200


def test_a_stopped_search_ends_and_others_continue() -> None:
    stop = threading.Event()
    scheduler = Jobs(RecordingEvaluator(4, overlap=2), slots=2)
    scheduler.ask(None, stop=stop)
    scheduler.ask(100)
    scheduler.step_often(10)
    stop.set()
    scheduler.run()
    stopped, other = scheduler.answers
    assert 1 <= stopped.visits < 100 == other.visits


def test_a_stop_leaves_the_root_evaluated() -> None:
    stop = threading.Event()
    stop.set()
    report = run_search(made(HashEvaluator(4)), SearchRequest(Game(5), stop=stop))
    assert report.visits == 1


def test_a_full_tree_waits_for_the_stop_of_an_endless_search_and_reports() -> None:
    stop = threading.Event()
    visits: list[int] = []

    def take(report: SearchReport) -> None:
        visits.append(report.visits)
        if visits[-4:] == visits[-1:] * 4:  # nothing has been added for three intervals: the tree is full
            stop.set()

    interval = 0.05
    request = SearchRequest(Game(5), stop=stop, on_report=take, interval=interval)
    report = run_search(made(HashEvaluator(4), tree_megabytes=0.1), request)
    assert stop.is_set() and visits[-1] == report.visits > 200
    assert len(visits) <= report.seconds / interval + 1


def test_an_early_stop_is_for_those_that_ask_for_it() -> None:
    only = RootMoves(allow=((BLACK, parse_vertex("C3", 5, 5), 1),))
    evaluator = HashEvaluator(4)
    limits = Limits(seconds=0.6)
    for early_stop in (True, False):
        report = run_search(made(evaluator), SearchRequest(Game(5), limits, only, early_stop=early_stop))
        assert (report.seconds < 0.5) == early_stop


def test_no_search_ends_early_with_a_move_that_is_not_the_most_visited() -> None:
    doubtful, safe = (index_of_point(parse_vertex(name, 5, 5), 5, 5) for name in ("C3", "B2"))

    def prefer_by_bound(rows: np.ndarray, boards: np.ndarray, indices: np.ndarray) -> None:
        for row, index in zip(rows, indices, strict=True):
            board = boards[index]
            row[POLICY : ownership_column(25)] = 1e-6
            row[POLICY + doubtful], row[POLICY + safe] = 0.7, 0.3
            has_doubtful = board["stones"][parse_vertex("C3", 5, 5)] == BLACK
            # After C3 win rates are higher on average, but go up and down, so that its lower bound is worse.
            swing = (0.95 if int(board["hash"]) % 2 else -0.6) if has_doubtful else 0.0
            value = swing if board["to_move"] == BLACK else -swing
            row[WIN], row[LOSS] = 0.5 + value / 2, 0.5 - value / 2
            row[LEAD] = row[SCORE_MEAN] = 0.0

    moves = RootMoves(allow=tuple((BLACK, parse_vertex(name, 5, 5), 1) for name in ("C3", "B2")))
    evaluator = HashEvaluator(4, change=prefer_by_bound)
    report = run_search(made(evaluator), SearchRequest(Game(5), Limits(300, 60), moves))
    # While B2 is best by its bound, C3 has more visits than B2 can get: the search continues until C3 is best too.
    assert report.visits == 300 or report.moves[0].visits == max(move.visits for move in report.moves)


def test_random_symmetries_are_all_of_them_and_the_seeds_own() -> None:
    def symmetries(kind: str) -> list[int]:
        seen: list[int] = []
        evaluator = HashEvaluator(4, watch=lambda boards, indices, symmetries, **_: seen.extend(symmetries.tolist()))
        run_search(made(evaluator, symmetry=kind), SearchRequest(Game(5), Limits(100)))
        return seen

    first, again, average = map(symmetries, ("random", "random", "average"))
    assert first == again and set(first) == set(range(8)) and set(average) == {8}


def test_a_search_alone_asks_for_the_ownership_of_its_root_too() -> None:
    search = made(HashEvaluator(4))
    for visits, new in ((20, 20), (30, 10)):  # it need not forget what it has found
        assert run_search(search, SearchRequest(Game(5), Limits(visits), ownership=True)).new_visits == new
        assert search.ownership_sums.counts[-1] == 1


def test_a_limit_may_be_larger_than_any_integer_of_the_machine() -> None:
    report = run_search(made(HashEvaluator(4), tree_megabytes=0.1), SearchRequest(Game(5), Limits(10**30)))
    assert report.visits > 200


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_alone_or_with_others_a_search_is_compiled_once() -> None:
    evaluator = HashEvaluator(4)
    run_search(made(evaluator), SearchRequest(Game(5), Limits(20)))
    scheduler = Jobs(evaluator, slots=2)
    scheduler.ask(20)
    scheduler.ask(20)
    scheduler.run()
    assert len(scheduler.answers) == 2
    compiled: tuple[Any, ...] = batches.put_state, batches.survey, batches.select_in_turn, batches.absorb
    assert [len(function.signatures) for function in compiled] == [1, 1, 1, 1]
