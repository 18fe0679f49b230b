"""Names of points, points and colours as callers give them, and the eight symmetries."""

import contextlib

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go import coords, points, symmetry
from gtp_engine.go.coords import (
    BLACK,
    PASS,
    WHITE,
    all_points,
    as_colour,
    as_point,
    distance,
    index_of_point,
    parse_vertex,
    point_at,
    point_of_index,
    vertex,
)


def test_vertices_in_any_case_and_with_blanks() -> None:
    assert parse_vertex(" d4\t", 9, 9) == point_at(3, 5, 9)
    assert parse_vertex("Pass", 9, 9) == PASS


def test_steps_along_lines() -> None:
    assert distance(point_at(0, 0, 9), point_at(8, 0, 9), 9) == 8
    assert distance(point_at(2, 7, 13), point_at(5, 3, 13), 13) == 7


@pytest.mark.parametrize(
    "text", ["", "I5", "K1", "A0", "A10", "D", "4D", "D+4", "D_4", "D٤", "\u00a0D4", "D4\u2003", "pa\u017fs"]
)
def test_what_names_no_point(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid vertex .*: expected A1 to J9"):
        parse_vertex(text, 9, 9)


def test_a_point_is_given_as_a_vertex_or_as_itself() -> None:
    point = parse_vertex("D4", 9, 9)
    for given in ("D4", "d4", point, np.int64(point)):
        assert as_point(given, 9, 9) == point
        assert type(as_point(given, 9, 9)) is int
        assert vertex(given, 9, 9) == "D4"
    assert as_point("pass", 9, 9) == as_point(PASS, 9, 9) == PASS


@pytest.mark.parametrize("given", ["K4", "D10", "I5", "", -1, 1, 9, 10, 20, 102, 5000, 64.0, None, True, b"D4"])
def test_points_off_the_board_and_other_types_are_refused(given: object) -> None:
    for convert in (as_point, vertex):
        with pytest.raises(UserError, match=r"invalid (point|vertex)"):
            convert(given, 9, 9)  # type: ignore[arg-type]


def test_indices_and_points_that_are_not_on_the_board_are_errors() -> None:
    assert index_of_point("A1", 9, 9) == 72 and index_of_point("pass", 9, 9) == 81
    for index in (-1, 82, 500):
        with pytest.raises(UserError, match=f"invalid move index {index}: expected 0 to 81"):
            point_of_index(index, 9, 9)
    for point in (1, 10, 101, "K1"):
        with pytest.raises(UserError, match=r"invalid (point|vertex)"):
            index_of_point(point, 9, 9)
    with pytest.raises(UserError, match="invalid vertex 64"):
        parse_vertex(64, 9, 9)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(2, 2), (9, 9), (5, 13), (25, 25)])
def test_exactly_the_points_of_the_board_are_on_it(size: tuple[int, int]) -> None:
    accepted = []
    for number in range(-30, 800):
        with contextlib.suppress(UserError):
            accepted.append(as_point(number, *size))
    assert accepted == sorted([PASS, *all_points(*size)])


def test_a_colour_is_given_as_a_word_or_as_itself() -> None:
    assert [as_colour(given) for given in ("b", "Black", BLACK, np.int8(1))] == [BLACK] * 4
    assert as_colour("white") == as_colour(WHITE) == WHITE
    for given in ("", "red", 0, 3, 1.0, None):
        with pytest.raises(UserError, match="invalid colour"):
            as_colour(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("width", "height"), [(2, 2), (9, 9), (5, 7), (19, 19), (25, 3)])
def test_compiled_converters_equal_the_plain_ones(width: int, height: int) -> None:
    for index in range(width * height + 1):
        point = coords.point_of_index(index, width, height)
        assert points.point_of_index(index, width, height) == point
        assert points.index_of_point(point, width, height) == coords.index_of_point(point, width, height) == index
        if index < width * height:
            x, y = index % width, index // width
            assert points.point_at(x, y, width) == coords.point_at(x, y, width) == point


LETTERS = np.array([list("abc"), list("def")])  # two rows, three columns


@pytest.mark.parametrize(
    ("number", "rows"),
    [
        (0, ["abc", "def"]),
        (1, ["def", "abc"]),
        (2, ["cba", "fed"]),
        (3, ["fed", "cba"]),
        (4, ["ad", "be", "cf"]),
        (5, ["da", "eb", "fc"]),
        (6, ["cf", "be", "ad"]),
        (7, ["fc", "eb", "da"]),
    ],
)
def test_each_symmetry_of_a_rectangular_array(number: int, rows: list[str]) -> None:
    turned = symmetry.apply(LETTERS, number)
    assert ["".join(row) for row in turned] == rows
    assert (symmetry.apply(turned, {5: 6, 6: 5}.get(number, number)) == LETTERS).all()


@pytest.mark.parametrize("number", range(symmetry.COUNT))
@pytest.mark.parametrize(("width", "height"), [(5, 5), (7, 3), (2, 9)])
def test_points_indices_and_arrays_agree(number: int, width: int, height: int) -> None:
    indices = symmetry.permutation(number, width, height)
    new_width, new_height = (height, width) if number & symmetry.TRANSPOSE else (width, height)
    area = width * height
    row = np.random.default_rng(number).random(area + 1)
    turned = np.empty_like(row)
    turned[indices] = row
    expected = symmetry.apply(row[:area].reshape(height, width), number).ravel()
    assert (turned[:area] == expected).all()
    assert (turned[indices] == row).all()
    for point in [*all_points(width, height), PASS]:
        index = index_of_point(point, width, height)
        moved = symmetry.transform_point(point, number, width, height)
        assert index_of_point(moved, new_width, new_height) == indices[index]


def test_leading_axes_are_left_alone() -> None:
    planes = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    turned = symmetry.apply(planes, 6)
    assert turned.shape == (2, 3, 5, 4)
    assert (turned[1, 2] == symmetry.apply(planes[1, 2], 6)).all()
