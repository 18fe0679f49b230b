"""The eight symmetries on arrays, points and move indices."""

import numpy as np
import pytest

from gtp_engine.go import symmetry
from gtp_engine.go.coords import PASS, all_points, index_of_point, parse_vertex, vertex

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
    assert (symmetry.undo(turned, number) == LETTERS).all()


@pytest.mark.parametrize(
    ("number", "name"),
    [(0, "C9"), (1, "C1"), (2, "G9"), (3, "G1"), (4, "A7"), (5, "J7"), (6, "A3"), (7, "J3")],
)
def test_where_a_point_goes(number: int, name: str) -> None:
    point = symmetry.transform_point(parse_vertex("C9", 9, 9), number, 9, 9)
    assert vertex(point, 9, 9) == name
    assert symmetry.transform_point(point, symmetry.inverse(number), 9, 9) == parse_vertex("C9", 9, 9)


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
