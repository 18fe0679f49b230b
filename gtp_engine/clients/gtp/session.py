"""What commands share: their names, the engine, the last search, the current response, and waiting for searches."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from ...base import VERSION
from ...base.errors import error_text
from ...go.coords import vertex
from . import protocol
from .inbox import Inbox
from .output import Output

if TYPE_CHECKING:
    from ...engine.engine import Decision, Engine
    from ...go.game import Game
    from ...search.report import SearchReport

logger = logging.getLogger(__name__)

T = TypeVar("T")

# Time for a search to answer after SIGINT: the program has to exit within 2 s.
_PATIENCE_SECONDS = 1.0


class Session:
    """One conversation with a client.

    It belongs to the main thread, except for `_report_failure`, which runs on the engine's when an evaluator fails.
    """

    def __init__(
        self,
        engine: "Engine",
        inbox: Inbox,
        output: Output,
        *,
        name: str = "gtp_engine",
        version: str = VERSION,
        live_graphics: bool = False,
    ) -> None:
        self.engine = engine
        self.inbox = inbox
        self.name = name
        self.version = version
        self.live_graphics = live_graphics
        self.quitting = False
        self.searching_seconds = 0.0  # spent in genmove, for `cputime`
        self._report: SearchReport | None = None
        self._reported_game = 0  # `Engine.games_begun` when it was made
        self._output = output
        self._response_id: int | None = None
        self._is_streaming = False
        self._watched: Future[None] | None = None
        self._is_closing = False
        self.watch_engine()

    @property
    def game(self) -> "Game":
        """The game being played. The first access waits until the compiled board is imported."""
        return self.engine.game

    @property
    def last_report(self) -> "SearchReport | None":
        """The report on the last search or analysis, if it belongs to the game being played."""
        return self._report if self._reported_game == self.engine.games_begun else None

    @last_report.setter
    def last_report(self, report: "SearchReport | None") -> None:
        self._report, self._reported_game = report, self.engine.games_begun

    def watch_engine(self) -> None:
        """Logs a failure to load the evaluator that the engine changes to."""
        if self.engine.ready is not self._watched:
            self._watched = self.engine.ready
            self._watched.add_done_callback(self._report_failure)

    def _report_failure(self, ready: "Future[None]") -> None:
        """Logs why the evaluator is not loaded, unless that was cut off because the program ends."""
        error = None if ready.cancelled() else ready.exception()
        if error is not None and not self._is_closing:
            logger.error(f"cannot load the evaluator: {error_text(error)}")

    def vertex(self, point: int) -> str:
        """Returns GTP's name of a point on the current board."""
        return vertex(point, self.engine.width, self.engine.height)

    def close(self) -> bool:
        """Closes the engine; returns False if its thread is still busy after a moment (most likely compiling)."""
        self._is_closing = True
        return self.engine.close(_PATIENCE_SECONDS)

    # Waiting.

    def wait(self, future: "Future[T]", on_news: Callable[[], None] = lambda: None) -> T:
        """Waits for a search and returns its result.

        `quit`, GoGui's interrupt and SIGINT end the search early. The end of input does so only if nobody reads the
        response either: scripts end their input right after the last command, but a client that has gone away must not
        leave the engine thinking.

        Args:
            future: The result of the search.
            on_news: Called on the main thread after all news.
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

    def wait_for_input(self, future: "Future[T]", on_news: Callable[[], None]) -> None:
        """Lets a search run until there is input or it ends by itself; its result is discarded."""
        future.add_done_callback(lambda _: self.inbox.post_news())
        while not future.done() and not self.inbox.has_input:
            self.inbox.receive()
            if not self.inbox.has_input:
                on_news()
        self.engine.stop()
        if future.done():
            future.result()

    def decide(self, future: "Future[Decision]", on_news: Callable[[], None] = lambda: None) -> "Decision":
        """Waits for a genmove and returns its decision; keeps its report, and counts its time for `cputime`."""
        start = time.monotonic()
        decision = self.wait(future, on_news)
        self.searching_seconds += time.monotonic() - start
        if decision.report is not None:
            self.last_report = decision.report
        return decision

    # The response.

    def begin_response(self, number: int | None) -> None:
        """Starts the response to the command with this id."""
        self._response_id = number
        self._is_streaming = False

    def stream(self, line: str = "") -> None:
        """Sends a line of the response at once; the first call also sends the sign and id on a line of their own."""
        if not self._is_streaming:
            self._is_streaming = True
            self._output.write(protocol.opening(self._response_id) + "\n")
        if line:
            self._output.write(line + "\n")

    def end_response(self, text: str = "", *, failed: bool = False) -> None:
        """Ends the response with `text`; after streamed lines it is too late to fail, so the failure is only logged."""
        if not self._is_streaming:
            self._output.write(protocol.response(self._response_id, text, failed=failed))
            return
        if failed:
            logger.warning(text)
        self._output.write("\n")


Handler = Callable[[Session, list[str]], str | None]

COMMANDS: dict[str, Handler] = {}  # by name, in the order of `list_commands`: that of the modules and functions


def command(*names: str) -> Callable[[Handler], Handler]:
    """Registers a function as the handler of GTP commands.

    The handler receives the session and the command's arguments, and returns the text of the response (None: empty).
    To refuse the command it raises GtpError or another UserError with a text for the user, or lets an OSError pass,
    before it has changed anything. Any other exception is reported as an internal error.

    Args:
        names: The command's name, and further names for the same command.
    """

    def register(handler: Handler) -> Handler:
        COMMANDS.update(dict.fromkeys(names, handler))
        return handler

    return register
