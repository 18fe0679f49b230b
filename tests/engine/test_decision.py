"""Decisions near the end, most of them with rollouts: what is captured, when to pass, and that games end."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from drawn_positions import BEFORE_THE_END, BETWEEN_BOTH, FINISHED, PRISONERS, SETTLED, game_of, seen_ownership

from gtp_engine.engine import decision
from gtp_engine.engine.decision import PlayStyle, _Choice, capturing_moves, choose_move, is_hopeless
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.status import find_dead
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, opponent, parse_vertex, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.points import index_of_point
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.parameters import SearchParameters, default_parameters
from gtp_engine.search.report import SearchReport
from gtp_engine.search.request import ANY_MOVE, Limits, RootMoves, SearchRequest


@pytest.fixture(scope="module")
def worker() -> Iterator[SearchWorker]:
    worker = SearchWorker(EngineSettings("none", threads=1, seed=7))
    yield worker
    worker.close()


def request(game: Game, visits: int = 300, root_moves: RootMoves = ANY_MOVE) -> SearchRequest:
    return SearchRequest(game.copy(), Limits(visits), root_moves, SearchParameters(), stop=threading.Event())


def move(worker: SearchWorker, game: Game, *, cleanup: bool = False) -> int:
    return choose_move(worker, request(game), PlayStyle(cleanup=cleanup))[0]


def play_to_the_end(worker: SearchWorker, game: Game, visits: int) -> None:
    while not game.is_over:
        point, _ = choose_move(worker, request(game, visits), PlayStyle())
        game.play(game.to_move, point)
        assert len(game.moves) < 2 * game.area


def stones_at(game: Game, *names: str) -> set[int]:
    return {game.stone_at(parse_vertex(name, game.width, game.height)) for name in names}


def test_chance_has_no_say_where_it_is_not_asked_for(worker):
    wild = replace(request(Game(5), 1), parameters=SearchParameters(temperature=1.0))
    assert len({choose_move(worker, wild, PlayStyle())[0] for _ in range(20)}) > 3
    reports = [choose_move(worker, wild, PlayStyle(deterministic=True)) for _ in range(5)]
    assert all(point == reports[0][0] for point, _ in reports)


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga"])
def test_a_pass_is_answered_with_a_pass_where_dead_stones_come_off_anyway(worker, rules):
    game = game_of(PRISONERS, rules, to_move=WHITE)
    game.play(WHITE, PASS)
    assert move(worker, game) == PASS


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga"])
def test_the_first_pass_comes_when_nothing_is_left(worker, rules):
    assert move(worker, game_of(PRISONERS, rules)) == PASS


def test_dead_stones_are_captured_before_a_pass_where_stones_stand(worker):
    game = game_of(PRISONERS, "tromp-taylor", komi=5.5)
    assert game.score().points < 0
    play_to_the_end(worker, game, 300)
    assert stones_at(game, "B4", "B1") & {WHITE} == set()
    assert game.score().points > 0


def test_cleanup_captures_all_dead_stones_before_it_passes(worker):
    game = game_of(PRISONERS, "japanese")
    for _ in range(30):
        point = move(worker, game, cleanup=True)
        game.play(BLACK, point)
        if point == PASS:
            break
        game.play(WHITE, PASS)
    assert point == PASS
    assert stones_at(game, "B4", "B1") <= {EMPTY, BLACK}


def test_the_last_neutral_point_is_taken_under_area_rules(worker):
    assert move(worker, game_of(BETWEEN_BOTH, "chinese")) == parse_vertex("E7", 7, 7)


def test_no_pass_that_loses_while_something_can_be_gained(worker):
    game = game_of(BETWEEN_BOTH, "chinese", komi=7.5, to_move=WHITE)
    game.play(WHITE, PASS)
    assert move(worker, game) == parse_vertex("E7", 7, 7)


def test_moves_at_the_root_may_be_restricted_to_the_end(worker):
    game = game_of(PRISONERS, "chinese")
    only = RootMoves(allow=((BLACK, parse_vertex("A1", 7, 7), 1),))
    assert choose_move(worker, request(game, root_moves=only), PlayStyle())[0] == parse_vertex("A1", 7, 7)


def test_a_stopped_search_answers_all_the_same(worker):
    asked = request(game_of(PRISONERS, "chinese"))
    asked.stop.set()
    point, report = choose_move(worker, asked, PlayStyle())
    assert asked.game.is_legal(point) and report.new_visits <= 1


@pytest.mark.parametrize("rules", ["chinese", "japanese", "aga"])
@pytest.mark.parametrize("stopped_at", [0, 1, 2])
def test_a_pass_is_answered_with_a_pass_though_the_search_is_stopped(rules, stopped_at):
    """Before the first search, at the one for the ownership, or at that with the opponent to move."""
    game = game_of(PRISONERS, rules, to_move=WHITE)
    game.play(WHITE, PASS)
    asked = request(game, 10)
    stopping = StoppingWorker(stopped_at, asked.stop)
    assert choose_move(stopping, asked, PlayStyle())[0] == PASS
    assert asked.stop.is_set() and all(limits.visits <= 32 * 20 for limits in stopping.looks)
    stopping.close()


def test_a_stopped_search_plays_on_after_a_pass_that_comes_too_early(worker):
    game = Game(7)
    game.play(BLACK, parse_vertex("D4", 7, 7))
    game.play(WHITE, PASS)
    asked = request(game)
    asked.stop.set()
    assert choose_move(worker, asked, PlayStyle())[0] != PASS


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
@pytest.mark.parametrize("visits", [1, 60])
def test_games_end(worker, rules, visits):
    game = Game(7, rules=RULESETS[rules], komi=7)
    play_to_the_end(worker, game, visits)
    dead = find_dead(game, lambda: worker.ownership(request(game)))
    assert not (dead and game.rules.stones_stand)


class CountingWorker(SearchWorker):
    """Counts the searches in addition to running them."""

    looks = 0

    def look(self, request):
        self.looks += 1
        return super().look(request)


class StoppingWorker(SearchWorker):
    """Stops when it is looked into for the nth time; collects the limits of the looks."""

    def __init__(self, stopped_at, stop):
        super().__init__(EngineSettings("none", threads=1, seed=7))
        self.looks, self._stopped_at, self._stop = [], stopped_at, stop
        if not stopped_at:
            stop.set()

    def look(self, request):
        self.looks.append(request.limits)
        if len(self.looks) == self._stopped_at:
            self._stop.set()
        return super().look(request)


def test_with_one_visit_what_is_open_is_played(worker):
    """A board with little left to play for is not a reason to pass."""
    worker.clear()  # another test may have searched the position for longer
    game = game_of(BETWEEN_BOTH, "chinese")
    point, report = choose_move(worker, request(game, 1), PlayStyle(deterministic=True))
    assert point != PASS and not report.moves


def test_without_time_nothing_is_looked_into_but_a_pass():
    watched = CountingWorker(EngineSettings("none", threads=1, seed=7))
    at_once = Limits(visits=1, seconds=0.0)
    game = game_of(PRISONERS, "chinese", to_move=WHITE)
    choose_move(watched, replace(request(game), limits=at_once), PlayStyle())
    assert watched.looks == 0
    game.play(WHITE, PASS)
    for limits in (at_once, Limits(seconds=0.0), Limits(visits=10**9, seconds=0.0)):
        assert choose_move(watched, replace(request(game), limits=limits), PlayStyle())[0] == PASS
    watched.close()


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_without_time_a_pass_is_answered_with_a_pass_and_no_eye_is_filled(
    rules: str, colour: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(decision, "_LEAST_SECONDS_OF_LOOK", 10.0)  # a busy machine must not decide
    watched = CountingWorker(EngineSettings("b6c64-19x19", threads=1, seed=7))
    game = game_of(FINISHED, rules, to_move=opponent(colour))
    game.play(opponent(colour), PASS)
    asked = replace(request(game), parameters=None, limits=Limits(seconds=0.0))  # with those for networks
    assert choose_move(watched, asked, PlayStyle())[0] == PASS
    watched.close()


def test_looks_are_for_equal_players():
    watched = CountingWorker(EngineSettings("b6c64-19x19", threads=1, seed=7))
    seen = []
    game = game_of(FINISHED, "japanese")
    for advantage in (0.0, 2.0):
        parameters = replace(default_parameters("b6c64-19x19"), playout_doubling_advantage=advantage)
        report = watched.look(replace(request(game, 20), parameters=parameters))
        seen.append((report.winrate, report.lead))
    assert seen[0] == seen[1]
    watched.close()


def test_the_count_knows_the_dead_stones_by_the_tree_that_is_kept():
    """As after thinking on the opponent's time, with no time left for the move."""
    game = game_of(PRISONERS, "japanese", komi=-20, to_move=WHITE)
    watched = CountingWorker(EngineSettings("b6c64-19x19", threads=1, seed=7))
    watched.search(request(game, 1000))
    game.play(WHITE, PASS)
    point, report = choose_move(watched, replace(request(game), limits=Limits(seconds=0.0)), PlayStyle())
    assert report.visits >= 48 > report.new_visits and report.ownership.any()
    assert (point, watched.looks) == (PASS, 1)
    watched.close()


def test_a_pass_that_ends_the_game_is_reported_with_the_count(worker):
    game = game_of(FINISHED, komi=0.5, to_move=WHITE)
    game.play(WHITE, PASS)
    point, report = choose_move(worker, request(game), PlayStyle())
    assert (point, report.winrate, report.lead) == (PASS, 1.0, 8.5)
    assert not is_hopeless(game, report, 0.1)
    assert ([found.point for found in report.moves], report.score_stdev) == ([PASS], 0.0)
    assert report.as_comment().splitlines()[-1] == "Main line: pass"
    lost = game_of(FINISHED, komi=10.5, to_move=WHITE)
    lost.play(WHITE, PASS)
    point, report = choose_move(worker, request(lost), PlayStyle())
    assert (point, report.winrate, report.lead) == (PASS, 0.0, -1.5)


def test_a_position_of_black_stones_alone_is_no_handicap(worker):
    game = game_of(FINISHED.replace("O", "X"), to_move=WHITE)
    game.play(WHITE, PASS)
    assert move(worker, game) == PASS


def test_a_pass_is_no_answer_to_a_threat():
    """A network's evaluation alone takes a group for alive that a search of the position after the pass sees die."""
    moves = """
        E5 E3 G5 C4 C5 B5 C6 B6 C7 D4 G3 E7 F7 F8 G7 D5 E6 D6 D7 E8 D8 B7 D9 B8 G8 G2 F2 F3 H2 G4 G1 H3 G2 F5 F6
        F4 H4 H5 J3 G6 H6 G5 J5 E2 E1 D1 D2 F1 B3 C2 E1 D3 B9 C8 C9 A8 F9 A9 E9 B4 J4 F1 E4 E1 J6 pass F8 pass
        E7 pass H3 pass J8 pass J7 pass H7 pass J2 pass G9 pass J9 pass H9 pass J1 pass H1 pass A7 pass A4 pass
        B1 pass B2 pass C1 pass C3
    """
    game = Game(9, komi=7)
    for vertex in moves.split():
        game.play(game.to_move, vertex)
    judge = SearchWorker(EngineSettings("b6c64-19x19", threads=1, seed=1))
    assert choose_move(judge, request(game, 50), PlayStyle())[0] != PASS
    judge.close()


def test_a_pass_on_an_empty_board_does_not_end_even_a_lost_game(worker):
    game = Game(9, komi=-50)
    game.set_up([point_at(x, y, 9) for x in (2, 4, 6) for y in (2, 4, 6)], [], WHITE)
    game.play(WHITE, point_at(3, 3, 9))
    game.play(BLACK, PASS)
    assert move(worker, game) != PASS


def test_early_passes_are_not_answered_where_the_dead_stones_that_stay_cost_the_game():
    game = Game(9, komi=12.5)
    game.play(BLACK, "E5")
    game.play(WHITE, "D8")
    for vertex in ("C3", "G7", "G3", "C7", "E3", "E7", "C5"):
        game.play(BLACK, vertex)
        game.play(WHITE, PASS)
    judge = SearchWorker(EngineSettings("b6c64-19x19", threads=1, seed=1))
    assert choose_move(judge, request(game, 50), PlayStyle())[0] != PASS
    judge.close()


class TimedWorker(SearchWorker):
    """Adds up the time that searches are given, and makes them short."""

    seconds = 0.0

    def search(self, request):
        self.seconds += request.limits.seconds
        return super().search(replace(request, limits=Limits(10)))

    def look(self, request):
        self.seconds += request.limits.seconds
        return super().look(replace(request, limits=Limits(10)))


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor"])
@pytest.mark.parametrize("position", [PRISONERS, BETWEEN_BOTH])
def test_all_searches_for_a_move_share_its_time(position, rules):
    worker = TimedWorker(EngineSettings("none", threads=1, seed=7))
    for passes in (0, 1):
        game = game_of(position, rules, to_move=WHITE if passes else BLACK)
        if passes:
            game.play(WHITE, PASS)
        worker.seconds = 0.0
        choose_move(worker, replace(request(game), limits=Limits(None, 10.0)), PlayStyle())
        assert 7.5 <= worker.seconds <= 10.001
    worker.close()


@pytest.mark.parametrize(("position", "seconds"), [(BEFORE_THE_END, 10.0), (PRISONERS, 9.7)])
def test_time_is_kept_for_looks_once_a_pass_is_likely(position, seconds):
    worker = SearchWorker(EngineSettings("b4c32-9x9", threads=1, device="cpu", seed=7))
    choice = _Choice(worker, replace(request(game_of(position)), limits=Limits(None, 10.0)), PlayStyle())
    assert choice._request_at_the_end().limits.seconds == pytest.approx(seconds)
    worker.close()


def test_a_pass_wins_at_once_where_the_stones_stand(worker):
    """White, who has passed, could still kill the black stones on the right; without them White would win."""
    game = Game(7, rules=RULESETS["tromp-taylor"], komi=0)
    black = [f"E{row}" for row in range(1, 8)] + ["F4", "G4", "C2", "C4", "C6", "A4"]
    white = [f"{column}{row}" for column in "BD" for row in range(1, 8)] + ["C7", "G2"]
    points = [[parse_vertex(name, 7, 7) for name in names] for names in (black, white)]
    game.set_up(*points, WHITE)
    game.play(WHITE, PASS)
    assert game.score().points == 3
    assert choose_move(worker, request(game, 1000), PlayStyle())[0] == PASS


def after_a_pass(game: Game) -> Game:
    game.play(game.to_move, PASS)
    return game


def found(drawing: str, game: Game, lead: float, winrate: float, certainty: float = 0.9) -> SearchReport:
    """The report of a search that sees these owners of the points and these values for the player to move."""
    owned = seen_ownership(drawing, game, certainty)
    return replace(report_of(game, winrate, lead), ownership=owned)


def is_free(
    worker: SearchWorker, drawing: str, game: Game, before: tuple[float, float], after: tuple[float, float]
) -> bool:
    """Whether a pass is free, by the lead and the win rate of its player before it and after it."""
    opposite = game.copy()
    opposite.to_move = 3 - game.to_move
    looks = found(drawing, game, *before), found(drawing, opposite, -after[0], 1 - after[1])
    choice = _Choice(worker, request(game), PlayStyle())
    return choice._is_pass_free(looks[0], *choice._after_pass(*looks))


def test_a_pass_is_free_if_neither_points_nor_chances_are_lost(worker):
    game = game_of(SETTLED)
    assert is_free(worker, SETTLED, game, (0.5, 0.5), (0.0, 0.46))
    assert not is_free(worker, SETTLED, game, (0.5, 0.5), (-0.2, 0.5))
    assert not is_free(worker, SETTLED, game, (0.5, 0.5), (0.5, 0.44))


def test_a_pass_that_ends_the_game_has_the_chances_of_the_count(worker):
    """By the count Black is 0.5 points ahead, or 13.5 behind."""
    won, lost = (after_a_pass(game_of(SETTLED, komi=komi, to_move=WHITE)) for komi in (6.5, 20.5))
    assert is_free(worker, SETTLED, won, (0.5, 0.9), (0.5, 0.9))
    assert not is_free(worker, SETTLED, won, (3.0, 0.99), (0.5, 0.99)), "it would win, too, but points are lost"
    assert is_free(worker, SETTLED, lost, (-13.5, 0.01), (-13.5, 0.01))
    assert not is_free(worker, SETTLED, lost, (-13.5, 0.3), (-13.5, 0.3)), "the search sees a way to win"


def test_a_count_that_wins_as_it_stands_ends_the_game_after_the_opponents_pass(worker):
    game = after_a_pass(game_of(PRISONERS, "tromp-taylor", komi=-30.0, to_move=WHITE))
    assert is_free(worker, PRISONERS, game, (50.0, 1.0), (20.0, 0.6))


def test_a_pass_that_ends_the_game_is_worth_the_count(worker):
    """By the count Black loses by 13.5 points; a search in which White plays on finds another result."""
    game = after_a_pass(game_of(SETTLED, komi=20.5, to_move=WHITE))
    opposite = game.copy()
    opposite.to_move = WHITE
    looks = found(SETTLED, game, -13.5, 0.01), found(SETTLED, opposite, 8.5, 0.9)
    assert _Choice(worker, request(game), PlayStyle())._after_pass(*looks) == (-13.5, 0.0)


def test_in_the_place_of_a_pass_that_costs_points_a_move_that_gains_some_is_played(worker):
    """The judge sees two such moves; the policy takes the more likely one, or the judge's best one if it knows none."""
    game = game_of(BETWEEN_BOTH, "chinese")
    likely, best, other = (parse_vertex(name, 7, 7) for name in ("E7", "E1", "A1"))
    report, judged = report_of(game, 0.5, 0.0), worker.look(request(game))
    moves = [
        judged.moves[0]._replace(point=point, lead=lead) for point, lead in ((best, 3.0), (likely, 2.0), (other, 0.2))
    ]
    before = replace(judged, moves=tuple(moves))
    choice = _Choice(worker, request(game), PlayStyle(deterministic=True))
    priors = report.priors.copy()
    priors[[index_of_point(point, 7, 7) for point in (likely, other)]] = 0.2, 0.5
    priors[-1] = 0.3
    assert choice._instead_of_pass(replace(report, priors=priors), before, 0.0) == likely
    priors = np.zeros_like(priors)
    priors[-1] = 1.0
    assert choice._instead_of_pass(replace(report, priors=priors), before, 0.0) == best


def test_captures_begin_with_safe_liberties():
    game = game_of(PRISONERS, "tromp-taylor")
    for _ in range(20):
        owned = seen_ownership(PRISONERS, game) if game.to_move == BLACK else -seen_ownership(PRISONERS, game)
        dead = find_dead(game, lambda owned=owned: owned)
        prisoners = frozenset(point for point in dead if game.stone_at(point) == WHITE)
        if not prisoners:
            break
        game.play(BLACK, min(capturing_moves(game, prisoners)))
        game.play(WHITE, PASS)
    assert game.captures(BLACK) == 2


def report_of(game: Game, winrate: float, lead: float) -> SearchReport:
    priors = np.zeros(game.area + 1, np.float32)
    return SearchReport(
        game.width, game.height, game.to_move, 99, 99, winrate, lead, lead, 9.0, 0.0, (), priors, None, 1
    )


def test_hopeless_means_far_behind_late_and_without_chances():
    game = Game(9)
    lost = report_of(game, winrate=0.01, lead=-20.0)
    assert not is_hopeless(game, lost, 0.05)
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 2 * (number // 9), 9))
    assert is_hopeless(game, lost, 0.05)
    assert not is_hopeless(game, lost, 0.001)
    assert not is_hopeless(game, report_of(game, winrate=0.01, lead=-1.0), 0.05)
    assert is_hopeless(game, replace(lost, visits=1), 0.05)  # so far behind, one visit is enough
    assert not is_hopeless(game, replace(lost, visits=1, lead=-5.0), 0.05)
    assert is_hopeless(game, replace(lost, lead=-5.0), 0.05)
    assert not is_hopeless(game, replace(lost, is_rough=True), 0.05)


def test_stones_that_are_set_up_count_as_moves():
    game = Game(9)
    points = [point_at(number % 9, 2 * (number // 9), 9) for number in range(21)]
    game.set_up(points[::2], points[1::2], BLACK)
    assert is_hopeless(game, report_of(game, winrate=0.01, lead=-20.0), 0.05)


def test_handicap_is_no_reason_to_resign_early():
    game = Game(9)
    game.place_handicap([point_at(2, 2, 9), point_at(6, 6, 9), point_at(2, 6, 9), point_at(6, 2, 9)])
    for number in range(21):
        game.play(game.to_move, point_at(number % 9, 4 * (number // 9), 9))
    assert not is_hopeless(game, report_of(game, winrate=0.01, lead=-20.0), 0.05)
