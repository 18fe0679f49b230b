"""Decisions near the end, most of them with rollouts: what is captured, when to pass, and that games end."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from drawn_positions import BETWEEN_BOTH, PRISONERS, SETTLED, drawn_status, game_of

from gtp_engine.engine.decision import (
    PlayStyle,
    _Choice,
    capturing_moves,
    choose_move,
    costs_nothing,
    has_hope,
    is_hopeless,
    should_pass,
    useful_move,
)
from gtp_engine.engine.ranks import Strength
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.engine.status import Status, find_dead
from gtp_engine.engine.worker import SearchWorker
from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE, parse_vertex, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.points import index_of_point
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.search.request import ANY_MOVE, Limits, RootMoves, SearchRequest


@pytest.fixture(scope="module")
def worker() -> Iterator[SearchWorker]:
    worker = SearchWorker(EngineSettings("none", threads=1, seed=7))
    yield worker
    worker.close()


class ReliableWorker(SearchWorker):
    """Treats rollouts as being as reliable as a network."""

    def is_rollout(self, game):
        return False


@pytest.fixture
def sure() -> Iterator[SearchWorker]:
    worker = ReliableWorker(EngineSettings("none", threads=1, seed=7))
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
    assert asked.stop.is_set() and all(limits.visits <= 64 for limits in stopping.looks)
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


def test_a_network_is_not_overruled_by_what_rollouts_cannot_tell(worker, sure):
    """A move that seems to gain nothing over a pass, on settled ground, after equal searches."""
    asked = request(Game(7))
    report = worker.search(asked)
    after_pass = replace(report, lead=-report.lead, winrate=1 - report.winrate)
    settled = Status(0.0, 0.0, frozenset(), frozenset(), frozenset())
    sure.search(asked)
    best = report.moves[0].point
    assert _Choice(worker, asked, PlayStyle())._play_on(best, report, after_pass, settled) == PASS
    assert _Choice(sure, asked, PlayStyle())._play_on(best, report, after_pass, settled) == best


def test_with_one_visit_what_is_open_is_played(worker, sure):
    """A board with little left to play for is not a reason to pass."""
    game = game_of(BETWEEN_BOTH, "chinese")
    for player in (worker, sure):
        point, report = choose_move(player, request(game, 1), PlayStyle(deterministic=True))
        assert point != PASS and not report.moves


def test_with_rollouts_and_one_visit_an_open_point_comes_before_a_pass(worker):
    """The policy prefers a point that is not open, and nothing else is known about it."""
    game = game_of(BETWEEN_BOTH, "chinese")
    asked = request(game, 1)
    report = worker.glance(asked, deterministic=True)
    priors = np.full_like(report.priors, 0.001)
    priors[0] = 0.9
    report = replace(report, priors=priors)
    status = Status(0.0, 0.0, frozenset(), frozenset(), frozenset({parse_vertex("E7", 7, 7)}))
    chosen = _Choice(worker, asked, PlayStyle(deterministic=True))._play_on(point_at(0, 0, 7), report, report, status)
    assert game.vertex(chosen) == "E7"


def test_open_points_come_before_a_pass_unless_it_is_more_probable_than_all_of_them_together(sure):
    """With a network: seven open points share what the policy gives them."""
    game = game_of(
        """
        X . X . O . .
        . X X . O O .
        X X . . O . O
        . X X . O O .
        X . X . O . .
        X X X . O O O
        . X X . O . O
        """,
        "chinese",
    )
    asked = request(game, 1)
    report = sure.glance(asked)
    open_points = frozenset(parse_vertex(f"D{row}", 7, 7) for row in range(1, 8))
    status = Status(0.0, -7.0, frozenset(), frozenset(), open_points)
    for share, of_pass in ((0.1, 0.2), (0.05, 0.5)):
        priors = np.full_like(report.priors, 0.001)
        priors[[index_of_point(point, 7, 7) for point in open_points]] = share
        priors[-1] = of_pass
        likely = replace(report, priors=np.where(report.priors > 0, priors, 0))
        for style in (PlayStyle(Strength(0.5)), PlayStyle(deterministic=True)):
            ending = _Choice(sure, asked, style)
            choices = {ending._play_on(PASS, likely, likely, status) for _ in range(20)}
            assert choices <= open_points if of_pass < 7 * share else choices == {PASS}


def test_with_one_visit_the_policy_decides_what_is_captured(worker):
    game = game_of(PRISONERS, "tromp-taylor")
    asked = request(game, 1)
    report = worker.glance(asked)
    status = drawn_status(PRISONERS, game)
    moves = sorted(capturing_moves(game, status.prisoners))
    assert len(moves) > 1
    for point in moves:
        priors = np.full_like(report.priors, 0.001)
        priors[index_of_point(point, 7, 7)] = 0.5
        likely = replace(report, priors=priors)
        assert _Choice(worker, asked, PlayStyle())._play_on(PASS, likely, likely, status) == point


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


def test_no_search_of_a_network_has_more_visits_than_asked_for():
    """Those that look for the end of the game, too; of rollouts they need more."""

    class WatchedWorker(ReliableWorker):
        most = 0

        def look(self, request):
            self.most = max(self.most, request.limits.visits)
            return super().look(request)

    sure = WatchedWorker(EngineSettings("none", threads=1, seed=7))
    for passes in (0, 1):
        game = game_of(PRISONERS, "chinese", to_move=WHITE)
        if passes:
            game.play(BLACK, PASS)
        for visits in (1, 10, 100):
            sure.most = 0
            choose_move(sure, request(game, visits), PlayStyle())
            assert sure.most <= visits
            assert not passes or bool(sure.most) == (visits > 1)  # whether to pass takes a search, if there may be one


def test_the_answer_to_a_pass_must_gain_points(sure):
    """Who is behind does not fill the own territory as long as the search doubts a little that the game is lost."""
    game = after_a_pass(game_of(SETTLED, komi=20.5))
    asked = request(game, 50)
    report = replace(sure.look(asked), winrate=0.2)
    best = report.moves[0]
    status = Status(-4.0, -4.0, frozenset(), frozenset(), frozenset())
    for lead, chosen in ((-3.8, PASS), (-3.0, best.point)):
        promising = replace(report, moves=(best._replace(lead=lead), *report.moves[1:]))
        assert _Choice(sure, asked, PlayStyle())._play_on(best.point, promising, report, status) == chosen


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


def passes(drawing: str, game: Game, certainty: float = 0.9, winrate: float = 0.0, *, cleanup: bool = False) -> bool:
    return should_pass(game, drawn_status(drawing, game, certainty), winrate, cleanup=cleanup)


def test_a_count_that_wins_as_it_stands_ends_the_game_after_the_opponents_pass():
    assert passes(PRISONERS, after_a_pass(game_of(PRISONERS, "tromp-taylor", komi=-30.0, to_move=WHITE)))


def test_a_pass_is_answered_where_the_count_wins_whatever_comes():
    assert not passes(BETWEEN_BOTH, game_of(BETWEEN_BOTH))
    assert passes(BETWEEN_BOTH, after_a_pass(game_of(BETWEEN_BOTH, komi=-9.5, to_move=WHITE)))
    assert not passes(BETWEEN_BOTH, after_a_pass(game_of(BETWEEN_BOTH, komi=20.5, to_move=WHITE)))


def test_undecided_stones_keep_the_game_open():
    assert not passes(SETTLED, after_a_pass(game_of(SETTLED, to_move=WHITE)), certainty=0.2)


def test_a_lost_count_is_not_accepted_while_the_search_sees_a_way_to_win():
    lost = game_of(SETTLED, komi=20.5)
    status = drawn_status(SETTLED, lost)
    assert status.score < 0
    assert [has_hope(lost, status, winrate) for winrate in (0.01, 0.3)] == [False, True]
    assert [passes(SETTLED, lost, winrate=winrate) for winrate in (0.01, 0.3)] == [True, False]
    assert passes(SETTLED, game_of(SETTLED, komi=0), winrate=0.3)


def test_a_useful_move_is_on_undecided_ground_and_as_good_as_the_best(worker):
    game = game_of(BETWEEN_BOTH)
    status = drawn_status(BETWEEN_BOTH, game)
    report = worker.look(request(game))
    inside, between = (
        replace_move(report, parse_vertex(name, 7, 7), winrate=winrate, lead=lead)
        for name, winrate, lead in (("A1", 0.5, 1.0), ("E7", 0.49, 0.8))
    )
    assert useful_move(replace(report, moves=(inside, between)), status) == between
    much_better = inside._replace(lead=4.0)
    assert useful_move(replace(report, moves=(much_better, between._replace(winrate=0.4))), status) is None


def replace_move(report: SearchReport, point: int, **values: float) -> MoveReport:
    return report.moves[0]._replace(point=point, **values)


def test_what_a_pass_costs(worker):
    report = worker.look(request(game_of(SETTLED)))
    before = replace(report, winrate=0.5, lead=0.5)
    assert costs_nothing(before, replace(report, winrate=0.5, lead=0.0))
    assert not costs_nothing(before, replace(report, winrate=0.9, lead=6.0))


def test_captures_begin_with_safe_liberties():
    game = game_of(PRISONERS, "tromp-taylor")
    for _ in range(20):
        prisoners = drawn_status(PRISONERS, game).prisoners
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
