"""Counts in words."""

from gtp_engine.base.messages import plural


def test_one_is_no_plural() -> None:
    assert [plural(number, "visit") for number in (0, 1, 1234)] == ["0 visits", "1 visit", "1,234 visits"]
