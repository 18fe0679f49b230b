"""What the player sees, the position, messages below it and the prompt, and the lines that the player types.

A terminal redraws everything in place if it can, and edits lines that are typed; or all of it is in pipes.
"""

import io
import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from math import ceil

try:
    import termios
except ImportError:  # on Windows the console itself edits lines
    termios = None  # type: ignore[assignment]

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from ...base.log import LOGGER, OneLineFormatter, held_back
from ...base.messages import is_printable, printable
from ...base.warm_up import step_under_way

_HOME = "\x1b[H"
# Clears the window from the second row on and then the first one: some terminals copy a window that is cleared as a
# whole to the scrollback, which would fill it with boards.
_CLEAR = f"{_HOME}\x1b[2K\x1b[2;1H\x1b[J{_HOME}"
# What is never broken: a path, a word, or a Chinese or Japanese letter, with the signs that open and close something.
_LETTERS, _OPENING = "\u3040-\u30ff\u3400-\u9fff", "\uff08「『【《“"
_CLOSING = "、。・」』】》”…ー\uff01\uff09\uff0c\uff1a\uff1b\uff1f"  # with the fullwidth ! ) , : ; ?
_WORD = f"[{_OPENING}]*(?:[{_LETTERS}]|[^ {_LETTERS}{_OPENING}{_CLOSING}]*)[{_CLOSING},.:;!?)]*"
_PIECE = re.compile(rf"(?:[^ ]*[/\\][^ ]*|{_WORD}) *")


class Screen:
    """The window in which a game is played, or a pipe; `redraw` has it redraw in place if the terminal can.

    If it redraws, the position is always at the top of the window and the messages since the last typed line are below
    it. What the window showed before the game is scrolled up, not lost. A position with messages that are too high for
    the window is printed below what is there, as on all other terminals and in pipes.
    """

    def __init__(self, *, redraw: bool = True) -> None:
        for stream in (sys.stdin, sys.stdout):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")  # undecodable bytes are no errors
        if self.is_interactive:
            with suppress(ImportError):
                import readline  # noqa: F401  input() edits lines from then on
        self.console = Console(highlight=False, color_system="auto" if self.is_interactive else None)
        can_redraw = self.console.is_terminal and not (self.console.is_dumb_terminal or self.console.legacy_windows)
        self.redraws = redraw and can_redraw and self.is_interactive  # whether the position is redrawn in place
        self._position: RenderableType | None = None
        self._messages: list[RenderableType] = []
        self._notices: _Notices | None = None
        self._is_kept = True  # what is in the window

    @property
    def is_interactive(self) -> bool:
        """Whether a person types the lines: both standard input and output are a terminal."""
        return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()

    @property
    def has_typed(self) -> bool:
        """Whether Ctrl-C has interrupted somebody who was typing a line."""
        return "readline" in sys.modules and bool(sys.modules["readline"].get_line_buffer())

    def show(self, position: RenderableType) -> None:
        """Shows a position, above the messages since the last typed line."""
        self._position = position
        if not self._draw():
            self.console.print()
            self._print(position)
            if self.redraws:
                self._say(*self._messages)

    def print(self, *message: RenderableType) -> None:
        """Shows a message below the position: in a window wrapped between words, in a pipe in lines of any length."""
        self._messages += message
        if not self._draw():
            self._say(*message)

    def say(self, text: str, style: str = "") -> None:
        """Shows a text of one style below the position."""
        self.print(Text(printable(text), style))

    def keep(self) -> None:
        """Lets other parts of the program write; the next position scrolls that up instead of replacing it."""
        self._position, self._is_kept = None, True

    def ask(self, question: str) -> str | None:
        """Returns the next typed line, stripped; None at the end of input. The messages so far have then been read."""
        with held_back() if self.is_interactive else nullcontext():
            line = self._read_line(question)
            self._messages.clear()  # not after Ctrl-C, and before the log messages that have waited
            return line

    def confirm(self, question: str) -> bool:
        """Whether a person at the prompt agrees; in a pipe, where nobody can be asked, True."""
        if not self.is_interactive:
            return True
        answer = self.ask(f"{question} [y/N] ")
        return answer is not None and answer.lower() in ("y", "yes")

    def _read_line(self, question: str) -> str | None:
        """Returns the next line; one from a pipe is printed after the question."""
        if sys.stdin is None:
            return None
        if self.is_interactive:
            try:
                return input(question).strip()
            except EOFError:
                print()
                return None
        line = sys.stdin.readline()
        if not line:
            return None
        words = "".join(character if is_printable(character) else " " for character in line).strip()
        print(f"{question}{words[:200]}", flush=True)
        return words

    @contextmanager
    def working(self, doing: str) -> Iterator[None]:
        """Shows what the program is doing, as long as the context lasts; what is typed waits for the next prompt."""
        with without_echo() if self.is_interactive else nullcontext():
            if self.console.color_system is None:
                yield
                return
            self._draw()
            with self.console.status(_Doing(doing)):
                yield

    def close(self) -> None:
        """Ends the watch for log messages."""
        if self._notices is not None:
            logging.getLogger(LOGGER).removeHandler(self._notices)

    def _draw(self) -> bool:
        """Redraws position and messages; returns False if the terminal does not, or if the window is too low."""
        if not self.redraws or self._position is None:
            return False
        with self.console.capture() as capture:
            self._print(self._position)
            self._say(*self._messages)
        drawn = capture.get()
        if _rows(drawn, self.console.width) >= self.console.height:  # one row is for the prompt
            return False
        self._begin()
        self.console.file.write(_CLEAR + drawn)
        self.console.file.flush()
        return True

    def _begin(self) -> None:
        """Scrolls up what is to be kept. From the first drawing on, log messages are shown too."""
        if self._is_kept:
            self.console.file.write("\n" * (self.console.height - 1))
            self._is_kept = False
        if self._notices is None:
            self._notices = _Notices(self._messages)
            logging.getLogger(LOGGER).addHandler(self._notices)

    def _print(self, position: RenderableType) -> None:
        self.console.print(position, soft_wrap=True)  # otherwise the console would wrap the lines of the board

    def _say(self, *messages: RenderableType) -> None:
        for message in messages:
            self._print(_wrapped(message, self.console.width) if self.is_interactive else message)


@contextmanager
def without_echo() -> Iterator[None]:
    """Within a `with` block the terminal does not show what is typed, but keeps it, and Ctrl-D, for the next prompt."""
    if termios is None:
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    silent = [*before]
    silent[3] &= ~(termios.ECHO | termios.ICANON)  # Ctrl-C still interrupts, and with NOFLSH it discards nothing
    silent[3] |= termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


class _Doing:
    """What the program is doing; while the engine is being compiled, for which everything waits, how far that is."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __rich__(self) -> Text:
        step = step_under_way()
        return Text(f"preparing the engine, only this once: {step}" if step else self._doing, "dim")


def _wrapped(message: RenderableType, width: int) -> RenderableType:
    """Returns a text of one style with its lines broken to fit, which keep its indent; file names stay whole."""
    if not isinstance(message, Text) or message.spans or message.no_wrap:
        return message
    lines = list[str]()
    for line in message.plain.split("\n"):
        indent, filled = line[: len(line) - len(line.lstrip())], ""
        for piece in filter(None, _PIECE.findall(line)):
            if filled.strip() and cell_len(filled + piece.rstrip()) > width:
                lines.append(filled.rstrip())
                filled = indent
            filled += piece
        lines.append(filled.rstrip())
    return Text("\n".join(lines), message.style)


def _rows(text: str, width: int) -> int:
    """Returns the number of rows that lines of text with escape sequences take in a window."""
    lines = Text.from_ansi(text).plain.splitlines()
    return sum(max(1, ceil(cell_len(line) / width)) for line in lines)


class _Notices(logging.Handler):
    """Keeps log messages, which stderr shows at once, among the messages that a drawing repeats."""

    def __init__(self, messages: list[RenderableType]) -> None:
        super().__init__()
        self.setFormatter(OneLineFormatter())
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(Text(self.format(record), "yellow"))
