"""Values as JSON, and read again by their types."""

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from gtp_engine.base.plain import as_json, form_of, from_json


class Place(NamedTuple):
    name: str
    line: tuple[int, ...] = ()


@dataclass(frozen=True)
class Word:
    text: str
    inner: "Mapping[str, str | int | Word]" = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    number: float
    places: tuple[Place, ...]
    known: Mapping[int, Word]
    chosen: frozenset[int] = frozenset()
    pair: tuple[str, int] | None = None
    is_new: bool = False


EXAMPLE = Example(
    1.5,
    (Place("a", (1, 2)), Place("b")),
    {7: Word("w", {"x": 1, "y": "z", "inner": Word("v")})},
    frozenset({3, 2}),
    ("p", 1),
    is_new=True,
)
LEAST = '{"number":1,"places":[],"known":{}}'


def test_a_value_is_read_again_by_its_type() -> None:
    text = as_json(EXAMPLE)
    assert from_json(Example, text) == EXAMPLE
    assert '"places":[["a",[1,2]],["b",[]]]' in text and '"chosen":[2,3]' in text
    assert from_json(Example, LEAST) == Example(1, (), {})
    assert from_json(tuple[str, Place], '["a",["b",[]]]') == ("a", Place("b"))


def test_the_form_changes_with_the_fields_of_each_class_in_a_type() -> None:
    def form(inner: dict[str, Any]) -> str:
        within = NamedTuple("Within", list(inner.items()))
        outer = make_dataclass("Outer", [("word", Word), ("within", tuple[within, ...] | None)])  # type: ignore[valid-type]
        return form_of(outer)

    forms = [form(inner) for inner in ({"a": int}, {"a": int}, {"b": int}, {"a": float}, {"a": int, "b": int})]
    assert len(forms[0]) == 8 and forms[0] == forms[1] and len({*forms}) == 4


def test_an_array_keeps_its_type_and_shape() -> None:
    array = np.arange(6, dtype=np.int8).reshape(2, 3)
    found = from_json(np.ndarray, as_json(array))
    assert found.dtype == np.int8 and found.tolist() == [[0, 1, 2], [3, 4, 5]]
    for text in ('["(1,",[1],"00"]', '["|O",[1],"00"]', '["|i1",[2],"00"]', '["|i1",[1],"0"]', "5"):
        with pytest.raises(ValueError):
            from_json(np.ndarray, text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "[]", "null", "{}", '{"number":1}'),
        LEAST.replace("1", "true"),
        LEAST.replace("1", '"1"'),
        LEAST.replace("}", ',"other":1}'),
        LEAST.replace('"places":[]', '"places":[["a"]]'),
        LEAST.replace('"places":[]', '"places":[["a",["b"]]]'),
        LEAST.replace('"known":{}', '"known":{"x":{"text":""}}'),
        LEAST.replace('"known":{}', '"known":{"1":5}'),
        LEAST.replace('"places"', '"pair":["a"],"places"'),
    ],
)
def test_what_is_of_another_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(Example, text)


@pytest.mark.parametrize("value", [object(), {"a": b""}])
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        as_json(value)
