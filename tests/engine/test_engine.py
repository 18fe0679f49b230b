"""One game being played, with an evaluator that knows nothing and with rollouts."""

import asyncio
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from drawn_positions import PRISONERS, game_of
from engine.conftest import PATIENCE

from gtp_engine.base.errors import UserError
from gtp_engine.base.warm_up import Step
from gtp_engine.engine import search_thread, worker
from gtp_engine.engine.clock import gtp_settings
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_vertex
from gtp_engine.go.game import Game, IllegalMove
from gtp_engine.go.rules import RULESETS
from gtp_engine.search import tree as trees
from gtp_engine.search.request import Limits, RootMoves, SearchRequest


def point(name: str, size: int = 9) -> int:
    return parse_vertex(name, size, size)


def test_size_and_komi_need_no_board():
    engine = Engine(EngineSettings(network="uniform"))
    engine.set_board_size(13)
    engine.set_komi(3.5)
    engine.set_rules(RULESETS["japanese"])
    assert engine._game is None
    assert (engine.game.width, engine.game.komi, engine.game.rules) == (13, 3.5, RULESETS["japanese"])
    engine.close()


def test_the_komi_of_a_board_until_one_is_sent(engine):
    assert engine.game.komi == 7
    engine.set_board_size(19)
    assert engine.game.komi == 7.5
    engine.set_komi(0.5)
    engine.set_board_size(9)
    assert engine.game.komi == 0.5


@pytest.mark.parametrize("size", [(1, 1), (26, 26), (9, 30)])
def test_a_size_out_of_range_is_refused_and_changes_nothing(engine, size):
    engine.play(BLACK, point("E5"))
    with pytest.raises(ValueError, match="unacceptable size"):
        engine.set_board_size(*size)
    assert engine.game.width == 9 and len(engine.game.moves) == 1


def test_a_board_too_large_for_the_default_network_is_refused_if_strict():
    settings = EngineSettings("auto", strict=True)
    with pytest.raises(ValueError, match="unacceptable size 21x9: the network plays on boards up to 19x19"):
        Engine(settings, width=21, height=9)
    assert settings.network_on(6, 6) == EngineSettings("auto").network_on(21, 9) == "none"


def test_a_game_on_a_board_too_large_for_the_network_is_refused_if_strict_and_changes_nothing(engine):
    engine.play(BLACK, point("E5"))
    engine.settings = replace(engine.settings, network="auto", strict=True)
    begun = engine.games_begun
    with pytest.raises(ValueError, match="unacceptable size 21x21: the network plays on boards up to 19x19"):
        engine.load(Game(21, rules=RULESETS["japanese"], komi=0.5))
    assert (engine.game.width, engine.width, engine.komi, engine.rules) == (9, 9, 7, RULESETS["chinese"])
    assert (len(engine.game.moves), engine.games_begun) == (1, begun)
    engine.settings = replace(engine.settings, strict=False, network="uniform")
    engine.load(Game(21))
    assert engine.width == 21


def test_a_board_whose_default_network_is_missing_is_refused_and_changes_nothing(engine, tmp_path, monkeypatch):
    (tmp_path / "config.toml").write_text("[networks]\nnosuch = [13, 13]\n")
    monkeypatch.setenv("GTP_ENGINE_CONFIG", str(tmp_path / "config.toml"))
    engine.play(BLACK, point("E5"))
    engine.settings = replace(engine.settings, network="auto")
    with pytest.raises(UserError, match="no network 'nosuch'"):
        engine.load(Game(13))
    with pytest.raises(UserError, match="no network 'nosuch'"):
        engine.set_board_size(13)
    assert (engine.game.width, engine.width, len(engine.game.moves)) == (9, 9, 1)


def test_the_board_changes_at_once(engine):
    engine.play(BLACK, point("E5"))
    with pytest.raises(IllegalMove):
        engine.play(WHITE, point("E5"))
    engine.undo()
    with pytest.raises(ValueError, match="cannot undo"):
        engine.undo()
    engine.place_handicap([point("C3"), point("G7")])
    assert engine.game.handicap == 2
    engine.set_up([point("C3")], [point("G7")], WHITE)
    assert engine.game.to_move == WHITE
    engine.clear_board()
    assert engine.game.to_move == BLACK and not engine.game.setup_stones


def test_loading_a_game_takes_its_size_komi_and_rules(engine):
    game = Game(5, 7, rules=RULESETS["aga"], komi=2.5)
    game.play(BLACK, parse_vertex("C3", 5, 7))
    engine.load(game)
    game.undo()
    assert (engine.width, engine.height, engine.komi, engine.rules) == (5, 7, 2.5, RULESETS["aga"])
    assert len(engine.game.moves) == 1
    engine.clear_board()
    assert (engine.game.width, engine.game.height, engine.game.komi) == (5, 7, 2.5)


def test_the_usual_komi_of_a_game_that_was_loaded_is_not_one_that_was_sent(engine):
    engine.load(Game(9))
    engine.set_board_size(19)
    assert engine.komi == 7.5
    engine.load(Game(9, komi=7.5))
    engine.set_board_size(9)
    assert engine.komi == 7.5
    engine.load(Game(9))
    engine.set_board_size(19)
    assert engine.komi == 7


def test_a_decision_is_played_when_it_is_committed(engine):
    decision = engine.genmove(engine.request(BLACK)).result(PATIENCE)
    assert decision.colour == BLACK and not decision.resign and decision.report is not None
    assert decision.report.visits == 30
    assert not engine.game.moves
    engine.commit(decision)
    assert engine.game.moves == [(BLACK, decision.point)]
    assert engine.best_move().colour == WHITE


def test_moves_may_be_asked_out_of_turn(engine):
    engine.best_move(WHITE)
    engine.best_move(WHITE)
    assert [move.colour for move in engine.game.moves] == [WHITE, WHITE]


def test_given_limits_and_root_moves_hold(engine):
    only = RootMoves(allow=((BLACK, point("C3"), 1), (BLACK, point("D4"), 1)))
    request = engine.request(BLACK, limits=Limits(visits=20), root_moves=only)
    decision = engine.genmove(request).result(PATIENCE)
    assert decision.point in (point("C3"), point("D4")) and decision.report.visits == 20


def test_a_game_with_seed_visits_and_one_thread_repeats():
    def play(network: str, rank: str | None) -> list[tuple[int, int]]:
        settings = EngineSettings(network=network, threads=1, seed=5, visits=40, rank=rank)
        with Engine(settings, width=5) as engine:
            for _ in range(12):
                engine.best_move()
            return list(engine.game.moves)

    for rank in (None, "12k"):
        moves = play("none", rank)
        assert moves == play("none", rank)
        assert sum(move.point != PASS for move in moves) > 5


def test_a_count_in_between_changes_no_later_move(monkeypatch):
    def play(seconds: float) -> list[tuple[int, int]]:
        monkeypatch.setattr(worker, "_OWNERSHIP_SECONDS", seconds)
        with Engine(EngineSettings("none", threads=1, seed=5, visits=40), width=5) as engine:
            engine.best_move()
            engine.final_score().result(PATIENCE)
            for _ in range(5):
                engine.best_move()
            return list(engine.game.moves)

    assert play(1e-3) == play(100)


def test_analysis_reports_until_it_is_stopped(engine):
    enough = threading.Event()
    reports = []

    def take(report):
        reports.append(report)
        if len(reports) >= 2:
            enough.set()

    future = engine.analyze(engine.request(on_report=take, interval=0.01, ownership=True), endless=True)
    assert enough.wait(PATIENCE)
    engine.stop()
    report = future.result(PATIENCE)
    assert report.visits >= reports[1].visits > 0
    assert report.to_move == BLACK and report.ownership.shape == (9, 9)


def test_stop_ends_searches_that_wait_too(engine):
    first, second = (engine.analyze(engine.request(), endless=True) for _ in range(2))
    engine.stop()
    assert first.result(PATIENCE).visits >= 1
    assert second.result(PATIENCE).visits >= 1


def test_nothing_is_endless_unless_it_is_asked_for():
    with Engine(EngineSettings(network="uniform", visits=40), width=9) as engine:
        assert engine.analyze(engine.request()).result(PATIENCE).visits == 40
        only = RootMoves(allow=[("white", "C3", 1)])
        report = engine.evaluate("white", limits=Limits(visits=60), root_moves=only)
        assert (report.to_move, report.visits, [move.vertex for move in report.moves]) == (WHITE, 60, ["C3"])
        assert report.ownership.shape == (9, 9)
        assert report == report and report != replace(report) and len({report}) == 1  # arrays are not compared
        engine.clear_cache()
        assert engine.evaluate(visits=50).visits == 50
        with pytest.raises(UserError, match="not both"):
            engine.evaluate(visits=50, limits=Limits(visits=60))


def test_a_best_move_has_the_limits_of_an_evaluation():
    with Engine(EngineSettings(network="uniform", visits=40, seed=1), width=9) as engine:
        only = RootMoves(allow=[("white", "C3", 1)])
        decision = engine.best_move("white", limits=Limits(visits=60), root_moves=only)
        assert (decision.vertex, decision.report.visits, len(engine.game.moves)) == ("C3", 60, 1)
        with pytest.raises(TypeError, match=r"best_move\(\) got an unexpected keyword argument 'limit': did you mean"):
            engine.best_move(limit=Limits(visits=60))


def test_a_function_that_the_search_calls_cannot_wait_for_a_search(engine):
    """It would wait for what comes after it on its own thread."""
    searches, is_ready = [], threading.Event()
    request = engine.request(on_report=lambda _: is_ready.wait() and searches[1].result(), interval=0.01)
    searches += [engine.analyze(request, endless=True), engine.genmove()]
    is_ready.set()
    with pytest.raises(UserError, match="such as on_report, cannot wait for a search"):
        searches[0].result(PATIENCE)
    assert searches[1].result(PATIENCE).report is not None


def test_a_wait_without_end_is_told(engine, monkeypatch, caplog):
    monkeypatch.setattr(search_thread, "_UNNOTICED", 0.01)
    threading.Timer(0.3, engine.stop).start()
    assert engine.analyze(endless=True).result().visits >= 1
    assert [record.message for record in caplog.records if "without limits" in record.message] == [
        "waiting for a search without limits, which ends when Engine.stop is called"
    ]


def test_cancelling_a_task_ends_its_search_and_no_other(engine):
    begun = threading.Event()

    async def ask():
        request = engine.request(on_report=lambda _: begun.set(), interval=0.01)
        search = engine.analyze(request, endless=True)
        waiting = engine.analyze(engine.request(limits=Limits(visits=30)))
        dropped = engine.analyze(endless=True)
        task = asyncio.wrap_future(search)
        while not begun.is_set():
            await asyncio.sleep(0.01)
        asyncio.wrap_future(dropped).cancel()
        task.cancel()
        await asyncio.sleep(0)
        assert (await asyncio.wait_for(asyncio.wrap_future(waiting), PATIENCE)).visits >= 30
        assert search.result(0).visits >= 1 and dropped.cancelled()

    asyncio.run(ask())


@pytest.mark.timeout(PATIENCE)
@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.best_move(),
        lambda engine: engine.evaluate(limits=Limits(visits=20)),
        lambda engine: engine.genmove().result(),
        lambda engine: engine.final_score().result(),
        lambda engine: engine.statuses().result(),
        lambda engine: engine.statuses().exception() is None,
    ],
)
def test_a_wait_for_a_result_ends_the_endless_searches_before_it(engine, call):
    own = threading.Event()
    endless = [engine.analyze(endless=True), engine.analyze(engine.request(stop=own), endless=True)]
    assert call(engine) is not None
    assert all(search.result(0).visits >= 1 for search in endless) and own.is_set()

    async def cancel_and_call():
        task = asyncio.wrap_future(engine.analyze(endless=True))
        task.cancel()  # which the loop tells the search when it turns
        assert call(engine) is not None

    asyncio.run(cancel_and_call())


@pytest.mark.timeout(PATIENCE)
def test_an_await_ends_the_endless_searches_before_it(engine):
    async def ask():
        endless = engine.analyze(endless=True)
        await asyncio.wrap_future(engine.statuses())
        return endless

    assert asyncio.run(ask()).result(0).visits >= 1


def test_a_wait_with_a_timeout_ends_no_other_search(engine):
    endless = engine.analyze(endless=True)
    with pytest.raises(TimeoutError):
        engine.genmove().result(0.1)
    assert not endless.done()
    later = engine.analyze(endless=True)
    engine.stop()
    assert later.result().visits >= 1


def test_stop_and_close_end_searches_with_an_event_of_the_callers(engine):
    own, later = threading.Event(), threading.Event()
    first = engine.analyze(engine.request(stop=own), endless=True)
    waiting = engine.genmove(engine.request(limits=Limits(seconds=600), stop=own, early_stop=False))
    engine.stop()
    assert first.result(PATIENCE).visits >= 1 and waiting.result(PATIENCE).report is not None and own.is_set()
    endless = [engine.analyze(engine.request(stop=stop), endless=True) for stop in (later, None)]
    endless.append(engine.analyze(SearchRequest(Game(9)), endless=True))
    assert engine.close(PATIENCE)
    assert all(search.result(0).visits >= 1 for search in endless)


def test_stop_does_not_set_the_event_of_a_search_that_has_ended(engine):
    own = threading.Event()
    for _ in range(2):
        assert engine.analyze(engine.request(limits=Limits(visits=20), stop=own)).result(PATIENCE).visits == 20
        engine.stop()
        engine.clear_cache()
    assert not own.is_set()


def test_a_search_does_not_see_later_changes(engine):
    future = engine.genmove(engine.request(BLACK))
    engine.set_board_size(5)
    assert future.result(PATIENCE).report.width == 9


def test_pondering_ends_when_anything_else_is_asked():
    with Engine(EngineSettings(network="uniform", threads=1, visits=30, ponder=True), width=9) as engine:
        engine.best_move()
        engine.ponder()
        engine.play(WHITE, point("D4"))
        engine.best_move()
        engine.ponder()
        assert engine.genmove(engine.request(WHITE)).result(PATIENCE).report is not None
        engine.ponder()
        engine.change_rank(-1)
        engine._thread.submit(lambda _: None).result(PATIENCE)  # the search before it has ended
        engine.change_rank(1)
        engine.ponder()
        engine.prepare().result(PATIENCE)
        engine.ponder()


def test_an_unexpected_reply_finds_what_pondering_has_found_about_it():
    with Engine(EngineSettings(network="uniform", threads=1, visits=50, ponder=True), width=5) as engine:
        engine.best_move()
        seen = engine.analyze(engine.request(limits=Limits(visits=400))).result(PATIENCE)
        unexpected = seen.moves[-1]
        engine.ponder()
        engine.play(WHITE, unexpected.point)
        report = engine.genmove(engine.request(limits=Limits(visits=1))).result(PATIENCE).report
        assert report.visits >= unexpected.visits > 1 and report.new_visits == 0


def test_pondering_knows_the_dead_stones_that_later_searches_know():
    with Engine(EngineSettings(network="b4c32-9x9", threads=1, ponder=True), width=9) as engine:
        engine.load(game_of(PRISONERS))
        visits = 0
        while visits < 50:
            engine.ponder()
            time.sleep(0.05)
            visits = engine.ask(lambda worker, _: worker._search.visits if worker._search else 0).result(PATIENCE)
        assert engine.analyze(engine.request(limits=Limits(visits=50))).result(PATIENCE).new_visits == 0


def test_the_clock_limits_moves_and_is_charged():
    with Engine(EngineSettings(network="uniform", threads=1), width=9) as engine:
        engine.ready.result(PATIENCE)
        engine.clock.settings = gtp_settings(2, 0, 0)
        for _ in range(4):
            decision = engine.best_move()
            assert decision.budget is not None and decision.budget < 0.2
        assert engine.clock.remaining(BLACK)[0] < 2
        engine.clear_board()
        assert engine.clock.remaining(BLACK) == (2, 0)
        engine.clock.time_left(BLACK, 0, 0)
        assert engine.best_move().report.new_visits <= 1


def test_a_move_is_decided_by_the_clock_of_its_request(engine):
    goes_on = threading.Event()
    engine._thread.submit(lambda _: goes_on.wait(PATIENCE))
    engine.clock.settings = gtp_settings(60, 0, 0)
    timed = engine.genmove()
    engine.clock.settings = gtp_settings(0, 0, 0)
    untimed = engine.genmove()
    goes_on.set()
    assert timed.result(PATIENCE).budget > 0 and untimed.result(PATIENCE).budget is None


def test_deciding_without_playing_uses_no_clock(engine):
    engine.clock.settings = gtp_settings(60, 0, 0)
    decision = engine.genmove(engine.request(BLACK), play=False).result(PATIENCE)
    assert decision.budget is None and decision.report.visits == 30


# What only the thread of an open engine may do.
CHANGES = [
    Engine.genmove,
    Engine.request,
    Engine.analyze,
    Engine.evaluate,
    Engine.best_move,
    Engine.undo,
    Engine.clear_board,
    Engine.final_score,
    lambda engine: engine.play(BLACK, "E5"),
    lambda engine: engine.set_board_size(5),
    lambda engine: engine.set_komi(1),
    lambda engine: engine.set_rules("aga"),
    lambda engine: engine.set_parameter("visits", 5),
    lambda engine: engine.change_rank(-1),
    lambda engine: engine.load(Game(5)),
]


def test_a_closed_engine_says_so():
    engine = Engine(EngineSettings(network="uniform"))
    engine.play(BLACK, "D4")
    engine.close()
    engine.close()
    for call in CHANGES:
        with pytest.raises(UserError, match="the engine is closed"):
            call(engine)
    assert repr(engine) == "<Engine uniform: 19x19, 1 move, W to move, Chinese rules, komi 7.5, closed>"
    assert engine.game.stone_at("D4") == BLACK


def test_resignation_takes_several_hopeless_moves():
    settings = EngineSettings(network="none", threads=1, seed=1, visits=200, resign_moves=2)
    with Engine(settings, width=9, komi=80.5) as engine:
        for column in "ABCDEFGHJ":
            engine.play(BLACK, point(f"{column}4"))
            engine.play(WHITE, point(f"{column}6"))
        for column in "CD":
            engine.play(BLACK, point(f"{column}2"))
            engine.play(WHITE, point(f"{column}8"))
        first = engine.genmove(engine.request(BLACK)).result(PATIENCE)
        assert first.hopeless and not first.resign
        engine.commit(first)
        engine.play(WHITE, PASS)
        second = engine.genmove(engine.request(BLACK)).result(PATIENCE)
        assert second.resign
        engine.commit(second)
        assert len(engine.game.moves) == 24
        engine.undo()
        assert not engine.genmove(engine.request(BLACK), play=False).result(PATIENCE).resign


@pytest.mark.parametrize(("rank", "resigns"), [("24k", True), ("25k", False)])
def test_the_weakest_rank_plays_on_to_the_count(rank, resigns, monkeypatch):
    monkeypatch.setattr("gtp_engine.engine.decision.is_hopeless", lambda *_: True)
    with Engine(EngineSettings(network="none", threads=1, rank=rank, resign_moves=1), width=9) as engine:
        decision = engine.genmove().result(PATIENCE)
        assert decision.hopeless and decision.resign is resigns


def test_the_end_of_a_game_is_counted():
    with Engine(EngineSettings(network="none", threads=1, seed=1), width=5, komi=0.5) as engine:
        rows = {"B": BLACK, "C": BLACK, "D": WHITE}
        stones = {colour: [point(f"{column}{row}", 5) for column, owner in rows.items() if owner == colour
                           for row in range(1, 6)] for colour in (BLACK, WHITE)}  # fmt: skip
        dead = point("E3", 5)
        engine.set_up([*stones[BLACK], dead], stones[WHITE])
        engine.play(BLACK, PASS)
        engine.play(WHITE, PASS)
        assert engine.dead_stones().result(PATIENCE) == {dead}
        assert str(engine.final_score().result(PATIENCE)) == "B+4.5"
        statuses = engine.statuses().result(PATIENCE)
        assert statuses["dead"] == [[dead]] and len(statuses["alive"]) == 2 and not statuses["seki"]
        owned = engine.ownership().result(PATIENCE)
        assert (owned[:, :3] > 0.5).all() and (owned[:, 3:] < -0.5).all()
        assert engine.evaluate().ownership.shape == (5, 5)
        assert len(engine.game.moves) == 2
        engine.set_rules(RULESETS["tromp-taylor"])
        assert not engine.dead_stones().result(PATIENCE)


@pytest.mark.parametrize("network", ["none", "auto"])
def test_a_stone_left_in_the_opponents_half_is_dead(network: str):
    with Engine(EngineSettings(network=network, threads=1, seed=1), width=9, komi=7, rules="japanese") as engine:
        for row in range(1, 10):
            engine.play(BLACK, f"E{row}")
            engine.play(WHITE, f"F{row}")
        for colour, move in (BLACK, "pass"), (WHITE, "B5"), (BLACK, "pass"), (WHITE, "pass"):
            engine.play(colour, move)
        assert engine.dead_stones().result(PATIENCE) == {point("B5", 9)}
        assert str(engine.final_score().result(PATIENCE)) == "B+3"
        engine.set_rules("chinese")
        assert str(engine.final_score().result(PATIENCE)) == "B+2"


@pytest.mark.slow
def test_ten_seconds_are_enough_for_a_whole_game():
    with Engine(EngineSettings(network="none", resign=False), width=9) as engine:
        engine.ready.result(PATIENCE)
        engine.clock.settings = gtp_settings(10, 0, 0)
        used = {BLACK: 0.0, WHITE: 0.0}
        while not engine.game.is_over:
            start = time.monotonic()
            colour = engine.best_move().colour
            used[colour] += time.monotonic() - start
        assert min(used.values()) > 2 and max(used.values()) < 9.5


def test_closing_does_not_wait_for_a_compilation(monkeypatch):
    has_begun, goes_on, search = threading.Event(), threading.Event(), Mock()
    monkeypatch.setattr(worker.first_calls, "use_rules", lambda: has_begun.set() or goes_on.wait(PATIENCE))
    monkeypatch.setattr(worker.first_calls, "use_search", search)
    engine = Engine(EngineSettings(network="uniform"), width=9)
    assert has_begun.wait(PATIENCE)
    start = time.monotonic()
    assert not engine.close()
    assert time.monotonic() - start < 10 and not engine.ready.done()
    goes_on.set()
    with pytest.raises(UserError, match="the engine is closed"):
        engine.ready.result(PATIENCE)
    assert engine.close(PATIENCE) and not search.called


def test_an_engine_nobody_closes_does_not_keep_a_program():
    script = (
        "from gtp_engine import Engine, EngineSettings\n"
        "engine = Engine(EngineSettings(network='uniform'), width=9)\n"
        "engine.ready.result(); engine.analyze(endless=True)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=PATIENCE)


def test_the_network_that_judges_is_loaded_before_the_end_of_a_game_needs_it() -> None:
    loaded: list[str] = []

    def note(worker: "SearchWorker") -> None:
        loaded.extend(used.network_name for used in (worker, worker._player) if used and used._evaluator)

    with Engine(EngineSettings(rank="20k", threads=1), width=9) as engine:
        engine.ready.result()
        engine._thread.submit(note).result()
        assert loaded == [engine._player]
        engine.commit(engine.genmove().result())
        engine._thread.submit(note).result()
        assert set(loaded[1:]) == {engine._player, engine._network}


def test_records_name_the_network_and_the_rank() -> None:
    file = str(Path(__file__).parents[1] / "data" / "networks" / "tiny.bin.gz")
    for settings, name in (
        (EngineSettings("none"), "gtp_engine"),
        (EngineSettings(network="uniform", rank="3d"), "gtp_engine 3d"),
        (EngineSettings(network=file, rank="10k"), "gtp_engine tiny 10k"),
    ):
        with Engine(settings) as engine:
            assert engine.name == name


def test_getting_ready_compiles_the_thinning_of_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    thinned = []
    original = trees.keep_subtree

    def keep_subtree(*arguments: Any) -> int:
        thinned.append(original(*arguments))
        return thinned[-1]

    monkeypatch.setattr(trees, "keep_subtree", keep_subtree)
    SearchWorker(EngineSettings("uniform", threads=1, seed=1)).warm_up()
    assert len(thinned) == 1


def test_the_board_is_there_before_the_search_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = threading.Event()

    def warm_up(steps: list[Step]) -> None:
        steps[0].run()
        assert rest.wait(PATIENCE)

    monkeypatch.setattr(worker, "warm_up", warm_up)
    with Engine(EngineSettings(network="uniform", threads=1, visits=8), width=9) as engine:
        try:
            engine.board_ready.result(PATIENCE)
            engine.play("black", "D4")
            engine.set_board_size(5)  # with the same evaluator, which is not loaded again
            engine.play("black", "C3")
            move = engine.genmove()
            assert not engine.ready.done() and not move.done()
        finally:
            rest.set()
        engine.ready.result(PATIENCE)
        assert move.result(PATIENCE).colour == WHITE


def test_an_engine_that_fails_keeps_nobody_waiting_for_the_board(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(steps: list[Step]) -> None:
        raise UserError("no such device")

    monkeypatch.setattr(worker, "warm_up", fail)
    with Engine(EngineSettings(network="uniform")) as engine:
        engine.board_ready.result(PATIENCE)
        with pytest.raises(UserError, match="no such device"):
            engine.ready.result(PATIENCE)


def test_points_colours_and_rules_may_be_texts(engine):
    engine.set_rules("japanese")
    assert engine.rules == RULESETS["japanese"]
    engine.play("black", "d4")
    engine.play("W", "pass")
    assert engine.game.moves == [(BLACK, point("D4")), (WHITE, PASS)]
    engine.set_up("A1 B2", [point("C3")], "white")
    assert engine.best_move().colour == WHITE
    engine.set_to_move("white")
    assert engine.best_move("white").colour == WHITE
    for move in (("black", "Z9"), ("red", "D4"), (BLACK, 500), (BLACK, 4.5), (1.0, "E5"), (None, "E5")):
        with pytest.raises(UserError):
            engine.play(*move)


@pytest.mark.parametrize("wrong", [5, "black", Limits(visits=5), Game])
def test_only_requests_are_searched(engine, wrong):
    for search in (engine.analyze, engine.genmove):
        with pytest.raises(UserError, match="invalid request"):
            search(wrong)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symmetries": [8]}, "invalid symmetry 8: "),
        ({"symmetries": [0.5]}, "invalid symmetry 0.5: "),
        ({"optimism": 1.5}, "invalid optimism 1.5: "),
    ],
)
def test_symmetries_and_optimism_are_checked(engine, options, message):
    with pytest.raises(UserError, match=message):
        engine.raw_evaluations(**options)


def test_analysis_without_a_request_ends_within_the_settings_limits(engine):
    assert engine.analyze().result(PATIENCE).visits == 30


def test_a_rank_may_be_given_for_one_move():
    with Engine(EngineSettings(network="none", threads=1, seed=5, visits=64), width=5) as engine:
        assert engine.best_move(rank="20k").report.visits == 1
        with pytest.raises(UserError, match="invalid rank '26k'"):
            engine.best_move(rank="26k")
        assert engine.best_move().report.visits == 64
        engine.set_parameter("rank", "20k")
        assert engine.best_move().report.visits == 1
        assert engine.best_move(rank="max").report.visits == 64
    assert engine.settings.rank == Rank(-19)


def test_other_threads_may_only_stop_and_close_an_engine(engine):
    errors = []

    def call_all():
        for call in CHANGES:
            try:
                call(engine)
            except UserError as error:
                errors.append(str(error))

    future = engine.analyze(endless=True)
    for target in (call_all, engine.stop):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    assert len(errors) == len(CHANGES) and set(errors) == {
        "this engine belongs to the thread that made it: make one engine for each thread"
    }
    assert future.result(PATIENCE).visits >= 1
    assert (engine.width, engine.game.moves, engine.komi) == (9, [], 7)
    thread = threading.Thread(target=engine.close)
    thread.start()
    thread.join()


def test_a_report_may_close_the_engine(engine):
    ended = []
    request = engine.request(on_report=lambda _: ended.append(engine.close()), interval=1e-6)
    assert engine.analyze(request).result(PATIENCE).visits >= 1
    assert engine.close(PATIENCE) and set(ended) == {False}
    with pytest.raises(UserError, match="the engine is closed"):
        engine.analyze()


def test_an_engine_shows_its_game(engine):
    assert repr(engine) == "<Engine uniform: 9x9, 0 moves, B to move, Chinese rules, komi 7>"
    engine.play("black", "D4")
    assert repr(engine) == "<Engine uniform: 9x9, 1 move, W to move, Chinese rules, komi 7>"
    assert engine._repr_svg_() == engine.game.to_svg()


def test_a_move_is_delayed_within_its_time_and_until_it_is_stopped(engine: Engine) -> None:
    engine.settings = replace(engine.settings, delay=0.3)
    begun = time.monotonic()
    engine.best_move()
    assert time.monotonic() - begun >= 0.3
    engine.settings = replace(engine.settings, delay=10 * PATIENCE)
    future = engine.genmove()
    engine.stop()
    engine.commit(future.result(PATIENCE))
    engine.clock.settings = gtp_settings(20, 0, 0)
    engine.best_move("black")
    left = engine.clock.remaining(BLACK)
    assert left is not None and left.seconds > 0
    assert engine.genmove(play=False).result(PATIENCE).point


def test_a_misspelt_part_of_a_request_is_named(engine):
    with pytest.raises(TypeError, match=r"request\(\) got an unexpected .* 'limit': did you mean 'limits'"):
        engine.request(limit=None)
    with pytest.raises(TypeError, match=r"evaluate\(\) got an unexpected .* 'limit': did you mean 'limits'"):
        engine.evaluate(limit=None)
