"""The good moves that are praised, and the first of mistakes made several times."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from reviews import D4, E5, F6, G7, game_of, loss, reason, review

from gtp_engine.base.languages.texts import Phrase
from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point
from gtp_engine.go.game import Game, Move
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


def test_the_first_of_mistakes_of_one_kind_is_named() -> None:
    def told(name: str, *points: int) -> tuple[object, ...]:
        return (replace(reason(), sentence=Phrase(f"reason.{name}", {}), points=frozenset(points)),)

    moves = [loss(1, BLACK, D4, E5, 9.0), loss(3, BLACK, E5, F6, 5.0), loss(5, BLACK, F6, G7, 7.0)]
    moves += [loss(6, WHITE, G7, D4, 6.0)]
    names = {1: told("atari", D4), 3: told("cut", G7), 5: told("atari", E5), 6: told("atari", F6)}
    game = game_of(moves, reasons=names)
    assert {number: each.text for number, each in find_recurring(game)} == dict.fromkeys(
        (1, 5), "The first of 2 such mistakes was 1 D4; then came 5 F6."
    )
    assert not any(each.line for _, each in find_recurring(game)), "no moves show it"
    stones = game_of(moves[:2], reasons={1: told("weaker", D4, G7), 3: told("dies", G7)})
    assert [number for number, _ in find_recurring(stones)] == [1, 3]
    points = game_of(moves[:2], reasons={1: told("bigger", D4, G7), 3: told("bigger", G7)})
    assert not list(find_recurring(points))
    passed = game_of(
        [moves[0], replace(moves[1], move=Move(BLACK, PASS))], reasons={1: told("atari", G7), 3: told("dies", G7)}
    )
    assert {each.text for _, each in find_recurring(passed)} == {"The first of 2 such mistakes was 1 D4; then came 3."}
    many = game_of([loss(number, BLACK, D4, E5, 9.0) for number in range(1, 81, 2)])
    ((_, said),) = find_recurring(many)
    assert said.text.endswith("of 40 such mistakes was 1 D4; then came 3 D4, 5 D4, 7 D4, 9 D4, …, 79 D4.")
