"""Limits, moves, parameters and requests that make no sense are refused where they are given."""

import math
from dataclasses import fields
from typing import Any

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.game import Game
from gtp_engine.search.parameters import SearchParameters
from gtp_engine.search.request import Limits, RequestOptions, RootMoves, SearchRequest


def test_limits() -> None:
    assert Limits().is_endless
    assert not Limits(visits=0).is_endless and not Limits(seconds=0).is_endless


@pytest.mark.parametrize(
    ("name", "expected", "values"),
    [
        ("seconds", "a number of 0 or more", (-1, -0.001, math.nan, math.inf, "1", True)),
        ("visits", "a whole number of 0 or more", (-1, 1.5, "1", True)),
    ],
)
def test_wrong_limits(name: str, expected: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(UserError, match=f"expected {expected}"):
            Limits(**{name: value})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"c_puct": -5.0}, "invalid c_puct -5.0: expected a number of 1e-06 or more"),
        ({"c_puct": "1.3"}, "invalid c_puct '1.3': expected a number"),
        ({"c_puct": True}, "invalid c_puct True"),
        ({"choice": "foo"}, "invalid choice 'foo': expected visits or lcb"),
        ({"gumbel_moves": 2.5}, "invalid gumbel_moves 2.5: expected a whole number from 0 to 400"),
        ({"reuse_tree": "yes"}, "invalid reuse_tree 'yes': expected true or false"),
        ({"profile": "rank_40k"}, "profile"),
    ],
)
def test_wrong_parameters(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SearchParameters(**values)


def test_parameters_have_their_own_types() -> None:
    parameters = SearchParameters(c_puct=2, gumbel_moves=16.0)  # type: ignore[arg-type]
    assert (type(parameters.c_puct), type(parameters.gumbel_moves)) == (float, int)
    assert parameters.with_value("reuse_tree", "no").reuse_tree is False


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"parameters": {"c_puct": 1.3}}, "invalid parameters .* expected SearchParameters"),
        ({"interval": "a"}, "invalid interval 'a'"),
        ({"interval": -1}, "invalid interval -1"),
        ({"on_report": 5}, "invalid on_report 5"),
        ({"ownership": "yes"}, "invalid ownership 'yes'"),
        ({"limits": 100}, "invalid limits 100"),
        ({"root_moves": ("D4",)}, "invalid root moves"),
        ({"root_moves": RootMoves(avoid=(("black", "K1", 1),))}, "invalid vertex 'K1'"),
    ],
)
def test_wrong_requests(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SearchRequest(Game(9), **values)


@pytest.mark.parametrize("name", ["avoid", "allow"])
def test_wrong_root_moves(name: str) -> None:
    for moves in ("D4", ("D4",), (("black", "D4"),), (("black", "D4", "1"),), 3):
        with pytest.raises(UserError, match=f"invalid (entry of )?{name}"):
            RootMoves(**{name: moves})  # type: ignore[arg-type]
    for depth in (0, -1, -(2**20)):
        with pytest.raises(UserError, match=rf"invalid depth in {name} {depth}: expected a whole number of 1 or more"):
            RootMoves(**{name: (("black", "D4", depth),)})
    with pytest.raises(UserError, match="invalid colour 'blak'"):
        RootMoves(**{name: (("blak", "D4", 1),)})


def test_options_are_those_of_a_request() -> None:
    assert ["game", *RequestOptions.__annotations__] == [field.name for field in fields(SearchRequest)]
