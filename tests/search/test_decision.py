"""Whole decisions near the end, with playouts: what is captured, what is passed, and that games end."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from drawn_positions import BETWEEN_BOTH, PRISONERS, game_of

from gtp_engine.game.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex, point_at
from gtp_engine.game.game import Game
from gtp_engine.game.rules import RULESETS
from gtp_engine.game.scoring import final_score
from gtp_engine.search.decision import Manner, _Ending, choose_move
from gtp_engine.search.ending import Outlook, find_dead
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.search import Limits, RootMoves
from gtp_engine.search.thinker import Request, Thinker


@pytest.fixture(scope="module")
def thinker() -> Iterator[Thinker]:
    thinker = Thinker("none", 1, 7)
    yield thinker
    thinker.close()


def request(game: Game, visits: int = 300, root_moves: RootMoves | None = None) -> Request:
    return Request(game.copy(), threading.Event(), Limits(visits), SearchParameters(), root_moves=root_moves)


def move(thinker: Thinker, game: Game, *, cleanup: bool = False) -> int:
    return choose_move(thinker, request(game), Manner(cleanup=cleanup))[0]


def play_to_the_end(thinker: Thinker, game: Game, visits: int) -> None:
    while not game.is_over:
        point, _ = choose_move(thinker, request(game, visits), Manner())
        game.play(game.to_move, point)
        assert len(game.moves) < 2 * game.area


def stones_at(game: Game, *names: str) -> set[int]:
    return {game.stone_at(parse_vertex(name, game.width, game.height)) for name in names}


def test_chance_has_no_say_where_it_is_not_asked_for(thinker):
    wild = replace(request(Game(5), 1), parameters=SearchParameters(temperature=1.0))
    assert len({choose_move(thinker, wild, Manner())[0] for _ in range(20)}) > 3
    reports = [choose_move(thinker, wild, Manner(calm=True)) for _ in range(5)]
    assert all(point == reports[0][0] for point, _ in reports)


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga"])
def test_a_pass_is_answered_with_a_pass_where_dead_stones_come_off_anyway(thinker, rules):
    game = game_of(PRISONERS, rules, to_move=WHITE)
    game.play(WHITE, PASS)
    assert move(thinker, game) == PASS


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga"])
def test_the_first_pass_comes_when_nothing_is_left(thinker, rules):
    assert move(thinker, game_of(PRISONERS, rules)) == PASS


def test_dead_stones_are_captured_before_a_pass_where_stones_stand(thinker):
    game = game_of(PRISONERS, "tromp-taylor", komi=5.5)
    assert final_score(game) < 0
    play_to_the_end(thinker, game, 300)
    assert stones_at(game, "B4", "B1") & {WHITE} == set()
    assert final_score(game) > 0


def test_cleanup_captures_all_dead_stones_before_it_passes(thinker):
    game = game_of(PRISONERS, "japanese")
    for _ in range(30):
        point = move(thinker, game, cleanup=True)
        game.play(BLACK, point)
        if point == PASS:
            break
        game.play(WHITE, PASS)
    assert point == PASS
    assert stones_at(game, "B4", "B1") <= {EMPTY, BLACK}


def test_the_last_neutral_point_is_taken_under_area_rules(thinker):
    assert move(thinker, game_of(BETWEEN_BOTH, "chinese")) == parse_vertex("E7", 7, 7)


def test_no_pass_that_loses_while_something_can_be_gained(thinker):
    game = game_of(BETWEEN_BOTH, "chinese", komi=7.5, to_move=WHITE)
    game.play(WHITE, PASS)
    assert move(thinker, game) == parse_vertex("E7", 7, 7)


def test_moves_at_the_root_may_be_restricted_to_the_end(thinker):
    game = game_of(PRISONERS, "chinese")
    only = RootMoves(allow=((BLACK, parse_vertex("A1", 7, 7), 1),))
    assert choose_move(thinker, request(game, root_moves=only), Manner())[0] == parse_vertex("A1", 7, 7)


def test_a_stopped_search_answers_all_the_same(thinker):
    asked = request(game_of(PRISONERS, "chinese"))
    asked.stop.set()
    point, report = choose_move(thinker, asked, Manner())
    assert asked.game.is_legal(point) and report.playouts <= 1


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
@pytest.mark.parametrize("visits", [1, 60])
def test_games_end(thinker, rules, visits):
    game = Game(7, rules=RULESETS[rules], komi=7)
    play_to_the_end(thinker, game, visits)
    dead = find_dead(game, thinker.ownership(game, SearchParameters(), threading.Event()))
    assert not (dead and game.rules.stones_stand)


class WatchedThinker(Thinker):
    """Counts the searches beside the tree."""

    looks = 0

    def look(self, request):
        self.looks += 1
        return super().look(request)


class SureThinker(Thinker):
    """Takes playouts for as sure as a network."""

    def plays_out(self, game):
        return False


def test_a_network_is_not_overruled_by_what_playouts_cannot_tell(thinker):
    """A move that seems to gain nothing over a pass, on settled ground, after equal searches."""
    asked = request(Game(7))
    report = thinker.search(asked)
    after_pass = replace(report, lead=-report.lead, winrate=1 - report.winrate)
    settled = Outlook(0.0, 0.0, 0.0, frozenset(), frozenset(), frozenset())
    sure = SureThinker("none", 1, 7)
    sure.search(asked)
    assert _Ending(thinker, asked, Manner())._play_on(report, after_pass, settled) == PASS
    assert _Ending(sure, asked, Manner(calm=True))._play_on(report, after_pass, settled) == report.moves[0].point
    sure.close()


def test_with_one_visit_what_is_open_is_played(thinker):
    """A board with little left to play for is no reason to pass."""
    game = game_of(BETWEEN_BOTH, "chinese")
    sure = SureThinker("none", 1, 7)
    for player in (thinker, sure):
        point, report = choose_move(player, request(game, 1), Manner(calm=True))
        assert point != PASS and not report.moves
    sure.close()


def test_without_time_nothing_is_looked_into_but_a_pass():
    watched = WatchedThinker("none", 1, 7)
    at_once = Limits(visits=1, seconds=0.0)
    game = game_of(PRISONERS, "chinese", to_move=WHITE)
    choose_move(watched, replace(request(game), limits=at_once), Manner())
    assert watched.looks == 0
    game.play(WHITE, PASS)
    assert choose_move(watched, replace(request(game), limits=at_once), Manner())[0] == PASS
    watched.close()


def test_a_pass_on_an_empty_board_does_not_end_even_a_lost_game(thinker):
    game = Game(9, komi=-50)
    game.set_up([point_at(x, y, 9) for x in (2, 4, 6) for y in (2, 4, 6)], [], WHITE)
    game.play(WHITE, point_at(3, 3, 9))
    game.play(BLACK, PASS)
    assert move(thinker, game) != PASS
