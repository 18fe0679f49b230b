"""What a report offers to its readers: names of points, a table, texts, drawings."""

import copy
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hash_evaluator import HashEvaluator

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE, index_of_point
from gtp_engine.go.game import Game
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.search.request import Limits, RootMoves, SearchRequest
from gtp_engine.search.scheduler import run_search
from gtp_engine.search.search import Search

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def game() -> Game:
    game = Game(7, 5)
    for colour, name in (("black", "C3"), ("white", "E2"), ("black", "G5")):
        game.play(colour, name)
    return game


def searched(game: Game, visits: int, **options: object) -> SearchReport:
    search = Search(HashEvaluator(1), SearchParameters(), seed=1)
    return run_search(search, SearchRequest(game, Limits(visits=visits), **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def report(game: Game) -> SearchReport:
    return searched(game, 200, ownership=True)


def test_moves_have_names(game: Game, report: SearchReport) -> None:
    best = report.best
    assert best is report.moves[0]
    assert best.vertex == game.vertex(best.point) == report.vertex(best.point)
    assert best.pv_vertices == tuple(map(game.vertex, best.pv)) and len(best.pv) > 1
    assert all(move.vertex == game.vertex(move.point) for move in report.moves)


def test_leads_are_no_larger_than_the_board_holds() -> None:
    for to_move, sign in ((BLACK, -1), (WHITE, 1)):
        game = Game(7, 5, komi=100)
        game.to_move = to_move
        found = searched(game, 20)
        assert {found.lead, *(move.lead for move in found.moves)} == {sign * 65}
        assert abs(found.score_mean) < 65, "what the search uses stays as it is"


def test_moves_with_ownership_compare_and_hash(game: Game, report: SearchReport) -> None:
    known = searched(game, 200, ownership=True, moves_ownership=True).moves[0]
    assert known.ownership is not None and known == copy.deepcopy(known)
    assert hash(known) == hash(copy.deepcopy(known))
    assert known != known._replace(ownership=-known.ownership) and known != known._replace(visits=1)
    assert known != known._replace(ownership=None) and known != tuple(known)
    assert len({report, copy.deepcopy(report)}) == 2  # whole reports are compared by identity


def test_a_move_is_found_by_its_point_or_name(report: SearchReport) -> None:
    for move in report.moves:
        assert report.move_at(move.point) is report.move_at(move.vertex) is move
    assert report.move_at("C3") is None  # occupied
    with pytest.raises(UserError, match="Z9"):
        report.move_at("Z9")


def test_the_policy_is_the_priors_by_vertex(game: Game, report: SearchReport) -> None:
    for move in report.moves:
        assert report.policy[move.vertex] == report.policy[move.point] == pytest.approx(move.prior)
    assert report.policy["C3"] == 0
    assert np.array_equal(np.asarray(report.policy), report.priors)
    assert report.policy["A1"] == report.priors[index_of_point(game.point("A1"), 7, 5)]


def test_a_search_of_the_root_alone_has_no_best_move(game: Game) -> None:
    report = searched(game, 1)
    with pytest.raises(UserError, match="visited no move: allow it more visits or other moves"):
        report.best  # noqa: B018
    assert repr(report).startswith("<SearchReport: white to move, ")
    assert repr(report).endswith("1 visit>")
    assert ElementTree.fromstring(report.to_svg()) is not None


def test_reports_are_short_texts(report: SearchReport) -> None:
    values = f"{100 * report.winrate:.1f}%, {report.lead:+.1f} points, 200 visits"
    assert repr(report) == f"<SearchReport: white to move, {values}: {' '.join(report.best.pv_vertices)}>"
    best = report.best
    values = f"{100 * best.winrate:.1f}%, {best.lead:+.1f} points, {best.visits} visits"
    assert repr(best) == f"<{best.vertex} {values}: {' '.join(best.pv_vertices)}>"


def test_the_table_has_a_row_for_each_move(report: SearchReport) -> None:
    table = report.table()
    assert [row["move"] for row in table] == [move.vertex for move in report.moves]
    assert [row["visits"] for row in table] == [move.visits for move in report.moves]
    assert table[0]["pv"] == " ".join(report.best.pv_vertices)
    assert {"winrate", "lead", "score_mean", "score_stdev", "lcb", "prior"} < set(table[0])


def test_the_drawing_has_stones_last_move_candidates_and_ownership(game: Game, report: SearchReport) -> None:
    root = ElementTree.fromstring(report.to_svg())
    groups = {element.get("class"): list(element) for element in root.iter(f"{SVG}g")}
    assert (len(groups["black"][0]), len(groups["white"][0]), len(groups["last-move"])) == (2, 1, 1)
    texts = [element.text for element in groups["candidates"] if element.tag == f"{SVG}text"]
    shown = [move for move in report.moves[:9] if move.order == 0 or move.visits >= 4]
    assert texts == [text for move in shown for text in (f"{100 * move.winrate:.0f}", str(move.visits))]
    # The report is White's, the drawing is Black's.
    blacks = [square for square in groups["ownership"] if square.get("fill") == "#1b1b1b"]
    owned = (-report.ownership >= 0.1) & (game.stones() != 1)
    assert len(blacks) == np.count_nonzero(owned)
    assert "ownership" not in {element.get("class") for element in ElementTree.fromstring(
        report.to_svg(ownership=None)).iter(f"{SVG}g")}  # fmt: skip
    assert report._repr_svg_() == report.to_svg()


def test_a_difference_of_win_rates_may_be_rounded_to_more_than_one(report: SearchReport) -> None:
    best, second = report.moves[0]._replace(winrate=1.0), report.moves[1]._replace(winrate=-1e-9, visits=100)
    assert [disc.is_best for disc in replace(report, moves=(best, second)).candidates()] == [True, False]


def test_a_few_rough_evaluations_make_a_rough_report(game: Game) -> None:
    evaluator = HashEvaluator(1)
    evaluator.least_visits = 20
    search = Search(evaluator, SearchParameters(), seed=1)
    found = [run_search(search, SearchRequest(game, Limits(visits=visits))).is_rough for visits in (1, 19, 20)]
    assert found == [True, True, False]
    assert not searched(game, 1).is_rough


def test_a_report_keeps_its_stones_when_the_game_goes_on(game: Game) -> None:
    later = game.copy()
    report = searched(later, 5)
    later.play("white", "A1")
    assert np.array_equal(report.stones, game.stones())
    assert report.last_move == game.point("G5")


def test_a_move_without_a_board_has_no_name() -> None:
    move = MoveReport(64, 1, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0, (64,), (1,))
    with pytest.raises(UserError, match="invalid point 64"):
        move.vertex  # noqa: B018


def test_root_moves_may_be_given_by_name(game: Game) -> None:
    report = searched(game, 20, root_moves=RootMoves(allow=(("white", "B2", 1),)))
    assert [move.vertex for move in report.moves] == ["B2"]


def test_ownership_of_either_player(game: Game, report: SearchReport) -> None:
    assert report.ownership is not None and report.ownership.any()
    assert np.array_equal(report.ownership_of("white"), report.ownership)  # White is to move
    assert np.array_equal(report.ownership_of(BLACK), -report.ownership)
    with pytest.raises(UserError, match="the report has no ownership: search a request with ownership=True"):
        searched(game, 10).ownership_of("black")
