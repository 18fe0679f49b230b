"""What commands share: their names, the engine, their arguments, the response, and waiting for searches.

Arguments that cannot be converted are a `syntax error`.
"""

import logging
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

from ...base import VERSION
from ...base.errors import EXPECTED, UserError, answer_text, error_text
from ...base.fields import Range
from ...base.log import NOTICE
from ...base.messages import plural
from ...base.system import EXIT_INTERRUPTED
from ...go.coords import PASS, parse_colour, parse_vertex
from .lines import Command, Inbox, Output, opening, response

if TYPE_CHECKING:
    from ...engine.engine import Decision, Engine
    from ...search.report import SearchReport

logger = logging.getLogger(__name__)

T = TypeVar("T")

SYNTAX_ERROR = "syntax error"
# Time for a search to answer after SIGINT: the program has to exit within 2 s.
_PATIENCE_SECONDS = 1.0
# GTP's integers go up to 2^31 - 1. Negative ones are accepted here: some commands have an error text of their own.
_LEAST, _MOST = -(2**31), 2**31 - 1
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
# GTP version 2, section 2.11: the form of a vertex, whatever the board size.
_VERTEX = re.compile(r"[A-HJ-Z](1?\d|2[0-5])", re.ASCII | re.IGNORECASE)


class GtpError(UserError):
    """A command failed and changed nothing. `str()` is the response; `detail` goes to stderr."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


class Session:
    """One conversation with a client, on the main thread."""

    def __init__(
        self,
        engine: "Engine",
        inbox: Inbox,
        output: Output,
        *,
        name: str = "gtp_engine",
        version: str = VERSION,
    ) -> None:
        self.engine = engine
        self.inbox = inbox
        self.name = name
        self.version = version
        self.quitting = False
        self.searching_seconds = 0.0  # spent in genmove, for `cputime`
        self._report: SearchReport | None = None
        self._reported_game = 0  # `Engine.games_begun` when it was made
        self._output = output
        self._response_id: int | None = None
        self._is_streaming = False
        self._watched: Future[None] | None = None
        self._is_closing = False
        self._watch_engine()

    @property
    def last_report(self) -> "SearchReport | None":
        """The report on the last search or analysis, if it belongs to the game being played."""
        return self._report if self._reported_game == self.engine.games_begun else None

    @last_report.setter
    def last_report(self, report: "SearchReport | None") -> None:
        self._report, self._reported_game = report, self.engine.games_begun

    def close(self) -> bool:
        """Closes the engine; returns False if its thread is still busy after a moment (most likely compiling)."""
        self._is_closing = True
        return self.engine.close(_PATIENCE_SECONDS)

    # The conversation.

    def converse(self) -> int:
        """Answers every line in order, even if a command fails, until the session ends; returns the exit status."""
        while not self.quitting:
            line = self.inbox.next_line()
            if line is None:
                return EXIT_INTERRUPTED if self.inbox.signalled else 0
            self.engine.stop()
            if line.command is not None:
                self.answer(line.command)
                self._watch_engine()  # the board's size may have changed the network
        return 0

    def answer(self, command: Command) -> None:
        """Runs one command and sends its response."""
        self._response_id, self._is_streaming = command.id, False
        try:
            handler = COMMANDS.get(command.name)
            if handler is None:
                raise GtpError("unknown command")
            self._end_response(handler(self, command.arguments) or "")
        except GtpError as error:
            if error.detail:
                logger.log(NOTICE, f"{command.name}: {error.detail}")
            self._end_response(str(error), failed=True)
        except Exception as error:
            if not isinstance(error, EXPECTED):  # a bug
                logger.error(f"{command.name}: {answer_text(error)}", exc_info=error)
            self._end_response(answer_text(error), failed=True)

    def stream(self, line: str = "") -> None:
        """Sends a line of the response at once; the first call also sends the sign and id on a line of their own."""
        if not self._is_streaming:
            self._is_streaming = True
            self._output.write(opening(self._response_id) + "\n")
        if line:
            self._output.write(line + "\n")

    def _end_response(self, text: str, *, failed: bool = False) -> None:
        """Ends the response with `text`; after streamed lines it is too late to fail, so the failure is only logged."""
        if not self._is_streaming:
            self._output.write(response(self._response_id, text, failed=failed))
            return
        if failed:
            logger.warning(text)
        self._output.write("\n")

    def _watch_engine(self) -> None:
        """Logs a failure to load the evaluator that the engine changes to, unless the program ends."""

        def report_failure(ready: "Future[None]") -> None:
            error = None if ready.cancelled() else ready.exception()
            if error is not None and not self._is_closing:
                logger.error(f"cannot load the evaluator: {error_text(error)}")

        if self.engine.ready is not self._watched:
            self._watched = self.engine.ready
            self._watched.add_done_callback(report_failure)

    # Waiting.

    def wait(self, future: "Future[T]", on_news: Callable[[], None] = lambda: None) -> T:
        """Waits for a search and returns its result.

        `quit`, GoGui's interrupt and SIGINT end the search early. The end of input does so only if nobody reads the
        response either: scripts end their input right after the last command, but a client that has gone away must not
        leave the engine thinking. `on_news` is called on the main thread after all news.
        """
        future.add_done_callback(lambda _: self.inbox.post_news())
        patience_ends: float | None = None
        while not future.done():
            if self.inbox.is_in_a_hurry or (self.inbox.ended and self._output.is_closed):
                self.engine.stop()
            if self.inbox.signalled and self.inbox.signal_ends:
                patience_ends = patience_ends or time.monotonic() + _PATIENCE_SECONDS
                if time.monotonic() > patience_ends:
                    raise KeyboardInterrupt
            self.inbox.receive()
            on_news()
        return future.result()

    def wait_for_input(self, future: "Future[T]", on_news: Callable[[], None] = lambda: None) -> bool:
        """Lets a search run until there is input or it ends by itself; returns whether it has ended."""
        future.add_done_callback(lambda _: self.inbox.post_news())
        while not future.done() and not self.inbox.has_input:
            self.inbox.receive()
            if not self.inbox.has_input:
                on_news()
        self.engine.stop()
        if is_done := future.done():
            future.result()
        return is_done

    def decide(self, future: "Future[Decision]", on_news: Callable[[], None] = lambda: None) -> "Decision":
        """Waits for a genmove and returns its decision; keeps its report, and counts its time for `cputime`."""
        start = time.monotonic()
        decision = self.wait(future, on_news)
        self.searching_seconds += time.monotonic() - start
        if decision.report is not None:
            self.last_report = decision.report
        return decision


Handler = Callable[[Session, list[str]], str | None]

COMMANDS: dict[str, Handler] = {}  # by name


def command(*names: str, takes: int | tuple[int, float] = (0, math.inf)) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of GTP commands, which take a number of arguments or from one to another.

    The handler receives the session and the command's arguments, and returns the text of the response (None: empty).
    To refuse the command it raises GtpError or another UserError with a text for the user, or lets an OSError pass,
    before it has changed anything. Any other exception is reported as an internal error.
    """
    least, most = (takes, takes) if isinstance(takes, int) else takes

    def register(handler: Handler) -> Handler:
        @wraps(handler)
        def checked(session: Session, arguments: list[str]) -> str | None:
            if not least <= len(arguments) <= most:
                count = f"{least}" if least == most else f"{least} to {most}"
                raise GtpError(SYNTAX_ERROR, f"expected arguments: {count}, got: {len(arguments)}")
            return handler(session, arguments)

        COMMANDS.update(dict.fromkeys(names, checked))
        return handler

    return register


# Arguments.


@contextmanager
def refusing_as(text: str) -> Iterator[None]:
    """Within a `with` block, whatever the user or a file did wrong is answered by this text; stderr has the reason."""
    try:
        yield
    except (UserError, OSError) as error:
        raise GtpError(text, error_text(error)) from error


def integer(text: str, least: int = _LEAST, most: int = _MOST) -> int:
    """Returns a whole number from `least` to `most`."""
    if not _INTEGER.fullmatch(text) or not least <= int(text) <= most:
        limits = "" if least == _LEAST else f" from {least} to {most}"
        raise GtpError(SYNTAX_ERROR, f"expected a whole number{limits}, got {text!r}")
    return int(text)


def number(text: str, low: float | None = None, high: float | None = None) -> float:
    """Returns a finite number from `low` to `high`."""
    value, accepted = float(text) if _NUMBER.fullmatch(text) else math.nan, Range(low, high)
    if value not in accepted:
        raise GtpError(SYNTAX_ERROR, f"expected {accepted}, got {text!r}")
    return value


def is_colour(text: str) -> bool:
    """Whether a word names a colour."""
    return text.lower() in ("b", "w", "black", "white")


def colour(text: str) -> int:
    """Returns BLACK or WHITE."""
    if not is_colour(text):
        raise GtpError(SYNTAX_ERROR, f"expected b, w, black or white, got {text!r}")
    return parse_colour(text)


def point(session: Session, text: str, off_board: str, *, may_pass: bool = True) -> int:
    """Returns the point of a vertex, or PASS; raises GtpError(`off_board`) for a vertex that is not on this board."""
    try:
        value = parse_vertex(text, session.engine.width, session.engine.height)
    except UserError as error:
        raise GtpError(off_board if _VERTEX.fullmatch(text) else SYNTAX_ERROR, str(error)) from error
    if value == PASS and not may_pass:
        raise GtpError(off_board, "expected a point on the board, not a pass")
    return value


def coloured_points(session: Session, words: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the pairs of colour and vertex in `b D4 w E5 ...`; passes are allowed."""
    if len(words) % 2:
        raise GtpError(SYNTAX_ERROR, f"expected pairs of colour and vertex, got {plural(len(words), 'word')}")
    pairs = zip(words[::2], words[1::2], strict=True)
    return [(colour(first), point(session, second, "illegal move")) for first, second in pairs]
