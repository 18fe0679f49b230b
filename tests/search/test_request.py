"""Limits that make no sense are refused where they are given."""

import math

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.search.request import Limits


def test_limits() -> None:
    assert Limits().is_endless
    assert not Limits(visits=0).is_endless and not Limits(seconds=0).is_endless


@pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, math.inf, "1", True])
def test_wrong_seconds(seconds: float) -> None:
    with pytest.raises(UserError, match="expected a number of 0 or more"):
        Limits(seconds=seconds)


@pytest.mark.parametrize("visits", [-1, 1.5, "1", True])
def test_wrong_visits(visits: int) -> None:
    with pytest.raises(UserError, match="expected a whole number of 0 or more"):
        Limits(visits=visits)
