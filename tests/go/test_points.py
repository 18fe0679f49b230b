"""The compiled converters of points equal those of `game.coords`."""

import pytest

from gtp_engine.go import coords, points


@pytest.mark.parametrize(("width", "height"), [(2, 2), (9, 9), (5, 7), (19, 19), (25, 3)])
def test_compiled_converters_equal_the_plain_ones(width: int, height: int) -> None:
    for index in range(width * height + 1):
        point = coords.point_of_index(index, width, height)
        assert points.point_of_index(index, width, height) == point
        assert points.index_of_point(point, width, height) == coords.index_of_point(point, width, height) == index
        if index < width * height:
            x, y = index % width, index // width
            assert points.point_at(x, y, width) == coords.point_at(x, y, width) == point
