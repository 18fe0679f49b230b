"""The searches of a review: of all positions of a record, and of the costly ones again."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from reviews import D4, E5, loss, report

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import read_sgf
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import Limits
from gtp_engine.study.known_reports import KnownReports
from gtp_engine.study.level import Level
from gtp_engine.study.move_review import LISTED, MoveReview
from gtp_engine.study.searches import SECOND_LOOK_FACTOR, Positions, Searches, look_again, review_moves


def reviewed(
    data: bytes, limits: Limits, numbers: range | None = None, komi: float | None = None, **options: Any
) -> Iterator[MoveReview]:
    searches = Searches(UniformEvaluator(8), SearchParameters(), limits, seed=1, **options)
    return review_moves(searches, Positions(read_sgf(data), komi=komi), numbers)


@pytest.mark.parametrize("limits", [Limits(visits=8), Limits(visits=8, seconds=60)])
def test_every_move_is_reviewed_passes_and_setup_too(limits: Limits) -> None:
    data = b"(;SZ[5:4]KM[3]RU[Japanese]AB[aa];B[bb];AW[dd];B[cc];W[]AE[aa];B[];W[bc];AW[ea])"
    reviews = list(reviewed(data, limits, komi=0.5))
    assert [done.has_setup for done in reviews] == [True, False, True, False, True]
    assert [done.move for done in reviews] == read_sgf(data).moves
    assert [done.number for done in reviews] == [1, 2, 3, 4, 5]
    assert [done.before.to_move for done in reviews] == [BLACK, BLACK, WHITE, BLACK, WHITE]
    assert all(done.before.visits == 8 for done in reviews)
    assert all(0 <= done.winrate <= 1 and done.winrate_loss >= 0 for done in reviews)


def test_only_a_range_of_moves_is_searched() -> None:
    data = b"(;SZ[5:4]KM[3];B[bb];W[cc];B[];W[bc];B[cb])"
    every, some = (list(reviewed(data, Limits(visits=8), numbers=numbers)) for numbers in (None, range(2, 4)))
    assert [done.number for done in some] == [2, 3]
    assert [done.winrate for done in some] == [done.winrate for done in every[1:3]]
    assert np.array_equal(some[0].before.priors, every[1].before.priors)


def test_with_rollouts_the_tree_goes_on_from_move_to_move() -> None:
    evaluator = RolloutEvaluator(threads=1, seed=1)
    record = read_sgf(b"(;SZ[5];B[cc];W[cb];B[bb])")
    searches = Searches(evaluator, SearchParameters(), Limits(visits=400), seed=1)
    reviews = list(review_moves(searches, Positions(record)))
    assert reviews[0].before.new_visits == 400
    assert 0 < reviews[0].after.new_visits < 400


@pytest.mark.parametrize("limits", [Limits(visits=8), Limits(seconds=1000)])
def test_stopped_review_ends_without_the_move_that_is_being_searched(limits: Limits) -> None:
    stopped = iter([False] * 20 + [True] * 1000)
    reviews = list(reviewed(b"(;SZ[9];B[cc]" + b";W[];B[]" * 50 + b")", limits, is_stopped=lambda: next(stopped)))
    assert len(reviews) < 100
    assert [done.number for done in reviews] == list(range(1, len(reviews) + 1))


def test_review_ends_at_a_move_that_cannot_be_played() -> None:
    data = b"(;SZ[5];B[bb];W[bb])"
    assert [move.number for move in reviewed(data, Limits(visits=2))] == [1]
    assert "move 2: illegal move: B4 is occupied" in Positions(read_sgf(data)).problem


def test_what_is_known_is_not_searched_again_unless_for_longer() -> None:
    known, games = KnownReports(), [*read_sgf(b"(;SZ[5];B[cc];W[cb];B[bb])").positions()]
    options = {"seed": 1, "known": known}

    def reports(visits: int, *games: Game, **asked: bool) -> list[SearchReport]:
        searches = Searches(UniformEvaluator(8), SearchParameters(), Limits(visits=visits), **options)  # type: ignore[arg-type]
        return [*searches.reports((game.copy() for game in games), **asked)]

    (second,) = reports(20, games[1])
    first, again, third = reports(30, *games[:3])
    assert again.priors is second.priors and [first.visits, third.visits] == [30, 30], "in order"
    assert known.spared == 30
    assert [report.visits for report in reports(100, *games[:2])] == [30, 100]
    (owned,) = reports(12, games[0], ownership=True)
    assert owned.visits == 12 and owned.ownership is not None, "the longer search does not know the owners"
    (longest,) = reports(10, games[0])
    assert (longest.visits, longest.ownership) == (30, None)
    assert reports(48, games[0], ownership=True)[0].visits == 12, "what has told of a mistake tells of it again"
    (longer,) = reports(49, games[0], ownership=True)
    assert longer.visits == 49 and reports(12, games[0], ownership=True)[0].ownership is longer.ownership
    games[0].set_komi(0.5)
    assert reports(10, games[0])[0].visits == 10


def test_a_search_that_may_take_so_long_is_known_too() -> None:
    known, game = KnownReports(), Game(5)
    searches = Searches(UniformEvaluator(8), SearchParameters(), Limits(visits=20, seconds=60), known=known)
    (first,), (again,) = (searches.reports([game.copy()]) for _ in range(2))
    assert again.priors is first.priors
    assert known.spared == 20


# The second look.


@dataclass(frozen=True)
class ChosenSearches(Searches):
    """Searches with chosen reports instead of a search: those of `found`, or those of the first look."""

    first: dict[int, SearchReport] = field(default_factory=dict)
    found: dict[int, SearchReport] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)
    asked_limits: list[Limits] = field(default_factory=list)

    def reports(
        self, games: Iterable[Game], *, ownership: bool = False, moves_ownership: bool = False
    ) -> Iterator[SearchReport]:
        self.asked_limits.append(self.limits)
        for number in games:
            assert isinstance(number, int), "a position of `Numbers`"
            if self.is_stopped():
                return
            self.asked.append(number)
            found = self.found.get(number) or self.first[number]
            yield replace(found, ownership=np.zeros((9, 9), np.float32)) if ownership else found


class Numbers(Positions):
    """Numbers of moves instead of the positions after them."""

    def __init__(self) -> None:
        self.final = None

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


def test_of_a_point_missed_several_times_one_move_is_looked_at() -> None:
    given_back = {4: 4.0, 6: 6.0}
    moves = chain({3: 4.0, 5: 6.0, 7: 5.0, 21: 2.0} | given_back, 100)
    looked = searches(moves, {})
    last(look_again(looked, Numbers(), moves, player=BLACK))
    assert looked.asked == [4, 5, 20, 21]
    # The most costly one turns out to cost nothing: another one may cost more.
    looked = searches(moves, {5: replace(moves[4].after, lead=-moves[4].before.lead)})
    known = last(look_again(looked, Numbers(), moves, player=BLACK))
    assert {6, 7} <= set(looked.asked) and known[6].is_checked


def test_another_move_of_a_mistake_is_looked_at_if_it_may_count_more() -> None:
    moves = chain({3: 4.0, 4: 4.0, 5: 6.0, 6: 6.0, 7: 5.0}, 100)
    cheaper = replace(moves[4].after, lead=4.5 - moves[4].before.lead)
    known = last(look_again(searches(moves, {5: cheaper}), Numbers(), moves, player=BLACK))
    assert [move.number for move in known if move.is_checked and move.move.colour == BLACK] == [5, 7]


def test_moves_follow_until_the_list_is_full_of_checked_ones() -> None:
    # The worst ten turn out to cost nothing, so that the next ones are looked at.
    losses = dict.fromkeys(range(1, 2 * LISTED, 2), 5.0) | dict.fromkeys(range(101, 141, 4), 2.0)
    moves = chain(losses, 200)
    lead = {move.number: move.after for move in moves}
    found = {number: replace(lead[number], lead=-moves[number - 1].before.lead) for number in range(1, 2 * LISTED, 2)}
    looked = searches(moves, found)
    known = last(look_again(looked, Numbers(), moves))
    assert {100, 101} <= set(looked.asked)
    assert len(looked.asked) == len(set(looked.asked)) <= len(moves) / 4 + 1
    assert any(move.is_checked and move.number > 100 for move in known)


def test_another_move_is_looked_at_if_one_of_the_list_turns_out_to_be_no_mistake() -> None:
    moves = chain({3: 4.0, 4: 2.0}, 12)
    looked = searches(moves, {})
    known = last(look_again(looked, Numbers(), moves, listed=1))
    assert looked.asked == [2, 3] and not list(look_again(looked, Numbers(), known, listed=1))
    none = replace(known[2], after=replace(known[2].after, lead=-known[2].before.lead))
    last(look_again(looked, Numbers(), [*known[:2], none, *known[3:]], listed=1))
    assert looked.asked == [2, 3, 4], "no position is looked at twice"


def test_what_weighs_more_is_looked_at_first() -> None:
    moves = chain({3: 9.0, 30: 4.0}, 40)
    moves[2] = replace(moves[2], level=Level(8, 81, handicap=500.0))  # White is far ahead of what is expected
    looked = searches(moves, {})
    last(look_again(looked, Numbers(), moves, listed=1))
    assert looked.asked == [29, 30], "the list has room for one, and that one mattered more"


def test_only_the_judged_player_is_looked_at_and_nothing_without_mistakes() -> None:
    moves = chain({3: 4.0, 8: 2.0}, 12)
    looked = searches(moves, {})
    last(look_again(looked, Numbers(), moves, player=WHITE))
    assert looked.asked == [7, 8]


def test_searches_as_long_as_another_one() -> None:
    looked = searches(chain({}, 2), {})
    for limits, expected in (
        (Limits(2), Limits(20)),
        (Limits(5), Limits(40)),
        (Limits(seconds=1.0), Limits(seconds=8.0)),
    ):
        assert replace(looked, limits=limits).as_long_as(report(BLACK, E5, 0.5, 0.0)).limits == expected


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
    assert first[0].after.ownership is not None, "the reasons need to know who owns the points after the move"
    assert all(move.ownership is not None for move in first[0].before.moves), "and after a better one"
