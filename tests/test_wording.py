"""Errors and counts in words."""

from pathlib import Path

import pytest

from gtp_engine.wording import counted, reason


def test_errors_of_the_system_come_without_their_number(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        (tmp_path / "none").read_text()
    assert reason(caught.value) == f"{tmp_path / 'none'}: No such file or directory"
    assert reason(OSError("two\nlines")) == "two lines"


def test_an_error_without_words_gets_some() -> None:
    assert reason(MemoryError()) == "no memory is left"
    assert reason(MemoryError("not enough on cuda")) == "not enough on cuda"


def test_one_is_no_plural() -> None:
    assert [counted(number, "visit") for number in (0, 1, 1234)] == ["0 visits", "1 visit", "1,234 visits"]
