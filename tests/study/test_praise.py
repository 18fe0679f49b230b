"""The good moves that are praised, and the points that are missed several times."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reviews import D4, E5, F6, G7, game_of, loss, review

from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point
from gtp_engine.go.game import Game
from gtp_engine.study.level import Level
from gtp_engine.study.move_review import MoveReview
from gtp_engine.study.reasons import praise
from gtp_engine.study.reasons.praise import find_praise, probability
from gtp_engine.study.reasons.recurring import find_recurring
from gtp_engine.study.reasons.variation import Fact


def found(prior: float = 0.02, rank: float = -15) -> MoveReview:
    """Black finds E5, while D4 is what most would play, and loses 9 points."""
    move = review(BLACK, E5, E5, (0.5, 0.5), (0.0, 0.0), others=((D4, 0.9, 9.0),), prior=prior)
    owned = tuple(each._replace(ownership=np.zeros((9, 9), np.float32)) for each in move.before.moves)
    priors = np.zeros(82, np.float32)
    priors[[index_of_point(point, 9, 9) for point in (E5, D4)]] = prior, 0.9
    return replace(move, before=replace(move.before, moves=owned, priors=priors), level=Level(rank, 81))


def praised(move: MoveReview, monkeypatch: pytest.MonkeyPatch, facts: int = 1) -> list[tuple[int, str]]:
    fact = Fact("also", (D4, F6), frozenset((D4,)), {"move": "D4"})
    monkeypatch.setattr(praise, "find_tempting", lambda *_: [fact] * facts)
    searches = SimpleNamespace(times=lambda _: SimpleNamespace(reports=lambda *_, **__: iter([move.before])))
    told = find_praise(searches, {0: Game(9)}, game_of([move]))  # type: ignore[arg-type]
    return [(number, reason.text) for number, reason in told]


def test_a_move_that_is_rarely_found_is_praised_if_the_likely_ones_lose_points(monkeypatch: pytest.MonkeyPatch) -> None:
    assert praised(found(0.001), monkeypatch) == [
        (1, "Well played: E5 is hard to find, and D4 would lose points."),
    ]
    assert not praised(found(0.001), monkeypatch, facts=0), "longer searches do not find the loss"
    assert not praised(found(prior=0.6), monkeypatch), "everybody plays there"
    assert not praised(loss(1, BLACK, D4, E5, 9.0), monkeypatch)


def test_weak_players_choose_unlikely_moves_more_often() -> None:
    chances = [probability(found(0.1, rank)) for rank in (-25, -15, -5)]
    assert chances == sorted(chances, reverse=True) and chances[0] > chances[2]


def test_a_point_that_is_missed_several_times_is_named() -> None:
    moves = [loss(19, BLACK, D4, E5, 5.0), loss(21, BLACK, PASS, E5, 9.0), loss(23, BLACK, F6, E5, 7.0)]
    moves += [loss(24, WHITE, G7, E5, 6.0), loss(25, BLACK, G7, D4, 6.0)]
    ((number, told),) = find_recurring(game_of(moves))
    assert (number, told.text) == (21, "Black missed E5 3 times, from move 19 (D4) to move 23 (F6).") and not told.line
    passed = game_of(moves[1:3])
    assert [each.text_in("es") for _, each in find_recurring(passed)] == [
        "Negro dejó pasar E5 2 veces, de la jugada 21 (pase) a la jugada 23 (F6)."
    ]
    assert not list(find_recurring(game_of(moves[2:])))
    small = loss(25, BLACK, D4, E5, 0.6)
    assert not list(find_recurring(game_of([moves[2], small]))), "few moves are checked by a second look"


def test_moves_that_leave_one_ladder_open_need_not_miss_one_point() -> None:
    ladder = frozenset((G7,))
    moves = [replace(loss(number, BLACK, D4, best, 9.0), ladder=ladder) for number, best in ((1, E5), (3, F6))]
    assert len(game_of(moves).mistakes) == 1 and not list(find_recurring(game_of(moves)))
