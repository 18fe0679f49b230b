"""Counts in words, and texts that are safe to print."""

from gtp_engine.base.messages import plural, printable


def test_one_is_no_plural() -> None:
    assert [plural(number, "visit") for number in (0, 1, 1234)] == ["0 visits", "1 visit", "1,234 visits"]


def test_what_a_terminal_would_interpret_is_not_printed() -> None:
    assert printable("a\x1b[31m\r\tb\x7f\x85\u2028\u200b\u202e\n") == "a?[31m??b?????\n"
    assert printable("山田\u3000太郎 caf\xe9\xa0!\n") == "山田\u3000太郎 caf\xe9\xa0!\n"
