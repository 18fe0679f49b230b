"""Explanations of mistakes: the searches behind them, what all of these see, and which mistakes are explained."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from drawn_positions import drawn
from reviews import D4, E5, F6, G7, game_of, loss, reason, report
from studies import CAPTURE, corner, inverted, region

from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, all_points
from gtp_engine.go.game import Game
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits
from gtp_engine.study.move_review import MoveReview
from gtp_engine.study.reasons.explain import explain, facts_about, next_to_explain, study_in, study_of, with_threats
from gtp_engine.study.reasons.tempting import find_tempting
from gtp_engine.study.reasons.variation import Claim, Study, searched_line
from gtp_engine.study.review_data import to_json
from gtp_engine.study.review_sgf import annotated
from gtp_engine.study.searches import Searches


def searches(visits: int = 8, **options: Callable[[], bool]) -> Searches:
    return Searches(UniformEvaluator(8), SearchParameters(), Limits(visits=visits), 1, **options)


def test_what_another_search_does_not_see_is_not_said() -> None:
    about, same, other = corner(-0.9, 0.9), corner(-0.7, 0.7), corner(0.5, 0.9)
    assert [fact.name for fact in facts_about(searches(), [about, same])] == ["eyes"]
    assert not facts_about(searches(), [about, other])
    claim = Claim(frozenset((about.move,)), better=-0.5, played=0.5, change=0.0)
    assert claim.holds(about) and not claim._replace(change=0.1).holds(about)


def test_a_region_is_said_only_if_no_search_finds_most_of_it_given_back_elsewhere() -> None:
    kept, half, given_back = (region("D2", owned=(0.0, 1.0), lead=lead) for lead in (6.0, 3.0, 2.9))
    assert [fact.name for fact in facts_about(searches(), [kept, half])] == ["bigger"]
    assert not facts_about(searches(), [kept, given_back]) and not facts_about(searches(), [given_back, kept])


def test_points_are_told_only_if_every_search_finds_enough_of_them() -> None:
    found = [region("D2", owned=(0.0, owned), lead=4.0) for owned in (0.7, 0.69, 0.6)]
    assert [fact.name for fact in facts_about(searches(), found[:2])] == ["bigger"]
    assert not facts_about(searches(), found), "which would be 3 points"


def test_searches_of_both_players_moves_see_the_same_facts() -> None:
    """The better move captures, by rollouts: ownership and leads are those of the player, Black or White."""
    found = []
    for diagram, colour in ((CAPTURE, BLACK), (inverted(CAPTURE), WHITE)):
        game, at = drawn(diagram, colour)
        rollouts = replace(searches(400), evaluator=RolloutEvaluator(threads=1, seed=1))
        about = study_of(rollouts, game, colour, at["b"], at["a"])
        assert about is not None and about.points_loss > 2
        assert about.better.owned(frozenset((game.point("B4"),))) > 0.5
        found.append(with_threats(rollouts, about).better.gain_if_ignored)
    assert None not in found


def test_a_line_ends_where_it_has_hardly_been_searched() -> None:
    after = report(WHITE, E5, 0.5, 0.0)
    assert searched_line(after) == (E5, F6)
    thin = after.moves[0]._replace(pv=(E5, F6, G7, D4), pv_visits=(10, 4, 3, 1))
    assert searched_line(replace(after, moves=(thin,))) == (E5, F6)
    assert searched_line(replace(after, moves=())) == ()


def test_a_stopped_search_and_an_illegal_move_explain_nothing() -> None:
    game, at = drawn(CAPTURE)
    assert study_of(searches(is_stopped=lambda: True), game, BLACK, at["b"], at["a"]) is None
    assert study_of(searches(), game, BLACK, game.point("B5"), at["a"]) is None
    after = study_of(searches(), game, BLACK, 0, at["a"])
    assert after is not None and after.played.line[0] == 0
    assert with_threats(searches(), after).better.gain_if_ignored is None


def test_a_move_of_the_record_that_superko_forbids_is_studied_too() -> None:
    game = Game(5, rules="tromp-taylor", komi=0)
    for colour, vertex in zip("bwbwbwb", ("A2", "pass", "B2", "pass", "C1", "A1", "pass"), strict=True):
        game.play(colour, vertex)
    suicide = game.point("B1")  # of two stones, which restores the position before A1
    assert not game.is_legal(suicide, WHITE)
    about = study_of(searches(), game, WHITE, suicide, game.point("C4"))
    assert about is not None and (about.move, about.best) == (suicide, game.point("C4"))
    assert about.played.games[1].stone_at("A1") == EMPTY and game.stone_at("A1") == WHITE
    facts_about(searches(), [about])


def checked(move: MoveReview, before: float = 0.0, after: float = 0.0) -> MoveReview:
    """A move whose searches say who owns the points, the same everywhere, for the player of the move."""
    owned = np.full((9, 9), before, np.float32)
    moves = tuple(each._replace(ownership=owned) for each in move.before.moves)
    after_it = replace(move.after, ownership=np.full((9, 9), -after, np.float32))
    return replace(move, before=replace(move.before, moves=moves), after=after_it, is_checked=True)


def test_the_second_look_shows_both_lines() -> None:
    move = checked(loss(1, WHITE, D4, E5, 9.0, 0.4), 0.5, -0.25)
    game = Game(9)
    game.to_move = WHITE
    about = study_in(game, move)
    assert (about.colour, about.played.line, about.better.line) == (WHITE, (D4, F6), (E5, F6))
    assert about.change(frozenset((G7,))) == 0.75
    assert about.points_loss == move.points_loss == 9, "of the two positions, as in the list"
    unsearched = replace(move.before, moves=(move.before.moves[0]._replace(pv_visits=(1, 1)),))
    assert study_in(game, replace(move, before=unsearched)).better.line == (E5,)


def test_nothing_is_told_if_the_searches_that_follow_find_no_loss_or_are_stopped() -> None:
    move = checked(loss(1, BLACK, D4, E5, 9.0, 0.4))
    assert explain(searches(), Game(9), move) == (), "all positions are alike for this evaluator"
    assert explain(searches(is_stopped=lambda: True), Game(9), move) == ()


def test_likely_moves_that_lose_points_too_are_told() -> None:
    """For this evaluator every position is even, so after another move the player is 6 points behind."""
    move = loss(1, BLACK, D4, E5, 9.0, 0.4)
    before = report(BLACK, E5, 0.5, 5.0, ((D4, 0.5, 9.0), (F6, 0.1, 8.0), (G7, 0.3, 4.4), (PASS, 0.4, 9.0)))
    move = checked(replace(move, before=before), 0.5)

    def deeper(_: Searches, study: Study) -> Study:
        return replace(study, better=replace(study.better, lead=4.4 if study.move == G7 else 3.9 + study.points_loss))

    def told(move: MoveReview, **options: Callable[[], bool]) -> list[int]:
        facts = find_tempting(searches(**options), move.before, study_in(Game(9), move), deeper)
        return [fact.line[0] for fact in facts]

    assert told(move) == [G7, F6], "the most likely move first"
    assert not [*find_tempting(searches(), move.before, study_in(Game(9), move), lambda *_: None)]
    assert not told(move, is_stopped=lambda: True)
    others = tuple(each._replace(lead=each.lead + 0.5, prior=each.prior - 0.01) for each in move.before.moves[1:])
    fewer = replace(move, before=replace(move.before, moves=(move.before.moves[0], *others)))
    assert not told(fewer), "G7 loses only 3.9 points now, and F6 is less likely than one in ten"


def explained(moves: list[MoveReview]) -> list[int]:
    """The numbers of the moves that are explained, one after the other."""
    numbers: list[int] = []
    while (move := next_to_explain(game_of(moves).mistakes, numbers)) is not None:
        numbers.append(move.number)
    return numbers


def test_listed_and_large_mistakes_are_explained() -> None:
    points = list(all_points(9, 9))
    moves = [loss(number, BLACK, points[-1], points[number], 2 + number / 10) for number in range(1, 31)]
    assert explained(moves) == list(range(30, 20, -1))
    large = [loss(number, BLACK, points[-1], points[number], 6 + number / 20) for number in range(1, 31)]
    assert len(explained([*large, loss(31, BLACK, points[-1], points[31], 6.0)])) == 30


def test_reasons_are_in_the_record_and_in_the_json_file() -> None:
    move = loss(1, BLACK, 33, 44, 7.0, 0.3)
    review = game_of([move], reasons={1: [reason((33, 44))]})
    line = f"{move.vertex(33)} {move.vertex(44)}"
    text = "D4 is a neutral point: it gains no territory."
    assert f"{text} ({line})" in annotated(review).main_line[1].comment
    assert f'"text": "{text}"' in to_json([review])
