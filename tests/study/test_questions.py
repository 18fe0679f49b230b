"""Why a move is a mistake, and what another one would have brought: what is said, and that a review agrees."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from reviews import D4, E5, F6, G7, loss, reason

from gtp_engine.base.languages.texts import texts
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, PASS
from gtp_engine.go.game import Move
from gtp_engine.search.request import Limits, SearchRequest
from gtp_engine.study import questions
from gtp_engine.study.board_searches import BoardSearches
from gtp_engine.study.known_reports import KnownReports
from gtp_engine.study.lesson import _teacher
from gtp_engine.study.move_review import MoveReview
from gtp_engine.study.questions import Explanation, explanation, judge, searches_of
from gtp_engine.study.searches import Searches

SETTINGS = EngineSettings("b6c64-19x19", threads=1, rank="15k", visits=1)


def sentence(move: MoveReview) -> str:
    return texts().say(Explanation(move).sentence)


def test_the_reason_comes_first_and_its_line_if_it_begins_with_the_move() -> None:
    move = loss(1, BLACK, D4, G7, 4.0)
    told = Explanation(move, (reason((D4, E5)), reason((G7, F6))))
    assert texts().say(told.sentence) == "D4 is a neutral point: it gains no territory."
    assert told.refutation == (D4, E5)
    assert Explanation(move, (reason((G7, F6)),)).refutation == (D4, F6, F6) == Explanation(move).refutation


def test_without_a_reason_it_says_what_the_opponent_gains_or_that_it_is_no_mistake() -> None:
    move = loss(1, BLACK, D4, G7, 4.0)
    assert sentence(move) == "White answers at F6 and gains about 4 points."
    passed = replace(move.after, moves=(move.after.moves[0]._replace(point=PASS),))
    assert sentence(replace(move, after=passed)) == "G7 is worth about 4 points more than D4."
    assert sentence(loss(1, BLACK, D4, G7, 1.4)) == "D4 is about as good as G7."
    assert sentence(loss(1, BLACK, D4, G7, 0.4)) == "A longer search finds no mistake in D4."


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(SETTINGS, width=9) as engine:
        for vertex in ["E5", "E3", "E4", "D4", "F4", "F3", "D5", "C5", "G4", "G3", "H4", "H3"]:
            engine.play(engine.game.to_move, vertex)
        yield engine


def test_a_move_is_judged_by_one_search_more_once_the_position_is_known(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "_VISITS", 6)
    game, known = engine.game.copy(), KnownReports()
    move = Move(BLACK, game.point("J1"))

    def searches(worker: SearchWorker, request: SearchRequest) -> Searches:
        return searches_of(worker, request, known)

    def why() -> Explanation | None:
        return engine.ask(lambda *asked: explanation(searches(*asked), game, move, 13)).result()

    first = why()
    assert first is not None and first.move.cost.lead > 2 and first.refutation[0] == move.point
    before = known.spared
    assert why() == first and known.spared > before
    best = Move(BLACK, first.move.best)
    other = engine.ask(lambda *asked: judge(searches(*asked), game, best, 13, first.move.before)).result()
    assert other is not None and other.before is first.move.before and other.cost.lead == 0
    a1 = Move(BLACK, game.point("A1"))
    stopped = engine.ask(
        lambda *asked: judge(replace(searches(*asked), is_stopped=lambda: True), game, a1, 13)
    ).result()
    assert stopped is None


def test_who_tries_a_move_does_not_wait_for_all_visits(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "_VISITS", 1000)
    monkeypatch.setattr(questions, "_SECONDS", 0.2)
    game, known = engine.game.copy(), KnownReports()
    before = loss(13, BLACK, D4, G7, 4.0).before
    move = Move(BLACK, game.point("J1"))
    tried = engine.ask(lambda *asked: judge(searches_of(*asked, known), game, move, 13, before)).result()
    assert tried is not None and 0 < tried.after.visits < 8000


def test_an_answer_that_has_hardly_been_searched_is_not_told() -> None:
    tried = loss(1, BLACK, D4, G7, 4.0)
    guess = replace(tried.after, moves=(tried.after.moves[0]._replace(visits=3),))
    assert [phrase.name for phrase in questions.told(tried)] == ["asked.leads", "asked.answer", "lost"]
    assert [phrase.name for phrase in questions.told(replace(tried, after=guess))] == ["asked.leads", "lost"]


def test_a_review_searches_alike_so_that_it_knows_what_was_answered(engine: Engine) -> None:
    asked = engine.ask(lambda worker, request: searches_of(worker, request, KnownReports())).result()
    boards = BoardSearches(_teacher(SETTINGS), Limits(8), lambda: False)
    try:
        reviewed = boards.on_board(9, 9)
        assert (asked.evaluator.name, asked.parameters) == (reviewed.evaluator.name, reviewed.parameters)
    finally:
        boards.close()
