"""The second look: which moves it checks, and what becomes of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from reviews import D4, E5, loss, report

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits
from gtp_engine.study.move_review import LISTED, MoveReview
from gtp_engine.study.searches import SECOND_LOOK_FACTOR, Positions, Searches, look_again, review_moves


@dataclass(frozen=True)
class ChosenSearches(Searches):
    """Searches with chosen reports instead of a search: those of `found`, or those of the first look."""

    first: dict[int, SearchReport] = field(default_factory=dict)
    found: dict[int, SearchReport] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    asked_limits: list[Limits] = field(default_factory=list)

    def reports(self, games: Iterable[Game], *, ownership: bool = False) -> Iterator[SearchReport]:
        self.asked_limits.append(self.limits)
        for number in games:
            assert isinstance(number, int), "a position of `Numbers`"
            if self.is_stopped():
                return
            self.asked.append(number)
            yield self.found.get(number) or self.first[number]


class Numbers(Positions):
    """Numbers of moves instead of the positions after them."""

    def __init__(self) -> None:
        pass

    def __getitem__(self, number: int) -> Any:
        return number


def chain(losses: dict[int, float], length: int, best: dict[int, int] | None = None) -> list[MoveReview]:
    """A game in which moves lose so many points; the position after a move is that before the next one."""
    lead, colour, moves = 0.0, BLACK, []
    for number in range(1, length + 1):
        lost = losses.get(number, 0.0)
        move = loss(number, colour, D4, (best or {}).get(number, E5 if lost else D4), lost)
        sign = 1 if colour == BLACK else -1
        moves.append(replace(move, before=replace(move.before, lead=sign * lead)))
        lead -= sign * lost
        colour = BLACK + WHITE - colour
        moves[-1] = replace(moves[-1], after=replace(moves[-1].after, to_move=colour, lead=-sign * lead))
    return [
        replace(move, after=moves[index + 1].before) if index + 1 < length else move for index, move in enumerate(moves)
    ]


def searches(moves: list[MoveReview], found: dict[int, SearchReport], **options: object) -> ChosenSearches:
    first = {move.number: move.after for move in moves} | {0: moves[0].before}
    values = {"first": first, "found": found, **options}
    return ChosenSearches(UniformEvaluator(8), SearchParameters(), Limits(visits=10), 1, **values)  # type: ignore[arg-type]


def last(steps: Iterator[tuple[MoveReview, ...]]) -> tuple[MoveReview, ...]:
    *_, known = steps
    return known


def test_the_positions_of_costly_moves_are_searched_for_longer() -> None:
    moves = chain({3: 4.0, 4: 2.0, 9: 0.3}, 12)
    looked = searches(moves, {})
    known = last(look_again(looked, Numbers(), moves))
    assert looked.asked == [2, 3, 4]
    assert looked.asked_limits == [Limits(visits=SECOND_LOOK_FACTOR * 10)]
    assert [move.number for move in known if move.is_checked] == [3, 4]
    assert [move.points_loss for move in known] == pytest.approx([move.points_loss for move in moves])


def test_new_values_replace_the_old_ones_in_both_moves_that_share_a_position() -> None:
    moves = chain({3: 4.0}, 12)
    known = last(look_again(searches(moves, {3: report(WHITE, D4, 0.5, 1.0)}), Numbers(), moves))
    assert known[2].points_loss == pytest.approx(1.0)
    assert known[2].after is known[3].before
    assert known[3].before.lead == 1.0


def test_a_fall_after_the_preferred_move_is_looked_at() -> None:
    moves = chain({3: 4.0}, 12, best={3: D4})
    assert moves[2].points_loss == 0
    known = last(look_again(searches(moves, {2: report(BLACK, E5, 0.5, 0.0)}), Numbers(), moves))
    assert known[2].points_loss == pytest.approx(4.0)


def test_moves_follow_until_the_list_is_full_of_checked_ones() -> None:
    # The worst ten turn out to cost nothing, so that the next ones are looked at.
    losses = dict.fromkeys(range(1, 2 * LISTED, 2), 5.0) | dict.fromkeys(range(101, 141, 4), 2.0)
    moves = chain(losses, 200)
    lead = {move.number: move.after for move in moves}
    found = {number: replace(lead[number], lead=-moves[number - 1].before.lead) for number in range(1, 2 * LISTED, 2)}
    looked = searches(moves, found)
    known = last(look_again(looked, Numbers(), moves))
    assert {100, 101} <= set(looked.asked)
    assert len(looked.asked) == len(set(looked.asked)) <= len(moves) / SECOND_LOOK_FACTOR + 1
    assert any(move.is_checked and move.number > 100 for move in known)


def test_only_the_judged_player_is_looked_at_and_nothing_without_mistakes() -> None:
    moves = chain({3: 4.0, 8: 2.0}, 12)
    looked = searches(moves, {})
    last(look_again(looked, Numbers(), moves, player=WHITE))
    assert looked.asked == [7, 8]
    assert list(look_again(searches(moves, {}), Numbers(), moves, "winrate")) == []


def test_a_stop_keeps_what_is_known() -> None:
    moves = chain({3: 4.0, 8: 2.0}, 12)
    answers = iter([False, False, False, True])
    looked = searches(moves, {}, is_stopped=lambda: next(answers))
    known = last(look_again(looked, Numbers(), moves))
    assert looked.asked == [2, 3, 7]
    assert [move.number for move in known if move.is_checked] == [3]


def test_a_real_search_has_more_visits_and_repeats() -> None:
    positions = Positions(read_sgf(b"(;SZ[5]KM[1];B[aa];W[];B[ba];W[];B[cc])"))
    real = Searches(UniformEvaluator(8), SearchParameters(), Limits(visits=8), seed=1)
    moves = list(review_moves(real, positions))
    moves[0] = replace(moves[0], before=replace(moves[0].before, lead=moves[0].before.lead + 50))
    first, second = (last(look_again(real, positions, moves)) for _ in range(2))
    assert [move.after.visits for move in first] == [SECOND_LOOK_FACTOR * 8, 8, 8, 8, 8]
    assert [move.lead for move in first] == [move.lead for move in second]
    assert first[0].is_checked and first[0].before.visits == SECOND_LOOK_FACTOR * 8
