"""What a worker keeps of earlier requests, and a glance compared with a search."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_positions import BEFORE_THE_END, PRISONERS, game_of, played

from gtp_engine.engine import worker as worker_module
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.nets.library import default_network
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.parameters import default_parameters
from gtp_engine.search.request import Limits, RootMoves, SearchRequest

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


@pytest.fixture
def worker() -> Iterator[SearchWorker]:
    worker = SearchWorker(EngineSettings(TINY, threads=1, seed=1, device="cpu", precision="float32"))
    yield worker
    worker.close()


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese"])
@pytest.mark.parametrize("moves", ["E5 C3", "E5 pass", "E5 pass pass"])
def test_a_glance_sees_what_a_search_of_one_visit_sees(worker: SearchWorker, rules: str, moves: str) -> None:
    parameters = replace(default_parameters(str(TINY)), symmetry="none")
    request = SearchRequest(played(moves, rules=rules), Limits(visits=1), parameters=parameters)
    seen, found = worker.glance(request, deterministic=True), worker.search(request)
    assert np.allclose(seen.priors, found.priors, atol=1e-4)
    assert (seen.winrate, seen.lead) == (pytest.approx(found.winrate), pytest.approx(found.lead))


def test_another_network_has_been_used_before_its_first_search(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[int] = []

    class Noted(UniformEvaluator):
        def submit(self, boards: np.ndarray, indices: np.ndarray, *_: object, **others: object) -> np.ndarray:
            evaluated.append(len(indices))
            return super().submit(boards, indices)

    monkeypatch.setattr(worker_module, "make_evaluator", lambda *_, **__: Noted())
    other = SearchWorker(EngineSettings("uniform", threads=1)).player("another")
    for _ in range(2):
        other.evaluator()
        assert evaluated == [1]


def test_what_plays_is_prepared_for_each_board(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[tuple[int, int]] = []

    class Noted(UniformEvaluator):
        largest_board = 19

        def prepare(self, width: int, height: int) -> None:
            prepared.append((width, height))

    monkeypatch.setattr(worker_module, "make_evaluator", lambda *_, **__: Noted())
    with Engine(EngineSettings("uniform", threads=1), width=9) as engine:
        engine.set_board_size(7, 5)
        engine.load(Game(13))
        engine.set_board_size(21)
        engine.prepare().result()
    assert prepared == [(9, 9), (7, 5), (13, 13)]


@pytest.mark.parametrize("network", ["b4c32-9x9", "b6c64-19x19"])
def test_dead_stones_are_looked_for_once_a_pass_is_likely(network: str) -> None:
    def dead(game: Game) -> list[str]:
        return sorted(game.vertex(stone) for stone in worker.with_dead(SearchRequest(game)).dead)

    worker = SearchWorker(EngineSettings(network, threads=1, device="cpu"))
    for colour in (BLACK, WHITE):
        open_game = game_of(BEFORE_THE_END, to_move=colour)
        after_pass = open_game.copy()
        after_pass.play(colour, PASS)
        assert (dead(open_game), dead(after_pass)) == ([], ["B8"])
        assert dead(game_of(PRISONERS, to_move=colour)) == ["B1", "B4", "G3"]
    worker.close()


@pytest.mark.parametrize("has_optimism", [False, True])
def test_whether_a_pass_is_likely_takes_no_evaluation_of_its_own(
    has_optimism: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = SearchWorker(EngineSettings("b4c32-9x9", threads=1, device="cpu", seed=1))
    evaluator, evaluated = worker.evaluator(), list[int]()
    begin = evaluator._begin

    def noted(ticket: Any, *arguments: object) -> None:
        evaluated.append(len(ticket.missing))
        begin(ticket, *arguments)

    monkeypatch.setattr(evaluator, "_begin", noted)
    monkeypatch.setattr(evaluator, "has_optimism", has_optimism)
    game = game_of(BEFORE_THE_END)
    for move in worker.search(SearchRequest(game, Limits(visits=40))).moves[0].pv[:2]:
        game.play(game.to_move, move)
    evaluated.clear()
    worker.search(worker.with_dead(SearchRequest(game, Limits(visits=1))))
    assert sum(evaluated) == has_optimism  # with it the search evaluates its new root again
    worker.close()


def test_a_search_that_needs_ownership_continues_from_one_that_did_not(worker: SearchWorker) -> None:
    request = SearchRequest(Game(5), Limits(visits=20), parameters=default_parameters(str(TINY)))
    worker.search(request)
    report = worker.search(replace(request, limits=Limits(visits=30), ownership=True))
    assert (report.visits, report.new_visits) == (30, 10)
    assert report.ownership is not None and report.ownership.any()


class Counted:
    """Stands for the search that finds an ownership."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, request: SearchRequest, colour: int) -> np.ndarray:
        self.calls += colour == BLACK
        return np.full((9, 9), self.calls / 10)


@pytest.fixture
def counted(worker: SearchWorker, monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(worker, "ownership_moving_first", counted)
    return counted


def test_an_ownership_is_found_once(worker: SearchWorker, counted: Counted) -> None:
    assert (worker.ownership(SearchRequest(played("E5 C3"))) == 0.1).all()
    assert (worker.ownership(SearchRequest(played("E5 C3"))) == 0.1).all()
    assert counted.calls == 1


@pytest.mark.parametrize(
    "forget", [SearchWorker.clear, SearchWorker.close, lambda worker: worker.change_network("none")]
)
def test_an_ownership_is_forgotten_with_what_it_was_found_by(
    worker: SearchWorker, counted: Counted, forget: Callable[[SearchWorker], None]
) -> None:
    worker.ownership(SearchRequest(played("E5 C3")))
    forget(worker)
    worker.ownership(SearchRequest(played("E5 C3")))
    assert counted.calls == 2


def test_an_ownership_is_of_one_history(worker: SearchWorker, counted: Counted) -> None:
    over, going_on = played("E5 pass pass"), played("E5 pass pass")
    going_on.to_move = BLACK  # begins a history, in which nobody has passed
    assert over.moves == going_on.moves and over.is_over and not going_on.is_over
    set_up = Game(9)
    set_up.set_up("E5", (), WHITE)
    set_up.play(WHITE, "C3")
    found = [worker.ownership(SearchRequest(game)) for game in (over, going_on, played("E5 C3"), set_up)]
    assert len({ownership.tobytes() for ownership in found}) == 4
    assert counted.calls == 3  # a game that is over is evaluated, not searched


def test_the_pass_that_ends_a_game_is_analysed_by_the_count_that_follows() -> None:
    """White, to move, could still save stones that the count after another pass takes off."""
    game = played("""
        F5 E7 G7 C6 C4 G3 E3 H5 H6 G4 F8 E8 G5 J4 B5 C8 B7 B8 A8 B9 D9 E9 F2 G2 J2 H2
        G1 H1 J6 J5 J3 E5 B6 F6 F4 F3 E4 E2 H4 D2 B2 C2 B1 C1 C3 D3 D4 F1 H3 J1 pass
    """)
    over = game.copy()
    over.play(WHITE, PASS)
    judge = SearchWorker(EngineSettings(str(default_network(9, 9)), threads=1, seed=1))
    lead = -over.score(judge.dead_stones(SearchRequest(over))).points
    only = RootMoves(allow=((WHITE, PASS, 1),))
    report = judge.analyze(SearchRequest(game, Limits(visits=10), only))
    assert [(move.point, move.lead) for move in report.moves] == [(PASS, lead)] and lead < -10
    judge.close()
