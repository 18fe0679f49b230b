"""What is logged is one line on stderr that no client takes for something else; counts in words."""

import io
import logging
import subprocess
import sys

import numpy as np
import pytest

from gtp_engine.base.log import LOGGER, NOTICE, StderrHandler, held_back, log_level, log_to_stderr
from gtp_engine.base.messages import plural, printable, size_text

logger = logging.getLogger(f"{LOGGER}.test")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("compiled in 30 s", "compiled in 30 s"),
        ("two\nlines\tand  blanks", "two lines and blanks"),
        ("D4 -> 12 visits", "D4 to 12 visits"),
        ("bell\x07", "bell?"),
        ("100%s of %d", "100%s of %d"),
        ("x" * 2000, "x" * 1000),
    ],
)
def test_a_record_is_one_line(text: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    logger.log(NOTICE, text)
    assert capsys.readouterr().err == f"gtp_engine: {line}\n"


def test_a_bug_comes_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    try:
        np.zeros(2) + np.zeros(3)
    except ValueError as error:
        logger.error("genmove: internal error", exc_info=error)
    line = capsys.readouterr().err
    assert line.startswith(f"gtp_engine: genmove: internal error ({__file__}:") and line.count("\n") == 1


def test_it_is_written_once_and_details_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        log_to_stderr()
    logger.info("details")
    logger.warning("once")
    with log_level(logging.INFO):
        logger.info("on request")
    logger.info("details")
    assert capsys.readouterr().err == "gtp_engine: once\ngtp_engine: on request\n"
    assert sum(isinstance(handler, StderrHandler) for handler in logging.getLogger(LOGGER).handlers) == 1


def test_what_is_held_back_is_written_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    with pytest.raises(KeyboardInterrupt), held_back():
        logger.warning("first")
        logger.warning("second")
        assert capsys.readouterr().err == ""
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "gtp_engine: first\ngtp_engine: second\n"


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_a_stderr_nothing_fails(stream: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if stream else None)
    log_to_stderr()
    logger.warning("nobody reads it")


def test_the_level_holds_in_processes_that_are_started() -> None:
    code = (
        "import logging\n"
        "from gtp_engine.base.log import log_to_stderr\n"
        "log_to_stderr()\n"
        "logging.getLogger('gtp_engine.x').warning('quiet please')"
    )
    with log_level(logging.ERROR):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_is_no_plural() -> None:
    assert [plural(number, "visit") for number in (0, 1, 1234)] == ["0 visits", "1 visit", "1,234 visits"]


def test_no_size_is_nothing() -> None:
    assert [size_text(size) for size in (32_402, 100_000, 97_900_000)] == ["32 kB", "0.1 MB", "97.9 MB"]


def test_what_a_terminal_would_interpret_is_not_printed() -> None:
    assert printable("a\x1b[31m\r\tb\x7f\x85\u2028\u200b\u202e\n") == "a?[31m??b?????\n"
    assert printable("山田\u3000太郎 caf\xe9\xa0!\n") == "山田\u3000太郎 caf\xe9\xa0!\n"
