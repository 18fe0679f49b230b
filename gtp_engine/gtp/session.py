"""What the commands share: the engine, the last search, the running response, and waiting for searches."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from ..game.coords import vertex
from ..log import log
from ..wording import reason
from . import protocol
from .inbox import Event, Inbox
from .output import Output

if TYPE_CHECKING:
    from ..engine import Decision, Engine
    from ..game.game import Game
    from ..search.report import SearchReport

T = TypeVar("T")

# After SIGINT a search gets so long to answer: the program has to be gone within 2 s.
_PATIENCE_SECONDS = 1.0


def _report_failure(ready: "Future[None]") -> None:
    error = None if ready.cancelled() else ready.exception()
    if error is not None:
        log(f"the engine cannot think: {reason(error)}; no other evaluator takes over")


class Session:
    """One conversation with a client. All of it belongs to the main thread."""

    def __init__(self, engine: "Engine", inbox: Inbox, output: Output, *, live_graphics: bool = False) -> None:
        self.engine = engine
        self.inbox = inbox
        self.live_graphics = live_graphics
        self.quitting = False
        self.last_report: SearchReport | None = None  # of the last search or analysis in the game being played
        self.searching_seconds = 0.0  # spent in genmove, for `cputime`
        self._output = output
        self._response_id: int | None = None
        self._is_streaming = False
        self._watched: Future[None] | None = None
        self.watch_engine()

    @property
    def game(self) -> "Game":
        """The game being played. The first access waits until the compiled board is imported."""
        return self.engine.game

    def watch_engine(self) -> None:
        """Has it said on stderr where the evaluator that the engine changes to cannot be made."""
        if self.engine.ready is not self._watched:
            self._watched = self.engine.ready
            self._watched.add_done_callback(_report_failure)

    def vertex(self, point: int) -> str:
        """GTP's name of a point on the present board."""
        return vertex(point, self.engine.width, self.engine.height)

    def close(self) -> bool:
        """Ends the engine; False where its thread is still busy after a moment (compiling, most likely)."""
        closing = threading.Thread(target=self.engine.close, name="gtp-close", daemon=True)
        closing.start()
        closing.join(_PATIENCE_SECONDS)
        return not closing.is_alive()

    # Waiting.

    def wait(self, future: "Future[T]", on_news: Callable[[], None] = lambda: None) -> T:
        """A search's result. `quit` behind it, GoGui's interrupt, the end of input and SIGINT make it answer at once.

        `on_news` is called here, on the main thread, after each Event.NEWS.
        """
        future.add_done_callback(lambda _: self.inbox.post(Event.NEWS))
        patience_ends: float | None = None
        while not future.done():
            if self.inbox.is_in_a_hurry:
                self.engine.stop()
            if self.inbox.signalled and self.inbox.signal_ends:
                patience_ends = patience_ends or time.monotonic() + _PATIENCE_SECONDS
                if time.monotonic() > patience_ends:
                    raise KeyboardInterrupt
            self.inbox.receive()
            on_news()
        return future.result()

    def wait_for_input(self, future: "Future[T]", on_news: Callable[[], None]) -> None:
        """Lets a search run until anything comes in, or until it is done of itself; the result is dropped."""
        future.add_done_callback(lambda _: self.inbox.post(Event.NEWS))
        while not future.done() and not self.inbox.has_input:
            self.inbox.receive()
            if not self.inbox.has_input:
                on_news()
        self.engine.stop()
        if future.done():
            future.result()

    def decide(self, future: "Future[Decision]", on_news: Callable[[], None] = lambda: None) -> "Decision":
        """The result of a genmove, with what it leaves behind: the report, and the time for `cputime`."""
        start = time.monotonic()
        decision = self.wait(future, on_news)
        self.searching_seconds += time.monotonic() - start
        if decision.report is not None:
            self.last_report = decision.report
        return decision

    # The response.

    def begin_response(self, number: int | None) -> None:
        """The next output answers the command with this id."""
        self._response_id = number
        self._is_streaming = False

    def stream(self, line: str = "") -> None:
        """Sends a line of the response at once; the first call sends the line with the sign and id before it."""
        if not self._is_streaming:
            self._is_streaming = True
            self._output.write(protocol.opening(self._response_id) + "\n")
        if line:
            self._output.write(line + "\n")

    def end_response(self, text: str = "", *, failed: bool = False) -> None:
        """Ends the response with `text`; where lines were streamed, it is too late for a failure: it is logged."""
        if not self._is_streaming:
            self._output.write(protocol.response(self._response_id, text, failed=failed))
            return
        if failed:
            log(text)
        self._output.write("\n")
