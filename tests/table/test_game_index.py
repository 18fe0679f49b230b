"""What the database remembers of games."""

import json

import pytest

from gtp_engine.table.game_index import SavedFacts, as_text, from_text

FACTS = SavedFacts("k", "2026-01-01", 9, 9, ("human", "白"), "12k", 1, "B+1", 3, is_edited=False)


def test_facts_are_read_again() -> None:
    assert from_text(as_text(FACTS)) == FACTS
    assert from_text(as_text(None)) is None


@pytest.mark.parametrize(
    "changed",
    [{"day": 3}, {"own": 7}, {"players": "abc"}, {"players": 5}, {"result": None}, {"moves": "3"}, {"colour": 1}],
)
def test_facts_of_another_kind_are_none(changed: dict[str, object]) -> None:
    assert from_text(json.dumps({**json.loads(as_text(FACTS)), **changed})) is None


@pytest.mark.parametrize("text", ["[]", "{}", "x", "null"])
def test_other_texts_are_none(text: str) -> None:
    assert from_text(text) is None
