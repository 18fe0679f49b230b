"""Boards drawn as SVG and as plain text."""

import re
from dataclasses import fields
from xml.etree import ElementTree

import numpy as np
import pytest
from drawn_positions import played

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, PASS, WHITE, parse_vertex, vertex
from gtp_engine.go.drawing import BoardDrawing, Candidate, DrawingOptions, Marks, board_text
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import star_points

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def group(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Returns what is in the group of this class and in the groups within it; nothing if there is no such group."""
    found = [element for element in root.iter(f"{SVG}g") if element.get("class") == name]
    assert len(found) <= 1
    return [element for element in found[0].iter() if element.tag != f"{SVG}g"] if found else []


def places(elements: list[ElementTree.Element]) -> set[tuple[float, float]]:
    """Returns the centres of circles, as columns and rows from the top left."""
    circles = [element for element in elements if element.tag == f"{SVG}circle"]
    return {tuple(round((float(c.get(side, 0)) - 27) / 20, 3) for side in ("cx", "cy")) for c in circles}


@pytest.fixture
def game() -> Game:
    game = Game(9, 7)
    for colour, name in (("black", "C3"), ("white", "G5"), ("black", "A7")):
        game.play(colour, name)
    return game


def test_stones_are_where_they_were_played(game: Game) -> None:
    root = parsed(game.to_svg())
    assert places(group(root, "black")) == {(2, 4), (0, 0)}
    assert places(group(root, "white")) == {(6, 2)}
    shadows = [element for element in root.iter(f"{SVG}g") if element.get("class") == "shadows"]
    assert [element.get("transform") for element in shadows] == ["translate(0.7 1)"]
    shown = {element.get("href", "")[1:] for element in group(root, "shadows")}
    named = [element for element in root.iter(f"{SVG}g") if element.get("id") in shown]
    assert places([stone for element in named for stone in element]) == {(2, 4), (0, 0), (6, 2)}
    assert places(group(root, "last-move")) == {(0, 0)}
    assert root.findtext(f"{SVG}title") == "9x7 Go board, 2 black and 1 white stones, last move A7"


def test_lines_stars_and_coordinates(game: Game) -> None:
    root = parsed(game.to_svg())
    (grid,) = (path for path in root.iter(f"{SVG}path"))
    assert len(re.findall(r"M[\d.]+ [\d.]+H[\d.]+(?![\dV.])", grid.get("d", ""))) == 7
    assert len(re.findall(r"M[\d.]+ [\d.]+V", grid.get("d", ""))) == 9
    assert places(group(root, "stars")) == {(2, 2), (2, 4), (6, 2), (6, 4), (4, 3)}
    texts = [element.text for element in group(root, "coordinates")]
    assert sorted(texts) == sorted([*"ABCDEFGHJ" * 2, *"1234567" * 2])
    assert root.get("viewBox") == "5.5 5.5 203 163"


@pytest.mark.parametrize("size", [(2, 2), (19, 19), (25, 25), (25, 2), (2, 25)])
def test_every_size_is_drawn(size: tuple[int, int]) -> None:
    game = Game(*size)
    game.play("black", "B1")
    game.play("white", "pass")
    root = parsed(game.to_svg())
    assert len(group(root, "black")) == 1
    assert group(root, "last-move") == []
    assert float(root.get("width", 0)) <= 600
    ratio = float(root.get("height", 0)) / float(root.get("width", 0))
    width, height = (54 + 20 * (side - 1) for side in size)
    assert ratio == pytest.approx(height / width, abs=0.02)


def test_ownership_leaves_out_the_owners_own_stones(game: Game) -> None:
    ownership = np.zeros((7, 9))
    ownership[4, 2] = 0.9  # Black's own stone
    ownership[2, 6] = 0.8  # a dead white stone
    ownership[0, 8] = -0.5
    ownership[6, 8] = 0.05  # uncertain
    squares = group(parsed(game.to_svg(ownership=ownership)), "ownership")
    found = {(square.get("x"), square.get("y"), square.get("width"), square.get("fill")) for square in squares}
    assert found == {("143", "63", "8", "#1b1b1b"), ("184.5", "24.5", "5", "#f7f5f0")}


def test_labels_on_stones_and_on_empty_points(game: Game) -> None:
    root = parsed(game.to_svg(labels={"A7": "1", "C3": "<&>", "E4": "A", "pass": "B"}))
    labels = group(root, "labels")
    assert [(element.text, element.get("fill")) for element in labels if element.tag == f"{SVG}text"] == [
        ("1", "#f7f5f0"),
        ("<&>", "#f7f5f0"),
        ("A", "#1b1b1b"),
    ]
    assert places(labels) == {(4, 3)}  # the disc that hides the lines
    assert group(root, "last-move") == []  # the label is enough


def test_marks_are_shapes_in_a_colour_that_is_seen(game: Game) -> None:
    marks = group(parsed(game.to_svg(marks={"A7": "triangle", "E5": "cross", "pass": "circle"})), "marks")
    found = [(mark.get("class"), mark.get("transform"), mark.get("stroke")) for mark in marks]
    assert found == [
        ("triangle", "translate(27 27) scale(5.2)", "#f7f5f0"),
        ("cross", "translate(107 67) scale(5.2)", "#1b1b1b"),
    ]
    assert group(parsed(game.to_svg(marks={"A7": "square"})), "last-move") == []  # the mark is enough


def test_candidates_are_discs_with_up_to_two_lines(game: Game) -> None:
    moves = [
        Candidate("E5", "#00ff00", ("62", "1.2k"), is_best=True),
        Candidate("B2", "#ff0000", ("40",)),
        Candidate(PASS, "#ffffff"),
    ]
    drawn = group(parsed(game.to_svg(candidates=moves)), "candidates")
    assert places(drawn) == {(4, 2), (1, 5)}
    assert [element.text for element in drawn if element.tag == f"{SVG}text"] == ["62", "1.2k", "40"]
    assert [element.get("fill") for element in drawn if element.tag == f"{SVG}circle"] == ["#00ff00", "#ff0000"]


def test_title_and_width_can_be_chosen(game: Game) -> None:
    root = parsed(game.to_svg(title="a < b", pixels=107))
    assert root.findtext(f"{SVG}title") == "a < b"
    assert (root.get("width"), root.get("height"), root.get("role")) == ("107", "86", "img")


def test_drawings_on_one_page_do_not_share_gradients() -> None:
    first, second = Game(5), Game(5)
    second.play("black", "C3")
    names = [set(re.findall(r'id="([^"]+)"', game.to_svg())) for game in (first, second)]
    assert [len(found) for found in names] == [5, 5]  # three gradients, and the stones for their shadows
    assert not names[0] & names[1]
    for game in (first, second):
        svg = game.to_svg()
        assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= set(re.findall(r'id="([^"]+)"', svg))


def test_equal_drawings_on_one_page_can_have_names_of_their_own() -> None:
    first, second = (Game(5).to_svg(name=name) for name in ("first", "second"))
    assert not set(re.findall(r'id="([^"]+)"', first)) & set(re.findall(r'id="([^"]+)"', second))


def test_a_drawing_describes_and_shows_itself() -> None:
    drawing = BoardDrawing(np.eye(3, dtype=np.int8), last_move="A3")
    assert repr(drawing) == "<BoardDrawing: 3x3 Go board, 3 black and 0 white stones, last move A3>"
    assert drawing._repr_svg_() == drawing.to_svg()


def test_plain_data_is_enough() -> None:
    svg = BoardDrawing([[BLACK, WHITE], [0, 0]], last_move="B2").to_svg()  # type: ignore[arg-type]
    assert places(group(parsed(svg), "white")) == {(1, 0)}
    assert places(group(parsed(svg), "last-move")) == {(1, 0)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"K3": "1"}}, "invalid vertex 'K3'"),
        ({"labels": {3: "1"}}, "invalid point 3"),
        ({"last_move": 5000}, "invalid point 5000"),
        ({"candidates": [Candidate("A8", "#ffffff")]}, "invalid vertex 'A8'"),
        ({"ownership": np.zeros((9, 7))}, r"invalid ownership \(9, 7\): expected an array of \[7, 9\]"),
        ({"pixels": "wide"}, "invalid number of pixels 'wide'"),
        ({"stones": np.zeros(9)}, "invalid stones"),
        ({"labels": ["D4"]}, "invalid labels"),
        ({"marks": {"D4": "star"}}, "invalid marks"),
        ({"candidates": ["D4"]}, "invalid candidates"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, object], message: str) -> None:
    stones = options.pop("stones", np.zeros((7, 9), np.int8))
    with pytest.raises(UserError, match=message):
        BoardDrawing(stones, **options)  # type: ignore[arg-type]


def test_options_are_those_of_a_drawing() -> None:
    assert ["stones", *DrawingOptions.__annotations__] == [field.name for field in fields(BoardDrawing)]


def test_stones_stars_coordinates_and_the_last_move() -> None:
    assert str(played("B2 D3 A4 C2", 5, 4)).splitlines() == [
        "   A B C D E",
        " 4 X . . . . 4",
        " 3 . . . O . 3",
        " 2 . X(O). . 2",
        " 1 . . . . . 1",
        "   A B C D E",
        "Black (X) to move; move 4: W C2; captured by B 0, by W 0; Chinese rules, komi 7",
    ]


def test_brackets_at_the_edges() -> None:
    assert " 1(X). 1" in str(played("A1", 2, 2)).splitlines()
    assert " 2 .(X)2" in str(played("B2", 2, 2)).splitlines()


def test_compact_has_one_column_a_point() -> None:
    assert board_text(played("B2 D3", 5, 4).stones(), PASS, compact=True).splitlines()[:3] == [
        "   ABCDE",
        " 4 ..... 4",
        " 3 ...O. 3",
    ]


def test_a_pass_marks_nothing() -> None:
    game = played("B2", 3, 3)
    game.play(WHITE, PASS)
    text = str(game)
    assert "(" not in text.rpartition("\n")[0]
    assert "move 2: W pass" in text


def test_labels_dead_stones_and_territory() -> None:
    game = played("A1 B2", 3, 3)
    territory = np.zeros((3, 3), np.int8)
    territory[0, 2], territory[2, 0] = BLACK, WHITE
    marks = Marks(
        labels={parse_vertex("A3", 3, 3): "1"}, dead=frozenset([parse_vertex("A1", 3, 3)]), territory=territory
    )
    assert board_text(game.stones(), game.last_point, marks, compact=True).splitlines()[1:4] == [
        " 3 1.b 3",
        " 2 .O. 2",
        " 1 x.. 1",
    ]


@pytest.mark.parametrize("size", [(2, 2), (25, 25), (25, 2), (2, 25), (19, 7)])
def test_no_empty_line_on_any_size(size: tuple[int, int]) -> None:
    lines = str(Game(*size)).splitlines()
    assert len(lines) == size[1] + 3
    assert all(line.strip() for line in lines)


@pytest.mark.parametrize(
    ("size", "stars"),
    [
        ((2, 2), ""),
        ((5, 5), "C3"),
        ((9, 9), "C3 C7 E5 G3 G7"),
        ((13, 13), "D4 D10 G7 K4 K10"),
        ((19, 19), "D4 D10 D16 K4 K10 K16 Q4 Q10 Q16"),
        ((9, 19), "C4 C10 C16 E10 G4 G10 G16"),
    ],
)
def test_star_points(size: tuple[int, int], stars: str) -> None:
    assert {vertex(point, *size) for point in star_points(*size)} == set(stars.split())
