"""Many searches in the batches of one evaluator."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hash_evaluator import HashEvaluator

from gtp_engine.evaluate.rollouts import RolloutEvaluator
from gtp_engine.game.coords import BLACK, PASS, parse_vertex
from gtp_engine.game.game import Game
from gtp_engine.search import tree as trees
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.scheduler import Job, Scheduler
from gtp_engine.search.search import Limits, RootMoves, Search


class RecordingEvaluator(HashEvaluator):
    """Keeps of each batch its board's area, its size and its optimism; fails at the batch of a number, from 0."""

    def __init__(self, batch_size: int, overlap: int = 1, fails_at: int = -1, where: str = "submit") -> None:
        super().__init__(batch_size)
        self.overlap = overlap
        self.batches: list[tuple[int, int, float]] = []
        self._fails_at, self._where, self._collected = fails_at, where, 0

    def submit(self, boards, indices, symmetries=None, *, ownership=False, optimism=0.0, profile=""):  # type: ignore[no-untyped-def]
        first = boards[indices[0]]
        self.batches.append((int(first["width"]) * int(first["height"]), len(indices), optimism))
        if self._where == "submit" and len(self.batches) == self._fails_at + 1:
            raise OSError("the device is gone")
        return super().submit(boards, indices, symmetries, ownership=ownership, optimism=optimism)

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        self._collected += 1
        if self._where == "collect" and self._collected == self._fails_at + 1:
            raise OSError("the device is gone")
        return super().collect(ticket)


def starter(evaluator: HashEvaluator, game: Game, **settings: object) -> Callable[[], Search]:
    def start() -> Search:
        search = Search(evaluator, SearchParameters(**settings), seed=1)  # type: ignore[arg-type]
        search.set_position(game)
        return search

    return start


def job(
    start: Callable[[], Search], visits: int | None, answers: list[object], *, priority: int = 0, **options: object
) -> Job:
    """A job whose report or error is appended to `answers`."""
    return Job(start, Limits(visits), answers.append, answers.append, priority=priority, **options)  # type: ignore[arg-type]


def found(report: object) -> list[tuple[int, int, float, tuple[int, ...]]]:
    assert isinstance(report, SearchReport)
    return [(move.point, move.visits, move.utility, move.pv) for move in report.moves]


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_one_job_finds_what_the_search_alone_finds(batch: int, overlap: int) -> None:
    game = Game(7)
    options: dict[str, object] = {"root_noise": 0.25}
    evaluator = RecordingEvaluator(batch, overlap)
    alone = starter(evaluator, game, **options)().run(Limits(300), ownership=True)
    answers: list[object] = []
    scheduler = Scheduler(evaluator, places=4)
    scheduler.add(job(starter(evaluator, game, **options), 300, answers, ownership=True))
    scheduler.run()
    report = answers[0]
    assert isinstance(report, SearchReport)
    assert (found(report), report.visits, report.playouts) == (found(alone), 300, 300)
    assert type(report.seconds) is float
    assert report.ownership is not None and alone.ownership is not None
    assert np.array_equal(report.ownership, alone.ownership)


def test_as_many_searches_as_places_in_a_batch_give_a_leaf_each() -> None:
    # So none of them suffers from virtual loss: each finds what it finds with batches of one.
    games = [Game(5, komi=komi) for komi in (0.5, 5.5, 9.5, 20.5)]
    evaluator = RecordingEvaluator(4)
    answers: dict[float, list[object]] = {game.komi: [] for game in games}
    scheduler = Scheduler(evaluator, places=4)
    for game in games:
        scheduler.add(job(starter(evaluator, game), 100, answers[game.komi]))
    scheduler.run()
    assert {size for _, size, _ in evaluator.batches} <= {3, 4}  # positions of one search may end in a count
    single = HashEvaluator(1)
    for game in games:
        assert found(answers[game.komi][0]) == found(starter(single, game)().run(Limits(100)))


def test_boards_of_different_sizes_and_roots_with_their_own_optimism_have_their_own_batches() -> None:
    evaluator = RecordingEvaluator(16)
    answers: list[object] = []
    scheduler = Scheduler(evaluator, places=30)
    for number in range(30):
        game = Game(*((5, 5), (5, 4), (7, 7))[number % 3])
        scheduler.add(job(starter(evaluator, game, root_policy_optimism=0.25, policy_optimism=1.0), 80, answers))
    scheduler.run()
    reports = [answer for answer in answers if isinstance(answer, SearchReport)]
    assert [report.visits for report in reports] == [80] * 30
    assert {report.width * report.height for report in reports} == {25, 20, 49}
    roots = [(area, size) for area, size, optimism in evaluator.batches if optimism == 0.25]
    assert sum(size for _, size in roots) == 30
    assert {optimism for _, _, optimism in evaluator.batches} == {0.25, 1.0}
    assert scheduler.positions == sum(size for _, size, _ in evaluator.batches)
    assert scheduler.positions / scheduler.batches > 12


def test_priority_comes_first_and_puts_off_what_is_under_way() -> None:
    evaluator = HashEvaluator(2)
    order: list[str] = []
    scheduler = Scheduler(evaluator, places=2)

    def add(name: str, priority: int) -> None:
        start = starter(evaluator, Game(5))
        scheduler.add(Job(start, Limits(50), lambda _: order.append(name), order.append, priority=priority))  # type: ignore[arg-type]

    for name, priority in (("a", 0), ("b", 0), ("c", 0), ("urgent", 5)):
        add(name, priority)
    assert not scheduler.has_place_for(0)
    for _ in range(5):
        scheduler.step()
    assert scheduler.has_place_for(1)
    add("late", 9)
    assert scheduler.has_place_for(9) and not scheduler.has_place_for(5)
    scheduler.run()
    assert order[:2] in (["urgent", "late"], ["late", "urgent"])
    assert order[2:] == ["a", "b", "c"]


def test_few_leaves_are_spread_over_the_batches_that_are_evaluated_side_by_side() -> None:
    for jobs, sizes in ((1, [1, 1, 1]), (2, [1, 1, 1]), (6, [3, 3, 3]), (40, [8, 8, 8])):
        evaluator = RecordingEvaluator(8, overlap=3)
        answers: list[object] = []
        scheduler = Scheduler(evaluator, places=64)
        for _ in range(jobs):
            scheduler.add(job(starter(evaluator, Game(5)), 6, answers))
        scheduler.run()
        assert [size for _, size, _ in evaluator.batches[:3]] == sizes
        assert len(answers) == jobs


def test_the_start_of_a_job_may_cancel_another() -> None:
    evaluator = RecordingEvaluator(4)
    answers, nothing = [[] for _ in range(2)]  # type: list[object], list[object]
    scheduler = Scheduler(evaluator, places=2)
    other = job(starter(evaluator, Game(5)), 50, nothing)

    def start() -> Search:
        scheduler.cancel(other)
        return starter(evaluator, Game(5))()

    scheduler.add(job(start, 20, answers))
    scheduler.add(other)
    scheduler.run()
    assert isinstance(answers[0], SearchReport) and nothing == [None]
    assert scheduler.positions <= 20


def test_cancelled_jobs_end_with_what_is_known() -> None:
    evaluator = RecordingEvaluator(4, overlap=2)
    running, waiting, other = [[] for _ in range(3)]  # type: list[object], list[object], list[object]
    scheduler = Scheduler(evaluator, places=1)
    endless = job(starter(evaluator, Game(5)), None, running)
    never = job(starter(evaluator, Game(5)), 10, waiting)
    for each in (endless, never, job(starter(evaluator, Game(5)), 10, other)):
        scheduler.add(each)
    for _ in range(20):
        scheduler.step()
    scheduler.cancel(endless)
    scheduler.cancel(never)
    scheduler.run()
    assert waiting == [None]
    assert isinstance(running[0], SearchReport) and running[0].visits > 10
    assert isinstance(other[0], SearchReport) and other[0].visits == 10


def test_a_job_that_was_put_off_can_be_cancelled() -> None:
    evaluator = RecordingEvaluator(4, overlap=2)
    first: list[object] = []
    scheduler = Scheduler(evaluator, places=1)
    slow = job(starter(evaluator, Game(5)), None, first)
    scheduler.add(slow)
    for _ in range(10):
        scheduler.step()
    second: list[object] = []
    urgent = job(starter(evaluator, Game(5)), None, second, priority=1)
    scheduler.add(urgent)
    scheduler.step()
    scheduler.cancel(slow)
    for _ in range(3):
        scheduler.step()
    assert len(first) == 1 and not second
    scheduler.cancel(urgent)
    scheduler.run()
    assert len(second) == 1


@pytest.mark.parametrize("where", ["submit", "collect"])
@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_an_evaluators_error_reaches_the_jobs_of_the_batch(where: str, overlap: int) -> None:
    evaluator = RecordingEvaluator(4, overlap, fails_at=10, where=where)
    answers: list[object] = []
    scheduler = Scheduler(evaluator, places=2)
    for _ in range(3):
        scheduler.add(job(starter(evaluator, Game(5)), 100, answers))
    scheduler.run()
    errors = [str(answer) for answer in answers if isinstance(answer, OSError)]
    reports = [answer for answer in answers if isinstance(answer, SearchReport)]
    assert errors and set(errors) == {"the device is gone"}
    assert len(errors) + len(reports) == 3
    assert {report.visits for report in reports} == {100}


def test_a_job_that_cannot_start_says_so() -> None:
    def start() -> Search:
        raise ValueError("no such board")

    answers: list[object] = []
    scheduler = Scheduler(HashEvaluator(4), places=1)
    scheduler.add(job(start, 10, answers))
    scheduler.run()
    assert [str(answer) for answer in answers] == ["no such board"]


def test_reports_on_the_way() -> None:
    evaluator = HashEvaluator(4)
    answers: list[object] = []
    visits: list[int] = []
    scheduler = Scheduler(evaluator, places=1)
    options = {"interval": 1e-6, "on_report": lambda report: visits.append(report.visits)}
    scheduler.add(job(starter(evaluator, Game(5)), 40, answers, **options))
    scheduler.run()
    assert visits == sorted(visits) and 1 <= len(visits) < 40
    assert len(answers) == 1


def test_root_moves_and_trees_that_are_full_or_have_nothing_to_play() -> None:
    evaluator = HashEvaluator(4)
    answers: list[object] = []
    scheduler = Scheduler(evaluator, places=3)
    only = RootMoves(allow=((BLACK, parse_vertex("C3", 5, 5), 1),))
    everything = RootMoves(avoid=tuple((BLACK, point, 1) for point in [PASS, *range(6, 36)]))
    scheduler.add(job(starter(evaluator, Game(5)), 50, answers, root_moves=only))
    scheduler.add(job(starter(evaluator, Game(5), tree_megabytes=0.1), None, answers))
    scheduler.add(job(starter(evaluator, Game(5)), None, answers, root_moves=everything))
    scheduler.run()
    reports = sorted((answer for answer in answers if isinstance(answer, SearchReport)), key=lambda each: each.visits)
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
    answers: list[object] = []
    large = starter(evaluator, game)()
    scheduler = Scheduler(evaluator, places=2)
    scheduler.add(job(lambda: large, 3000, answers))
    scheduler.add(job(starter(evaluator, game), 900, answers))
    scheduler.run()
    small, full = answers
    assert isinstance(small, SearchReport) and isinstance(full, SearchReport)
    assert small.visits == 900 < full.visits < 3000
    assert capsys.readouterr().err.count("no memory for a tree of more than 1,024 nodes") == 1
    game.play(BLACK, full.moves[0].point)  # it is thinned out; that needs no more
    large.set_position(game)
    assert full.moves[0].visits == large.visits > 0


def test_a_search_goes_on_from_job_to_job() -> None:
    evaluator = RolloutEvaluator(threads=1, seed=1)
    search = Search(evaluator, SearchParameters(), seed=1)
    game = Game(5, komi=0.5)
    reports: list[SearchReport] = []
    scheduler = Scheduler(evaluator, places=1)

    def start() -> Search:
        search.set_position(game)
        return search

    def played(report: object) -> None:
        assert isinstance(report, SearchReport)
        reports.append(report)
        game.play(game.to_move, search.choose(report))
        if len(reports) < 3:
            scheduler.add(Job(start, Limits(200), played, errors.append))

    errors: list[Exception] = []
    scheduler.add(Job(start, Limits(200), played, errors.append))
    scheduler.run()
    assert not errors
    assert [report.visits for report in reports] == [200] * 3
    assert reports[1].playouts < 200
