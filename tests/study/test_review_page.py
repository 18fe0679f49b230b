"""The page of a review: valid HTML, its data, its figures, and names that try to break it."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from page_reader import PageReader
from reviews import D4, E5, F6, G7, game_of, loss, own_review, reason

import gtp_engine.study.page
from gtp_engine.base.errors import UserError
from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.rules import rules_phrase
from gtp_engine.go.sgf import GameRecord, read_sgf, shown_result
from gtp_engine.search.report import MoveReport, SearchReport
from gtp_engine.study.game_review import GameReview, PlayerFigures
from gtp_engine.study.move_review import MoveReview, Phase
from gtp_engine.study.page.curves import graphs, spread
from gtp_engine.study.page.page import figures_of_games, review_page, turning_points
from gtp_engine.study.page.words import script_data, wording
from gtp_engine.study.searches import SECOND_LOOK_FACTOR

FOLDER = Path(gtp_engine.study.page.__file__).parent
MOVES = [
    loss(1, BLACK, D4, E5, 4.0, 0.2),
    loss(2, WHITE, F6, F6, 0.0),
    loss(3, BLACK, G7, D4, 1.0, 0.1),
    loss(4, WHITE, PASS, E5, 7.0, 0.3),
]


def search(game: Game, lines: Sequence[Sequence[int]], lead: float = 0.0) -> SearchReport:
    """The report on a position whose moves are the first ones of these lines, best first."""
    moves = tuple(
        MoveReport(line[0], 50 - order, 0.5, lead, lead, 0, 0, 0, 0, 0.1, 1, order, tuple(line), (1,) * len(line))
        for order, line in enumerate(lines)
    )
    last = game.moves[-1].point if game.moves else PASS
    priors = np.zeros(game.area + 1, np.float32)
    values = (100, 100, 0.5, lead, lead, 0, 0, moves, priors, None, 0.1)
    return SearchReport(game.width, game.height, game.to_move, *values, stones=game.stones(), last_move=last)


def reviewed(played: Sequence[str], lines: Sequence[str], size: int = 5) -> GameReview:
    """A game, with a line that the search prefers in each of its positions; a line may be empty."""
    game = Game(size, rules="tromp-taylor", komi=0)
    points = [[game.point(name) for name in line.split()] for line in lines]
    reports = [search(game, points[:1] if points[0] else [])]
    moves = []
    for number, name in enumerate(played, start=1):
        colour = game.to_move
        game.play(colour, name)
        reports.append(search(game, [points[number]] if points[number] else [], lead=2.0 * number))
        moves.append(MoveReview(number, game.moves[-1], reports[-2], reports[-1]))
    return replace(game_of([]), record=GameRecord.from_game(game), searched=tuple(moves))


def page_data(page: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'class="data">(.*?)</script>', page, re.DOTALL)]


# The page.


def test_the_page_is_valid_and_loads_nothing() -> None:
    page = review_page([game_of(MOVES)])
    reader = PageReader(page)
    assert [title for title in reader.texts["title"] if "Review" in title] == ["Review: Ann 3d - Bob"]
    kinds = [script.get("type", "") for script in reader.all("script")]
    assert kinds == ["application/json", "application/json", ""]
    assert not [name for name, _ in reader.elements if name in ("link", "img", "iframe", "object", "form")]
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not [name for _, attributes in reader.elements for name in attributes if name.startswith("on")]
    styles = {attributes["style"] for _, attributes in reader.elements if "style" in attributes}
    assert len(styles) == 1 and "'unsafe-hashes'" in page and "unsafe-inline" not in page


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7 * 7 }}"


def test_hostile_names_stay_text() -> None:
    review = game_of(MOVES)
    record = review.record
    record.black = record.white_rank = record.result = record.date = HOSTILE
    record.source = f"folder/{HOSTILE}"
    for node in record.main_line[1:]:
        node.comment = HOSTILE
    conditions = replace(review.conditions, network=HOSTILE, rules=HOSTILE)
    review = replace(review, conditions=conditions, reasons={1: [reason((D4,), HOSTILE)]})
    for reviews in ([review], [review, game_of(MOVES)]):
        page = review_page(reviews)
        reader = PageReader(page)
        assert not reader.all("img")
        assert len(reader.all("script")) == 2 + len(reviews)
        assert "{{ 7 * 7 }}" in page and HOSTILE not in page
        assert any(HOSTILE in text for text in reader.texts["bdi"] + reader.texts["a"])
        assert page_data(page)[0]["comments"]["1"] == HOSTILE


def test_the_handicap_is_among_the_facts() -> None:
    review = game_of(MOVES)
    assert "Handicap stones" not in review_page([review])
    review.record.handicap = 3
    assert "<span>Handicap stones: 3</span>" in review_page([review])


def test_only_the_name_of_the_file_is_shown() -> None:
    review = game_of(MOVES)
    review.record.source = "/home/ann/secret/game.sgf"
    page = review_page([review])
    assert "game.sgf" in page and "secret" not in page


def test_every_text_of_the_page_is_used() -> None:
    used = "".join(path.read_text() for path in FOLDER.iterdir() if path.suffix in (".html", ".js", ".py"))
    used += (FOLDER.parent / "move_review.py").read_text()  # the classes of losses, which the terminal has too
    used += (FOLDER.parent / "rank_estimate.py").read_text()  # and the ranks
    used += (FOLDER.parents[1] / "go" / "sgf" / "results.py").read_text()  # the ways to win
    sources = [path for path in FOLDER.parents[1].rglob("*") if path.suffix in (".py", ".js", ".html")]
    others = "".join(path.read_text() for path in sources)
    for name in texts().names:
        section, _, key = name.rpartition(".")
        # Those of the other page, and those that tests/study/test_reasons.py and tests/engine/test_ranks.py know.
        if section in ("", "reason", "rank", "share"):
            continue
        if section in ("error", "record", "steps", "mine", "asked", "count", "uncounted", "view"):
            by_kind = section == "mine" and (key in ("review", "lesson") or key.startswith("kind-"))
            assert f'"{name}"' in others or by_kind, name
            continue
        by_part = section in ("graph", "diagram", "ahead", "result") and re.search(rf"\b{key}\b", used)
        by_script = section == "script" and re.search(rf"words\.{key}\b|\"{key}\"", used)
        assert f'"{name}"' in used or by_part or by_script, name


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_in_every_language(language: str) -> None:
    review = game_of(MOVES, reasons={1: [reason((D4, PASS)), reason(())]})
    review.record.black = ""
    review.record.result = "B+R"
    text = texts(language)
    for page in (review_page([review], language), review_page([review, game_of(MOVES[:1])], language)):
        reader = PageReader(page)
        assert reader.all("html") == [{"lang": language, "dir": text.direction}]
        said = [word for tag, words in reader.texts.items() if tag != "script" for word in words]
        assert not [word for word in said if re.search(r"{\w+}|None", word)]
        assert text("turning.title") in said and any(text("black") in word for word in reader.texts["bdi"])
        english = {texts()(name) for name in ("turning.title", "players.lost", "script.pass", "trust.title")}
        assert (language == "en") == bool(english & set(said))
        assert review.reasons[1][0].text_in(language) in reader.texts["li"]
        assert f"2 {text('script.pass')}" in page and '<span class="line"></span>' not in page


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("result", "name"), [("0", "draw"), ("Draw", "draw"), ("Void", "void")])
def test_a_game_that_nobody_has_won_is_called_so(language: str, result: str, name: str) -> None:
    review = game_of(MOVES)
    review.record.result = result
    said = texts(language)(f"result.{name}")
    assert f"{texts(language)('game.result', result=said)}</span>" in review_page([review], language)
    assert review.heading == f"Ann 3d - Bob, {name}"


RESULTS = {
    "B+R": "Negro gana por abandono",
    "W+R": "Blanco gana por abandono",
    "B+2.5": "Negro gana por 2.5 puntos",
    "W+T": "Blanco gana por tiempo",
    "B+F": "Negro gana por descalificación",
    "B+1": "Negro gana por 1 punto",
    "Void": "anulada",
    "0": "empate",
    "?": "?",
    "W+": "Blanco gana",
    "W+Illegal": "W+Illegal",
    "B+<b>": "B+<b>",
}


def test_results_rules_and_leads_are_words_in_other_languages() -> None:
    english, spanish = wording("en"), wording("es")
    assert {result: english.result(result) for result in RESULTS} == {
        result: shown_result(result) for result in RESULTS
    }
    assert {result: spanish.result(result) for result in RESULTS} == RESULTS
    assert (english.result("W+Resign"), spanish.result("Draw")) == ("W+R", "empate")
    said = {name: spanish.text("game.rules", rules=rules_phrase(name), komi="7") for name in ("korean", "{}")}
    assert said == {"korean": "reglas japonesas, komi 7", "{}": "reglas {}, komi 7"}
    leads = {0.04: "even", -0.049: "even", 3.25: "B+3.2", -1: "W+1.0", 0.051: "B+0.1"}
    assert {lead: english.text.lead(lead) for lead in leads} == leads
    ticks = graphs(game_of(MOVES), [], "es")["lead"].y.ticks
    assert [ticks[lead] for lead in (0, 10, -5)] == ["0", "Negro +10", "Blanco +5"]


def test_a_game_without_mistakes_and_a_game_of_one_move() -> None:
    page = review_page([game_of([loss(1, BLACK, D4, D4, 0.0)])])
    PageReader(page)
    assert "No mistake of at least 0.5 points was found." in page
    assert "move 1<" in page


def test_one_player_is_judged_only() -> None:
    review = game_of(MOVES, player=WHITE)
    page = review_page([review])
    PageReader(page)
    assert "only Bob&#39;s moves are judged" in page
    assert "only Black&#39;s moves are judged" in review_page([replace(own_review(), player=BLACK)])
    assert ["verdict" in move for move in page_data(page)[0]["moves"]] == [False, True, False, True]
    PageReader(review_page([game_of(MOVES[:1], player=WHITE)]))  # who has not moved yet


def test_the_small_network_is_named_and_others_are_not() -> None:
    review = game_of(MOVES)
    small = replace(review, conditions=replace(review.conditions, network="b6c64-19x19"))
    assert "b6c64-19x19 is a small network" in review_page([small])
    assert "is a small network" not in review_page([review])
    none = replace(review, conditions=replace(review.conditions, network="rollouts", precision=""))
    assert "the values come from random games" in review_page([none])


def test_it_tells_of_both_searches_and_of_the_weights_in_accuracy() -> None:
    page = review_page([game_of(MOVES, is_checked=True)])
    assert f"are searched again, {SECOND_LOOK_FACTOR} times as long." in page
    stopped = review_page([game_of(MOVES)])
    assert "are searched again" not in stopped and "by two searches" not in stopped
    assert "large losses count more, and moves in simple positions less" in page


# Its size.


def test_the_page_of_a_long_game_with_long_lines_is_small() -> None:
    random = np.random.default_rng(1)
    game = Game(19, rules="tromp-taylor", komi=7)
    reports, moves = [], []
    for number in range(251):
        legal = [int(index) for index in np.flatnonzero(game.legal_moves()[:-1])]
        points = [row * 20 + column + 21 for row, column in (divmod(index, 19) for index in legal)]
        lines = [random.choice(points, 12, replace=False).tolist() for _ in range(9)]
        reports.append(search(game, lines, lead=float(random.normal(0, 10))))
        if number:
            moves.append(MoveReview(number, game.moves[-1], reports[-2], reports[-1]))
        game.play(game.to_move, int(random.choice(points)))
    record = GameRecord.from_game(game)
    page = review_page([replace(game_of([]), record=record, searched=tuple(moves))])
    assert len(turning_points(replace(game_of([]), record=record, searched=tuple(moves)))) == 10
    assert len(page.encode()) <= 500_000


# The data that the script steps through.


def test_positions_and_lines_with_passes() -> None:
    review = reviewed(["A4", "A5", "B5", "C5", "pass"], ["", "", "B5 A5", "", "B4 pass", "A5"])
    data = script_data(review)
    assert [move["point"] for move in data["moves"]] == ["ab", "aa", "ba", "ca", ".."]
    lines = [[candidate[-1] for candidate in position[-1]] for position in data["positions"]]
    assert lines == [[], [], ["baaa"], [], ["bb.."], ["aa"]]
    assert [position[1] for position in data["positions"]] == [BLACK, WHITE, BLACK, WHITE, BLACK, WHITE]
    values = [position[0].split(",")[0] for position in data["positions"]]
    assert values == ["even", "W+2.0", "B+4.0", "W+6.0", "B+8.0", "W+10.0"]


def test_stones_that_a_record_sets_up_between_two_moves() -> None:
    review = reviewed(["A1", "B1"], ["", "", ""])
    after = review.moves[0].after
    stones = after.stones.copy()  # type: ignore[union-attr]
    stones[0, 4], stones[1, 1] = WHITE, BLACK
    set_up = replace(review.moves[0], after=replace(after, stones=stones), has_setup=True)
    first, second = script_data(replace(review, searched=(set_up, review.moves[1])))["moves"]
    assert (first["point"], first["stones"], "stones" in second) == ("ae", ["bbae", "ea"], False)


def test_moves_have_their_cost_and_reasons() -> None:
    review = reviewed(["C3", "B2"], ["B4", "D4", ""])
    review = replace(review, reasons={1: [reason((review.moves[0].best, PASS))]})
    first, second = script_data(review)["moves"]
    assert first == {
        "colour": BLACK,
        "point": "cc",
        "verdict": "Lost 2.0 points and 0.0% in win rate; B4 is better.",
        "mistake": 1,
        "reasons": [["D4 is a neutral point: it gains no territory.", "bb.."]],
    }
    assert "D4 is better" in second["verdict"]
    page = review_page([review])
    assert "D4 is a neutral point" in page and "1 B4  2 pass" in page


def test_comments_belong_to_positions_with_or_without_a_move() -> None:
    nodes = "C[about the game];B[cc]C[m1];AW[dd]C[setup note];W[ee];AE[dd]C[at the end]"
    moves = [loss(1, BLACK, E5, E5, 0.0), loss(2, WHITE, F6, F6, 0.0)]
    review = replace(game_of(moves), record=read_sgf(f"(;SZ[9]{nodes})".encode()))
    comments = {0: "about the game", 1: "m1\nsetup note", 2: "at the end"}
    assert script_data(review)["comments"] == comments
    part = replace(review, searched=(loss(2, WHITE, F6, F6, 0.0),))
    assert script_data(part)["comments"] == {0: "m1\nsetup note", 1: "at the end"}


def test_it_begins_at_the_most_costly_mistake_of_the_part_that_was_reviewed() -> None:
    moves = [loss(8, BLACK, D4, E5, 1.0, 0.3), loss(9, WHITE, F6, G7, 5.0, 0.1)]
    data = script_data(game_of(moves))
    assert (data["before"], data["worst"]) == (7, 2)
    assert script_data(game_of([loss(1, BLACK, D4, D4, 0.0)]))["worst"] == 0


def test_a_preferred_move_that_was_played_has_no_better_one() -> None:
    assert script_data(reviewed(["C3"], ["C3 D4", ""]))["moves"][0]["verdict"] == "The engine's first choice."
    no_loss = script_data(game_of([loss(1, BLACK, D4, E5, 0.04, 0.0004)]))["moves"][0]
    assert no_loss["verdict"] == "No loss."


# Turning points, graphs and figures.


@pytest.mark.parametrize(("costs", "count"), [([1.0] * 8, 5), ([2.0] * 7 + [1.0] * 4, 7), ([9.0] * 12, 10), ([], 0)])
def test_five_to_ten_turning_points(costs: list[float], count: int) -> None:
    points = [E5, F6, G7, *range(D4 + 1, D4 + 5), *range(11, 20)]
    moves = [loss(number, BLACK, D4, points[number - 1], cost) for number, cost in enumerate(costs, start=1)]
    found = turning_points(game_of(moves))
    assert len(found) == count
    assert [point.mistake.worst.number for point in found] == sorted(point.mistake.worst.number for point in found)


def test_a_mistake_in_a_decided_game_is_no_turning_point() -> None:
    lost, open_still = (
        replace(
            move,
            before=replace(move.before, winrate=before),
            after=replace(move.after, winrate=1 - after),
        )
        for move, before, after in (
            (loss(1, BLACK, D4, E5, 9.0), 0.003, 0.001),
            (loss(3, BLACK, F6, G7, 5.0), 0.02, 0.001),
        )
    )
    assert turning_points(game_of([lost])) == [] and len(game_of([lost]).mistakes) == 1
    page = review_page([game_of([lost])])
    assert 'class="turning"' not in page and "No mistake of" not in page
    assert [point.mistake.worst.number for point in turning_points(game_of([lost, open_still]))] == [3]


def test_diagrams_show_both_lines_with_numbers() -> None:
    review = reviewed(["C3", "D4"], ["B2 D2", "E5 A1", ""])
    costly = replace(review.moves[0], after=replace(review.moves[0].after, lead=5.0))
    point = turning_points(replace(review, searched=(costly,)))[0]
    assert point.played.moves == ("C3", "E5", "A1") and point.better.moves == ("B2", "D2")
    for diagram in (point.played, point.better):
        labels = re.search(r'<g class="labels".*?</g>', diagram.svg)
        assert labels is not None
        numbers = re.findall(r">(\d+)<", labels[0])
        assert sorted(numbers) == [str(number) for number in range(1, len(diagram.moves) + 1)]
    assert [diagram.value.split(",")[0] for diagram in (point.played, point.better)] == ["W+5.0", "even"]


def test_labels_of_the_graph_do_not_overlap() -> None:
    assert spread([50.0, 51.0, 52.0], 5) == [50.0, 55.0, 60.0]
    assert spread([99.0, 100.0], 5) == [92.5, 97.5]
    assert spread([0.0], 5) == [2.5]
    crowded = spread([float(place) for place in range(90, 100)], 5)
    assert all(right - left >= 5 for left, right in pairwise(crowded))
    assert crowded[0] >= 2.5 and crowded[-1] <= 97.5


def test_the_graphs_mark_the_mistakes_where_they_are() -> None:
    review = game_of(MOVES)
    numbered = [point.mistake for point in turning_points(review)]
    charts = graphs(review, numbered, section="game-1")
    lead, winrate = (ElementTree.fromstring(chart.stretched(100, "")) for chart in charts.values())
    marks = [mark for mark in lead if mark.tag == "a"]
    found = {mark.get("data-move"): (mark.get("class"), mark.get("href"), mark.findtext("text")) for mark in marks}
    assert found == {
        "1": ("mark black", "#game-1-point-1", "1"),
        "3": ("mark black", "#game-1-point-2", "2"),
        "4": ("mark white", "#game-1-point-3", "3"),
    }, "each player missed E5"
    third = next(mark for mark in winrate if mark.get("data-move") == "3")
    circle = third.find("circle")
    assert circle is not None and circle.get("cx") == "75.00%"
    assert float(circle.attrib["cy"].rstrip("%")) == pytest.approx(100 - 100 * review.winrates[3], abs=0.01)
    last_mark = max(index for index, element in enumerate(lead) if element.tag == "a")
    texts = [index for index, element in enumerate(lead) if element.tag == "text" and element.get("class") == "value"]
    assert texts and min(texts) > last_mark, "no mark covers a text"
    curve = next(path for path in lead.iter("path") if path.get("class") == "curve").attrib["d"]
    assert curve.count("L") == 4 and curve.startswith("M0.00 ")


def test_a_lead_of_the_whole_board_ends_below_the_labels() -> None:
    moves = [loss(1, BLACK, E5, D4, 3.0), loss(2, WHITE, D4, E5, 94.0)]
    chart = graphs(game_of(moves), [])["lead"]
    assert chart.y.high == pytest.approx(20 * 1.35)
    svg = ElementTree.fromstring(chart.stretched(100, ""))
    curve = next(path for path in svg.iter("path") if path.get("class") == "curve").attrib["d"]
    assert [place.split()[1] for place in curve[1:].split("L")] == ["50.00", "55.56", "12.96"]
    heads = [(head.get("x"), head.get("y")) for head in svg.iter("text") if head.text == "▲"]
    assert heads == [("98.50%", "12.96%")], "it goes beyond"


@pytest.mark.usefixtures("phases_on_9x9")
def test_the_graph_of_leads_names_the_phases() -> None:
    lead = graphs(game_of([*MOVES] * 4), [])["lead"].stretched(100, "")
    assert re.findall(r'class="phase" x1="([\d.]+)%"', lead) == ["68.75"], "after 11 of 16 moves"
    assert ">Middle game<" in lead and "Endgame" not in lead


@pytest.mark.usefixtures("phases_on_9x9")
def test_figures_add_up() -> None:
    moves = [loss(number, BLACK, D4, E5, points) for number, points in ((1, 4.0), (12, 1.0), (13, 0.0), (40, 5.0))]
    figures = PlayerFigures("Ann", moves)
    assert figures.all.lost == pytest.approx(10)
    assert [part.moves for part in figures.phases.values()] == [1, 2, 1]
    assert [figures.share_of(phase) for phase in Phase] == pytest.approx([0.4, 0.1, 0.5])
    assert figures.worst_phase == Phase.ENDGAME
    assert (figures.all.classes, figures.all.class_losses) == ((1, 1, 0, 2, 0, 0), (0, 1, 0, 9, 0, 0))
    assert figures.from_class(3) == pytest.approx(0.9)
    assert PlayerFigures("Ann", moves[:1]).phases.keys() == {Phase.OPENING}
    again = PlayerFigures("Ann", [moves[0], *(replace(move, repeats=40) for move in moves[1:3]), moves[3]])
    known = {phase: part.moves for phase, part in again.phases.items()}
    assert known == {Phase.OPENING: 1, Phase.ENDGAME: 1}, "nothing is known of repeated mistakes"


# Several games.


def test_a_mistake_made_again_counts_once_and_says_where() -> None:
    game = game_of([*MOVES[:2], loss(3, BLACK, G7, E5, 3.0)])
    page = review_page([game])
    assert "the same point missed again" in page and "counts once" in page
    assert script_data(game)["moves"][2]["verdict"] == "The same mistake as move 1; E5 is better."
    assert "the same point missed again" not in review_page([game_of(MOVES)])
    assert figures_of_games([game, game])[0].all.lost == 2 * 4.0


@pytest.mark.usefixtures("phases_on_9x9")
def test_an_index_adds_the_games_up() -> None:
    first, second, third = (game_of(MOVES) for _ in range(3))
    second.record.white, third.record.black, third.record.white = "Carl", "Dan", "Ann"
    page = review_page([first, second, third])
    reader = PageReader(page)
    assert [section.get("id") for section in reader.all("section") if "id" in section] == [
        "index",
        "game-1",
        "game-2",
        "game-3",
    ]
    players = figures_of_games([first, second, third])
    assert [(player.name, player.games, player.all.moves) for player in players] == [("Ann", 3, 6)]
    assert "Ann loses most points in the opening: 100%." in page
    assert "Players with more than one game." in page
    assert len(page_data(page)) == 3
    worst = [link for link in reader.all("a") if link.get("data-move") == "4" and link["href"] == "#game-2"]
    assert worst


def test_an_index_of_several_board_sizes_names_no_phase_of_all_losses() -> None:
    small, large = game_of(MOVES), game_of(MOVES)
    searched = (replace(move, before=replace(move.before, width=19, height=19)) for move in large.searched)
    pages = [review_page([small, replace(large, searched=tuple(searched))]), review_page([small, small])]
    assert ">By phase<" in pages[0] and ">By phase<" not in pages[1]
    for page in pages:
        assert "loses most points in" not in page
        assert "Mistakes of 6 points and more make up 0% of what Ann loses." in page


def test_players_of_single_games_are_all_shown() -> None:
    first, second = game_of(MOVES), game_of(MOVES)
    second.record.black, second.record.white = "", "Carl"
    assert [player.name for player in figures_of_games([first, second])] == ["Ann", "Bob", "2. Black", "Carl"]
    both = game_of(MOVES)
    both.record.white = "Ann"
    assert [(player.name, player.games) for player in figures_of_games([both])] == [("Ann", 1)]


def test_an_index_says_how_many_players_it_leaves_out() -> None:
    reviews = [game_of(MOVES) for _ in range(6)]
    for number, review in enumerate(reviews):
        review.record.black, review.record.white = f"Black {number}", f"White {number}"
    page = review_page(reviews)
    assert "Players not listed, with no more games than these: 4." in page
    assert ">White 3</th>" in page and ">Black 4</th>" not in page


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2) of "#rrggbb" or "#rgb"."""
    digits = colour.removeprefix("#")
    pairs = re.findall("..", digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    parts = [int(pair, 16) / 255 for pair in pairs]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_labels_of_the_graphs_are_readable_on_their_ground_in_light_and_dark() -> None:
    styles = "".join((FOLDER / name).read_text("utf-8") for name in ("graph.css", "review.css"))
    label = re.search(r"\.graph \.value {.*stroke: var\(--plot\); stroke-width: (\d+)px", styles)
    assert label and int(label[1]) >= 6  # half of it lies around the letters
    assert ".graph text { font-size: 11px; fill: var(--ink); }" in styles
    grounds = re.findall(r"--plot: (#\w+)", styles)
    inks = re.findall(r"--ink: (#\w+)", styles)
    assert len(grounds) >= 2 and len(inks) == len(grounds)
    for ink, ground in zip(inks, grounds, strict=True):
        lighter, darker = sorted((luminance(ink), luminance(ground)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ink, ground)  # WCAG's level AA for text of this size


def test_a_page_needs_reviews_and_a_language_that_it_has() -> None:
    one: Any = game_of(MOVES)
    for reviews in ([], one):
        with pytest.raises(UserError, match=r"^invalid reviews .*: expected at least one, such as \[review\(game\)\]$"):
            review_page(reviews)
    with pytest.raises(UserError, match=r"^unknown language 'xx': expected en, "):
        review_page([one], "xx")
