"""Analysis lines, read as the clients read them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from gtp_engine.clients.gtp.formats import OPTIONAL, Fields, cgos_line, decimal, kata_line, lz_line, with_unvisited
from gtp_engine.go.coords import BLACK, PASS, parse_vertex
from gtp_engine.search.evaluate.row import POLICY, UNKNOWN, VALUE_ERROR, EvaluationRow, row_columns
from gtp_engine.search.report import MoveReport, SearchReport

WIDTH, HEIGHT = 3, 2


def points(*names: str) -> tuple[int, ...]:
    return tuple(parse_vertex(name, WIDTH, HEIGHT) for name in names)


def move(name: str, order: int, visits: int, winrate: float, *pv: str) -> MoveReport:
    values = {"lead": 1.5, "score_mean": 1.25, "score_stdev": 10.0, "utility": 0.1, "utility_lcb": -0.000001}
    return MoveReport(
        parse_vertex(name, WIDTH, HEIGHT),
        visits,
        winrate,
        **values,
        lcb=winrate - 0.05,
        prior=0.25,
        weight=float(visits),
        order=order,
        pv=points(*pv),
        pv_visits=tuple(range(visits, visits - len(pv), -1)),
        ownership=np.full((HEIGHT, WIDTH), winrate, np.float32),
    )


def report(*moves: MoveReport) -> SearchReport:
    priors = np.array([0.3, 0.25, 0.2, 0.1, 0.0, 0.1, 0.05], np.float32)
    ownership = np.array([[1, -1, 0.5], [-0.25, 0, 0.125]], np.float32)
    return SearchReport(WIDTH, HEIGHT, BLACK, 31, 30, 0.5, 0.0, 0.0, 12.0, 0.0, moves, priors, ownership, 0.1)


TWO_MOVES = report(move("A2", 0, 20, 1.0, "A2", "B1", "pass"), move("B2", 1, 10, 0.123456789, "B2"))


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1.0"), (0.5, "0.5"), (1e-9, "0.0"), (-1e-9, "0.0"), (-12.25, "-12.25"), (1e7, "10000000.0")],
)
def test_decimals_have_a_point_and_no_exponent(value: float, text: str) -> None:
    assert decimal(value) == text


def test_leela_zero_form() -> None:
    assert lz_line(TWO_MOVES, Fields()) == (
        "info move A2 visits 20 winrate 10000 prior 2500 lcb 9500 order 0 pv A2 B1 pass"
        " info move B2 visits 10 winrate 1235 prior 2500 lcb 735 order 1 pv B2"
    )


def test_katago_form() -> None:
    assert kata_line(report(move("A2", 0, 20, 1.0, "A2", "B1")), Fields()) == (
        "info move A2 visits 20 edgeVisits 20 utility 0.1 winrate 1.0 scoreMean 1.5 scoreStdev 10.0 scoreLead 1.5"
        " scoreSelfplay 1.25 prior 0.25 lcb 0.95 utilityLcb -0.000001 weight 20.0 order 0 pv A2 B1"
    )


def test_mirror_images_name_the_move_that_was_searched() -> None:
    image = move("A1", 1, 20, 1.0, "A1", "B2")._replace(symmetry_of=parse_vertex("A2", WIDTH, HEIGHT))
    words = kata_line(report(TWO_MOVES.moves[0], image), Fields()).split()
    place = words.index("isSymmetryOf")
    assert words[place - 2 : place + 5] == ["weight", "20.0", "isSymmetryOf", "A2", "order", "1", "pv"]
    assert words.count("isSymmetryOf") == 1 and "isSymmetryOf" not in lz_line(report(image), Fields())


def sabaki_moves(line: str) -> list[dict[str, str]]:
    """What Sabaki makes of a line: segments at `info`, strict pairs before `pv`, the variation at the end."""
    found = []
    for segment in re.split(r"\s*info\s+", line.strip())[1:]:
        match = re.fullmatch(r"((?:\w+ \S+ )+)pv((?: (?:[A-HJ-Z]\d+|pass))+)", segment)
        assert match, segment
        words = match[1].split()
        found.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": match[2].strip()})
    return found


@pytest.mark.parametrize("form", [lz_line, kata_line])
def test_sabaki_reads_plain_lines(form: object) -> None:
    assert callable(form)
    moves = sabaki_moves(form(TWO_MOVES, Fields()))
    assert [found["move"] for found in moves] == ["A2", "B2"]
    assert moves[0]["pv"] == "A2 B1 pass"
    assert ("." in moves[0]["winrate"]) == (form is kata_line)


def test_order_of_the_optional_fields() -> None:
    every = Fields(frozenset(OPTIONAL))
    line = kata_line(TWO_MOVES, every)
    keys = [word for word in line.split() if re.fullmatch("[a-zA-Z]{3,}", word) and word != "pass"]
    in_move = keys[keys.index("noResultValue") : keys.index("info", 1)]
    assert in_move == ["noResultValue", "order", "pvVisits", "pvEdgeVisits", "movesOwnership"]
    parts = ["info", "info", "rootInfo", "ownership", "ownershipStdev"]
    assert [key for key in keys if key in parts] == parts
    assert "pv A2 B1 pass pvVisits 20 19 18 pvEdgeVisits 20 19 18 movesOwnership 1.0 1.0 1.0 1.0 1.0 1.0 info" in line
    assert " ownership 1.0 -1.0 0.5 -0.25 0.0 0.125 ownershipStdev 0.413 " in line


def test_the_root_has_its_weight_and_the_errors_that_the_evaluator_expects() -> None:
    row = np.zeros(row_columns(WIDTH * HEIGHT), np.float32)
    row[VALUE_ERROR:POLICY] = 0.25, 1.5, 12.0
    known = replace(TWO_MOVES, weight=25.5, root_evaluation=EvaluationRow(row, WIDTH * HEIGHT))
    assert kata_line(known, Fields(frozenset(("rootInfo",)))).endswith(
        " rootInfo visits 31 utility 0.0 winrate 0.5 scoreMean 0.0 scoreStdev 12.0 scoreLead 0.0 scoreSelfplay 0.0"
        " weight 25.5 rawStWrError 0.25 rawStScoreError 1.5 rawVarTimeLeft 12.0"
    )
    row[VALUE_ERROR:POLICY] = UNKNOWN
    in_tree = replace(known, root_evaluation=None)
    for report in (known, in_tree):
        assert kata_line(report, Fields(frozenset(("rootInfo",)))).endswith(
            " weight 25.5 rawStWrError -1.0 rawStScoreError -1.0 rawVarTimeLeft -1.0"
        )


def test_limits_on_the_number_of_moves() -> None:
    assert kata_line(TWO_MOVES, Fields(most_moves=1)).count("info") == 1
    more = with_unvisited(TWO_MOVES, 4)
    assert [(found.point, found.visits) for found in more.moves[2:]] == [(points("C2")[0], 0), (points("A1")[0], 0)]
    assert [found.order for found in more.moves] == [0, 1, 2, 3]
    assert len(with_unvisited(TWO_MOVES, 100).moves) == 6
    assert with_unvisited(TWO_MOVES, 100).moves[-1].point == PASS


def test_nothing_searched_gives_no_line() -> None:
    assert lz_line(report(), Fields()) == kata_line(report(), Fields(frozenset(("rootInfo", "ownership")))) == ""


def test_cgos_form() -> None:
    info = json.loads(cgos_line(TWO_MOVES))
    assert info["visits"] == 31 and info["winrate"] == 0.5
    best = {"move": "A2", "visits": 20, "winrate": 1.0, "score": 1.5, "prior": 0.25, "pv": "B1 pass"}
    assert info["moves"][0] == best
    assert info["ownership"] == "+AuXfj"
