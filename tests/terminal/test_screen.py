"""The window: what is redrawn in place, what scrolls, and that no message is lost."""

import contextlib
import functools
import io
import logging
import re
import time
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from rich.console import Console
from rich.text import Text

from gtp_engine.base import warm_up
from gtp_engine.base.log import LOGGER, log_to_stderr
from gtp_engine.clients.terminal import screen as screen_module
from gtp_engine.clients.terminal.screen import Screen

CLEAR = "\x1b[H\x1b[2K\x1b[2;1H\x1b[J\x1b[H"


class Window(io.StringIO):
    """Standard output as a terminal of 20 x 8."""

    def isatty(self) -> bool:
        return True

    def rows(self) -> list[str]:
        """Returns what is in the window, from its top: since the last redrawing."""
        return Text.from_ansi(self.getvalue().rpartition(CLEAR)[2]).plain.splitlines()


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    written = Window()
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "20", "LINES": "8"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(screen_module, "Console", functools.partial(Console, file=written))
    monkeypatch.setattr(Screen, "is_interactive", True)
    monkeypatch.setattr(Screen, "_read_line", lambda _, question: written.write(f"{question}typed\n") and "typed")
    monkeypatch.setattr(screen_module, "without_echo", contextlib.nullcontext)
    yield written


@pytest.fixture
def screen(window: Window) -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


def test_a_position_replaces_the_last_one(screen: Screen, window: Window) -> None:
    screen.show(Text("one\ntwo"))
    screen.print(Text("message"))
    assert window.rows() == ["one", "two", "message"]
    screen.ask("> ")
    screen.show(Text("three"))
    assert window.rows() == ["three"]
    assert window.getvalue().count("message") == 1


def test_the_shell_before_the_game_is_scrolled_up_once(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.show(Text("two"))
    assert window.getvalue() == "\n" * 7 + f"{CLEAR}one\n{CLEAR}two\n"
    assert "\x1b[2J" not in window.getvalue()


def test_messages_since_the_last_line_are_repeated(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.ask("> ")
    screen.print(Text("cannot save"))
    screen.show(Text("two"))
    screen.print(Text("white plays D4"))
    assert window.rows() == ["two", "cannot save", "white plays D4"]


def test_what_is_too_high_scrolls(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.ask("> ")
    screen.print(Text("\n".join("1234567")))
    assert window.rows() == ["one", "> typed", *"1234567"]
    screen.ask("> ")
    screen.show(Text("\n".join("abcdefgh")))
    assert window.rows()[-9:] == ["", *"abcdefgh"]
    screen.show(Text("low again"))
    assert window.rows() == ["low again"]


def test_lines_that_wrap_are_counted(screen: Screen, window: Window) -> None:
    screen.show(Text("one\ntwo"))
    screen.print(Text("x" * 100))  # five rows: seven are full, and the eighth is the prompt's
    assert window.rows() == ["one", "two", "x" * 100]
    screen.print(Text("y"))
    assert window.getvalue().count("y") == 1
    assert window.getvalue().endswith("x\ny\n")


def test_log_messages_survive_the_next_drawing(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    logging.getLogger(LOGGER).warning("played by rollouts")
    screen.show(Text("two"))
    assert "gtp_engine: played by rollouts" in " ".join(window.rows())
    screen.close()
    logging.getLogger(LOGGER).warning("another")
    screen.show(Text("two"))
    assert "another" not in "".join(window.rows())


def test_log_messages_wait_while_the_prompt_does(
    screen: Screen, window: Window, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_line(_: Screen, question: str) -> str:
        logging.getLogger(LOGGER).warning("compiled")
        assert "compiled" not in capsys.readouterr().err
        return "typed"

    log_to_stderr()
    screen.show(Text("one"))
    monkeypatch.setattr(Screen, "_read_line", read_line)
    assert screen.ask("> ") == "typed"
    assert capsys.readouterr().err == "gtp_engine: compiled\n"
    screen.show(Text("two"))
    assert window.rows() == ["two", "gtp_engine: compiled"]


def test_messages_stay_after_ctrl_c_at_the_prompt(
    screen: Screen, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen.show(Text("one"))
    screen.say("an answer")
    monkeypatch.setattr(Screen, "_read_line", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        screen.ask("> ")
    screen.show(Text("two"))
    assert window.rows() == ["two", "an answer"]


def test_what_is_being_done_is_shown_below_the_position(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.ask("> ")
    with screen.working("thinking"):
        pass
    rows = window.rows()
    assert rows[0] == "one"
    assert "typed" not in "".join(rows)
    assert "thinking" in "".join(rows)


@pytest.mark.parametrize("reason", ["option", "dumb", "pipe"])
def test_elsewhere_every_position_is_printed_below_the_last(
    window: Window, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    if reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if reason == "pipe":
        monkeypatch.setattr(Screen, "is_interactive", False)
    screen = Screen(redraw=reason != "option")
    assert not screen.redraws
    screen.show(Text("one"))
    screen.print(Text("a message longer than the window"))
    screen.show(Text("two"))
    plain = re.sub(r"\x1b\[[\d;]*m", "", window.getvalue())
    message = "a message longer than the window" if reason == "pipe" else "a message longer\nthan the window"
    assert plain == f"\none\n{message}\n\ntwo\n"


def test_messages_are_wrapped_between_words_and_names_stay_whole(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.print(Text("saved to /a/long/name/of/対局の記録/file.sgf in the end"))
    assert window.rows() == ["one", "saved to", "/a/long/name/of/対局の記録/file.sgf", "in the end"]


def test_a_wrapped_line_keeps_its_indent(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.print(Text("a list:\n   1. cut off and dead\nend"))
    assert window.rows() == ["one", "a list:", "   1. cut off and", "   dead", "end"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("돌에서 줄을 따라 있는 점", ["돌에서 줄을 따라", "있는 점"]),
        ("黑白双方轮流把棋子下、在", ["黑白双方轮流把棋子", "下、在"]),
        ("黑白双方轮流把棋「下」", ["黑白双方轮流把棋", "「下」"]),
        ("黑白双方轮流在abcdefg下", ["黑白双方轮流在", "abcdefg下"]),
        ("黑白双方在 C3 、轮流下", ["黑白双方在 C3 、轮流", "下"]),
        ("このボードでプレーヤー", ["このボードでプレー", "ヤー"]),
    ],
)
def test_wide_letters_take_two_columns(screen: Screen, window: Window, text: str, rows: list[str]) -> None:
    screen.show(Text("one"))
    screen.say(text)
    assert window.rows() == ["one", *rows]


def test_the_step_of_a_compilation_is_shown_as_long_as_it_lasts(
    screen: Screen, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_up, "_under_way", "2/4: the search")
    with screen.working("white is thinking"):
        time.sleep(0.3)
        assert "preparing" in window.getvalue() and "thinking" not in window.getvalue()
        monkeypatch.setattr(warm_up, "_under_way", "")
        time.sleep(0.3)
    assert "thinking" in window.getvalue()


def test_what_others_write_is_scrolled_up_and_not_erased(screen: Screen, window: Window) -> None:
    screen.show(Text("one"))
    screen.keep()
    window.write("a review\n")
    screen.print(Text("what now?"))
    assert window.rows() == ["one", "a review", "what now?"]
    screen.ask("> ")
    screen.show(Text("two"))
    assert window.getvalue().endswith("> typed\n" + "\n" * 7 + f"{CLEAR}two\n")


def test_commands_stay_in_one_line_for_copying(screen: Screen, window: Window) -> None:
    screen.print(Text("to continue: gtp_engine play game.sgf", no_wrap=True))
    assert "to continue: gtp_engine play game.sgf\n" in window.getvalue()
