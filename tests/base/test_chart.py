"""Charts: round ticks, places in percent, and drawings that are well-formed and readable on any page."""

import re
from xml.etree import ElementTree

import pytest

from gtp_engine.base.chart import Axis, Chart, drawn_leads

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("values", "options", "texts"),
    [
        ([0, 100], {}, ["0", "20", "40", "60", "80", "100"]),
        ([0, 10_000_000], {"steps": 4}, ["0", "5,000,000", "10,000,000"]),
        ([0.00012, 0.0002], {}, ["0.00012", "0.00014", "0.00016", "0.00018", "0.00020"]),
        ([-13.5, 13.5], {"steps": 6}, ["-10", "-5", "0", "5", "10"]),
        ([1, 3], {}, ["1.0", "1.5", "2.0", "2.5", "3.0"]),
        ([1, 3], {"is_whole": True}, ["1", "2", "3"]),
        ([7], {"is_whole": True}, ["7"]),
        ([0, 0], {}, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
    ],
)
def test_ticks_are_round(values: list[float], options: dict[str, int], texts: list[str]) -> None:
    axis = Axis.of(values, **options)
    assert list(axis.ticks.values()) == texts
    assert [float(text.replace(",", "")) for text in texts] == pytest.approx(list(axis.ticks))
    assert axis.low <= min(values) and max(values) <= axis.high and axis.low < axis.high


def chart() -> Chart:
    made = Chart(Axis.of([0, 4], "moves & more", is_whole=True), Axis.of([-10, 10], "<lead>"))
    made.areas([(0, 5), (2, -5), (4, 10)], 0, 'class="above"', 'class="below"')
    made.line([(0, 5), (2, -5), (4, 10)], 'class="curve"')
    made.dots([(1, 0)], 'class="dots"')
    made.dot(4, 10, 3, 'class="dot"')
    return made


def test_values_are_in_percent_of_the_area() -> None:
    root = ElementTree.fromstring(chart().to_svg())
    paths = {path.get("class"): path.attrib["d"] for path in root.iter(f"{SVG}path")}
    assert paths["curve"] == "M0.00 25.00L50.00 75.00L100.00 0.00"
    assert paths["dots"] == "M25.00 50.00h0"
    assert paths["above"] == paths["below"] == "M0.00 50.00L0.00 25.00L50.00 75.00L100.00 0.00L100.00 50.00Z"
    boxes = {svg[0].get("class"): svg.get("viewBox") for svg in root.iter(f"{SVG}svg") if svg[0].tag == f"{SVG}path"}
    assert (boxes["above"], boxes["below"]) == ("0 0.00 100 50.00", "0 50.00 100 50.00"), "each is cut at the base"
    dot = next(root.iter(f"{SVG}circle"))
    assert (dot.get("cx"), dot.get("cy"), dot.get("r")) == ("100.00%", "0.00%", "3.0")


def test_a_drawing_has_texts_beside_it_and_a_legend_and_the_colour_of_the_page() -> None:
    root = ElementTree.fromstring(chart().to_svg([("one", 'stroke="red"'), ("two", 'stroke="blue"')]))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"one", "two", "<lead>", "moves & more", "-10", "0", "10", "4"} <= {*texts}
    assert root.get("fill") == "currentColor"
    drawn = chart().to_svg()
    assert set(re.findall(r'(?:stroke|fill)="(.*?)"', drawn)) == {"none", "currentColor"}


def test_a_stretched_drawing_has_only_the_texts_of_the_vertical_axis() -> None:
    root = ElementTree.fromstring(chart().stretched(90, 'class="graph"'))
    assert (root.get("width"), root.get("height"), root.get("class")) == ("100%", "90", "graph")
    assert [text.text for text in root.iter("text")] == ["-10", "-5", "0", "5", "10"]


@pytest.mark.parametrize(
    ("leads", "board_points", "drawn", "highest"),
    [
        ([1.0, -3.0], 81, [1.0, -3.0], 10.0),
        ([5.0, -15.5], 81, [5.0, -15.5], 15.5),
        ([5.0, -94.0, 88.0], 81, [5.0, -20.0, 20.0], 20.0),
        ([5.0, -94.0], 361, [5.0, -90.0], 90.0),
        ([26.0], 25, [10.0], 10.0),
    ],
)
def test_the_capture_of_everything_leaves_small_leads_in_sight(
    leads: list[float], board_points: int, drawn: list[float], highest: float
) -> None:
    assert drawn_leads(leads, board_points) == (drawn, highest)


def test_an_arrow_head_marks_where_a_line_goes_beyond_what_is_shown() -> None:
    made = Chart(Axis(0, 4), Axis(-20, 20))
    made.arrows([(0, 10.0), (1, 10.1), (1.5, 15.0), (2, 30.0), (3, -50.0), (4, 5.0)], 10, 'class="beyond"')
    heads = ElementTree.fromstring(made.stretched(90, "")).iter("text")
    assert [(head.get("x"), head.get("y"), head.text) for head in heads] == [
        ("37.50%", "25.00%", "▲"),
        ("75.00%", "75.00%", "▼"),
    ]
